//! Per-element operations on tiles of any layout.

use crate::copy::{OutOfBounds, View, read_row, row_range, write_row};
use crate::lanes::{Arg, PerElement};

/// Elements gathered at a time if a row is not contiguous.
const CHUNK: usize = 256;

impl<const N: usize> PerElement<N> {
    /// `dst[r, c] = op(args[r, c]…)` for `rows` × `cols` elements of views of any layouts, all of the type of `to`
    /// (`Ok(false)`, and nothing written, if the operation does not support it or an argument is of another type).
    /// Operands with one row, one column or one element for all are views made by [`View::repeat_row`] and
    /// [`View::repeat_col`].
    pub fn run_views(
        &self,
        dst: &mut [u8],
        to: View,
        args: [(&[u8], View); N],
        rows: usize,
        cols: usize,
    ) -> Result<bool, OutOfBounds> {
        let elem = to.elem;
        if !self.supports(elem) || args.iter().any(|(_, view)| view.elem != elem) {
            return Ok(false);
        }
        let held = args.iter().all(|(bytes, view)| view.holds(rows, cols, bytes.len()));
        if !held || !to.holds(rows, cols, dst.len()) {
            return Err(OutOfBounds);
        }
        if rows == 0 || cols == 0 {
            return Ok(true);
        }
        let flat = args.map(|(bytes, view)| view.flat(rows, cols).map(|view| (bytes, view)));
        if let (Some(to), true) = (to.flat(rows, cols), flat.iter().all(Option::is_some)) {
            self.by_rows(dst, to, std::array::from_fn(|i| flat[i].unwrap_or(args[i])), 1, rows * cols);
            return Ok(true);
        }
        // Walk along the direction with the longer contiguous stretches.
        let least = |along: fn(View) -> View, n: usize| {
            args.iter().map(|(_, view)| along(*view).contiguous(n)).fold(along(to).contiguous(n), usize::min)
        };
        if least(|view| view, cols) < least(View::transposed, rows) {
            let args = args.map(|(bytes, view)| (bytes, view.transposed()));
            self.by_rows(dst, to.transposed(), args, cols, rows);
        } else {
            self.by_rows(dst, to, args, rows, cols);
        }
        Ok(true)
    }

    fn by_rows(&self, dst: &mut [u8], to: View, args: [(&[u8], View); N], rows: usize, cols: usize) {
        let size = to.elem.bytes();
        let whole = |view: &View| row_range(view, 0, 0, cols).is_some();
        let step = if whole(&to) && args.iter().all(|(_, view)| whole(view)) { cols.max(1) } else { CHUNK };
        let mut buffers = [[0; CHUNK * 8]; N];
        let mut result = [0; CHUNK * 8];
        for (row, col) in (0..rows).flat_map(|row| (0..cols).step_by(step).map(move |col| (row, col))) {
            let n = (cols - col).min(step);
            for (buffer, (bytes, view)) in buffers.iter_mut().zip(&args) {
                if view.is_one_for_row() {
                    let filled = col > 0 || (row > 0 && view.offset(row, 0) == view.offset(row - 1, 0));
                    if !filled {
                        repeat(&bytes[view.offset(row, 0)..][..size], &mut buffer[..n * size]);
                    }
                } else if row_range(view, row, col, n).is_none() {
                    read_row(bytes, view, row, col, &mut buffer[..n * size]);
                }
            }
            let operands = std::array::from_fn(|i| {
                let (bytes, view) = &args[i];
                Arg::Slice(match row_range(view, row, col, n) {
                    Some(range) if !view.is_one_for_row() => &bytes[range],
                    _ => &buffers[i][..n * size],
                })
            });
            if let Some(range) = row_range(&to, row, col, n) {
                self.run_args(to.elem, operands, &mut dst[range]);
            } else {
                self.run_args(to.elem, operands, &mut result[..n * size]);
                write_row(dst, &to, row, col, &result[..n * size]);
            }
        }
    }
}

/// Writes one element over and over.
fn repeat(element: &[u8], out: &mut [u8]) {
    fn of<const SIZE: usize>(element: &[u8], out: &mut [u8]) {
        let mut bytes = [0; SIZE];
        bytes.copy_from_slice(element);
        out.as_chunks_mut().0.fill(bytes);
    }
    match element.len() {
        1 => of::<1>(element, out),
        2 => of::<2>(element, out),
        4 => of::<4>(element, out),
        _ => of::<8>(element, out),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{BLayout, Binary, Elem, Layout, OutOfBounds, SLayout, View, binary};

    static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));

    fn layout(which: usize, elem: Elem, rows: u32, cols: u32) -> Layout {
        let blayout = if which.is_multiple_of(2) { BLayout::RowMajor } else { BLayout::ColMajor };
        let slayout = [SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor][which / 2];
        Layout { elem, rows, cols, blayout, slayout, fractal: 512 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn any_layouts_and_repeats(
            which in (0usize..6, 0usize..6, 0usize..6), kind in 0usize..4, elem in 0usize..3,
            (rb, cb) in (1u32..3, 1u32..10), at in (0usize..30, 0usize..30), cut in (0usize..30, 0usize..30),
        ) {
            let elem = [Elem::I16, Elem::U8, Elem::F32][elem];
            let (rows, cols) = (rb * 32, cb * 32);
            let (la, lb, lc) =
                (layout(which.0, elem, rows, cols), layout(which.1, elem, rows, cols), layout(which.2, elem, rows, cols));
            // Small numbers, so that the sums of floats are the sums of their values.
            let fill = |layout: &Layout, k: usize| {
                let values: Vec<f32> = (0..(rows * cols) as usize).map(|i| (i * k % 97) as f32).collect();
                let mut bytes = vec![0; layout.bytes()];
                crate::store_f32(elem, &values, &mut bytes);
                bytes
            };
            let (a, b) = (fill(&la, 7), fill(&lb, 11));
            let mut c = fill(&lc, 13);
            let mut want = c.clone();
            let (m, n) = (rows as usize - at.0.max(cut.0), cols as usize - at.1.max(cut.1));
            let view_b = View::tile(&lb, at.0, at.1);
            let view_b = match kind {
                0 => view_b,
                1 => view_b.repeat_row(),
                2 => view_b.repeat_col(),
                _ => view_b.repeat_row().repeat_col(),
            };
            let (view_a, view_c) = (View::tile(&la, cut.0, cut.1), View::tile(&lc, at.0, at.1));
            prop_assert_eq!(ADD.run_views(&mut c, view_c, [(&a, view_a), (&b, view_b)], m, n), Ok(true));
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let (br, bc) = (if kind & 1 == 1 { 0 } else { row }, if kind & 2 == 2 { 0 } else { col });
                let x = la.offset((cut.0 + row) as u32, (cut.1 + col) as u32);
                let y = lb.offset((at.0 + br) as u32, (at.1 + bc) as u32);
                let z = lc.offset((at.0 + row) as u32, (at.1 + col) as u32);
                let size = elem.bytes();
                prop_assert!(ADD.run(elem, &a[x..x + size], &b[y..y + size], &mut want[z..z + size]));
            }
            prop_assert_eq!(c, want);
        }
    }

    #[test]
    fn refusals() {
        let tile = Layout::nd(Elem::F32, 4, 4);
        let view = View::tile(&tile, 0, 0);
        let half = View::tile(&Layout::nd(Elem::F16, 4, 4), 0, 0);
        let (a, mut c) = (vec![0; 64], vec![0; 64]);
        assert_eq!(ADD.run_views(&mut c, view, [(&a, view), (&a, view)], 5, 4), Err(OutOfBounds));
        assert_eq!(ADD.run_views(&mut c, view, [(&a, view), (&a, half)], 4, 4), Ok(false));
        assert_eq!(ADD.run_views(&mut c, view, [(&a, view), (&a, view)], 4, 0), Ok(true));
    }
}
