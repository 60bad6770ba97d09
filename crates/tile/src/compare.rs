//! Elementwise comparison, masks and selection.

use multiversion::multiversion;

use crate::lane::with_int;
use crate::lanes::widen;
use crate::{Elem, Native};

/// A comparison of two elements. With a NaN only `Ne` holds; −0 equals +0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Elements compared at a time.
const CHUNK: usize = 256;

impl Compare {
    /// Every comparison, in declaration order.
    pub const ALL: [Compare; 6] = [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge];

    /// `mask[i] = 1` where the comparison of `a[i]` and `b[i]` holds, else 0; the shortest slice determines the number
    /// of elements. `b` may be a single element, which is compared with all of `a`.
    pub fn run(self, elem: Elem, a: &[u8], b: &[u8], mask: &mut [u8]) {
        let size = elem.bytes();
        if b.len() == size && a.len() > size {
            let mut many = [0; CHUNK * 8];
            let many = &mut many[..CHUNK * size];
            many.chunks_exact_mut(size).for_each(|e| e.copy_from_slice(b));
            for (a, mask) in a.chunks(CHUNK * size).zip(mask.chunks_mut(CHUNK)) {
                self.run(elem, a, &many[..a.len()], mask);
            }
            return;
        }
        match elem {
            Elem::F32 => self.typed::<f32>(a, b, mask),
            _ if elem.is_float() => {
                let (mut wide_a, mut wide_b) = ([0; CHUNK * 4], [0; CHUNK * 4]);
                let n = CHUNK * size;
                for ((a, b), mask) in a.chunks(n).zip(b.chunks(n)).zip(mask.chunks_mut(CHUNK)) {
                    let (a_count, b_count) = (a.len() / size, b.len() / size);
                    let (wide_a, wide_b) = (&mut wide_a[..a_count * 4], &mut wide_b[..b_count * 4]);
                    widen(elem, &a[..a_count * size], wide_a);
                    widen(elem, &b[..b_count * size], wide_b);
                    self.typed::<f32>(wide_a, wide_b, mask);
                }
            }
            _ => with_int!(elem, T => self.typed::<T>(a, b, mask), else ()),
        }
    }

    /// A substitute for [`Compare::run`] whose result depends on every byte of both operands. Sampling uses it because
    /// few values change the outcome of a comparison, so samples would rarely find them.
    pub fn run_sensitive(elem: Elem, a: &[u8], b: &[u8], mask: &mut [u8]) {
        // Bits for bytes 0, 1, … of an element, chosen so that repeated bytes within an operand, or equal bytes in
        // both, do not cancel.
        const FIRST: [u32; 8] = [2, 0, 1, 3, 4, 5, 6, 7];
        const SECOND: [u32; 8] = [7, 6, 5, 4, 3, 2, 1, 1];
        let size = elem.bytes();
        let parity =
            |bytes: &[u8], bits: [u32; 8]| bytes.iter().zip(bits).fold(0, |all, (byte, bit)| all ^ byte >> bit & 1);
        for ((mask, a), b) in mask.iter_mut().zip(a.chunks(size)).zip(b.chunks(size)) {
            *mask = parity(a, FIRST) ^ parity(b, SECOND);
        }
    }

    /// As [`Compare::run`], one bit per element: bit `i % 8` of byte `i / 8`. Bits past the last element are 0.
    pub fn run_packed(self, elem: Elem, a: &[u8], b: &[u8], mask: &mut [u8]) {
        let size = elem.bytes();
        let mut bytes = [0; CHUNK];
        let single = b.len() == size && a.len() > size;
        for (i, (a, mask)) in a.chunks(CHUNK * size).zip(mask.chunks_mut(CHUNK / 8)).enumerate() {
            let n = a.len() / size;
            let b = if single { b } else { &b[(i * CHUNK * size).min(b.len())..] };
            bytes.fill(0);
            self.run(elem, a, b, &mut bytes[..n]);
            pack_bits(&bytes[..n], mask);
        }
    }

    fn typed<T: Native>(self, a: &[u8], b: &[u8], mask: &mut [u8]) {
        match self {
            Compare::Eq => compare::<T, _>(a, b, mask, |a, b| a == b),
            Compare::Ne => compare::<T, _>(a, b, mask, |a, b| a != b),
            Compare::Lt => compare::<T, _>(a, b, mask, |a, b| a < b),
            Compare::Le => compare::<T, _>(a, b, mask, |a, b| a <= b),
            Compare::Gt => compare::<T, _>(a, b, mask, |a, b| a > b),
            Compare::Ge => compare::<T, _>(a, b, mask, |a, b| a >= b),
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn compare<T: Native, F: Fn(T, T) -> bool>(a: &[u8], b: &[u8], mask: &mut [u8], f: F) {
    for ((m, a), b) in mask.iter_mut().zip(T::split(a)).zip(T::split(b)) {
        *m = f(T::get(*a), T::get(*b)) as u8;
    }
}

/// One bit for each byte of `mask` that is not 0: bit `i % 8` of byte `i / 8`; the rest of the last byte is 0.
pub fn pack_bits(mask: &[u8], bits: &mut [u8]) {
    for (bits, mask) in bits.iter_mut().zip(mask.chunks(8)) {
        *bits = mask.iter().enumerate().map(|(i, m)| ((*m != 0) as u8) << i).sum();
    }
}

/// The reverse of [`pack_bits`]: bytes of 0 or 1.
pub fn unpack_bits(bits: &[u8], mask: &mut [u8]) {
    for (mask, bits) in mask.chunks_mut(8).zip(bits) {
        for (i, m) in mask.iter_mut().enumerate() {
            *m = bits >> i & 1;
        }
    }
}

/// `out[i] = a[i]` where `mask[i]` is not 0, else `b[i]`; elements of `size` (1, 2, 4 or 8) bytes, moved unchanged; the
/// shortest slice determines the number of elements.
pub fn select(size: usize, mask: &[u8], a: &[u8], b: &[u8], out: &mut [u8]) {
    match size {
        1 => select_lanes::<u8>(mask, a, b, out),
        2 => select_lanes::<u16>(mask, a, b, out),
        4 => select_lanes::<u32>(mask, a, b, out),
        _ => select_lanes::<u64>(mask, a, b, out),
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn select_lanes<T: Native>(mask: &[u8], a: &[u8], b: &[u8], out: &mut [u8]) {
    for (((o, m), a), b) in T::split_mut(out).iter_mut().zip(mask).zip(T::split(a)).zip(T::split(b)) {
        *o = if *m != 0 { *a } else { *b };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn masks_bits_and_selection(
            elem in prop::sample::select(Elem::ALL.into_iter().filter(|e| e.values() == 1).collect::<Vec<_>>()),
            data in prop::collection::vec((any::<[u8; 8]>(), any::<[u8; 8]>(), any::<bool>()), 2..600),
            single: bool,
        ) {
            let size = elem.bytes();
            let a: Vec<u8> = data.iter().flat_map(|d| d.0[..size].to_vec()).collect();
            let b: Vec<u8> =
                data.iter().flat_map(|d| if d.2 { d.0[..size].to_vec() } else { d.1[..size].to_vec() }).collect();
            let right = if single { &b[..size] } else { &b[..] };
            let wide = |bytes: &[u8]| {
                let mut x = [0.0];
                crate::load_f32(elem, bytes, &mut x);
                x[0]
            };
            let int = |bytes: &[u8]| {
                let mut x = [if elem.is_signed_int() && bytes[size - 1] >= 128 { 0xff } else { 0 }; 16];
                x[..size].copy_from_slice(bytes);
                i128::from_le_bytes(x)
            };
            for op in Compare::ALL {
                let mut mask = vec![7; data.len()];
                op.run(elem, &a, right, &mut mask);
                for (i, x) in a.chunks(size).enumerate() {
                    let y = if single { right } else { &b[i * size..(i + 1) * size] };
                    let order =
                        if elem.is_float() { wide(x).partial_cmp(&wide(y)) } else { Some(int(x).cmp(&int(y))) };
                    let want = match op {
                        Compare::Eq => order.is_some_and(|o| o.is_eq()),
                        Compare::Ne => order.is_none_or(|o| o.is_ne()),
                        Compare::Lt => order.is_some_and(|o| o.is_lt()),
                        Compare::Le => order.is_some_and(|o| o.is_le()),
                        Compare::Gt => order.is_some_and(|o| o.is_gt()),
                        Compare::Ge => order.is_some_and(|o| o.is_ge()),
                    };
                    prop_assert_eq!(mask[i], want as u8);
                }
                let mut bits = vec![0xaa; data.len().div_ceil(8)];
                op.run_packed(elem, &a, right, &mut bits);
                let mut back = vec![9; data.len()];
                unpack_bits(&bits, &mut back);
                prop_assert_eq!(&back, &mask);
                let mut out = vec![0; a.len()];
                select(size, &mask, &a, &b, &mut out);
                for (i, out) in out.chunks(size).enumerate() {
                    prop_assert_eq!(out, &(if mask[i] == 1 { &a } else { &b })[i * size..(i + 1) * size]);
                }
            }
        }
    }
}
