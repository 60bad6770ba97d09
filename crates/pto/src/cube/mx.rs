//! Products with scales for groups of elements (microscaling). Read and verified; they cannot be run yet.

use slipring_ir::{OpSchema, OperandSpec, Syntax, Touch};
use slipring_machine::Pipe;

use super::matmul::verify_scaled;
use slipring_op::def::{CoreRule, ElemTypes, OpDef, PipeRule};
use slipring_op::rules::{PLAIN, TILE, operand, schema};
use slipring_tile::Elem;

const LHS: OperandSpec = operand("lhs", TILE, Touch::Read, "left operand (`left`)");
const LHS_SCALE: OperandSpec = operand("lhs_scale", TILE, Touch::Read, "scales of the left operand (`scaling`)");
const RHS: OperandSpec = operand("rhs", TILE, Touch::Read, "right operand (`right`)");
const RHS_SCALE: OperandSpec = operand("rhs_scale", TILE, Touch::Read, "scales of the right operand (`scaling`)");
const DST: OperandSpec = operand("dst", TILE, Touch::Write, "accumulator (`acc`)");
const ACC: OperandSpec = operand("acc_in", TILE, Touch::Read, "accumulator to start from (`acc`)");
const BIAS: OperandSpec = operand("bias", TILE, Touch::Read, "one row of values (`bias`)");

/// Only the newer unit has them, of short floats.
const SCALED: &[ElemTypes] = &[
    ElemTypes { operand: "lhs", memory: &[], registers: SHORT },
    ElemTypes { operand: "rhs", memory: &[], registers: SHORT },
    ElemTypes { operand: "dst", memory: &[], registers: &[Elem::F32] },
];
const SHORT: &[Elem] = &[Elem::F8E4M3, Elem::F8E5M2, Elem::F4E2M1x2, Elem::F4E1M2x2];

const MX: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::InsOuts { ins: 4, attrs_in_ins: false },
        &[LHS, LHS_SCALE, RHS, RHS_SCALE, DST],
        &[],
        &[],
    ),
    summary: "Multiply two tiles with scales for groups of elements",
    doc: "`dst = lhs × rhs` where each group of elements along k has a scale, from zero, from an accumulator or from a \
          bias. Read and verified; it cannot be run yet.",
    source: "PTO IR manual 4.4",
    elems: SCALED,
    core: CoreRule::Cube,
    pipe: PipeRule::Fixed(Pipe::M),
    verify: |op, _, diags| verify_scaled(op, diags),
    lower: |_, d| Err(d.unsupported("a product with scales for groups of elements")),
    ..PLAIN
};

const MX_ACC: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::InsOuts { ins: 5, attrs_in_ins: false },
        &[ACC, LHS, LHS_SCALE, RHS, RHS_SCALE, DST],
        &[],
        &[],
    ),
    ..MX
};

const MX_BIAS: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::InsOuts { ins: 5, attrs_in_ins: false },
        &[LHS, LHS_SCALE, RHS, RHS_SCALE, BIAS, DST],
        &[],
        &[],
    ),
    ..MX
};

pub static TMATMUL_MX: OpDef = OpDef { schema: OpSchema { name: "pto.tmatmul.mx", ..MX.schema }, ..MX };
pub static TMATMUL_MX_ACC: OpDef = OpDef { schema: OpSchema { name: "pto.tmatmul.mx.acc", ..MX_ACC.schema }, ..MX_ACC };
pub static TMATMUL_MX_BIAS: OpDef =
    OpDef { schema: OpSchema { name: "pto.tmatmul.mx.bias", ..MX_BIAS.schema }, ..MX_BIAS };
pub static TGEMV_MX: OpDef = OpDef { schema: OpSchema { name: "pto.tgemv.mx", ..MX.schema }, ..MX };
pub static TGEMV_MX_ACC: OpDef = OpDef { schema: OpSchema { name: "pto.tgemv.mx.acc", ..MX_ACC.schema }, ..MX_ACC };
pub static TGEMV_MX_BIAS: OpDef = OpDef { schema: OpSchema { name: "pto.tgemv.mx.bias", ..MX_BIAS.schema }, ..MX_BIAS };
