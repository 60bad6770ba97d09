//! One value in every lane (micro-instruction manual 5).

use slipring_ir::{AttrKind, Diags, Touch, Type, TypeRule};
use slipring_machine::{Platform, VectorPort};
use slipring_vector::BYTES;

use super::check;
use super::emit::{Emit, splat};
use super::{GOVERNING, OUT, STEP};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{SCALAR, defaulted, one_of, operand};
use slipring_op::{ops, positional};

const VALUE: TypeRule =
    TypeRule { describe: "a scalar or a vector register", accepts: |t| t.is_scalar() || matches!(t, Type::VReg(..)) };

ops! {
    OPS;

    /// `out[i] = value` for every lane.
    VBR "pto.vbr" "A number in every lane": STEP, lower: lower_vbr
        => {
            syntax: positional!("value" => "out"),
            operands: &[operand("value", SCALAR, Touch::Nothing, "the number; its low bits where lanes are narrower")],
            results: &[OUT],
        };

    /// Every active lane gets the number, or the first or last lane of the register.
    VDUP "pto.vdup" "A number or one lane in every lane": STEP, verify: verify_vdup, lower: lower_vdup
        => {
            syntax: positional!("value" "mask" => "out"),
            operands: &[
                operand("value", VALUE, Touch::Nothing, "a number, or a register of which one lane is taken"),
                GOVERNING,
            ],
            results: &[OUT],
            attrs: &[defaulted(
                "position",
                AttrKind::Str,
                "the lane of a register: `LOWEST` (the first, and the default) or `HIGHEST`",
            )],
        };
}

fn lower_vbr(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = check::result_elem(op, 0).ok_or(Reported)?;
    let (value, out) = (e.number("value")?, e.out(0));
    e.compute(VectorPort::Alu, elem, move |m, args| {
        m.set(out, splat(elem, args[value]));
    })
}

fn verify_vdup(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "position", &["LOWEST", "HIGHEST"], diags);
    if op.attr("position").is_some() && check::elem(op, "value").is_none() {
        let message = "`position` chooses a lane of a register: a number has none";
        diags.push(op.error("attr-value", message).help("leave `position` out"));
    }
    let out = check::result_elem(op, 0);
    if check::elem(op, "value").is_some() && check::elem(op, "value") != out {
        diags.push(op.error("vreg-type", "the result has the type of the register"));
    }
    if let (Some(Type::Mask(bits)), Some(elem)) = (op.ty("mask"), out)
        && *bits != check::mask_bits(elem)
    {
        let wanted = check::mask_bits(elem);
        diags.push(op.error("mask-width", format!("lanes of {elem} need a predicate `!pto.mask<b{wanted}>`")));
    }
}

fn lower_vdup(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = check::result_elem(op, 0).ok_or(Reported)?;
    let bytes = elem.bytes();
    let source = if e.elem("value").is_ok() { Ok(e.reg("value")?) } else { Err(e.number("value")?) };
    let (mask, out) = (e.reg("mask")?, e.out(0));
    let lane = if op.text("position") == Some("HIGHEST") { BYTES / bytes - 1 } else { 0 };
    e.compute(VectorPort::Alu, elem, move |m, args| {
        let value = match source {
            Ok(slot) => m.reg(slot).bits(lane, bytes),
            Err(number) => args[number],
        };
        let mut result = splat(elem, value);
        result.zero_inactive(&m.mask(mask), bytes);
        m.set(out, result);
    })
}
