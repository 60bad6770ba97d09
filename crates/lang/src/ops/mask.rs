//! Masks: a bit for each element, as comparisons make them. What is neither a choice nor a combination of masks sees ones and
//! zeros of the type that was compared, as comparisons of tensors give them in the public language.

use slipring_ir::{Diagnostic, Span};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::Call;
use super::elementwise::{emit, is_number, scalar_for};
use crate::lower::{Lower, Lowered, Place, fold};
use crate::value::{Const, TileId, Value};

/// A new mask for tiles of a shape and type.
pub(super) fn of(lower: &mut Lower<'_>, shape: &[u64], elem: Elem) -> TileId {
    // A bit for each column.
    let (rows, cols) = fold(shape);
    let bytes = cols.div_ceil(8);
    // Rows of bits, also where one byte holds a row; whole rows, so that masks are combined wherever their bits lie.
    let mut ty = Place::of(Space::Vec).tile_type(&[rows, bytes.max(2)], Elem::U8);
    ty.valid = crate::lower::valid(rows, ty.layout.cols.into());
    let buffer = lower.buffer(ty);
    let mask = lower.add_tile(buffer, ty, &[rows, bytes], "cmp");
    lower.tiles[mask.0 as usize].mask = Some((shape.iter().copied().collect(), elem));
    mask
}

/// The tile itself, or ones and zeros where it is a mask.
pub(crate) fn unpacked(lower: &mut Lower<'_>, id: TileId) -> Lowered<TileId> {
    numbers(lower, id, [1, 0])
}

/// One number where a mask has a bit, and the other where it has none; a tile that is not a mask as it is.
fn numbers(lower: &mut Lower<'_>, id: TileId, which: [i64; 2]) -> Lowered<TileId> {
    let Some((shape, elem)) = lower.tile(id).mask.clone() else { return Ok(id) };
    let span = lower.e.span;
    let ones = lower.new_tile(&shape, elem, Space::Vec, "full");
    let [one, zero] = which.map(|n| scalar_for(lower, &Value::Const(Const::Int(n)), elem, span));
    let (one, zero) = (one?, zero?);
    let target = lower.new_tile(&shape, elem, Space::Vec, "cmp");
    let [mask, ones, target_value] = [id, ones, target].map(|id| lower.tile(id).value);
    lower.e.op(&pto::TEXPANDS, &[("scalar", &[one]), ("dst", &[ones])], &[], &[]);
    let groups: [(&str, &[_]); 4] =
        [("mask", &[mask]), ("src", &[ones]), ("scalar", &[zero]), ("dst", &[target_value])];
    lower.e.op(&pto::TSELS, &groups, &[], &[]);
    Ok(target)
}

/// A mask of bits: as it is, or where elements that are no bytes are not zero.
pub(super) fn packed(lower: &mut Lower<'_>, value: &Value, span: Span) -> Lowered<TileId> {
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
pub(super) fn carried(lower: &mut Lower<'_>, value: &Value, span: Span) -> Lowered<TileId> {
    let id = lower.demand(value, Space::Vec, span)?;
    let elem = lower.tile(id).ty.layout.elem;
    if lower.tile(id).mask.is_none() && !elem.is_float() { Ok(id) } else { packed(lower, &Value::Tile(id), span) }
}

/// The result of a bitwise op whose operands are all masks: a mask.
pub(super) fn combined(lower: &mut Lower<'_>, call: &Call, names: &[&str]) -> Lowered<Option<Value>> {
    let mut masks = Vec::new();
    for name in names {
        match call.need(lower, name)? {
            (Value::Tile(id), _) if lower.tile(id).mask.is_some() => masks.push(id),
            _ => return Ok(None),
        }
    }
    let Some((shape, elem)) = lower.tile(masks[0]).mask.clone() else { return Ok(None) };
    if let Some(other) = masks.iter().find(|id| lower.tile(**id).mask.as_ref().is_some_and(|(s, _)| *s != shape)) {
        let error = Diagnostic::error("shapes", call.span, "masks of tiles of different shapes")
            .also(lower.tile(masks[0]).span, "the one")
            .also(lower.tile(*other).span, "the other");
        return Err(lower.report(error));
    }
    for id in &masks {
        lower.still_there(*id, call.span)?;
    }
    let [first, second] = masks[..] else {
        // The complement of bytes is not an instruction everywhere.
        let inverse = numbers(lower, masks[0], [0, 1])?;
        return packed(lower, &Value::Tile(inverse), call.span).map(|mask| Some(Value::Tile(mask)));
    };
    let both = of(lower, &shape, elem);
    emit(lower, call.op(), &[("src0", first), ("src1", second)], both);
    Ok(Some(Value::Tile(both)))
}

/// `a if mask else b`.
pub(crate) fn choose(lower: &mut Lower<'_>, mask: Value, a: (Value, Span), b: (Value, Span), span: Span) -> Lowered {
    let mask = packed(lower, &mask, span)?;
    let Some((shape, elem)) = lower.tile(mask).mask.clone() else {
        let error = Diagnostic::error("condition", span, "a condition is a boolean or a comparison of tiles")
            .help("`pl.sel(mask, a, b)` takes a mask of bits");
        return Err(lower.report(error));
    };
    // A number on the left becomes a tile; its type is that of the other choice.
    let of_b = lower.shape_of(&b.0);
    let first = match &a.0 {
        number if is_number(number) => {
            let elem = match &b.0 {
                Value::Tile(id) => lower.tile(*id).ty.layout.elem,
                Value::Tensor(tensor) => tensor.elem,
                _ => elem,
            };
            let shape: Vec<u64> = if of_b.is_empty() { shape.to_vec() } else { of_b };
            let number = scalar_for(lower, number, elem, a.1)?;
            let tile = lower.new_tile(&shape, elem, Space::Vec, "full");
            let dst = lower.tile(tile).value;
            lower.e.op(&pto::TEXPANDS, &[("scalar", &[number]), ("dst", &[dst])], &[], &[]);
            Value::Tile(tile)
        }
        other => other.clone(),
    };
    lower.call_by_name("sel", vec![Value::Tile(mask), first, b.0], span)
}
