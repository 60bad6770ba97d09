//! `f32` to and from the narrow floats, one value rounded once.
//!
//! NaN keeps its sign and the leading bits of its payload and becomes quiet (the one NaN of E4M3FN keeps
//! its sign only). The portable formulas and the hardware instructions used where present give the same
//! bits; a test walks all of them.

use multiversion::multiversion;

use crate::Elem;
use crate::convert::RoundMode;

/// Modes as constants, so that each loop is compiled for its own mode.
pub(crate) mod mode {
    pub const RINT: u8 = 0;
    pub const ROUND: u8 = 1;
    pub const FLOOR: u8 = 2;
    pub const CEIL: u8 = 3;
    pub const TRUNC: u8 = 4;
    pub const ODD: u8 = 5;
}

/// Calls `$body` with the constant `$m` set to the mode `$mode`.
macro_rules! with_mode {
    ($mode:expr, $m:ident => $body:expr) => {
        $crate::narrow::with_mode!(@arms $mode, $m, $body,
            Rint RINT, Round ROUND, Floor FLOOR, Ceil CEIL, Trunc TRUNC, Odd ODD)
    };
    (@arms $mode:expr, $m:ident, $body:expr, $($name:ident $value:ident),*) => {
        match $mode {
            $($crate::convert::RoundMode::$name => {
                const $m: u8 = $crate::narrow::mode::$value;
                $body
            })*
        }
    };
}
pub(crate) use with_mode;

/// One unit in the last place (1) or none (0) to add to `quotient`, given what was cut off:
/// `rest` of a whole `2 * half`. Odd is left to the caller.
#[inline(always)]
pub(crate) fn round_up<const MODE: u8>(quotient: u32, rest: u32, half: u32, negative: bool) -> u32 {
    let up = match MODE {
        mode::RINT => (rest > half) | ((rest == half) & (quotient & 1 == 1)),
        mode::ROUND => rest >= half,
        mode::FLOOR => negative & (rest != 0),
        mode::CEIL => !negative & (rest != 0),
        mode::ODD => (quotient & 1 == 0) & (rest != 0),
        _ => false,
    };
    up as u32
}

/// Rounds the `f32` with the bits `x` to a float of `E` exponent and `M` mantissa bits.
///
/// `INF`: the format has infinities and NaNs at the top exponent (otherwise, as E4M3FN, only the code
/// with all bits set is NaN). Overflow, infinities included, gives the largest finite value if
/// `saturate`; otherwise infinity (NaN without infinities), except that a finite value rounded towards
/// zero stays finite, as IEEE 754 has it. Odd never overflows.
#[inline(always)]
fn narrow<const E: u32, const M: u32, const INF: bool, const MODE: u8>(x: u32, saturate: bool) -> u32 {
    let bias = (1u32 << (E - 1)) - 1;
    let top = ((1u32 << E) - 1) << M;
    let (max, infinity, quiet) =
        if INF { (top - 1, top, 1 << (M - 1)) } else { (top | ((1 << M) - 2), top | ((1 << M) - 1), 0) };
    // The exponent (as f32 stores it) of the smallest normal number of the target.
    let least = 127 - bias + 1;

    let negative = x >> 31 == 1;
    let magnitude = x & 0x7fff_ffff;
    let exponent = magnitude >> 23;
    let normal = exponent >= least;
    let subnormal_shift = 23 - M + least.saturating_sub(exponent.max(1));
    let shift = if normal { 23 - M } else { subnormal_shift.min(31) };
    let implicit = ((exponent != 0) as u32) << 23;
    let value = if normal { magnitude } else { (magnitude & 0x7f_ffff) | implicit };
    let rest = value & ((1 << shift) - 1);
    let quotient = value >> shift;
    let rounded = quotient + round_up::<MODE>(quotient, rest, 1 << (shift - 1), negative);
    let code = if normal { rounded - ((least - 1) << M) } else { rounded };

    let infinite = magnitude == 0x7f80_0000;
    let inward = match MODE {
        mode::RINT | mode::ROUND => false,
        mode::FLOOR => !negative,
        mode::CEIL => negative,
        _ => true,
    };
    let overflow = if saturate | (inward & !infinite) { max } else { infinity };
    let code = if code > max { overflow } else { code };
    let payload = if INF { top | ((magnitude & 0x7f_ffff) >> (23 - M)) | quiet } else { infinity };
    let code = if magnitude > 0x7f80_0000 { payload } else { code };
    code | ((negative as u32) << (E + M))
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn narrow2<const E: u32, const M: u32, const MODE: u8>(src: &[f32], dst: &mut [[u8; 2]], saturate: bool) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = (narrow::<E, M, true, MODE>(s.to_bits(), saturate) as u16).to_le_bytes();
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn narrow1<const E: u32, const M: u32, const INF: bool, const MODE: u8>(src: &[f32], dst: &mut [u8], saturate: bool) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = narrow::<E, M, INF, MODE>(s.to_bits(), saturate) as u8;
    }
}

/// Stores `src` as the narrow float `elem` (not `f32`, not an integer) into `dst`.
pub(crate) fn store(elem: Elem, src: &[f32], dst: &mut [u8], mode: RoundMode, saturate: bool) {
    match elem {
        Elem::F16 => {
            let dst = dst.as_chunks_mut().0;
            if mode == RoundMode::Rint && !saturate {
                store_f16(src, dst);
            } else {
                with_mode!(mode, MODE => narrow2::<5, 10, MODE>(src, dst, saturate));
            }
        }
        Elem::BF16 => {
            let dst = dst.as_chunks_mut().0;
            with_mode!(mode, MODE => narrow2::<8, 7, MODE>(src, dst, saturate));
        }
        Elem::F8E4M3 => with_mode!(mode, MODE => narrow1::<4, 3, false, MODE>(src, dst, saturate)),
        Elem::F8E5M2 => with_mode!(mode, MODE => narrow1::<5, 2, true, MODE>(src, dst, saturate)),
        _ => unreachable!("not a narrow float: {elem}"),
    }
}

/// Loads the narrow float `elem` (not `f32`, not an integer); exact.
pub(crate) fn load(elem: Elem, src: &[u8], dst: &mut [f32]) {
    match elem {
        Elem::F16 => load_f16(src.as_chunks().0, dst),
        Elem::BF16 => {
            for (d, s) in dst.iter_mut().zip(src.as_chunks().0) {
                *d = f32::from_bits((u16::from_le_bytes(*s) as u32) << 16);
            }
        }
        Elem::F8E4M3 => load_table(&E4M3, src, dst),
        Elem::F8E5M2 => load_table(&E5M2, src, dst),
        _ => unreachable!("not a narrow float: {elem}"),
    }
}

fn load_table(table: &[f32; 256], src: &[u8], dst: &mut [f32]) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = table[*s as usize];
    }
}

/// The `f32` bits of the code `x` of a narrow float with `E` exponent and `M` mantissa bits.
const fn widen(x: u32, e: u32, m: u32, inf: bool) -> u32 {
    let sign = (x >> (e + m)) << 31;
    let magnitude = x & ((1 << (e + m)) - 1);
    let top = ((1 << e) - 1) << m;
    let bias = (1 << (e - 1)) - 1;
    if inf && magnitude >= top {
        let quiet = if magnitude > top { 0x40_0000 } else { 0 };
        return sign | 0x7f80_0000 | quiet | ((magnitude - top) << (23 - m));
    }
    if !inf && magnitude == top | ((1 << m) - 1) {
        return sign | 0x7fc0_0000;
    }
    if magnitude >> m == 0 {
        // A whole number of units of the smallest subnormal, 2^(1 - bias - m).
        let unit = f32::from_bits((128 - bias - m) << 23);
        return sign | (magnitude as f32 * unit).to_bits();
    }
    sign | ((magnitude << (23 - m)) + ((127 - bias) << 23))
}

const fn widen_table(e: u32, m: u32, inf: bool) -> [f32; 256] {
    let mut table = [0.0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = f32::from_bits(widen(i as u32, e, m, inf));
        i += 1;
    }
    table
}

static E4M3: [f32; 256] = widen_table(4, 3, false);
static E5M2: [f32; 256] = widen_table(5, 2, true);

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "aarch64+neon"))]
fn load_f16_portable(src: &[[u8; 2]], dst: &mut [f32]) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = f32::from_bits(widen(u16::from_le_bytes(*s) as u32, 5, 10, true));
    }
}

fn load_f16(src: &[[u8; 2]], dst: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c") {
        // SAFETY: the features were just detected.
        return unsafe { f16c::load(src, dst) };
    }
    load_f16_portable(src, dst);
}

fn store_f16(src: &[f32], dst: &mut [[u8; 2]]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c") {
        // SAFETY: the features were just detected.
        return unsafe { f16c::store(src, dst) };
    }
    narrow2::<5, 10, { mode::RINT }>(src, dst, false);
}

/// The conversion instructions of x86, eight values at a time.
#[cfg(target_arch = "x86_64")]
mod f16c {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn load(src: &[[u8; 2]], dst: &mut [f32]) {
        let n = src.len().min(dst.len());
        let (whole_src, rest_src) = src[..n].as_chunks::<8>();
        let (whole_dst, rest_dst) = dst[..n].as_chunks_mut::<8>();
        for (d, s) in whole_dst.iter_mut().zip(whole_src) {
            // SAFETY: `s` is 16 bytes and `d` 32 bytes long; neither needs alignment.
            unsafe { _mm256_storeu_ps(d.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(s.as_ptr().cast()))) };
        }
        if !rest_src.is_empty() {
            let mut padded = [[0; 2]; 8];
            padded[..rest_src.len()].copy_from_slice(rest_src);
            let mut wide = [0.0; 8];
            load(&padded, &mut wide);
            rest_dst.copy_from_slice(&wide[..rest_src.len()]);
        }
    }

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn store(src: &[f32], dst: &mut [[u8; 2]]) {
        let n = src.len().min(dst.len());
        let (whole_src, rest_src) = src[..n].as_chunks::<8>();
        let (whole_dst, rest_dst) = dst[..n].as_chunks_mut::<8>();
        for (d, s) in whole_dst.iter_mut().zip(whole_src) {
            // SAFETY: `s` is 32 bytes and `d` 16 bytes long; neither needs alignment.
            unsafe {
                let narrow = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(s.as_ptr()));
                _mm_storeu_si128(d.as_mut_ptr().cast(), narrow);
            }
        }
        if !rest_src.is_empty() {
            let mut padded = [0.0; 8];
            padded[..rest_src.len()].copy_from_slice(rest_src);
            let mut narrow = [[0; 2]; 8];
            store(&padded, &mut narrow);
            rest_dst.copy_from_slice(&narrow[..rest_src.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_instructions_agree_with_the_formulas() {
        let halves: Vec<[u8; 2]> = (0..=u16::MAX).map(u16::to_le_bytes).collect();
        let (mut fast, mut slow) = (vec![0.0; 65536], vec![0.0; 65536]);
        load_f16(&halves, &mut fast);
        load_f16_portable(&halves, &mut slow);
        for i in 0..65536 {
            assert_eq!(fast[i].to_bits(), slow[i].to_bits(), "{i:#x}");
            if !fast[i].is_nan() {
                assert_eq!(fast[i], half::f16::from_bits(i as u16).to_f32());
            }
        }
        // Every f32 with the upper 20 bits free and a few patterns around the rounding point.
        let floats: Vec<f32> = (0u32..1 << 20)
            .flat_map(|top| [0, 1, 0x7ff, 0x800, 0x801, 0xfff].map(|low| f32::from_bits(top << 12 | low)))
            .collect();
        let (mut fast, mut slow) = (vec![[0; 2]; floats.len()], vec![[0; 2]; floats.len()]);
        store_f16(&floats, &mut fast);
        narrow2::<5, 10, { mode::RINT }>(&floats, &mut slow, false);
        for ((f, s), x) in fast.iter().zip(&slow).zip(&floats) {
            assert_eq!(f, s, "{:#x}", x.to_bits());
        }
    }

    #[test]
    fn short_and_odd_lengths() {
        for n in 0..20 {
            let src: Vec<f32> = (0..n).map(|i| i as f32 - 4.5).collect();
            let (mut bytes, mut back) = (vec![0; 2 * n], vec![0.0; n]);
            store(Elem::F16, &src, &mut bytes, RoundMode::Rint, false);
            load(Elem::F16, &bytes, &mut back);
            assert_eq!(src, back);
        }
    }
}
