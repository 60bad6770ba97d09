//! Sixteen accumulator elements in registers.
//!
//! Compilers do not reliably keep a block of plain arrays in vector registers, so the instructions are named
//! explicitly. A [`Vector`] of x86 may be used only where its CPU features are known to be present, which
//! `kernel::panel` ensures; that is the safety condition of every function here.

/// Sixteen elements of type `T`.
pub(super) trait Vector<T>: Copy {
    /// # Safety
    /// The processor must have the features of this vector.
    unsafe fn load(from: &[u8; 64]) -> Self;
    /// # Safety
    /// The processor must have the features of this vector.
    unsafe fn load_packed(from: &[T; 16]) -> Self;
    /// `x * b + self` in each lane, rounded once or wrapping; integers are pairs, both of whose products are added.
    ///
    /// # Safety
    /// The processor must have the features of this vector.
    unsafe fn add_product(self, x: T, b: Self) -> Self;
    /// Stores, each NaN in its canonical form.
    ///
    /// # Safety
    /// The processor must have the features of this vector.
    unsafe fn store(self, to: &mut [u8; 64]);
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Quads, Vnni};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Vector;

    impl Vector<f32> for __m512 {
        #[inline(always)]
        unsafe fn load(from: &[u8; 64]) -> Self {
            unsafe { _mm512_loadu_ps(from.as_ptr().cast()) }
        }
        #[inline(always)]
        unsafe fn load_packed(from: &[f32; 16]) -> Self {
            unsafe { _mm512_loadu_ps(from.as_ptr()) }
        }
        #[inline(always)]
        unsafe fn add_product(self, x: f32, b: Self) -> Self {
            unsafe { _mm512_fmadd_ps(_mm512_set1_ps(x), b, self) }
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [u8; 64]) {
            unsafe {
                let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self, self);
                let canonical = _mm512_set1_ps(f32::from_bits(0x7fc0_0000));
                _mm512_storeu_ps(to.as_mut_ptr().cast(), _mm512_mask_mov_ps(self, nan, canonical));
            }
        }
    }

    impl Vector<i32> for __m512i {
        #[inline(always)]
        unsafe fn load(from: &[u8; 64]) -> Self {
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        }
        #[inline(always)]
        unsafe fn load_packed(from: &[i32; 16]) -> Self {
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        }
        #[inline(always)]
        unsafe fn add_product(self, x: i32, b: Self) -> Self {
            unsafe { _mm512_add_epi32(_mm512_madd_epi16(_mm512_set1_epi32(x), b), self) }
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [u8; 64]) {
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self) }
        }
    }

    /// Integers, with one instruction that multiplies pairs and adds both products to a sum.
    #[derive(Clone, Copy)]
    pub struct Vnni(__m512i);

    impl Vector<i32> for Vnni {
        #[inline(always)]
        unsafe fn load(from: &[u8; 64]) -> Self {
            unsafe { Vnni(_mm512_loadu_si512(from.as_ptr().cast())) }
        }
        #[inline(always)]
        unsafe fn load_packed(from: &[i32; 16]) -> Self {
            unsafe { Vnni(_mm512_loadu_si512(from.as_ptr().cast())) }
        }
        #[inline(always)]
        unsafe fn add_product(self, x: i32, b: Self) -> Self {
            unsafe { Vnni(_mm512_dpwssd_epi32(self.0, _mm512_set1_epi32(x), b.0)) }
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [u8; 64]) {
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
        }
    }

    /// Integers, with one instruction that multiplies four unsigned bytes of `x` by four signed ones and adds the
    /// products to a sum.
    #[derive(Clone, Copy)]
    pub struct Quads(__m512i);

    impl Vector<i32> for Quads {
        #[inline(always)]
        unsafe fn load(from: &[u8; 64]) -> Self {
            unsafe { Quads(_mm512_loadu_si512(from.as_ptr().cast())) }
        }
        #[inline(always)]
        unsafe fn load_packed(from: &[i32; 16]) -> Self {
            unsafe { Quads(_mm512_loadu_si512(from.as_ptr().cast())) }
        }
        #[inline(always)]
        unsafe fn add_product(self, x: i32, b: Self) -> Self {
            unsafe { Quads(_mm512_dpbusd_epi32(self.0, _mm512_set1_epi32(x), b.0)) }
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [u8; 64]) {
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
        }
    }

    impl Vector<f32> for [__m256; 2] {
        #[inline(always)]
        unsafe fn load(from: &[u8; 64]) -> Self {
            let from: *const f32 = from.as_ptr().cast();
            unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
        }
        #[inline(always)]
        unsafe fn load_packed(from: &[f32; 16]) -> Self {
            unsafe { [_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))] }
        }
        #[inline(always)]
        unsafe fn add_product(self, x: f32, b: Self) -> Self {
            unsafe {
                let x = _mm256_set1_ps(x);
                [_mm256_fmadd_ps(x, b[0], self[0]), _mm256_fmadd_ps(x, b[1], self[1])]
            }
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [u8; 64]) {
            let to: *mut f32 = to.as_mut_ptr().cast();
            unsafe {
                let canonical = _mm256_set1_ps(f32::from_bits(0x7fc0_0000));
                for (i, x) in self.into_iter().enumerate() {
                    let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x);
                    _mm256_storeu_ps(to.add(8 * i), _mm256_blendv_ps(x, canonical, nan));
                }
            }
        }
    }

    impl Vector<i32> for [__m256i; 2] {
        #[inline(always)]
        unsafe fn load(from: &[u8; 64]) -> Self {
            let from: *const __m256i = from.as_ptr().cast();
            unsafe { [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))] }
        }
        #[inline(always)]
        unsafe fn load_packed(from: &[i32; 16]) -> Self {
            let from: *const __m256i = from.as_ptr().cast();
            unsafe { [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))] }
        }
        #[inline(always)]
        unsafe fn add_product(self, x: i32, b: Self) -> Self {
            unsafe {
                let x = _mm256_set1_epi32(x);
                [
                    _mm256_add_epi32(_mm256_madd_epi16(x, b[0]), self[0]),
                    _mm256_add_epi32(_mm256_madd_epi16(x, b[1]), self[1]),
                ]
            }
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [u8; 64]) {
            let to: *mut __m256i = to.as_mut_ptr().cast();
            unsafe {
                _mm256_storeu_si256(to, self[0]);
                _mm256_storeu_si256(to.add(1), self[1]);
            }
        }
    }
}
