//! Elements moved by index, and sorting.

use slipring_dialects::pto;
use slipring_tile::Space;

use super::{Call, ENTRY, Entry, REFUSED};
use crate::lower::{Lower, Lowered};
use crate::value::{Tensor, Value};

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["gather_row"],
        params: "dst/acc, src, dst_offset, src_offset, shapes, transpose=, *, valid_shape=",
        op: Some(&pto::TLOAD),
        doc: "Load a window of a tensor into a part of a tile",
        lower: gather_row,
        ..ENTRY
    },
    Entry {
        names: &["gather", "gatherb", "gather_mask", "gather_compare"],
        op: Some(&pto::TGATHER),
        doc: "Elements of a tile by index, comparison or pattern",
        ..REFUSED
    },
    Entry {
        names: &["scatter", "scatter_mask", "scatter_update"],
        op: Some(&pto::TSCATTER),
        doc: "Elements put where indices say",
        ..REFUSED
    },
    Entry { names: &["mgather"], op: Some(&pto::MGATHER), doc: "Elements of global memory by index", ..REFUSED },
    Entry { names: &["mscatter"], op: Some(&pto::MSCATTER), doc: "Elements to global memory by index", ..REFUSED },
    Entry { names: &["paged_gather"], doc: "Rows of a paged cache", ..REFUSED },
    Entry { names: &["sort32"], op: Some(&pto::TSORT32), doc: "Blocks of 32 elements sorted", ..REFUSED },
    Entry { names: &["mrgsort"], op: Some(&pto::TMRGSORT), doc: "Sorted lists merged", ..REFUSED },
    Entry { names: &["random"], op: Some(&pto::TRANDOM), doc: "Random bits", ..REFUSED },
];

fn gather_row(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if call.flag(lower, "transpose")? {
        return Err(lower.unsupported(call.span, "`transpose` of `pl.gather_row`"));
    }
    if let Some((_, span)) = call.get("valid_shape") {
        let span = *span;
        return Err(lower.unsupported(span, "`valid_shape` of `pl.gather_row`"));
    }
    let (dst, place) = call.need(lower, "dst")?;
    let Value::Tile(id) = dst else { return Err(call.wrong(lower, "dst", "a tile", &dst, place)) };
    let source: Tensor = match call.need(lower, "src")? {
        (Value::Tensor(tensor), _) => tensor,
        (other, span) => return Err(call.wrong(lower, "src", "a tensor", &other, span)),
    };
    let shape = call.need_shape(lower, "shapes")?;
    let (to, from) = (call.offsets(lower, "dst_offset")?, call.offsets(lower, "src_offset")?);
    if lower.tile(id).ty.space != Space::Vec {
        return Err(lower.unsupported(call.span, "`pl.gather_row` into another memory than UB"));
    }
    let part = lower.tile_window(id, &to, &shape, call.span)?;
    let window = lower.tensor_window(&source, &from, &shape, call.span)?;
    if window.elem != lower.tile(part).ty.layout.elem {
        return Err(lower.error("elem-types", call.span, "the tensor and the tile have other elements"));
    }
    let view = lower.window(&window)?;
    let target = lower.tile(part).value;
    lower.e.op(&pto::TLOAD, &[("src", &[view]), ("dst", &[target])], &[], &[]);
    Ok(Value::Tile(id))
}
