//! A snapshot of a run at a cycle, from which it can be resumed.

use slipring_program::{Memory, Output};

use crate::agent::Agenda;
use crate::clocks::Clocks;
use crate::delay::Delays;
use crate::held::Held;
use crate::leftover::Leftovers;
use crate::outside::Polls;
use crate::report::Questions;
use crate::skipped::Skipped;
use crate::state::{Cluster, Core, SyncState};
use crate::stats::Collector;
use crate::traffic::Traffic;

/// The complete state of a run between two of its steps.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) memory: Memory,
    pub(crate) output: Output,
    pub(crate) questions: Questions,
    pub(crate) collector: Collector,
    pub(crate) cores: Vec<Core>,
    pub(crate) syncs: Vec<SyncState>,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) steps: (u64, u64),
    pub(crate) leftovers: Leftovers,
    pub(crate) counters: Vec<u64>,
    pub(crate) clocks: Clocks,
    pub(crate) delays: Delays,
    pub(crate) held: Vec<Held>,
    pub(crate) overtaken: u32,
    pub(crate) skipped: Skipped,
    pub(crate) traffic: Traffic,
    pub(crate) meetings: usize,
    pub(crate) polls: Polls,
    pub(crate) agenda: Agenda,
    pub(crate) next_block: u32,
    pub(crate) blocks_done: u32,
    pub(crate) now: u64,
}

impl Snapshot {
    /// The cycle of the last step before it: a run resumed from here may be stopped at this cycle or later.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// The bytes of its memories.
    pub fn bytes(&self) -> u64 {
        self.memory.size()
    }
}

/// Takes periodic snapshots of a run.
pub trait Keeper {
    /// The cycle after which it is asked again.
    fn next(&self) -> u64;
    /// True if a snapshot before this cycle is wanted. Afterwards [`Keeper::next`] returns a later cycle.
    fn wants(&mut self, at: u64) -> bool;
    /// Receives the snapshot.
    fn keep(&mut self, snapshot: Snapshot);
}
