//! Broadcasting: a row or a column is used as a tile where an op takes tiles of the same shape.

use slipring_pto as pto;
use slipring_tile::Space;

use super::entry::Call;
use crate::lower::on_tiles::emit;
use crate::lower::{Lower, Lowered};
use crate::value::{TileId, Value, fold, show};

/// The result of an op that itself takes a value for each row or column, if the second tile is a column or a row.
pub(super) fn broadcast(lower: &mut Lower<'_>, call: &Call, a: TileId, b: TileId) -> Lowered<Option<Value>> {
    let (x, y) = (fold(&lower.tile(a).shape), fold(&lower.tile(b).shape));
    let commutes = call.entry.op.is_some_and(|op| op.commutes);
    let (whole, part, (rows, cols), of_part) = match () {
        () if x == y => return Ok(None),
        () if y.0 == 1 || y.1 == 1 => (a, b, x, y),
        () if commutes => (b, a, y, x),
        () => return Ok(None),
    };
    let op = match of_part {
        (n, 1) if n == rows => call.entry.with_column,
        (1, n) if n == cols => call.entry.with_row,
        _ => None,
    };
    let Some(op) = op else { return Ok(None) };
    let same_type = lower.tile(whole).ty.layout.elem == lower.tile(part).ty.layout.elem;
    if !same_type || lower.tile(whole).valid.is_none() && lower.tile(part).valid.is_some() {
        return Ok(None);
    }
    let target = lower.tile_like(whole, lower.tile(whole).ty.layout.elem, call.entry.names[0]);
    emit(lower, op, &[("src0", whole), ("src1", part)], target);
    Ok(Some(Value::Tile(target)))
}

/// Two tiles of the same shape, after broadcasting rows or columns of it; otherwise unchanged.
pub(super) fn alike(lower: &mut Lower<'_>, a: TileId, b: TileId) -> Lowered<(TileId, TileId)> {
    let (x, y) = (lower.tile(a).shape.to_vec(), lower.tile(b).shape.to_vec());
    if x == y || lower.tile(a).valid.is_some() || lower.tile(b).valid.is_some() {
        return Ok((a, b));
    }
    let (of_a, of_b) = (fold(&x), fold(&y));
    let fits = |m: u64, n: u64| m == n || m == 1 || n == 1;
    if !fits(of_a.0, of_b.0) || !fits(of_a.1, of_b.1) {
        return Ok((a, b));
    }
    let (rows, cols) = (of_a.0.max(of_b.0), of_a.1.max(of_b.1));
    let shape = if of_a == (rows, cols) {
        x
    } else if of_b == (rows, cols) {
        y
    } else {
        vec![rows, cols]
    };
    Ok((repeated(lower, a, &shape), repeated(lower, b, &shape)))
}

/// A tile whose single row or column is broadcast to a shape.
pub(super) fn repeated(lower: &mut Lower<'_>, id: TileId, shape: &[u64]) -> TileId {
    let tile = lower.tile(id).clone();
    let ((rows, cols), wanted) = (fold(&tile.shape), fold(shape));
    if (rows, cols) == wanted {
        return id;
    }
    let elem = tile.ty.layout.elem;
    let mut source = id;
    if cols != wanted.1 {
        let shape = if rows == wanted.0 { shape.to_vec() } else { vec![rows, wanted.1] };
        let target = lower.new_tile(&shape, elem, Space::Vec, "row_expand");
        emit(lower, &pto::TROWEXPAND, &[("src", source)], target);
        source = target;
    }
    if rows != wanted.0 {
        let target = lower.new_tile(shape, elem, Space::Vec, "col_expand");
        emit(lower, &pto::TCOLEXPAND, &[("src", source)], target);
        source = target;
    }
    source
}

/// A single row or column broadcast to a shape.
pub(super) fn broadcast_to(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    let shape = call.need_shape(lower, "shape")?;
    let source = super::operands::vector_of(lower, &value, span)?;
    lower.wholly_valid(source, "a broadcast", call.span)?;
    let have = lower.tile(source).shape.to_vec();
    let (of_source, of_target) = (fold(&have), fold(&shape));
    let fits = |own: u64, wanted: u64| own == wanted || own == 1;
    if have.len() != shape.len() || !fits(of_source.0, of_target.0) || !fits(of_source.1, of_target.1) {
        let message = format!("{} cannot be repeated to {}", show(&have), show(&shape));
        return Err(lower.error("shapes", call.span, message));
    }
    Ok(Value::Tile(repeated(lower, source, &shape)))
}
