//! Scalar accesses to global memory that others touch too.
//!
//! Scalar units reach global memory through a data cache that DMA and other cores do not see (public tile manual, MGATHER and
//! MSCATTER: maintenance by line, a barrier behind it). The cache is not modelled: a verdict on a program that mixes both holds
//! only if it keeps the lines in order.

use std::collections::{BTreeMap, BTreeSet};

use slipring_machine::Pipe;
use slipring_program::gm_split;
use slipring_sim::WorkRun;
use slipring_tile::Space;

/// Who touched a buffer.
#[derive(Clone, Debug, Default)]
struct Users {
    /// Scalar units that read it and that wrote it, by [`slipring_sim::Agent::index`].
    scalar: [BTreeSet<usize>; 2],
    /// Whether another pipe read it, and whether one wrote it.
    moved: [bool; 2],
}

/// Which buffers scalar units and others share.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScalarMemory {
    buffers: BTreeMap<usize, Users>,
}

impl ScalarMemory {
    /// Work starts.
    pub fn start(&mut self, run: &WorkRun<'_>) {
        // The signals of control pipes are meant to be seen: their op says so.
        if run.work.fills.is_some() && run.agent.pipe == Pipe::S {
            return;
        }
        for (ranges, write) in [(&run.access.reads, 0), (&run.access.writes, 1)] {
            for range in ranges.iter().filter(|range| range.space == Space::Gm) {
                let Some((buffer, _)) = gm_split(range.start) else { continue };
                let users = self.buffers.entry(buffer).or_default();
                match run.agent.pipe {
                    Pipe::S => drop(users.scalar[write].insert(run.agent.index())),
                    _ => users.moved[write] = true,
                }
            }
        }
    }

    /// True if what a scalar unit wrote or read may stand in its cache alone.
    pub fn is_shared(&self) -> bool {
        self.buffers.values().any(|users| {
            let [readers, writers] = &users.scalar;
            let with_moves =
                (!writers.is_empty() && users.moved != [false; 2]) || (!readers.is_empty() && users.moved[1]);
            with_moves || (!writers.is_empty() && readers.union(writers).count() > 1)
        })
    }
}
