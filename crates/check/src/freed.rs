//! Slots of on-chip rings that their consumer has freed: nobody may use them until the producer fills them again.
//!
//! Such a slot holds the old tile until the next one arrives, so a use of it reads the right bytes until the ring
//! wraps. A use after the free is wrong from the start, however many tiles there are (seed 000, key property 7).

use std::ops::Range;

use slipring_machine::Role;
use slipring_program::{Direction, Extent, RingDecl, SiteRef, SyncRole, runs};
use slipring_sim::{Agent, Launch};
use slipring_tile::Space;

use crate::clock::Clock;
use crate::notes::Notes;

/// A slot that is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    cluster: u32,
    core: Role,
    space: Space,
    start: u64,
    end: u64,
    /// The free.
    pub site: SiteRef,
    pub by: Agent,
    /// Epoch of the free on the agent that issued it.
    pub epoch: u32,
}

/// An object that signals free slots.
#[derive(Clone, Copy, Debug)]
struct Flag {
    ring: usize,
    slot: u32,
    /// Its signals for slots that are free from the start.
    initial: u32,
}

/// The free slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Freed {
    rings: Vec<RingDecl>,
    /// By object.
    flags: Vec<Option<Flag>>,
    /// Cluster × objects + index: signals so far.
    signals: Vec<u32>,
    slots: Vec<Slot>,
    /// The memories that have had free slots, one bit each: core and space.
    places: u64,
}

/// The bytes of slots that a signal frees, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// Counted on beyond the number of slots of the ring.
    slots: Range<u32>,
    /// Slots of the ring, and bytes of each.
    count: u32,
    bytes: u32,
    base: u64,
    space: Space,
    core: Role,
}

impl Iterator for Given {
    type Item = Extent;

    #[inline]
    fn next(&mut self) -> Option<Extent> {
        let slot = self.slots.next()?;
        let start = self.base + u64::from(slot % self.count) * u64::from(self.bytes);
        Some(Extent::run(self.space, self.core, start, self.bytes))
    }
}

/// The bit for a memory of a core.
fn place(core: Role, space: Space) -> u64 {
    1 << (core.index() * Space::COUNT + space as usize)
}

impl Freed {
    pub fn new(launch: &Launch<'_>) -> Freed {
        let program = launch.program;
        let rings = program.rings.clone();
        // Both Vector cores are signalled for each slot of the Cube core's memory: the first signal counts.
        let second = |ring: &RingDecl| {
            let twin = |other: &RingDecl| {
                other.name == ring.name && other.direction == ring.direction && other.lane == Role::Aiv0
            };
            ring.direction == Direction::V2C && ring.lane == Role::Aiv1 && rings.iter().any(twin)
        };
        let flag = |role: SyncRole| {
            let SyncRole::RingFree { ring, slot } = role else { return None };
            let decl = rings.get(ring as usize)?;
            let known = decl.base.is_some() && decl.space != Space::Gm && !decl.sparse && !second(decl);
            let initial = if decl.counted { decl.credits } else { u32::from(slot < decl.credits) };
            known.then_some(Flag { ring: ring as usize, slot, initial })
        };
        let flags: Vec<_> = program.syncs.iter().map(|sync| flag(sync.role)).collect();
        let signals = vec![0; flags.len() * launch.clusters() as usize];
        Freed { rings, flags, signals, slots: Vec::new(), places: 0 }
    }

    /// A block starts on a cluster.
    pub fn restart(&mut self, cluster: u32) {
        let (from, count) = (cluster as usize * self.flags.len(), self.flags.len());
        self.signals[from..from + count].fill(0);
        self.slots.retain(|slot| slot.cluster != cluster);
    }

    /// The bytes of the slots that a signal frees; `None` if it is not a free, or is one of the ring's initial ones.
    #[inline]
    pub fn given(&mut self, agent: Agent, sync: u32) -> Option<Given> {
        let flag = self.flags[sync as usize]?;
        let signals = &mut self.signals[agent.cluster as usize * self.flags.len() + sync as usize];
        *signals += 1;
        if *signals <= flag.initial {
            return None;
        }
        let ring = &self.rings[flag.ring];
        let slots = match ring.counted {
            false => flag.slot..flag.slot + 1,
            true => {
                let first = (*signals - flag.initial - 1) * ring.period;
                first..first + ring.period
            }
        };
        let (base, count, bytes) = (ring.base.unwrap_or(0), ring.slots, ring.slot_bytes);
        Some(Given { slots, count, base, bytes, space: ring.space, core: agent.role })
    }

    /// A slot becomes free, in the agent's current epoch.
    pub fn free(&mut self, agent: Agent, epoch: u32, extent: &Extent, site: SiteRef) {
        let Extent { core, space, start, .. } = *extent;
        self.places |= place(core, space);
        let slot = Slot { cluster: agent.cluster, core, space, start, end: extent.end(), site, by: agent, epoch };
        let same = |old: &Slot| {
            old.start == slot.start && (old.cluster, old.core, old.space) == (slot.cluster, slot.core, slot.space)
        };
        if let Some(before) = self.slots.iter().position(same) {
            self.slots.remove(before);
        }
        self.slots.push(slot);
    }

    /// Serialises the state that matters later.
    pub fn note(&self, notes: &mut Notes) {
        for (at, signals) in self.signals.iter().enumerate() {
            let Some(flag) = self.flags[at % self.flags.len()] else { continue };
            notes.word(u64::from(*signals.min(&flag.initial)));
            let ring = &self.rings[flag.ring];
            if ring.counted {
                // The slot that comes next.
                notes.word(u64::from(signals.saturating_sub(flag.initial) % ring.slots.max(1)));
            }
        }
        let mut slots: Vec<&Slot> = self.slots.iter().collect();
        slots.sort_unstable_by_key(|slot| (slot.cluster, slot.core, slot.space as usize, slot.start));
        notes.word(slots.len() as u64);
        for slot in slots {
            [slot.cluster.into(), slot.core.index() as u64, slot.space as u64, slot.start, slot.end]
                .into_iter()
                .for_each(|word| notes.word(word));
            notes.word(slot.by.index() as u64);
            notes.epoch(slot.by.index(), slot.epoch);
            notes.site(slot.site);
        }
    }

    /// True if no slot is free: the usual case of a program without on-chip rings.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// A core touches a range; `clock` is what is complete before. Returns the free that came before, if the core
    /// touches what it has freed. Another core's write fills the slot again if it is ordered after the free. If it is
    /// not, it writes the very tile that was freed too early, whose uses are still to come.
    pub fn touch(&mut self, agent: Agent, range: &Extent, write: bool, clock: &Clock) -> Option<Slot> {
        if range.space == Space::Gm || self.places & place(range.core, range.space) == 0 {
            return None;
        }
        let end = range.end();
        let hit = |slot: &Slot| {
            let near = range.start < slot.end && slot.start < end;
            let there = || (slot.cluster, slot.core, slot.space) == (agent.cluster, range.core, range.space);
            near && there() && runs(range, range.start).any(|(start, end)| start < slot.end && slot.start < end)
        };
        if agent.role != range.core {
            let filled = |slot: &Slot| hit(slot) && clock.get(slot.by.lane()) >= slot.epoch;
            let mut from = 0;
            while write && let Some(at) = self.slots[from..].iter().position(filled) {
                from += at;
                self.slots.remove(from);
            }
            return None;
        }
        self.slots.iter().find(|slot| hit(slot)).copied()
    }
}
