//! The way of each tile through its ring.

use std::collections::BTreeMap;

use slipring_program::{Program, RingDecl, SyncRole};
use slipring_report::{Doing, Happening};

/// The way of a tile: the events at which its slot was taken, it was pushed, popped and freed, as far as they came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Life {
    /// Where the ring is.
    pub cluster: u32,
    /// Index in the program's rings.
    pub ring: u32,
    /// Which tile of the ring in its block, from 0.
    pub tile: usize,
    /// The slot that it goes through.
    pub slot: u32,
    /// Slot taken, pushed, popped, freed.
    pub stages: [Option<usize>; 4],
}

/// What the stages of a life are called.
pub const STAGES: [&str; 4] = ["slot taken", "pushed", "popped", "freed"];

/// Stages of [`Life::stages`].
pub const PUSHED: usize = 1;
pub const FREED: usize = 3;

/// A ring of a cluster while a block runs there.
#[derive(Default)]
struct Seen {
    /// Free signals that were there before any tile.
    given: u32,
    /// Where its tiles begin in the list, and how many of them have come to each stage.
    tiles: Vec<usize>,
    come: [usize; 4],
}

/// The lives of all tiles, in the order in which they began, of what happened in the order of time.
pub fn lives<'h>(program: &Program, happened: impl Iterator<Item = &'h Happening>) -> Vec<Life> {
    let mut list: Vec<Life> = Vec::new();
    let mut rings: BTreeMap<(u32, u32, u32), Seen> = BTreeMap::new();
    for (event, own) in happened.enumerate() {
        let (sync, set) = match own.doing {
            Doing::Set { sync, .. } => (sync, true),
            Doing::Take { sync } => (sync, false),
            _ => continue,
        };
        let (ring, slot, free) = match program.syncs.get(sync as usize).map(|decl| decl.role) {
            Some(SyncRole::RingReady { ring, slot }) => (ring, slot, false),
            Some(SyncRole::RingFree { ring, slot }) => (ring, slot, true),
            _ => continue,
        };
        let Some(decl) = program.rings.get(ring as usize) else { continue };
        let seen = rings.entry((own.agent.cluster, own.agent.block, ring)).or_default();
        if free && set && seen.given < decl.credits {
            seen.given += 1;
            continue;
        }
        let stage = match (free, set) {
            (true, false) => 0,
            (false, true) => PUSHED,
            (false, false) => 2,
            (true, true) => FREED,
        };
        // A free signal may stand for several tiles.
        for _ in 0..if free { decl.period.max(1) } else { 1 } {
            let tile = seen.come[stage];
            seen.come[stage] += 1;
            if tile == seen.tiles.len() {
                let slot = if decl.counted { tile as u32 % decl.slots.max(1) } else { slot };
                seen.tiles.push(list.len());
                list.push(Life { cluster: own.agent.cluster, ring, tile, slot, stages: [None; 4] });
            }
            if let Some(at) = seen.tiles.get(tile) {
                list[*at].stages[stage] = Some(event);
            }
        }
    }
    list
}

/// What a ring is called where somebody names it: `C2V`, `C2V.AIV1`.
pub fn ring_name(decl: &RingDecl) -> String {
    format!("{}.{}", decl.name.trim_start_matches("ring "), decl.lane.name())
}

/// True if a ring is meant: by its name, or with the Vector core at its end after it.
pub fn is_ring(decl: &RingDecl, said: &str) -> bool {
    let whole = ring_name(decl);
    whole.eq_ignore_ascii_case(said) || decl.name.trim_start_matches("ring ").eq_ignore_ascii_case(said)
}
