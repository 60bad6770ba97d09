//! Global memory is shared: all cores together get so many bytes a cycle.

use slipring_machine::CostSpec;
use slipring_program::{Access, Extent, gm_split};
use slipring_tile::Space;

/// What global memory has promised so far.
///
/// Moves are served in the order in which they start. Each takes as long as its way alone does, and no less than until memory
/// has served it after those before it: as long as all together ask for less than memory gives, nobody waits. A line that no
/// core has read before comes from memory, at its rate; later reads come from the cache that all cores share.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    /// Bytes a cycle; 0 for no limit.
    rate: u64,
    /// Bytes a cycle of lines that are read for the first time; `rate` where it is 0.
    first: u64,
    /// Until when memory is busy, in parts of a cycle: `rate × first` of them are one.
    until: u128,
    /// Lines that were read, by buffer: a bit for each.
    read: Vec<Vec<u64>>,
}

/// Bytes of a line of the shared cache.
const LINE: u64 = 512;

impl Traffic {
    pub fn new(cost: &CostSpec) -> Traffic {
        let rate = u64::from(cost.gm_bytes);
        let first = if cost.gm_first_bytes == 0 { rate } else { u64::from(cost.gm_first_bytes) };
        Traffic { rate, first, until: 0, read: Vec::new() }
    }

    /// Cycles of work that starts at `at` and takes `cycles` alone.
    pub fn moves(&mut self, at: u64, cycles: u64, access: &Access) -> u64 {
        if self.rate == 0 {
            return cycles;
        }
        let shared = |ranges: &[Extent]| -> u64 {
            ranges.iter().filter(|range| range.space == Space::Gm).map(Extent::bytes).sum()
        };
        let bytes = shared(&access.reads).saturating_add(shared(&access.writes));
        if bytes == 0 {
            return cycles;
        }
        let first = if self.first == self.rate { 0 } else { self.first_reads(&access.reads).min(bytes) };
        let (rate, slow) = (u128::from(self.rate), u128::from(self.first));
        let cycle = rate * slow;
        let parts = u128::from(bytes - first) * slow + u128::from(first) * rate;
        self.until = self.until.max(u128::from(at) * cycle) + parts;
        let served = u64::try_from(self.until.div_ceil(cycle)).unwrap_or(u64::MAX);
        cycles.max(served.saturating_sub(at))
    }

    /// Bytes of lines that nobody has read before.
    fn first_reads(&mut self, reads: &[Extent]) -> u64 {
        let mut lines = 0;
        for range in reads.iter().filter(|range| range.space == Space::Gm && range.row_bytes > 0) {
            for row in 0..u64::from(range.rows) {
                // What lies in no buffer is a finding of its own.
                let Some((buffer, offset)) = gm_split(range.start.saturating_add(row.saturating_mul(range.stride)))
                else {
                    continue;
                };
                let Ok(offset) = u64::try_from(offset) else { continue };
                if self.read.len() <= buffer {
                    self.read.resize(buffer + 1, Vec::new());
                }
                let last = (offset + u64::from(range.row_bytes) - 1) / LINE;
                let bits = &mut self.read[buffer];
                if bits.len() as u64 <= last / 64 {
                    bits.resize((last / 64 + 1) as usize, 0);
                }
                for line in offset / LINE..=last {
                    let (word, bit) = (&mut bits[(line / 64) as usize], 1 << (line % 64));
                    lines += u64::from(*word & bit == 0);
                    *word |= bit;
                }
            }
        }
        lines.saturating_mul(LINE)
    }
}

#[cfg(test)]
mod tests {
    use slipring_machine::{Role, built_in};
    use slipring_program::gm_address;

    use super::*;

    fn load(offset: u64, bytes: u32) -> Access {
        Access { reads: vec![Extent::run(Space::Gm, Role::Aic, gm_address(0, offset), bytes)], ..Access::default() }
    }

    fn traffic(rate: u32, first: u32) -> Traffic {
        let mut cost = built_in("a2a3").unwrap().cost;
        (cost.gm_bytes, cost.gm_first_bytes) = (rate, first);
        Traffic::new(&cost)
    }

    #[test]
    fn as_many_bytes_as_memory_gives() {
        let mut alone = traffic(100, 0);
        assert_eq!(alone.moves(10, 50, &load(0, 1000)), 50, "memory needs 10 cycles, the way 50");
        // Nine more at the same cycle: memory needs 100 cycles for all ten.
        let last = (0..9).map(|_| alone.moves(10, 50, &load(0, 1000))).last();
        assert_eq!(last, Some(100));
        assert_eq!(alone.moves(1000, 50, &load(0, 1000)), 50, "memory has been idle since");
        assert_eq!(alone.moves(1000, 7, &Access::default()), 7, "what moves nothing there waits for nobody");
        assert_eq!(traffic(0, 0).moves(0, 1, &load(0, 1 << 30)), 1);
    }

    #[test]
    fn lines_read_for_the_first_time_come_from_memory() {
        let mut cold = traffic(1024, 512);
        assert_eq!(cold.moves(0, 1, &load(0, 4096)), 8, "8 lines at 512 bytes a cycle");
        assert_eq!(cold.moves(100, 1, &load(0, 4096)), 4, "the same again at 1024");
        assert_eq!(cold.moves(200, 1, &load(2048, 4096)), 2 + 4, "half of them again");
        assert_eq!(cold.moves(300, 1, &load(6144, 1)), 1, "no more than what is read");
    }
}
