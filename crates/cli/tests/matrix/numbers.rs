//! Numbers as the manuals define them: conversion between bits of an element type and values, with an independent
//! implementation of rounding.
//!
//! Floats are computed in f64 and rounded once, which is exact for sums, products, quotients and roots of f32 and
//! shorter types.

use crate::dice::Dice;

/// An element type by its name in texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ty(pub &'static str);

/// A value of an element.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    Float(f64),
    Int(i64),
}

impl Ty {
    pub fn bits(self) -> u32 {
        if self.0.contains("f4E") {
            return 8;
        }
        let digits = self.0.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap()
    }

    pub fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    pub fn is_float(self) -> bool {
        self.0.contains('f')
    }

    pub fn is_signed(self) -> bool {
        !self.0.starts_with('u')
    }

    /// Number of bits of the exponent and of the fraction.
    fn format(self) -> (u32, u32) {
        match self.0 {
            "f32" => (8, 23),
            "bf16" => (8, 7),
            "f64" => (11, 52),
            "f8E4M3FN" => (4, 3),
            "f8E5M2" => (5, 2),
            _ => (5, 10),
        }
    }

    /// Whether the largest exponent also encodes numbers, with a single NaN instead of infinities.
    fn is_finite_only(self) -> bool {
        self.0 == "f8E4M3FN"
    }

    /// The bits of the largest finite number.
    pub fn largest(self) -> u64 {
        let (e, m) = self.format();
        if self.is_finite_only() { (1 << (e + m)) - 2 } else { (((1 << e) - 1) << m) - 1 }
    }

    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    pub fn decode(self, bits: u64) -> Value {
        if self.is_float() {
            return Value::Float(self.float(bits));
        }
        let shift = 64 - self.bits();
        Value::Int(if self.is_signed() { ((bits << shift) as i64) >> shift } else { (bits & self.mask()) as i64 })
    }

    fn float(self, bits: u64) -> f64 {
        let (e, m) = self.format();
        let (sign, exponent, fraction) = (bits >> (e + m) & 1, bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1));
        let bias = (1 << (e - 1)) - 1;
        let magnitude = match exponent {
            0 => fraction as f64 * 2f64.powi(1 - bias - m as i32),
            all if all == (1 << e) - 1 && self.is_finite_only() => match fraction {
                nan if nan == (1 << m) - 1 => f64::NAN,
                _ => (fraction | 1 << m) as f64 * 2f64.powi(exponent as i32 - bias - m as i32),
            },
            all if all == (1 << e) - 1 => {
                if fraction == 0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            _ => (fraction | 1 << m) as f64 * 2f64.powi(exponent as i32 - bias - m as i32),
        };
        if sign == 1 { -magnitude } else { magnitude }
    }

    /// Rounds to the nearest, ties to even; integers wrap.
    pub fn encode(self, value: Value) -> u64 {
        match value {
            Value::Float(value) => self.round(value, f64::round_ties_even),
            Value::Int(value) => value as u64 & self.mask(),
        }
    }

    /// The bits of a float: `to_integral` rounds a positive number of units in the last place.
    pub fn round(self, value: f64, to_integral: fn(f64) -> f64) -> u64 {
        let (e, m) = self.format();
        let bias = (1i32 << (e - 1)) - 1;
        // Above the largest number: an infinity, or the only NaN.
        let (most, beyond) = (self.largest(), self.largest() + 1);
        if value.is_nan() {
            return if self.is_finite_only() { beyond } else { beyond | 1 << (m - 1) };
        }
        let sign = u64::from(value.is_sign_negative()) << (e + m);
        let magnitude = value.abs();
        if magnitude == 0.0 || magnitude.is_infinite() {
            return sign | if magnitude == 0.0 { 0 } else { beyond };
        }
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias);
        let places = to_integral(magnitude * 2f64.powi(m as i32 - exponent)) as u64;
        // A number of units that reaches the next power of two carries into the exponent automatically.
        let code = (((exponent + bias - 1) as u64) << m) + places;
        sign | if code <= most {
            code
        } else if to_integral(0.75) == 0.0 {
            most
        } else {
            beyond
        }
    }

    pub fn least(self) -> i64 {
        if self.is_signed() { i64::MIN >> (64 - self.bits()) } else { 0 }
    }

    pub fn most(self) -> i64 {
        (u64::MAX >> (64 - self.bits() + u32::from(self.is_signed()))) as i64
    }

    /// Interesting bit patterns: zeros, ones, extremes, subnormals, infinities, NaN, halves.
    pub fn special(self) -> Vec<u64> {
        if !self.is_float() {
            let near = [
                0,
                1,
                2,
                3,
                7,
                31,
                -1,
                -2,
                127,
                128,
                255,
                self.least(),
                self.least() + 1,
                self.most(),
                self.most() - 1,
            ];
            return near.iter().map(|n| *n as u64 & self.mask()).collect();
        }
        let (e, m) = self.format();
        let (top, one) = (1u64 << (e + m), ((1u64 << (e - 1)) - 1) << m);
        let infinity = ((1u64 << e) - 1) << m;
        let positive = [
            0,
            1,
            (1 << m) - 1,
            1 << m,
            one,
            one + 1,
            one - 1,
            one + (1 << m),
            one - (1 << m),
            one + (3 << (m - 1)),
            self.largest(),
            infinity,
            infinity | 1 << (m - 1) | 1,
        ];
        positive.iter().flat_map(|bits| [*bits, *bits | top]).collect()
    }
}

/// Bits for `count` elements: special and arbitrary ones.
pub fn elements(ty: Ty, count: usize, seed: u64) -> Vec<u64> {
    let special = ty.special();
    let mut dice = Dice::new(seed);
    let mut next = || dice.word() >> 11;
    (0..count)
        .map(|_| if next() % 4 == 0 { next() & ty.mask() } else { special[next() as usize % special.len()] })
        .collect()
}

/// The bytes of elements in memory.
pub fn bytes(ty: Ty, elements: &[u64]) -> Vec<u8> {
    elements.iter().flat_map(|bits| bits.to_le_bytes()[..ty.bytes()].to_vec()).collect()
}

/// The elements that bytes hold.
pub fn from_bytes(ty: Ty, bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(ty.bytes()).map(word).collect()
}
