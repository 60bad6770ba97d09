//! Conversion between `f32` and the narrow float formats, one value at a time, rounded once.
//!
//! A NaN keeps its sign and the leading bits of its payload and becomes quiet (where the format has only one NaN, it
//! keeps only its sign). The portable formulas and the hardware instructions, used where present, give the same bits; a
//! test compares all of them.

use multiversion::multiversion;

use crate::Elem;
use crate::rounding::{RoundMode, Saturation, mode, round_up, rounds_inward, with_mode};
use format::{BF16, E1M2, E2M1, E4M3, E5M2, F16, Target, narrow, pair_table, table, widen};

mod e8m0;
#[cfg(target_arch = "x86_64")]
mod f16c;
mod format;
mod hif8;

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn narrow2<T: Target, const MODE: u8>(src: &[f32], dst: &mut [[u8; 2]], saturation: Saturation) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = (narrow::<T, MODE>(s.to_bits(), saturation) as u16).to_le_bytes();
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn narrow1<T: Target, const MODE: u8>(src: &[f32], dst: &mut [u8], saturation: Saturation) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = narrow::<T, MODE>(s.to_bits(), saturation) as u8;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn narrow_pairs<T: Target, const MODE: u8>(src: &[[f32; 2]], dst: &mut [u8], saturation: Saturation) {
    for (d, [low, high]) in dst.iter_mut().zip(src) {
        let [low, high] = [low, high].map(|s| narrow::<T, MODE>(s.to_bits(), saturation) as u8);
        *d = low | high << 4;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn narrow_hif8<const MODE: u8>(src: &[f32], dst: &mut [u8], saturation: Saturation) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = hif8::narrow::<MODE>(s.to_bits(), saturation);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn narrow_e8m0<const MODE: u8>(src: &[f32], dst: &mut [u8], saturation: Saturation) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = e8m0::narrow::<MODE>(s.to_bits(), saturation);
    }
}

/// Stores `src` as the narrow float `elem` (not `f32`, not an integer) into `dst`.
pub(crate) fn store(elem: Elem, src: &[f32], dst: &mut [u8], mode: RoundMode, saturation: Saturation) {
    with_mode!(mode, MODE => match elem {
        Elem::F16 if mode == RoundMode::Rint && saturation == Saturation::Off => store_f16(src, dst.as_chunks_mut().0),
        Elem::F16 => narrow2::<F16, MODE>(src, dst.as_chunks_mut().0, saturation),
        Elem::BF16 => narrow2::<BF16, MODE>(src, dst.as_chunks_mut().0, saturation),
        Elem::F8E4M3 => narrow1::<E4M3, MODE>(src, dst, saturation),
        Elem::F8E5M2 => narrow1::<E5M2, MODE>(src, dst, saturation),
        Elem::F8E8M0 => narrow_e8m0::<MODE>(src, dst, saturation),
        Elem::HiF8 => narrow_hif8::<MODE>(src, dst, saturation),
        Elem::F4E2M1x2 => narrow_pairs::<E2M1, MODE>(src.as_chunks().0, dst, saturation),
        Elem::F4E1M2x2 => narrow_pairs::<E1M2, MODE>(src.as_chunks().0, dst, saturation),
        _ => unreachable!("not a narrow float: {elem}"),
    })
}

/// Loads the narrow float `elem` (not `f32`, not an integer); exact.
pub(crate) fn load(elem: Elem, src: &[u8], dst: &mut [f32]) {
    static E4M3_VALUES: [f32; 256] = table(E4M3::FORMAT);
    static E5M2_VALUES: [f32; 256] = table(E5M2::FORMAT);
    static E2M1_PAIRS: [[f32; 2]; 256] = pair_table(E2M1::FORMAT);
    static E1M2_PAIRS: [[f32; 2]; 256] = pair_table(E1M2::FORMAT);
    match elem {
        Elem::F16 => load_f16(src.as_chunks().0, dst),
        Elem::BF16 => {
            for (d, s) in dst.iter_mut().zip(src.as_chunks().0) {
                *d = f32::from_bits((u16::from_le_bytes(*s) as u32) << 16);
            }
        }
        Elem::F8E4M3 => load_table(&E4M3_VALUES, src, dst),
        Elem::F8E5M2 => load_table(&E5M2_VALUES, src, dst),
        Elem::F8E8M0 => load_table(&e8m0::VALUES, src, dst),
        Elem::HiF8 => load_table(&hif8::VALUES, src, dst),
        Elem::F4E2M1x2 => load_pairs(&E2M1_PAIRS, src, dst),
        Elem::F4E1M2x2 => load_pairs(&E1M2_PAIRS, src, dst),
        _ => unreachable!("not a narrow float: {elem}"),
    }
}

fn load_table(table: &[f32; 256], src: &[u8], dst: &mut [f32]) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = table[*s as usize];
    }
}

fn load_pairs(table: &[[f32; 2]; 256], src: &[u8], dst: &mut [f32]) {
    for (d, s) in dst.chunks_mut(2).zip(src) {
        d.copy_from_slice(&table[*s as usize][..d.len()]);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "aarch64+neon"))]
fn load_f16_portable(src: &[[u8; 2]], dst: &mut [f32]) {
    for (d, s) in dst.iter_mut().zip(src) {
        *d = f32::from_bits(widen(u16::from_le_bytes(*s) as u32, F16::FORMAT));
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
    narrow2::<F16, { mode::RINT }>(src, dst, Saturation::Off);
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
        narrow2::<F16, { mode::RINT }>(&floats, &mut slow, Saturation::Off);
        for ((f, s), x) in fast.iter().zip(&slow).zip(&floats) {
            assert_eq!(f, s, "{:#x}", x.to_bits());
        }
    }

    #[test]
    fn short_and_odd_lengths() {
        for n in 0..20 {
            let src: Vec<f32> = (0..n).map(|i| i as f32 - 4.5).collect();
            let (mut bytes, mut back) = (vec![0; 2 * n], vec![0.0; n]);
            store(Elem::F16, &src, &mut bytes, RoundMode::Rint, Saturation::Off);
            load(Elem::F16, &bytes, &mut back);
            assert_eq!(src, back);
        }
    }
}
