//! Concatenation of the rows of two tiles; an integer in memory gives the length taken from each.

use slipring_program::{Access, Discover, Extent, Fault, Run};

use super::gather::{read, write};
use super::{Local, TileArg, tile_units};

/// Row i of `dst` begins with the first elements of row i of the first source, followed by those of the second. The
/// number of each is the first element of row i of its counts, limited by the valid columns of its source and by what
/// is left of those of `dst`.
#[derive(Clone, Copy, Debug)]
pub struct ConcatCounted {
    /// The memory of all.
    pub local: Local,
    /// The destination.
    pub dst: TileArg,
    /// The sources.
    pub sources: [TileArg; 2],
    /// The lengths.
    pub counts: [TileArg; 2],
}

impl Discover for ConcatCounted {
    fn local(&self) -> bool {
        true
    }

    fn discover(&self, args: &[u64], run: Run<'_>, access: &mut Access) -> Result<u64, Fault> {
        let Run { env, memory, scratch, .. } = run;
        let (rows, cols) = self.dst.valid(args)?;
        let (size, step) = (self.dst.layout.elem.bytes() as u32, self.counts[0].layout.elem.bytes());
        let [numbers, line, ..] = &mut scratch.bytes;
        let has = [self.sources[0].valid(args)?.1, self.sources[1].valid(args)?.1];
        let mut taken = vec![[0u32; 2]; rows as usize];
        for (which, counts) in self.counts.iter().enumerate() {
            counts.covers(args, &self.dst, (rows, 1))?;
            read(memory, (env, self.local), counts.rect(rows, 1), args, (numbers, access))?;
            for (row, bytes) in taken.iter_mut().zip(numbers.chunks(step)) {
                let number = bytes.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
                let left = has[which].min(cols - row[0] * which as u32);
                row[which] = u32::try_from(number).unwrap_or(u32::MAX).min(left);
            }
        }
        let mut moved = Vec::new();
        for (row, taken) in (0..rows).zip(&taken) {
            let mut first = 0;
            for (source, n) in self.sources.iter().zip(*taken) {
                if n == 0 {
                    continue;
                }
                let place = |tile: &TileArg, col: u32| args[tile.at] + tile.layout.offset(row, col) as u64;
                let Local { space, core } = self.local;
                let from = Extent::run(space, core, place(source, 0), n * size);
                if !memory.has(&from, env) {
                    return Err(memory.miss(&from, "reads", env));
                }
                line.clear();
                line.extend_from_slice(memory.bytes(env, core, space, from.start, (n * size) as usize));
                access.reads.push(from);
                moved.push((Extent::run(space, core, place(&self.dst, first), n * size), line.clone()));
                first += n;
            }
        }
        for (range, bytes) in moved {
            write(memory, env, range, &bytes, access)?;
        }
        access.units = tile_units(&self.dst.layout, rows, cols);
        Ok(0)
    }
}
