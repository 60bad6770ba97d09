//! Sums and differences of integers wider than a lane (micro-instruction manual 7 and 8).

use slipring_ir::{Diags, Infer, OpSchema, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_vector::{Mask, Register};

use super::check::{self, WORDS};
use super::emit::Emit;
use super::{GOVERNING, MASK, STEP, VREG, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{operand, result, schema};
use slipring_op::{ops, positional};

const FIRST: OpSchema = OpSchema {
    results: &[
        result("out", VREG, Infer::Written, "the low 32 bits"),
        result("carry", MASK, Infer::Written, "the lanes that carry; of a difference, those that do not borrow"),
    ],
    ..schema(
        "",
        positional!("lhs" "rhs" "mask" => "out" "carry"),
        &[vreg("lhs", "the first operand"), vreg("rhs", "the second operand"), GOVERNING],
        &[],
        &[],
    )
};

const NEXT: OpSchema = OpSchema {
    syntax: positional!("lhs" "rhs" "carry_in" "mask" => "out" "carry"),
    operands: &[
        vreg("lhs", "the first operand"),
        vreg("rhs", "the second operand"),
        operand("carry_in", MASK, Touch::Nothing, "what the op before gave as `carry`"),
        GOVERNING,
    ],
    ..FIRST
};

/// True if the op takes the carry of another one.
fn takes_carry(op: &OpRef<'_>) -> bool {
    op.def.schema.operand("carry_in").is_some()
}

fn rules(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "lhs", WORDS, diags);
    if takes_carry(op) {
        check::governs(op, "carry_in", "lhs", diags);
    }
    check::governs(op, "mask", "lhs", diags);
}

/// On the lowest words of two integers.
const FIRST_WORDS: OpDef = OpDef { schema: FIRST, verify: rules, ..STEP };
/// On the following words, with a carry.
const NEXT_WORDS: OpDef = OpDef { schema: NEXT, verify: rules, ..STEP };

ops! {
    OPS;

    /// `out = lhs + rhs` modulo 2^32, and the lanes whose sum does not fit.
    VADDC "pto.vaddc" "Sum with carry": FIRST_WORDS, lower: |op, d| chain(op, d, false);

    /// `out = lhs - rhs` modulo 2^32, and the lanes that do not borrow: those with `lhs >= rhs`, unsigned.
    VSUBC "pto.vsubc" "Difference with carry": FIRST_WORDS, lower: |op, d| chain(op, d, true);

    /// `out = lhs + rhs + carry_in` modulo 2^32, and the lanes whose sum does not fit.
    VADDCS "pto.vaddcs" "Sum with carry in and out": NEXT_WORDS, lower: |op, d| chain(op, d, false);

    /// `out = lhs - rhs - (1 - carry_in)` modulo 2^32, and the lanes that do not borrow.
    VSUBCS "pto.vsubcs" "Difference with carry in and out": NEXT_WORDS, lower: |op, d| chain(op, d, true);
}

/// A difference is the sum with the complement, plus one unless there is a borrow.
fn chain(op: &OpRef<'_>, d: &mut Decoder<'_>, subtract: bool) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("lhs")?;
    let (lhs, rhs) = (e.reg("lhs")?, e.reg("rhs")?);
    let carry_in = if takes_carry(op) { Some(e.reg("carry_in")?) } else { None };
    let mask = e.reg("mask")?;
    let (out, carry) = (e.out(0), e.out(1));
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let (a, b, mask) = (*m.reg(lhs), *m.reg(rhs), m.mask(mask));
        let carry_in = carry_in.map(|slot| m.mask(slot));
        let sum = |i: usize| {
            let b = b.bits(i, 4) as u32;
            let b = if subtract { !b } else { b };
            let carry = carry_in.map_or(subtract, |mask| mask.lane(i, 4));
            a.bits(i, 4) + u64::from(b) + u64::from(carry)
        };
        m.set(out, Register::from_fn(|i| if mask.lane(i, 4) { sum(i) as u32 } else { 0 }));
        m.set_mask(carry, Mask::from_fn(4, |i| mask.lane(i, 4) && sum(i) >> 32 != 0));
    })
}
