//! Functions of constants that both kernels and host code support.

use ruff_python_ast::{CmpOp, Operator};

use crate::constants;
use crate::text::python_text;
use crate::value::Const;

/// Functions that evaluate nothing but their arguments, which are also supported for numbers of the run.
pub(crate) const ONLY_THEIR_ARGUMENTS: [&str; 11] =
    ["abs", "bool", "float", "int", "len", "max", "min", "pl.cast", "pl.const", "pl.max", "pl.min"];

/// A function of constants; `None` for other functions or arguments.
pub(crate) fn of_numbers(path: &str, args: &[Const]) -> Option<Result<Const, String>> {
    let float = |c: &Const| match c {
        Const::Int(n) => Some(*n as f64),
        Const::Float(x) => Some(*x),
        Const::Bool(b) => Some(f64::from(u8::from(*b))),
        _ => None,
    };
    let int = |n: Option<i64>| n.map(Const::Int).ok_or_else(|| constants::TOO_LARGE.to_string());
    Some(match (path, args) {
        ("abs", [Const::Int(n)]) => int(n.checked_abs()),
        ("abs" | "math.fabs", [x]) => Ok(Const::Float(float(x)?.abs())),
        ("min" | "max" | "pl.min" | "pl.max", [first, rest @ ..]) if !rest.is_empty() || float(first).is_some() => {
            let op = if path.ends_with("max") { CmpOp::Gt } else { CmpOp::Lt };
            let mut best = first;
            for other in rest {
                if constants::compare(op, other, best)? {
                    best = other;
                }
            }
            Ok(best.clone())
        }
        ("sum", numbers) if numbers.iter().all(|c| float(c).is_some()) => {
            let add = |sum: Result<Const, String>, c: &Const| constants::binary(Operator::Add, &sum?, c);
            numbers.iter().fold(Ok(Const::Int(0)), add)
        }
        ("int", [Const::Float(x)]) | ("math.trunc", [Const::Float(x)]) => constants::int_of(*x),
        ("int" | "math.trunc" | "math.floor" | "math.ceil" | "round", [Const::Int(n)]) => Ok(Const::Int(*n)),
        ("int", [Const::Bool(b)]) => Ok(Const::Int(i64::from(*b))),
        ("int", [Const::Str(text)]) => {
            text.trim().parse().map(Const::Int).map_err(|_| format!("`{text}` is not an integer"))
        }
        ("float", [Const::Str(text)]) => {
            let text = text.trim().to_lowercase();
            text.parse().map(Const::Float).map_err(|_| format!("`{text}` is not a number"))
        }
        ("float", [x]) => Ok(Const::Float(float(x)?)),
        ("bool", [c]) => Ok(Const::Bool(constants::is_true(c))),
        ("str", [c]) => Ok(Const::Str(python_text(c).into())),
        ("len", [Const::Str(text)]) => Ok(Const::Int(text.chars().count() as i64)),
        ("round", [Const::Float(x)]) => constants::int_of(x.round_ties_even()),
        ("math.floor", [Const::Float(x)]) => constants::int_of(x.floor()),
        ("math.ceil", [Const::Float(x)]) => constants::int_of(x.ceil()),
        ("pow", [a, b]) => constants::binary(Operator::Pow, a, b),
        ("math.sqrt", [x]) => match float(x)? {
            x if x < 0.0 => Err("the square root of a negative number".into()),
            x => Ok(Const::Float(x.sqrt())),
        },
        ("math.log2", [Const::Int(n)]) if *n > 0 && n.count_ones() == 1 => {
            Ok(Const::Float(f64::from(n.trailing_zeros())))
        }
        ("math.isqrt", [Const::Int(n)]) if *n >= 0 => Ok(Const::Int(n.isqrt())),
        ("math.isnan", [x]) => Ok(Const::Bool(float(x)?.is_nan())),
        ("math.isinf", [x]) => Ok(Const::Bool(float(x)?.is_infinite())),
        ("math.isfinite", [x]) => Ok(Const::Bool(float(x)?.is_finite())),
        ("math.copysign", [x, y]) => Ok(Const::Float(float(x)?.copysign(float(y)?))),
        ("math.factorial", [Const::Int(n)]) if *n >= 0 => int((1..=*n).try_fold(1i64, i64::checked_mul)),
        ("math.gcd", [Const::Int(a), Const::Int(b)]) => {
            let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            int(i64::try_from(a).ok())
        }
        (
            "math.exp" | "math.log" | "math.log2" | "math.log10" | "math.sin" | "math.cos" | "math.tanh" | "math.pow",
            _,
        ) => Err(format!("`{path}`: its last bit is not the same everywhere; write the number")),
        ("pl.cdiv" | "cdiv" | "pypto.language.cdiv", [Const::Int(a), Const::Int(b)]) => {
            if *b == 0 {
                Err("division by zero".into())
            } else {
                ceil_div(*a, *b).map(Const::Int)
            }
        }
        _ => return None,
    })
}

/// The quotient of two integers, rounded up.
fn ceil_div(a: i64, b: i64) -> Result<i64, String> {
    let (a, b) = (i128::from(a), i128::from(b));
    let up = a % b != 0 && (a < 0) == (b < 0);
    i64::try_from(a / b + i128::from(up)).map_err(|_| constants::TOO_LARGE.to_string())
}
