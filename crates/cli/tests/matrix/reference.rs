//! The results of operations, element by element, from the manuals.

use crate::matrix::numbers::Ty;
use crate::matrix::numbers::Value::{self, Float, Int};

/// An operation on two elements of type `ty`.
pub fn binary(name: &str, ty: Ty, a: u64, b: u64) -> u64 {
    let (x, y) = (ty.decode(a), ty.decode(b));
    let value = match (name, x, y) {
        ("and", ..) => return a & b,
        ("or", ..) => return a | b,
        ("xor", ..) => return a ^ b,
        ("shl" | "shr", Int(x), Int(y)) => Int(shift(name, ty, x, y)),
        ("add", Float(x), Float(y)) => Float(x + y),
        ("add", Int(x), Int(y)) => Int(x.wrapping_add(y)),
        ("sub", Float(x), Float(y)) => Float(x - y),
        ("sub", Int(x), Int(y)) => Int(x.wrapping_sub(y)),
        ("mul", Float(x), Float(y)) => Float(x * y),
        ("mul", Int(x), Int(y)) => Int(x.wrapping_mul(y)),
        ("div", Float(x), Float(y)) => Float(x / y),
        ("div", Int(x), Int(y)) => Int(if y == 0 { 0 } else { x / y }),
        ("fmod", Float(x), Float(y)) => Float(x % y),
        ("fmod", Int(x), Int(y)) => Int(if y == 0 { x } else { x % y }),
        ("rem", Float(x), Float(y)) => Float(match x % y {
            rest if rest != 0.0 && (rest < 0.0) != (y < 0.0) => rest + y,
            rest => rest,
        }),
        ("rem", Int(x), Int(y)) => Int(match if y == 0 { x } else { x % y } {
            rest if y != 0 && rest != 0 && (rest < 0) != (y < 0) => rest + y,
            rest => rest,
        }),
        ("max" | "min", Float(x), Float(y)) => Float(extreme(name, x, y)),
        ("max", Int(x), Int(y)) => Int(x.max(y)),
        ("min", Int(x), Int(y)) => Int(x.min(y)),
        ("expdif", Float(x), Float(y)) => {
            // The difference is rounded to the type before the exponential is taken.
            let Float(difference) = ty.decode(ty.encode(Float(x - y))) else { unreachable!() };
            Float(difference.exp())
        }
        ("prelu", Float(x), Float(y)) => Float(if x > 0.0 { x } else { x * y }),
        other => panic!("{other:?}"),
    };
    ty.encode(value)
}

fn shift(name: &str, ty: Ty, x: i64, count: i64) -> i64 {
    let inside = (0..i64::from(ty.bits())).contains(&count);
    match (name, inside) {
        ("shl", true) => x << count,
        ("shr", true) => x >> count,
        ("shr", false) if x < 0 => -1,
        _ => 0,
    }
}

/// NaN if either is; +0 is greater than -0.
fn extreme(name: &str, x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let x_larger = x > y || (x == y && y.is_sign_negative());
    if x_larger == (name == "max") { x } else { y }
}

/// An operation on one element.
pub fn unary(name: &str, ty: Ty, a: u64) -> u64 {
    let value = match (name, ty.decode(a)) {
        ("not", _) => return !a & ty.mask(),
        ("abs", Float(x)) => Float(x.abs()),
        ("abs", Int(x)) => Int(x.wrapping_abs()),
        ("neg", Float(x)) => Float(-x),
        ("neg", Int(x)) => Int(-x),
        ("relu", Float(x)) => Float(if x <= 0.0 { 0.0 } else { x }),
        ("relu", Int(x)) => Int(x.max(0)),
        ("exp", Float(x)) => Float(x.exp()),
        ("log", Float(x)) => Float(x.ln()),
        ("sqrt", Float(x)) => Float(x.sqrt()),
        ("rsqrt", Float(x)) => {
            let Float(root) = ty.decode(ty.encode(Float(x.sqrt()))) else { unreachable!() };
            Float(1.0 / root)
        }
        ("recip", Float(x)) => Float(1.0 / x),
        other => panic!("{other:?}"),
    };
    ty.encode(value)
}

/// A comparison.
pub fn compare(mode: &str, ty: Ty, a: u64, b: u64) -> bool {
    let order = match (ty.decode(a), ty.decode(b)) {
        (Float(x), Float(y)) => x.partial_cmp(&y),
        (Int(x), Int(y)) => Some(x.cmp(&y)),
        _ => unreachable!(),
    };
    match mode {
        "eq" => order.is_some_and(|o| o.is_eq()),
        "ne" => !order.is_some_and(|o| o.is_eq()),
        "lt" => order.is_some_and(|o| o.is_lt()),
        "le" => order.is_some_and(|o| o.is_le()),
        "gt" => order.is_some_and(|o| o.is_gt()),
        _ => order.is_some_and(|o| o.is_ge()),
    }
}

/// An operation on two elements, or the single element present; each step is rounded.
fn both(name: &str, ty: Ty, a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(binary(name, ty, a, b)),
        (a, b) => a.or(b),
    }
}

/// A column: pairwise on A5 (`registers`), row by row elsewhere. A single element is unchanged.
pub fn combine(name: &str, ty: Ty, elements: &[u64], registers: bool) -> u64 {
    let (first, rest) = elements.split_first().unwrap();
    let rows = rest.chunks(if registers { 2 } else { 1 });
    rows.map(|rows| both(name, ty, Some(rows[0]), rows.get(1).copied()))
        .try_fold(*first, |a, b| both(name, ty, Some(a), b))
        .unwrap()
}

/// A row of less than 512 bytes, combined as in the platform's tile library. Sums of 256 bytes are trees over
/// neighbours in f32; products have lanes.
pub fn combine_row(name: &str, ty: Ty, row: &[u64], registers: bool) -> u64 {
    let wide = if ty.is_float() { Ty("f32") } else { ty };
    let widened = |bits: &u64| wide.encode(ty.decode(*bits));
    let tree = |part: &[u64]| {
        let mut part: Vec<u64> = part.iter().map(widened).collect();
        while part.len() > 1 {
            part = part.chunks(2).map(|two| both(name, wide, Some(two[0]), two.get(1).copied()).unwrap()).collect();
        }
        ty.encode(wide.decode(part[0]))
    };
    let lanes = |n: usize| -> Vec<u64> {
        let lane = |j| row.iter().skip(j).step_by(n).fold(None, |a, b| both(name, ty, a, Some(*b))).unwrap();
        (0..n.min(row.len())).map(lane).collect()
    };
    let part = 256 / ty.bytes();
    match (name, registers) {
        // Lanes beyond the row are excluded, so a sum of negative zeros could be 0 or -0: it is 0.
        ("add", true) => row.chunks(part).fold(0, |sum, part| binary(name, ty, sum, tree(part))),
        ("add", false) => tree(&lanes(part)),
        ("mul", true) => {
            let mut lanes = lanes(part);
            for half in (0..part.ilog2()).rev().map(|bit| 1 << bit) {
                let two = |j: usize| both(name, ty, Some(lanes[j]), lanes.get(j + half).copied()).unwrap();
                lanes = (0..half.min(lanes.len())).map(two).collect();
            }
            lanes[0]
        }
        ("mul", false) => {
            let all = lanes(32 / ty.bytes()).iter().map(widened).reduce(|a, b| binary(name, wide, a, b)).unwrap();
            ty.encode(wide.decode(all))
        }
        _ => tree(row),
    }
}

/// The first NaN, else the first largest or smallest.
pub fn position(name: &str, ty: Ty, elements: &[u64]) -> u64 {
    let better = if name.ends_with("max") { "gt" } else { "lt" };
    let is_nan = |bits: &u64| matches!(ty.decode(*bits), Float(x) if x.is_nan());
    if let Some(nan) = elements.iter().position(is_nan) {
        return nan as u64;
    }
    let mut best: Option<usize> = None;
    for (j, bits) in elements.iter().enumerate() {
        if best.is_none_or(|best| compare(better, ty, *bits, elements[best])) {
            best = Some(j);
        }
    }
    best.unwrap_or(0) as u64
}

/// Rounds a positive non-integral number to its odd integral neighbour.
fn odd(value: f64) -> f64 {
    let down = value.trunc();
    if down != value && down % 2.0 == 0.0 { down + 1.0 } else { down }
}

/// Rounds `value` to an integral value in this mode.
fn integral(mode: &str, value: f64) -> f64 {
    match mode {
        "ROUND" => value.round(),
        "FLOOR" => value.floor(),
        "CEIL" => value.ceil(),
        "TRUNC" => value.trunc(),
        "ODD" => odd(value.abs()).copysign(value),
        _ => value.round_ties_even(),
    }
}

/// An integer as a float that rounds in the same way: bits that no shorter float holds become a sticky bit.
fn sticky(n: i64) -> f64 {
    if n.unsigned_abs() < 1 << 53 {
        return n as f64;
    }
    let magnitude = n.unsigned_abs() >> 11 | u64::from(n.unsigned_abs() & 0x7ff != 0);
    let value = magnitude as f64 * 2048.0;
    if n < 0 { -value } else { value }
}

/// A conversion, with or without saturation.
pub fn convert(mode: &str, saturate: bool, from: Ty, to: Ty, bits: u64) -> u64 {
    let value = from.decode(bits);
    if let (false, Int(n)) = (to.is_float(), value) {
        return to.encode(Int(if saturate { n.clamp(to.least(), to.most()) } else { n }));
    }
    if let (false, Float(x)) = (to.is_float(), value) {
        let whole = integral(if mode == "NONE" { "TRUNC" } else { mode }, x) as i64;
        // Without saturation, a number is converted to short types by way of 32 bits.
        let by_way_of = if to.bits() <= 16 { Ty("i32") } else { Ty("i64") };
        let limits = if saturate { to } else { by_way_of };
        return if x.is_nan() { 0 } else { to.encode(Int(whole.clamp(limits.least(), limits.most()))) };
    }
    let value = match value {
        Float(x) => x,
        Int(n) => sticky(n),
    };
    if from == to {
        return to.encode(Float(integral(if mode == "NONE" { "RINT" } else { mode }, value)));
    }
    let negative = value.is_sign_negative();
    let to_integral: fn(f64) -> f64 = match mode {
        "ROUND" => f64::round,
        "TRUNC" => f64::trunc,
        "FLOOR" if negative => f64::ceil,
        "FLOOR" => f64::floor,
        "CEIL" if negative => f64::floor,
        "CEIL" => f64::ceil,
        "ODD" => odd,
        _ => f64::round_ties_even,
    };
    let rounded = to.round(value, to_integral);
    let sign = rounded & 1 << (to.bits() - 1);
    let is_beyond = rounded & (to.mask() >> 1) == to.largest() + 1 && !value.is_nan();
    // Values out of range become the largest number: infinities too, with saturation (except f32, which does not
    // overflow), and finite values when rounding to odd.
    let stays_finite = saturate && to.0 != "f32" || mode == "ODD" && value.is_finite();
    if is_beyond && stays_finite { sign | to.largest() } else { rounded }
}

/// A value as a literal, for numeric operands.
pub fn literal(ty: Ty, bits: u64) -> String {
    match ty.decode(bits) {
        Value::Int(n) => n.to_string(),
        Value::Float(x) if x.is_finite() => {
            format!("{x:?}").replace("e", if x.abs() < 1e15 && !format!("{x:?}").contains('.') { ".0e" } else { "e" })
        }
        Value::Float(_) => "1.0".into(),
    }
}
