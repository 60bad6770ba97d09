//! Rows reduced to one column, columns to one row.

use slipring_program::{Access, Effect, Env, Fault, Memory, Run, Scratch};
use slipring_tile::copy::{read_row, row_range, write_row};
use slipring_tile::{Elem, Order, Reduce, View, reduce};

use super::operands::{Rect, Source};
use super::{Local, TileArg, tile_units, with_operands};
use crate::vector::number::scalar_bytes;

/// A tile whose rows or columns are reduced, and the destination. The source must have as many valid rows (for reduced
/// rows) or columns (for reduced columns) as the destination, and at least one valid element in each.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Reduction {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
}

impl Reduction {
    /// The rectangles read and written. `rows_reduced` selects whether rows are reduced.
    fn rects(&self, args: &[u64], rows_reduced: bool) -> Result<(Rect, Rect), Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        let (src_rows, src_cols) = self.src.valid(args)?;
        let (results, reduced) = if rows_reduced { (rows, src_cols) } else { (cols, src_rows) };
        if results == 0 {
            return Ok((self.src.rect(0, 0), self.dst.rect(0, 0)));
        }
        if reduced == 0 || rows == 0 || cols == 0 {
            return Err(Fault::new(
                "tile-valid",
                format!(
                    "`{}` has {src_rows} x {src_cols} valid elements, `{}` {rows} x {cols}: there is nothing to reduce",
                    self.src.name, self.dst.name
                ),
            ));
        }
        let (have, want) = if rows_reduced { ((rows, cols), (src_rows, 1)) } else { ((rows, cols), (1, src_cols)) };
        if have != want {
            return Err(Fault::new(
                "tile-valid",
                format!(
                    "`{}` has {} x {} valid elements, the results of `{}` are {} x {}",
                    self.dst.name, have.0, have.1, self.src.name, want.0, want.1
                ),
            ));
        }
        if rows_reduced {
            Ok((self.src.rect(rows, src_cols), self.dst.rect(rows, 1)))
        } else {
            Ok((self.src.rect(src_rows, cols), self.dst.rect(1, cols)))
        }
    }

    fn plan(&self, args: &[u64], rows_reduced: bool, access: &mut Access) -> Result<(), Fault> {
        let (src, dst) = self.rects(args, rows_reduced)?;
        src.extents(self.local, args, &mut access.reads);
        dst.extents(self.local, args, &mut access.writes);
        // The work is proportional to the source.
        access.units = tile_units(&self.src.layout, src.rows, src.cols);
        Ok(())
    }

    /// Calls `work` with the destination's bytes, the source's bytes and the layout of its elements, and the scratch
    /// buffers.
    fn run(
        &self,
        args: &[u64],
        env: Env,
        memory: &mut Memory,
        scratch: &mut Scratch,
        rows_reduced: bool,
        work: impl FnOnce(&mut [u8], &[u8], View, (usize, usize), &mut [Vec<u8>; 3]),
    ) -> Result<u64, Fault> {
        let (src, dst) = self.rects(args, rows_reduced)?;
        let [source, spare @ ..] = &mut scratch.bytes;
        let shape = (src.rows, src.cols);
        with_operands(
            (memory, env, self.local),
            args,
            dst,
            ([Source::Rect(src)], shape, self.src.layout.elem),
            std::slice::from_mut(source),
            |dst, [(bytes, view)]| work(dst, bytes, view, (shape.0 as usize, shape.1 as usize), spare),
        );
        Ok(0)
    }

    fn target(&self) -> View {
        View::tile(&self.dst.layout, 0, 0)
    }
}

/// Elements of one row: in place if they are contiguous, otherwise gathered.
fn line<'a>(bytes: &'a [u8], view: &View, row: usize, n: usize, buffer: &'a mut Vec<u8>) -> &'a [u8] {
    match row_range(view, row, 0, n) {
        Some(range) => &bytes[range],
        None => {
            buffer.resize(n * view.elem.bytes(), 0);
            read_row(bytes, view, row, 0, buffer);
            buffer
        }
    }
}

/// `dst[r, 0]` = the elements of row r of the source, combined; see [`Order`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct RowReduce {
    pub tiles: Reduction,
    pub what: Reduce,
    pub order: Order,
}

impl Effect for RowReduce {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        self.tiles.plan(args, true, access)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch: s, .. }: Run<'_>) -> Result<u64, Fault> {
        let to = self.tiles.target();
        self.tiles.run(args, env, memory, s, true, |dst, src, view, (rows, cols), [buffer, ..]| {
            let mut result = [0; 8];
            for r in 0..rows {
                self.what.row(self.order, view.elem, line(src, &view, r, cols, buffer), &mut result);
                write_row(dst, &to, r, 0, &result[..view.elem.bytes()]);
            }
        })
    }
}

/// `dst[r, 0]` = the column of the largest or smallest element of row r of the source.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct RowArg {
    pub tiles: Reduction,
    /// [`Reduce::Max`] or [`Reduce::Min`].
    pub what: Reduce,
}

impl Effect for RowArg {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        self.tiles.plan(args, true, access)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch: s, .. }: Run<'_>) -> Result<u64, Fault> {
        let to = self.tiles.target();
        self.tiles.run(args, env, memory, s, true, |dst, src, view, (rows, cols), [buffer, ..]| {
            for r in 0..rows {
                let at = reduce::arg(self.what, view.elem, line(src, &view, r, cols, buffer)).unwrap_or(0);
                write_row(dst, &to, r, 0, &index(at, to.elem)[..to.elem.bytes()]);
            }
        })
    }
}

/// `dst[0, c]` = the row of the largest or smallest element of column c of the source.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ColArg {
    pub tiles: Reduction,
    /// [`Reduce::Max`] or [`Reduce::Min`].
    pub what: Reduce,
}

impl Effect for ColArg {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        self.tiles.plan(args, false, access)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch: s, .. }: Run<'_>) -> Result<u64, Fault> {
        let to = self.tiles.target().transposed();
        self.tiles.run(args, env, memory, s, false, |dst, src, view, (rows, cols), [buffer, ..]| {
            let view = view.transposed();
            for c in 0..cols {
                let at = reduce::arg(self.what, view.elem, line(src, &view, c, rows, buffer)).unwrap_or(0);
                write_row(dst, &to, c, 0, &index(at, to.elem)[..to.elem.bytes()]);
            }
        })
    }
}

fn index(at: usize, elem: Elem) -> [u8; 8] {
    scalar_bytes(at as u64, Elem::I64, elem)
}

/// The order in which rows are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// Sequentially, or in pairs: see [`Order`].
    OneByOne,
    /// Rows 2i and 2i + 1 give row i of the next round, until one row is left; an odd last row is added to the first
    /// row of the next round on memory-based units, to the last one on register-based units.
    Pairs,
}

/// `dst[0, c]` = the elements of column c of the source, combined, each step rounded to the element type.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ColReduce {
    pub tiles: Reduction,
    pub what: Reduce,
    pub rows: Rows,
    pub order: Order,
}

impl Effect for ColReduce {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        self.tiles.plan(args, false, access)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch: s, .. }: Run<'_>) -> Result<u64, Fault> {
        let to = self.tiles.target();
        self.tiles.run(args, env, memory, s, false, |dst, src, view, (rows, cols), [buffer, sums, two]| {
            if rows == 0 || cols == 0 {
                return;
            }
            let (elem, width) = (view.elem, cols * view.elem.bytes());
            let combine = |sum: &mut [u8], row: &[u8]| self.what.binary().run_in_place(elem, sum, row);
            sums.clear();
            match (self.rows, self.order) {
                (Rows::OneByOne, Order::Memory) => {
                    sums.extend_from_slice(line(src, &view, 0, cols, buffer));
                    for r in 1..rows {
                        combine(sums, line(src, &view, r, cols, buffer));
                    }
                }
                (Rows::OneByOne, Order::Registers) => {
                    sums.extend_from_slice(line(src, &view, 0, cols, buffer));
                    for r in (1..rows).step_by(2) {
                        two.clear();
                        two.extend_from_slice(line(src, &view, r, cols, buffer));
                        if r + 1 < rows {
                            combine(two, line(src, &view, r + 1, cols, buffer));
                        }
                        combine(sums, two);
                    }
                }
                (Rows::Pairs, order) => {
                    for r in 0..rows {
                        sums.extend_from_slice(line(src, &view, r, cols, buffer));
                    }
                    self.pairs(order, elem, sums, rows, width);
                }
            }
            write_row(dst, &to, 0, 0, &sums[..width]);
        })
    }
}

impl ColReduce {
    /// Combines `rows` rows of `width` bytes into the first.
    fn pairs(&self, order: Order, elem: Elem, sums: &mut [u8], mut rows: usize, width: usize) {
        let op = self.what.binary();
        while rows > 1 {
            for i in 0..rows / 2 {
                let (first, second) = sums.split_at_mut((2 * i + 1) * width);
                op.run_in_place(elem, &mut first[2 * i * width..], &second[..width]);
                sums.copy_within(2 * i * width..(2 * i + 1) * width, i * width);
            }
            if rows % 2 == 1 {
                let at = if order == Order::Memory { 0 } else { (rows / 2 - 1) * width };
                let (first, last) = sums.split_at_mut((rows - 1) * width);
                op.run_in_place(elem, &mut first[at..at + width], &last[..width]);
            }
            rows /= 2;
        }
    }
}
