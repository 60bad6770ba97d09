//! Logical vectors: virtual micro-instructions on vectors of any length (SPEC of virtual micro-instructions).
//!
//! A value is a sequence of lanes. Here it is in as many registers as it needs, lane after lane, and a predicate has one
//! bit for each lane, whatever the width of the lanes; which layout the assembler would choose has no influence on
//! results. Every op becomes steps of the vector unit: one for each register where the hardware has an instruction for
//! that, else one with the cost of the instructions that the SPEC names.

mod access;
pub(super) mod broadcast;
mod check;
pub(super) mod compare;
pub(super) mod convert;
mod emit;
pub(super) mod fused;
pub(super) mod gather;
pub(super) mod histogram;
pub(super) mod lanes;
pub(super) mod memory;
pub(super) mod older;
pub(super) mod packed;
pub(super) mod predicate;
pub(super) mod rearrange;
pub(super) mod reduce;
mod value;

use slipring_ir::{AttrKind, AttrSpec, Infer, OperandSpec, ResultSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::Pipe;
use slipring_op::def::{CoreRule, OpDef, PipeRule};
use slipring_op::rules::{PLAIN, defaulted, operand, optional, result, schema};

/// `!pto.vmi.vreg`.
const VECTOR: TypeRule = TypeRule { describe: "a logical vector", accepts: |t| matches!(t, Type::LogicalVector(_)) };
/// `!pto.vmi.mask`.
const PREDICATE: TypeRule =
    TypeRule { describe: "a logical predicate", accepts: |t| matches!(t, Type::LogicalMask(_)) };

/// An operand that is a logical vector.
const fn vector(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, VECTOR, Touch::Nothing, doc)
}

/// The governing predicate.
const GOVERNING: OperandSpec =
    operand("mask", PREDICATE, Touch::Nothing, "the lanes that take part; the others become 0");

/// The governing predicate, for ops that may be without one.
const PERHAPS: OperandSpec = optional(
    "mask",
    PREDICATE,
    Touch::Nothing,
    "the lanes that take part, all where it is left out; the others become 0",
);

/// A result that is a logical vector.
const OUT: ResultSpec = result("out", VECTOR, Infer::Written, "the result");

/// What becomes of inactive lanes.
const PMODE: AttrSpec = defaulted(
    "pmode",
    AttrKind::Str,
    "`zero`: inactive lanes become 0. `merge` keeps what a register held before, which a value of this text does not \
     have: it is refused",
);

/// The source of an op that the assembler declares and no manual describes.
const DECLARED: &str = "declarations of assembler 0.60 (`VMIOps.td`)";

/// The base of all ops on logical vectors.
const LOGICAL: OpDef = OpDef {
    schema: schema("", Syntax::Generic, &[], &[], &[]),
    source: "SPEC of virtual micro-instructions of PTO-Gym",
    core: CoreRule::Vector,
    pipe: PipeRule::Fixed(Pipe::V),
    in_vector_function: true,
    ..PLAIN
};
