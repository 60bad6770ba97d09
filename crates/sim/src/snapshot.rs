//! A run as it stood at a cycle, to go on from there again.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slipring_machine::Question;
use slipring_program::{Memory, Output, SiteRef};

use crate::delay::Delays;
use crate::engine::{Agenda, Engine};
use crate::held::Held;
use crate::leftover::Leftovers;
use crate::observe::Observer;
use crate::poll::Polls;
use crate::skipped::Skipped;
use crate::state::{Cluster, Core, SyncState, What};
use crate::stats::Collector;
use crate::timing::Clocks;
use crate::traffic::Traffic;
use crate::{Launch, RunResult};

/// All of a run between two of its steps.
#[derive(Clone, Debug)]
pub struct Snapshot {
    memory: Memory,
    output: Output,
    questions: BTreeMap<(SiteRef, &'static str), (&'static Question, String)>,
    collector: Collector,
    cores: Vec<Core>,
    syncs: Vec<SyncState>,
    clusters: Vec<Cluster>,
    steps: (u64, u64),
    leftovers: Leftovers,
    counters: Vec<u64>,
    clocks: Clocks,
    delays: Delays,
    held: Vec<Held>,
    overtaken: u32,
    skipped: Skipped,
    traffic: Traffic,
    meetings: usize,
    polls: Polls,
    agenda: Agenda,
    next_block: u32,
    blocks_done: u32,
    now: u64,
}

impl Snapshot {
    /// The cycle of the last step before it: a run that goes on from here may be stopped at this cycle or later.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// The bytes of its memories.
    pub fn bytes(&self) -> u64 {
        self.memory.size()
    }
}

/// Keeps a run now and then as it stands.
pub trait Keeper {
    /// The cycle after which it is asked again.
    fn next(&self) -> u64;
    /// True if the run is wanted as it stands before this cycle. [`Keeper::next`] says something later afterwards.
    fn wants(&mut self, at: u64) -> bool;
    /// Here it is.
    fn keep(&mut self, snapshot: Snapshot);
}

/// Runs a launch as [`run`](crate::run) does, on one thread, and gives it to a keeper now and then. Nothing is kept of a run
/// [in sequence](crate::ExecutionMode::Sequential).
pub fn run_kept<'a>(
    launch: &'a Launch<'a>,
    memory: Memory,
    observer: &'a mut dyn Observer,
    keeper: &'a mut dyn Keeper,
) -> RunResult {
    let mut engine = Engine::new(launch, memory, (Collector::new(launch), observer));
    engine.keeper = Some(keeper);
    engine.run()
}

/// Goes on from where a run of the same launch was kept; its limits may be others. What observers keep in memories is not there.
pub fn run_on<'a>(launch: &'a Launch<'a>, from: Snapshot, observer: &'a mut dyn Observer) -> RunResult {
    let mut engine = Engine::new(launch, from.memory, (from.collector, observer));
    engine.observer.1.begin(launch);
    (engine.output, engine.questions) = (from.output, from.questions);
    (engine.cores, engine.syncs, engine.clusters) = (from.cores, from.syncs, from.clusters);
    (engine.steps, engine.other_steps) = from.steps;
    (engine.leftovers, engine.counters) = (from.leftovers, from.counters);
    (engine.clocks, engine.delays, engine.held) = (from.clocks, from.delays, from.held);
    (engine.overtaken, engine.skipped, engine.traffic) = (from.overtaken, from.skipped, from.traffic);
    (engine.meetings, engine.polls, engine.agenda) = (from.meetings, from.polls, from.agenda);
    (engine.next_block, engine.blocks_done, engine.now) = (from.next_block, from.blocks_done, from.now);
    engine.know_works();
    let outcome = engine.run_pipes();
    engine.ended(outcome)
}

impl Engine<'_> {
    /// The cycle after which something else is to be done than to go on.
    pub fn stop(&self) -> u64 {
        self.launch.limits.cycles.min(self.keeper.as_ref().map_or(u64::MAX, |keeper| keeper.next()))
    }

    /// Keeps the run in front of a step, if it is wanted; when that is asked again.
    pub fn keep(&mut self, at: u64, due: Reverse<u128>) -> u64 {
        if let Some(keeper) = self.keeper.take() {
            if keeper.wants(at) {
                keeper.keep(self.snapshot(due));
            }
            self.keeper = Some(keeper);
        }
        self.stop()
    }

    fn snapshot(&self, due: Reverse<u128>) -> Snapshot {
        let mut cores = self.cores.clone();
        for (at, core) in cores.iter_mut().enumerate() {
            for pipe in slipring_machine::Pipe::ALL {
                let unit = &mut core.pipes[pipe.index()];
                // Plans are made anew after it: running work has its own.
                if unit.front().is_some_and(|entry| entry.what == What::Work) {
                    unit.access = self.running(at, pipe);
                }
            }
        }
        let mut agenda = self.agenda.clone();
        agenda.push(due);
        Snapshot {
            memory: self.memory.clone(),
            output: self.output.clone(),
            questions: self.questions.clone(),
            collector: self.observer.0.clone(),
            cores,
            syncs: self.syncs.clone(),
            clusters: self.clusters.clone(),
            steps: (self.steps, self.other_steps),
            leftovers: self.leftovers.clone(),
            counters: self.counters.clone(),
            clocks: self.clocks.clone(),
            delays: self.delays.clone(),
            held: self.held.clone(),
            overtaken: self.overtaken,
            skipped: self.skipped.clone(),
            traffic: self.traffic.clone(),
            meetings: self.meetings,
            polls: self.polls.clone(),
            agenda,
            next_block: self.next_block,
            blocks_done: self.blocks_done,
            now: self.now,
        }
    }
}
