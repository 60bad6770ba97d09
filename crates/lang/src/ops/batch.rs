//! Products of lists of matrices: one product for each pair, in separate accumulators.

use std::rc::Rc;

use slipring_ir::{Diagnostic, Span};
use slipring_pto as pto;
use slipring_tile::Space;

use super::entry::Call;
use super::product::{accumulated, is_matrix, multiplied, operands_of, together};
use crate::lower::{Lower, Lowered};
use crate::value::{Index, Parts, TileId, Value, show};

/// The maximum number of matrices in a list.
const MOST: u64 = 1024;

/// The shape without its last two extents.
fn leading(shape: &[u64]) -> &[u64] {
    &shape[..shape.len().saturating_sub(2)]
}

/// The extents of the resulting list, if a product is one of lists that have to be split.
pub(super) fn list_of(lower: &mut Lower<'_>, call: &Call) -> Lowered<Option<Vec<u64>>> {
    let (lhs, rhs) = (call.need(lower, "lhs")?, call.need(lower, "rhs")?);
    if !is_matrix(&lhs.0) || !is_matrix(&rhs.0) {
        return Ok(None);
    }
    let shapes = [&lhs.0, &rhs.0].map(|value| lower.shape_of(value));
    let Some(list) = together(leading(&shapes[0]), leading(&shapes[1])) else {
        let message = format!("products of lists {} and {} of matrices", show(&shapes[0]), show(&shapes[1]));
        let error = Diagnostic::error("shapes", call.span, message)
            .help("the extents before the last two are equal, or 1 on one side");
        return Err(lower.report(error));
    };
    // A single right operand for all: the rows of the left matrices are contiguous.
    let plain = leading(&shapes[1]).iter().all(|n| *n == 1) && !call.flag(lower, "a_trans")?;
    Ok((list.iter().product::<u64>() > 1 && !plain).then_some(list))
}

/// The position in a list of the matrix that is used in a product, given the extents.
fn position(list: &[u64], own: &[u64], mut at: u64) -> Vec<u64> {
    let mut place = Vec::new();
    for dim in (0..list.len()).rev() {
        let here = at % list[dim];
        at /= list[dim];
        if let Some(own_dim) = (dim + own.len()).checked_sub(list.len()) {
            place.insert(0, if own[own_dim] == 1 { 0 } else { here });
        }
    }
    place
}

/// One matrix of a list, for L0A or L0B.
fn one(
    lower: &mut Lower<'_>,
    (value, span): &(Value, Span),
    list: &[u64],
    at: u64,
    (space, transposed): (Space, bool),
) -> Lowered {
    let shape = lower.shape_of(value);
    let own = leading(&shape).to_vec();
    let place = position(list, &own, at);
    if let Value::Parts(parts) = value {
        let number = place.iter().zip(&own).fold(0, |sum, (at, extent)| sum * extent + at);
        return Ok(Value::Tile(parts.tiles[number as usize]));
    }
    if own.iter().all(|n| *n == 1) && matches!(value, Value::Tile(_)) {
        return Ok(value.clone());
    }
    match value {
        Value::Tensor(tensor) => {
            let indices: Vec<Index> = place.iter().map(|at| Index::Known(*at as i64)).collect();
            lower.matrix_of(tensor, &indices, *span).map(Value::Tensor)
        }
        Value::Tile(_) => {
            if transposed {
                return Err(lower.unsupported(*span, "a transposed operand that is a list of tiles"));
            }
            let whole = lower.demand(value, Space::Mat, *span)?;
            let number = place.iter().zip(&own).fold(0, |sum, (at, extent)| sum * extent + at);
            let (rows, cols) = (shape[shape.len() - 2], shape[shape.len() - 1]);
            let elem = lower.tile(whole).ty.layout.elem;
            let target = lower.new_tile(&[rows, cols], elem, space, "extract");
            let [row, col] = [number * rows, 0].map(|n| lower.e.index(n as i64));
            let (src, dst) = (lower.tile(whole).value, lower.tile(target).value);
            let groups: [(&str, &[_]); 4] = [("src", &[src]), ("row", &[row]), ("col", &[col]), ("dst", &[dst])];
            lower.e.op(&pto::TEXTRACT, &groups, &[], &[]);
            Ok(Value::Tile(target))
        }
        _ => Ok(value.clone()),
    }
}

/// The products of two lists, in new accumulators, or added to those of `onto`.
pub(super) fn products(lower: &mut Lower<'_>, call: &Call, list: &[u64], onto: Option<(&Rc<Parts>, Span)>) -> Lowered {
    let count: u64 = list.iter().product();
    if count > MOST {
        let message = format!("{count} products at once, at most {MOST} are");
        return Err(lower.report(Diagnostic::error("too-large", call.span, message).help("write a loop over them")));
    }
    let (lhs, rhs) = (call.need(lower, "lhs")?, call.need(lower, "rhs")?);
    let flags = [call.flag(lower, "a_trans")?, call.flag(lower, "b_trans")?];
    let mut tiles: Vec<TileId> = Vec::new();
    for at in 0..count {
        let a = one(lower, &lhs, list, at, (Space::Left, flags[0]))?;
        let b = one(lower, &rhs, list, at, (Space::Right, flags[1]))?;
        let o = operands_of(lower, call, (a, lhs.1), (b, rhs.1))?;
        tiles.push(match onto {
            None => multiplied(lower, call, &o)?,
            Some((parts, span)) => accumulated(lower, call, (parts.tiles[at as usize], span), &o)?,
        });
    }
    let Some(last) = tiles.last().map(|id| lower.tile(*id).shape.clone()) else { return Ok(Value::Nothing) };
    let shape: Vec<u64> = list.iter().chain(&last).copied().collect();
    Ok(Value::Parts(Rc::new(Parts { shape, tiles, whole: Default::default() })))
}
