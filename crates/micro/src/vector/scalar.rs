//! A register and a scalar that is broadcast to every lane (micro-instruction manual 8).

use slipring_ir::{Diags, OpSchema, Touch};

use super::check::{self, FLOATS, INTEGERS, NUMBERS};
use super::emit::lanewise;
use super::{GOVERNING, OUT, STEP, kernels, vreg};
use slipring_effect::arithmetic as shared;
use slipring_machine::Platform;
use slipring_op::def::Arithmetic::Two;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::rules::{INTEGER, SCALAR, operand, schema};
use slipring_op::{ops, positional};

const SCHEMA: OpSchema = schema(
    "",
    positional!("src" "scalar" "mask" => "out"),
    &[
        vreg("src", "the first operand"),
        operand("scalar", SCALAR, Touch::Nothing, "the second operand of every lane, of the lanes' type"),
        GOVERNING,
    ],
    &[OUT],
    &[],
);

const SHIFT: OpSchema = OpSchema {
    operands: &[
        vreg("src", "what is shifted"),
        operand("scalar", INTEGER, Touch::Nothing, "bits to shift every lane by"),
        GOVERNING,
    ],
    ..SCHEMA
};

fn rules(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src", op.def.lane_types, diags);
    check::governs(op, "mask", "src", diags);
    if op.def.schema.operand("scalar").is_some_and(|spec| spec.ty.describe == SCALAR.describe) {
        check::number_for(op, "scalar", "src", diags);
    }
}

/// A register and a scalar.
const NUMBERED: OpDef = OpDef { schema: SCHEMA, verify: rules, lower: lanewise, ..STEP };
/// A register and a shift count.
const SHIFTED: OpDef = OpDef { schema: SHIFT, lane_types: INTEGERS, verify: rules, lower: lanewise, ..STEP };

ops! {
    OPS;

    /// `out = src + scalar`; integers wrap.
    VADDS "pto.vadds" "Sum with a number": NUMBERED, kernel: Two(&shared::ADD), lane_types: NUMBERS;

    /// `out = src × scalar`; integers wrap.
    VMULS "pto.vmuls" "Product with a number": NUMBERED, kernel: Two(&shared::MUL), lane_types: NUMBERS;

    /// `out = max(src, scalar)`. NaN if one of them is.
    VMAXS "pto.vmaxs" "Larger of a lane and a number": NUMBERED, kernel: Two(&shared::MAX), lane_types: NUMBERS;

    /// `out = min(src, scalar)`. NaN if one of them is.
    VMINS "pto.vmins" "Smaller of a lane and a number": NUMBERED, kernel: Two(&shared::MIN), lane_types: NUMBERS;

    /// `out = src` where it is at least 0, `scalar × src` elsewhere.
    VLRELU "pto.vlrelu" "Leaky rectified linear unit": NUMBERED, kernel: Two(&kernels::PRELU), lane_types: FLOATS;

    /// `out = src << scalar`. The count is an `i16`, taken modulo the width of a lane.
    VSHLS "pto.vshls" "Shift left by a number": SHIFTED, kernel: Two(&kernels::SHL);

    /// `out = src >> scalar`, filled with the sign for signed lanes. The count is an `i16`, taken modulo the width of a
    /// lane.
    VSHRS "pto.vshrs" "Shift right by a number": SHIFTED, kernel: Two(&kernels::SHR);
}
