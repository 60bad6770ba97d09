//! Conversion between `f32` and short integers, with a scale and an offset for each row.

use slipring_program::{Access, Effect, Env, Extent, Fault, Memory, Run};
use slipring_tile::copy::{read_row, write_row};
use slipring_tile::{Elem, RoundMode, View, convert};

use super::operands::Shape;
use super::{Local, TileArg, tile_units};

/// The position of an element's scale or offset in its tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowNumber {
    /// In memory order: number r for row r.
    Flat,
    /// The first one of row r.
    First,
    /// Element (r, c modulo 8), or (r, 0) if the tile has one valid column.
    Block,
}

/// `dst[r, c] = src[r, c]` with scale and offset, for the destination's valid shape.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ScaleRows {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
    pub scale: TileArg,
    pub offset: Option<TileArg>,
    pub number: RowNumber,
    /// True: `(src - offset) × scale`, from integers to f32; false: `src × scale + offset`, rounded to the nearest integer.
    pub back: bool,
    /// The unit works in place in the source: it is uninitialised afterwards.
    pub clobbers: bool,
}

/// f32 values per 32 bytes.
const BLOCK: u32 = 8;

impl ScaleRows {
    fn numbers(&self) -> impl Iterator<Item = TileArg> {
        [Some(self.scale), self.offset].into_iter().flatten()
    }

    /// Columns read of the tile of scales or offsets.
    fn width(&self, tile: &TileArg, args: &[u64], (rows, cols): Shape) -> Result<u32, Fault> {
        let (lines, have) = tile.valid(args)?;
        let width = match self.number {
            RowNumber::Flat => 1,
            RowNumber::First => 1,
            RowNumber::Block if have == 1 => 1,
            RowNumber::Block => BLOCK.min(cols),
        };
        let enough = match self.number {
            RowNumber::Flat => tile.layout.rows * tile.layout.cols >= rows,
            _ => lines >= rows && have >= width,
        };
        if !enough {
            let message = format!("`{}` has {lines} x {have} valid numbers for {rows} rows", tile.name);
            return Err(Fault::new("tile-valid", message));
        }
        Ok(width)
    }

    fn number(&self, memory: &Memory, env: Env, tile: &TileArg, args: &[u64], (row, col): (u32, u32)) -> f32 {
        let at = match self.number {
            RowNumber::Flat => row as usize * 4,
            RowNumber::First | RowNumber::Block => tile.layout.offset(row, col),
        };
        let bytes = memory.bytes(env, self.local.core, self.local.space, args[tile.at] + at as u64, 4);
        f32::from_le_bytes(std::array::from_fn(|i| bytes[i]))
    }
}

impl Effect for ScaleRows {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let shape @ (rows, cols) = self.dst.valid(args)?;
        self.src.covers(args, &self.dst, shape)?;
        self.src.rect(rows, cols).extents(self.local, args, &mut access.reads);
        for tile in self.numbers() {
            let width = self.width(&tile, args, shape)?;
            match self.number {
                RowNumber::Flat => {
                    access.reads.push(Extent::run(self.local.space, self.local.core, args[tile.at], rows * 4));
                }
                _ => tile.rect(rows, width).extents(self.local, args, &mut access.reads),
            }
        }
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        if self.clobbers {
            self.src.rect(rows, cols).extents(self.local, args, &mut access.undefined);
            access.clobbered.extend_from_slice(&access.undefined);
            access.writes.extend_from_slice(&access.undefined);
        }
        access.units = tile_units(&self.src.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let shape @ (rows, cols) = self.dst.valid(args)?;
        if rows == 0 || cols == 0 {
            return Ok(0);
        }
        let Local { space, core } = self.local;
        let (from, to) = (View::tile(&self.src.layout, 0, 0), View::tile(&self.dst.layout, 0, 0));
        let widths: Vec<(TileArg, u32)> =
            self.numbers().map(|tile| Ok((tile, self.width(&tile, args, shape)?))).collect::<Result<_, Fault>>()?;
        let [line, out, ..] = &mut scratch.bytes;
        out.clear();
        for row in 0..rows {
            line.clear();
            line.resize(cols as usize * from.elem.bytes(), 0);
            let (bytes, start) = memory.locate(env, core, space, args[self.src.at]);
            read_row(&bytes[start..], &from, row as usize, 0, line);
            for (col, element) in (0..cols).zip(line.chunks(from.elem.bytes())) {
                let mut wide = [0; 4];
                convert(from.elem, element, Elem::F32, &mut wide, RoundMode::Rint, false);
                let x = f32::from_le_bytes(wide);
                let number = |at: usize| {
                    let (tile, width) = widths.get(at)?;
                    Some(self.number(memory, env, tile, args, (row, col % width)))
                };
                let scale = number(0).unwrap_or(1.0);
                let result = match (self.back, number(1)) {
                    (true, offset) => (x - offset.unwrap_or(0.0)) * scale,
                    (false, None) => x * scale,
                    (false, Some(offset)) => x * scale + offset,
                };
                let result = if result.is_nan() { f32::NAN } else { result };
                let at = out.len();
                out.resize(at + to.elem.bytes(), 0);
                convert(Elem::F32, &result.to_le_bytes(), to.elem, &mut out[at..], RoundMode::Rint, true);
            }
        }
        let (bytes, start) = memory.locate_mut(env, core, space, args[self.dst.at]);
        for (row, line) in out.chunks(cols as usize * to.elem.bytes()).enumerate() {
            write_row(&mut bytes[start..], &to, row, 0, line);
        }
        Ok(0)
    }
}
