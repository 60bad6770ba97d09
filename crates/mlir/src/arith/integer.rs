//! Integer arithmetic.

use slipring_program::{Law, Trap};

use super::{BINARY, BINARY_OVERFLOW, INT_OPERANDS, INT_RESULT, OVERFLOW, SCALAR_OP, scalar_op};
use slipring_op::by_width;
use slipring_op::def::{FromZero, Linear, OpDef};
use slipring_op::number::{signed, unsigned, wrap};
use slipring_op::rules::schema;

/// Declares ops of two integers, each with a name, a summary and its semantics at width `W`.
macro_rules! ops {
    ($($id:ident $name:literal $summary:literal $(may $overflow:ident)? $(is $linear:ident)? $(by $law:ident)? $(counts $when:ident)? |$a:ident, $b:ident| $value:expr;)*) => {
        /// The ops of this file.
        pub(crate) const OPS: &[&OpDef] = &[$(&$id),*];
        $(
            pub static $id: OpDef = OpDef {
                schema: match first(&[$(Flags::$overflow)?]) {
                    Some(Flags::Overflow) => schema($name, BINARY_OVERFLOW, INT_OPERANDS, INT_RESULT, OVERFLOW),
                    None => schema($name, BINARY, INT_OPERANDS, INT_RESULT, &[]),
                },
                summary: $summary,
                linear: first(&[$(Linear::$linear)?]),
                $(from_zero: $when,)?
                doc: "Integers wrap at their width; `index` has 64 bits. Division by zero stops the run with a finding.",
                lower: |op, d| {
                    fn f<const W: u32>([$a, $b, _]: [u64; 3]) -> Result<u64, Trap> {
                        $value.map(wrap::<W>)
                    }
                    scalar_op(op, d, first(&[$(Law::$linear,)? $(Law::$law,)?]).unwrap_or_default(), |ty| by_width!(ty, f))
                },
                ..SCALAR_OP
            };
        )*
    };
}

/// What an op may say of itself.
#[derive(Clone, Copy)]
enum Flags {
    Overflow,
}

const BOTH: FromZero = FromZero::IfAll(&["lhs", "rhs"]);
const LEFT: FromZero = FromZero::IfAll(&["lhs"]);
const EITHER: FromZero = FromZero::IfOne(&["lhs", "rhs"]);

const fn first<T: Copy>(list: &[T]) -> Option<T> {
    match list {
        [first, ..] => Some(*first),
        [] => None,
    }
}

ops! {
    ADDI "arith.addi" "Sum" may Overflow is Sum counts BOTH |a, b| Ok(a.wrapping_add(b));
    SUBI "arith.subi" "Difference" may Overflow is Difference |a, b| Ok(a.wrapping_sub(b));
    MULI "arith.muli" "Product" may Overflow is Product counts BOTH |a, b| Ok(a.wrapping_mul(b));
    DIVSI "arith.divsi"
        "Signed quotient, towards zero" by Quotient counts BOTH |a, b| divide::<W>(a, b, i64::wrapping_div);
    DIVUI "arith.divui" "Unsigned quotient" by Quotient counts BOTH |a, b| divide_unsigned::<W>(a, b, |a, b| a / b);
    REMSI "arith.remsi"
        "Signed remainder, with the sign of the dividend" is Remainder counts LEFT |a, b| divide::<W>(a, b, i64::wrapping_rem);
    REMUI "arith.remui" "Unsigned remainder" is Remainder counts BOTH |a, b| divide_unsigned::<W>(a, b, |a, b| a % b);
    CEILDIVSI "arith.ceildivsi" "Signed quotient, rounded up" by Ceiling counts BOTH |a, b| divide::<W>(a, b, |a, b| {
        a.wrapping_div(b) + i64::from(a.wrapping_rem(b) != 0 && (a < 0) == (b < 0))
    });
    FLOORDIVSI "arith.floordivsi"
        "Signed quotient, rounded down" by Quotient counts BOTH |a, b| divide::<W>(a, b, |a, b| {
        a.wrapping_div(b) - i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0))
    });
    CEILDIVUI "arith.ceildivui"
        "Unsigned quotient, rounded up" by Ceiling |a, b| divide_unsigned::<W>(a, b, |a, b| a.div_ceil(b));
    MINSI "arith.minsi"
        "Smaller signed number" by Extreme counts BOTH |a, b| Ok(signed::<W>(a).min(signed::<W>(b)) as u64);
    MAXSI "arith.maxsi"
        "Larger signed number" by Extreme counts EITHER |a, b| Ok(signed::<W>(a).max(signed::<W>(b)) as u64);
    MINUI "arith.minui"
        "Smaller unsigned number" by UnsignedExtreme counts BOTH |a, b| Ok(unsigned::<W>(a).min(unsigned::<W>(b)));
    MAXUI "arith.maxui" "Larger unsigned number" by UnsignedExtreme |a, b| Ok(unsigned::<W>(a).max(unsigned::<W>(b)));
    ANDI "arith.andi" "Bitwise and" by Mask counts EITHER |a, b| Ok(a & b);
    ORI "arith.ori" "Bitwise or" |a, b| Ok(a | b);
    XORI "arith.xori" "Bitwise exclusive or" |a, b| Ok(a ^ b);
    SHLI "arith.shli"
        "Shift left; 0 where the distance is not below the width" may Overflow by Shifted |a, b| Ok(shift::<W>(b, 0, |n| a << n));
    SHRSI "arith.shrsi" "Arithmetic shift right" counts BOTH |a, b| {
        let a = signed::<W>(a);
        Ok(shift::<W>(b, (a >> 63) as u64, |n| (a >> n) as u64))
    };
    SHRUI "arith.shrui" "Logical shift right" counts BOTH |a, b| Ok(shift::<W>(b, 0, |n| unsigned::<W>(a) >> n));
}

fn divide<const W: u32>(a: u64, b: u64, f: impl Fn(i64, i64) -> i64) -> Result<u64, Trap> {
    match (signed::<W>(a), signed::<W>(b)) {
        (_, 0) => Err(Trap::DivideByZero),
        (a, b) => Ok(f(a, b) as u64),
    }
}

fn divide_unsigned<const W: u32>(a: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> Result<u64, Trap> {
    match (unsigned::<W>(a), unsigned::<W>(b)) {
        (_, 0) => Err(Trap::DivideByZero),
        (a, b) => Ok(f(a, b)),
    }
}

fn shift<const W: u32>(distance: u64, beyond: u64, f: impl Fn(u32) -> u64) -> u64 {
    let distance = unsigned::<W>(distance);
    if distance < u64::from(W) { f(distance as u32) } else { beyond }
}
