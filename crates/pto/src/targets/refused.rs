//! Ops that the version cannot express.

use slipring_ir::{Module, OpId, Type, ViewType};
use slipring_machine::{Capability, Pipe, Platform};
use slipring_op::function::has_entry_mark;
use slipring_op::target::Scalars;
use slipring_tile::{BLayout, SLayout, Space};

use super::fixes::{Fixed, op};
use crate::sync::pipe_attr;

/// Requires a nonempty valid shape of tiles and windows.
pub(super) fn something_is_valid(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let empty = |ty: &Type| match ty {
        Type::Tile(tile) => tile.valid.iter().any(|dim| dim.known() == Some(0)),
        Type::PartitionView(ViewType { dims, .. }) => dims.iter().any(|dim| dim.known() == Some(0)),
        _ => false,
    };
    match module.op(id).operands.iter().find(|value| empty(module.ty(**value))) {
        Some(_) => Err("one of its tiles or windows has no valid elements".into()),
        None => Ok(()),
    }
}

/// Requires a nonempty valid shape of tiles and windows on units that work on registers.
pub(super) fn something_is_valid_in_registers(
    scalars: &Scalars,
    module: &mut Module,
    id: OpId,
    platform: &Platform,
) -> Fixed {
    match platform.can(Capability::RegisterReductions) {
        true => something_is_valid(scalars, module, id, platform),
        false => Ok(()),
    }
}

/// Requires complete boxes, and for tiles without boxes lines of a multiple of 32 bytes (device headers,
/// `pto_tile.hpp`, with which the C++ is compiled).
pub(super) fn whole_boxes(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let made = module.op(id).results.first().map(|value| module.ty(*value));
    let Some(Type::Tile(tile)) = made.cloned() else { return Ok(()) };
    let layout = tile.layout;
    let ((rows, cols), bytes) = (layout.box_shape(), layout.elem.bytes() as u32);
    if layout.slayout != SLayout::NoneBox {
        let loose = tile.space == Space::Vec || layout.rows == 1 || layout.fractal == 32;
        return match layout.cols % cols != 0 || !loose && layout.rows % rows != 0 {
            true => Err(format!(
                "its tiles in boxes of {rows}x{cols} have whole ones, and this one is {}x{}",
                layout.rows, layout.cols
            )),
            false => Ok(()),
        };
    }
    let (line, what) = match layout.blayout {
        BLayout::RowMajor => (layout.cols * bytes, "rows"),
        BLayout::ColMajor => (layout.rows * bytes, "columns"),
    };
    whole_lines(what, line.into())
}

/// Requires rows or columns of a tile without boxes to have a multiple of 32 bytes.
pub(super) fn whole_lines(what: &str, line: u64) -> Fixed {
    match line % 32 {
        0 => Ok(()),
        _ => Err(format!("the {what} of its tiles are whole in 32 bytes, and here they have {line}")),
    }
}

/// Requires tiles of the same shape: filling a larger tile is another op.
pub(super) fn fills_one_shape(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let shape = |name| this.tile(name).map(|tile| (tile.layout.rows, tile.layout.cols));
    match shape("src") == shape("dst") {
        true => Ok(()),
        false => Err("its tiles have one shape: write `pto.tfillpad_expand`".into()),
    }
}

/// Requires the storing pipes for cross-core signals, on platforms whose waits hold a single pipe.
pub(super) fn signals_of_stores(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let this = op(module, id)?;
    match pipe_attr(&this, "pipe") {
        Some(Pipe::Fix | Pipe::Mte3) | None => Ok(()),
        Some(_) if platform.sync.wait_stalls_core => Ok(()),
        Some(pipe) => Err(format!("on this platform FIX and MTE3 give such signals, and here it is {}", pipe.name())),
    }
}

/// Rejects working memory for a number sequence: without it another pipe would make the sequence.
pub(super) fn sequence_by_scalars(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match op(module, id)?.operand("tmp") {
        Some(_) => Err("it has no working memory, and without it another pipe makes the numbers".into()),
        None => Ok(()),
    }
}

/// Rejects working memory, which the version does not have for this op.
pub(super) fn without_memory(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match op(module, id)?.if_declared("tmp") {
        Some(_) => Err("it has no working memory there".into()),
        None => Ok(()),
    }
}

/// Rejects waits on memory: the library function waits for events, but the C++ passes it the memory.
pub(super) fn waits_for_events(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match module.op(id).operands.is_empty() {
        true => Ok(()),
        false => Err("its C++ waits for memory, where the tile library waits for events".into()),
    }
}

/// Rejects a scalar scale on a move: the version only has it in the generic form, which is not printed.
pub(super) fn scaled_by_a_tile(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match op(module, id)?.if_declared("preQuantScalar") {
        Some(_) => Err("it reads a number to scale by in its generic form only, which slipring does not print".into()),
        None => Ok(()),
    }
}

/// Requires the older unit to extract into operands of products only.
pub(super) fn extracted_for_products(_: &Scalars, module: &mut Module, id: OpId, platform: &Platform) -> Fixed {
    let to = op(module, id)?.space("dst");
    match to {
        Some(Space::Left | Space::Right) | None => Ok(()),
        Some(_) if platform.can(Capability::UbWindows) => Ok(()),
        Some(space) => Err(format!("on this platform it extracts into L0A and L0B, and not into `{}`", space.name())),
    }
}

/// Rejects gathers of floats of 8 bits by indices (patterns work), and gathers by indices without working memory.
pub(super) fn gathered_by_indices(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let elem = this.tile("src").map(|tile| tile.layout.elem).filter(|elem| elem.is_float() && elem.bytes() == 1);
    match elem {
        Some(elem) if this.if_declared("indices").is_some() => {
            Err(format!("it gathers no elements of {elem} by indices"))
        }
        _ if this.if_declared("indices").is_some() && this.operand("tmp").is_none() => {
            Err("it has working memory: give it a tmp".into())
        }
        _ => Ok(()),
    }
}

/// Requires a choice between scalars, not between tiles, windows or addresses.
pub(super) fn chooses_numbers(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    match module.op(id).results.iter().map(|result| module.ty(*result)).find(|ty| !ty.is_scalar()) {
        Some(ty) => Err(format!("it chooses numbers only, and here a `{ty}`: write the op once for each")),
        None => Ok(()),
    }
}

/// Rejects results of a kernel, which the only function of a file is, and tiles as parameters or results.
pub(super) fn plain_function(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let Some(ty) = module.function_type(id) else { return Ok(()) };
    if ty.inputs.iter().chain(&ty.results).any(|ty| matches!(ty, Type::Tile(_) | Type::ShortTile { .. })) {
        return Err("it carries a tile: write the tile's name where it is used".into());
    }
    let with_body = module.functions().filter(|function| module.body(*function, 0).is_some()).count();
    let gives = !ty.results.is_empty() && module.body(id, 0).is_some();
    match gives && (with_body == 1 || has_entry_mark(module, id)) {
        true => Err("a kernel gives nothing back, and the only function of a file is one".into()),
        false => Ok(()),
    }
}

/// Removes the printed operands of a stop: the version only stops.
pub(super) fn stop_without_numbers(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let data = module.op_mut(id);
    data.operands.clear();
    data.segments = [0].into_iter().collect();
    Ok(())
}
