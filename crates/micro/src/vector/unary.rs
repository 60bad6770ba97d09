//! One register, lane by lane (micro-instruction manual 6).

use slipring_ir::{Diags, OpSchema};
use slipring_tile::Elem;

use super::check::{self, COMMON, FLOATS, INTEGERS};
use super::emit::lanewise;
use super::{GOVERNING, OUT, STEP, kernels, vreg};
use slipring_effect::arithmetic as shared;
use slipring_machine::Platform;
use slipring_op::def::Arithmetic::One;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::rules::schema;
use slipring_op::{ops, positional};

const SCHEMA: OpSchema =
    schema("", positional!("src" "mask" => "out"), &[vreg("src", "the operand"), GOVERNING], &[OUT], &[]);

const RELU_TYPES: &[Elem] = &[Elem::I32, Elem::F16, Elem::F32];

fn rules(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src", op.def.lane_types, diags);
    check::governs(op, "mask", "src", diags);
}

/// A register, and the predicate for the active lanes.
const LANES: OpDef = OpDef { schema: SCHEMA, verify: rules, lower: lanewise, ..STEP };

ops! {
    OPS;

    /// `out = |src|`. The most negative integer stays what it is.
    VABS "pto.vabs" "Absolute value": LANES, kernel: One(&shared::ABS), lane_types: COMMON;

    /// `out = -src`; integers wrap.
    VNEG "pto.vneg" "Negation": LANES, kernel: One(&shared::NEG), lane_types: COMMON;

    /// `out = e^src`, correctly rounded.
    VEXP "pto.vexp" "Exponential": LANES, kernel: One(&shared::EXP), lane_types: FLOATS;

    /// `out = ln(src)`, correctly rounded; -inf for 0, NaN for negative numbers.
    VLN "pto.vln" "Natural logarithm": LANES, kernel: One(&shared::LOG), lane_types: FLOATS;

    /// `out = √src`, correctly rounded; NaN for negative numbers.
    VSQRT "pto.vsqrt" "Square root": LANES, kernel: One(&shared::SQRT), lane_types: FLOATS;

    /// `out = max(src, 0)`. NaN stays NaN.
    VRELU "pto.vrelu" "Rectified linear unit": LANES, kernel: One(&kernels::RELU), lane_types: RELU_TYPES;

    /// `out = ~src`.
    VNOT "pto.vnot" "Bitwise complement": LANES, kernel: One(&shared::NOT), lane_types: INTEGERS;
}
