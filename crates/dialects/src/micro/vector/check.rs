//! Rules that vector instructions share.

use slipring_ir::{Diags, Type};
use slipring_tile::Elem;

use crate::def::OpRef;

/// The element type of the vector register that operand `index` is.
pub(super) fn elem(op: &OpRef<'_>, index: usize) -> Option<Elem> {
    match op.ty(index)? {
        Type::VReg(_, elem) => Some(*elem),
        _ => None,
    }
}

/// Bits that the predicate for lanes of a type has: 64-bit lanes are governed by a `b32` predicate.
pub(super) fn mask_bits(elem: Elem) -> u8 {
    (8 * elem.bytes()).min(32) as u8
}

/// Requires predicate `mask` to be one for the lanes of operand `vector`.
pub(super) fn governs(op: &OpRef<'_>, mask: usize, vector: usize, diags: &mut Diags) {
    let (Some(Type::Mask(bits)), Some(elem)) = (op.ty(mask), elem(op, vector)) else { return };
    let wanted = mask_bits(elem);
    if *bits != wanted {
        diags.push(
            op.error("mask-width", format!("lanes of {elem} need a predicate `!pto.mask<b{wanted}>`, not `b{bits}`"))
                .help(format!("make the predicate with the `_b{wanted}` form of the op that makes it")),
        );
    }
}

/// Requires all vector registers, operands and results, to have one type.
pub(super) fn same(op: &OpRef<'_>, diags: &mut Diags) {
    let data = op.module.op(op.id);
    let mut types = data.operands.iter().chain(&data.results).map(|v| op.module.ty(*v));
    let mut types = types.by_ref().filter(|t| matches!(t, Type::VReg(..)));
    let Some(first) = types.next() else { return };
    if let Some(other) = types.find(|t| *t != first) {
        diags.push(
            op.error("vreg-type", format!("expects one type of vector registers, found `{first}` and `{other}`")),
        );
    }
}
