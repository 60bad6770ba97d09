//! Buffers with generated contents.

use std::collections::TryReserveError;

use rayon::prelude::*;
use slipring_tile::{Elem, store_f64};

use super::number::Number;

/// What a generated buffer holds. Every number is one that the element type has.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub(super) enum Fill {
    Zeros,
    Value(Number),
    Iota,
    /// Numbers from `lo` on, below `hi`.
    Random {
        seed: u64,
        lo: f64,
        hi: f64,
    },
}

/// Values that are stored at a time.
const CHUNK: usize = 256;
/// Elements that one thread fills, where there are more.
const PART: usize = 1 << 16;

/// The bytes of `count` elements.
///
/// # Errors
/// If there is not so much memory.
pub(super) fn fill(kind: Fill, elem: Elem, count: usize) -> Result<Vec<u8>, TryReserveError> {
    let mut bytes = slipring_program::zeroed(count * elem.bytes())?;
    if matches!(kind, Fill::Zeros) {
        return Ok(bytes);
    }
    let part = PART * elem.bytes();
    match bytes.len() > part {
        true => bytes.par_chunks_mut(part).enumerate().for_each(|(at, bytes)| fill_part(kind, elem, at * PART, bytes)),
        false => fill_part(kind, elem, 0, &mut bytes),
    }
    Ok(bytes)
}

/// The elements from `from` on.
fn fill_part(kind: Fill, elem: Elem, from: usize, bytes: &mut [u8]) {
    let first = if elem.is_float() { from * elem.values() } else { from };
    let mut state = match kind {
        Fill::Random { seed, .. } => seed.wrapping_add(STEP.wrapping_mul(first as u64)),
        _ => 0,
    };
    let mut value = |at: usize| match kind {
        Fill::Zeros => Number::Integer(0),
        Fill::Value(value) => value,
        Fill::Iota => Number::Integer(at as i128),
        // 53 random bits: every number is lo + (hi - lo) × k / 2^53.
        Fill::Random { lo, hi, .. } => {
            let x = lo + (hi - lo) * ((split_mix(&mut state) >> 11) as f64 / (1u64 << 53) as f64);
            // The sum may round up to `hi`.
            if elem.is_float() { Number::Float(x) } else { Number::Integer((x.floor() as i128).min(hi as i128 - 1)) }
        }
    };
    let size = elem.bytes();
    if !elem.is_float() {
        for (at, to) in bytes.chunks_exact_mut(size).enumerate() {
            to.copy_from_slice(&value(from + at).integer().to_le_bytes()[..size]);
        }
        return;
    }
    let (mut values, mut next) = ([0.0; CHUNK], first);
    for chunk in bytes.chunks_mut(CHUNK / elem.values() * size) {
        let values = &mut values[..chunk.len() / size * elem.values()];
        for x in &mut *values {
            *x = value(next).float();
            next += 1;
        }
        store_f64(elem, values, chunk);
    }
}

/// What the state of [`split_mix`] goes on by.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64: small, and the same everywhere.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(STEP);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Bits of a float scalar as registers keep them, rounded to its type.
pub(crate) fn float_bits(elem: Elem, value: f64) -> u64 {
    let mut wide = [0u8; 8];
    store_f64(elem, &[value], &mut wide[..elem.bytes()]);
    u64::from_le_bytes(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_split_mix() {
        // First outputs of SplitMix64 from state 1234567, as published with the algorithm.
        let mut state = 1_234_567;
        let first: Vec<u64> = (0..3).map(|_| split_mix(&mut state)).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn parts_are_what_the_whole_is() {
        let kinds = [Fill::Iota, Fill::Random { seed: 5, lo: -3.0, hi: 9.0 }, Fill::Value(Number::Integer(7))];
        for (kind, elem) in kinds.into_iter().flat_map(|kind| Elem::ALL.map(|elem| (kind, elem))) {
            let count = 2 * PART + 77;
            let mut whole = vec![0; count * elem.bytes()];
            fill_part(kind, elem, 0, &mut whole);
            assert!(fill(kind, elem, count).unwrap() == whole, "{kind:?} of {elem}");
        }
    }

    #[test]
    fn integers_wrap_nothing_in_range() {
        let bytes = fill(Fill::Random { seed: 1, lo: -8.0, hi: 8.0 }, Elem::I8, 1000).unwrap();
        assert!(bytes.iter().all(|b| (-8..8).contains(&(*b as i8))));
        let bytes = fill(Fill::Random { seed: 1, lo: 254.0, hi: 256.0 }, Elem::U8, 1000).unwrap();
        assert!(bytes.iter().all(|b| *b >= 254) && bytes.contains(&255) && bytes.contains(&254));
        assert_eq!(fill(Fill::Iota, Elem::I16, 3).unwrap(), [0, 0, 1, 0, 2, 0]);
        assert_eq!(fill(Fill::Value(Number::Float(1.5)), Elem::F16, 1).unwrap(), [0x00, 0x3e]);
        let odd = (1i128 << 53) + 1;
        assert_eq!(fill(Fill::Value(Number::Integer(odd)), Elem::I64, 1).unwrap(), (odd as i64).to_le_bytes());
    }
}
