//! Runs of launches.

use slipring_program::Memory;

use crate::engine::Engine;
use crate::launch::Launch;
use crate::observe::Observer;
use crate::outside::Outside;
use crate::result::RunResult;
use crate::snapshot::{Keeper, Snapshot};
use crate::stats::Collector;

/// Runs a launch.
///
/// `memory` needs the buffers that the arguments name and local memories for [`Launch::clusters`] clusters: a block
/// uses those of the cluster it runs on. Local memories are used as given for the first block of a cluster and zeroed
/// before each further one, so that no result depends on the assignment of blocks to clusters.
///
/// Errors of the program are findings of the result; nothing panics and nothing hangs.
pub fn run<O: Observer>(launch: &Launch<'_>, memory: Memory, observer: &mut O) -> RunResult {
    run_beside(launch, memory, observer, None)
}

/// As [`run`](crate::run), for global memory with other users: they are called when nothing can proceed without them.
pub fn run_beside<'a, O: Observer>(
    launch: &'a Launch<'a>,
    memory: Memory,
    observer: &'a mut O,
    outside: Option<&'a mut dyn Outside>,
) -> RunResult {
    watched(launch, memory, observer, outside)
}

/// The engine is compiled once, here, and not for each kind of observer in the crates that define them: those are built
/// for short build times, the engine for speed.
fn watched<'a>(
    launch: &'a Launch<'a>,
    memory: Memory,
    observer: &'a mut dyn Observer,
    outside: Option<&'a mut dyn Outside>,
) -> RunResult {
    let collector = Collector::new(launch);
    let mut engine = Engine::new(launch, memory, (collector, observer));
    engine.outside = outside;
    engine.run()
}

/// Runs a launch as [`run`](crate::run) does, on one thread, and passes periodic snapshots to a keeper. There are no
/// snapshots of a [sequential](crate::ExecutionMode::Sequential) run.
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

/// Resumes a run of the same launch from a snapshot; its limits may differ. Marks that observers keep in memories are
/// not restored.
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
