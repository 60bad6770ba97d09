//! Buffers with generated contents.

use slipring_tile::{Elem, store_f64};

/// What a generated buffer holds.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub(super) enum Fill {
    Zeros,
    Value(f64),
    Iota,
    Random { seed: u64, lo: f64, hi: f64 },
}

/// The bytes of `count` elements.
pub(super) fn fill(kind: Fill, elem: Elem, count: usize) -> Vec<u8> {
    let mut state = if let Fill::Random { seed, .. } = kind { seed } else { 0 };
    let value = |at: usize| match kind {
        Fill::Zeros => 0.0,
        Fill::Value(value) => value,
        Fill::Iota => at as f64,
        // 53 random bits: every number is lo + (hi - lo) × k / 2^53.
        Fill::Random { lo, hi, .. } => lo + (hi - lo) * ((split_mix(&mut state) >> 11) as f64 / (1u64 << 53) as f64),
    };
    let values = (0..count * elem.values()).map(value);
    if matches!(kind, Fill::Zeros) {
        return vec![0; count * elem.bytes()];
    }
    if elem.is_float() {
        let values: Vec<f64> = values.collect();
        let mut bytes = vec![0; count * elem.bytes()];
        store_f64(elem, &values, &mut bytes);
        return bytes;
    }
    let mut bytes = Vec::with_capacity(count * elem.bytes());
    values.for_each(|x| push_integer(elem, x.floor(), &mut bytes));
    bytes
}

/// SplitMix64: small, and the same everywhere.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Adds one integer.
fn push_integer(elem: Elem, value: f64, bytes: &mut Vec<u8>) {
    let wide = if elem.is_signed_int() { (value as i64).to_le_bytes() } else { (value as u64).to_le_bytes() };
    bytes.extend_from_slice(&wide[..elem.bytes()]);
}

/// Bits of a float scalar as registers keep them, rounded to its type.
pub(super) fn float_bits(elem: Elem, value: f64) -> u64 {
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
    fn integers_wrap_nothing_in_range() {
        let bytes = fill(Fill::Random { seed: 1, lo: -8.0, hi: 8.0 }, Elem::I8, 1000);
        assert!(bytes.iter().all(|b| (-8..8).contains(&(*b as i8))));
        assert_eq!(fill(Fill::Iota, Elem::I16, 3), [0, 0, 1, 0, 2, 0]);
        assert_eq!(fill(Fill::Value(1.5), Elem::F16, 1), [0x00, 0x3e]);
    }
}
