//! Run-time forms of memory types: tiles in their layout in memory, memrefs as views and tiles.

use slipring_ir::{Dim, MemRefType, TileType, Type, ValueId};
use slipring_program::Operand;
use slipring_tile::{Layout, SLayout, Space};
use smallvec::SmallVec;

use super::{Binding, Decoder, TileRef, ViewRef};
use crate::def::{OpRef, Reported};

/// A tile's type as it is laid out in memory: L0A in the platform's order of boxes, incomplete boxes row by row.
pub fn in_memory(d: &Decoder<'_>, ty: TileType) -> TileType {
    let mut ty = d.platform_tile(ty);
    ty.layout = whole_boxes(ty.layout);
    ty
}

/// The layout itself, or row by row if its boxes would be incomplete.
pub fn whole_boxes(layout: Layout) -> Layout {
    if layout.is_whole() {
        return layout;
    }
    Layout { slayout: SLayout::NoneBox, ..Layout::nd(layout.elem, layout.rows, layout.cols) }
}

/// Reports memory that has no address.
pub fn no_address(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Reported {
    d.report(
        op.error("no-address", "the tile has no address")
            .help("run the passes (`slipring run` and `slipring build` do), or give it `addr`"),
    )
}

/// The binding of a memref argument of a kernel: a view of the buffer at `value`. `None` for other types.
pub fn bind_argument(d: &Decoder<'_>, arg: ValueId, value: Operand) -> Option<Binding> {
    let Type::MemRef(memref) = d.module.ty(arg) else { return None };
    view_of(memref, value, d).map(Binding::View)
}

/// A memref of known shape at an address.
pub fn view_of(memref: &MemRefType, base: Operand, d: &Decoder<'_>) -> Option<ViewRef> {
    let dims: SmallVec<[Operand; 5]> =
        memref.dims.iter().map(|dim| dim.known().map(Operand::Imm)).collect::<Option<_>>()?;
    let strides: SmallVec<[Operand; 5]> = match &memref.strides {
        Some((strides, _)) => strides.iter().map(|dim| dim.known().map(Operand::Imm)).collect::<Option<_>>()?,
        None => {
            let mut stride = 1u64;
            let mut list: SmallVec<[Operand; 5]> = SmallVec::new();
            for dim in memref.dims.iter().rev() {
                list.insert(0, Operand::Imm(stride));
                stride = stride.saturating_mul(dim.known()?);
            }
            list
        }
    };
    let space = memref.space.unwrap_or(Space::Gm);
    Some(ViewRef { elem: memref.elem.elem()?, space, core: d.role, base, dims, strides, layout: None, place: None })
}

/// A memref in a local memory as a tile: its last dimension becomes the columns, the others the rows. `None` if the
/// rows are not evenly spaced.
pub fn as_tile(view: &ViewRef) -> Option<TileRef> {
    if view.space == Space::Gm {
        return None;
    }
    let numbers =
        |list: &[Operand]| -> Option<Vec<u64>> { list.iter().map(|n| n.as_imm().map(|n| n as u64)).collect() };
    let (dims, strides) = (numbers(&view.dims)?, numbers(&view.strides)?);
    let (cols, outer) = dims.split_last()?;
    // The distance between rows becomes the columns of the layout.
    let pitch = match outer {
        [] => *cols,
        _ => strides[strides.len() - 2],
    };
    let even =
        (1..outer.len()).all(|at| outer[at - 1] == 1 || strides[at - 1] == outer[at].saturating_mul(strides[at]));
    if !even || *strides.last()? != 1 || pitch < *cols {
        return None;
    }
    let rows = outer.iter().try_fold(1u64, |product, n| product.checked_mul(*n))?;
    let layout = Layout::nd(view.elem, u32::try_from(rows).ok()?, u32::try_from(pitch).ok()?);
    let valid = [Dim::Static(rows), Dim::Static(*cols)];
    let ty = TileType { space: view.space, layout, valid, pad: 0, compact: 0 };
    Some(TileRef::of_type(ty, view.base))
}
