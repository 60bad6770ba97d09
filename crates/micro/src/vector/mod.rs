//! Vector instructions: the ops in vector functions.
//!
//! Each op lowers to one [`Step`](slipring_vector::Step): a closure over the vector machine together with the registers
//! that it reads and writes. Results are zero in inactive lanes.

pub(super) mod align;
pub(super) mod binary;
pub(super) mod broadcast;
pub(super) mod carry;
pub(crate) mod check;
pub(super) mod compare;
pub(super) mod convert;
pub(crate) mod emit;
pub(super) mod fused;
pub(super) mod gather;
pub(super) mod histogram;
pub(crate) mod kernels;
pub(super) mod load;
mod modes;
pub(super) mod predicate;
pub(super) mod predicate_logic;
pub(super) mod predicate_memory;
pub(super) mod rearrange;
pub(super) mod reduce;
pub(super) mod scalar;
pub(super) mod store;
pub(super) mod unary;

use slipring_ir::{Syntax, Touch, Type, TypeRule};
use slipring_machine::Pipe;

use slipring_ir::{Arity, Infer, OperandSpec, ResultSpec};
use slipring_op::def::{CoreRule, OpDef, PipeRule};
use slipring_op::rules::result;
use slipring_op::rules::{PLAIN, operand, schema};
use slipring_tile::Space;

/// `!pto.vreg`.
pub(super) const VREG: TypeRule = TypeRule { describe: "a vector register", accepts: |t| matches!(t, Type::VReg(..)) };
/// `!pto.mask`.
pub(super) const MASK: TypeRule = TypeRule { describe: "a predicate", accepts: |t| matches!(t, Type::Mask(_)) };
/// A pointer into the unified buffer.
pub(super) const UB: TypeRule =
    TypeRule { describe: "a pointer into `ub`", accepts: |t| matches!(t, Type::Ptr(_, Some(Space::Vec))) };

/// An operand that is a vector register.
pub(super) const fn vreg(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, VREG, Touch::Nothing, doc)
}

/// The governing predicate.
pub(super) const GOVERNING: OperandSpec =
    operand("mask", MASK, Touch::Nothing, "the lanes that take part; the others become 0");

/// A result that is a vector register.
pub(super) const OUT: ResultSpec = result("out", VREG, Infer::Written, "the result");

/// The last result of post-increment forms: see [`emit::Emit::place`].
pub(super) const MOVED: ResultSpec = ResultSpec {
    name: "moved",
    arity: Arity::Optional,
    ty: UB,
    infer: Infer::Written,
    doc: "the pointer that far on; the access is then at the pointer itself",
};

/// The base of all vector instructions.
pub(super) const STEP: OpDef = OpDef {
    schema: schema("", Syntax::Generic, &[], &[], &[]),
    source: "micro-instruction manual",
    core: CoreRule::Vector,
    pipe: PipeRule::Fixed(Pipe::V),
    in_vector_function: true,
    ..PLAIN
};
