//! Uses of freed slots, according to the times of one run. [`Race`](crate::Race) reports uses that nothing orders
//! before the free, whatever the times; this module reports where one of them is observable.

use std::collections::BTreeMap;

use slipring_machine::Role;
use slipring_program::{Extent, SiteRef, runs};
use slipring_sim::{Agent, Launch, Observer, WorkRun};
use slipring_tile::Space;

use crate::freed::Freed;

/// A slot on chip: cluster, core, memory and first byte.
type SlotKey = (u32, Role, Space, u64);

/// The history of a slot.
#[derive(Clone, Debug, Default)]
struct Slot {
    end: u64,
    /// Tiles that each core has begun to push into it.
    pushed: BTreeMap<Role, u32>,
    /// Freed tiles, and the latest free: its time and location.
    freed: u32,
    free: Option<(u64, SiteRef)>,
}

/// An observer of a run with on-chip rings.
#[derive(Clone, Debug, Default)]
pub struct StaleUses {
    freed: Option<Freed>,
    slots: BTreeMap<SlotKey, Slot>,
    found: BTreeMap<(SiteRef, SiteRef), u64>,
}

/// True if a range overlaps these bytes.
fn hits(range: &Extent, start: u64, end: u64) -> bool {
    range.start < end && start < range.end() && runs(range, range.start).any(|(from, to)| from < end && start < to)
}

impl StaleUses {
    /// The maximum number of cycles by which a use of a tile ended after its slot had been freed, for a pair of free
    /// and use.
    pub fn of(&self, free: SiteRef, used: SiteRef) -> Option<u64> {
        self.found.get(&(free, used)).copied()
    }

    /// The slots of a memory.
    fn slots(&mut self, agent: Agent, range: &Extent) -> impl Iterator<Item = (&SlotKey, &mut Slot)> {
        let of = |start| (agent.cluster, range.core, range.space, start);
        self.slots.range_mut(of(0)..=of(u64::MAX))
    }
}

impl Observer for StaleUses {
    fn begin(&mut self, launch: &Launch<'_>) {
        let rings = launch.program.rings.iter().filter(|ring| ring.space != Space::Gm && !ring.sparse);
        for ring in rings {
            let Some(base) = ring.base else { continue };
            let core = if ring.direction == slipring_program::Direction::C2V { ring.lane } else { Role::Aic };
            for cluster in 0..launch.clusters() {
                for slot in 0..u64::from(ring.slots) {
                    let start = base + slot * u64::from(ring.slot_bytes);
                    let end = start + u64::from(ring.slot_bytes);
                    self.slots.insert((cluster, core, ring.space, start), Slot { end, ..Slot::default() });
                }
            }
        }
        self.freed = Some(Freed::new(launch));
    }

    fn block_start(&mut self, _: u64, _: u32, cluster: u32) {
        if let Some(freed) = &mut self.freed {
            freed.restart(cluster);
        }
        for (_, slot) in self.slots.iter_mut().filter(|(place, _)| place.0 == cluster) {
            *slot = Slot { end: slot.end, ..Slot::default() };
        }
    }

    fn set(&mut self, at: u64, agent: Agent, sync: u32, _: bool, site: SiteRef) {
        let Some(freed) = &mut self.freed else { return };
        for slot in freed.given(agent, sync).into_iter().flatten() {
            if let Some(known) = self.slots.get_mut(&(agent.cluster, slot.core, slot.space, slot.start)) {
                known.freed += 1;
                known.free = Some((at, site));
            }
        }
    }

    fn start(&mut self, _: u64, run: &WorkRun<'_>) {
        if run.work.fills.is_none() {
            return;
        }
        for range in run.access.writes.iter().filter(|range| range.core != run.agent.role) {
            for ((.., start), slot) in self.slots(run.agent, range) {
                if hits(range, *start, slot.end) {
                    *slot.pushed.entry(run.agent.role).or_default() += 1;
                }
            }
        }
    }

    fn end(&mut self, at: u64, run: &WorkRun<'_>) {
        let mut found = Vec::new();
        for range in run.access.reads.iter().chain(&run.access.writes).filter(|range| range.core == run.agent.role) {
            for ((.., start), slot) in self.slots(run.agent, range) {
                // The next tile counts as present as soon as its push begins.
                let stale = slot.pushed.values().all(|pushed| *pushed <= slot.freed);
                if let Some((free, site)) =
                    slot.free.filter(|(free, _)| *free < at && stale && hits(range, *start, slot.end))
                {
                    found.push((site, at - free));
                }
            }
        }
        for (free, cycles) in found {
            let most = self.found.entry((free, run.site)).or_default();
            *most = (*most).max(cycles);
        }
    }
}
