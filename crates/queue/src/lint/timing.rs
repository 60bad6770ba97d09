//! Core timing: control blocks that give workers the host addresses to which they write their start and end times.

use super::Linter;
use crate::host::TIMING_MAGIC;
use crate::lint::memory::Memory;
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::Xy;

/// The address at which a worker with this control block writes its times; `None` if it is not armed.
fn slot(block: &[u8]) -> Option<u64> {
    let word = |at: usize| {
        block.get(4 * at..4 * at + 4).map_or(0, |b| b.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b)))
    };
    (word(20) == u64::from(TIMING_MAGIC)).then(|| word(22) + word(23) * word(24))
}

impl Linter {
    /// Control blocks are written, one to each of these tiles, this many bytes apart; 0: all get the first.
    pub(super) fn timing(&mut self, at: CommandRef, tiles: impl Iterator<Item = Xy>, data: &[u8], stride: usize) {
        let host = &self.layout.sysmem;
        let slots = host.noc(host.timing)..host.noc(host.timing) + 16 * u64::from(host.timing_slots);
        let mut outside = None;
        for (index, tile) in tiles.enumerate() {
            let found = data.get(index * stride..).and_then(slot);
            outside = outside.or(found.filter(|slot| !slots.contains(slot)));
            let times = found.map(|slot| (Memory::Host, slot, slot + 16));
            self.results.arm(tile, times);
            self.host_results.arm(tile, times);
        }
        if let Some(slot) = outside {
            let message =
                format!("a worker will write its times to {slot:#x}; slots are {:#x}..{:#x}", slots.start, slots.end);
            self.find_in(at, Hazard::PcieOutside, message);
        }
    }
}
