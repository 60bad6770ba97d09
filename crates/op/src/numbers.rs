//! Scalar operands of ops on tiles, which become elements.

use slipring_effect::vector::Number;
use slipring_ir::{Diags, OperandSpec, Type};
use slipring_tile::Elem;

use crate::def::{OpDef, OpRef};
use crate::rules::{SCALAR, constant};

pub use crate::facts::FromZero;

/// The element type of a scalar type: a boolean is 0 or 1.
pub fn number_type(ty: &Type) -> Option<Elem> {
    match ty {
        Type::Int { width: 1, .. } => Some(Elem::U8),
        ty => ty.elem(),
    }
}

/// The operand whose element type scalar operands become: the first one whose types the op declares, else `dst`.
pub fn element_operand(def: &OpDef) -> &'static str {
    def.elems.first().map_or("dst", |types| types.operand)
}

/// Whether an operand is a number that becomes an element.
pub fn becomes_element(spec: &OperandSpec) -> bool {
    spec.ty.describe == SCALAR.describe
}

/// The element type that scalar operands become.
pub fn element_of(op: &OpRef<'_>) -> Option<Elem> {
    op.if_declared(element_operand(op.def)).and_then(|value| op.module.ty(value).elem())
}

/// Reports constants that the element type cannot represent.
pub fn numbers(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(to) = element_of(op) else { return };
    for (index, spec) in op.def.schema.operands.iter().enumerate().filter(|(_, spec)| becomes_element(spec)) {
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
