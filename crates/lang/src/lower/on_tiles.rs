//! Emission of ops on tiles.

use slipring_ir::{Attr, Span, ValueId};
use slipring_op::OpDef;
use slipring_tile::Elem;

use super::lowering::{Lower, Lowered};
use crate::dtype::DType;
use crate::value::{TileId, Value};

/// Emits an op on tiles.
pub(crate) fn emit(lower: &mut Lower<'_>, op: &'static OpDef, operands: &[(&str, TileId)], target: TileId) {
    emit_with(lower, op, operands, target, &[]);
}

/// Like [`emit`], with attributes.
pub(crate) fn emit_with(
    lower: &mut Lower<'_>,
    op: &'static OpDef,
    operands: &[(&str, TileId)],
    target: TileId,
    attrs: &[(&'static str, Attr)],
) {
    let values: Vec<_> = operands.iter().map(|(name, id)| (*name, [lower.tile(*id).value])).collect();
    let dst = [lower.tile(target).value];
    let mut groups: Vec<(&str, &[ValueId])> = values.iter().map(|(n, v)| (*n, &v[..])).collect();
    groups.push(("dst", &dst));
    lower.e.op(op, &groups, attrs, &[]);
}

/// The scalar argument of a call for tiles of a type.
pub(crate) fn scalar_for(lower: &mut Lower<'_>, value: &Value, elem: Elem, span: Span) -> Lowered<ValueId> {
    if let Value::Const(c) = value {
        lower.fits(c, DType::Elem(elem), span)?;
    }
    let ty = if elem.is_float() { DType::Elem(Elem::F32) } else { DType::Elem(elem) };
    lower.number(value, ty, span)
}
