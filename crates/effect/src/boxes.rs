//! Moves between tiles, in the longest stretches that are contiguous in both layouts.

use slipring_tile::copy::{OutOfBounds, View};
use slipring_tile::{BLayout, Layout, SLayout};

use super::{Finish, Payload, Scales};

/// A rectangle of a tile: its layout, first row and column.
#[derive(Clone, Copy, Debug)]
pub struct Corner<'a> {
    /// The layout of the tile.
    pub layout: &'a Layout,
    /// First row and column.
    pub at: (u32, u32),
}

/// Bytes of a line of a box, for boxes of 512 bytes.
const LINE: usize = 32;

impl Finish {
    /// Moves `rows` × `cols` elements between two tiles. `scales` are used only with a `scale`, starting at the first
    /// column that moves.
    ///
    /// # Errors
    /// If the rectangle is not within its bytes.
    pub fn run_tiles(
        self,
        (dst, to): (&mut [u8], Corner<'_>),
        (src, from): (&[u8], Corner<'_>),
        (rows, cols): (u32, u32),
        scales: Scales<'_>,
    ) -> Result<(), OutOfBounds> {
        let in_lines = self.scale != Some(Payload::Table);
        if let Some((a, b, lines, length)) = same_order(&to, &from, rows, cols).filter(|_| in_lines) {
            return self.run(dst, &a, src, &b, lines, length, scales);
        }
        let held = dst.len() >= to.layout.bytes() && src.len() >= from.layout.bytes();
        if self == Finish::default() && held && by_boxes((dst, &to), (src, &from), rows, cols) {
            return Ok(());
        }
        let view = |corner: &Corner<'_>| View::tile(corner.layout, corner.at.0 as usize, corner.at.1 as usize);
        self.run(dst, &view(&to), src, &view(&from), rows as usize, cols as usize, scales)
    }
}

/// Views of both sides with longer lines, if both arrange their elements in the same order: whole tiles are one line,
/// strips of consecutive boxes one line each. With the number of lines and their elements.
fn same_order(to: &Corner<'_>, from: &Corner<'_>, rows: u32, cols: u32) -> Option<(View, View, usize, usize)> {
    let (a, b) = (to.layout, from.layout);
    if (a.blayout, a.slayout, a.box_shape()) != (b.blayout, b.slayout, b.box_shape()) {
        return None;
    }
    let whole = (a.rows, a.cols) == (b.rows, b.cols) && (rows, cols) == (a.rows, a.cols);
    if whole {
        let line = |layout: &Layout| View::strided(layout.elem, 0, 0, layout.elem.bytes());
        return Some((line(a), line(b), 1, rows as usize * cols as usize));
    }
    let width = a.box_shape().1;
    let strips = (a.blayout, a.slayout) == (BLayout::ColMajor, SLayout::RowMajor);
    if !strips || !cols.is_multiple_of(width) || !to.at.1.is_multiple_of(width) || !from.at.1.is_multiple_of(width) {
        return None;
    }
    let view = |corner: &Corner<'_>| {
        let size = corner.layout.elem.bytes();
        let inside = corner.at.0 + rows <= corner.layout.rows && corner.at.1 + cols <= corner.layout.cols;
        let base = corner.layout.offset(corner.at.0, corner.at.1);
        inside.then(|| View::strided(corner.layout.elem, base, (corner.layout.rows * width) as usize * size, size))
    };
    Some((view(to)?, view(from)?, (cols / width) as usize, (rows * width) as usize))
}

/// Copies box by box, if the rectangle consists of whole boxes of 512 bytes on both sides. False if it does not.
fn by_boxes((dst, to): (&mut [u8], &Corner<'_>), (src, from): (&[u8], &Corner<'_>), rows: u32, cols: u32) -> bool {
    let (a, b) = (to.layout, from.layout);
    let boxed = |layout: &Layout| layout.slayout != SLayout::NoneBox && layout.fractal == 512 && layout.is_whole();
    let aligned = |corner: &Corner<'_>| {
        let (down, right) = corner.layout.box_shape();
        let (row, col) = corner.at;
        row.is_multiple_of(down)
            && col.is_multiple_of(right)
            && rows.is_multiple_of(down)
            && cols.is_multiple_of(right)
            && row + rows <= corner.layout.rows
            && col + cols <= corner.layout.cols
    };
    if a.elem != b.elem || !boxed(a) || !boxed(b) || !aligned(to) || !aligned(from) {
        return false;
    }
    let (down, right) = a.box_shape();
    if a.slayout == b.slayout {
        for_each(rows, cols, (down, right), |r, c| {
            let (d, s) = (a.offset(to.at.0 + r, to.at.1 + c), b.offset(from.at.0 + r, from.at.1 + c));
            dst[d..d + 512].copy_from_slice(&src[s..s + 512]);
        });
        return true;
    }
    // Rows become columns inside the boxes: square pieces, as wide as the narrower side.
    let size = a.elem.bytes();
    let piece = 16.min(LINE / size);
    for_each(rows, cols, (piece as u32, piece as u32), |r, c| {
        let (d, s) = (a.offset(to.at.0 + r, to.at.1 + c), b.offset(from.at.0 + r, from.at.1 + c));
        match size {
            1 => transpose::<1, 16>(&mut dst[d..], &src[s..]),
            2 => transpose::<2, 16>(&mut dst[d..], &src[s..]),
            4 => transpose::<4, 8>(&mut dst[d..], &src[s..]),
            _ => transpose::<8, 4>(&mut dst[d..], &src[s..]),
        }
    });
    true
}

/// Calls `f` with the first row and column of every piece.
fn for_each(rows: u32, cols: u32, (down, right): (u32, u32), mut f: impl FnMut(u32, u32)) {
    for c in (0..cols).step_by(right as usize) {
        for r in (0..rows).step_by(down as usize) {
            f(r, c);
        }
    }
}

/// Transposes `N` × `N` elements of `E` bytes; lines are 32 bytes apart on both sides.
#[inline]
fn transpose<const E: usize, const N: usize>(dst: &mut [u8], src: &[u8]) {
    let (dst, src) = (&mut dst[..(N - 1) * LINE + N * E], &src[..(N - 1) * LINE + N * E]);
    for to in 0..N {
        for from in 0..N {
            dst[to * LINE + from * E..][..E].copy_from_slice(&src[from * LINE + to * E..][..E]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slipring_tile::Elem;

    use super::*;

    fn layout() -> impl Strategy<Value = Layout> {
        let elems = prop::sample::select(vec![Elem::I8, Elem::F16, Elem::F32, Elem::I64]);
        (elems, 0..6usize, any::<bool>()).prop_map(|(elem, kind, big)| {
            let slayout = [SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor][kind % 3];
            let blayout = if kind < 3 { BLayout::RowMajor } else { BLayout::ColMajor };
            Layout { elem, rows: 64, cols: 128, blayout, slayout, fractal: if big { 1024 } else { 512 } }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn agrees_with_the_plain_walk(
            to in layout(), from in layout(), same: bool, at in (0..3u32, 0..3u32, 0..3u32, 0..3u32),
            step in prop::sample::select(vec![1u32, 16, 32]), size in (0..5u32, 0..5u32),
        ) {
            let from = if same { Layout { elem: to.elem, ..from } } else { from };
            let to_at = ((at.0 * step).min(63), (at.1 * step).min(127));
            let from_at = ((at.2 * step).min(63), (at.3 * step).min(127));
            let rows = (size.0 * step).min(64 - to_at.0.max(from_at.0));
            let cols = (size.1 * step).min(128 - to_at.1.max(from_at.1));
            let src: Vec<u8> = (0..from.bytes()).map(|i| (i * 7 + i / 251) as u8 & 0x3f).collect();
            let (mut fast, mut plain) = (vec![9; to.bytes()], vec![9; to.bytes()]);
            let (finish, none) = (Finish::default(), Scales::default());
            let corner = |layout, at| Corner { layout, at };
            finish.run_tiles((&mut fast, corner(&to, to_at)), (&src, corner(&from, from_at)), (rows, cols), none).unwrap();
            let view = |layout: &Layout, at: (u32, u32)| View::tile(layout, at.0 as usize, at.1 as usize);
            finish
                .run(&mut plain, &view(&to, to_at), &src, &view(&from, from_at), rows as usize, cols as usize, none)
                .unwrap();
            prop_assert!(fast == plain, "{to:?} {to_at:?} {from:?} {from_at:?} {rows} {cols}");
        }
    }
}
