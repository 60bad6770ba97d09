//! Arithmetic on constants with the semantics of Python, except that integers must fit into 64 bits; floats have 64
//! bits.

use std::cmp::Ordering;

use ruff_python_ast::{CmpOp, Operator, UnaryOp};
use slipring_tile::{Elem, load_f32, store_f64};

use crate::dtype::DType;
use crate::value::Const;

/// The maximum size of a string in bytes.
const MOST_TEXT: usize = 1 << 16;

/// The error for an integer constant that does not fit into 64 bits.
pub(crate) const TOO_LARGE: &str =
    "the number does not fit into 64 bits, from -9223372036854775808 to 9223372036854775807";

/// An integer constant, if it fits.
fn integer(n: Option<i128>) -> Result<Const, String> {
    n.and_then(|n| i64::try_from(n).ok()).map(Const::Int).ok_or_else(|| TOO_LARGE.into())
}

/// A float constant, if it is finite.
fn float(x: f64) -> Result<Const, String> {
    if x.is_finite() { Ok(Const::Float(x)) } else { Err("the result is not a finite number".into()) }
}

/// Truth value of a constant, as in Python.
pub(crate) fn is_true(value: &Const) -> bool {
    match value {
        Const::Bool(b) => *b,
        Const::Int(n) => *n != 0,
        Const::Float(x) => *x != 0.0,
        Const::Str(s) => !s.is_empty(),
        Const::None => false,
        _ => true,
    }
}

/// A unary operator on a constant; `None` if it does not apply.
pub(crate) fn unary(op: UnaryOp, value: &Const) -> Option<Result<Const, String>> {
    Some(match (op, value) {
        (UnaryOp::USub, Const::Int(n)) => integer(Some(-i128::from(*n))),
        (UnaryOp::USub, Const::Float(x)) => Ok(Const::Float(-x)),
        (UnaryOp::Invert, Const::Int(n)) => Ok(Const::Int(!n)),
        (UnaryOp::UAdd, Const::Int(_) | Const::Float(_)) => Ok(value.clone()),
        (UnaryOp::Not, c) => Ok(Const::Bool(!is_true(c))),
        _ => return None,
    })
}

/// `int(x)`: rounded towards zero.
pub(crate) fn int_of(x: f64) -> Result<Const, String> {
    // Beyond 2^127 the conversion saturates, which is as far out of range.
    if x.is_finite() { integer(Some(x as i128)) } else { Err(format!("{x} is not an integer")) }
}

/// A binary operator on two constants.
pub(crate) fn binary(op: Operator, a: &Const, b: &Const) -> Result<Const, String> {
    match (a, b) {
        (Const::Int(x), Const::Int(y)) => integers(op, *x, *y),
        (Const::Int(x), Const::Float(y)) => floats(op, *x as f64, *y),
        (Const::Float(x), Const::Int(y)) => floats(op, *x, *y as f64),
        (Const::Float(x), Const::Float(y)) => floats(op, *x, *y),
        (Const::Str(x), Const::Str(y)) if op == Operator::Add => {
            if x.len() + y.len() > MOST_TEXT {
                return Err(format!("a string of more than {MOST_TEXT} bytes"));
            }
            Ok(Const::Str(format!("{x}{y}").into()))
        }
        _ => Err("this operator does not work on these constants".into()),
    }
}

fn integers(op: Operator, x: i64, y: i64) -> Result<Const, String> {
    let (a, b) = (i128::from(x), i128::from(y));
    let zero = matches!(op, Operator::FloorDiv | Operator::Mod | Operator::Div) && b == 0;
    if zero || op == Operator::Pow && a == 0 && b < 0 {
        return Err("division by zero".into());
    }
    if matches!(op, Operator::LShift | Operator::RShift) && b < 0 {
        return Err(format!("a shift by {b}"));
    }
    // Rounded down: the remainder has the sign of the divisor.
    let (quotient, rest) = if b == 0 { (0, 0) } else { (a / b, a % b) };
    let down = rest != 0 && (rest < 0) != (b < 0);
    integer(match op {
        Operator::Add => Some(a + b),
        Operator::Sub => Some(a - b),
        Operator::Mult => Some(a * b),
        Operator::FloorDiv => Some(quotient - i128::from(down)),
        Operator::Mod => Some(if down { rest + b } else { rest }),
        Operator::LShift if a == 0 => Some(0),
        Operator::LShift => (b < 64).then(|| a << b),
        Operator::RShift => Some(a >> b.min(127)),
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::Pow if b >= 0 => match a {
            0 | 1 => Some(if b == 0 { 1 } else { a }),
            -1 => Some(if b % 2 == 0 { 1 } else { -1 }),
            _ => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        },
        Operator::Div => return float(quotient_of(a, b)),
        _ => return floats(op, x as f64, y as f64),
    })
}

/// The quotient of two 64-bit integers, rounded once.
fn quotient_of(a: i128, b: i128) -> f64 {
    let (x, y) = (a.unsigned_abs(), b.unsigned_abs());
    if x < 1 << 53 && y < 1 << 53 {
        return a as f64 / b as f64;
    }
    // At least 62 bits of the quotient, and whether there is a remainder: enough to round once.
    let shift = 62 + y.ilog2() as i32 - x.max(1).ilog2() as i32;
    let (x, y) = if shift >= 0 { (x << shift, y) } else { (x, y << -shift) };
    let bits = (x / y) | u128::from(x % y != 0);
    let value = bits as f64 * 2f64.powi(-shift);
    if (a < 0) != (b < 0) { -value } else { value }
}

fn floats(op: Operator, x: f64, y: f64) -> Result<Const, String> {
    if !(x.is_finite() && y.is_finite()) {
        // Infinities come from `float("inf")`, so an infinite result is not an overflow.
        return match op {
            Operator::Add => Ok(Const::Float(x + y)),
            Operator::Sub => Ok(Const::Float(x - y)),
            Operator::Mult => Ok(Const::Float(x * y)),
            Operator::Div if y != 0.0 => Ok(Const::Float(x / y)),
            _ => Err("this operator on an infinite number".into()),
        };
    }
    if y == 0.0 && matches!(op, Operator::Div | Operator::FloorDiv | Operator::Mod)
        || op == Operator::Pow && x == 0.0 && y < 0.0
    {
        return Err("division by zero".into());
    }
    // Rounded down as in Python, using the exact remainder.
    let rest = x % y;
    let down = rest != 0.0 && (rest < 0.0) != (y < 0.0);
    float(match op {
        Operator::Add => x + y,
        Operator::Sub => x - y,
        Operator::Mult => x * y,
        Operator::Div => x / y,
        Operator::Mod => {
            let rest = if down { rest + y } else { rest };
            if rest == 0.0 { 0f64.copysign(y) } else { rest }
        }
        Operator::FloorDiv => {
            let quotient = (x - rest) / y - if down { 1.0 } else { 0.0 };
            // The difference above may be off by a rounding error.
            let floor = quotient.floor();
            let floor = if quotient - floor > 0.5 { floor + 1.0 } else { floor };
            if quotient == 0.0 { 0f64.copysign(x / y) } else { floor }
        }
        Operator::Pow if x < 0.0 && y.fract() != 0.0 => {
            return Err("a power of a negative number that is not a real number".into());
        }
        // The square root is correctly rounded everywhere; other powers are not.
        Operator::Pow if y == 0.5 => x.sqrt(),
        Operator::Pow if y == -0.5 => 1.0 / x.sqrt(),
        Operator::Pow if y.fract() == 0.0 && y.abs() <= 64.0 => {
            let power = (0..y.abs() as u32).fold(1.0, |product, _| product * x);
            if y < 0.0 { 1.0 / power } else { power }
        }
        _ => return Err("this operator does not work on these constants".into()),
    })
}

/// A comparison of two constants; `None` if they are not comparable.
pub(crate) fn compare(op: CmpOp, a: &Const, b: &Const) -> Option<bool> {
    let equal = match order(a, b) {
        Some(order) => order.is_eq(),
        None => a == b,
    };
    Some(match op {
        CmpOp::Eq | CmpOp::Is => equal,
        CmpOp::NotEq | CmpOp::IsNot => !equal,
        CmpOp::Lt => order(a, b)?.is_lt(),
        CmpOp::LtE => order(a, b)?.is_le(),
        CmpOp::Gt => order(a, b)?.is_gt(),
        CmpOp::GtE => order(a, b)?.is_ge(),
        _ => return None,
    })
}

/// The exact order of two numbers.
pub(crate) fn order(a: &Const, b: &Const) -> Option<Ordering> {
    let int = |c: &Const| match c {
        Const::Int(n) => Some(*n),
        Const::Bool(b) => Some(i64::from(*b)),
        _ => None,
    };
    // The integer part decides, then the fraction.
    let mixed = |n: i64, x: f64| i128::from(n).cmp(&(x.floor() as i128)).then(0f64.total_cmp(&(x - x.floor())));
    match (a, b) {
        (Const::Float(x), Const::Float(y)) => x.partial_cmp(y),
        (Const::Float(x), other) => int(other).map(|n| mixed(n, *x).reverse()),
        (other, Const::Float(x)) => int(other).map(|n| mixed(n, *x)),
        _ => Some(int(a)?.cmp(&int(b)?)),
    }
}

/// The reason why a constant cannot be represented in a type; `None` if it can, possibly rounded.
pub(crate) fn mismatch(value: &Const, ty: DType) -> Option<String> {
    let DType::Elem(elem) = ty else { return None };
    let (x, shown) = match value {
        Const::Int(n) if !elem.is_float() => {
            let (least, most) = range(elem);
            let fits = (least..=most).contains(&i128::from(*n));
            return (!fits).then(|| format!("{n} does not fit into {}, which holds {least} to {most}", ty.name()));
        }
        Const::Int(n) => (*n as f64, n.to_string()),
        Const::Float(x) if elem.is_float() => (*x, format!("{x:?}")),
        _ => return None,
    };
    let rounded = |x: f64| {
        let (mut bytes, mut value) = ([0; 8], [0f32]);
        store_f64(elem, &[x], &mut bytes[..elem.bytes()]);
        load_f32(elem, &bytes[..elem.bytes()], &mut value);
        value[0]
    };
    if elem.values() != 1 || rounded(x).is_finite() {
        return None;
    }
    let kept = rounded(x);
    if !x.is_finite() && (kept == x as f32 || kept.is_nan() && x.is_nan()) {
        return None;
    }
    Some(format!("{shown} does not fit into {}, whose numbers end at {:?}", ty.name(), largest(rounded)))
}

/// The minimum and the maximum of an integer type.
fn range(elem: Elem) -> (i128, i128) {
    let bits = 8 * elem.bytes() as u32;
    if elem.is_signed_int() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The largest finite value of a type, found through its rounding function.
fn largest(rounded: impl Fn(f64) -> f32) -> f32 {
    let (mut least, mut most) = (0u32, f32::INFINITY.to_bits());
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        if rounded(f64::from(f32::from_bits(middle))).is_finite() { least = middle } else { most = middle }
    }
    rounded(f64::from(f32::from_bits(least)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn int(result: Result<Const, String>) -> Option<i64> {
        match result {
            Ok(Const::Int(n)) => Some(n),
            _ => None,
        }
    }

    proptest! {
        #[test]
        fn integers_are_exact_or_refused(x: i64, y: i64, shift in 0i64..200) {
            for (x, y) in [(x, y), (x >> 40, y >> 50), (x % 16, y % 16)] {
                let (a, b) = (i128::from(x), i128::from(y));
                let fits = |n: i128| i64::try_from(n).ok();
                let folded = |op| int(integers(op, x, y));
                prop_assert_eq!(folded(Operator::Add), fits(a + b));
                prop_assert_eq!(folded(Operator::Sub), fits(a - b));
                prop_assert_eq!(folded(Operator::Mult), fits(a * b));
                if b != 0 {
                    let (q, r) = (folded(Operator::FloorDiv), folded(Operator::Mod));
                    let r = i128::from(r.unwrap_or(0));
                    prop_assert!(r == 0 || (r < 0) == (b < 0));
                    prop_assert!(r.abs() < b.abs());
                    prop_assert_eq!(q, fits((a - r) / b));
                    prop_assert_eq!((a - r) % b, 0);
                }
                let shifted = int(integers(Operator::LShift, x, shift));
                match shifted {
                    Some(n) => prop_assert!(x == 0 || shift < 64 && i128::from(n) >> shift == a && n != 0),
                    None => prop_assert!(shift >= 64 || fits(a << shift).is_none()),
                }
                prop_assert_eq!(int(integers(Operator::RShift, x, shift)), fits(a >> shift.min(127)));
            }
        }

        #[test]
        fn comparisons_are_exact(n: i64, x: f64) {
            for x in [x, n as f64, n as f64 + 0.5, (n as f64).next_up()] {
                // Compares through the integers around the float.
                let (floor, ceil) = (x.floor() as i128, x.ceil() as i128);
                let less = i128::from(n) < ceil;
                let equal = floor == ceil && i128::from(n) == floor;
                prop_assert_eq!(compare(CmpOp::Lt, &Const::Int(n), &Const::Float(x)), Some(less));
                prop_assert_eq!(compare(CmpOp::Eq, &Const::Float(x), &Const::Int(n)), Some(equal));
                prop_assert_eq!(compare(CmpOp::Gt, &Const::Float(x), &Const::Int(n)), Some(less));
            }
        }

        #[test]
        fn quotients_are_rounded_once(x: i64, y: i64, cut in 21..40u32) {
            // A correctly rounded quotient times the divisor is nearer to the dividend than its neighbours are.
            let y = y >> cut;
            prop_assume!(y != 0);
            let q = quotient_of(i128::from(x), i128::from(y));
            let exact = |q: f64| {
                // |q * y - x| in units of 2^-44, of which such a quotient and its neighbours are multiples.
                let scaled = (q.abs() * 2f64.powi(44)) as i128;
                (scaled * i128::from(y).abs() - (i128::from(x).abs() << 44)).abs()
            };
            if q.abs() > 1e3 && q.abs() < 2f64.powi(40) {
                prop_assert!(exact(q) <= exact(q.abs().next_up()) && exact(q) <= exact(q.abs().next_down()));
            }
        }
    }

    #[test]
    fn what_python_gives() {
        let float = |op, x, y| match floats(op, x, y) {
            Ok(Const::Float(x)) => Some(x),
            _ => None,
        };
        assert_eq!(float(Operator::FloorDiv, 1.0, 0.1), Some(9.0));
        assert_eq!(float(Operator::Mod, -1.0, 3.0), Some(2.0));
        assert_eq!(float(Operator::Mod, 5.5, -2.0), Some(-0.5));
        assert_eq!(float(Operator::Pow, -8.0, 0.5), None);
        assert_eq!(float(Operator::Mult, 1e308, 10.0), None);
        assert_eq!(int(integers(Operator::Pow, -1, i64::MAX)), Some(-1));
        assert_eq!(int(integers(Operator::Pow, 9, 387_420_489)), None);
        assert_eq!(int(integers(Operator::LShift, 1, 63)), None);
        assert_eq!(int(integers(Operator::LShift, -1, 63)), Some(i64::MIN));
        assert_eq!(int(int_of(1e30)), None);
        assert_eq!(int(int_of(-2.9)), Some(-2));
        assert_eq!(quotient_of(i128::from(i64::MAX), 3), 3_074_457_345_618_258_602.0);
        assert_eq!(largest(|x| if x < 65520.0 { 65504.0 } else { f32::INFINITY }), 65504.0);
        assert_eq!(
            mismatch(&Const::Int(128), DType::Elem(Elem::I8)).as_deref(),
            Some("128 does not fit into INT8, which holds -128 to 127")
        );
        assert!(mismatch(&Const::Float(65520.0), DType::Elem(Elem::F16)).is_some());
        assert!(mismatch(&Const::Float(65519.0), DType::Elem(Elem::F16)).is_none());
        assert!(mismatch(&Const::Float(1e39), DType::Elem(Elem::BF16)).is_some());
    }
}
