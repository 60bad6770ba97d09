//! Arithmetic on elements: floats in `f32`, with each result rounded once to the element type; integers wrap.

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

/// An `f32` rounded to a float type.
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

/// The smallest and the largest integer of a type.
pub fn range(elem: Elem) -> (i128, i128) {
    let bits = 8 * elem.bytes() as u32;
    if elem.is_signed_int() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// An operation on two elements of the same type; `None` if it is not defined for the type.
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

/// An operation on one element.
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

/// An operation on two numbers, rounded to the element type; an absent operand counts as nothing.
fn both(name: &str, elem: Elem, a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => binary(name, elem, a, b),
        (a, b) => a.or(b),
    }
}

/// Neighbours combined pairwise, repeatedly, in `f32`; rounded at the end.
fn tree(name: &str, elem: Elem, row: &[f64]) -> Option<f64> {
    let wide = if elem.is_float() { Elem::F32 } else { elem };
    let mut row = row.to_vec();
    while row.len() > 1 {
        row = row.chunks(2).map(|two| both(name, wide, Some(two[0]), two.get(1).copied())).collect::<Option<_>>()?;
    }
    Some(if elem.is_float() { narrow(elem, row[0] as f32) } else { row[0] })
}

/// Lane j combines the elements j, j + n, …, and each step is rounded.
fn lanes(name: &str, elem: Elem, row: &[f64], n: usize) -> Option<Vec<f64>> {
    let lane = |j| row.iter().skip(j).step_by(n).try_fold(None, |a, b| both(name, elem, a, Some(*b)).map(Some));
    (0..n.min(row.len())).map(|j| lane(j)?).collect()
}

/// Parts of 256 bytes added pairwise, as by a unit that works on memory.
fn in_pairs(elem: Elem, row: &[f64]) -> Option<f64> {
    let part = 256 / elem.bytes();
    let add = |a: &[f64], b: &[f64]| -> Option<Vec<f64>> {
        a.iter().enumerate().map(|(j, a)| both("add", elem, Some(*a), b.get(j).copied())).collect()
    };
    let (whole, rest) = row.split_at(row.len() / part * part);
    let mut sums: Vec<Vec<f64>> =
        whole.chunks(2 * part).map(|two| add(&two[..part], &two[part..])).collect::<Option<_>>()?;
    if sums.len() > 1 && whole.len() % (2 * part) != 0 {
        let last = sums.pop()?;
        sums[0] = add(&sums[0], &last)?;
    }
    match sums.first_mut() {
        Some(first) => *first = add(first, rest)?,
        None => sums.push(rest.to_vec()),
    }
    while sums.len() > 1 {
        let odd = if sums.len() % 2 == 1 { sums.pop() } else { None };
        sums = sums.chunks(2).map(|two| add(&two[0], &two[1])).collect::<Option<_>>()?;
        if let (Some(odd), Some(last)) = (odd, sums.last_mut()) {
            *last = add(last, &odd)?;
        }
    }
    tree("add", elem, &sums[0])
}

/// A row reduced to one element, in the order of the platform's tile library: A5 (`registers`) or A2/A3.
pub fn reduce_row(name: &str, elem: Elem, row: &[f64], registers: bool) -> Option<f64> {
    let part = 256 / elem.bytes();
    match (name, registers) {
        ("add", true) => row.chunks(part).try_fold(0.0, |sum, chunk| binary(name, elem, sum, tree(name, elem, chunk)?)),
        ("add", false) => in_pairs(elem, row),
        ("mul", true) => {
            let mut lanes = lanes(name, elem, row, part)?;
            let mut half = part;
            while half > 1 {
                half /= 2;
                lanes = (0..half.min(lanes.len()))
                    .map(|j| both(name, elem, Some(lanes[j]), lanes.get(j + half).copied()))
                    .collect::<Option<_>>()?;
            }
            Some(lanes[0])
        }
        ("mul", false) => {
            let wide = if elem.is_float() { Elem::F32 } else { elem };
            let lanes = lanes(name, elem, row, 32 / elem.bytes())?;
            let all = lanes.into_iter().try_fold(None, |a, b| both(name, wide, a, Some(b)).map(Some))??;
            Some(if elem.is_float() { narrow(elem, all as f32) } else { all })
        }
        _ => tree(name, elem, row),
    }
}

/// A column reduced to one element, each step rounded: pairwise on A5 (`registers`), row by row on A2/A3.
pub fn reduce_column(name: &str, elem: Elem, column: &[f64], registers: bool) -> Option<f64> {
    let (first, rest) = column.split_first()?;
    rest.chunks(if registers { 2 } else { 1 }).try_fold(*first, |sum, rows| {
        let rows = both(name, elem, Some(rows[0]), rows.get(1).copied());
        both(name, elem, Some(sum), rows)
    })
}

/// A column added in rounds: neighbours are added, and the remaining element of an odd count is added to the last sum
/// on A5 (`registers`), to the first one on A2/A3.
pub fn add_in_pairs(elem: Elem, mut column: Vec<f64>, registers: bool) -> Option<f64> {
    while column.len() > 1 {
        let add = |x: f64, y: f64| both("add", elem, Some(x), Some(y));
        let mut sums = column.chunks_exact(2).map(|pair| add(pair[0], pair[1])).collect::<Option<Vec<f64>>>()?;
        if let [odd] = column.chunks_exact(2).remainder() {
            let at = if registers { sums.len() - 1 } else { 0 };
            // The order of operands does not matter.
            sums[at] = add(sums[at], *odd)?;
        }
        column = sums;
    }
    column.first().copied()
}
