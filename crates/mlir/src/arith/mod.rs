//! The `arith` dialect: scalar arithmetic, which the scalar unit runs.
//!
//! Integers wrap at their width; `index` is 64 bits. Floats are computed in `f32` and rounded once to their type.

pub(crate) mod cast;
pub(crate) mod compare;
pub(crate) mod constant;
pub(crate) mod extended;
pub(crate) mod float;
pub(crate) mod integer;
mod make;

pub use cast::*;
pub use compare::*;
pub use constant::*;
pub use extended::*;
pub use float::*;
pub use integer::*;
pub use make::*;

use slipring_ir::{AttrKind, AttrSpec, FlagsSpec, Infer, OperandSpec, ResultSpec, Syntax, Touch, Type, TypeRule};
use slipring_program::{Law, Operand, ScalarFn};

use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, defaulted, operand, result};

const FLOAT: TypeRule = TypeRule { describe: "a float", accepts: |t| matches!(t, Type::Float(_) | Type::F64) };

/// The fields that all ops of the dialect share.
const SCALAR_OP: OpDef = OpDef { source: "MLIR, arith dialect", lower: |_, d| Err(d.unsupported("this op")), ..PLAIN };

const BINARY: Syntax = Syntax::Format("$lhs `,` $rhs attr-dict `:` type($result)");

/// What a compiler may assume of an integer op. Results wrap whatever is assumed.
const OVERFLOW: &[AttrSpec] = &[defaulted(
    "overflowFlags",
    AttrKind::Flags(&FlagsSpec { head: "#arith.overflow", words: &["none", "nsw", "nuw"] }),
    "what a compiler may assume; results wrap all the same",
)];
/// An op of two integers of which a compiler may assume that it does not overflow.
const BINARY_OVERFLOW: Syntax =
    Syntax::Format("$lhs `,` $rhs (`overflow` `` $overflowFlags)? attr-dict `:` type($result)");

/// What a compiler may do with a float op.
const FASTMATH: AttrSpec = defaulted(
    "fastmath",
    AttrKind::Flags(&FlagsSpec {
        head: "#arith.fastmath",
        words: &["none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"],
    }),
    "what a compiler may do; results are those of IEEE 754 all the same",
);
const BINARY_FASTMATH: Syntax = Syntax::Format("$lhs `,` $rhs (`fastmath` `` $fastmath)? attr-dict `:` type($result)");

const INT_OPERANDS: &[OperandSpec] =
    &[operand("lhs", INTEGER, Touch::Nothing, "left"), operand("rhs", INTEGER, Touch::Nothing, "right")];
const INT_RESULT: &[ResultSpec] = &[result("result", INTEGER, Infer::SameAs(0), "of the operands' type")];
const FLOAT_OPERANDS: &[OperandSpec] =
    &[operand("lhs", FLOAT, Touch::Nothing, "left"), operand("rhs", FLOAT, Touch::Nothing, "right")];
const FLOAT_RESULT: &[ResultSpec] = &[result("result", FLOAT, Infer::SameAs(0), "of the operands' type")];

/// Lowers an op to one scalar instruction on all its operands; `choose` picks the function by the type of the first
/// one.
fn scalar_op(op: &OpRef<'_>, d: &mut Decoder<'_>, law: Law, choose: impl Fn(&Type) -> Option<ScalarFn>) -> Lowered {
    let ty = op.module.op(op.id).operands.first().map(|value| op.module.ty(*value)).ok_or(Reported)?;
    let Some(f) = choose(ty) else { return Err(d.unsupported(&format!("arithmetic on `{ty}`"))) };
    compute(op, d, law, f)
}

fn compute(op: &OpRef<'_>, d: &mut Decoder<'_>, law: Law, f: ScalarFn) -> Lowered {
    let mut args = [Operand::Imm(0); 3];
    for (arg, value) in args.iter_mut().zip(&op.module.op(op.id).operands) {
        *arg = d.scalar(*value)?;
    }
    let value = d.compute_by(law, f, args);
    d.bind(op.result(0), Binding::Scalar(value));
    Ok(())
}
