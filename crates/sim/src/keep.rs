//! Periodic snapshots of a run.

use std::cmp::Reverse;

use crate::engine::Engine;
use crate::snapshot::Snapshot;
use crate::state::What;

impl Engine<'_> {
    /// The cycle after which something other than continuing is due.
    pub fn stop(&self) -> u64 {
        self.launch.limits.cycles.min(self.keeper.as_ref().map_or(u64::MAX, |keeper| keeper.next()))
    }

    /// Takes a snapshot before a step, if it is wanted; returns when to ask again.
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
                // Plans are recomputed afterwards: running work owns its plan.
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
