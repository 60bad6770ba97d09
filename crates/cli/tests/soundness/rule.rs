//! A rule whose violation need not change any bytes: on chip a popped tile is its slot, which may be refilled once it
//! is free. A use after the free is wrong even if no new tile arrives in time (seed 000, key property 7).
//!
//! Judged only by the times of one run: the n-th tile of a ring is in its slot from the end of the n-th push until the
//! push that refills the slot; all accesses of its consumer to the slot in this time use that tile, and must end before
//! the tile is freed.

use std::collections::BTreeMap;

use slipring_machine::Role;
use slipring_program::{Direction, Extent, Program, RingDecl, SyncRole};
use slipring_tile::Space;

use crate::soundness::oracle::{Record, touch};

/// The times at which each tile of a ring was freed in a block: from the signals, without the initial free signals.
fn frees(program: &Program, record: &Record, block: u32, ring: usize) -> BTreeMap<u64, u64> {
    let decl = &program.rings[ring];
    let mut times = BTreeMap::new();
    for (sync, object) in program.syncs.iter().enumerate() {
        let SyncRole::RingFree { ring: of, slot } = object.role else { continue };
        let Some(given) = record.given.get(&(block, sync as u32)).filter(|_| of as usize == ring) else { continue };
        let (initial, slots) = match decl.counted {
            true => (decl.credits, u64::from(decl.period)),
            false => (u32::from(slot < decl.credits), 1),
        };
        for (signal, at) in given.iter().skip(initial as usize).enumerate() {
            let signal = signal as u64;
            let tiles = match decl.counted {
                true => signal * slots..(signal + 1) * slots,
                false => {
                    let tile = u64::from(slot) + signal * u64::from(decl.slots);
                    tile..tile + 1
                }
            };
            times.extend(tiles.map(|tile| (tile, *at)));
        }
    }
    times
}

fn slot_of(decl: &RingDecl, tile: u64) -> Option<Extent> {
    let core = if decl.direction == Direction::C2V { decl.lane } else { Role::Aic };
    let start = decl.base? + tile % u64::from(decl.slots) * u64::from(decl.slot_bytes);
    Some(Extent::run(decl.space, core, start, decl.slot_bytes))
}

/// The first use of a slot after its free.
pub fn broken(program: &Program, record: &Record) -> Option<String> {
    let rings = program.rings.iter().enumerate();
    for (ring, decl) in rings.filter(|(_, decl)| decl.space != Space::Gm && !decl.sparse) {
        let mut pushes: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
        for ((agent, _), span) in record.works.iter().filter(|(_, span)| span.fills == Some(ring as u32)) {
            pushes.entry(agent.block).or_default().push((span.start, span.end));
        }
        for (block, mut pushes) in pushes {
            pushes.sort_unstable();
            let freed = frees(program, record, block, ring);
            for (tile, (_, there)) in pushes.iter().enumerate() {
                let Some(free) = freed.get(&(tile as u64)) else { continue };
                let gone = pushes.get(tile + decl.slots as usize).map_or(u64::MAX, |(start, _)| *start);
                let slot = slot_of(decl, tile as u64)?;
                let used = record.works.iter().find(|((agent, _), span)| {
                    let in_time = (*there..gone).contains(&span.start) && span.end > *free;
                    let own = agent.block == block && agent.role == slot.core;
                    own && in_time && span.reads.iter().chain(&span.writes).any(|range| touch(range, &slot, true))
                });
                if let Some(((agent, _), _)) = used {
                    return Some(format!("{agent} uses tile {tile} of {} after its free", decl.name));
                }
            }
        }
    }
    None
}
