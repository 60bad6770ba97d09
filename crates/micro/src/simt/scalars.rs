//! Rules for the types of the scalars of workitems.

use slipring_ir::{Diags, Kind, Type};
use slipring_op::def::OpRef;
use slipring_tile::Elem;

/// Requires the types of values to be among these, and packed values to be refused by name; false if they are not.
pub(super) fn require(op: &OpRef<'_>, name: &str, types: &[Type], diags: &mut Diags) -> bool {
    let Some(ty) = op.ty(name) else { return true };
    if packed(op, ty, diags) {
        return false;
    }
    if !types.contains(ty) {
        let list: Vec<String> = types.iter().map(|ty| format!("`{ty}`")).collect();
        let message = format!("`{}` takes {}, not `{ty}`", op.def.schema.name, list.join(", "));
        diags.push(op.error("simt-type", message));
        return false;
    }
    true
}

/// Refuses packed values and `f64` by name.
pub(super) fn packed(op: &OpRef<'_>, ty: &Type, diags: &mut Diags) -> bool {
    let refused = matches!(ty, Type::Vector(_) | Type::F64);
    if refused {
        let message = format!("`{}` on `{ty}` is not modelled", op.def.schema.name);
        diags.push(
            op.error(Kind::Unsupported, message).help("use scalars of at most 64 bits, and floats of at most 32"),
        );
    }
    refused
}

/// Requires the result, and the other operands of these names, to be of the type of the first.
pub(super) fn alike(op: &OpRef<'_>, first: &str, others: &[&str], diags: &mut Diags) {
    let Some(ty) = op.ty(first) else { return };
    let result = op.module.op(op.id).results.first().map(|value| op.module.ty(*value));
    if others.iter().filter_map(|name| op.ty(*name)).chain(result).any(|other| other != ty) {
        let message = format!("`{}` takes and gives values of one type", op.def.schema.name);
        diags.push(op.error("simt-type", message));
    }
}

pub(super) const F16: Type = Type::Float(Elem::F16);
pub(super) const BF16: Type = Type::Float(Elem::BF16);
pub(super) const F32: Type = Type::Float(Elem::F32);
