//! Operands packed into the form that the kernel reads.

use crate::matmul::operands::PANEL;
use crate::matmul::term::Term;
use crate::{BLayout, Layout, SLayout};

/// Both operands, packed.
#[derive(Default, Debug)]
pub(super) struct Packed<T> {
    a: Vec<[T; PANEL]>,
    b: Vec<[T; PANEL]>,
}

impl<T: Term> Packed<T> {
    /// Ensures capacity for this many lines of A and of B.
    pub(super) fn lines(&mut self, a: usize, b: usize) -> (&mut [[T; PANEL]], &mut [[T; PANEL]]) {
        if self.a.len() < a {
            self.a.resize(a, [T::default(); PANEL]);
        }
        if self.b.len() < b {
            self.b.resize(b, [T::default(); PANEL]);
        }
        (&mut self.a[..a], &mut self.b[..b])
    }
}

/// Packs rows `0..rows`, columns `col..col + 32` of a tile; columns past the tile's last are left unchanged.
pub(super) fn panel<T: Term>(layout: &Layout, bytes: &[u8], rows: usize, col: usize, out: &mut [[T; PANEL]]) {
    let cols = (layout.cols as usize - col).min(PANEL);
    let size = layout.elem.bytes();
    if layout.slayout == SLayout::NoneBox {
        match layout.blayout {
            BLayout::RowMajor => {
                for (row, line) in out[..rows].iter_mut().enumerate() {
                    let at = layout.offset(row as u32, col as u32);
                    T::load(layout.elem, &bytes[at..at + cols * size], &mut line[..cols]);
                }
            }
            BLayout::ColMajor => {
                let mut column = [T::default(); PANEL];
                for c in 0..cols {
                    for (first, lines) in (0..rows).step_by(PANEL).zip(out[..rows].chunks_mut(PANEL)) {
                        let at = layout.offset(first as u32, (col + c) as u32);
                        T::load(layout.elem, &bytes[at..at + lines.len() * size], &mut column);
                        for (line, x) in lines.iter_mut().zip(column) {
                            line[c] = x;
                        }
                    }
                }
            }
        }
        return;
    }
    let (box_rows, box_cols) = layout.box_shape();
    let (box_rows, box_cols) = (box_rows as usize, box_cols as usize);
    let count = box_rows * box_cols;
    let mut values = [T::default(); 1024];
    for row in (0..rows).step_by(box_rows) {
        // A box may be wider than a panel (8-bit elements in boxes of 1024 bytes).
        for c in (col / box_cols * box_cols..col + cols).step_by(box_cols) {
            let at = layout.offset(row as u32, c as u32);
            for (from, v) in values[..count].chunks_mut(256).enumerate() {
                let n = v.len();
                T::load(layout.elem, &bytes[at + from * 256 * size..][..n * size], v);
            }
            let lines = &mut out[row..rows.min(row + box_rows)];
            let values = &values[..count];
            match (layout.slayout, box_rows, box_cols) {
                (SLayout::RowMajor, 16, 8) => rows_of_box::<T, 8>(values, lines, c - col),
                (SLayout::RowMajor, 16, 16) => rows_of_box::<T, 16>(values, lines, c - col),
                (SLayout::RowMajor, 16, 32) => rows_of_box::<T, 32>(values, lines, c - col),
                (SLayout::ColMajor, 8, 16) => columns_of_box::<T, 8>(values, lines, c - col),
                (SLayout::ColMajor, 16, 16) => columns_of_box::<T, 16>(values, lines, c - col),
                (SLayout::ColMajor, 32, 16) => columns_of_box::<T, 32>(values, lines, c - col),
                (slayout, ..) => {
                    for (i, line) in lines.iter_mut().enumerate() {
                        for j in 0..box_cols {
                            let Some(to) = (c + j).checked_sub(col).filter(|to| *to < PANEL) else { continue };
                            let from = if slayout == SLayout::RowMajor { i * box_cols + j } else { j * box_rows + i };
                            line[to] = values[from];
                        }
                    }
                }
            }
        }
    }
}

/// Combines each two rows into pairs, each element with the one below it, a missing one being zero. The pairs are moved
/// to the front.
pub(super) fn pair_rows<T: Term>(lines: &mut [[T; PANEL]]) -> &mut [[T; PANEL]] {
    let rows = lines.len();
    for row in 0..rows.div_ceil(2) {
        let (low, high) = (lines[2 * row], lines.get(2 * row + 1).copied().unwrap_or([T::default(); PANEL]));
        lines[row] = std::array::from_fn(|i| T::pair(low[i], high[i]));
    }
    &mut lines[..rows.div_ceil(2)]
}

/// Combines each two columns into pairs, in panels of `rows` lines: two panels become one, moved to the front. An
/// element without a partner is paired with an uninitialised one.
pub(super) fn pair_columns<T: Term>(lines: &mut [[T; PANEL]], rows: usize) {
    let panels = lines.len() / rows.max(1);
    for to in 0..panels.div_ceil(2) {
        for row in 0..rows {
            let first = lines[2 * to * rows + row];
            let second = lines.get((2 * to + 1) * rows + row).copied().unwrap_or(first);
            lines[to * rows + row] = std::array::from_fn(|i| {
                let (line, at) = if i < PANEL / 2 { (&first, 2 * i) } else { (&second, 2 * i - PANEL) };
                T::pair(line[at], line[at + 1])
            });
        }
    }
}

fn rows_of_box<T: Term, const W: usize>(values: &[T], lines: &mut [[T; PANEL]], at: usize) {
    for (line, v) in lines.iter_mut().zip(values.as_chunks::<W>().0) {
        line[at..at + W].copy_from_slice(v);
    }
}

/// Transposes a box of 16 columns of `V` elements each. One round interleaves the first half of the elements with the
/// second, which rotates the bits of each element's index by one; four rounds move the four bits of the column to the
/// end. All moves are of whole vectors.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2"))]
fn columns_of_box<T: Term, const V: usize>(values: &[T], lines: &mut [[T; PANEL]], at: usize) {
    let mut x: [[T; 16]; V] = values.as_chunks().0.try_into().unwrap();
    for _ in 0..4 {
        let mut y = [[T::default(); 16]; V];
        for i in 0..V / 2 {
            for j in 0..8 {
                y[2 * i][2 * j] = x[i][j];
                y[2 * i][2 * j + 1] = x[i + V / 2][j];
                y[2 * i + 1][2 * j] = x[i][j + 8];
                y[2 * i + 1][2 * j + 1] = x[i + V / 2][j + 8];
            }
        }
        x = y;
    }
    for (line, v) in lines.iter_mut().zip(x) {
        line[at..at + 16].copy_from_slice(&v);
    }
}
