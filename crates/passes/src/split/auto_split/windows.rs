//! One core's window of a window of global memory.

use slipring_ir::{Dim, Module, ValueId};

use super::axes::positions;
use crate::analysis::windows::{extents, fold};

/// The dimension of a view that the rows or columns of a tile run along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dimension {
    pub at: usize,
    /// Positions per step of the dimension: the dimensions inside it that fold into the same axis.
    pub inner: i64,
}

/// The dimension that the positions of `axis` run along, for a tile with `size` of them. `exact`: one step of the dimension must
/// be one position.
pub(super) fn dimension(
    module: &Module,
    view: ValueId,
    axis: usize,
    size: i64,
    exact: bool,
) -> Result<Dimension, String> {
    let what = positions(axis);
    let extents = extents(module, view);
    let rank = extents.len();
    if rank == 0 {
        return Err("a memref has no windows that could be divided".into());
    }
    let fold = fold(module, view, rank);
    if fold.boxed() {
        return Err("a window of fractals is not divided".into());
    }
    let dims: Vec<usize> = (0..rank).filter(|at| fold.axis(*at, rank) == axis).collect();
    if rank == 1 && axis == 0 {
        return if size == 1 { Ok(Dimension { at: 0, inner: 1 }) } else { Err(format!("the window has no {what}")) };
    }
    let mut wide = dims.iter().copied().filter(|at| extents[*at] != Some(1));
    let Some(at) = wide.next() else { return Ok(Dimension { at: dims[dims.len() - 1], inner: 1 }) };
    let inner: Option<i64> = wide.map(|at| extents[at]).product();
    let inner = inner.ok_or_else(|| format!("the extents of the window that make up its {what} are not known here"))?;
    let even = extents[at].is_some_and(|n| n % 2 == 0 && n * inner == size);
    if inner != 1 && (exact || !even) {
        return Err(format!("several dimensions of the window make up its {what}, and the outermost is not even"));
    }
    Ok(Dimension { at, inner })
}

/// The static dimension of a number.
pub(super) fn dim(n: i64) -> Dim {
    u64::try_from(n).map_or(Dim::Dynamic, Dim::Static)
}
