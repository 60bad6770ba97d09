//! Strided windows of global memory, folded into the rows and columns of a tile.

use slipring_machine::Role;
use slipring_program::{Extent, Fault, Kind, Miss, Part};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

/// The hint for a window that folds into other rows and columns than its tile has.
pub const FOLD_HINT: &str = "`layout` of the view says which dimensions are rows: `nd` all but the last, `dn` the last but one, \
                             `nz` the third and second from the end";

/// Maximum number of dimensions of a view.
pub const MAX_RANK: usize = 5;

/// The dimensions of a view that make up the rows and the columns of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fold {
    /// The last dimension gives the columns, all before it the rows.
    Nd,
    /// The second to last gives the rows, all others the columns.
    Dn,
    /// `…, column boxes, row boxes, rows of a box, columns of a box`: fractals in the matrix unit's order.
    Nz,
    /// Scales of a left operand, pairs of groups of k last: `…, rows / 16, pairs, 16, 2`, or `…, pairs, rows, 2`.
    LeftScales,
    /// Scales of a left operand as rows: `…, rows, pairs, 2`.
    LeftScaleRows,
    /// Scales of a right operand: `…, columns / 16, pairs, 16, 2`, or `…, pairs, columns, 2`.
    RightScales,
    /// Scales of a right operand as columns: `…, columns, pairs, 2`.
    RightScaleCols,
}

impl Fold {
    /// The folding for a `layout` of the text and a rank. Layouts differ only if there are dimensions to fold.
    pub fn of(layout: Option<&str>, rank: usize) -> Fold {
        match layout {
            Some("dn") if rank > 2 => Fold::Dn,
            Some("nz") if rank > 3 => Fold::Nz,
            Some("mx_a_zz") if rank > 3 => Fold::LeftScales,
            Some("mx_a_dn") if rank > 2 => Fold::LeftScales,
            Some("mx_a_nd") if rank > 2 => Fold::LeftScaleRows,
            Some("mx_b_nn") if rank > 3 => Fold::RightScales,
            Some("mx_b_nd") if rank > 2 => Fold::RightScales,
            Some("mx_b_dn") if rank > 2 => Fold::RightScaleCols,
            _ => Fold::Nd,
        }
    }

    /// Rows and columns of a window with these dimensions, outermost first.
    pub fn shape(self, dims: &[u64]) -> (u64, u64) {
        let part = |row: bool| {
            let dims = dims.iter().enumerate().filter(|(dim, _)| self.is_row(*dim, dims.len()) == row);
            dims.fold(1u64, |all, (_, n)| all.saturating_mul(*n))
        };
        (part(true), part(false))
    }

    /// The axis of the tile to which a dimension belongs: 0 its rows, 1 its columns.
    pub fn axis(self, dim: usize, rank: usize) -> usize {
        usize::from(!self.is_row(dim, rank))
    }

    const fn is_row(self, dim: usize, rank: usize) -> bool {
        match self {
            Fold::Nd => dim + 1 < rank,
            Fold::Dn => dim + 2 == rank,
            Fold::Nz => dim + 3 == rank || dim + 2 == rank,
            Fold::LeftScales => dim + 3 != rank && dim + 1 != rank,
            Fold::LeftScaleRows => dim + 3 <= rank,
            Fold::RightScales => dim + 3 == rank || dim + 1 == rank,
            Fold::RightScaleCols => dim + 3 > rank,
        }
    }

    /// True if rows or columns extend over more than one dimension besides the leading ones.
    pub const fn boxed(self) -> bool {
        !matches!(self, Fold::Nd | Fold::Dn)
    }
}

/// How the dimensions of a window map to the rows and columns of the tile at its other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folding {
    /// According to the layout in the text.
    Said(Fold),
    /// The text gives no layout, and the tile's boxes, this many columns wide, are stacked: a window that does not fold
    /// into the tile by rows contains fractals, like the tile.
    OfBoxes(u32),
}

impl Folding {
    /// The folding for a `layout` of the text, the layout of the tile, and a rank.
    pub fn of(layout: Option<&str>, tile: &Layout, rank: usize) -> Folding {
        let fractals = (tile.blayout, tile.slayout) == (BLayout::ColMajor, SLayout::RowMajor);
        match layout {
            None if fractals && rank > 3 => Folding::OfBoxes(tile.box_shape().1),
            layout => Folding::Said(Fold::of(layout, rank)),
        }
    }

    /// The folding of a window with these dimensions for a tile with this valid shape.
    pub fn choose(self, dims: &[u64], (rows, cols): (u32, u32)) -> Fold {
        let width = match self {
            Folding::Said(fold) => return fold,
            Folding::OfBoxes(width) => width,
        };
        let valid = (u64::from(rows), u64::from(cols));
        let flat = dims.iter().rev().skip(2).all(|n| *n == 1);
        if flat || Fold::Nd.shape(dims) == valid {
            return Fold::Nd;
        }
        let fractals = Fold::Nz.shape(dims) == valid || dims.last() == Some(&width.into());
        if fractals { Fold::Nz } else { Fold::Nd }
    }
}

/// True if a window has as many elements as a tile's valid shape, but in other rows and columns: their intersection
/// would be only part of what is meant.
pub fn folds_otherwise(window: (u64, u64), (rows, cols): (u64, u64)) -> bool {
    let count = |(rows, cols): (u64, u64)| rows.saturating_mul(cols);
    window != (rows, cols) && count(window) == count((rows, cols))
}

/// What is known of a window before the run. Its run-time arguments are the dimensions, outermost first, then as many
/// strides, in elements; of a window whose `place` is given also where it begins in each dimension of its tensor, and
/// the extents of that.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Strided {
    pub elem: Elem,
    pub rank: usize,
    pub folding: Folding,
    /// Whether its place in its tensor is given: if so, the number of its first dimensions that the check of
    /// [`Strided::inside`] never asks for ([`Part::left`]), whatever the arguments.
    pub place: Option<usize>,
}

/// One direction of a folded window: `outer` loops around one with a constant stride.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// Total number of indices.
    len: u64,
    /// Indices of the innermost loop, and its stride in bytes.
    inner: (u64, u64),
    outer: [(u64, u64); MAX_RANK],
    outers: usize,
}

impl Axis {
    /// From `(extent, stride in bytes)`, outermost first. Contiguous loops are merged.
    fn new(dims: impl Iterator<Item = (u64, u64)>) -> Axis {
        let mut loops = [(1u64, 0u64); MAX_RANK];
        let mut count = 0;
        let mut len = 1u64;
        for (n, step) in dims {
            len = len.saturating_mul(n);
            if n == 1 {
                continue;
            }
            match loops[..count].last_mut() {
                Some(last) if last.1 == n.saturating_mul(step) => *last = (last.0.saturating_mul(n), step),
                _ => {
                    loops[count] = (n, step);
                    count += 1;
                }
            }
        }
        let inner = if count == 0 { (1, 0) } else { loops[count - 1] };
        Axis { len, inner, outer: loops, outers: count.saturating_sub(1) }
    }

    /// Bytes from the start of the window to repetition `index` of the innermost loop.
    fn offset(&self, mut index: u64) -> u64 {
        let mut offset = 0u64;
        for (n, step) in self.outer[..self.outers].iter().rev() {
            offset = offset.saturating_add((index % n).saturating_mul(*step));
            index /= n;
        }
        offset
    }
}

/// A rectangle of a window in which rows and columns have constant strides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// First row and column in the tile.
    pub at: (u32, u32),
    /// Rows and columns.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
    /// Bytes from the start of the window to its first element.
    pub offset: u64,
    /// Row stride in bytes.
    pub row_step: u64,
    /// Column stride in bytes.
    pub col_step: u64,
}

/// A window at run time.
#[derive(Clone, Copy, Debug)]
pub struct StridedWindow {
    elem: Elem,
    rows: Axis,
    cols: Axis,
    /// Indices of the dimensions that a load or store iterates over.
    outer: u64,
}

impl Strided {
    /// The window for these run-time arguments, for a tile with this valid shape.
    ///
    /// # Errors
    /// `view-shape` for a negative extent or stride, and for a window whose elements fold into other rows and columns
    /// than the tile has.
    pub fn window(&self, args: &[u64], valid: (u32, u32)) -> Result<StridedWindow, Fault> {
        let (dims, strides) = self.shape(args);
        for (dim, (n, stride)) in dims.iter().zip(strides).enumerate() {
            let what = if (*n as i64) < 0 {
                ("extent", *n as i64)
            } else if *n > 1 && (*stride as i64) < 0 {
                ("stride", *stride as i64)
            } else {
                continue;
            };
            return Err(Fault::new("view-shape", format!("dimension {dim} of the view has the {} {}", what.0, what.1))
                .help("extents and strides of a view are not negative"));
        }
        let size = self.elem.bytes() as u64;
        let fold = self.folding.choose(dims, valid);
        let axis = |row: bool| {
            let part = dims.iter().zip(strides).enumerate();
            let part = part.filter(move |(dim, _)| fold.is_row(*dim, self.rank) == row);
            Axis::new(part.map(move |(_, (n, stride))| (*n, stride.saturating_mul(size))))
        };
        let once = if fold.boxed() { 4 } else { 2 };
        let outer = dims.iter().rev().skip(once).fold(1u64, |all, n| all.saturating_mul(*n));
        let window = StridedWindow { elem: self.elem, rows: axis(true), cols: axis(false), outer };
        let (shape, tile) = ((window.rows.len, window.cols.len), (u64::from(valid.0), u64::from(valid.1)));
        if folds_otherwise(shape, tile) {
            return Err(Fault::new(
                "view-shape",
                format!(
                    "the window has {} rows of {} elements, the tile {} valid rows of {}",
                    shape.0, shape.1, tile.0, tile.1
                ),
            )
            .help(FOLD_HINT));
        }
        Ok(window)
    }

    /// The extents and the strides among the run-time arguments.
    fn shape<'a>(&self, args: &'a [u64]) -> (&'a [u64], &'a [u64]) {
        let (dims, rest) = args.split_at(self.rank.min(args.len()));
        (dims, &rest[..self.rank.min(rest.len())])
    }

    /// The window's place in its tensor among the run-time arguments: its first indices, and the tensor's extents.
    fn place<'a>(&self, args: &'a [u64]) -> (&'a [u64], &'a [u64]) {
        let (_, place) = args.split_at((2 * self.rank).min(args.len()));
        place.split_at(self.rank.min(place.len()))
    }

    /// True for an argument that at most decides whether the window is inside its tensor.
    pub fn is_place(&self, index: usize) -> bool {
        self.place.is_some() && index >= 2 * self.rank
    }

    /// True for an argument that decides whether the window is inside its tensor.
    pub fn is_checked(&self, index: usize) -> bool {
        self.place.is_some_and(|ignored| index >= 2 * self.rank && index - 2 * self.rank >= ignored)
    }

    /// Requires the first `rows` × `cols` elements of the window of these arguments to be inside its tensor, by the
    /// rule of [`Part::left`]; `verb` is `reads` or `writes`.
    ///
    /// # Errors
    /// `memory-bounds` if they are not.
    pub fn inside(&self, args: &[u64], verb: &str, valid: (u32, u32), (rows, cols): (u32, u32)) -> Result<(), Fault> {
        let Some(ignored) = self.place.filter(|_| rows != 0 && cols != 0) else { return Ok(()) };
        let ((dims, _), (places, extents)) = (self.shape(args), self.place(args));
        let fold = self.folding.choose(dims, valid);
        let mut left = [u64::from(rows), u64::from(cols)];
        // Every move is checked: nothing is allocated unless it fails.
        let (mut firsts, mut counts) = ([0i64; MAX_RANK], [1u64; MAX_RANK]);
        for (dim, (n, place)) in dims.iter().zip(places).enumerate().rev() {
            let left = &mut left[fold.axis(dim, self.rank)];
            (firsts[dim], counts[dim]) = (*place as i64, (*n).min(*left));
            *left = left.div_ceil((*n).max(1));
        }
        outside_tensor(verb, ignored, &firsts[..dims.len()], &counts[..dims.len()], extents).map_or(Ok(()), Err)
    }
}

/// The fault for a part outside its tensor, by the rule of [`Part::left`]; `verb` is `reads` or `writes`.
pub(crate) fn outside_tensor(
    verb: &str,
    ignored: usize,
    firsts: &[i64],
    counts: &[u64],
    extents: &[u64],
) -> Option<Fault> {
    let dim = Part::left(ignored, firsts, counts, extents)?;
    let (first, count, extent) = (firsts[dim], counts[dim], extents[dim]);
    let last = i128::from(first) + i128::from(count) - 1;
    let what = if count == 1 { format!("element {first}") } else { format!("elements {first} to {last}") };
    let message = format!("it {verb} {what} of dimension {dim}, which has only {extent}");
    let part = Part { firsts: firsts.to_vec(), counts: counts.to_vec(), extents: extents.to_vec() };
    Some(Fault::new(Kind::OutOfBounds(Miss::OutsideTensor(Box::new(part))), message))
}

impl StridedWindow {
    /// Rows and columns of the part that a tile with this valid shape shares with the window.
    pub fn clip(&self, (rows, cols): (u32, u32)) -> (u32, u32) {
        (self.rows.len.min(rows.into()) as u32, self.cols.len.min(cols.into()) as u32)
    }

    /// Number of blocks of a move with this many rows and columns: indices of the dimensions before the last two, or
    /// before the last four if those are fractals.
    pub fn outer(&self, rows: u32, cols: u32) -> u64 {
        self.outer.min(u64::from(rows) * u64::from(cols)).max(1)
    }

    /// Calls `f` for the rectangles that make up the first `rows` × `cols` elements (which the window must have).
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn blocks<E>(&self, rows: u32, cols: u32, mut f: impl FnMut(Block) -> Result<(), E>) -> Result<(), E> {
        let step = |axis: &Axis| u32::try_from(axis.inner.0).unwrap_or(u32::MAX).max(1);
        let (down, right) = (step(&self.rows), step(&self.cols));
        for (r, row) in (0..rows).step_by(down as usize).enumerate() {
            for (c, col) in (0..cols).step_by(right as usize).enumerate() {
                f(Block {
                    at: (row, col),
                    rows: down.min(rows - row),
                    cols: right.min(cols - col),
                    offset: self.rows.offset(r as u64).saturating_add(self.cols.offset(c as u64)),
                    row_step: self.rows.inner.1,
                    col_step: self.cols.inner.1,
                })?;
            }
        }
        Ok(())
    }

    /// Adds the bytes of the first `rows` × `cols` elements of the window at `start`.
    pub fn extents(&self, start: u64, rows: u32, cols: u32, out: &mut Vec<Extent>) {
        let size = self.elem.bytes() as u32;
        let _ = self.blocks(rows, cols, |block| {
            let start = start.saturating_add(block.offset);
            let along_rows = block.cols == 1 || block.col_step == u64::from(size);
            let along_cols = block.rows == 1 || block.row_step == u64::from(size);
            if along_rows {
                lines(start, (block.rows, block.row_step), block.cols * size, out);
            } else if along_cols {
                lines(start, (block.cols, block.col_step), block.rows * size, out);
            } else {
                // Nothing is contiguous: one range for each line of single elements, along the longer side.
                let (r, c) = ((block.rows, block.row_step), (block.cols, block.col_step));
                let (many, few) = if block.rows > block.cols { (r, c) } else { (c, r) };
                for line in 0..few.0 {
                    lines(start.saturating_add(u64::from(line).saturating_mul(few.1)), many, size, out);
                }
            }
            Ok::<(), std::convert::Infallible>(())
        });
    }
}

/// Adds `n` lines of `bytes` bytes each, `step` bytes apart: one run if they touch or overlap.
fn lines(start: u64, (n, step): (u32, u64), bytes: u32, out: &mut Vec<Extent>) {
    let span = step.saturating_mul(u64::from(n) - 1).saturating_add(bytes.into());
    let merged = u32::try_from(span).ok().filter(|_| n == 1 || step <= u64::from(bytes));
    out.push(match merged {
        Some(bytes) => Extent::run(Space::Gm, Role::Aic, start, bytes),
        None => Extent { space: Space::Gm, core: Role::Aic, start, rows: n, row_bytes: bytes, stride: step },
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(fold: Fold, dims: &[u64], strides: &[u64]) -> StridedWindow {
        let args: Vec<u64> = dims.iter().chain(strides).copied().collect();
        Strided { elem: Elem::F16, rank: dims.len(), folding: Folding::Said(fold), place: None }
            .window(&args, (0, 1))
            .unwrap()
    }

    fn extents(window: &StridedWindow, rows: u32, cols: u32) -> Vec<(u64, u32, u32, u64)> {
        let mut out = Vec::new();
        window.extents(1000, rows, cols, &mut out);
        out.iter().map(|e| (e.start, e.rows, e.row_bytes, e.stride)).collect()
    }

    #[test]
    fn contiguous_memory_is_one_run_whatever_its_rank() {
        assert_eq!(extents(&window(Fold::Nd, &[8, 16], &[16, 1]), 8, 16), [(1000, 1, 256, 0)]);
        let five = window(Fold::Nd, &[1, 2, 2, 2, 16], &[64, 64, 32, 16, 1]);
        assert_eq!(five.clip((100, 100)), (8, 16));
        assert_eq!(extents(&five, 8, 16), [(1000, 1, 256, 0)]);
        assert_eq!(extents(&five, 3, 16), [(1000, 1, 96, 0)]);
    }

    #[test]
    fn a_window_of_a_wider_tensor_is_rows_apart() {
        assert_eq!(extents(&window(Fold::Nd, &[8, 16], &[64, 1]), 4, 10), [(1000, 4, 20, 128)]);
        // Column-major memory: the columns are the lines.
        assert_eq!(extents(&window(Fold::Nd, &[8, 3], &[1, 40]), 8, 3), [(1000, 3, 16, 80)]);
        // Outer dimensions that do not continue each other are blocks of their own.
        let outer = window(Fold::Nd, &[2, 4, 16], &[1000, 16, 1]);
        assert_eq!(extents(&outer, 6, 16), [(1000, 1, 128, 0), (3000, 1, 64, 0)]);
        // Rows that overlap are one run.
        assert_eq!(extents(&window(Fold::Nd, &[4, 16], &[8, 1]), 4, 16), [(1000, 1, 80, 0)]);
        assert_eq!(extents(&window(Fold::Nd, &[4, 16], &[0, 1]), 4, 16), [(1000, 1, 32, 0)]);
    }

    #[test]
    fn fractals_fold_into_rows_and_columns() {
        // 2 column boxes of 3 row boxes of 16 x 16.
        let nz = window(Fold::of(Some("nz"), 5), &[1, 2, 3, 16, 16], &[1536, 768, 256, 16, 1]);
        assert_eq!(nz.clip((100, 100)), (48, 32));
        let mut blocks = Vec::new();
        nz.blocks(48, 32, |b| -> Result<(), ()> {
            blocks.push((b.at, b.rows, b.cols, b.offset, b.row_step, b.col_step));
            Ok(())
        })
        .unwrap();
        assert_eq!(blocks, [((0, 0), 48, 16, 0, 32, 2), ((0, 16), 48, 16, 1536, 32, 2)]);
    }

    #[test]
    fn negative_extents_are_refused_and_huge_ones_do_not_overflow() {
        let view = Strided { elem: Elem::F32, rank: 2, folding: Folding::Said(Fold::Nd), place: None };
        assert_eq!(view.window(&[u64::MAX, 1, 1, 1], (1, 1)).unwrap_err().kind.code(), "view-shape");
        assert_eq!(view.window(&[4, 4, -4i64 as u64, 1], (4, 4)).unwrap_err().kind.code(), "view-shape");
        let huge = view.window(&[1 << 62, 1 << 62, 1 << 62, 1 << 61], (16, 16)).unwrap();
        assert_eq!(huge.clip((16, 16)), (16, 16));
        let mut out = Vec::new();
        huge.extents(1 << 63, 16, 16, &mut out);
        assert!(out.iter().all(|e| e.end() >= e.start));
    }
}
