//! A register and a number that every lane gets (micro-instruction manual 8).

use slipring_ir::{Diags, OpSchema, Syntax, Touch};
use slipring_tile::Elem;

use super::check::{self, FLOATS, INTEGERS, NUMBERS};
use super::emit::lanewise;
use super::{GOVERNING, OUT, STEP, kernels, vreg};
use slipring_effect::arithmetic as shared;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::rules::{INTEGER, SCALAR, operand, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&VADDS, &VMULS, &VMAXS, &VMINS, &VLRELU, &VSHLS, &VSHRS];

const SCHEMA: OpSchema = schema(
    "",
    Syntax::Format(
        "$src `,` $scalar `,` $mask attr-dict `:` type($src) `,` type($scalar) `,` type($mask) `->` type($out)",
    ),
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

fn rules(op: &OpRef<'_>, elems: &[Elem], diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src", elems, diags);
    check::governs(op, "mask", "src", diags);
    if op.def.schema.operand("scalar").is_some_and(|spec| spec.ty.describe == SCALAR.describe) {
        check::number_for(op, "scalar", "src", diags);
    }
}

static VADDS: OpDef = OpDef {
    schema: OpSchema { name: "pto.vadds", ..SCHEMA },
    summary: "Sum with a number",
    doc: "`out = src + scalar`; integers wrap.",
    verify: |op, _, diags| rules(op, NUMBERS, diags),
    lower: |op, d| lanewise(op, d, &shared::ADD, ["src", "scalar"]),
    ..STEP
};

static VMULS: OpDef = OpDef {
    schema: OpSchema { name: "pto.vmuls", ..SCHEMA },
    summary: "Product with a number",
    doc: "`out = src × scalar`; integers wrap.",
    verify: |op, _, diags| rules(op, NUMBERS, diags),
    lower: |op, d| lanewise(op, d, &shared::MUL, ["src", "scalar"]),
    ..STEP
};

static VMAXS: OpDef = OpDef {
    schema: OpSchema { name: "pto.vmaxs", ..SCHEMA },
    summary: "Larger of a lane and a number",
    doc: "`out = max(src, scalar)`. NaN if one of them is.",
    verify: |op, _, diags| rules(op, NUMBERS, diags),
    lower: |op, d| lanewise(op, d, &shared::MAX, ["src", "scalar"]),
    ..STEP
};

static VMINS: OpDef = OpDef {
    schema: OpSchema { name: "pto.vmins", ..SCHEMA },
    summary: "Smaller of a lane and a number",
    doc: "`out = min(src, scalar)`. NaN if one of them is.",
    verify: |op, _, diags| rules(op, NUMBERS, diags),
    lower: |op, d| lanewise(op, d, &shared::MIN, ["src", "scalar"]),
    ..STEP
};

static VLRELU: OpDef = OpDef {
    schema: OpSchema { name: "pto.vlrelu", ..SCHEMA },
    summary: "Leaky rectified linear unit",
    doc: "`out = src` where it is at least 0, `scalar × src` elsewhere.",
    verify: |op, _, diags| rules(op, FLOATS, diags),
    lower: |op, d| lanewise(op, d, &kernels::PRELU, ["src", "scalar"]),
    ..STEP
};

static VSHLS: OpDef = OpDef {
    schema: OpSchema { name: "pto.vshls", ..SHIFT },
    summary: "Shift left by a number",
    doc: "`out = src << scalar`. The count is an `i16`, taken modulo the width of a lane.",
    verify: |op, _, diags| rules(op, INTEGERS, diags),
    lower: |op, d| lanewise(op, d, &kernels::SHL, ["src", "scalar"]),
    ..STEP
};

static VSHRS: OpDef = OpDef {
    schema: OpSchema { name: "pto.vshrs", ..SHIFT },
    summary: "Shift right by a number",
    doc: "`out = src >> scalar`, filled with the sign for signed lanes. The count is an `i16`, taken modulo the width of a lane.",
    verify: |op, _, diags| rules(op, INTEGERS, diags),
    lower: |op, d| lanewise(op, d, &kernels::SHR, ["src", "scalar"]),
    ..STEP
};
