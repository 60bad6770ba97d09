//! Functions composed of several operations.

use slipring_tile::Elem;

use super::number;
use super::value::{Eval, Value};

/// An integer as an element of any type.
pub fn integer(elem: Elem, number: i128) -> f64 {
    if elem.is_float() { number::narrow(elem, number as f32) } else { number::wrap(elem, number) }
}

/// A power of each element: by products from the left, by a root, or by a reciprocal of these.
pub fn power(base: &Value, exponent: &Value) -> Eval {
    let named = |name: &str, args: &[&Value]| {
        super::ops::named(name, &args.iter().map(|arg| (*arg).clone()).collect::<Vec<_>>())
    };
    let exponent = match exponent {
        Value::Int(n) => *n as f64,
        Value::Float(x) => *x,
        other => return Err(format!("a power of {other:?}")),
    };
    if exponent.abs() == 0.5 {
        return named(if exponent > 0.0 { "sqrt" } else { "rsqrt" }, &[base]);
    }
    let mut product = base.clone();
    for _ in 1..exponent.abs() as usize {
        product = named("mul", &[&product, base])?;
    }
    if exponent < 0.0 { named("recip", &[&product]) } else { Ok(product) }
}
