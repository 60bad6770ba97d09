//! Generated buffer contents, identical on every host.

use multiversion::multiversion;

use crate::convert::store_f64;
use crate::lane::{Native, with_int};
use crate::{Elem, convert::Int};

/// The contents of a buffer's elements. Every value is representable in the element type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fill {
    /// For a float type: the nearest representable value, in every element.
    Float(f64),
    /// For an integer type: these low bits, in every element.
    Bits(u64),
    /// 0, 1, 2, …
    Iota,
    /// Values from `lo` up to but excluding `hi`: `lo + (hi - lo) × k / 2^53` with 53 bits of SplitMix64; rounded down
    /// for integers.
    Random {
        /// The seed of the generator.
        seed: u64,
        /// The smallest number.
        lo: f64,
        /// The exclusive upper bound.
        hi: f64,
    },
}

/// Values generated at a time.
const CHUNK: usize = 256;

/// Writes the elements of a buffer starting at index `from` into `bytes`, which holds whole elements.
pub fn fill(kind: Fill, elem: Elem, from: usize, bytes: &mut [u8]) {
    if elem.is_float() {
        return floats(kind, elem, from * elem.values(), bytes);
    }
    match kind {
        Fill::Float(value) => with_int!(elem, T => same(T::from_low(value as i64), bytes), else ()),
        Fill::Bits(bits) => with_int!(elem, T => same(T::from_low(bits as i64), bytes), else ()),
        Fill::Iota => with_int!(elem, T => count::<T>(from as u64, bytes), else ()),
        Fill::Random { seed, lo, hi } => {
            let state = seed.wrapping_add(STEP.wrapping_mul(from as u64));
            match elem.bytes() {
                8 => long(elem, state, lo, hi, bytes),
                _ => with_int!(elem, T => short::<T>(state, lo, hi, bytes), else ()),
            }
        }
    }
}

fn same<T: Native>(value: T, bytes: &mut [u8]) {
    T::split_mut(bytes).fill(value.put());
}

fn count<T: Int>(from: u64, bytes: &mut [u8]) {
    for (at, to) in T::split_mut(bytes).iter_mut().enumerate() {
        *to = T::from_low(from.wrapping_add(at as u64) as i64).put();
    }
}

fn floats(kind: Fill, elem: Elem, from: usize, bytes: &mut [u8]) {
    let mut values = [0.0; CHUNK];
    let mut next = from as u64;
    for chunk in bytes.chunks_mut(CHUNK / elem.values() * elem.bytes()) {
        let values = &mut values[..chunk.len() / elem.bytes() * elem.values()];
        match kind {
            Fill::Float(value) => values.fill(value),
            Fill::Bits(bits) => values.fill(bits as f64),
            Fill::Iota => values.iter_mut().zip(next..).for_each(|(value, at)| *value = at as f64),
            Fill::Random { seed, lo, hi } => random(seed.wrapping_add(STEP.wrapping_mul(next)), lo, hi, values),
        }
        next += values.len() as u64;
        store_f64(elem, values, chunk);
    }
}

/// Random numbers following a state of the generator.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2", "aarch64+neon"))]
fn random(state: u64, lo: f64, hi: f64, values: &mut [f64]) {
    let mut state = state;
    for value in values {
        state = state.wrapping_add(STEP);
        *value = number(state, lo, hi);
    }
}

/// 53 random bits: each value is lo + (hi - lo) × k / 2^53. The sum may round up to `hi`.
#[inline(always)]
fn number(state: u64, lo: f64, hi: f64) -> f64 {
    // As a signed integer, in which it fits: processors convert these in one step.
    lo + (hi - lo) * ((mixed(state) >> 11) as i64 as f64 / (1u64 << 53) as f64)
}

/// Random integers of at most 32 bits, whose bounds fit into 64.
fn short<T: Int>(mut state: u64, lo: f64, hi: f64, bytes: &mut [u8]) {
    let last = hi as i64 - 1;
    let mut values = [0.0; CHUNK];
    for to in T::split_mut(bytes).chunks_mut(CHUNK) {
        let values = &mut values[..to.len()];
        random(state, lo, hi, values);
        state = state.wrapping_add(STEP.wrapping_mul(values.len() as u64));
        whole::<T>(values, last, to);
    }
}

/// Numbers rounded down, and clamped to at most `last`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2", "aarch64+neon"))]
fn whole<T: Int>(values: &[f64], last: i64, to: &mut [T::Bytes]) {
    for (to, value) in to.iter_mut().zip(values) {
        *to = T::from_low((value.floor() as i64).min(last)).put();
    }
}

/// Random integers of 64 bits.
fn long(elem: Elem, mut state: u64, lo: f64, hi: f64, bytes: &mut [u8]) {
    let last = hi as i128 - 1;
    for to in bytes.chunks_exact_mut(elem.bytes()) {
        state = state.wrapping_add(STEP);
        let value = (number(state, lo, hi).floor() as i128).min(last);
        to.copy_from_slice(&value.to_le_bytes()[..elem.bytes()]);
    }
}

/// The increment of the generator's state.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output of SplitMix64 for a state: simple, and the same on every host.
#[inline(always)]
fn mixed(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_split_mix() {
        // First outputs of SplitMix64 from state 1234567, as published with the algorithm.
        let first: Vec<u64> = (1..=3).map(|at| mixed(STEP.wrapping_mul(at).wrapping_add(1_234_567))).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn integers_are_the_whole_parts_of_their_formula() {
        let (seed, from) = (7, 3);
        for (elem, lo, hi) in
            [(Elem::I8, -128.0, 128.0), (Elem::U16, 0.0, 65536.0), (Elem::I32, -2e9, 2e9), (Elem::I8, -3.5, 9.0)]
        {
            let mut all = vec![0; 1000 * elem.bytes()];
            fill(Fill::Random { seed, lo, hi }, elem, from, &mut all);
            for (at, found) in all.chunks_exact(elem.bytes()).enumerate() {
                let k = mixed(STEP.wrapping_mul((from + at) as u64 + 1).wrapping_add(seed)) >> 11;
                let value = (lo + (hi - lo) * (k as f64 / 9_007_199_254_740_992.0)).floor() as i64;
                assert_eq!(*found, value.min(hi as i64 - 1).to_le_bytes()[..elem.bytes()], "{elem} {at}");
            }
        }
    }

    #[test]
    fn floats_are_their_formula_rounded_once() {
        let (seed, lo, hi) = (99, -3.0, 9.5);
        for elem in Elem::ALL.into_iter().filter(|elem| elem.is_float()) {
            let (mut all, mut one) = (vec![0; 1000 * elem.bytes()], vec![0; elem.bytes()]);
            fill(Fill::Random { seed, lo, hi }, elem, 0, &mut all);
            for (at, found) in all.chunks_exact(elem.bytes()).enumerate() {
                let values: Vec<f64> = (0..elem.values())
                    .map(|part| {
                        let state = seed.wrapping_add(STEP.wrapping_mul((at * elem.values() + part) as u64 + 1));
                        let k = mixed(state) >> 11;
                        lo + (hi - lo) * (k as f64 / 9_007_199_254_740_992.0)
                    })
                    .collect();
                store_f64(elem, &values, &mut one);
                assert_eq!(found, one, "{elem} {at}");
            }
        }
    }
}
