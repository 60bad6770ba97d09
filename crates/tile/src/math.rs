//! Elementary functions of `f32`.
//!
//! Each function is evaluated in `f64` using only additions, multiplications and divisions, with a relative error below
//! 2^-50, and rounded to `f32` once. The result is the same on every host, and correctly rounded unless the exact value
//! lies within that distance of the midpoint between two `f32` values. Ops on 16-bit types compute in `f32` and round
//! once more. Their results are correctly rounded with three exceptions, all in `f16`: `exp` of `0x1f79` and `0x25cf`
//! and `ln` of `0x1d78` give the adjacent value (a test pins the list). The functions have no branches, so loops over
//! them vectorise. NaN results are [`NAN`].

use multiversion::multiversion;

/// The NaN that arithmetic produces: quiet, positive, no payload (`0x7fc00000`).
pub const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// `x`, or [`NAN`] if it is any NaN. Hosts differ in the NaN an operation gives; this removes the difference.
#[inline(always)]
pub fn canonical(x: f32) -> f32 {
    // Selected as integers: the compiler treats all NaNs as equal and might drop a selection between floats.
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { NAN.to_bits() } else { bits })
}

const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// `e^x`: 0 for −∞, ∞ for large `x`, subnormal results rounded once.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Outside this range the result is infinite or rounds to zero.
    let clamped = if x > 89.0 { 89.0 } else { x };
    let clamped = if clamped < -105.0 { -105.0 } else { clamped };
    canonical(wide_exp(clamped as f64) as f32)
}

/// `e^y` for `y` from −105 to 89.
#[inline(always)]
fn wide_exp(y: f64) -> f64 {
    // Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let shifted = y * std::f64::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (y - k * LN2_HIGH) - k * LN2_LOW;
    // The series of e^r to r^13 for |r| <= ln(2)/2; the terms are paired to shorten the chain.
    let (r2, r4, r8) = (r * r, (r * r) * (r * r), ((r * r) * (r * r)) * ((r * r) * (r * r)));
    let c = |n: u32| INVERSE_FACTORIAL[n as usize];
    let low = (1.0 / 2.0 + c(3) * r) + (c(4) + c(5) * r) * r2;
    let middle = (c(6) + c(7) * r) + (c(8) + c(9) * r) * r2;
    let high = (c(10) + c(11) * r) + (c(12) + c(13) * r) * r2;
    let series = (low + middle * r4) + high * r8;
    let power = 1.0 + (r + r2 * series);
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1f64.to_bits()));
    power * scale
}

const INVERSE_FACTORIAL: [f64; 14] = {
    let mut table = [1.0; 14];
    let (mut n, mut factorial) = (1, 1u64);
    while n < 14 {
        factorial *= n as u64;
        table[n] = 1.0 / factorial as f64;
        n += 1;
    }
    table
};

/// The natural logarithm: −∞ for ±0, NaN below 0, ∞ for ∞.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let result = wide_ln(x as f64) as f32;
    let result = if x == f32::INFINITY { x } else { result };
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    canonical(if x >= 0.0 { result } else { NAN })
}

/// The natural logarithm of a positive finite number.
#[inline(always)]
fn wide_ln(x: f64) -> f64 {
    let bits = x.to_bits();
    // x = m * 2^k with m about from sqrt(1/2) to sqrt(2).
    let k = (((bits >> 32) as u32 as i32).wrapping_sub(0x3fe6_a09e)) >> 20;
    let m = f64::from_bits(bits.wrapping_sub((k as u64) << 52));
    let k = k as f64;
    // ln(m) = 2 artanh(s), the series to s^21.
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let (z, z2, z4) = (s * s, (s * s) * (s * s), ((s * s) * (s * s)) * ((s * s) * (s * s)));
    let low = (2.0 / 3.0 + 2.0 / 5.0 * z) + (2.0 / 7.0 + 2.0 / 9.0 * z) * z2;
    let middle = (2.0 / 11.0 + 2.0 / 13.0 * z) + (2.0 / 15.0 + 2.0 / 17.0 * z) * z2;
    let high = 2.0 / 19.0 + 2.0 / 21.0 * z;
    let series = (low + middle * z4) + high * (z4 * z4);
    k * LN2_HIGH + ((k * LN2_LOW + s * z * series) + 2.0 * s)
}

/// `x` to the power of `y`, as C's `pow` defines it: 1 where `y` is 0 or `x` is 1 or `x` is −1 and `y` infinite, NaN
/// for a negative number to a power that is not integral. Computed as `e^(y ln |x|)` with a relative error below 2^-44,
/// rounded once.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return NAN;
    }
    let base = x.abs();
    let grows = (base > 1.0) == (y > 0.0);
    let power = if base == 1.0 {
        1.0
    } else if base == 0.0 || base.is_infinite() || y.is_infinite() {
        if grows { f32::INFINITY } else { 0.0 }
    } else {
        wide_exp((y as f64 * wide_ln(base as f64)).clamp(-105.0, 89.0)) as f32
    };
    // From 2^24 on all `f32` values are even.
    let whole = y.trunc() == y;
    let odd = whole && y.abs() < 16_777_216.0 && y as i32 & 1 != 0;
    if x.is_sign_negative() && odd {
        -power
    } else if x < 0.0 && x.is_finite() && !whole {
        NAN
    } else {
        power
    }
}

/// The square root, correctly rounded; −0 for −0, NaN below 0.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    canonical(x.sqrt())
}

/// `1 / sqrt(x)`; ±∞ for ±0, NaN below 0, 0 for ∞.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    canonical((1.0 / (x as f64).sqrt()) as f32)
}

/// The nearest `f16` value, ties to even; overflow becomes infinite.
#[inline(always)]
pub fn half(x: f32) -> f32 {
    let (magnitude, bits) = (x.abs(), x.to_bits());
    let normal = f32::from_bits((bits & 0x7fff_ffff).wrapping_add(0xfff + (bits >> 13 & 1)) & 0xffff_e000);
    // Below 2^-14 the values are 2^-24 apart, as those of `f32` are from 0.5 on.
    let small = (magnitude + 0.5) - 0.5;
    let rounded = if magnitude < 6.103_515_6e-5 { small } else { normal };
    let rounded = if rounded >= 65536.0 { f32::INFINITY } else { rounded };
    if x.is_nan() { NAN } else { rounded.copysign(x) }
}

/// `1 / x`, correctly rounded; ±∞ for ±0.
#[inline(always)]
pub fn recip(x: f32) -> f32 {
    canonical(1.0 / x)
}

/// The larger of two, as IEEE 754 `maximum`: NaN if one of them is, +0 rather than −0.
#[inline(always)]
pub fn maximum(a: f32, b: f32) -> f32 {
    // Equal values differ at most in the sign of zero.
    let equal = f32::from_bits(a.to_bits() & b.to_bits());
    let larger = if a > b { a } else { b };
    let number = if a == b { equal } else { larger };
    if a.is_nan() | b.is_nan() { NAN } else { number }
}

/// The smaller of two, as IEEE 754 `minimum`: NaN if one of them is, −0 rather than +0.
#[inline(always)]
pub fn minimum(a: f32, b: f32) -> f32 {
    let equal = f32::from_bits(a.to_bits() | b.to_bits());
    let smaller = if a < b { a } else { b };
    let number = if a == b { equal } else { smaller };
    if a.is_nan() | b.is_nan() { NAN } else { number }
}

/// The bits of 2/π after the point, the first ones highest.
const TWO_OVER_PI: [u64; 5] =
    [0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9041, 0xfe51_63ab_debb_c561, 0xb724_6e3a_424d_d2e0];

/// The multiple of π/2 nearest to `x`, modulo 4, and the distance from it; for finite `x`.
fn quarters(x: f32) -> (u64, f64) {
    let bits = x.abs().to_bits();
    let exponent = (bits >> 23) as i32 - 150;
    // Below π/4.
    if x.abs() < 0.785 {
        return (0, f64::from(x));
    }
    let mantissa = u128::from(bits & 0x7f_ffff | 0x80_0000);
    // Multiples of 2π do not matter: 96 bits of 2/π are enough, from the first that does.
    let skipped = (exponent - 2).max(0) as u32;
    let product = mantissa * two_over_pi(skipped);
    let point = (96 + skipped as i32 - exponent) as u32;
    let count = (product >> point) as u64;
    let fraction = product & ((1 << point) - 1);
    let up = fraction >> (point - 1) & 1 != 0;
    let (count, rest) = if up { (count + 1, -(((1 << point) - fraction) as f64)) } else { (count, fraction as f64) };
    let angle = rest / (1u128 << point) as f64 * std::f64::consts::FRAC_PI_2;
    if x < 0.0 { (count.wrapping_neg() & 3, -angle) } else { (count & 3, angle) }
}

/// 96 bits of 2/π, without this many at its beginning.
fn two_over_pi(skipped: u32) -> u128 {
    let (word, shift) = ((skipped / 64) as usize, skipped % 64);
    let [high, low, next] = [0, 1, 2].map(|more| u128::from(TWO_OVER_PI[word + more]));
    let next = if shift == 0 { 0 } else { next >> (64 - shift) };
    ((high << 64 | low) << shift | next) >> 32
}

/// The sine of an angle of at most π/4.
fn short_sin(x: f64) -> f64 {
    let z = x * x;
    let c = |n: usize| INVERSE_FACTORIAL[n];
    x + x * z * (-c(3) + z * (c(5) + z * (-c(7) + z * (c(9) + z * (-c(11) + z * c(13))))))
}

/// The cosine of an angle of at most π/4.
fn short_cos(x: f64) -> f64 {
    let z = x * x;
    let c = |n: usize| INVERSE_FACTORIAL[n];
    1.0 + z * (-0.5 + z * (c(4) + z * (-c(6) + z * (c(8) + z * (-c(10) + z * c(12))))))
}

/// The sine of `x` in radians: NaN for ±∞, −0 for −0.
pub fn sin(x: f32) -> f32 {
    if !x.is_finite() || x == 0.0 {
        return if x == 0.0 { x } else { NAN };
    }
    turned(x, 0)
}

/// The cosine of `x` in radians: NaN for ±∞.
pub fn cos(x: f32) -> f32 {
    if !x.is_finite() {
        return NAN;
    }
    turned(x, 1)
}

/// The sine of `x` plus a multiple of π/2.
fn turned(x: f32, more: u64) -> f32 {
    let (count, rest) = quarters(x);
    let count = (count + more) & 3;
    let value = if count & 1 == 0 { short_sin(rest) } else { short_cos(rest) };
    (if count & 2 == 0 { value } else { -value }) as f32
}

macro_rules! slices {
    ($($slice:ident $scalar:ident),*) => {$(
        #[doc = concat!("[`", stringify!($scalar), "`] of each element, as many as both slices hold.")]
        #[multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
            "x86_64+avx2+fma",
            "aarch64+neon"
        ))]
        pub fn $slice(src: &[f32], dst: &mut [f32]) {
            for (d, s) in dst.iter_mut().zip(src) {
                *d = $scalar(*s);
            }
        }
    )*};
}
slices!(exp_slice exp, ln_slice ln, sqrt_slice sqrt, rsqrt_slice rsqrt, recip_slice recip);

#[cfg(test)]
mod points;
#[cfg(test)]
mod tests;
