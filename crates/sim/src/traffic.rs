//! Global memory is shared: all cores together get so many bytes a cycle.

use slipring_program::Access;
use slipring_tile::Space;

/// What global memory has promised so far.
///
/// Moves are served in the order in which they start. Each takes as long as its way alone does, and no less than until memory
/// has served it after those before it: as long as all together ask for less than memory gives, nobody waits.
#[derive(Debug)]
pub(crate) struct Traffic {
    /// Bytes a cycle; 0 for no limit.
    rate: u64,
    /// Until when memory is busy, in parts of a cycle: `rate` of them are one, so that a byte takes one part.
    until: u128,
}

impl Traffic {
    pub const fn new(rate: u32) -> Traffic {
        Traffic { rate: rate as u64, until: 0 }
    }

    /// Cycles of work that starts at `at` and takes `cycles` alone.
    pub fn moves(&mut self, at: u64, cycles: u64, access: &Access) -> u64 {
        if self.rate == 0 {
            return cycles;
        }
        let ranges = access.reads.iter().chain(&access.writes);
        let bytes: u64 = ranges.filter(|range| range.space == Space::Gm).map(|range| range.bytes()).sum();
        if bytes == 0 {
            return cycles;
        }
        let rate = u128::from(self.rate);
        self.until = self.until.max(u128::from(at) * rate) + u128::from(bytes);
        let served = u64::try_from(self.until.div_ceil(rate)).unwrap_or(u64::MAX);
        cycles.max(served.saturating_sub(at))
    }
}

#[cfg(test)]
mod tests {
    use slipring_machine::Role;
    use slipring_program::Extent;

    use super::*;

    fn load(bytes: u32) -> Access {
        Access { reads: vec![Extent::run(Space::Gm, Role::Aic, 0, bytes)], ..Access::default() }
    }

    #[test]
    fn as_many_bytes_as_memory_gives() {
        let mut alone = Traffic::new(100);
        assert_eq!(alone.moves(10, 50, &load(1000)), 50, "memory needs 10 cycles, the way 50");
        // Nine more at the same cycle: memory needs 100 cycles for all ten.
        let last = (0..9).map(|_| alone.moves(10, 50, &load(1000))).last();
        assert_eq!(last, Some(100));
        assert_eq!(alone.moves(1000, 50, &load(1000)), 50, "memory has been idle since");
        assert_eq!(alone.moves(1000, 7, &Access::default()), 7, "what moves nothing there waits for nobody");
        assert_eq!(Traffic::new(0).moves(0, 1, &load(1 << 30)), 1);
    }
}
