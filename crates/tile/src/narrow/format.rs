//! Binary formats with a sign, an exponent and a mantissa of fixed widths: one description, one function in each
//! direction.

use super::{round_up, rounds_inward};
use crate::rounding::Saturation;

/// The meaning of the largest codes of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Top {
    /// As IEEE 754: the top exponent holds infinity and the NaNs.
    Infinity,
    /// The code with all bits set is NaN; no infinity (the `FN` formats).
    Nan,
    /// All codes are finite numbers.
    Finite,
}

/// A format of one sign bit, `exponent` and `mantissa` bits: (1 + m / 2^`mantissa`) · 2^(e − `bias`), and
/// subnormal numbers at e = 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub exponent: u32,
    pub mantissa: u32,
    pub bias: u32,
    pub top: Top,
}

/// A format as a type, so that each loop is compiled for its own.
pub(crate) trait Target {
    const FORMAT: Format;
}

macro_rules! targets {
    ($($(#[$doc:meta])* $name:ident: $exponent:literal, $mantissa:literal, $bias:literal, $top:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;
        impl Target for $name {
            const FORMAT: Format =
                Format { exponent: $exponent, mantissa: $mantissa, bias: $bias, top: Top::$top };
        }
    )*};
}
targets! {
    F16: 5, 10, 15, Infinity;
    BF16: 8, 7, 127, Infinity;
    E5M2: 5, 2, 15, Infinity;
    E4M3: 4, 3, 7, Nan;
    E2M1: 2, 1, 1, Finite;
    E1M2: 1, 2, 1, Finite;
}

impl Format {
    /// The first magnitude that is not a finite number.
    const fn end(self) -> u32 {
        match self.top {
            Top::Infinity => ((1 << self.exponent) - 1) << self.mantissa,
            Top::Nan => (1 << (self.exponent + self.mantissa)) - 1,
            Top::Finite => 1 << (self.exponent + self.mantissa),
        }
    }
}

/// Rounds the `f32` with the bits `x` to a code of `T`, following the rules of [`convert`](crate::convert()).
#[inline(always)]
pub(crate) fn narrow<T: Target, const MODE: u8>(x: u32, saturation: Saturation) -> u32 {
    let format = const { T::FORMAT };
    let mantissa = format.mantissa;
    let end = const { T::FORMAT.end() };
    // The exponent (as stored in `f32`) of the smallest normal number of the target.
    let least = 127 - format.bias + 1;

    let negative = x >> 31 == 1;
    let magnitude = x & 0x7fff_ffff;
    let exponent = magnitude >> 23;
    let normal = exponent >= least;
    let subnormal_shift = 23 - mantissa + least.saturating_sub(exponent.max(1));
    let shift = if normal { 23 - mantissa } else { subnormal_shift.min(31) };
    let implicit = ((exponent != 0) as u32) << 23;
    let value = if normal { magnitude } else { (magnitude & 0x7f_ffff) | implicit };
    let rest = value & ((1 << shift) - 1);
    let quotient = value >> shift;
    let rounded = quotient + round_up::<MODE>(quotient, rest, 1 << (shift - 1), negative);
    let code = if normal { rounded - ((least - 1) << mantissa) } else { rounded };

    let infinite = magnitude == 0x7f80_0000;
    let inward = rounds_inward::<MODE>(negative);
    let finite = (saturation != Saturation::Off) | (inward & !infinite) | (format.top == Top::Finite);
    let code = if code >= end { end - finite as u32 } else { code };
    let sign = (negative as u32) << (format.exponent + mantissa);
    let nan = match format.top {
        Top::Infinity => sign | end | ((magnitude & 0x7f_ffff) >> (23 - mantissa)) | (1 << (mantissa - 1)),
        Top::Nan => sign | end,
        Top::Finite => 0,
    };
    let nan = if saturation == Saturation::On { 0 } else { nan };
    if magnitude > 0x7f80_0000 { nan } else { code | sign }
}

/// The `f32` bits of a code; exact. NaN becomes quiet.
#[inline(always)]
pub(crate) const fn widen(code: u32, format: Format) -> u32 {
    let Format { exponent, mantissa, bias, top } = format;
    let sign = ((code >> (exponent + mantissa)) & 1) << 31;
    let magnitude = code & ((1 << (exponent + mantissa)) - 1);
    if magnitude >= format.end() {
        let quiet = if matches!(top, Top::Nan) || magnitude > format.end() { 0x40_0000 } else { 0 };
        return sign | 0x7f80_0000 | quiet | ((magnitude - format.end()) << (23 - mantissa));
    }
    if magnitude >> mantissa == 0 {
        // A whole number of units of the smallest subnormal, 2^(1 - bias - mantissa).
        let unit = f32::from_bits((128 - bias - mantissa) << 23);
        return sign | (magnitude as f32 * unit).to_bits();
    }
    sign | ((magnitude << (23 - mantissa)) + ((127 - bias) << 23))
}

/// The values of all codes of a format of 8 bits.
pub(crate) const fn table(format: Format) -> [f32; 256] {
    let mut table = [0.0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = f32::from_bits(widen(i as u32, format));
        i += 1;
    }
    table
}

/// The pairs of values of all bytes that hold two codes of a format of 4 bits, the low half first.
pub(crate) const fn pair_table(format: Format) -> [[f32; 2]; 256] {
    let mut table = [[0.0; 2]; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = [f32::from_bits(widen(i as u32 & 15, format)), f32::from_bits(widen(i as u32 >> 4, format))];
        i += 1;
    }
    table
}
