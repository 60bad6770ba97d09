//! Operands of vector work: their location, the parts that are read, and how sources are protected from writes to the
//! destination.

use std::ops::Range;

use slipring_machine::{Role, Units};
use slipring_program::{Env, Extent, Fault, Memory};
use slipring_tile::copy::{Cast, View, copy};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

use super::Number;
use crate::{tile_extents, valid_shape};

/// Rows and columns.
pub(super) type Shape = (u32, u32);

/// A local memory of one core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Local {
    pub space: Space,
    pub core: Role,
}

/// A tile operand: its type is known, its address and valid shape are run-time arguments.
#[derive(Clone, Copy, Debug)]
pub struct TileArg {
    /// The declared operand's name, for messages.
    pub name: &'static str,
    /// Element type, allocated shape and layout.
    pub layout: Layout,
    /// The argument index of the address; valid rows and valid columns follow.
    pub at: usize,
}

impl TileArg {
    /// The valid rows and columns.
    ///
    /// # Errors
    /// `tile-valid` if they are negative or larger than the tile.
    pub fn valid(&self, args: &[u64]) -> Result<Shape, Fault> {
        valid_shape(self.name, &self.layout, args[self.at + 1], args[self.at + 2])
    }

    /// As [`TileArg::valid`]; `None` if nothing is valid.
    ///
    /// # Errors
    /// Those of [`TileArg::valid`].
    pub(super) fn filled(&self, args: &[u64]) -> Result<Option<Shape>, Fault> {
        self.valid(args).map(|shape| (shape.0 > 0 && shape.1 > 0).then_some(shape))
    }

    /// The first `rows` × `cols` elements.
    pub(super) fn rect(self, rows: u32, cols: u32) -> Rect {
        Rect { tile: self, rows, cols }
    }

    /// The tile's bytes, row by row, as used to store a bit mask.
    pub(super) fn as_bytes(self) -> TileArg {
        let cols = self.layout.cols.saturating_mul(self.layout.elem.bytes() as u32);
        TileArg { layout: Layout::nd(Elem::U8, self.layout.rows, cols), ..self }
    }

    /// A fault unless the tile has at least these valid rows and columns.
    pub(super) fn covers(&self, args: &[u64], target: &TileArg, (rows, cols): Shape) -> Result<(), Fault> {
        let have = self.valid(args)?;
        if have.0 >= rows && have.1 >= cols {
            return Ok(());
        }
        Err(Fault::new(
            slipring_program::Kind::TileValid,
            format!(
                "`{}` needs {rows} x {cols} valid elements for `{}`, but has {} x {}",
                self.name, target.name, have.0, have.1
            ),
        )
        .help(format!("make the valid shape of `{}` as large as the one of `{}`", self.name, target.name)))
    }
}

/// The first rows and columns of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub tile: TileArg,
    pub rows: u32,
    pub cols: u32,
}

impl Rect {
    pub fn extents(&self, local: Local, args: &[u64], out: &mut Vec<Extent>) {
        let Rect { tile, rows, cols } = self;
        tile_extents(local.space, local.core, &tile.layout, args[tile.at], *rows, *cols, out);
    }

    fn view(&self) -> View {
        View::tile(&self.tile.layout, 0, 0)
    }

    /// From the address to the end of the last element.
    fn span(&self, args: &[u64]) -> Range<usize> {
        let start = args[self.tile.at] as usize;
        if self.rows == 0 || self.cols == 0 {
            return start..start;
        }
        let last = self.view().offset(self.rows as usize - 1, self.cols as usize - 1);
        start..start + last + self.tile.layout.elem.bytes()
    }
}

/// An input operand, as it maps to element (r, c) of the destination.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// Element (r, c).
    Tile(TileArg),
    /// Element (r, c % n) of a tile with n valid columns: n is 1 (a value for each row), 32 bytes (a repeated block for
    /// each row) or the columns of the destination.
    PerRow(TileArg),
    /// Element (r, 0) of a tile with fewer columns than the destination, otherwise element (r, c).
    PerRowFirst(TileArg),
    /// Element (r, 0).
    FirstColumn(TileArg),
    /// Element (0, c).
    FirstRow(TileArg),
    /// One scalar for all.
    Scalar(Number),
}

impl Input {
    /// True if this argument is the scalar of this input.
    pub(super) fn is_number(&self, index: usize) -> bool {
        matches!(self, Input::Scalar(number) if number.at == index)
    }

    /// True if this argument is a scalar that the element's type may be unable to represent.
    pub(super) fn doubts(&self, index: usize) -> bool {
        matches!(self, Input::Scalar(number) if number.at == index && number.may_fault())
    }
}

/// The part of an input that is read, and how it is spread over the destination.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Unchanged.
    Rect(Rect),
    /// One column, repeated.
    Column(Rect),
    /// One row, repeated.
    Row(Rect),
    /// A few columns, repeated.
    Block(Rect),
    /// A scalar.
    Scalar(Number),
}

impl Input {
    /// The part read for `rows` × `cols` elements of the destination.
    ///
    /// # Errors
    /// `tile-valid` if the operand has fewer valid elements.
    fn source(&self, args: &[u64], target: &TileArg, (rows, cols): Shape) -> Result<Source, Fault> {
        let rect = |tile: TileArg, rows, cols| tile.covers(args, target, (rows, cols)).map(|()| tile.rect(rows, cols));
        match *self {
            Input::Tile(tile) => rect(tile, rows, cols).map(Source::Rect),
            Input::FirstColumn(tile) => rect(tile, rows, 1).map(Source::Column),
            Input::FirstRow(tile) => rect(tile, 1, cols).map(Source::Row),
            Input::Scalar(number) => number.check(args[number.at]).map(|()| Source::Scalar(number)),
            Input::PerRowFirst(tile) => match tile.valid(args)? {
                (_, have) if have >= cols => rect(tile, rows, cols).map(Source::Rect),
                _ => rect(tile, rows, 1).map(Source::Column),
            },
            Input::PerRow(tile) => {
                let (_, have) = tile.valid(args)?;
                let block = 32 / tile.layout.elem.bytes() as u32;
                match have {
                    n if n >= cols => rect(tile, rows, cols).map(Source::Rect),
                    1 => rect(tile, rows, 1).map(Source::Column),
                    n if n == block => rect(tile, rows, n).map(Source::Block),
                    n => Err(Fault::new(
                        slipring_program::Kind::TileValid,
                        format!(
                            "`{}` has {n} valid columns, `{}` {cols}: a value for each row has 1, {block} (32 bytes) or \
                             all of them",
                            tile.name, target.name
                        ),
                    )),
                }
            }
        }
    }
}

impl Source {
    /// The sources of all inputs.
    ///
    /// # Errors
    /// `tile-valid` if an operand has fewer valid elements than `shape` needs.
    pub fn all<const N: usize>(
        inputs: &[Input; N],
        args: &[u64],
        target: &TileArg,
        shape: Shape,
    ) -> Result<[Source; N], Fault> {
        let mut sources = [Source::Rect(target.rect(0, 0)); N];
        for (source, input) in sources.iter_mut().zip(inputs) {
            *source = input.source(args, target, shape)?;
        }
        Ok(sources)
    }

    /// True if [`Source::differs_in_rows`] depends on the data.
    pub fn may_differ_in_rows(&self) -> bool {
        matches!(self, Source::Block(rect) if rect.rows > 0 && rect.cols > 1)
    }

    /// True if the elements of a row's block differ from its first one: using only the first column would give another
    /// result.
    pub fn differs_in_rows(&self, memory: &Memory, env: Env, local: Local, args: &[u64]) -> bool {
        let Source::Block(rect) = self else { return false };
        let (bytes, start) = memory.locate(env, local.core, local.space, args[rect.tile.at]);
        let (layout, size) = (&rect.tile.layout, rect.tile.layout.elem.bytes());
        let element = |row, col| bytes.get(start + layout.offset(row, col)..).and_then(|bytes| bytes.get(..size));
        (0..rect.rows).any(|row| (1..rect.cols).any(|col| element(row, col) != element(row, 0)))
    }

    pub fn extents(&self, local: Local, args: &[u64], out: &mut Vec<Extent>) {
        match self {
            Source::Rect(rect) | Source::Column(rect) | Source::Row(rect) | Source::Block(rect) => {
                rect.extents(local, args, out);
            }
            Source::Scalar(_) => {}
        }
    }
}

/// Size of vector work on a rectangle of a tile: its rows (columns if the tile is stored by columns), and whether they
/// are contiguous.
pub fn tile_units(layout: &Layout, rows: u32, cols: u32) -> Units {
    let (rows, cols, size) = (u64::from(rows), u64::from(cols), layout.elem.bytes() as u64);
    match (layout.slayout, layout.blayout) {
        (SLayout::NoneBox, BLayout::RowMajor) => Units::rows(rows, cols * size, cols >= u64::from(layout.cols)),
        (SLayout::NoneBox, BLayout::ColMajor) => Units::rows(cols, rows * size, rows >= u64::from(layout.rows)),
        _ => Units::of(rows * cols * size),
    }
}

/// Calls `work` with the bytes of the destination (from its address) and with views, as elements of type `elem`, of the
/// inputs for `shape` (rows and columns). Inputs that need preparation are prepared in `scratch`: scalars, elements of
/// other types, repeated blocks, and sources that share bytes with the destination.
pub(super) fn with_operands<const N: usize, R>(
    (memory, env, local): (&mut Memory, Env, Local),
    args: &[u64],
    target: Rect,
    (sources, shape, elem): ([Source; N], Shape, Elem),
    scratch: &mut [Vec<u8>],
    work: impl FnOnce(&mut [u8], [(&[u8], View); N]) -> R,
) -> R {
    let (bytes, _) = memory.locate_mut(env, local.core, local.space, 0);
    let span = target.span(args);
    // Where each input is read from: the memory, or its scratch buffer.
    let mut places: [(Option<Range<usize>>, View); N] = std::array::from_fn(|_| (None, View::strided(elem, 0, 0, 0)));
    for ((source, place), buffer) in sources.iter().zip(&mut places).zip(scratch.iter_mut()) {
        buffer.clear();
        *place = prepare(*source, args, shape, elem, bytes, &span, buffer);
    }
    let (before, rest) = bytes.split_at_mut(span.start);
    let (dst, after) = rest.split_at_mut(span.len());
    let ready = std::array::from_fn(|i| {
        let (range, view) = &places[i];
        let bytes = match range {
            None => &scratch[i][..],
            Some(range) if range.end <= span.start => &before[range.clone()],
            Some(range) => &after[range.start - span.end..range.end - span.end],
        };
        (bytes, *view)
    });
    work(dst, ready)
}

fn prepare(
    source: Source,
    args: &[u64],
    (rows, cols): Shape,
    elem: Elem,
    bytes: &[u8],
    target: &Range<usize>,
    buffer: &mut Vec<u8>,
) -> (Option<Range<usize>>, View) {
    let (rect, view) = match source {
        Source::Scalar(number) => {
            let number = Number { to: elem, ..number };
            buffer.extend_from_slice(&number.element(args[number.at])[..elem.bytes()]);
            return (None, View::strided(elem, 0, 0, 0));
        }
        Source::Rect(rect) | Source::Block(rect) => (rect, rect.view()),
        Source::Column(rect) => (rect, rect.view().repeat_col()),
        Source::Row(rect) => (rect, rect.view().repeat_row()),
    };
    let span = rect.span(args);
    let block = matches!(source, Source::Block(_));
    if block || rect.tile.layout.elem != elem {
        let (rows, cols) = (rows as usize, cols as usize);
        let step = cols * elem.bytes();
        let width = if block { rect.cols as usize } else { cols };
        buffer.resize(rows * step, 0);
        for col in (0..cols).step_by(width.max(1)) {
            let to = View::strided(elem, col * elem.bytes(), step, elem.bytes());
            // Both are within their bytes: the plan has checked one, the other was allocated for it.
            let _ = copy(buffer, &to, &bytes[span.clone()], &view, rows, width.min(cols - col), Cast::default());
        }
        return (None, View::strided(elem, 0, step, elem.bytes()));
    }
    if span.end <= target.start || span.start >= target.end {
        return (Some(span), view);
    }
    buffer.extend_from_slice(&bytes[span]);
    (None, view)
}
