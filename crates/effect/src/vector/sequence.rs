//! Elements computed from their position alone.

use super::{Local, TileArg, tile_units, with_operands};
use slipring_program::{Access, Effect, Env, Fault, Run};
use slipring_tile::copy::write_row;
use slipring_tile::{Elem, View};

use crate::vector::number::scalar_bytes;

/// The sequence generated in a tile; `start` is the run-time argument after the tile's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sequence {
    /// `start + k` (or `start - k`), where k counts the valid elements row by row; wraps.
    Count {
        /// `start - k`.
        descending: bool,
    },
    /// 1 if `c <= r + start`, otherwise 0.
    Lower,
    /// 1 if `c >= r + start`, otherwise 0.
    Upper,
}

impl Sequence {
    /// The effect that fills a tile. Argument `tile.at + 3` is the start, a sign-extended integer.
    pub fn fill(self, local: Local, dst: TileArg) -> impl Effect + use<> {
        Fill { local, dst, sequence: self }
    }

    fn value(self, start: i64, row: u32, col: u32, cols: u32) -> i64 {
        let (r, c) = (i64::from(row), i64::from(col));
        match self {
            Sequence::Count { descending } => {
                let k = r * i64::from(cols) + c;
                if descending { start.wrapping_sub(k) } else { start.wrapping_add(k) }
            }
            Sequence::Lower => i64::from(c <= r.saturating_add(start)),
            Sequence::Upper => i64::from(c >= r.saturating_add(start)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Fill {
    local: Local,
    dst: TileArg,
    sequence: Sequence,
}

impl Effect for Fill {
    fn decides(&self, index: usize) -> bool {
        index != self.dst.at + 3
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        let to = View::tile(&self.dst.layout, 0, 0);
        let size = to.elem.bytes();
        let start = args[self.dst.at + 3] as i64;
        let [line, ..] = &mut scratch.bytes;
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(rows, cols),
            ([], (rows, cols), to.elem),
            &mut [],
            |dst, []| {
                for row in 0..rows {
                    line.clear();
                    for col in 0..cols {
                        let value = self.sequence.value(start, row, col, cols);
                        line.extend_from_slice(&scalar_bytes(value as u64, Elem::I64, to.elem)[..size]);
                    }
                    write_row(dst, &to, row as usize, 0, line);
                }
            },
        );
        Ok(0)
    }
}
