//! Scalar operands of ops on tiles, which become elements.

use slipring_effect::vector::Number;
use slipring_ir::{Diags, Type};
use slipring_tile::Elem;

use crate::def::OpRef;
use crate::rules::{SCALAR, constant};

pub use crate::facts::FromZero;

/// The element type of a scalar type: a boolean is 0 or 1.
pub fn number_type(ty: &Type) -> Option<Elem> {
    match ty {
        Type::Int { width: 1, .. } => Some(Elem::U8),
        ty => ty.elem(),
    }
}

/// The element type that scalar operands become: that of the operand whose types the op declares, else of `dst`.
pub fn element_of(op: &OpRef<'_>) -> Option<Elem> {
    let name = op.def.elems.first().map_or("dst", |types| types.operand);
    op.if_declared(name).and_then(|value| op.module.ty(value).elem())
}

/// Reports constants that the element type cannot represent.
pub fn numbers(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(to) = element_of(op) else { return };
    for (index, spec) in
        op.def.schema.operands.iter().enumerate().filter(|(_, spec)| spec.ty.describe == SCALAR.describe)
    {
        let Some(value) = op.operand(index) else { continue };
        let Some(from) = number_type(op.module.ty(value)) else { continue };
        if from.is_float() && !to.is_float() {
            diags.push(
                op.error("scalar-type", format!("`{}` is a number of {from}, the elements are {to}", spec.name))
                    .also(op.module.value(value).span, "the number is defined here")
                    .help("give an integer, or convert it first"),
            );
            continue;
        }
        let Some(constant) = constant(op.module, value) else { continue };
        if let Err(fault) = (Number { at: 0, from, to, usage: op.def.number }).check(constant as u64) {
            diags.push(
                op.error(fault.kind, fault.message)
                    .label(format!("`{}` becomes an element of {to}", spec.name))
                    .also(op.module.value(value).span, "the number is defined here"),
            );
        }
    }
}
