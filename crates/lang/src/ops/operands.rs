//! The operands of a call, as tiles.

use slipring_ir::Diagnostic;
use slipring_tile::Space;

use super::entry::Call;
use crate::dtype::DType;
use crate::lower::on_tiles::emit;
use crate::lower::{Lower, Lowered, masks};
use crate::value::{Const, TileId, Value, show};

/// An operand as a tile of UB.
pub(super) fn vector(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<TileId> {
    let (value, span) = call.need(lower, name)?;
    vector_of(lower, &value, span)
}

/// Like [`vector`], for a value: a mask becomes ones and zeros.
pub(super) fn vector_of(lower: &mut Lower<'_>, value: &Value, span: slipring_ir::Span) -> Lowered<TileId> {
    let id = lower.demand(value, Space::Vec, span)?;
    masks::unpacked(lower, id)
}

/// Emits the op of a call with a new tile like `model` as its destination.
pub(super) fn like(lower: &mut Lower<'_>, call: &Call, model: TileId, operands: &[(&str, TileId)]) -> TileId {
    let elem = lower.tile(model).ty.layout.elem;
    let target = lower.tile_like(model, elem, call.entry.names[0]);
    emit(lower, call.op(), operands, target);
    target
}

pub(super) fn is_number(value: &Value) -> bool {
    matches!(value, Value::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_)) | Value::Scalar(_))
}

/// Reports operands of different shapes or types.
pub(super) fn same(lower: &mut Lower<'_>, call: &Call, a: TileId, b: TileId) -> Lowered<()> {
    let (x, y) = (lower.tile(a).clone(), lower.tile(b).clone());
    let name = call.entry.names[0];
    if x.ty.layout.elem != y.ty.layout.elem {
        let types = [x.ty.layout.elem, y.ty.layout.elem].map(|e| DType::Elem(e).name());
        let message = format!("`pl.{name}` of {} and {} elements", types[0], types[1]);
        let error = Diagnostic::error("elem-types", call.span, message)
            .also(x.span, "the first operand")
            .also(y.span, "the second operand")
            .help(format!("convert one of them: `pl.cast(…, pl.{})`", types[0]));
        return Err(lower.report(error));
    }
    if x.shape != y.shape {
        let message = format!("`pl.{name}` of tiles {} and {}", show(&x.shape), show(&y.shape));
        let mut error = Diagnostic::error("shapes", call.span, message)
            .also(x.span, "the first operand")
            .also(y.span, "the second operand");
        if y.shape.last() == Some(&1) && x.shape.first() == y.shape.first() {
            error = error.help(format!("a value for each row: `pl.row_expand_{name}(x, column)`"));
        } else if y.shape.first() == Some(&1) && x.shape.last() == y.shape.last() {
            error = error.help(format!("a value for each column: `pl.col_expand_{name}(x, row)`"));
        }
        return Err(lower.report(error));
    }
    Ok(())
}
