//! The conversion instructions of x86, eight values at a time.

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
