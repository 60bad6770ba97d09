//! Windows of tensors in global memory: their source, their start, their extents, and how they fold into tiles.

use slipring_effect::Fold;
use slipring_ir::{Module, Type, ValueId};
use slipring_op::rules::{VIEW, constant};
use slipring_op::{OpRef, WindowOf};
use slipring_pto as pto;

use super::affine::{Affine, Follow};

/// True for views of global memory.
pub fn is_view(ty: &Type) -> bool {
    (VIEW.accepts)(ty)
}

/// The window of a tensor that a view represents, if any.
pub fn partition(module: &Module, view: ValueId) -> Option<WindowOf<'_>> {
    OpRef::of(module, module.defining_op(view)?)?.window()
}

/// A window of a tensor, with its extents.
#[derive(Clone, Debug)]
pub struct Window {
    /// The source of the window.
    pub source: ValueId,
    /// Start in each dimension, and the extent where it is known.
    pub dims: Vec<(Affine, Option<i64>)>,
}

impl Window {
    /// The window that a view represents, if any. `follow` selects how its start offsets are analysed.
    pub fn of(module: &Module, view: ValueId, follow: Follow) -> Option<Window> {
        let made = partition(module, view)?;
        let each = made.offsets.iter().zip(made.sizes);
        let dims = each.map(|(offset, size)| (Affine::of(module, *offset, follow), constant(module, *size)));
        Some(Window { source: made.source, dims: dims.collect() })
    }
}

/// The extents of a view, where known.
pub fn extents(module: &Module, view: ValueId) -> Vec<Option<i64>> {
    let (Type::PartitionView(ty) | Type::TensorView(ty)) = module.ty(view) else { return Vec::new() };
    let declared = ty.dims.iter().map(|dim| dim.known().and_then(|n| i64::try_from(n).ok()));
    match partition(module, view) {
        Some(window) => declared.zip(window.sizes).map(|(dim, size)| dim.or_else(|| constant(module, *size))).collect(),
        None => declared.collect(),
    }
}

/// The layout that the text gives a view, or the tensor it is a window of.
fn layout(module: &Module, view: ValueId) -> Option<&str> {
    let op: OpRef<'_> = OpRef::of(module, module.defining_op(view)?)?;
    match pto::layout_of(&op) {
        Some(layout) => Some(layout),
        None => layout(module, partition(module, view)?.source),
    }
}

/// How the dimensions of a view fold into the rows and columns of a tile.
pub fn fold(module: &Module, view: ValueId, rank: usize) -> Fold {
    Fold::of(layout(module, view), rank)
}
