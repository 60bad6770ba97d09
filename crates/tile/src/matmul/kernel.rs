//! The inner loops of the matrix product.

use super::pack::PANEL;
use super::vector::Vector;
use super::{Init, STRIP, quads};
use crate::Native;

/// How many products are one term.
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
    /// The same, of processors that multiply and add integers at once.
    #[cfg(target_arch = "x86_64")]
    type Vnni: Vector<Self>;
    /// The same of four products.
    #[cfg(target_arch = "x86_64")]
    type Quads: Vector<Self>;
    /// Sixteen elements in registers.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Self>;
    /// Integers, which wrap: several products may be one term.
    const INTEGER: bool;
    /// Two neighbours in the direction of the sum.
    fn pair(low: Self, high: Self) -> Self;
    /// Reads packed elements of an operand of a product.
    fn load(elem: crate::Elem, bytes: &[u8], out: &mut [Self]);
    /// `a * b + c`, rounded once or wrapping; of pairs the products of both.
    fn mul_add(a: Self, b: Self, c: Self) -> Self;
    /// The same value with the canonical bits.
    fn canonical(self) -> Self;
    /// Of integers, four to a term: see [`quads::without_sign`].
    fn without_sign(_: &mut [[Self; PANEL]], _: usize, _: usize, _: bool) {}
    /// Of integers, four to a term: see [`quads::take_sums`].
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

    /// Of 8 bits each, they fit 16.
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

/// Writes the starting values of the first `m` rows of up to two strips, whose first column is `col`.
pub(super) fn start<T: Term>(strips: &mut [[u8; STRIP]], rows: usize, m: usize, col: usize, n: usize, init: Init) {
    let bias = match init {
        Init::Acc => return,
        Init::Zero => &[],
        Init::Bias(bias) => &bias[col * 4..],
    };
    for (s, strip) in strips.chunks_mut(rows).enumerate() {
        let width = (n - col - 16 * s).min(16) * 4;
        let mut line = [0; STRIP];
        if !bias.is_empty() {
            line[..width].copy_from_slice(&bias[s * STRIP..][..width]);
        }
        for row in &mut strip[..m] {
            // A whole line at a time where it is all valid: a copy of known length is one store.
            if width == STRIP { *row = line } else { row[..width].copy_from_slice(&line[..width]) }
        }
    }
}

/// Adds the products of all of A (`m` rows, panels of k) with one panel of B (`width` valid columns) to one
/// or two strips of `rows` rows each.
pub(super) fn panel<T: Term>(
    grouped: Grouped,
    a: &[[T; PANEL]],
    m: usize,
    b: &[[T; PANEL]],
    strips: &mut [[u8; STRIP]],
    rows: usize,
    width: usize,
) {
    let product = Product { a, m, b, rows, width };
    // SAFETY: the features of each function were just detected; those of quads by what grouped the products so.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        if grouped == Grouped::Quads {
            return quads::<T>(product, strips);
        }
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            if T::INTEGER && is_x86_feature_detected!("avx512vnni") {
                return vnni::<T>(product, strips);
            }
            return avx512::<T>(product, strips);
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return avx2::<T>(product, strips);
        }
    }
    debug_assert!(grouped != Grouped::Quads, "only where there is an instruction for it");
    // SAFETY: plain arrays need no feature.
    unsafe { by_strip::<T, [T; 16], 4>(product, strips) }
}

/// The arguments of [`panel`].
#[derive(Clone, Copy)]
struct Product<'a, T> {
    a: &'a [[T; PANEL]],
    m: usize,
    b: &'a [[T; PANEL]],
    rows: usize,
    width: usize,
}

/// Blocks of 8 rows and both strips: 16 of 32 registers, enough sums in flight to hide the latency of an add.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn avx512<T: Term>(product: Product<T>, strips: &mut [[u8; STRIP]]) {
    // SAFETY: this function has the features of the vector.
    unsafe {
        if product.width > 16 {
            blocks::<T, T::Avx512, 8, 2>(product, 0, strips)
        } else {
            blocks::<T, T::Avx512, 8, 1>(product, 0, strips)
        }
    }
}

/// The same where integers are multiplied and added by one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn vnni<T: Term>(product: Product<T>, strips: &mut [[u8; STRIP]]) {
    // SAFETY: this function has the features of the vector.
    unsafe {
        if product.width > 16 {
            blocks::<T, T::Vnni, 8, 2>(product, 0, strips)
        } else {
            blocks::<T, T::Vnni, 8, 1>(product, 0, strips)
        }
    }
}

/// The same of four products.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn quads<T: Term>(product: Product<T>, strips: &mut [[u8; STRIP]]) {
    // SAFETY: this function has the features of the vector.
    unsafe {
        if product.width > 16 {
            blocks::<T, T::Quads, 8, 2>(product, 0, strips)
        } else {
            blocks::<T, T::Quads, 8, 1>(product, 0, strips)
        }
    }
}

/// Blocks of 5 rows and one strip: 10 of 16 registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<T: Term>(product: Product<T>, strips: &mut [[u8; STRIP]]) {
    // SAFETY: this function has the features of the vector.
    unsafe { by_strip::<T, T::Avx2, 5>(product, strips) }
}

/// One strip after the other, in blocks of `R` rows.
///
/// # Safety
/// The caller has the features of `V`.
#[inline(always)]
unsafe fn by_strip<T: Term, V: Vector<T>, const R: usize>(product: Product<T>, strips: &mut [[u8; STRIP]]) {
    for (s, strip) in strips.chunks_mut(product.rows).enumerate() {
        let width = (product.width - s * 16).min(16);
        // SAFETY: as for this function.
        unsafe { blocks::<T, V, R, 1>(Product { width, ..product }, s * 16, strip) };
    }
}

/// The rows of A in blocks of `R`, times `S` strips of B from column `col` of its panel.
///
/// # Safety
/// The caller has the features of `V`.
#[inline(always)]
unsafe fn blocks<T: Term, V: Vector<T>, const R: usize, const S: usize>(
    product: Product<T>,
    col: usize,
    strips: &mut [[u8; STRIP]],
) {
    let Product { m, rows, width, .. } = product;
    for row in (0..m).step_by(R) {
        if row + R <= m && width == 16 * S {
            // SAFETY: as for this function.
            unsafe { update::<T, V, R, S>(product, row, col, strips, row, rows) };
            continue;
        }
        // At the edges, through a copy of the block's valid part, row by row.
        for row in row..m.min(row + R) {
            let mut lines = [[0; STRIP]; S];
            for s in 0..S {
                lines[s] = strips[s * rows + row];
            }
            // SAFETY: as for this function.
            unsafe { update::<T, V, 1, S>(product, row, col, &mut lines, 0, 1) };
            for s in 0..S {
                let valid = (width - s * 16).min(16) * 4;
                strips[s * rows + row][..valid].copy_from_slice(&lines[s][..valid]);
            }
        }
    }
}

/// Adds all products to the block of `R` rows from `to` and of `S` strips, `rows` apart; k ascending.
///
/// # Safety
/// The caller has the features of `V`.
#[inline(always)]
unsafe fn update<T: Term, V: Vector<T>, const R: usize, const S: usize>(
    product: Product<T>,
    row: usize,
    col: usize,
    strips: &mut [[u8; STRIP]],
    to: usize,
    rows: usize,
) {
    let Product { a, m, b, .. } = product;
    // SAFETY: as for this function.
    unsafe {
        let mut sums = [[V::load(&strips[to]); S]; R];
        for r in 0..R {
            for s in 0..S {
                sums[r][s] = V::load(&strips[s * rows + to + r]);
            }
        }
        for (p, b_lines) in b.chunks(PANEL).enumerate() {
            let a_lines: &[[T; PANEL]; R] = a[p * m + row..][..R].try_into().unwrap();
            for (k, b_line) in (0..PANEL).zip(b_lines) {
                let mut b_vectors = [sums[0][0]; S];
                for s in 0..S {
                    b_vectors[s] = V::load_packed(b_line[col + 16 * s..][..16].try_into().unwrap());
                }
                for r in 0..R {
                    for s in 0..S {
                        sums[r][s] = sums[r][s].add_product(a_lines[r][k], b_vectors[s]);
                    }
                }
            }
        }
        for r in 0..R {
            for s in 0..S {
                sums[r][s].store(&mut strips[s * rows + to + r]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of every width give the bits of plain arrays, which the tests of the whole product
    /// compare with the definition on whichever width the machine has.
    fn widths_agree<T: Term>(value: impl Fn(usize) -> T) {
        for (m, k, width) in [(16usize, 32usize, 32usize), (13, 37, 32), (16, 64, 16), (7, 5, 9), (21, 33, 27)] {
            let lines = |count: usize, seed: usize| -> Vec<[T; PANEL]> {
                (0..count).map(|i| std::array::from_fn(|j| value(seed + 31 * i + j))).collect()
            };
            let (a, b) = (lines(m * k.div_ceil(PANEL), 1), lines(k, 77));
            let product = Product { a: &a, m, b: &b, rows: m, width };
            let strips = vec![[0x3f; STRIP]; m * width.div_ceil(16)];
            let mut plain = strips.clone();
            // SAFETY: plain arrays need no feature.
            unsafe { by_strip::<T, [T; 16], 4>(product, &mut plain) };
            let mut best = strips.clone();
            let grouped = if T::INTEGER { Grouped::Pairs } else { Grouped::Alone };
            panel(grouped, &a, m, &b, &mut best, m, width);
            assert!(best == plain, "widest: {m} {k} {width}");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                let mut wide = strips.clone();
                // SAFETY: the features were just detected.
                unsafe { avx512(product, &mut wide) };
                assert!(wide == plain, "avx512: {m} {k} {width}");
            }
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                let mut half = strips.clone();
                // SAFETY: the features were just detected.
                unsafe { avx2(product, &mut half) };
                assert!(half == plain, "avx2: {m} {k} {width}");
            }
        }
    }

    #[test]
    fn every_width_gives_the_same_bits() {
        let scramble = |i: usize| (i as u32).wrapping_mul(0x9e37_79b9);
        widths_agree(|i| (scramble(i) as f32 / 1e9 - 2.0) * if scramble(i) % 97 == 0 { f32::INFINITY } else { 1.1 });
        widths_agree(|i| scramble(i) as i32);
    }

    #[test]
    fn nan_is_canonical() {
        let (a, b) = ([[f32::INFINITY; PANEL]; 9], [[-1.0; PANEL]; 1]);
        let mut strips = [[0; STRIP]; 18];
        strips.as_flattened_mut().as_chunks_mut().0.fill(f32::INFINITY.to_le_bytes());
        panel(Grouped::Alone, &a, 9, &b, &mut strips, 9, PANEL);
        let canonical = 0x7fc0_0000u32.to_le_bytes();
        assert!(strips.as_flattened().as_chunks().0.iter().all(|x| *x == canonical));
    }
}
