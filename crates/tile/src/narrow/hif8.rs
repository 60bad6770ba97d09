//! HiFloat8: 8 bits whose mantissa narrows as the exponent grows (arXiv 2409.16626).
//!
//! | exponent | mantissa bits | codes (sign aside) |
//! |---|---|---|
//! | 0, ±1, ±2 … ±3 | 3 | `0001 mmm`, `001e mmm`, `01ee mmm` |
//! | ±4 … ±7 | 2 | `10ee emm` |
//! | ±8 … ±15 | 1 | `11ee eem` |
//! | −22 … −16 | 0 | `0000 eee` (the value of `eee` less 23) |
//!
//! The first `e` is the sign of the exponent, the others its magnitude without the leading 1. `0x00` is zero,
//! `0x80` NaN (there is no −0), `0x6f` and `0xef`, the largest magnitudes, the infinities.

use super::round_up;
use crate::rounding::Saturation;

/// The mantissa bits at `exponent` (−22 … 15), and the rank among all magnitudes (0 is zero) of 2^`exponent`.
#[inline(always)]
const fn band(exponent: i32) -> (u32, i32) {
    match exponent {
        8.. => (1, 112 + 2 * (exponent - 8)),
        4.. => (2, 96 + 4 * (exponent - 4)),
        -3.. => (3, 40 + 8 * (exponent + 3)),
        -7.. => (2, 24 + 4 * (exponent + 7)),
        -15.. => (1, 8 + 2 * (exponent + 15)),
        _ => (0, 1 + (exponent + 22)),
    }
}

/// The rank of the infinities, one past the largest finite magnitude.
const INFINITY: u32 = 127;
const NAN: u8 = 0x80;

/// Value and code of each rank. A rank and its code have the same last bit.
const RANKS: [(f32, u8); 128] = {
    let mut ranks = [(0.0, 0); 128];
    let mut exponent = -22;
    while exponent <= 15 {
        let (mantissa, rank) = band(exponent);
        let negative = (exponent < 0) as u32;
        let size = exponent.unsigned_abs();
        let prefix = match size {
            0 => 0b0001 << 3,
            1 => 0b001 << 4 | negative << 3,
            2..=3 => 0b01 << 5 | negative << 4 | (size - 2) << 3,
            4..=7 => 0b10 << 5 | negative << 4 | (size - 4) << 2,
            8..=15 => 0b11 << 5 | negative << 4 | (size - 8) << 1,
            _ => (exponent + 23) as u32,
        };
        let mut m = 0;
        while m < 1 << mantissa {
            let value = f32::from_bits(((exponent + 127) as u32) << 23 | m << (23 - mantissa));
            ranks[rank as usize + m as usize] = (value, (prefix | m) as u8);
            m += 1;
        }
        exponent += 1;
    }
    ranks[INFINITY as usize].0 = f32::INFINITY;
    ranks
};

const CODES: [u8; 128] = {
    let mut codes = [0; 128];
    let mut rank = 0;
    while rank < 128 {
        codes[rank] = RANKS[rank].1;
        rank += 1;
    }
    codes
};

/// The values of all codes.
pub(super) static VALUES: [f32; 256] = {
    let mut values = [0.0; 256];
    let mut rank = 0;
    while rank < 128 {
        let (value, code) = RANKS[rank];
        values[code as usize] = value;
        values[code as usize | 0x80] = -value;
        rank += 1;
    }
    values[NAN as usize] = f32::from_bits(0x7fc0_0000);
    values
};

/// Rounds the `f32` with the bits `x`. Ties and rounding to odd use the last bit of the code.
#[inline(always)]
pub(super) fn narrow<const MODE: u8>(x: u32, saturation: Saturation) -> u8 {
    let negative = x >> 31 == 1;
    let magnitude = x & 0x7fff_ffff;
    // Subnormal numbers are as far below the smallest code as 2^-127 is.
    let exponent = ((magnitude >> 23) as i32 - 127).min(16);
    let significand = (magnitude & 0x7f_ffff) | 0x80_0000;
    let (mantissa, start) = band(exponent.max(-22));
    // Below 2^-22 the whole number is a fraction of the first rank.
    let (kept, base) = if exponent < -22 { (0, 0) } else { (significand >> (23 - mantissa), start - (1 << mantissa)) };
    let shift = if exponent < -22 { (1 - exponent).min(31) as u32 } else { 23 - mantissa };
    let rest = if exponent < -22 { significand } else { significand & ((1 << shift) - 1) };
    let rest = if magnitude == 0 { 0 } else { rest };
    let rank = (base + kept as i32) as u32;
    let rank = rank + round_up::<MODE>(rank, rest, 1 << (shift - 1), negative);
    let infinite = magnitude == 0x7f80_0000;
    let inward = super::rounds_inward::<MODE>(negative);
    let finite = (saturation != Saturation::Off) | (inward & !infinite);
    let rank = if rank >= INFINITY { INFINITY - finite as u32 } else { rank };
    let sign = if negative & (rank != 0) { 0x80 } else { 0 };
    let nan = if saturation == Saturation::On { 0 } else { NAN };
    if magnitude > 0x7f80_0000 { nan } else { CODES[rank as usize & 127] | sign }
}
