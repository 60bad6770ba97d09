//! Shared global memory: all cores together have a fixed bandwidth in bytes per cycle.

use slipring_machine::CostSpec;
use slipring_program::{Access, Extent, gm_split};
use slipring_tile::Space;

/// The load on global memory so far.
///
/// Moves are served in the order in which they start. Each takes at least as long as it would alone, and no less than
/// until memory has served it after those before it: as long as the total demand is below the bandwidth, nobody waits.
/// A line that no core has read before comes from memory, at its rate; later reads come from the shared cache, as long
/// as the line is in it.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    /// Bytes per cycle; 0 for no limit.
    rate: u64,
    /// Bytes per cycle for lines read for the first time; `rate` if it is 0.
    first: u64,
    /// Time until which memory is busy, in units of 1 / (`rate × first`) cycles.
    until: u128,
    /// Lines of the cache; 0 if it holds all.
    capacity: u64,
    /// Lines that came from memory so far.
    fetched: u64,
    /// By buffer and line: the value of `fetched` at its last read, plus one; 0 if it was never read.
    read: Vec<Vec<u64>>,
}

/// Bytes of a line of the shared cache.
const LINE: u64 = 512;

impl Traffic {
    pub fn new(cost: &CostSpec) -> Traffic {
        let rate = u64::from(cost.gm_bytes);
        let first = if cost.gm_first_bytes == 0 { rate } else { u64::from(cost.gm_first_bytes) };
        let capacity = u64::from(cost.gm_cache_bytes) / LINE;
        Traffic { rate, first, until: 0, capacity, fetched: 0, read: Vec::new() }
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

    /// Serialises the state that matters from a cycle on. The count of fetched lines only grows; while it does not, the
    /// same lines are read again, and what is known of them recurs.
    pub fn note(&self, at: u64, words: &mut Vec<u64>) {
        let ahead = self.until.saturating_sub(self.cycle_of(at));
        words.extend([ahead as u64, (ahead >> 64) as u64, self.fetched]);
    }

    /// Advances by this many cycles, during which demand equals service.
    pub fn pass(&mut self, at: u64, cycles: u64) {
        if self.until > self.cycle_of(at) {
            self.until += self.cycle_of(cycles);
        }
    }

    fn cycle_of(&self, at: u64) -> u128 {
        u128::from(at) * u128::from(self.rate) * u128::from(self.first)
    }

    /// Bytes of lines that nobody has read before, or that have since left the cache.
    fn first_reads(&mut self, reads: &[Extent]) -> u64 {
        let mut lines = 0u64;
        for range in reads.iter().filter(|range| range.space == Space::Gm && range.row_bytes > 0) {
            for row in 0..u64::from(range.rows) {
                // An address outside all buffers is a finding of its own.
                let Some((buffer, offset)) = gm_split(range.start.saturating_add(row.saturating_mul(range.stride)))
                else {
                    continue;
                };
                let Ok(offset) = u64::try_from(offset) else { continue };
                if self.read.len() <= buffer {
                    self.read.resize(buffer + 1, Vec::new());
                }
                let last = (offset + u64::from(range.row_bytes) - 1) / LINE;
                let stamps = &mut self.read[buffer];
                if stamps.len() as u64 <= last {
                    stamps.resize((last + 1) as usize, 0);
                }
                for stamp in &mut stamps[(offset / LINE) as usize..=last as usize] {
                    let gone = self.capacity > 0 && self.fetched + 1 - *stamp >= self.capacity;
                    if *stamp == 0 || gone {
                        lines += 1;
                        self.fetched += 1;
                    }
                    *stamp = self.fetched + 1;
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
    fn lines_leave_the_cache() {
        let mut cost = built_in("a2a3").unwrap().cost;
        (cost.gm_bytes, cost.gm_first_bytes, cost.gm_cache_bytes) = (1024, 512, 4 * 512);
        let mut small = Traffic::new(&cost);
        let line = |at: u64| load(at * 512, 512);
        let cycles = |traffic: &mut Traffic, lines: &[u64]| -> Vec<u64> {
            lines
                .iter()
                .enumerate()
                .map(|(n, at)| traffic.moves(1000 * traffic.fetched + 100 * n as u64, 0, &line(*at)))
                .collect()
        };
        assert_eq!(cycles(&mut small, &[0, 1, 2, 3, 3]), [1, 1, 1, 1, 1]);
        let from_memory = small.fetched;
        assert_eq!(from_memory, 4);
        // Line 0 is read again and stays; 4 and 5 push others out, of which 1 is the oldest.
        cycles(&mut small, &[0, 4, 5]);
        assert_eq!(small.fetched, 6);
        cycles(&mut small, &[0]);
        assert_eq!(small.fetched, 6, "line 0 was read a moment ago");
        cycles(&mut small, &[1]);
        assert_eq!(small.fetched, 7, "line 1 has left");
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
