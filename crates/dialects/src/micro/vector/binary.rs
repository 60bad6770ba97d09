//! Two registers, lane by lane (micro-instruction manual, binary vector ops).

use slipring_ir::{Diags, OpSchema, Syntax};

use super::emit::elementwise;
use super::{GOVERNING, OUT, STEP, check, vreg};
use crate::def::{OpDef, OpRef};
use crate::pto::vector_kernels as kernels;
use crate::rules::schema;

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&VADD, &VSUB, &VMUL];

const SCHEMA: OpSchema = schema(
    "",
    Syntax::Format("$lhs `,` $rhs `,` $mask attr-dict `:` type($lhs) `,` type($rhs) `,` type($mask) `->` type($out)"),
    &[vreg("lhs", "the first operand"), vreg("rhs", "the second operand"), GOVERNING],
    &[OUT],
    &[],
);

fn rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::same(op, diags);
    check::governs(op, 2, 0, diags);
}

static VADD: OpDef = OpDef {
    schema: OpSchema { name: "pto.vadd", ..SCHEMA },
    summary: "Sum",
    doc: "`out = lhs + rhs`; integers wrap.",
    verify: |op, _, diags| rules(op, diags),
    lower: |op, d| elementwise(op, d, &kernels::ADD),
    ..STEP
};

static VSUB: OpDef = OpDef {
    schema: OpSchema { name: "pto.vsub", ..SCHEMA },
    summary: "Difference",
    doc: "`out = lhs - rhs`; integers wrap.",
    verify: |op, _, diags| rules(op, diags),
    lower: |op, d| elementwise(op, d, &kernels::SUB),
    ..STEP
};

static VMUL: OpDef = OpDef {
    schema: OpSchema { name: "pto.vmul", ..SCHEMA },
    summary: "Product",
    doc: "`out = lhs * rhs`; integers wrap.",
    verify: |op, _, diags| rules(op, diags),
    lower: |op, d| elementwise(op, d, &kernels::MUL),
    ..STEP
};
