//! A core's window of a window of global memory.

use slipring_dialects::rules::constant;
use slipring_dialects::{OpRef, pto};
use slipring_ir::{Dim, Module, Type, ValueId};
use slipring_tile::Space;

use super::axes::positions;
use crate::analysis::facts::{op_ref, operand_index};

/// True for views of global memory.
pub(crate) fn is_global(ty: &Type) -> bool {
    match ty {
        Type::PartitionView(_) | Type::TensorView(_) => true,
        Type::MemRef(memref) => memref.space.unwrap_or(Space::Gm) == Space::Gm,
        _ => false,
    }
}

/// The dimension of a view that the rows or columns of a tile run along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dimension {
    pub at: usize,
    /// Positions that one step of the dimension stands for: the dimensions inside it that fold into the same axis.
    pub inner: i64,
}

/// The op that makes a window of a tensor: source, offsets and sizes.
pub(crate) struct Partition<'a> {
    pub source: ValueId,
    pub offsets: &'a [ValueId],
    pub sizes: &'a [ValueId],
}

impl<'a> Partition<'a> {
    /// The op that makes a view, if the view is a window of a tensor.
    pub fn of(module: &'a Module, view: ValueId) -> Option<Partition<'a>> {
        let op = op_ref(module, module.defining_op(view)?)?;
        let [source, offsets, sizes] = ["source", "offsets", "sizes"].map(|name| operand_index(&op.def.schema, name));
        Some(Partition { source: op.operand(source?)?, offsets: op.operands(offsets?), sizes: op.operands(sizes?) })
    }
}

/// The extents of a view as far as they are known.
pub(super) fn extents(module: &Module, view: ValueId) -> Vec<Option<i64>> {
    let (Type::PartitionView(ty) | Type::TensorView(ty)) = module.ty(view) else { return Vec::new() };
    let declared = ty.dims.iter().map(|dim| dim.known().and_then(|n| i64::try_from(n).ok()));
    match Partition::of(module, view) {
        Some(window) => declared.zip(window.sizes).map(|(dim, size)| dim.or_else(|| constant(module, *size))).collect(),
        None => declared.collect(),
    }
}

/// How the dimensions of a view fold into rows and columns.
pub(crate) fn layout(module: &Module, view: ValueId) -> Option<&str> {
    let op: OpRef<'_> = op_ref(module, module.defining_op(view)?)?;
    match pto::layout_of(&op) {
        Some(layout) => Some(layout),
        None => layout(module, Partition::of(module, view)?.source),
    }
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
    let layout = layout(module, view).unwrap_or("nd");
    let dims: Vec<usize> = match (layout, axis) {
        ("nz", _) => return Err("a window of fractals is not divided".into()),
        (_, 1) if rank <= 2 || layout == "nd" => vec![rank - 1],
        ("nd", _) => (0..rank - 1).collect(),
        (_, 0) => vec![rank.saturating_sub(2)],
        _ => (0..rank).filter(|at| *at + 2 != rank).collect(),
    };
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
