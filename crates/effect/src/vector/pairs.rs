//! Adjacent elements of a row: interleaving and deinterleaving two streams, sums of pairs.

use slipring_program::{Access, Effect, Env, Fault, Run};
use slipring_tile::{Arg, Binary};

use super::gather::{put, take};
use super::operands::Shape;
use super::{Local, TileArg, tile_units};
use crate::region::apart;

/// The operation on two streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weave {
    /// The elements of both sources alternate; the first half of a row goes to the first destination, the second to the
    /// second.
    Join,
    /// The reverse: the rows of both sources are concatenated, elements at even positions go to the first destination,
    /// those at odd ones to the second.
    Part,
}

/// Interleaves or deinterleaves two streams, row by row. A single source that is deinterleaved gives half as many
/// columns to each destination.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Interleave {
    pub local: Local,
    pub what: Weave,
    pub dst: [TileArg; 2],
    pub src: TileArg,
    /// The second source.
    pub other: Option<TileArg>,
}

impl Interleave {
    fn sources(&self) -> impl Iterator<Item = TileArg> {
        [self.src].into_iter().chain(self.other)
    }

    /// The valid shape of the destinations.
    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let (rows, cols) = self.dst[0].valid(args)?;
        let from = if self.other.is_some() { cols } else { 2 * cols };
        let wanted = [(self.dst[1], cols)].into_iter().chain(self.sources().map(|source| (source, from)));
        for (tile, cols) in wanted {
            let have = tile.valid(args)?;
            if have != (rows, cols) {
                let name = self.dst[0].name;
                let message = format!(
                    "`{}` has {} x {} valid elements, {rows} x {cols} belong to `{name}`",
                    tile.name, have.0, have.1
                );
                return Err(Fault::new("tile-valid", message));
            }
        }
        if !cols.is_multiple_of(2) && self.other.is_some() {
            let message = format!("`{}` has {cols} valid columns, an odd number", self.dst[0].name);
            return Err(Fault::new("tile-valid", message).help("half a row comes from each half of a source"));
        }
        Ok((rows, cols))
    }
}

impl Effect for Interleave {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.shape(args)?;
        let from = if self.other.is_some() { cols } else { 2 * cols };
        self.sources().for_each(|source| source.rect(rows, from).extents(self.local, args, &mut access.reads));
        self.dst[0].rect(rows, cols).extents(self.local, args, &mut access.writes);
        let mut second = Vec::new();
        self.dst[1].rect(rows, cols).extents(self.local, args, &mut second);
        apart("operand-overlap", &access.writes, &second)?;
        access.writes.append(&mut second);
        access.units = tile_units(&self.dst[0].layout, rows, 2 * cols);
        apart("operand-overlap", &access.writes, &access.reads)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.shape(args)?;
        let at = (env, self.local);
        let from = if self.other.is_some() { cols } else { 2 * cols };
        let [first, second, ..] = &mut scratch.bytes;
        take(memory, at, self.src.rect(rows, from), args, first);
        second.clear();
        if let Some(other) = self.other {
            take(memory, at, other.rect(rows, from), args, second);
        }
        let (size, cols) = (self.dst[0].layout.elem.bytes(), cols as usize);
        let element = |bytes: &[u8], row: usize, col: usize| {
            let start = (row * from as usize + col) * size;
            bytes[start..start + size].to_vec()
        };
        let streamed = |row: usize, place: usize| match self.what {
            Weave::Join if place.is_multiple_of(2) => element(first, row, place / 2),
            Weave::Join => element(second, row, place / 2),
            Weave::Part if place < from as usize => element(first, row, place),
            Weave::Part => element(second, row, place - from as usize),
        };
        for (half, dst) in self.dst.into_iter().enumerate() {
            let place = |col| if self.what == Weave::Join { half * cols + col } else { 2 * col + half };
            let out: Vec<u8> =
                (0..rows as usize).flat_map(|row| (0..cols).flat_map(move |col| streamed(row, place(col)))).collect();
            put(memory, at, dst.rect(rows, cols as u32), args, &out);
        }
        Ok(0)
    }
}

/// Sums of adjacent elements: `dst[r, k] = src[r, 2k] + src[r, 2k + 1]` for the first half of the valid columns.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct PairSums {
    pub local: Local,
    pub add: &'static Binary,
    pub dst: TileArg,
    pub src: TileArg,
}

impl PairSums {
    /// Rows, and pairs per row.
    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        self.src.covers(args, &self.dst, (rows, cols))?;
        Ok((rows, cols / 2))
    }
}

impl Effect for PairSums {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, pairs) = self.shape(args)?;
        self.src.rect(rows, 2 * pairs).extents(self.local, args, &mut access.reads);
        self.dst.rect(rows, pairs).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.src.layout, rows, 2 * pairs);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, pairs) = self.shape(args)?;
        let (at, elem) = ((env, self.local), self.dst.layout.elem);
        let [source, out, left, right, ..] = &mut scratch.bytes;
        take(memory, at, self.src.rect(rows, 2 * pairs), args, source);
        left.clear();
        right.clear();
        for pair in source.chunks_exact(2 * elem.bytes()) {
            let (a, b) = pair.split_at(elem.bytes());
            left.extend_from_slice(a);
            right.extend_from_slice(b);
        }
        out.clear();
        out.resize(left.len(), 0);
        self.add.run_args(elem, [Arg::Slice(left), Arg::Slice(right)], out);
        put(memory, at, self.dst.rect(rows, pairs), args, out);
        Ok(0)
    }
}
