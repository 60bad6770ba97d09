//! The life of each tile in its ring.

use std::collections::BTreeMap;

use slipring_program::{Program, RingDecl, SyncRole};
use slipring_report::{Doing, Happening};

/// The life of a tile: the events at which its slot was taken and at which it was pushed, popped and freed, as far as
/// they occurred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Life {
    /// The cluster of the ring.
    pub cluster: u32,
    /// Index in the program's rings.
    pub ring: u32,
    /// The number of the tile among those of its ring and block, from 0.
    pub tile: usize,
    /// Its slot.
    pub slot: u32,
    /// Slot taken, pushed, popped, freed.
    pub stages: [Option<usize>; 4],
}

/// Names of the stages of a life.
pub const STAGES: [&str; 4] = ["slot taken", "pushed", "popped", "freed"];

/// Indices in [`Life::stages`].
pub const PUSHED: usize = 1;
pub const FREED: usize = 3;

/// A ring of a cluster while a block runs there.
#[derive(Default)]
struct Seen {
    /// Number of initial free signals.
    given: u32,
    /// The indices of its tiles in the list, and the number of tiles that have reached each stage.
    tiles: Vec<usize>,
    come: [usize; 4],
}

/// The lives of all tiles, in the order in which they began, computed from happenings in order of time.
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
        // One free signal may cover several tiles.
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

/// The name by which users refer to a ring: `C2V`, `C2V.AIV1`.
pub fn ring_name(decl: &RingDecl) -> String {
    format!("{}.{}", decl.name.trim_start_matches("ring "), decl.lane.name())
}

/// Whether a user's name denotes a ring: by its name, optionally followed by the Vector core at its end.
pub fn is_ring(decl: &RingDecl, said: &str) -> bool {
    let whole = ring_name(decl);
    whole.eq_ignore_ascii_case(said) || decl.name.trim_start_matches("ring ").eq_ignore_ascii_case(said)
}

/// The first ring that a user's name denotes.
///
/// # Errors
///
/// The names that there are, if it denotes none.
pub fn ring_said<'a>(rings: &'a [RingDecl], said: &str) -> Result<&'a RingDecl, String> {
    rings.iter().find(|decl| is_ring(decl, said)).ok_or_else(|| {
        let names: Vec<String> = rings.iter().map(ring_name).collect();
        match names.is_empty() {
            true => "there are no rings\n".into(),
            false => format!("there is no ring `{said}`; there are {}\n", names.join(", ")),
        }
    })
}
