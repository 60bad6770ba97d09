//! Moving rectangles of elements between tiles and buffers of any layout.
//!
//! Every [`Layout`], and every strided view of global memory, places element (row, column) at a row offset plus a
//! column offset, and each of the two advances evenly within a box. A [`View`] holds just these offsets. Whatever the
//! layouts, a copy is then a walk over stretches in which both sides advance evenly; contiguous stretches are moved by
//! `memcpy`.

use std::fmt;

use crate::rounding::{RoundMode, Saturation};
use crate::{BLayout, Elem, Layout, SLayout, convert};

/// Offsets along one direction: index `i` lies at `i / period * outer + i % period * inner` bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Axis {
    /// The index where the view starts.
    start: usize,
    /// Indices from the start to the edge of the tile.
    len: usize,
    period: usize,
    inner: usize,
    outer: usize,
}

impl Axis {
    fn even(step: usize, start: usize, len: usize) -> Axis {
        Axis { start, len, period: usize::MAX, inner: step, outer: 0 }
    }

    fn at(&self, i: usize) -> usize {
        let i = self.start + i;
        if i < self.period { i * self.inner } else { i / self.period * self.outer + i % self.period * self.inner }
    }

    /// The offset of the first index, and the same axis from there on with one step throughout where the first `n` indices
    /// have one.
    fn within(&self, n: usize) -> (usize, Axis) {
        if self.period == usize::MAX || self.even_from(0) < n {
            return (0, *self);
        }
        (self.at(0), Axis::even(self.inner, 0, n))
    }

    /// True if all indices have one step.
    fn is_even(&self) -> bool {
        self.period == usize::MAX
    }

    /// Indices from `i` on, itself included, that lie evenly `inner` bytes apart.
    fn even_from(&self, i: usize) -> usize {
        self.period - (self.start + i) % self.period
    }
}

/// Where the elements of a rectangle lie in a slice of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The type of the elements.
    pub elem: Elem,
    base: usize,
    rows: Axis,
    cols: Axis,
}

/// A rectangle does not lie within the tile or its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfBounds;

impl fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rectangle does not lie within the tile")
    }
}

impl std::error::Error for OutOfBounds {}

/// How elements are converted where the types of source and destination differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Cast {
    pub mode: RoundMode,
    pub saturation: Saturation,
}

impl View {
    /// The elements of a tile from (`row`, `col`) on.
    pub fn tile(layout: &Layout, row: usize, col: usize) -> View {
        let size = layout.elem.bytes();
        let (rows, cols) = (layout.rows as usize, layout.cols as usize);
        let (down, right) = (rows.saturating_sub(row), cols.saturating_sub(col));
        let row_major = layout.blayout == BLayout::RowMajor;
        let (br, bc) = layout.box_shape();
        let (br, bc) = (br.max(1) as usize, bc.max(1) as usize);
        let whole = br * bc * size;
        let (row_inner, col_inner) = match (layout.slayout, row_major) {
            (SLayout::NoneBox, true) => (cols * size, size),
            (SLayout::NoneBox, false) => (size, rows * size),
            (SLayout::RowMajor, _) => (bc * size, size),
            (SLayout::ColMajor, _) => (size, br * size),
        };
        let axis = |start, len, period, inner, outer| {
            let boxed = layout.slayout != SLayout::NoneBox && period * inner != outer;
            if boxed { Axis { start, len, period, inner, outer } } else { Axis::even(inner, start, len) }
        };
        View {
            elem: layout.elem,
            base: 0,
            rows: axis(row, down, br, row_inner, if row_major { (cols / bc).saturating_mul(whole) } else { whole }),
            cols: axis(col, right, bc, col_inner, if row_major { whole } else { (rows / br).saturating_mul(whole) }),
        }
    }

    /// Elements at `base + row * row_stride + col * col_stride` bytes, as in global memory.
    pub fn strided(elem: Elem, base: usize, row_stride: usize, col_stride: usize) -> View {
        let axis = |stride| Axis::even(stride, 0, usize::MAX);
        View { elem, base, rows: axis(row_stride), cols: axis(col_stride) }
    }

    /// The same elements with rows and columns exchanged.
    pub fn transposed(self) -> View {
        View { rows: self.cols, cols: self.rows, ..self }
    }

    /// The first row repeated without end: an operand with one row for all.
    pub fn repeat_row(self) -> View {
        View { base: self.base + self.rows.at(0), rows: Axis::even(0, 0, usize::MAX), ..self }
    }

    /// The first column repeated without end: an operand with one element for each row.
    pub fn repeat_col(self) -> View {
        View { base: self.base + self.cols.at(0), cols: Axis::even(0, 0, usize::MAX), ..self }
    }

    /// The same first rows and columns, with even steps where boxes make no difference to them.
    fn within(&self, rows: usize, cols: usize) -> View {
        let ((down, rows), (right, cols)) = (self.rows.within(rows), self.cols.within(cols));
        View { elem: self.elem, base: self.base + down + right, rows, cols }
    }

    /// The view as a single row of `rows * cols` elements, if it lies in memory as one.
    pub(crate) fn flat(self, rows: usize, cols: usize) -> Option<View> {
        let size = self.elem.bytes();
        if self.is_one_for_row() && self.transposed().is_one_for_row() {
            return Some(self);
        }
        let one_row =
            self.rows.is_even() && self.cols.is_even() && self.cols.inner == size && self.rows.inner == cols * size;
        let at = self.offset(0, 0);
        one_row.then(|| View { cols: Axis::even(size, 0, rows * cols), ..View::strided(self.elem, at, 0, size) })
    }

    /// Where the first row begins and how far apart rows are, if each is `cols` elements without a gap, and all steps are even.
    fn lines(&self, cols: usize) -> Option<(usize, usize)> {
        let together = cols == 1 || (self.cols.inner == self.elem.bytes() && self.cols.is_even());
        (together && self.rows.is_even()).then(|| (self.offset(0, 0), self.rows.inner))
    }

    /// Byte offset of element (`row`, `col`) of the view.
    pub fn offset(&self, row: usize, col: usize) -> usize {
        self.base + self.rows.at(row) + self.cols.at(col)
    }

    /// Whether a rectangle from the start of the view lies within its tile and within `len` bytes.
    pub fn holds(&self, rows: usize, cols: usize, len: usize) -> bool {
        if rows == 0 || cols == 0 {
            return true;
        }
        let end = |axis: &Axis, n: usize| {
            let last = axis.start.checked_add(n - 1)?;
            // Offsets grow with the index, so that no smaller one overflows if the last does not.
            let (high, low) = (last / axis.period, last % axis.period);
            high.checked_mul(axis.outer)?.checked_add(low.checked_mul(axis.inner)?)
        };
        let last = end(&self.rows, rows).and_then(|r| r.checked_add(end(&self.cols, cols)?));
        let last = last.and_then(|at| at.checked_add(self.base)?.checked_add(self.elem.bytes()));
        rows <= self.rows.len && cols <= self.cols.len && last.is_some_and(|last| last <= len)
    }

    /// Whether all elements of a row are one and the same.
    pub(crate) fn is_one_for_row(&self) -> bool {
        (self.cols.inner, self.cols.outer) == (0, 0)
    }

    /// Elements of a row from its start that are contiguous, or one and the same.
    pub(crate) fn contiguous(&self, cols: usize) -> usize {
        if self.is_one_for_row() {
            return cols;
        }
        if self.cols.inner == self.elem.bytes() { self.cols.even_from(0).min(cols) } else { 1 }
    }
}

/// Rows whose offsets are worked out together.
const ROWS: usize = 64;
/// Elements converted together.
const CHUNK: usize = 256;

/// Copies `rows` × `cols` elements between two views, converting them if the types differ.
pub fn copy(
    dst: &mut [u8],
    to: &View,
    src: &[u8],
    from: &View,
    rows: usize,
    cols: usize,
    cast: Cast,
) -> Result<(), OutOfBounds> {
    if !to.holds(rows, cols, dst.len()) || !from.holds(rows, cols, src.len()) {
        return Err(OutOfBounds);
    }
    let (to, from) = (&to.within(rows, cols), &from.within(rows, cols));
    // Walk along the direction in which both sides are contiguous for longer.
    let by_row = to.contiguous(cols).min(from.contiguous(cols));
    let (to_down, from_down) = (to.transposed(), from.transposed());
    if by_row < to_down.contiguous(rows).min(from_down.contiguous(rows)) {
        copy_rows(dst, &to_down, src, &from_down, cols, rows, cast);
    } else {
        copy_rows(dst, to, src, from, rows, cols, cast);
    }
    Ok(())
}

fn copy_rows(dst: &mut [u8], to: &View, src: &[u8], from: &View, rows: usize, cols: usize, cast: Cast) {
    if to.elem != from.elem {
        let (mut narrow, mut wide) = ([0; CHUNK * 8], [0; CHUNK * 8]);
        for row in 0..rows {
            for col in (0..cols).step_by(CHUNK) {
                let n = (cols - col).min(CHUNK);
                let taken = &mut narrow[..n * from.elem.bytes()];
                let given = &mut wide[..n * to.elem.bytes()];
                read_row(src, from, row, col, taken);
                convert::convert(from.elem, taken, to.elem, given, cast.mode, cast.saturation);
                write_row(dst, to, row, col, given);
            }
        }
        return;
    }
    let size = to.elem.bytes();
    if let (Some(to), Some(from)) = (to.lines(cols), from.lines(cols)) {
        return copy_lines(dst, to, src, from, rows, cols * size);
    }
    for first in (0..rows).step_by(ROWS) {
        let count = (rows - first).min(ROWS);
        let mut lines = [(0, 0); ROWS];
        for (row, line) in (first..).zip(&mut lines[..count]) {
            *line = (to.base + to.rows.at(row), from.base + from.rows.at(row));
        }
        let mut col = 0;
        while col < cols {
            let n = to.cols.even_from(col).min(from.cols.even_from(col)).min(cols - col);
            let (d, s) = (to.cols.at(col), from.cols.at(col));
            let (to_step, from_step) = (to.cols.inner, from.cols.inner);
            for (to_row, from_row) in &lines[..count] {
                let (dst, src) = (&mut dst[to_row + d..], &src[from_row + s..]);
                if to_step == size && from_step == size {
                    move_bytes(dst, src, n * size);
                } else {
                    move_elements(dst, to_step, src, from_step, n, size);
                }
            }
            col += n;
        }
    }
}

/// Copies lines of `n` bytes, each side given by where its first one begins and how far apart they are.
fn copy_lines(
    dst: &mut [u8],
    (to, down): (usize, usize),
    src: &[u8],
    (from, from_down): (usize, usize),
    rows: usize,
    n: usize,
) {
    /// Of a length that is known: each line is some moves of whole vectors.
    fn of<const N: usize>(dst: &mut [u8], down: usize, src: &[u8], from_down: usize, rows: usize) {
        for row in 0..rows {
            dst[row * down..][..N].copy_from_slice(&src[row * from_down..][..N]);
        }
    }
    if rows == 0 || n == 0 {
        return;
    }
    let (dst, src) = (&mut dst[to..], &src[from..]);
    match n {
        _ if rows == 1 || (down == n && from_down == n) => dst[..rows * n].copy_from_slice(&src[..rows * n]),
        32 => of::<32>(dst, down, src, from_down, rows),
        64 => of::<64>(dst, down, src, from_down, rows),
        128 => of::<128>(dst, down, src, from_down, rows),
        256 => of::<256>(dst, down, src, from_down, rows),
        _ => (0..rows).for_each(|row| dst[row * down..][..n].copy_from_slice(&src[row * from_down..][..n])),
    }
}

/// A copy, the lengths of box lines at once.
#[inline]
fn move_bytes(dst: &mut [u8], src: &[u8], n: usize) {
    match n {
        32 => dst[..32].copy_from_slice(&src[..32]),
        64 => dst[..64].copy_from_slice(&src[..64]),
        _ => dst[..n].copy_from_slice(&src[..n]),
    }
}

#[inline]
fn move_elements(dst: &mut [u8], to_step: usize, src: &[u8], from_step: usize, n: usize, size: usize) {
    fn of<const N: usize>(dst: &mut [u8], to_step: usize, src: &[u8], from_step: usize, n: usize) {
        for i in 0..n {
            dst[i * to_step..][..N].copy_from_slice(&src[i * from_step..][..N]);
        }
    }
    match size {
        1 => of::<1>(dst, to_step, src, from_step, n),
        2 => of::<2>(dst, to_step, src, from_step, n),
        4 => of::<4>(dst, to_step, src, from_step, n),
        _ => of::<8>(dst, to_step, src, from_step, n),
    }
}

/// Copies `rows` × `cols` elements from (`sr`, `sc`) of one tile to (`dr`, `dc`) of another.
#[allow(clippy::too_many_arguments)]
pub fn copy_rect(
    dst: &mut [u8],
    dst_layout: &Layout,
    (dr, dc): (usize, usize),
    src: &[u8],
    src_layout: &Layout,
    (sr, sc): (usize, usize),
    rows: usize,
    cols: usize,
    cast: Cast,
) -> Result<(), OutOfBounds> {
    let whole = (dr, dc, sr, sc) == (0, 0, 0, 0)
        && dst_layout == src_layout
        && (rows, cols) == (src_layout.rows as usize, src_layout.cols as usize);
    let bytes = src_layout.bytes();
    if whole && bytes <= dst.len() && bytes <= src.len() {
        dst[..bytes].copy_from_slice(&src[..bytes]);
        return Ok(());
    }
    let (to, from) = (View::tile(dst_layout, dr, dc), View::tile(src_layout, sr, sc));
    copy(dst, &to, src, &from, rows, cols, cast)
}

/// Reads as many elements of row `row` from column `col` on as `out` holds, contiguously. The elements must
/// lie within `bytes` (see [`View::holds`]).
pub fn read_row(bytes: &[u8], view: &View, row: usize, col: usize, out: &mut [u8]) {
    let size = view.elem.bytes();
    let line = view.base + view.rows.at(row);
    each_even(view, col, out.len() / size, |at, done, n| {
        let (src, out) = (&bytes[line + at..], &mut out[done * size..]);
        if view.cols.inner == size {
            move_bytes(out, src, n * size);
        } else {
            move_elements(out, size, src, view.cols.inner, n, size);
        }
    });
}

/// Writes the elements of `values` to row `row` from column `col` on; the reverse of [`read_row`].
pub fn write_row(bytes: &mut [u8], view: &View, row: usize, col: usize, values: &[u8]) {
    let size = view.elem.bytes();
    let line = view.base + view.rows.at(row);
    each_even(view, col, values.len() / size, |at, done, n| {
        let (dst, values) = (&mut bytes[line + at..], &values[done * size..]);
        if view.cols.inner == size {
            move_bytes(dst, values, n * size);
        } else {
            move_elements(dst, view.cols.inner, values, size, n, size);
        }
    });
}

/// Calls `f(byte offset, elements before, elements)` for the even stretches of `count` elements of a row.
#[inline(always)]
fn each_even(view: &View, col: usize, count: usize, mut f: impl FnMut(usize, usize, usize)) {
    let mut done = 0;
    while done < count {
        let n = view.cols.even_from(col + done).min(count - done);
        f(view.cols.at(col + done), done, n);
        done += n;
    }
}

/// The contiguous bytes of `n` elements of a row, if they are contiguous: no copy is needed then.
pub fn row_range(view: &View, row: usize, col: usize, n: usize) -> Option<std::ops::Range<usize>> {
    let size = view.elem.bytes();
    let contiguous = n <= 1 || (view.cols.inner == size && view.cols.even_from(col) >= n);
    let at = view.offset(row, col);
    contiguous.then_some(at..at + n * size)
}

/// As [`read_row`], converted to `f32` (see [`crate::load_f32`]).
pub fn read_row_f32(bytes: &[u8], view: &View, row: usize, col: usize, out: &mut [f32]) {
    if let Some(range) = row_range(view, row, col, out.len()) {
        return convert::load_f32(view.elem, &bytes[range], out);
    }
    let mut chunk = [0; CHUNK * 8];
    for (i, out) in out.chunks_mut(CHUNK).enumerate() {
        let chunk = &mut chunk[..out.len() * view.elem.bytes()];
        read_row(bytes, view, row, col + i * CHUNK, chunk);
        convert::load_f32(view.elem, chunk, out);
    }
}

/// Writes `value` (the bytes of one element) to every element of a rectangle.
pub fn fill_rect(dst: &mut [u8], to: &View, rows: usize, cols: usize, value: &[u8]) -> Result<(), OutOfBounds> {
    if !to.holds(rows, cols, dst.len()) || value.len() != to.elem.bytes() {
        return Err(OutOfBounds);
    }
    let mut chunk = [0; CHUNK * 8];
    let width = cols.min(CHUNK);
    chunk[..width * value.len()].chunks_mut(value.len()).for_each(|e| e.copy_from_slice(value));
    for row in 0..rows {
        for col in (0..cols).step_by(CHUNK) {
            write_row(dst, to, row, col, &chunk[..(cols - col).min(CHUNK) * value.len()]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn layout() -> impl Strategy<Value = Layout> {
        let elem = prop::sample::select(Elem::ALL.into_iter().filter(|e| e.values() == 1).collect::<Vec<_>>());
        (elem, 1u32..4, 1u32..4, any::<bool>(), 0usize..3, any::<bool>()).prop_map(|(elem, r, c, row_major, s, big)| {
            let blayout = if row_major { BLayout::RowMajor } else { BLayout::ColMajor };
            let slayout = [SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor][s];
            let mut layout = Layout { elem, rows: 1, cols: 1, blayout, slayout, fractal: if big { 1024 } else { 512 } };
            let (br, bc) = if slayout == SLayout::NoneBox { (13, 9) } else { layout.box_shape() };
            (layout.rows, layout.cols) = (br * r, bc * c);
            layout
        })
    }

    fn pattern(n: usize) -> Vec<u8> {
        (0..n).map(|i| (i * 7 + i / 251) as u8).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn views_agree_with_layouts(layout in layout(), at in any::<prop::sample::Index>()) {
            let i = at.index((layout.rows * layout.cols) as usize) as u32;
            let (r, c) = (i / layout.cols, i % layout.cols);
            let view = View::tile(&layout, r as usize / 2, c as usize / 3);
            let (down, right) = ((r - r / 2) as usize, (c - c / 3) as usize);
            prop_assert_eq!(view.offset(down, right), layout.offset(r, c));
            prop_assert_eq!(view.transposed().offset(right, down), layout.offset(r, c));
        }

        #[test]
        fn rectangles_move_element_by_element(
            to in layout(), from in layout(), same in any::<bool>(),
            corner in (0usize..40, 0usize..40, 0usize..40, 0usize..40), extent in (0usize..60, 0usize..60),
        ) {
            let from = if same { Layout { elem: to.elem, ..from } } else { from };
            prop_assume!(from.is_whole());
            let (dr, dc) = (corner.0 % to.rows as usize, corner.1 % to.cols as usize);
            let (sr, sc) = (corner.2 % from.rows as usize, corner.3 % from.cols as usize);
            let rows = extent.0.min(to.rows as usize - dr).min(from.rows as usize - sr);
            let cols = extent.1.min(to.cols as usize - dc).min(from.cols as usize - sc);
            let src = pattern(from.bytes());
            let mut dst = vec![0xee; to.bytes()];
            let mut want = dst.clone();
            copy_rect(&mut dst, &to, (dr, dc), &src, &from, (sr, sc), rows, cols, Cast::default()).unwrap();
            for r in 0..rows {
                for c in 0..cols {
                    let s = from.offset((sr + r) as u32, (sc + c) as u32);
                    let d = to.offset((dr + r) as u32, (dc + c) as u32);
                    let (one, out) = (&src[s..s + from.elem.bytes()], &mut want[d..d + to.elem.bytes()]);
                    convert::convert(from.elem, one, to.elem, out, RoundMode::Rint, false);
                }
            }
            prop_assert_eq!(dst, want);
        }

        #[test]
        fn global_memory_in_and_out(tile in layout(), gap in 0usize..9, column_major: bool) {
            let (rows, cols, size) = (tile.rows as usize, tile.cols as usize, tile.elem.bytes());
            let (row_stride, col_stride) =
                if column_major { (size * 2, (rows + gap) * size * 2) } else { ((cols + gap) * size, size) };
            let memory = View::strided(tile.elem, 3, row_stride, col_stride);
            let src = pattern(memory.offset(rows - 1, cols - 1) + size);
            let mut bytes = vec![0; tile.bytes()];
            copy(&mut bytes, &View::tile(&tile, 0, 0), &src, &memory, rows, cols, Cast::default()).unwrap();
            let mut back = vec![0; src.len()];
            copy(&mut back, &memory, &bytes, &View::tile(&tile, 0, 0), rows, cols, Cast::default()).unwrap();
            for (r, c) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                let (m, t) = (memory.offset(r, c), tile.offset(r as u32, c as u32));
                prop_assert_eq!(&bytes[t..t + size], &src[m..m + size]);
                prop_assert_eq!(&back[m..m + size], &src[m..m + size]);
            }
        }

        #[test]
        fn rows_and_fills(tile in layout(), row in 0usize..40, col in 0usize..40, n in 0usize..60) {
            let (row, col) = (row % tile.rows as usize, col % tile.cols as usize);
            let n = n.min(tile.cols as usize - col);
            let size = tile.elem.bytes();
            let (bytes, view) = (pattern(tile.bytes()), View::tile(&tile, 0, 0));
            let mut line = vec![0; n * size];
            read_row(&bytes, &view, row, col, &mut line);
            for (c, e) in line.chunks(size).enumerate() {
                let at = tile.offset(row as u32, (col + c) as u32);
                prop_assert_eq!(e, &bytes[at..at + size]);
            }
            let mut other = vec![0; bytes.len()];
            write_row(&mut other, &view, row, col, &line);
            let mut floats = vec![0.0; n];
            read_row_f32(&bytes, &view, row, col, &mut floats);
            let mut expect = vec![0.0; n];
            convert::load_f32(tile.elem, &line, &mut expect);
            prop_assert!(floats.iter().zip(&expect).all(|(a, b)| a.to_bits() == b.to_bits()));
            let part = View::tile(&tile, row, col);
            fill_rect(&mut other, &part, 1, n, &[0; 8][..size]).unwrap();
            prop_assert!(other.iter().all(|b| *b == 0));
        }
    }

    #[test]
    fn outside_is_refused() {
        let tile = Layout::nz(Elem::F16, 32, 32);
        let view = View::tile(&tile, 16, 16);
        assert!(view.holds(16, 16, 2048) && !view.holds(17, 16, 2048) && !view.holds(16, 17, 2048));
        assert!(!view.holds(16, 16, 2047) && view.holds(0, 99, 0));
        assert!(!View::tile(&tile, 40, 0).holds(1, 1, 2048));
        let far = View::strided(Elem::F32, usize::MAX - 8, usize::MAX / 2, 4);
        assert!(!far.holds(3, 1, 100) && !far.holds(1, 9, 100));
        assert_eq!(copy(&mut [0; 4], &far, &[0; 64], &far, 2, 2, Cast::default()), Err(OutOfBounds));
    }
}
