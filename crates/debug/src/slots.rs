//! What the slots of rings hold at a moment.

use super::Session;
use super::lives::{FREED, Life, ring_name};

/// A slot of a ring. Tiles are counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// It may be taken.
    Free,
    /// A tile is on its way into it.
    Taken(usize),
    /// A tile lies in it, and nobody has popped it.
    Full(usize),
    /// A tile lies in it, was popped and not freed.
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

/// What the signs of slots mean.
pub const SIGNS: &str = ". free, +3 tile 3 goes in, #3 full, -3 popped";

impl Session {
    /// The slots of all rings of the cluster of the present event.
    pub fn slots(&self) -> Vec<(String, Vec<Slot>)> {
        let (begun, _) = self.place_in_time();
        let cluster = self.cluster();
        let rings = self.history().run().compiled.prepared.decoded.program.rings.iter().enumerate();
        let slots = rings.map(|(at, decl)| {
            let mut slots = vec![Slot::Free; decl.slots as usize];
            // Lives begin in order, and a slot has one at a time: those before the last so many are over.
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

/// The event with which the way of a tile begins.
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
