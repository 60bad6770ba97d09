//! Operations of the vector unit on tiles (PTO IR manual 4.5 to 4.13).
//!
//! All of them run on pipe V of a Vector core and work on the valid shape of `dst`: sources must cover it with their
//! valid elements, which is checked at run time with the values at that moment. Elements outside the valid shape are
//! unchanged. Layouts and valid shapes that the tile libraries require are data of the declarations; other tiles may
//! have any. `dst` may be one of the sources, except for those in `apart`. `tmp` is working memory of some
//! instructions; its contents are uninitialised afterwards.
//!
//! Floats are computed in f32 and rounded once to nearest (ties to even) if they are narrower; NaN results are the
//! canonical NaN (0x7fc00000 in f32). Integers wrap.

/// Appends the element domain of an op to its documentation.
macro_rules! shape_doc {
    ($($what:tt)+) => {
        concat!(
            $($what)+,
            " Works on the valid shape of `dst`, whose other elements stay as they are; sources must have at least the valid \
             elements that it needs. `dst` may be one of the sources where nothing below keeps them apart. Tiles may have any layout but where one is named \
             below."
        )
    };
}

/// Appends the element domain of an op and its arithmetic to its documentation.
macro_rules! number_doc {
    ($($what:tt)+) => {
        concat!(
            shape_doc!($($what)+),
            " Floats are computed in f32 and rounded once to the nearest, ties to even, where they are narrower; NaN results \
             are the canonical NaN. Integers wrap."
        )
    };
}

mod apart;
pub(super) mod binary;
pub(super) mod bits;
pub(crate) mod blocks;
pub(super) mod broadcast;
pub(super) mod check;
pub(super) mod convert;
pub(super) mod fill;
pub(super) mod fused;
pub(super) mod gather;
pub(super) mod generate;
mod inside;
mod lower;
pub(super) mod order;
pub(super) mod pairs;
pub(super) mod part_arg;
pub(super) mod power;
mod precision;
pub(super) mod quantise;
pub(super) mod rearrange;
pub(super) mod reduce;
pub(super) mod scalar;
pub(super) mod select;
pub(super) mod table;
pub(super) mod ternary;
mod tiles;
mod types;
pub(super) mod unary;
mod working;

pub use binary::*;
pub use bits::*;
pub use blocks::TQUANT_MX;
pub use broadcast::*;
pub use convert::*;
pub use fill::*;
pub use fused::*;
pub use gather::*;
pub use generate::*;
pub use order::*;
pub use pairs::*;
pub use part_arg::*;
pub use power::*;
pub use quantise::*;
pub use rearrange::*;
pub use reduce::*;
pub use scalar::*;
pub use select::*;
pub use table::*;
pub use ternary::*;
pub use unary::*;

use slipring_ir::{OpSchema, OperandSpec, Syntax, Touch};
use slipring_machine::Pipe;

use slipring_op::Along;
use slipring_op::def::{CoreRule, OpDef, PipeRule};
use slipring_op::rules::{PLAIN, SCALAR, TILE, operand, optional, schema};

/// The base of all vector ops.
const VECTOR: OpDef = OpDef {
    core: CoreRule::Vector,
    pipe: PipeRule::Fixed(Pipe::V),
    class: "other",
    source: "PTO IR manual 4.5; tile ISA, page of the same name",
    ..PLAIN
};

/// The base of elementwise ops.
const EACH: OpDef = OpDef { along: Along::EACH, ..VECTOR };

const SRC: OperandSpec = operand("src", TILE, Touch::Read, "the source");
const SRC0: OperandSpec = operand("src0", TILE, Touch::Read, "the first source");
const SRC1: OperandSpec = operand("src1", TILE, Touch::Read, "the second source");
const SCALAR_ARG: OperandSpec =
    operand("scalar", SCALAR, Touch::Nothing, "the number; converted to the element type of `dst`");
const TMP: OperandSpec = optional(
    "tmp",
    TILE,
    Touch::Scratch,
    "working memory of the instruction; its contents are uninitialised afterwards",
);
const DST: OperandSpec = operand("dst", TILE, Touch::Write, "where the results go");

/// `ins(src) outs(dst)`.
const ONE: OpSchema = schema("", ins(1), &[SRC, DST], &[], &[]);
/// `ins(src[, tmp]) outs(dst)`.
const ONE_TMP: OpSchema = schema("", ins(2), &[SRC, TMP, DST], &[], &[]);
/// `ins(src0, src1) outs(dst)`.
const TWO: OpSchema = schema("", ins(2), &[SRC0, SRC1, DST], &[], &[]);
/// `ins(src0, src1[, tmp]) outs(dst)`.
const TWO_TMP: OpSchema = schema("", ins(3), &[SRC0, SRC1, TMP, DST], &[], &[]);
/// `ins(src, scalar) outs(dst)`.
const WITH_SCALAR: OpSchema = schema("", ins(2), &[SRC, SCALAR_ARG, DST], &[], &[]);
/// `ins(src, scalar[, tmp]) outs(dst)`.
const WITH_SCALAR_TMP: OpSchema = schema("", ins(3), &[SRC, SCALAR_ARG, TMP, DST], &[], &[]);

/// A syntax with so many declared operands inside `ins`.
const fn ins(count: usize) -> Syntax {
    Syntax::InsOuts { ins: count, attrs_in_ins: true }
}
