//! The contents of the slots of rings at a moment.

use super::Session;
use super::lives::{FREED, Life, ring_name};

/// A slot of a ring. Tiles are counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// It is free.
    Free,
    /// A tile is being moved into it.
    Taken(usize),
    /// It holds a tile that has not been popped.
    Full(usize),
    /// It holds a tile that has been popped but not freed.
    Popped(usize),
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Slot::Free => f.write_str("."),
            Slot::Taken(tile) => write!(f, "+{tile}"),
            Slot::Full(tile) => write!(f, "#{tile}"),
            Slot::Popped(tile) => write!(f, "-{tile}"),
        }
    }
}

/// Legend of the signs for slots.
pub const SIGNS: &str = ". free, +3 tile 3 goes in, #3 full, -3 popped";

impl Session {
    /// The slots of all rings of the current event's cluster.
    pub fn slots(&self) -> Vec<(String, Vec<Slot>)> {
        let (begun, _) = self.place_in_time();
        let cluster = self.cluster();
        let rings = self.history().run().compiled.prepared.decoded.program.rings.iter().enumerate();
        let slots = rings.map(|(at, decl)| {
            let mut slots = vec![Slot::Free; decl.slots as usize];
            // Lives begin in order, and a slot has one at a time: only the last `2 * slots` of them can still be in
            // progress.
            let (own, lives) = (self.history().lives_of(cluster, at as u32), self.history().lives());
            let upto = own.partition_point(|life| first(&lives[*life]).is_some_and(|event| event < begun));
            for life in own[upto.saturating_sub(2 * slots.len())..upto].iter().map(|life| &lives[*life]) {
                if let Some(slot) = slots.get_mut(life.slot as usize) {
                    *slot = state(life, begun);
                }
            }
            (ring_name(decl), slots)
        });
        slots.collect()
    }
}

/// The event with which a life begins.
fn first(life: &Life) -> Option<usize> {
    life.stages.iter().flatten().min().copied()
}

fn state(life: &Life, begun: usize) -> Slot {
    let tile = life.tile + 1;
    match life.stages.iter().rposition(|event| event.is_some_and(|event| event < begun)) {
        None | Some(FREED) => Slot::Free,
        Some(0) => Slot::Taken(tile),
        Some(1) => Slot::Full(tile),
        Some(_) => Slot::Popped(tile),
    }
}
