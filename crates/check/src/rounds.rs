//! A run from cut point to cut point: the state at each, and the bytes of global memory touched in between.

use std::collections::{BTreeMap, BTreeSet};

use slipring_machine::Role;
use slipring_program::{WorkId, gm_split};
use slipring_sim::{CutPoint, WorkRun};
use slipring_tile::Space;

use crate::{CoreSnapshot, Marking};

/// The accesses to a buffer between two cut points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touched {
    /// The first byte, and the end.
    pub first: u64,
    #[allow(missing_docs)]
    pub end: u64,
    /// Whether something was written.
    pub written: bool,
    /// Whether something was read.
    pub read: bool,
}

/// The values passed for an operand of work.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ArgUse {
    /// Addresses in these buffers.
    pub buffers: BTreeSet<usize>,
    /// Other values, too.
    pub other: bool,
}

/// The sections of a run between cut points.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// The positions of the cores at each cut point, for the first [`Rounds::MOST`].
    pub stands: Vec<Vec<CoreSnapshot>>,
    /// The state at the last cut point, if a core leaves its loop there.
    pub last: Option<Marking>,
    /// The state at each cut point from a given one on, if requested.
    pub markings: Vec<Marking>,
    /// The first cut point to record.
    pub keep: Option<usize>,
    /// Cut points so far.
    met: usize,
    /// The buffers touched before the first cut point, between each two, and after the last.
    pub touched: Vec<BTreeMap<usize, Touched>>,
    /// Number of work items started.
    pub works: u64,
    /// The values passed for operands: by core, work and position.
    pub args: BTreeMap<(Role, WorkId, usize), ArgUse>,
}

impl Rounds {
    /// Maximum number of recorded cut points.
    pub const MOST: usize = 512;

    /// Records the states from a cut point on.
    pub(crate) fn keeping(from: usize) -> Rounds {
        Rounds { keep: Some(from), ..Rounds::default() }
    }

    pub(crate) fn start(&mut self, run: &WorkRun<'_>) {
        self.works += 1;
        if self.touched.is_empty() {
            self.touched.push(BTreeMap::new());
        }
        for (at, arg) in run.args.iter().enumerate() {
            let known = self.args.entry((run.agent.role, run.id, at)).or_default();
            match gm_split(*arg) {
                Some((buffer, _)) => drop(known.buffers.insert(buffer)),
                None => known.other = true,
            }
        }
        let Some(round) = self.touched.last_mut() else { return };
        for (ranges, written) in [(&run.access.reads, false), (&run.access.writes, true)] {
            for range in ranges.iter().filter(|range| range.space == Space::Gm) {
                let Some((buffer, start)) = gm_split(range.start) else { continue };
                let first = start.max(0) as u64;
                let end = first + (range.end() - range.start);
                let known = round.entry(buffer).or_insert(Touched { first, end, written: false, read: false });
                (known.first, known.end) = (known.first.min(first), known.end.max(end));
                known.written |= written;
                known.read |= !written;
            }
        }
    }

    pub(crate) fn meet(&mut self, meeting: &CutPoint<'_>, marking: impl FnOnce() -> Marking) {
        if self.touched.is_empty() {
            self.touched.push(BTreeMap::new());
        }
        if self.stands.len() < Rounds::MOST {
            self.stands.push(CoreSnapshot::of(meeting));
        }
        self.met += 1;
        if let Some(keep) = self.keep {
            if self.met > keep && self.markings.len() < Rounds::MOST {
                self.markings.push(marking());
            }
            self.touched.push(BTreeMap::new());
            return;
        }
        // A run ends after some core has left its loop.
        self.last = meeting.cores.iter().any(|core| core.leaves).then(marking);
        self.touched.push(BTreeMap::new());
    }

    /// The first byte of a buffer touched in these sections; `None` if there is none.
    pub fn first(&self, rounds: std::ops::Range<usize>, buffer: usize) -> Option<u64> {
        let rounds = self.touched.get(rounds.start..rounds.end.min(self.touched.len())).unwrap_or_default();
        rounds.iter().filter_map(|round| Some(round.get(&buffer)?.first)).min()
    }

    /// The end of the touched part of a buffer.
    pub fn end(&self, buffer: usize) -> u64 {
        self.touched.iter().filter_map(|round| Some(round.get(&buffer)?.end)).max().unwrap_or(0)
    }

    /// True if a buffer is read.
    pub fn reads(&self, buffer: usize) -> bool {
        self.touched.iter().any(|round| round.get(&buffer).is_some_and(|touched| touched.read))
    }

    /// True if a buffer is written.
    pub fn writes(&self, buffer: usize) -> bool {
        self.touched.iter().any(|round| round.get(&buffer).is_some_and(|touched| touched.written))
    }
}
