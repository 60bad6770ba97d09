//! Windows of tensors in global memory: of what, where they begin, how long they are, and how they fold into tiles.

use slipring_dialects::rules::{VIEW, constant};
use slipring_dialects::{OpRef, pto};
use slipring_effect::Fold;
use slipring_ir::{Module, Type, ValueId};

use super::affine::{Affine, Follow};
use super::facts::{op_ref, operand_index};

/// True for views of global memory.
pub fn is_view(ty: &Type) -> bool {
    (VIEW.accepts)(ty)
}

/// The op that makes a window of a tensor: source, offsets and sizes.
pub struct Partition<'a> {
    /// The tensor or view.
    pub source: ValueId,
    /// First index in each dimension.
    pub offsets: &'a [ValueId],
    /// Extent in each dimension.
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

/// A window of a tensor in numbers.
#[derive(Clone, Debug)]
pub struct Window {
    /// What it is a window of.
    pub source: ValueId,
    /// In each dimension where it begins, and how long it is where that is known.
    pub dims: Vec<(Affine, Option<i64>)>,
}

impl Window {
    /// The window that a view is, if it is one. `follow`: what is made of the numbers that it begins at.
    pub fn of(module: &Module, view: ValueId, follow: Follow) -> Option<Window> {
        let made = Partition::of(module, view)?;
        let each = made.offsets.iter().zip(made.sizes);
        let dims = each.map(|(offset, size)| (Affine::of(module, *offset, follow), constant(module, *size)));
        Some(Window { source: made.source, dims: dims.collect() })
    }
}

/// The extents of a view as far as they are known.
pub fn extents(module: &Module, view: ValueId) -> Vec<Option<i64>> {
    let (Type::PartitionView(ty) | Type::TensorView(ty)) = module.ty(view) else { return Vec::new() };
    let declared = ty.dims.iter().map(|dim| dim.known().and_then(|n| i64::try_from(n).ok()));
    match Partition::of(module, view) {
        Some(window) => declared.zip(window.sizes).map(|(dim, size)| dim.or_else(|| constant(module, *size))).collect(),
        None => declared.collect(),
    }
}

/// The layout that the text gives a view, or the tensor that it is a window of.
fn layout(module: &Module, view: ValueId) -> Option<&str> {
    let op: OpRef<'_> = op_ref(module, module.defining_op(view)?)?;
    match pto::layout_of(&op) {
        Some(layout) => Some(layout),
        None => layout(module, Partition::of(module, view)?.source),
    }
}

/// How the dimensions of a view fold into the rows and columns of a tile.
pub fn fold(module: &Module, view: ValueId, rank: usize) -> Fold {
    Fold::of(layout(module, view), rank)
}
