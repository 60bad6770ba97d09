//! Three operands, elementwise (PTO IR manual 4.5).

use slipring_ir::{OperandSpec, Touch};

use super::check;
use super::lower::elementwise;
use super::types;
use super::{DST, EACH, SCALAR_ARG, SRC0, SRC1, ins};
use slipring_effect::arithmetic::*;
use slipring_op::def::Arithmetic::Three;
use slipring_op::def::OpDef;
use slipring_op::ops;
use slipring_op::rules::{TILE, operand, schema};

const SRC2: OperandSpec = operand("src2", TILE, Touch::Read, "the third source");

/// Two additions or subtractions in sequence.
const TILES: OpDef = OpDef {
    schema: schema("", ins(3), &[SRC0, SRC1, SRC2, DST], &[], &[]),
    verify: check::numbers,
    class: "add",
    lower: elementwise,
    elems: types::THREE,
    ..EACH
};
/// Like [`TILES`], with a scalar as the second operand.
const NUMBER_BETWEEN: OpDef = OpDef { schema: schema("", ins(3), &[SRC0, SCALAR_ARG, SRC1, DST], &[], &[]), ..TILES };

/// Documents the rounding of each step.
macro_rules! steps_doc {
    ($what:literal) => {
        number_doc!(
            $what,
            ", element by element, from left to right. Each step of f32 is rounded; narrower floats are rounded once at the end."
        )
    };
}

ops! {
    OPS, steps_doc;

    /// `dst = src0 + src1 + src2`
    pub TADDC "pto.taddc" "Add three tiles": TILES, kernel: Three(&ADD_ADD);

    /// `dst = src0 - src1 + src2`
    pub TSUBC "pto.tsubc" "Subtract a tile and add another": TILES, kernel: Three(&SUB_ADD);

    /// `dst = src0 + scalar + src1`
    pub TADDSC "pto.taddsc" "Add a number and a tile": NUMBER_BETWEEN, kernel: Three(&ADD_ADD);

    /// `dst = src0 - scalar + src1`
    pub TSUBSC "pto.tsubsc" "Subtract a number and add a tile": NUMBER_BETWEEN, kernel: Three(&SUB_ADD);
}
