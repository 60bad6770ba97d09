//! Arithmetic of elements: floats in `f32`, each result rounded once to the element's type; integers wrap.

use slipring_tile::{Elem, load_f32, math, store_f32};

/// An element from its bytes.
pub fn load(elem: Elem, bytes: &[u8]) -> f64 {
    if elem.is_float() {
        let mut value = [0.0];
        load_f32(elem, bytes, &mut value);
        return f64::from(value[0]);
    }
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    wrap(elem, i128::from(i64::from_le_bytes(wide)))
}

/// The bytes of an element.
pub fn store(elem: Elem, value: f64) -> Vec<u8> {
    let mut bytes = vec![0; elem.bytes()];
    if elem.is_float() {
        store_f32(elem, &[value as f32], &mut bytes);
    } else {
        bytes.copy_from_slice(&(value as i64).to_le_bytes()[..elem.bytes()]);
    }
    bytes
}

/// An `f32` rounded to a type of floats.
pub fn narrow(elem: Elem, value: f32) -> f64 {
    let value = math::canonical(value);
    if elem == Elem::F32 { f64::from(value) } else { load(elem, &store(elem, f64::from(value))) }
}

/// The low bits of an integer.
pub fn wrap(elem: Elem, value: i128) -> f64 {
    let unused = 128 - 8 * elem.bytes() as u32;
    if elem.is_signed_int() {
        ((value << unused) >> unused) as f64
    } else {
        (((value as u128) << unused) >> unused) as f64
    }
}

/// The least and the largest integer of a type.
pub fn range(elem: Elem) -> (i128, i128) {
    let bits = 8 * elem.bytes() as u32;
    if elem.is_signed_int() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// What an operation does to two elements of one type; `None` where it has no meaning for that type.
pub fn binary(name: &str, elem: Elem, a: f64, b: f64) -> Option<f64> {
    if elem.is_float() {
        let (a, b) = (a as f32, b as f32);
        return Some(narrow(
            elem,
            match name {
                "add" => a + b,
                "sub" => a - b,
                "mul" => a * b,
                "div" => a / b,
                "max" => math::maximum(a, b),
                "min" => math::minimum(a, b),
                "fmod" => a % b,
                "expdif" => math::exp(narrow(elem, a - b) as f32),
                _ => return None,
            },
        ));
    }
    let (a, b) = (a as i128, b as i128);
    let width = 8 * elem.bytes() as i128;
    Some(wrap(
        elem,
        match name {
            "add" => a + b,
            "sub" => a - b,
            "mul" => a * b,
            "max" => a.max(b),
            "min" => a.min(b),
            // The remainder has the sign of the divisor.
            "rem" if b != 0 => a.rem_euclid(b.abs()) + if b < 0 && a.rem_euclid(b.abs()) != 0 { b } else { 0 },
            "and" => a & b,
            "or" => a | b,
            "xor" => a ^ b,
            "shl" if (0..width).contains(&b) => a << b,
            "shr" if (0..width).contains(&b) => a >> b,
            _ => return None,
        },
    ))
}

/// What an operation does to one element.
pub fn unary(name: &str, elem: Elem, a: f64) -> Option<f64> {
    if elem.is_float() {
        let a = a as f32;
        return Some(narrow(
            elem,
            match name {
                "neg" => -a,
                "abs" => a.abs(),
                "relu" => math::maximum(a, 0.0),
                "exp" => math::exp(a),
                "log" => math::ln(a),
                "sqrt" => math::sqrt(a),
                "rsqrt" => 1.0 / narrow(elem, math::sqrt(a)) as f32,
                "recip" => math::recip(a),
                _ => return None,
            },
        ));
    }
    let a = a as i128;
    Some(wrap(
        elem,
        match name {
            "neg" => -a,
            "abs" => a.abs(),
            "relu" => a.max(0),
            "not" => !a,
            _ => return None,
        },
    ))
}

/// A row reduced to one element, in 64 lanes: lane `j` takes elements `j`, `j + 64`, …; then lanes are halved, lane `j` with lane
/// `j + 32`, `+ 16` … Lanes without elements take no part. Floats are combined in `f32` and rounded once.
pub fn reduce_row(name: &str, elem: Elem, row: &[f64]) -> Option<f64> {
    let wide = if elem.is_float() { Elem::F32 } else { elem };
    let mut lanes: Vec<Option<f64>> = vec![None; 64];
    for (at, value) in row.iter().enumerate() {
        let lane = &mut lanes[at % 64];
        *lane = Some(match *lane {
            None => *value,
            Some(before) => binary(name, wide, before, *value)?,
        });
    }
    let mut half = 32;
    while half > 0 {
        for at in 0..half {
            lanes[at] = match (lanes[at], lanes[at + half]) {
                (Some(a), Some(b)) => Some(binary(name, wide, a, b)?),
                (a, b) => a.or(b),
            };
        }
        half /= 2;
    }
    let result = lanes[0]?;
    Some(if elem.is_float() { narrow(elem, result as f32) } else { result })
}

/// A column reduced to one element, row after row.
pub fn reduce_column(name: &str, elem: Elem, column: &[f64]) -> Option<f64> {
    let wide = if elem.is_float() { Elem::F32 } else { elem };
    let mut values = column.iter();
    let mut result = *values.next()?;
    for value in values {
        result = binary(name, wide, result, *value)?;
    }
    Some(if elem.is_float() { narrow(elem, result as f32) } else { result })
}
