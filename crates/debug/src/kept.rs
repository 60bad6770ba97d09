//! Snapshots of a run, taken at intervals so that every moment is close to one.

use std::time::{Duration, Instant};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use slipring_sim::{Keeper, Observer, Snapshot};

use super::history::History;
use slipring_session::RunOptions;

/// The time between two snapshots. It affects how long a step takes, but not its results.
const EVERY: Duration = Duration::from_millis(20);
/// Limit on the memory of snapshots in bytes; beyond it, every second snapshot is dropped.
const MOST: u64 = 1 << 28;
/// The number of times per run that the clock is checked.
const LOOKS: u64 = 1 << 14;

/// Snapshots of a run in order of time.
#[derive(Default)]
pub struct Snapshots {
    list: Vec<Snapshot>,
}

impl Snapshots {
    /// Repeats the run of a history, and takes snapshots.
    pub fn of(history: &History, asked: &RunOptions) -> Snapshots {
        Snapshots::every(history, asked, EVERY)
    }

    fn every(history: &History, asked: &RunOptions, every: Duration) -> Snapshots {
        let step = (history.end() / LOOKS).max(1);
        let mut shelf = Shelf { list: Vec::new(), step, next: step, every, last: Instant::now() };
        history.run().keep(asked, &mut shelf);
        Snapshots { list: shelf.list }
    }

    /// The last snapshot from which the run reaches this cycle.
    pub fn before(&self, cycle: u64) -> Option<&Snapshot> {
        let upto = self.list.partition_point(|snapshot| snapshot.cycle() <= cycle);
        upto.checked_sub(1).map(|at| &self.list[at])
    }

    /// Repeats the whole run. Each interval between two snapshots has its own observer.
    pub fn observed<O: Observer + Send>(
        &self,
        history: &History,
        asked: &RunOptions,
        observer: impl Fn() -> O + Sync,
    ) -> Vec<O> {
        let stretch = |at: usize| {
            let mut observer = observer();
            let limit = self.list.get(at).map_or(asked.limits.cycles, Snapshot::cycle);
            let from = at.checked_sub(1).map(|at| &self.list[at]);
            history.run().once_more(asked, limit, from, &mut observer);
            observer
        };
        (0..self.list.len() + 1).into_par_iter().with_max_len(1).map(stretch).collect()
    }
}

/// Takes snapshots of a run at intervals of time.
struct Shelf {
    list: Vec<Snapshot>,
    step: u64,
    next: u64,
    every: Duration,
    last: Instant,
}

impl Keeper for Shelf {
    fn next(&self) -> u64 {
        self.next
    }

    fn wants(&mut self, at: u64) -> bool {
        self.next = at.saturating_add(self.step);
        self.last.elapsed() >= self.every
    }

    fn keep(&mut self, snapshot: Snapshot) {
        let bytes = snapshot.bytes();
        self.list.push(snapshot);
        if (self.list.len() as u64).saturating_mul(bytes) > MOST {
            let mut at = 0;
            self.list.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.every *= 2;
        }
        self.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Session;
    use slipring::{Execution, Kernel, Tensor, Timing};

    /// The results of a run: cycles, findings, printed output, every buffer and every tile.
    fn left(history: &History, execution: &Execution) -> String {
        let run = history.run();
        let result = &execution.result;
        let buffers: Vec<&[u8]> = result.memory.gm.iter().map(|buffer| &*buffer.data).collect();
        let tiles: Vec<_> =
            (0..run.options.blocks).map(|cluster| run.compiled.tiles_in(&result.memory, cluster, None)).collect();
        format!("{} {:?} {:?} {buffers:?} {tiles:?}", result.cycles, result.findings, result.output.lines)
    }

    /// A run resumed from a snapshot equals a run from the start, at every cycle and under every timing.
    #[test]
    fn to_go_on_is_to_run_from_the_start() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = [
            "examples/two_clusters.pto",
            "examples/bidirectional.pto",
            "examples/broken/one_pop_too_many.pto",
            "examples/broken/missing_flag.pto",
            "examples/lang/5_attention_step.py",
            "examples/lang/gather_rows.py",
            "examples/lang/pure_vector.py",
        ];
        let mut compared = 0;
        for file in files {
            let kernel = Kernel::open(root.join(file)).unwrap();
            let args = kernel.arguments(&[], 0).unwrap();
            for (timing, delay) in [
                (Timing::Platform, None),
                (Timing::Random { seed: 7 }, None),
                (Timing::Platform, Some("delay AIV0.MTE2 work 1 by 700")),
                (Timing::Platform, Some("delay AIV0.MTE3 work 1 past work 2")),
            ] {
                let mut options = Session::options(RunOptions::default());
                options.timing = timing;
                options.delays = delay.map(|delay| delay.parse().unwrap()).into_iter().collect();
                let tensors: Vec<Tensor<'_>> = args.clone();
                let history = History::new(kernel.run_with(tensors, &options).unwrap().into_owned());
                // A snapshot at each check of the clock.
                let kept = Snapshots::every(&history, &options, Duration::ZERO);
                assert!(!kept.list.is_empty(), "{file}: nothing was kept");
                let end = history.end();
                for cycle in (0..=end).step_by((end as usize / 23).max(1)).chain([end]) {
                    let run = history.run();
                    let whole = run.once_more(&options, cycle, None, &mut ());
                    let Some(from) = kept.before(cycle) else { continue };
                    // Also from an earlier snapshot.
                    for from in [from, &kept.list[kept.list.len() / 7]] {
                        if from.cycle() <= cycle {
                            let rest = run.once_more(&options, cycle, Some(from), &mut ());
                            let (a, b) = (left(&history, &whole), left(&history, &rest));
                            assert!(a == b, "{file}, {timing:?}, {delay:?}: cycle {cycle} from {}", from.cycle());
                            compared += 1;
                        }
                    }
                }
            }
        }
        assert!(compared > 500, "only {compared} moments were compared");
    }
}
