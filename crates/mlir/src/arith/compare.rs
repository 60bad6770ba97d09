//! Comparison and selection.

use slipring_ir::{AttrKind, EnumSpec, Infer, Syntax, Touch, Type};
use slipring_program::{Law, Order, Relation, ScalarFn, Trap};

use super::{FASTMATH, FLOAT_OPERANDS, INT_OPERANDS, SCALAR_OP, compute, scalar_op};
use slipring_op::decode::Decoder;
use slipring_op::def::{FromZero, Lowered, OpRef, Reported};
use slipring_op::number::{float, signed, unsigned};
use slipring_op::ops;
use slipring_op::rules::{ANY, BOOL, operand, required, result};
use slipring_op::{by_float, by_width};

const CMPI_PREDICATE: &EnumSpec = &EnumSpec {
    kind: "cmpi_predicate",
    numbered: true,
    members: &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"],
};

const CMPF_PREDICATE: &EnumSpec = &EnumSpec {
    kind: "cmpf_predicate",
    numbered: true,
    members: &[
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
        "true",
    ],
};

ops! {
    OPS;

    pub CMPI "arith.cmpi" "Compare integers": SCALAR_OP, doc: "",
        relation: |op| op.text("predicate").and_then(relation), lower: lower_cmpi
        => {
            syntax: Syntax::Format("keyword($predicate) `,` $lhs `,` $rhs attr-dict `:` type($lhs)"),
            operands: INT_OPERANDS,
            results: &[result("result", BOOL, Infer::Fixed(|| Type::I1), "whether it holds")],
            attrs: &[required("predicate", AttrKind::Enum(CMPI_PREDICATE), "the relation, signed (s) or unsigned (u)")],
        };

    pub CMPF "arith.cmpf" "Compare floats": SCALAR_OP, doc: "", lower: lower_cmpf
        => {
            syntax: Syntax::Format(
                "keyword($predicate) `,` $lhs `,` $rhs (`fastmath` `` $fastmath)? attr-dict `:` type($lhs)",
            ),
            operands: FLOAT_OPERANDS,
            results: &[result("result", BOOL, Infer::Fixed(|| Type::I1), "whether it holds")],
            attrs: &[
                required(
                    "predicate",
                    AttrKind::Enum(CMPF_PREDICATE),
                    "the relation; o: false with a NaN, u: true with a NaN",
                ),
                FASTMATH,
            ],
        };

    /// Of two tiles or views the result is one of them, not a copy: what is done with it is done with that one. Of two
    /// vector registers or predicates it is one of them whole, as the condition says. The type of the condition may be
    /// written, too: `: i1, f32`.
    pub SELECT "arith.select" "One of two values": SCALAR_OP,
        from_zero: FromZero::IfAll(&["true_value", "false_value"]), lower: lower_select
        => {
            syntax: Syntax::Format("$condition `,` $true_value `,` $false_value attr-dict `:` (`i1,`)? type($result)"),
            operands: &[
                operand("condition", BOOL, Touch::Nothing, "which one"),
                operand("true_value", ANY, Touch::Nothing, "the value if it holds"),
                operand("false_value", ANY, Touch::Nothing, "the value if not"),
            ],
            results: &[result("result", ANY, Infer::SameAs(1), "the chosen value")],
        };
}

fn lower_cmpi(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let predicate = op.text("predicate").unwrap_or("");
    scalar_op(op, d, relation(predicate).map_or(Law::Unknown, Law::Relation), |ty| integer_relation(predicate, ty))
}

fn lower_cmpf(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let predicate = op.text("predicate").unwrap_or("");
    scalar_op(op, d, Law::Unknown, |ty| float_relation(predicate, ty))
}

fn lower_select(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if op.ty("true_value").is_some_and(|t| !t.is_scalar() && !matches!(t, Type::Ptr(..))) {
        return slipring_op::decode::lower_choice(op, d);
    }
    if op.operand("false_value").is_none() {
        return Err(Reported);
    }
    compute(op, d, Law::Unknown, |[condition, yes, no]| Ok(if condition & 1 != 0 { yes } else { no }))
}

/// The relation that a predicate tests.
fn relation(predicate: &str) -> Option<Relation> {
    let (signed, order) = match predicate {
        "eq" => (true, Order::Equal),
        "ne" => (true, Order::Different),
        "slt" => (true, Order::Less),
        "sle" => (true, Order::LessOrEqual),
        "sgt" => (true, Order::Greater),
        "sge" => (true, Order::GreaterOrEqual),
        "ult" => (false, Order::Less),
        "ule" => (false, Order::LessOrEqual),
        "ugt" => (false, Order::Greater),
        "uge" => (false, Order::GreaterOrEqual),
        _ => return None,
    };
    Some(Relation { order, signed })
}

fn integer_relation(predicate: &str, ty: &Type) -> Option<ScalarFn> {
    macro_rules! relation {
        ($read:ident, $op:tt) => {{
            fn f<const W: u32>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
                Ok(u64::from($read::<W>(a) $op $read::<W>(b)))
            }
            by_width!(ty, f)
        }};
    }
    match predicate {
        "eq" => relation!(unsigned, ==),
        "ne" => relation!(unsigned, !=),
        "slt" => relation!(signed, <),
        "sle" => relation!(signed, <=),
        "sgt" => relation!(signed, >),
        "sge" => relation!(signed, >=),
        "ult" => relation!(unsigned, <),
        "ule" => relation!(unsigned, <=),
        "ugt" => relation!(unsigned, >),
        "uge" => relation!(unsigned, >=),
        _ => None,
    }
}

fn float_relation(predicate: &str, ty: &Type) -> Option<ScalarFn> {
    macro_rules! relation {
        (|$a:ident, $b:ident, $nan:ident| $holds:expr) => {{
            fn f<const T: u8>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
                let ($a, $b) = (float::<T>(a), float::<T>(b));
                let $nan = $a.is_nan() || $b.is_nan();
                Ok(u64::from($holds))
            }
            by_float!(ty, f)
        }};
    }
    match predicate {
        "false" => relation!(|_a, _b, _nan| false),
        "true" => relation!(|_a, _b, _nan| true),
        "ord" => relation!(|_a, _b, nan| !nan),
        "uno" => relation!(|_a, _b, nan| nan),
        "oeq" => relation!(|a, b, _nan| a == b),
        "ogt" => relation!(|a, b, _nan| a > b),
        "oge" => relation!(|a, b, _nan| a >= b),
        "olt" => relation!(|a, b, _nan| a < b),
        "ole" => relation!(|a, b, _nan| a <= b),
        "one" => relation!(|a, b, nan| !nan && a != b),
        "ueq" => relation!(|a, b, nan| nan || a == b),
        "ugt" => relation!(|a, b, nan| nan || a > b),
        "uge" => relation!(|a, b, nan| nan || a >= b),
        "ult" => relation!(|a, b, nan| nan || a < b),
        "ule" => relation!(|a, b, nan| nan || a <= b),
        "une" => relation!(|a, b, _nan| a != b),
        _ => None,
    }
}
