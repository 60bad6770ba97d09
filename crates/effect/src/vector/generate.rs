//! Random bits and histograms.

use slipring_program::{Access, Effect, Env, Extent, Fault, Run};

use super::{Local, TileArg, tile_units};
use crate::region::apart;

/// Fills a tile of 32-bit elements with the words of Philox 4x32.
///
/// Arguments from index `numbers`: two words of the key, four of the counter, lowest first. Four columns share a value
/// of the counter, which is incremented by one for every four of them. For the next row it increases by 64 for each
/// started group of 256 columns except the last, and by the columns of that row modulo 64 (64 if that is 0).
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Random {
    pub local: Local,
    pub dst: TileArg,
    pub numbers: usize,
    pub rounds: u32,
}

/// One value of the generator.
fn philox(rounds: u32, [k0, k1]: [u32; 2], counter: u128) -> [u32; 4] {
    let mut key = [k0, k1];
    let mut words: [u32; 4] = std::array::from_fn(|word| (counter >> (32 * word)) as u32);
    for _ in 0..rounds {
        let [a, b, c, d] = words;
        let (first, second) = (u64::from(a) * 0xd251_1f53, u64::from(c) * 0xcd9e_8d57);
        let high = |word: u64| (word >> 32) as u32;
        words = [high(second) ^ b ^ key[0], second as u32, high(first) ^ d ^ key[1], first as u32];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    words
}

impl Effect for Random {
    fn decides(&self, index: usize) -> bool {
        !(self.numbers..self.numbers + 6).contains(&index)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        if cols == 0 {
            return Ok(0);
        }
        let word = |at: usize| args[self.numbers + at] as u32;
        let key = [word(0), word(1)];
        let mut counter = (2..6).rev().fold(0u128, |all, at| all << 32 | u128::from(word(at)));
        let Local { space, core } = self.local;
        for row in 0..rows {
            let start = args[self.dst.at] + u64::from(row) * u64::from(self.dst.layout.cols) * 4;
            let line = memory.bytes_mut(env, core, space, start, cols as usize * 4);
            for (lane, four) in (0u128..).zip(line.chunks_mut(16)) {
                let words = philox(self.rounds, key, counter.wrapping_add(lane));
                for (bytes, word) in four.chunks_mut(4).zip(words) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
            }
            let steps = (cols.div_ceil(256) - 1) * 64 + (cols - 1) % 64 + 1;
            counter = counter.wrapping_add(steps.into());
        }
        Ok(0)
    }
}

/// How a bin of a histogram is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bins {
    /// Values up to and including the bin's.
    UpTo,
    /// Values of the bin.
    Of,
}

/// 256 counters for each row of 16-bit values: for their upper bytes, or for the lower bytes of those whose upper byte
/// equals the row's selector. The counters of a row follow those of the previous row.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Histogram {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
    /// For two-byte values one selector for each row, stored contiguously: the required upper byte. For four-byte
    /// values one row for each byte above the counted one, whose first element is the required value.
    pub selectors: TileArg,
    /// The counted byte, from the lowest.
    pub byte: u32,
    pub bins: Bins,
}

const COUNTERS: u32 = 256;

impl Histogram {
    /// Bytes of a value.
    fn width(&self) -> u32 {
        self.src.layout.elem.bytes() as u32
    }

    /// Addresses of a row's selectors, starting with that of the highest byte; none if the highest byte is counted.
    fn selectors_of(&self, row: u32) -> Vec<u64> {
        let above = self.width() - 1 - self.byte;
        match self.width() {
            2 => (0..above).map(|_| u64::from(row)).collect(),
            _ => (0..above).map(|k| u64::from(k) * u64::from(self.selectors.layout.cols)).collect(),
        }
    }

    /// Bytes of selectors. Those of two-byte values are always read.
    fn selector_bytes(&self, rows: u32) -> u32 {
        match self.width() {
            2 => rows,
            _ => self.selectors_of(0).last().map_or(0, |last| *last as u32 + 1),
        }
    }
}

impl Effect for Histogram {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.src.valid(args)?;
        let Local { space, core } = self.local;
        for (tile, needed) in [(&self.dst, rows * COUNTERS * 4), (&self.selectors, self.selector_bytes(rows))] {
            if (tile.layout.bytes() as u32) < needed {
                let message = format!("`{}` has {} of {needed} bytes for {rows} rows", tile.name, tile.layout.bytes());
                return Err(Fault::new("tile-valid", message));
            }
        }
        self.src.rect(rows, cols).extents(self.local, args, &mut access.reads);
        match self.width() {
            2 => access.reads.push(Extent::run(space, core, args[self.selectors.at], rows)),
            _ => {
                let own = self.selectors_of(0).into_iter();
                access.reads.extend(own.map(|at| Extent::run(space, core, args[self.selectors.at] + at, 1)));
            }
        }
        access.writes.push(Extent::run(space, core, args[self.dst.at], rows * COUNTERS * 4));
        access.units = tile_units(&self.src.layout, rows, cols);
        apart("operand-overlap", &access.writes, &access.reads)
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.src.valid(args)?;
        let Local { space, core } = self.local;
        for row in 0..rows {
            let selected = self.selectors_of(row).into_iter();
            let selected: Vec<u8> =
                selected.map(|at| memory.bytes(env, core, space, args[self.selectors.at] + at, 1)[0]).collect();
            let width = self.width();
            let start = args[self.src.at] + u64::from(row) * u64::from(self.src.layout.cols) * u64::from(width);
            let values = memory.bytes(env, core, space, start, (cols * width) as usize).to_vec();
            let mut counts = [0u32; COUNTERS as usize];
            for value in values.chunks(width as usize) {
                if value.iter().rev().zip(&selected).all(|(byte, wanted)| byte == wanted) {
                    counts[usize::from(value[self.byte as usize])] += 1;
                }
            }
            if self.bins == Bins::UpTo {
                for bin in 1..counts.len() {
                    counts[bin] += counts[bin - 1];
                }
            }
            let start = args[self.dst.at] + u64::from(row * COUNTERS * 4);
            let target = memory.bytes_mut(env, core, space, start, counts.len() * 4);
            for (bytes, count) in target.chunks_mut(4).zip(counts) {
                bytes.copy_from_slice(&count.to_le_bytes());
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::philox;

    /// The known answers of the generator's authors (Random123, `kat_vectors`).
    #[test]
    fn words_are_the_published_ones() {
        let ones = [u32::MAX; 2];
        assert_eq!(philox(7, [0; 2], 0), [0x5f6f_b709, 0x0d89_3f64, 0x4f12_1f81, 0x4f73_0a48]);
        assert_eq!(philox(10, [0; 2], 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox(10, ones, u128::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }
}
