//! Three operands, element by element (PTO IR manual 4.5).

use slipring_ir::{OpSchema, OperandSpec, Touch};

use super::check::{self, NUMBERS};
use super::lower::elementwise;
use super::types;
use super::{DST, EACH, SCALAR_ARG, SRC0, SRC1, ins};
use slipring_effect::arithmetic::*;
use slipring_op::def::OpDef;
use slipring_op::rules::{TILE, operand, schema};

const SRC2: OperandSpec = operand("src2", TILE, Touch::Read, "the third source");
const THREE: OpSchema = schema("", ins(3), &[SRC0, SRC1, SRC2, DST], &[], &[]);
const SCALAR_BETWEEN: OpSchema = schema("", ins(3), &[SRC0, SCALAR_ARG, SRC1, DST], &[], &[]);

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&TADDC, &TSUBC, &TADDSC, &TSUBSC];

pub static TADDC: OpDef = OpDef {
    schema: OpSchema { name: "pto.taddc", ..THREE },
    summary: "Add three tiles",
    doc: number_doc!(
        "`dst = src0 + src1 + src2`, element by element, from left to right. \
          Each step of f32 is rounded; narrower floats are rounded once at the end."
    ),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "add",
    lower: |op, d| elementwise(op, d, &ADD_ADD, ["src0", "src1", "src2"]),
    elems: types::THREE,
    ..EACH
};

pub static TSUBC: OpDef = OpDef {
    schema: OpSchema { name: "pto.tsubc", ..THREE },
    summary: "Subtract a tile and add another",
    doc: number_doc!(
        "`dst = src0 - src1 + src2`, element by element, from left to right. \
          Each step of f32 is rounded; narrower floats are rounded once at the end."
    ),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "add",
    lower: |op, d| elementwise(op, d, &SUB_ADD, ["src0", "src1", "src2"]),
    elems: types::THREE,
    ..EACH
};

pub static TADDSC: OpDef = OpDef {
    schema: OpSchema { name: "pto.taddsc", ..SCALAR_BETWEEN },
    summary: "Add a number and a tile",
    doc: number_doc!(
        "`dst = src0 + scalar + src1`, element by element, from left to right. \
          Each step of f32 is rounded; narrower floats are rounded once at the end."
    ),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "add",
    lower: |op, d| elementwise(op, d, &ADD_ADD, ["src0", "scalar", "src1"]),
    elems: types::THREE,
    ..EACH
};

pub static TSUBSC: OpDef = OpDef {
    schema: OpSchema { name: "pto.tsubsc", ..SCALAR_BETWEEN },
    summary: "Subtract a number and add a tile",
    doc: number_doc!(
        "`dst = src0 - scalar + src1`, element by element, from left to right. \
          Each step of f32 is rounded; narrower floats are rounded once at the end."
    ),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "add",
    lower: |op, d| elementwise(op, d, &SUB_ADD, ["src0", "scalar", "src1"]),
    elems: types::THREE,
    ..EACH
};
