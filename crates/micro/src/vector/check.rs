//! Rules that vector instructions share.

use slipring_ir::{Diags, Type, ValueId};
use slipring_program::Fault;
use slipring_tile::Elem;

use slipring_op::def::OpRef;

/// The element type of a vector register operand.
pub(super) fn elem(op: &OpRef<'_>, at: &str) -> Option<Elem> {
    match op.ty(at)? {
        Type::VReg(_, elem) => Some(*elem),
        _ => None,
    }
}

/// The element type of vector register result `index`.
pub(super) fn result_elem(op: &OpRef<'_>, index: usize) -> Option<Elem> {
    match op.module.ty(op.result(index)) {
        Type::VReg(_, elem) => Some(*elem),
        _ => None,
    }
}

/// The element type of a pointer operand.
pub(super) fn pointee(op: &OpRef<'_>, at: &str) -> Option<Elem> {
    match op.ty(at)? {
        Type::Ptr(elem, _) => Some(*elem),
        _ => None,
    }
}

/// The granularity in bits of the predicate for lanes of a type: a `b32` predicate governs 64-bit lanes.
pub(super) fn mask_bits(elem: Elem) -> u8 {
    (8 * elem.bytes()).min(32) as u8
}

/// Requires predicate `mask` to have the granularity of operand `vector`.
pub(super) fn governs(op: &OpRef<'_>, mask: &str, vector: &str, diags: &mut Diags) {
    if let Some(elem) = elem(op, vector) {
        granularity(op, mask, mask_bits(elem), &format!("lanes of {elem}"), diags);
    }
}

/// Requires predicate `mask` to have this granularity, for the sake of `what`.
pub(super) fn granularity(op: &OpRef<'_>, mask: &str, wanted: u8, what: &str, diags: &mut Diags) {
    let Some(Type::Mask(bits)) = op.ty(mask) else { return };
    if *bits != wanted {
        diags.push(
            op.error("mask-width", format!("{what} need a predicate `!pto.mask<b{wanted}>`, not `b{bits}`"))
                .help(format!("make the predicate with the `_b{wanted}` form of the op that makes it")),
        );
    }
}

/// The types of integer lanes.
pub(crate) const INTEGERS: &[Elem] =
    &[Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::I64, Elem::U64];
/// Integer lanes of 32 bits.
pub(crate) const WORDS: &[Elem] = &[Elem::I32, Elem::U32];
/// `f16` and `f32`.
pub(crate) const FLOATS: &[Elem] = &[Elem::F16, Elem::F32];
/// Integers up to 32 bits, `f16` and `f32`.
pub(crate) const COMMON: &[Elem] =
    &[Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::F16, Elem::F32];
/// The above and `bf16`.
pub(crate) const NUMBERS: &[Elem] =
    &[Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::F16, Elem::BF16, Elem::F32];

/// Requires an operand to have lanes of one of these types.
pub(super) fn lanes_of(op: &OpRef<'_>, name: &str, elems: &[Elem], diags: &mut Diags) {
    let Some(found) = elem(op, name) else { return };
    if !elems.contains(&found) {
        let names: Vec<_> = elems.iter().map(|e| e.name()).collect();
        let name = op.def.schema.name;
        diags.push(op.error("elem-type", format!("`{name}` takes lanes of {}, not of {found}", names.join(", "))));
    }
}

/// Requires operand `number` to be a scalar of the width and kind of operand `vector`'s lanes. The signedness of
/// integers is optional.
pub(super) fn number_for(op: &OpRef<'_>, number: &str, vector: &str, diags: &mut Diags) {
    let (Some(ty), Some(lane)) = (op.ty(number), elem(op, vector)) else { return };
    let fits = match ty {
        Type::Int { width, sign } => {
            let signless = *sign == slipring_ir::Sign::Signless;
            !lane.is_float() && usize::from(*width) == 8 * lane.bytes() && (signless || ty.elem() == Some(lane))
        }
        Type::Float(elem) => *elem == lane,
        _ => false,
    };
    if !fits {
        diags.push(op.error("elem-type", format!("lanes of {lane} do not go with a number of type `{ty}`")));
    }
}

/// Requires all vector registers, operands and results, to have the same type.
pub(super) fn same(op: &OpRef<'_>, diags: &mut Diags) {
    one_type(op, "vreg-type", "vector registers", |t| matches!(t, Type::VReg(..)), diags);
}

/// Requires all predicates, operands and results, to have the same type.
pub(super) fn same_masks(op: &OpRef<'_>, diags: &mut Diags) {
    one_type(op, "mask-type", "predicates", |t| matches!(t, Type::Mask(_)), diags);
}

fn one_type(op: &OpRef<'_>, code: &'static str, what: &str, counts: fn(&Type) -> bool, diags: &mut Diags) {
    let data = op.module.op(op.id);
    let types = data.operands.iter().chain(&data.results).map(|v| op.module.ty(*v));
    let mut types = types.filter(|t| counts(t));
    let Some(first) = types.next() else { return };
    if let Some(other) = types.find(|t| *t != first) {
        diags.push(op.error(code, format!("expects one type of {what}, found `{first}` and `{other}`")));
    }
}

/// The updated pointer that a post-increment form returns as result `index`.
pub(super) fn gives_back(op: &OpRef<'_>, index: usize) -> Option<ValueId> {
    op.module.op(op.id).results.get(index).copied()
}

/// Requires result `index` of a post-increment form to have the type of pointer `ptr`, which it continues.
pub(super) fn moved(op: &OpRef<'_>, ptr: &str, index: usize, diags: &mut Diags) {
    let Some(result) = gives_back(op, index) else { return };
    if let Some(ty) = op.ty(ptr).filter(|ty| *ty != op.module.ty(result)) {
        let message = format!("the pointer that `{}` gives back is a `{ty}`, as `{ptr}` is", op.def.schema.name);
        diags.push(op.error("type-mismatch", message).help(format!("write `{ty}` as the last type")));
    }
}

/// Requires pointer `ptr` to point to elements as wide as these lanes, because offsets count its elements.
pub(super) fn as_wide(op: &OpRef<'_>, ptr: &str, lanes: Option<Elem>, diags: &mut Diags) {
    if let (Some(to), Some(lanes)) = (pointee(op, ptr), lanes)
        && to.bytes() != lanes.bytes()
    {
        diags.push(
            op.error("elem-width", format!("lanes of {lanes} need a pointer to elements of their width, not to {to}"))
                .help("look at the address through `pto.castptr` as a pointer to the other type"),
        );
    }
}

/// Requires an address to be a multiple of `align` bytes.
///
/// # Errors
/// `vector-align` if it is not.
#[inline]
pub(crate) fn aligned(address: u64, align: u64, verb: &str) -> Result<(), Fault> {
    if address.is_multiple_of(align) { Ok(()) } else { Err(misaligned(address, align, verb)) }
}

#[cold]
fn misaligned(address: u64, align: u64, verb: &str) -> Fault {
    let hint =
        "unaligned data is moved by `pto.vldas` and `pto.vldus`, by `pto.vstus` and `pto.vstas`, or by `pto.pstu`";
    Fault::new("vector-align", format!("{verb} byte {address} of UB, which is not a multiple of {align}")).help(hint)
}
