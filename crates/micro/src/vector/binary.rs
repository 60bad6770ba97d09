//! Two registers, lane by lane (micro-instruction manual 7 and 13).

use slipring_ir::{Diags, OpSchema, Type};
use slipring_machine::{Platform, VectorPort};
use slipring_tile::{Arg, Elem};
use slipring_vector::Register;

use super::check::{self, FLOATS, INTEGERS, NUMBERS};
use super::emit::{Emit, lanewise};
use super::{GOVERNING, OUT, STEP, kernels, vreg};
use slipring_effect::arithmetic as shared;
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::Two;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{WITHOUT_SMALL_FLOATS, schema};
use slipring_op::{ops, positional};

const SCHEMA: OpSchema = schema(
    "",
    positional!("lhs" "rhs" "mask" => "out"),
    &[vreg("lhs", "the first operand"), vreg("rhs", "the second operand"), GOVERNING],
    &[OUT],
    &[],
);

/// Element types of the multiplier.
const MUL: &[Elem] = &[Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::F16, Elem::BF16, Elem::F32];
/// Those that the divider takes, or a function of the assembler's.
const DIV: &[Elem] = &[Elem::I16, Elem::I32, Elem::F16, Elem::F32];
/// Any lane type.
const ANY: &[Elem] = &Elem::ALL;

fn rules(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "lhs", op.def.lane_types, diags);
    check::governs(op, "mask", "lhs", diags);
}

/// Requires shift counts to be integers as wide as the lanes that they shift: of the lanes' type, as the SPEC has them,
/// or signed, as assembler 0.60 wants them.
fn shifts(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::lanes_of(op, "lhs", INTEGERS, diags);
    check::lanes_of(op, "rhs", INTEGERS, diags);
    check::governs(op, "mask", "lhs", diags);
    let (Some(lanes), Some(counts), result) = (op.ty("lhs"), op.ty("rhs"), op.module.ty(op.result(0))) else { return };
    let width = |ty: &Type| ty.elem().map(Elem::bytes);
    if result != lanes || width(counts) != width(lanes) {
        let message = format!(
            "expects counts as wide as the lanes, and a result of their type: `{lanes}` by `{counts}` gives `{result}`"
        );
        diags.push(op.error("vreg-type", message));
    } else if counts.elem() != lanes.elem() && !counts.elem().is_some_and(Elem::is_signed_int) {
        let message = format!("expects counts of the lanes' type, or signed ones: `{lanes}` is shifted by `{counts}`");
        diags.push(op.error("vreg-type", message));
    }
}

/// Computes on the bits of the lanes, whatever their type.
fn bitwise(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Two(kernel) = op.def.kernel else { return Err(Reported) };
    let mut e = Emit::new(op, d);
    let elem = e.elem("lhs")?;
    let (lhs, rhs, mask, out) = (e.reg("lhs")?, e.reg("rhs")?, e.reg("mask")?, e.out(0));
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let mut result = Register::ZERO;
        kernel.run_args(Elem::U64, [lhs, rhs].map(|slot| Arg::Slice(&m.reg(slot).0)), &mut result.0);
        result.zero_inactive(&m.mask(mask), elem.bytes());
        m.set(out, result);
    })
}

/// Two registers, and the predicate for the active lanes.
const LANES: OpDef = OpDef { schema: SCHEMA, verify: rules, lower: lanewise, ..STEP };
/// Like [`LANES`], on the bits of the lanes, whatever their type: the manual has integers, assembler 0.60 also takes floats.
const BITS: OpDef = OpDef {
    schema: SCHEMA,
    lane_types: ANY,
    lower: bitwise,
    verify: rules,
    source: "micro-instruction manual 7; floats: assembler 0.60",
    ..STEP
};

ops! {
    OPS;

    /// `out = lhs + rhs`; integers wrap.
    VADD "pto.vadd" "Sum": LANES, kernel: Two(&shared::ADD), lane_types: WITHOUT_SMALL_FLOATS;

    /// `out = lhs - rhs`; integers wrap.
    VSUB "pto.vsub" "Difference": LANES, kernel: Two(&shared::SUB), lane_types: WITHOUT_SMALL_FLOATS;

    /// `out = lhs × rhs`; integers wrap.
    VMUL "pto.vmul" "Product": LANES, kernel: Two(&shared::MUL), lane_types: MUL;

    /// `out = lhs / rhs`, of floats as IEEE 754 has it. Integers are 16 or 32 bits with a sign: rounded towards zero, the
    /// smallest number by -1 is itself, and by 0, which the manual leaves open, is 0. The assembler replaces them by a
    /// function of its library; the cycles here are those of the instruction.
    VDIV "pto.vdiv" "Quotient": LANES, kernel: Two(&shared::DIV), lane_types: DIV,
        source: "micro-instruction manual; integers: that of assembler 0.60, 7";

    /// `out = max(lhs, rhs)`. NaN if one of them is; +0 rather than -0.
    VMAX "pto.vmax" "Larger of two": LANES, kernel: Two(&shared::MAX), lane_types: NUMBERS;

    /// `out = min(lhs, rhs)`. NaN if one of them is; -0 rather than +0.
    VMIN "pto.vmin" "Smaller of two": LANES, kernel: Two(&shared::MIN), lane_types: NUMBERS;

    /// `out = lhs & rhs`, on the bits of the lanes. The manual has integers only; assembler 0.60 also takes floats.
    VAND "pto.vand" "Bitwise and": BITS, kernel: Two(&shared::AND);

    /// `out = lhs | rhs`, on the bits of the lanes: it merges the two halves of a conversion. Floats: as for
    /// `pto.vand`.
    VOR "pto.vor" "Bitwise or": BITS, kernel: Two(&shared::OR);

    /// `out = lhs ^ rhs`, on the bits of the lanes. Floats: as for `pto.vand`.
    VXOR "pto.vxor" "Bitwise exclusive or": BITS, kernel: Two(&shared::XOR);

    /// `out = lhs << rhs`. The count is taken modulo the width of a lane; its lanes are as wide, of the same
    /// type or signed.
    VSHL "pto.vshl" "Shift left": LANES, kernel: Two(&kernels::SHL), verify: shifts;

    /// `out = lhs >> rhs`, filled with the sign for signed lanes. The count is taken modulo the width of a lane; its
    /// lanes are as wide, of the same type or signed.
    VSHR "pto.vshr" "Shift right": LANES, kernel: Two(&kernels::SHR), verify: shifts;

    /// `out = lhs` where it is at least 0, `rhs × lhs` elsewhere.
    VPRELU "pto.vprelu" "Parametric rectified linear unit": LANES, kernel: Two(&kernels::PRELU), lane_types: FLOATS;
}
