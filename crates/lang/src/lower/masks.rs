//! Masks: a bit for each element, as comparisons make them. What is neither a choice nor a combination of masks sees ones and
//! zeros of the type that was compared, as comparisons of tensors give them in the public language.

use slipring_ir::{Diagnostic, Span};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::lowering::{Lower, Lowered};
use super::on_tiles::scalar_for;
use crate::lower::layouts::Place;
use crate::value::{Compared, Const, Index, TileId, Value, fold};

/// A new mask for tiles of a shape and type, of which as much counts as of a tile or mask.
pub(crate) fn of(lower: &mut Lower<'_>, shape: &[u64], elem: Elem, model: TileId) -> TileId {
    // A bit for each column.
    let (rows, cols) = fold(shape);
    let bytes = cols.div_ceil(8);
    // Rows of bits, also where one byte holds a row; whole rows, so that masks are combined wherever their bits lie.
    let mut ty = Place::of(Space::Vec).tile_type(&[rows, bytes.max(2)], Elem::U8);
    ty.valid = crate::value::valid(rows, ty.layout.cols.into());
    let buffer = lower.buffer(ty);
    let mask = lower.add_tile(buffer, ty, &[rows, bytes], "cmp");
    let valid = counted(lower, model);
    lower.held.tiles[mask.0 as usize].mask = Some(Compared { shape: shape.iter().copied().collect(), elem, valid });
    mask
}

/// What counts of a tile, or of what a mask compared.
fn counted(lower: &Lower<'_>, id: TileId) -> Option<[Index; 2]> {
    let tile = lower.tile(id);
    tile.mask.as_ref().map_or(tile.valid, |compared| compared.valid)
}

/// A new tile of a shape, of which as much counts as of another tile or mask.
fn counted_like(lower: &mut Lower<'_>, model: TileId, shape: &[u64], elem: Elem, made_by: &'static str) -> TileId {
    match counted(lower, model) {
        None => lower.new_tile(shape, elem, Space::Vec, made_by),
        Some(valid) => lower.new_valid_tile(shape, elem, Space::Vec, valid, made_by),
    }
}

/// A tile of one number, of which as much counts as of another tile or mask.
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

/// A mask of one row or column for tiles of a larger shape; another one as it is.
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
        // As numpy does: dimensions of one element in front.
        let mut all = vec![1; shape.len() - own.len()];
        all.extend(own.iter().copied());
        bits = lower.call_by_name("reshape", vec![bits, numbers(&all)], span)?;
    }
    let spread = lower.call_by_name("broadcast_to", vec![bits, numbers(shape)], span)?;
    packed(lower, &spread, span)
}

/// The tile itself, or ones and zeros where it is a mask.
pub(crate) fn unpacked(lower: &mut Lower<'_>, id: TileId) -> Lowered<TileId> {
    numbers(lower, id, [1, 0])
}

/// One number where a mask has a bit, and the other where it has none; a tile that is not a mask as it is.
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

/// A mask of bits: as it is, or where elements that are no bytes are not zero.
pub(crate) fn packed(lower: &mut Lower<'_>, value: &Value, span: Span) -> Lowered<TileId> {
    let id = lower.demand(value, Space::Vec, span)?;
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

/// The mask of a choice: what comparisons made, or bits in integers of any width, as the public language has them.
pub(crate) fn carried(lower: &mut Lower<'_>, value: &Value, span: Span) -> Lowered<TileId> {
    let id = lower.demand(value, Space::Vec, span)?;
    let elem = lower.tile(id).ty.layout.elem;
    if lower.tile(id).mask.is_none() && !elem.is_float() { Ok(id) } else { packed(lower, &Value::Tile(id), span) }
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
