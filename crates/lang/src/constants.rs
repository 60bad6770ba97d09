//! Arithmetic on constants with the semantics of Python, except that integers must fit into 64 bits; floats have 64
//! bits.

use std::cmp::Ordering;

use ruff_python_ast::{CmpOp, Operator, UnaryOp};
use slipring_tile::{Elem, load_f32, store_f64};

use crate::dtype::DType;
use crate::given::Name;
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

/// The constant that a number is.
fn number(value: &Name) -> Option<Const> {
    match value {
        Name::Int(n) => Some(Const::Int(*n)),
        Name::Float(x) => Some(Const::Float(*x)),
        _ => None,
    }
}

/// A binary operator on two numbers, as the compiler computes it.
///
/// # Errors
/// If the result is not defined or does not fit.
#[doc(hidden)]
pub fn folded(op: Operator, a: &Name, b: &Name) -> Result<Name, String> {
    let both = number(a).zip(number(b));
    let (a, b) = both.ok_or("an operator on values that are not numbers")?;
    match binary(op, &a, &b)? {
        Const::Int(n) => Ok(Name::Int(n)),
        Const::Float(x) => Ok(Name::Float(x)),
        other => Err(format!("{other:?} is not a number")),
    }
}

/// A comparison of two numbers, as the compiler computes it.
#[doc(hidden)]
pub fn compared(op: CmpOp, a: &Name, b: &Name) -> Option<bool> {
    compare(op, &number(a)?, &number(b)?)
}

/// The reason why elements of a type cannot have a number as their value.
#[doc(hidden)]
pub fn misfit(value: &Name, elem: Elem) -> Option<String> {
    mismatch(&number(value)?, DType::Elem(elem))
}
