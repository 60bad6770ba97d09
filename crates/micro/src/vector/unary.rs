//! One register, lane by lane (micro-instruction manual 6).

use slipring_ir::{Diags, OpSchema, Syntax};
use slipring_tile::Elem;

use super::check::{self, COMMON, FLOATS, INTEGERS};
use super::emit::lanewise;
use super::{GOVERNING, OUT, STEP, kernels, vreg};
use slipring_effect::arithmetic as shared;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::rules::schema;

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&VABS, &VNEG, &VEXP, &VLN, &VSQRT, &VRELU, &VNOT];

const SCHEMA: OpSchema = schema(
    "",
    Syntax::Format("$src `,` $mask attr-dict `:` type($src) `,` type($mask) `->` type($out)"),
    &[vreg("src", "the operand"), GOVERNING],
    &[OUT],
    &[],
);

const RELU_TYPES: &[Elem] = &[Elem::I32, Elem::F16, Elem::F32];

fn rules(op: &OpRef<'_>, elems: &[Elem], diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src", elems, diags);
    check::governs(op, "mask", "src", diags);
}

static VABS: OpDef = OpDef {
    schema: OpSchema { name: "pto.vabs", ..SCHEMA },
    summary: "Absolute value",
    doc: "`out = |src|`. The most negative integer stays what it is.",
    verify: |op, _, diags| rules(op, COMMON, diags),
    lower: |op, d| lanewise(op, d, &shared::ABS, ["src"]),
    ..STEP
};

static VNEG: OpDef = OpDef {
    schema: OpSchema { name: "pto.vneg", ..SCHEMA },
    summary: "Negation",
    doc: "`out = -src`; integers wrap.",
    verify: |op, _, diags| rules(op, COMMON, diags),
    lower: |op, d| lanewise(op, d, &shared::NEG, ["src"]),
    ..STEP
};

static VEXP: OpDef = OpDef {
    schema: OpSchema { name: "pto.vexp", ..SCHEMA },
    summary: "Exponential",
    doc: "`out = e^src`, correctly rounded.",
    verify: |op, _, diags| rules(op, FLOATS, diags),
    lower: |op, d| lanewise(op, d, &shared::EXP, ["src"]),
    ..STEP
};

static VLN: OpDef = OpDef {
    schema: OpSchema { name: "pto.vln", ..SCHEMA },
    summary: "Natural logarithm",
    doc: "`out = ln(src)`, correctly rounded; -inf for 0, NaN for negative numbers.",
    verify: |op, _, diags| rules(op, FLOATS, diags),
    lower: |op, d| lanewise(op, d, &shared::LOG, ["src"]),
    ..STEP
};

static VSQRT: OpDef = OpDef {
    schema: OpSchema { name: "pto.vsqrt", ..SCHEMA },
    summary: "Square root",
    doc: "`out = √src`, correctly rounded; NaN for negative numbers.",
    verify: |op, _, diags| rules(op, FLOATS, diags),
    lower: |op, d| lanewise(op, d, &shared::SQRT, ["src"]),
    ..STEP
};

static VRELU: OpDef = OpDef {
    schema: OpSchema { name: "pto.vrelu", ..SCHEMA },
    summary: "Rectified linear unit",
    doc: "`out = max(src, 0)`. NaN stays NaN.",
    verify: |op, _, diags| rules(op, RELU_TYPES, diags),
    lower: |op, d| lanewise(op, d, &kernels::RELU, ["src"]),
    ..STEP
};

static VNOT: OpDef = OpDef {
    schema: OpSchema { name: "pto.vnot", ..SCHEMA },
    summary: "Bitwise complement",
    doc: "`out = ~src`.",
    verify: |op, _, diags| rules(op, INTEGERS, diags),
    lower: |op, d| lanewise(op, d, &shared::NOT, ["src"]),
    ..STEP
};
