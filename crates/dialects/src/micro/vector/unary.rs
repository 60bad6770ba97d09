//! One register, lane by lane (micro-instruction manual, unary vector ops).

use slipring_ir::{Diags, OpSchema, Syntax};

use super::emit::elementwise;
use super::{GOVERNING, OUT, STEP, check, vreg};
use crate::def::{OpDef, OpRef};
use crate::pto::vector_kernels as kernels;
use crate::rules::schema;

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&VABS, &VEXP];

const SCHEMA: OpSchema = schema(
    "",
    Syntax::Format("$src `,` $mask attr-dict `:` type($src) `,` type($mask) `->` type($out)"),
    &[vreg("src", "the operand"), GOVERNING],
    &[OUT],
    &[],
);

fn rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::same(op, diags);
    check::governs(op, 1, 0, diags);
}

static VABS: OpDef = OpDef {
    schema: OpSchema { name: "pto.vabs", ..SCHEMA },
    summary: "Absolute value",
    doc: "`out = |src|`. The most negative integer stays what it is.",
    verify: |op, _, diags| rules(op, diags),
    lower: |op, d| elementwise(op, d, &kernels::ABS),
    ..STEP
};

static VEXP: OpDef = OpDef {
    schema: OpSchema { name: "pto.vexp", ..SCHEMA },
    summary: "Exponential",
    doc: "`out = e^src`, correctly rounded.",
    verify: |op, _, diags| rules(op, diags),
    lower: |op, d| elementwise(op, d, &kernels::EXP),
    ..STEP
};
