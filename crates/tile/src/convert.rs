//! Conversion between element types, on little-endian bytes.

use multiversion::multiversion;

use crate::lane::{Native, with_int};
use crate::rounding::{mode, round_up, with_mode};
use crate::{Elem, narrow};

pub use crate::rounding::{RoundMode, Saturation};

/// Values converted at a time through `f32` on the stack.
const CHUNK: usize = 256;

/// Reads `out.len()` values as `f32`: floats and integers up to 16 bits exactly, wider integers rounded to the nearest
/// (ties to even). A signalling NaN of `f16` or an 8-bit float becomes quiet. The packed types give two values for each
/// element.
///
/// The shorter slice determines the number of values.
pub fn load_f32(elem: Elem, bytes: &[u8], out: &mut [f32]) {
    match elem {
        Elem::F32 => {
            for (o, b) in out.iter_mut().zip(f32::split(bytes)) {
                *o = f32::get(*b);
            }
        }
        _ if elem.is_float() => narrow::load(elem, bytes, out),
        _ => with_int!(elem, T => load_int::<T>(bytes, out), else ()),
    }
}

/// Writes `values` as `elem`: floats rounded to the nearest, ties to even, overflow as in [`Saturation::Off`]; integers
/// rounded likewise and saturated, NaN to 0.
///
/// The shorter slice determines the number of values; packed types convert whole elements.
pub fn store_f32(elem: Elem, values: &[f32], bytes: &mut [u8]) {
    store_rounded(elem, values, bytes, RoundMode::Rint, (!elem.is_float()).into());
}

/// As [`store_f32`] for the float types, each value rounded once from `f64`. Integers are left unchanged.
pub fn store_f64(elem: Elem, values: &[f64], bytes: &mut [u8]) {
    if !elem.is_float() {
        return;
    }
    let mut chunk = [0.0; CHUNK];
    for (values, bytes) in values.chunks(CHUNK).zip(bytes.chunks_mut(CHUNK / elem.values() * elem.bytes())) {
        let chunk = &mut chunk[..values.len()];
        match elem {
            Elem::F32 => chunk.iter_mut().zip(values).for_each(|(narrow, wide)| *narrow = *wide as f32),
            _ => to_odd(values, chunk),
        }
        store_f32(elem, chunk, bytes);
    }
}

/// Rounds each number to the `f32` towards zero or, if inexact, to the neighbour whose last bit is 1: this preserves
/// the information needed by a second rounding to fewer bits.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn to_odd(values: &[f64], out: &mut [f32]) {
    for (out, x) in out.iter_mut().zip(values) {
        let near = *x as f32;
        let wide = f64::from(near);
        let outward = u32::from(wide.abs() > x.abs());
        let odd = near.to_bits().wrapping_sub(outward) | 1;
        // False for NaN, which stays unchanged.
        let inexact = (wide < *x) | (wide > *x);
        *out = f32::from_bits(if inexact { odd } else { near.to_bits() });
    }
}

/// As [`store_f32`] with a rounding mode and a choice of saturation (see [`convert`]).
pub fn store_rounded(elem: Elem, values: &[f32], bytes: &mut [u8], mode: RoundMode, saturation: Saturation) {
    match elem {
        Elem::F32 => {
            for (b, v) in f32::split_mut(bytes).iter_mut().zip(values) {
                *b = v.put();
            }
        }
        _ if elem.is_float() => narrow::store(elem, values, bytes, mode, saturation),
        _ => with_int!(elem, T => with_mode!(mode, M => {
            match saturation {
                Saturation::Off => store_int::<T, M, false, false>(values, bytes),
                Saturation::Words => store_int::<T, M, false, true>(values, bytes),
                _ => store_int::<T, M, true, false>(values, bytes),
            }
        }), else ()),
    }
}

/// Converts elements of one type to another, each rounded once.
///
/// * to the same type: the bytes are copied.
/// * float or integer to float: `mode` decides among the neighbours. Without saturation overflow gives infinity
///   (NaN for formats that have only that, the largest finite value for those that have neither) or, where
///   `mode` rounds towards zero, the largest finite value. With saturation overflow and infinities give the
///   largest finite value of their sign; not for `f32`, which nothing overflows.
/// * NaN of a float to float: stays NaN, except that [`Saturation::On`] makes it +0 (not for `f32` and E8M0, which has
///   no zero), as does a format without NaN.
/// * E8M0 has neither zero nor negative numbers: they become its NaN.
/// * float to integer: rounded to an integer by `mode`, NaN gives 0. With saturation, clamped to the range
///   of the target; without, clamped to 64 bits and the low bits kept.
/// * integer to integer: clamped with saturation, else the low bits.
///
/// Of a packed type ([`Elem::values`]) two values are converted for each element. Converts as many whole elements
/// of both types as the slices hold.
///
/// Sources: micro-instruction manual, "Rounding Modes", "Saturation Modes" and the `sat` clauses of FIXPIPE;
/// the values of exceptional inputs under `SAT` are those of the public conversion cases.
pub fn convert(
    src_elem: Elem,
    src: &[u8],
    dst_elem: Elem,
    dst: &mut [u8],
    mode: RoundMode,
    saturation: impl Into<Saturation>,
) {
    let saturation = saturation.into();
    // Bytes that hold `n` values; `n` is even if a type is packed.
    let bytes = |elem: Elem, n: usize| n / elem.values() * elem.bytes();
    let held = |elem: Elem, len: usize| len / elem.bytes() * elem.values();
    let pack = src_elem.values().max(dst_elem.values());
    let n = held(src_elem, src.len()).min(held(dst_elem, dst.len())) / pack * pack;
    let (src, dst) = (&src[..bytes(src_elem, n)], &mut dst[..bytes(dst_elem, n)]);
    if src_elem == dst_elem {
        return dst.copy_from_slice(src);
    }
    if !src_elem.is_float() && !dst_elem.is_float() {
        let clamp = !matches!(saturation, Saturation::Off | Saturation::Words);
        return with_int!(src_elem, S => with_int!(dst_elem, D => int_to_int::<S, D>(src, dst, clamp), else ()), else ());
    }
    // Integers wider than f32's mantissa are rounded to odd first; a second rounding to fewer bits is then exact.
    let first = if dst_elem == Elem::F32 { mode } else { RoundMode::Odd };
    let mut chunk = [0.0; CHUNK];
    for (s, d) in src.chunks(bytes(src_elem, CHUNK)).zip(dst.chunks_mut(bytes(dst_elem, CHUNK))) {
        let chunk = &mut chunk[..held(src_elem, s.len())];
        match src_elem {
            Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64 if first != RoundMode::Rint => {
                with_int!(src_elem, S => with_mode!(first, M => load_int_rounded::<S, M>(s, chunk)), else ())
            }
            _ => load_f32(src_elem, s, chunk),
        }
        store_rounded(dst_elem, chunk, d, mode, saturation);
    }
}

/// Rounds one `f32` to an integral value.
pub fn round_integral(x: f32, mode: RoundMode) -> f32 {
    with_mode!(mode, M => integral::<M>(x))
}

#[inline(always)]
fn integral<const MODE: u8>(x: f32) -> f32 {
    match MODE {
        mode::RINT => x.round_ties_even(),
        mode::ROUND => x.round(),
        mode::FLOOR => x.floor(),
        mode::CEIL => x.ceil(),
        mode::ODD => {
            let towards_zero = x.trunc();
            // Only values below 2^23 have a fraction.
            let even = (towards_zero as i32) & 1 == 0;
            if towards_zero != x && even && !x.is_nan() { towards_zero + 1f32.copysign(x) } else { towards_zero }
        }
        _ => x.trunc(),
    }
}

/// The integer types, for conversions.
pub(crate) trait Int: Native {
    /// To `f32`, nearest even.
    fn to_f32(self) -> f32;
    /// Sign and magnitude.
    fn magnitude(self) -> (bool, u64);
    /// From an integral `f32`, saturating; NaN gives 0.
    fn from_f32(x: f32) -> Self;
    /// The low bits of a 64-bit integer.
    fn from_low(x: i64) -> Self;
    /// The value's bits extended to 64, by the sign if signed.
    fn extend(self) -> i64;
    /// The smallest and the largest value.
    const RANGE: (i128, i128);
}

macro_rules! int {
    ($($ty:ident)*) => {$(
        #[allow(unused_comparisons, clippy::unnecessary_cast)]
        impl Int for $ty {
            const RANGE: (i128, i128) = ($ty::MIN as i128, $ty::MAX as i128);
            #[inline(always)]
            fn to_f32(self) -> f32 { self as f32 }
            #[inline(always)]
            fn magnitude(self) -> (bool, u64) {
                if self < 0 { (true, (self as i64).unsigned_abs()) } else { (false, self as u64) }
            }
            #[inline(always)]
            fn from_f32(x: f32) -> Self { x as $ty }
            #[inline(always)]
            fn from_low(x: i64) -> Self { x as $ty }
            #[inline(always)]
            fn extend(self) -> i64 { self as i64 }
        }
    )*};
}
int!(i8 i16 i32 i64 u8 u16 u32 u64);

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn load_int<T: Int>(bytes: &[u8], out: &mut [f32]) {
    for (o, b) in out.iter_mut().zip(T::split(bytes)) {
        *o = T::get(*b).to_f32();
    }
}

fn load_int_rounded<T: Int, const MODE: u8>(bytes: &[u8], out: &mut [f32]) {
    for (o, b) in out.iter_mut().zip(T::split(bytes)) {
        let (negative, magnitude) = T::get(*b).magnitude();
        // Keeps the top 24 bits and one bit for everything below, which is all that rounding needs.
        let shift = 40u32.saturating_sub(magnitude.leading_zeros());
        let quotient = (magnitude >> shift) as u32;
        let rest = magnitude & ((1u64 << shift) - 1);
        let half = (1u64 << shift) >> 1;
        let side = if rest == 0 { 0 } else { 2 + (rest >= half) as u32 + (rest > half) as u32 };
        let up = round_up::<MODE>(quotient, side, 3, negative);
        // At most 2^24 times a power of two: exact.
        let value = ((quotient + up) as u64 as f32) * (1u64 << shift) as f32;
        *o = if negative { -value } else { value };
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn store_int<T: Int, const MODE: u8, const SATURATE: bool, const WORDS: bool>(values: &[f32], bytes: &mut [u8]) {
    for (b, v) in T::split_mut(bytes).iter_mut().zip(values) {
        let integral = integral::<MODE>(*v);
        // 64-bit targets saturate either way; for them `extend` after `from_f32` is the identity.
        *b = if SATURATE || size_of::<T>() == 8 {
            T::from_f32(integral).put()
        } else {
            let wide = if WORDS && size_of::<T>() < 4 { i64::from(integral as i32) } else { integral as i64 };
            T::from_low(wide).put()
        };
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn int_to_int<S: Int, D: Int>(src: &[u8], dst: &mut [u8], saturate: bool) {
    let (low, high) = (D::RANGE.0.max(S::RANGE.0), D::RANGE.1.min(S::RANGE.1));
    let (low, high) = (S::from_low(low as i64), S::from_low(high as i64));
    for (d, s) in D::split_mut(dst).iter_mut().zip(S::split(src)) {
        let mut x = S::get(*s);
        if saturate {
            x = if x < low { low } else { x };
            x = if x > high { high } else { x };
        }
        *d = D::from_low(x.extend()).put();
    }
}

#[cfg(test)]
pub(crate) mod tests;
