//! Float arithmetic.

use slipring_ir::{Infer, Syntax, Touch};
use slipring_program::{Law, Trap};
use slipring_tile::math::{maximum, minimum};

use super::{BINARY_FASTMATH, FASTMATH, FLOAT, FLOAT_OPERANDS, FLOAT_RESULT, SCALAR_OP, scalar_op};
use slipring_op::by_float;
use slipring_op::def::OpDef;
use slipring_op::number::{bits, float};
use slipring_op::rules::{operand, result, schema};

/// Declares ops of two floats, each with a name, a summary and its semantics in `f32`.
macro_rules! ops {
    ($($id:ident $name:literal $summary:literal |$a:ident, $b:ident| $value:expr;)*) => {
        /// The ops of this file.
        pub(crate) const OPS: &[&OpDef] = &[$(&$id,)* &NEGF];
        $(
            pub static $id: OpDef = OpDef {
                schema: schema($name, BINARY_FASTMATH, FLOAT_OPERANDS, FLOAT_RESULT, &[FASTMATH]),
                summary: $summary,
                doc: "Computed in `f32` and rounded once to the type, to the nearest, ties to even.",
                lower: |op, d| {
                    fn f<const T: u8>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
                        let ($a, $b) = (float::<T>(a), float::<T>(b));
                        Ok(bits::<T>($value))
                    }
                    scalar_op(op, d, Law::Unknown, |ty| by_float!(ty, f))
                },
                ..SCALAR_OP
            };
        )*
    };
}

ops! {
    ADDF "arith.addf" "Sum" |a, b| a + b;
    SUBF "arith.subf" "Difference" |a, b| a - b;
    MULF "arith.mulf" "Product" |a, b| a * b;
    DIVF "arith.divf" "Quotient" |a, b| a / b;
    REMF "arith.remf" "Remainder, with the sign of the dividend" |a, b| a % b;
    MAXIMUMF "arith.maximumf" "Larger number; NaN if one is NaN" |a, b| maximum(a, b);
    MINIMUMF "arith.minimumf" "Smaller number; NaN if one is NaN" |a, b| minimum(a, b);
    MAXNUMF "arith.maxnumf" "Larger number; the other one if one is NaN" |a, b| number(a, b, maximum);
    MINNUMF "arith.minnumf" "Smaller number; the other one if one is NaN" |a, b| number(a, b, minimum);
}

/// The result of `choose` for two floats; if one is NaN, the other one.
fn number(a: f32, b: f32, choose: fn(f32, f32) -> f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ => choose(a, b),
    }
}

pub static NEGF: OpDef = OpDef {
    schema: schema(
        "arith.negf",
        Syntax::Format("$in (`fastmath` `` $fastmath)? attr-dict `:` type($result)"),
        &[operand("in", FLOAT, Touch::Nothing, "a number")],
        &[result("result", FLOAT, Infer::SameAs(0), "of the operand's type")],
        &[FASTMATH],
    ),
    summary: "Negation",
    doc: "Changes the sign, of zeros too.",
    lower: |op, d| {
        fn f<const T: u8>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
            Ok(bits::<T>(-float::<T>(a)))
        }
        scalar_op(op, d, Law::Unknown, |ty| by_float!(ty, f))
    },
    ..SCALAR_OP
};
