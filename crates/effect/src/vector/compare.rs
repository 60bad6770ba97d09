//! Comparisons, whose results are packed bits, and choices by such bits.
//!
//! A mask has one row of bits for each row of the tiles: bit `c % 8` of byte `c / 8` of the row represents column c.
//! The rows of bits begin where the rows of the mask tile begin, whatever its element type.

use slipring_machine::Question;
use slipring_program::{Access, Effect, Env, Fault, Output, Run};
use slipring_tile::compare::{pack_bits, select, unpack_bits};
use slipring_tile::copy::{read_row, write_row};
use slipring_tile::{Compare, Elem, Layout, View};

use super::operands::{Rect, Shape, Source};
use super::{Input, Local, TileArg, tile_units, with_operands};

/// Elements processed together: whole bytes of bits.
const CHUNK: usize = 256;

/// Row and first column of every chunk.
fn chunks(rows: u32, cols: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows as usize).flat_map(move |r| (0..cols).step_by(CHUNK).map(move |c| (r, c)))
}

/// Where the bits of a mask's rows begin.
#[derive(Clone, Copy, Debug)]
pub enum Bits {
    /// At the rows of the mask tile.
    Rows,
    /// There, but a source disagrees.
    Asked(&'static Question),
    /// After the bytes of the previous row.
    Dense,
}

impl Bits {
    /// Records the question if the alternative answer would use other bytes.
    fn ask(self, mask: &Rect, output: &mut Output) {
        if let Bits::Asked(question) = self
            && mask.rows > 1
            && mask.cols != mask.tile.layout.cols
        {
            output.depends_on(question);
        }
    }
}

/// The bits of a mask for `rows` × `cols` elements.
///
/// # Errors
/// `tile-valid` if the mask tile has fewer valid rows or its rows are too short.
fn bits(mask: &TileArg, args: &[u64], (rows, cols): Shape, lie: Bits) -> Result<Rect, Fault> {
    let (have, _) = mask.valid(args)?;
    let bytes = mask.as_bytes();
    let needed = cols.div_ceil(8);
    if matches!(lie, Bits::Dense) && needed > 0 {
        let held = u32::try_from(bytes.layout.bytes()).unwrap_or(u32::MAX) / needed;
        if held >= rows {
            return Ok(TileArg { layout: Layout::nd(Elem::U8, held, needed), ..bytes }.rect(rows, needed));
        }
    } else if have >= rows && bytes.layout.cols >= needed {
        return Ok(bytes.rect(rows, needed));
    }
    Err(Fault::new(
        "tile-valid",
        format!(
            "the mask `{}` has {have} valid rows of {} bytes, but {rows} rows of {needed} bytes ({cols} bits) are needed",
            mask.name, bytes.layout.cols
        ),
    ))
}

/// `dst[r, c] = mode(a[r, c], b[r, c])`, a bit, for the valid shape of `a`. Rows beyond the destination's valid rows
/// are not compared. Bits past the last column of a row's last byte become 0.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CompareTiles {
    pub local: Local,
    pub mode: Compare,
    pub dst: TileArg,
    pub a: TileArg,
    pub b: Input,
    pub bits: Bits,
}

impl CompareTiles {
    fn operands(&self, args: &[u64]) -> Result<(Rect, [Source; 2], Shape), Fault> {
        let (rows, _) = self.dst.valid(args)?;
        let (_, cols) = self.a.valid(args)?;
        let target = bits(&self.dst, args, (rows, cols), self.bits)?;
        let sources = Source::all(&[Input::Tile(self.a), self.b], args, &self.dst, (rows, cols))?;
        Ok((target, sources, (rows, cols)))
    }
}

impl Effect for CompareTiles {
    fn decides(&self, index: usize) -> bool {
        !self.b.is_number(index)
    }

    fn doubts(&self, index: usize) -> bool {
        self.b.doubts(index)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (target, sources, (rows, cols)) = self.operands(args)?;
        sources.iter().for_each(|r| r.extents(self.local, args, &mut access.reads));
        target.extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.a.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        let (target, sources, (rows, cols)) = self.operands(args)?;
        self.bits.ask(&target, output);
        let elem = self.a.layout.elem;
        let to = View::tile(&target.tile.layout, 0, 0);
        let n = cols as usize;
        let mut lines = [[0; CHUNK * 8]; 2];
        let mut packed = [0; CHUNK / 8];
        let tries = scratch.tries;
        with_operands(
            (memory, env, self.local),
            args,
            target,
            (sources, (rows, cols), elem),
            &mut scratch.bytes,
            |dst, [a, b]| {
                let [left, right] = &mut lines;
                for (r, c) in chunks(rows, n) {
                    let k = (n - c).min(CHUNK);
                    let (left, right) = (&mut left[..k * elem.bytes()], &mut right[..k * elem.bytes()]);
                    read_row(a.0, &a.1, r, c, left);
                    read_row(b.0, &b.1, r, c, right);
                    match tries {
                        true => {
                            let mut holds = [0; CHUNK];
                            Compare::run_sensitive(elem, left, right, &mut holds[..k]);
                            pack_bits(&holds[..k], &mut packed);
                        }
                        false => self.mode.run_packed(elem, left, right, &mut packed),
                    }
                    write_row(dst, &to, r, c / 8, &packed[..k.div_ceil(8)]);
                }
            },
        );
        Ok(0)
    }
}

/// `dst[r, c] = mask[r, c] ? a[r, c] : b[r, c]` for the destination's valid shape; elements are moved unchanged.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Select {
    pub local: Local,
    pub dst: TileArg,
    pub mask: TileArg,
    pub a: TileArg,
    pub b: Input,
    pub bits: Bits,
}

impl Select {
    fn sources(&self, args: &[u64]) -> Result<([Source; 2], Rect, Shape), Fault> {
        let shape = self.dst.valid(args)?;
        let sources = Source::all(&[Input::Tile(self.a), self.b], args, &self.dst, shape)?;
        Ok((sources, bits(&self.mask, args, shape, self.bits)?, shape))
    }
}

impl Effect for Select {
    fn decides(&self, index: usize) -> bool {
        !self.b.is_number(index)
    }

    fn doubts(&self, index: usize) -> bool {
        self.b.doubts(index)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (sources, mask, (rows, cols)) = self.sources(args)?;
        sources.iter().for_each(|r| r.extents(self.local, args, &mut access.reads));
        mask.extents(self.local, args, &mut access.reads);
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        let (sources, mask, (rows, cols)) = self.sources(args)?;
        if rows == 0 || cols == 0 {
            return Ok(0);
        }
        self.bits.ask(&mask, output);
        let to = View::tile(&self.dst.layout, 0, 0);
        // The bits of all rows are read first: they may share bytes with the destination.
        let (bytes, start) = memory.locate(env, self.local.core, self.local.space, args[self.mask.at]);
        let from = View::tile(&mask.tile.layout, 0, 0);
        let n = cols as usize;
        let [prepared @ .., masks] = &mut scratch.bytes;
        masks.clear();
        let mut packed = [0; CHUNK / 8];
        for (r, c) in chunks(rows, n) {
            let k = (n - c).min(CHUNK);
            let packed = &mut packed[..k.div_ceil(8)];
            read_row(&bytes[start..], &from, r, c / 8, packed);
            let first = masks.len();
            masks.resize(first + k, 0);
            unpack_bits(packed, &mut masks[first..]);
        }
        let elem = to.elem;
        let size = elem.bytes();
        let mut lines = [[0; CHUNK * 8]; 3];
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(rows, cols),
            (sources, (rows, cols), elem),
            prepared,
            |dst, [a, b]| {
                let [left, right, out] = &mut lines;
                for (r, c) in chunks(rows, n) {
                    let k = (n - c).min(CHUNK);
                    let (left, right) = (&mut left[..k * size], &mut right[..k * size]);
                    let out = &mut out[..k * size];
                    read_row(a.0, &a.1, r, c, left);
                    read_row(b.0, &b.1, r, c, right);
                    select(size, &masks[r * n + c..][..k], left, right, out);
                    write_row(dst, &to, r, c, out);
                }
            },
        );
        Ok(0)
    }
}
