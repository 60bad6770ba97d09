//! The control register of a core, and ops that set its bits.

use slipring_ir::{Infer, OpSchema, Syntax, Touch, Type};
use slipring_program::{Inst, Operand, ScalarFn};

use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, operand, result, schema};
use slipring_op::{ops, positional};

/// The name of the control register.
pub(crate) const CONTROL: &str = "ctrl";

const DOC: &str = "Each core has a control register of 64 bits, 0 at the start. Bit 48 says what becomes of values that a narrower \
     float cannot hold where an op has neither `sat` nor `nosat`: set, infinities and NaN are kept; clear, they become \
     the largest value and 0. Bit 56 is that of `pto.ub.set_mask_count`. The other bits are kept and have no effect here.";

ops! {
    OPS;

    GET_CTRL "pto.get_ctrl" "Read the control register": PLAIN, doc: DOC,
        source: "public micro-instruction examples; micro-instruction manual 16, execution mode", lower: lower_get_ctrl
        => {
            syntax: Syntax::Format("attr-dict `:` type($value)"),
            results: &[result("value", INTEGER, Infer::Fixed(|| Type::I64), "the register")],
        };

    SET_CTRL "pto.set_ctrl" "Write the control register": PLAIN, doc: DOC,
        source: "public micro-instruction examples; micro-instruction manual 16, execution mode", lower: lower_set_ctrl
        => {
            syntax: positional!("value"),
            operands: &[operand("value", INTEGER, Touch::Nothing, "what the register becomes")],
        };

    /// `result` is `value` with bit `bit` clear.
    SBITSET0 "pto.sbitset0" "Clear a bit": PLAIN.with(SBITSET), source: "public micro-instruction examples",
        lower: |op, d| lower_bit(op, d, |[value, bit, _]| Ok(value & !(1 << (bit & 63))));

    /// `result` is `value` with bit `bit` set.
    SBITSET1 "pto.sbitset1" "Set a bit": PLAIN.with(SBITSET), source: "public micro-instruction examples",
        lower: |op, d| lower_bit(op, d, |[value, bit, _]| Ok(value | 1 << (bit & 63)));
}

fn lower_get_ctrl(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let register = d.register(CONTROL);
    let value = d.variable(Operand::Reg(register));
    d.bind(op.result(0), Binding::Scalar(Operand::Reg(value)));
    Ok(())
}

fn lower_set_ctrl(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let value = d.scalar(op.operand("value").ok_or(Reported)?)?;
    let register = d.register(CONTROL);
    d.emit(Inst::Move { d: register, a: value });
    Ok(())
}

const SBITSET: OpSchema = schema(
    "",
    positional!("value" "bit" => "result"),
    &[
        operand("value", INTEGER, Touch::Nothing, "a number of 64 bits"),
        operand("bit", INTEGER, Touch::Nothing, "which bit, modulo 64"),
    ],
    &[result("result", INTEGER, Infer::Fixed(|| Type::I64), "the number with this bit changed")],
    &[],
);

fn lower_bit(op: &OpRef<'_>, d: &mut Decoder<'_>, f: ScalarFn) -> Lowered {
    let value = d.scalar(op.operand("value").ok_or(Reported)?)?;
    let bit = d.scalar(op.operand("bit").ok_or(Reported)?)?;
    let result = d.compute(f, [value, bit, Operand::Imm(0)]);
    d.bind(op.result(0), Binding::Scalar(result));
    Ok(())
}
