//! Parsing of scalars for an element type, with range checks.

use slipring_tile::{Elem, load_f32};

/// A number as written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// For the integer types; exact.
    Integer(i128),
    /// For the float types; rounded to them once.
    Float(f64),
}

impl Number {
    /// Parses a number for a type. `inf` and `nan` are accepted for types that have them.
    ///
    /// # Errors
    /// What is wrong with it: the message names the type and its range.
    pub fn read(text: &str, elem: Elem) -> Result<Number, String> {
        let outside = || format!("`{text}` is not a number of {elem}, which has {}", range_text(elem));
        if !elem.is_float() {
            return match text.parse::<i128>() {
                Ok(value) if has(elem, value) => Ok(Number::Integer(value)),
                Ok(_) => Err(outside()),
                // Out of the range of 128 bits, or with a fraction.
                Err(_) if text.parse::<f64>().is_ok() => Err(outside()),
                Err(_) => Err(format!("`{text}` is not a number")),
            };
        }
        let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
        let name = text.trim_start_matches(['+', '-']);
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let (infinite, nan) = specials(elem);
            let fits = if value.is_nan() { nan } else { infinite };
            return if fits { Ok(Number::Float(value)) } else { Err(outside()) };
        }
        let (low, high) = float_range(elem);
        if (low..=high).contains(&value) { Ok(Number::Float(value)) } else { Err(outside()) }
    }

    /// True if a type can represent it: floats are rounded, but not beyond the type's range.
    pub fn fits(self, elem: Elem) -> bool {
        match self {
            Number::Integer(value) => has(elem, value),
            Number::Float(_) if !elem.is_float() => false,
            Number::Float(value) if value.is_nan() => specials(elem).1,
            Number::Float(value) if value.is_infinite() => specials(elem).0,
            Number::Float(value) => {
                let (low, high) = float_range(elem);
                (low..=high).contains(&value)
            }
        }
    }

    /// The integer; for a float, its integral part.
    pub fn integer(self) -> i128 {
        match self {
            Number::Integer(value) => value,
            Number::Float(value) => value as i128,
        }
    }

    /// The nearest float.
    pub fn float(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

/// Smallest and largest number of an integer type.
fn integers(elem: Elem) -> (i128, i128) {
    let bits = 8 * elem.bytes() as u32;
    if elem.is_signed_int() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// True if a type can represent an integer: for floats, if it is within their range.
pub fn has(elem: Elem, value: i128) -> bool {
    if elem.is_float() {
        let (low, high) = float_range(elem);
        return (low..=high).contains(&(value as f64));
    }
    let (low, high) = integers(elem);
    (low..=high).contains(&value)
}

/// The values of a float type of at most 16 bits, in order of their bit patterns.
fn values(elem: Elem) -> Vec<f32> {
    let patterns = 1u32 << (8 * elem.bytes() as u32).min(16);
    let bytes: Vec<u8> = match elem.bytes() {
        1 => (0..patterns).map(|bits| bits as u8).collect(),
        _ => (0..patterns).flat_map(|bits| (bits as u16).to_le_bytes()).collect(),
    };
    let mut values = vec![f32::NAN; patterns as usize * elem.values()];
    load_f32(elem, &bytes, &mut values);
    values
}

/// Smallest and largest finite number of a float type.
pub(super) fn float_range(elem: Elem) -> (f64, f64) {
    if elem == Elem::F32 {
        return (f32::MIN.into(), f32::MAX.into());
    }
    if elem.bytes() == 2 {
        let largest = f64::from(largest_of_16_bits(elem));
        return (-largest, largest);
    }
    let finite = values(elem).into_iter().filter(|x| x.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x.into()), high.max(x.into())))
}

/// Largest finite value of a type with a sign and 15 bits, whose positive values ascend with their bits up to infinity:
/// found without examining all of them.
fn largest_of_16_bits(elem: Elem) -> f32 {
    let value = |bits: u16| {
        let mut value = [0f32];
        load_f32(elem, &bits.to_le_bytes(), &mut value);
        value[0]
    };
    let (mut finite, mut beyond) = (0, 1u16 << 15);
    while beyond - finite > 1 {
        let middle = finite + (beyond - finite) / 2;
        *(if value(middle).is_finite() { &mut finite } else { &mut beyond }) = middle;
    }
    value(finite)
}

/// Whether a float type has infinities, and whether it has a NaN.
fn specials(elem: Elem) -> (bool, bool) {
    if elem == Elem::F32 {
        return (true, true);
    }
    let values = values(elem);
    (values.iter().any(|x| x.is_infinite()), values.iter().any(|x| x.is_nan()))
}

/// For messages: `whole numbers from -128 to 127`.
pub(crate) fn range_text(elem: Elem) -> String {
    if elem.is_float() {
        let (low, high) = float_range(elem);
        return format!("numbers from {low:e} to {high:e}");
    }
    let (low, high) = integers(elem);
    format!("whole numbers from {low} to {high}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_all_values() {
        for elem in Elem::ALL.into_iter().filter(|elem| elem.is_float() && elem.bytes() <= 2) {
            let finite = || values(elem).into_iter().filter(|x| x.is_finite());
            let (low, high) = (finite().fold(f32::INFINITY, f32::min), finite().fold(f32::NEG_INFINITY, f32::max));
            assert_eq!(float_range(elem), (f64::from(low), f64::from(high)), "{elem}");
        }
    }

    #[test]
    fn numbers_of_each_type() {
        let reads = |text: &str, elem| Number::read(text, elem).ok();
        for (text, elem) in
            [("127", Elem::I8), ("-128", Elem::I8), ("255", Elem::U8), ("18446744073709551615", Elem::U64)]
        {
            assert_eq!(reads(text, elem), Some(Number::Integer(text.parse().unwrap())), "{text} {elem}");
        }
        for (text, elem) in
            [("65504", Elem::F16), ("448", Elem::F8E4M3), ("-57344", Elem::F8E5M2), ("1e-60", Elem::F32)]
        {
            assert_eq!(reads(text, elem), Some(Number::Float(text.parse().unwrap())), "{text} {elem}");
        }
        assert_eq!(reads("-inf", Elem::F16), Some(Number::Float(f64::NEG_INFINITY)));
        assert!(reads("nan", Elem::BF16).is_some_and(|n| n.float().is_nan()));
        let refused = [
            ("300", Elem::I8),
            ("-1", Elem::U32),
            ("1.7", Elem::I32),
            ("1e3", Elem::I32),
            ("inf", Elem::I32),
            ("9223372036854775808", Elem::I64),
            ("999999999999999999999999999999999999999999", Elem::I64),
            ("1e9", Elem::F16),
            ("449", Elem::F8E4M3),
            ("inf", Elem::F8E4M3),
            ("nan", Elem::F4E2M1x2),
            ("-1", Elem::F8E8M0),
            ("1e39", Elem::F32),
            ("1e999", Elem::F32),
        ];
        for (text, elem) in refused {
            let error = Number::read(text, elem).unwrap_err();
            assert!(error.contains(&format!("number of {elem}")) && error.contains(" to "), "{error}");
        }
        assert_eq!(range_text(Elem::I8), "whole numbers from -128 to 127");
        assert_eq!(range_text(Elem::F16), "numbers from -6.5504e4 to 6.5504e4");
    }
}
