//! Products of 8-bit integers, four to a term.
//!
//! Where the elements of one sum are adjacent in both operands, four of them are treated as one 32-bit integer and the
//! tile as a tile of such integers; packing moves these. One instruction multiplies four unsigned elements by four
//! signed ones and adds all four products to a sum. A signed A has 128 added to each element, which flips the highest
//! bit; 128 times the sum of each column of B is subtracted beforehand. Sums wrap, so the result equals that of adding
//! the products one by one.

use crate::matmul::operands::{Operands, PANEL, STRIP};
use crate::{Elem, Layout, SLayout};

/// The tiles as tiles of four-element integers, where that is possible.
pub(super) fn layouts(operands: &Operands) -> Option<(Layout, Layout)> {
    let (a, b) = (operands.a_layout, operands.b_layout);
    let whole = |layout: &Layout| layout.fractal.is_multiple_of(64);
    let side_by_side = a.slayout == SLayout::RowMajor && b.slayout == SLayout::ColMajor && whole(a) && whole(b);
    let possible = side_by_side && b.elem == Elem::I8 && available();
    let wide = |layout: &Layout, rows, cols| Layout { elem: Elem::I32, rows, cols, ..*layout };
    possible.then(|| (wide(a, a.rows, a.cols / 4), wide(b, b.rows / 4, b.cols)))
}

/// True if the processor supports the instruction.
fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vnni");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// A mask of the elements of group `at` that are within a sum of `k` elements: `0x01` in each such byte.
fn valid(k: usize, at: usize) -> u32 {
    match k.saturating_sub(4 * at) {
        0 => 0,
        1 => 0x0000_0001,
        2 => 0x0000_0101,
        3 => 0x0001_0101,
        _ => 0x0101_0101,
    }
}

/// Makes the packed A unsigned, in panels of `rows` lines, with zeros after its `k` columns.
pub(super) fn without_sign(lines: &mut [[i32; PANEL]], rows: usize, k: usize, signed: bool) {
    if signed {
        lines.as_flattened_mut().iter_mut().for_each(|four| *four ^= i32::from_ne_bytes([0x80; 4]));
    }
    let last = k / 4;
    if !k.is_multiple_of(4) {
        let kept = (valid(k, last) * 0xff) as i32;
        for line in &mut lines[last / PANEL * rows..][..rows] {
            line[last % PANEL] &= kept;
        }
    }
}

/// Subtracts 128 times the sums of the columns of a packed panel of B from the first `m` rows of one or two strips.
pub(super) fn take_sums(
    panel: &[[i32; PANEL]],
    k: usize,
    strips: &mut [[u8; STRIP]],
    (rows, m, width): (usize, usize, usize),
) {
    let mut sums = [0i32; PANEL];
    for (at, line) in panel.iter().enumerate() {
        let kept = (valid(k, at) * 0xff) as i32;
        for (sum, four) in sums.iter_mut().zip(line) {
            let four = four & kept;
            // Each byte sign-extended; the sum of the four cannot overflow.
            let all = (four << 24 >> 24) + (four << 16 >> 24) + (four << 8 >> 24) + (four >> 24);
            *sum = sum.wrapping_add(all);
        }
    }
    for (at, (strip, sums)) in strips.chunks_mut(rows).zip(sums.as_chunks::<16>().0).enumerate() {
        let valid = width.saturating_sub(16 * at).min(16);
        let taken = sums.map(|sum| sum.wrapping_mul(128));
        for row in &mut strip[..m] {
            for (bytes, taken) in row.as_chunks_mut::<4>().0[..valid].iter_mut().zip(taken) {
                *bytes = i32::from_le_bytes(*bytes).wrapping_sub(taken).to_le_bytes();
            }
        }
    }
}
