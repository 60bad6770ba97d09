//! The times at which each tile of a ring was pushed, popped and freed.

use serde::Serialize;
use slipring_machine::Pipe;
use slipring_program::{Program, RingDecl, SiteRef, SyncRole};
use slipring_sim::{Agent, Launch, Observer};

/// Cycles of the first tiles of a ring, tile by tile.
#[derive(Clone, Debug, Default)]
pub struct RingTimes {
    /// The producer's waits for a free slot ended: slot and cycle.
    pub free_taken: Vec<(u32, u64)>,
    /// The producer signalled the slot ready.
    pub ready_set: Vec<(u32, u64)>,
    /// The consumer's waits for a tile ended.
    pub ready_taken: Vec<(u32, u64)>,
    /// The consumer signalled the slot free.
    pub free_set: Vec<(u32, u64)>,
    /// The pipe that moves tiles into slots.
    pub producer_pipe: Option<Pipe>,
    /// The pipe that waits for tiles.
    pub consumer_pipe: Option<Pipe>,
    /// Initial free signals, which belong to no tile.
    initial: u32,
}

/// One tile's passage through a ring: the slot, and the cycles of its four signals, as far as they occurred.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct TileFacts {
    /// The slot (tag) that it used.
    pub slot: u32,
    /// The producer had a free slot.
    pub free_taken: Option<u64>,
    /// The producer signalled the slot ready.
    pub ready_set: Option<u64>,
    /// The consumer had the tile.
    pub ready_taken: Option<u64>,
    /// The consumer signalled the slot free.
    pub free_set: Option<u64>,
}

impl RingTimes {
    /// The first tiles in order.
    pub fn tiles(&self) -> Vec<TileFacts> {
        let lists = [&self.free_taken, &self.ready_set, &self.ready_taken, &self.free_set];
        let count = lists.iter().map(|list| list.len()).max().unwrap_or(0);
        let tiles = (0..count).map(|tile| {
            let cycle = |list: &[(u32, u64)]| list.get(tile).map(|(_, at)| *at);
            TileFacts {
                slot: lists.iter().find_map(|list| list.get(tile)).map_or(0, |(slot, _)| *slot),
                free_taken: cycle(&self.free_taken),
                ready_set: cycle(&self.ready_set),
                ready_taken: cycle(&self.ready_taken),
                free_set: cycle(&self.free_set),
            }
        });
        tiles.collect()
    }
}

/// Number of tiles kept per ring.
const KEPT: usize = 16;

/// An observer that records the times of the first tiles of every ring of block 0.
#[derive(Clone, Debug, Default)]
pub struct RingTrace {
    /// By index of the program's rings.
    pub rings: Vec<RingTimes>,
    roles: Vec<SyncRole>,
    decls: Vec<RingDecl>,
}

impl RingTrace {
    fn note(&mut self, at: u64, agent: Agent, sync: u32, set: bool) {
        if agent.block != 0 {
            return;
        }
        let (ring, slot, free) = match self.roles.get(sync as usize) {
            Some(SyncRole::RingReady { ring, slot }) => (*ring, *slot, false),
            Some(SyncRole::RingFree { ring, slot }) => (*ring, *slot, true),
            _ => return,
        };
        let decl = &self.decls[ring as usize];
        let times = &mut self.rings[ring as usize];
        if free && set && times.initial < decl.credits {
            times.initial += 1;
            return;
        }
        match (free, set) {
            (false, true) => times.producer_pipe = Some(agent.pipe),
            (false, false) => times.consumer_pipe = Some(agent.pipe),
            _ => {}
        }
        let list = match (free, set) {
            (true, false) => &mut times.free_taken,
            (false, true) => &mut times.ready_set,
            (false, false) => &mut times.ready_taken,
            (true, true) => &mut times.free_set,
        };
        // The signals of a counted ring carry no slot: its tiles use the slots in turn, and one free signal may cover
        // several tiles.
        let tiles = if free { decl.period } else { 1 };
        for _ in 0..tiles {
            if list.len() < KEPT {
                let slot = if decl.counted { list.len() as u32 % decl.slots } else { slot };
                list.push((slot, at));
            }
        }
    }
}

impl Observer for RingTrace {
    fn begin(&mut self, launch: &Launch<'_>) {
        let program: &Program = launch.program;
        self.roles = program.syncs.iter().map(|s| s.role).collect();
        self.decls = program.rings.clone();
        self.rings = vec![RingTimes::default(); program.rings.len()];
    }

    fn set(&mut self, at: u64, agent: Agent, sync: u32, _: bool, _: SiteRef) {
        self.note(at, agent, sync, true);
    }

    fn wait(&mut self, at: u64, agent: Agent, sync: u32, _: SiteRef) {
        self.note(at, agent, sync, false);
    }
}
