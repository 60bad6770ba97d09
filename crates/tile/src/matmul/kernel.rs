//! The inner loops of the matrix product.

use super::vector::Vector;
use crate::matmul::operands::{Init, PANEL, STRIP};
use crate::matmul::term::{Grouped, Term};

/// Writes the initial values of the first `m` rows of up to two strips, whose first column is `col`.
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
            // A whole line at a time if it is all valid: a copy of known length is one store.
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
    // SAFETY: the features of each function were just detected; those of quads were detected when the products were
    // grouped.
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

/// As [`avx512`], for integers that are multiplied and added by one instruction.
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

/// As [`vnni`], for groups of four products.
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
/// The caller must have detected the features of `V`.
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
/// The caller must have detected the features of `V`.
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
        // At the edges the block's valid part is computed through a copy, row by row.
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
/// The caller must have detected the features of `V`.
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
