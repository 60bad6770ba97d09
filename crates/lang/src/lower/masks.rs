//! Masks: one bit for each element, as comparisons make them. Ops other than selections and combinations of masks see
//! ones and zeros of the compared type, as comparisons of tensors give them in the public language.

use slipring_ir::{Diagnostic, Span};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::lowering::{Lower, Lowered};
use super::on_tiles::scalar_for;
use crate::dtype::DType;
use crate::lower::layouts::Place;
use crate::value::{Compared, Const, Index, TileId, Value, fold};

/// A new mask for tiles of a shape and type, with the valid extent of another tile or mask.
pub(crate) fn of(lower: &mut Lower<'_>, shape: &[u64], elem: Elem, model: TileId) -> TileId {
    // One bit for each column.
    let (rows, cols) = fold(shape);
    let bytes = cols.div_ceil(8);
    // In row order, even if one byte holds a row; whole rows, so that masks can be combined wherever their bits are.
    let mut ty = Place::of(Space::Vec).tile_type(&[rows, bytes.max(2)], Elem::U8);
    ty.valid = crate::value::valid(rows, ty.layout.cols.into());
    let buffer = lower.buffer(ty);
    let mask = lower.add_tile(buffer, ty, &[rows, bytes], "cmp");
    let valid = counted(lower, model);
    lower.held.tiles[mask.0 as usize].mask = Some(Compared { shape: shape.iter().copied().collect(), elem, valid });
    mask
}

/// The valid extent of a tile, or of the tiles that a mask compared.
fn counted(lower: &Lower<'_>, id: TileId) -> Option<[Index; 2]> {
    let tile = lower.tile(id);
    tile.mask.as_ref().map_or(tile.valid, |compared| compared.valid)
}

/// A new tile of a shape, with the valid extent of another tile or mask.
fn counted_like(lower: &mut Lower<'_>, model: TileId, shape: &[u64], elem: Elem, made_by: &'static str) -> TileId {
    match counted(lower, model) {
        None => lower.new_tile(shape, elem, Space::Vec, made_by),
        Some(valid) => lower.new_valid_tile(shape, elem, Space::Vec, valid, made_by),
    }
}

/// A tile filled with one number, with the valid extent of another tile or mask.
pub(crate) fn filled(
    lower: &mut Lower<'_>,
    number: &Value,
    (shape, elem): (&[u64], Elem),
    model: TileId,
    span: Span,
) -> Lowered<TileId> {
    let number = scalar_for(lower, number, elem, span)?;
    let tile = counted_like(lower, model, shape, elem, "full");
    let dst = lower.tile(tile).value;
    lower.e.op(&pto::TEXPANDS, &[("scalar", &[number]), ("dst", &[dst])], &[], &[]);
    Ok(tile)
}

/// A mask of one row or column broadcast to tiles of a larger shape; other masks are unchanged.
pub(crate) fn spread(lower: &mut Lower<'_>, mask: TileId, shape: &[u64], span: Span) -> Lowered<TileId> {
    let Some(Compared { shape: own, .. }) = lower.tile(mask).mask.clone() else { return Ok(mask) };
    let ((rows, cols), (all_rows, all_cols)) = (fold(&own), fold(shape));
    if (rows, cols) == (all_rows, all_cols) || ![1, all_rows].contains(&rows) || ![1, all_cols].contains(&cols) {
        return Ok(mask);
    }
    let bits = unpacked(lower, mask)?;
    let numbers =
        |shape: &[u64]| Value::Tuple(shape.iter().map(|extent| Value::Const(Const::Int(*extent as i64))).collect());
    let mut bits = Value::Tile(bits);
    if own.len() < shape.len() {
        // As in numpy, dimensions of one element are prepended.
        let mut all = vec![1; shape.len() - own.len()];
        all.extend(own.iter().copied());
        bits = lower.call_by_name("reshape", vec![bits, numbers(&all)], span)?;
    }
    let spread = lower.call_by_name("broadcast_to", vec![bits, numbers(shape)], span)?;
    packed(lower, &spread, span)
}

/// The tile itself, or ones and zeros for a mask.
pub(crate) fn unpacked(lower: &mut Lower<'_>, id: TileId) -> Lowered<TileId> {
    numbers(lower, id, [1, 0])
}

/// One number for set bits of a mask, and another one for clear bits; a tile that is not a mask is unchanged.
pub(crate) fn numbers(lower: &mut Lower<'_>, id: TileId, which: [i64; 2]) -> Lowered<TileId> {
    let Some(Compared { shape, elem, .. }) = lower.tile(id).mask.clone() else { return Ok(id) };
    let span = lower.e.span;
    let [one, zero] = which.map(|n| Value::Const(Const::Int(n)));
    let ones = filled(lower, &one, (&shape, elem), id, span)?;
    let zero = scalar_for(lower, &zero, elem, span)?;
    let target = counted_like(lower, id, &shape, elem, "cmp");
    let [mask, ones, target_value] = [id, ones, target].map(|id| lower.tile(id).value);
    let groups: [(&str, &[_]); 4] =
        [("mask", &[mask]), ("src", &[ones]), ("scalar", &[zero]), ("dst", &[target_value])];
    lower.e.op(&pto::TSELS, &groups, &[], &[]);
    Ok(target)
}

/// True for a tile of booleans, or a part of one: a byte for each.
pub(crate) fn is_truths(lower: &Lower<'_>, id: TileId) -> bool {
    let buffer = lower.buffer_of(id);
    lower.held.tiles.iter().any(|tile| tile.truths && tile.value == buffer)
}

/// A mask as booleans, a byte for each; a tile that is not a mask is unchanged.
pub(crate) fn truths(lower: &mut Lower<'_>, id: TileId, span: Span) -> Lowered<TileId> {
    if lower.tile(id).mask.is_none() {
        return Ok(id);
    }
    let numbers = Value::Tile(unpacked(lower, id)?);
    let bytes = as_type(lower, numbers, Elem::U8, span)?;
    lower.demand(&bytes, Space::Vec, span)
}

fn as_type(lower: &mut Lower<'_>, tile: Value, elem: Elem, span: Span) -> Lowered {
    let ty = Value::Const(Const::DType(DType::Elem(elem)));
    lower.call_by_name("cast", vec![tile, ty], span)
}

/// A mask of bits: unchanged, or made by comparing elements that are booleans, or not bytes, with zero.
pub(crate) fn packed(lower: &mut Lower<'_>, value: &Value, span: Span) -> Lowered<TileId> {
    let mut id = lower.demand(value, Space::Vec, span)?;
    if is_truths(lower, id) {
        let numbers = as_type(lower, Value::Tile(id), Elem::F16, span)?;
        id = lower.demand(&numbers, Space::Vec, span)?;
    }
    if lower.tile(id).mask.is_some() || lower.tile(id).ty.layout.elem.bytes() == 1 {
        return Ok(id);
    }
    let zero = Value::Const(Const::Int(0));
    let how = Value::Const(Const::Str("ne".into()));
    match lower.call_by_name("cmp", vec![Value::Tile(id), zero, how], span)? {
        Value::Tile(mask) => Ok(mask),
        _ => Ok(id),
    }
}

/// The mask of a selection: the result of a comparison, or bits in integers of any width, as in the public language.
pub(crate) fn carried(lower: &mut Lower<'_>, value: &Value, span: Span) -> Lowered<TileId> {
    let id = lower.demand(value, Space::Vec, span)?;
    let elem = lower.tile(id).ty.layout.elem;
    let bits = lower.tile(id).mask.is_none() && !elem.is_float() && !is_truths(lower, id);
    if bits { Ok(id) } else { packed(lower, &Value::Tile(id), span) }
}

/// `a if mask else b`.
pub(crate) fn choose(lower: &mut Lower<'_>, mask: Value, a: (Value, Span), b: (Value, Span), span: Span) -> Lowered {
    let mask = packed(lower, &mask, span)?;
    if lower.tile(mask).mask.is_none() {
        let error = Diagnostic::error("condition", span, "a condition is a boolean or a comparison of tiles")
            .help("`pl.sel(mask, a, b)` takes a mask of bits");
        return Err(lower.report(error));
    }
    lower.call_by_name("sel", vec![Value::Tile(mask), a.0, b.0], span)
}
