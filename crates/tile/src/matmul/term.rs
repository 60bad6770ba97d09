//! Elements of the accumulator, and the definition of one term of a product.

use crate::Native;
use crate::matmul::operands::{PANEL, STRIP};
use crate::matmul::quads;
use crate::matmul::vector::Vector;

/// The number of products in one term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Grouped {
    Alone,
    /// Integers: two, of 16 bits each.
    Pairs,
    /// Integers: four, of 8 bits each. See [`quads`].
    Quads,
}

/// An element of the accumulator.
pub(super) trait Term: Native<Bytes = [u8; 4]> {
    /// Sixteen elements in registers.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vector<Self>;
    /// As `Avx512`, on processors with a fused multiply-add for integers.
    #[cfg(target_arch = "x86_64")]
    type Vnni: Vector<Self>;
    /// As `Vnni`, for groups of four products.
    #[cfg(target_arch = "x86_64")]
    type Quads: Vector<Self>;
    /// Sixteen elements in registers.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Self>;
    /// Integers, which wrap: several products may be one term.
    const INTEGER: bool;
    /// Combines two elements that are adjacent along the sum.
    fn pair(low: Self, high: Self) -> Self;
    /// Reads packed elements of an operand of a product.
    fn load(elem: crate::Elem, bytes: &[u8], out: &mut [Self]);
    /// `a * b + c`, rounded once or wrapping; for pairs both products are added.
    fn mul_add(a: Self, b: Self, c: Self) -> Self;
    /// The same value with the canonical bits.
    fn canonical(self) -> Self;
    /// For integers, four to a term: see [`quads::without_sign`].
    fn without_sign(_: &mut [[Self; PANEL]], _: usize, _: usize, _: bool) {}
    /// For integers, four to a term: see [`quads::take_sums`].
    fn take_sums(_: &[[Self; PANEL]], _: usize, _: &mut [[u8; STRIP]], _: (usize, usize, usize)) {}
}

impl Term for f32 {
    #[cfg(target_arch = "x86_64")]
    type Avx512 = std::arch::x86_64::__m512;
    #[cfg(target_arch = "x86_64")]
    type Vnni = std::arch::x86_64::__m512;
    #[cfg(target_arch = "x86_64")]
    type Quads = std::arch::x86_64::__m512;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = [std::arch::x86_64::__m256; 2];
    const INTEGER: bool = false;

    #[inline(always)]
    fn pair(low: f32, _: f32) -> f32 {
        low
    }
    fn load(elem: crate::Elem, bytes: &[u8], out: &mut [f32]) {
        crate::load_f32(elem, bytes, out);
    }
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn canonical(self) -> f32 {
        crate::math::canonical(self)
    }
}

impl Term for i32 {
    #[cfg(target_arch = "x86_64")]
    type Avx512 = std::arch::x86_64::__m512i;
    #[cfg(target_arch = "x86_64")]
    type Vnni = super::vector::Vnni;
    #[cfg(target_arch = "x86_64")]
    type Quads = super::vector::Quads;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = [std::arch::x86_64::__m256i; 2];
    const INTEGER: bool = true;

    /// Elements of 8 bits fit into 16.
    #[inline(always)]
    fn pair(low: i32, high: i32) -> i32 {
        low & 0xffff | high << 16
    }
    fn load(elem: crate::Elem, bytes: &[u8], out: &mut [i32]) {
        if elem == crate::Elem::I32 {
            out.iter_mut().zip(bytes.as_chunks().0).for_each(|(o, b)| *o = i32::from_le_bytes(*b));
            return;
        }
        let signed = elem.is_signed_int();
        for (o, b) in out.iter_mut().zip(bytes) {
            *o = if signed { *b as i8 as i32 } else { *b as i32 };
        }
    }
    #[inline(always)]
    fn mul_add(a: i32, b: i32, c: i32) -> i32 {
        let halves = |pair: i32| (i32::from(pair as i16), pair >> 16);
        let ((a_low, a_high), (b_low, b_high)) = (halves(a), halves(b));
        (a_low * b_low).wrapping_add(a_high * b_high).wrapping_add(c)
    }
    #[inline(always)]
    fn canonical(self) -> i32 {
        self
    }
    fn without_sign(lines: &mut [[i32; PANEL]], rows: usize, k: usize, signed: bool) {
        quads::without_sign(lines, rows, k, signed);
    }
    fn take_sums(panel: &[[i32; PANEL]], k: usize, strips: &mut [[u8; STRIP]], extents: (usize, usize, usize)) {
        quads::take_sums(panel, k, strips, extents);
    }
}

/// The portable form.
impl<T: Term> Vector<T> for [T; 16] {
    #[inline(always)]
    unsafe fn load(from: &[u8; 64]) -> Self {
        std::array::from_fn(|j| T::get(from.as_chunks().0[j]))
    }
    #[inline(always)]
    unsafe fn load_packed(from: &[T; 16]) -> Self {
        *from
    }
    #[inline(always)]
    unsafe fn add_product(self, x: T, b: Self) -> Self {
        std::array::from_fn(|j| T::mul_add(x, b[j], self[j]))
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut [u8; 64]) {
        for (to, x) in to.as_chunks_mut().0.iter_mut().zip(self) {
            *to = x.canonical().put();
        }
    }
}
