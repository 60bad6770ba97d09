//! The number of live bytes in a local memory.

use std::collections::BTreeMap;

use slipring_machine::Role;
use slipring_tile::Space;

use super::{Doing, Record};

/// A local memory of a core of a cluster.
type LocalMemory = (u32, Role, Space);

/// Bytes that were written together.
#[derive(Clone, Copy)]
struct Held {
    end: u64,
    /// Start of the work that wrote them.
    from: u64,
    /// End of the last work that used them.
    to: u64,
}

#[derive(Default)]
struct Memory {
    /// By first byte; they do not overlap.
    held: BTreeMap<u64, Held>,
    /// Cycle and change of the number of live bytes.
    changes: Vec<(u64, i64)>,
}

impl Memory {
    fn overlapping(&self, start: u64, end: u64) -> Vec<u64> {
        let before = self.held.range(..start).next_back().filter(|(_, held)| held.end > start).map(|(at, _)| *at);
        before.into_iter().chain(self.held.range(start..end).map(|(at, _)| *at)).collect()
    }

    fn close(&mut self, first: u64, held: Held) {
        let bytes = (held.end - first) as i64;
        self.changes.push((held.from, bytes));
        self.changes.push((held.to, -bytes));
    }

    /// A write ends the life of the bytes that it overwrites.
    fn write(&mut self, (start, end): (u64, u64), (from, to): (u64, u64)) {
        for at in self.overlapping(start, end) {
            let Some(held) = self.held.remove(&at) else { continue };
            self.close(at.max(start), Held { end: held.end.min(end), ..held });
            if at < start {
                self.held.insert(at, Held { end: start, ..held });
            }
            if held.end > end {
                self.held.insert(end, held);
            }
        }
        self.held.insert(start, Held { end, from, to });
    }

    fn read(&mut self, (start, end): (u64, u64), until: u64) {
        for at in self.overlapping(start, end) {
            if let Some(held) = self.held.get_mut(&at) {
                held.to = held.to.max(until);
            }
        }
    }
}

/// For each local memory of each cluster and core, the cycles at which the number of live bytes changes: bytes that
/// were written and are read later. Accesses of several rows count as one range of bytes.
pub(super) fn live_bytes(record: &Record) -> Vec<(LocalMemory, Vec<(u64, u64)>)> {
    let mut order: Vec<usize> = (0..record.happenings.len()).collect();
    order.sort_by_key(|at| (record.happenings[*at].end, *at));
    let mut memories: BTreeMap<(u32, usize, u8), (LocalMemory, Memory)> = BTreeMap::new();
    for at in order {
        let happening = &record.happenings[at];
        if !matches!(happening.doing, Doing::Work { .. }) {
            continue;
        }
        for touch in record.touches_of(&happening.doing) {
            let extent = &touch.extent;
            let (start, end) = (extent.start, extent.end());
            if extent.space == Space::Gm || end <= start {
                continue;
            }
            let place = (happening.agent.cluster, extent.core, extent.space);
            let key = (place.0, place.1.index(), place.2 as u8);
            let (_, memory) = memories.entry(key).or_insert_with(|| (place, Memory::default()));
            if touch.writes {
                memory.write((start, end), (happening.start, happening.end));
            } else {
                memory.read((start, end), happening.end);
            }
        }
    }
    let each = memories.into_values().map(|(place, mut memory)| {
        for (first, held) in std::mem::take(&mut memory.held) {
            memory.close(first, held);
        }
        (place, course(memory.changes))
    });
    each.collect()
}

/// The values of a sum that changes at given cycles.
pub(super) fn course(mut changes: Vec<(u64, i64)>) -> Vec<(u64, u64)> {
    changes.sort_unstable();
    let mut sum = 0i64;
    let mut samples: Vec<(u64, u64)> = Vec::new();
    for (at, change) in changes {
        sum += change;
        let value = sum.max(0) as u64;
        match samples.last_mut() {
            Some(last) if last.0 == at => last.1 = value,
            _ => samples.push((at, value)),
        }
    }
    samples.dedup_by_key(|(_, value)| *value);
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_live_from_their_write_to_their_last_use() {
        let mut memory = Memory::default();
        memory.write((0, 64), (0, 10));
        memory.read((0, 64), 20);
        // Half of it is overwritten.
        memory.write((32, 64), (30, 40));
        memory.read((0, 32), 50);
        for (first, held) in std::mem::take(&mut memory.held) {
            memory.close(first, held);
        }
        assert_eq!(course(memory.changes), [(0, 64), (20, 32), (30, 64), (40, 32), (50, 0)]);
    }
}
