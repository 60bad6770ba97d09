//! Scalar accesses to global memory that others touch too.
//!
//! Scalar units reach global memory through a data cache that DMA and other cores do not see (public tile manual, MGATHER and
//! MSCATTER: maintenance by line, a barrier behind it). The cache is not modelled: what a scalar unit and others share is in order
//! only if the cache is bypassed, and an error in the other reading of the platform.

use std::collections::BTreeMap;

use slipring_machine::Pipe;
use slipring_program::{Finding, Severity, SiteRef, gm_split};
use slipring_sim::{Agent, WorkRun};
use slipring_tile::Space;

/// Who touched a buffer.
#[derive(Clone, Debug, Default)]
struct Users {
    /// Scalar units that read it and that wrote it, by [`Agent::index`], each with a place.
    scalar: [BTreeMap<usize, (Agent, SiteRef)>; 2],
    /// Where another pipe read it, and where one wrote it.
    moved: [Option<(Agent, SiteRef)>; 2],
}

/// Two accesses to a buffer, the first of a scalar unit, one of which does not see what the other one writes.
type Shared = [(Agent, SiteRef); 2];

impl Users {
    fn shared(&self) -> Option<Shared> {
        let [readers, writers] = &self.scalar;
        let moved = self.moved[1].or(self.moved[0]);
        let with_moves = writers.values().next().zip(moved).or(readers.values().next().zip(self.moved[1]));
        let with_scalars = || {
            let (agent, writer) = writers.iter().next()?;
            let other = readers.iter().chain(writers).find(|(other, _)| *other != agent)?;
            Some((writer, *other.1))
        };
        with_moves.or_else(with_scalars).map(|(scalar, other)| [*scalar, other])
    }
}

/// Which buffers scalar units and others share.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScalarMemory {
    buffers: BTreeMap<usize, Users>,
    /// What is shared is an error.
    cached: bool,
}

impl ScalarMemory {
    /// Nothing has been touched yet; `cached` if a data cache stands between scalar units and global memory.
    pub fn new(cached: bool) -> ScalarMemory {
        ScalarMemory { buffers: BTreeMap::new(), cached }
    }

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
                let here = (run.agent, run.site);
                match run.agent.pipe {
                    Pipe::S => drop(users.scalar[write].entry(run.agent.index()).or_insert(here)),
                    _ => drop(users.moved[write].get_or_insert(here)),
                }
            }
        }
    }

    /// True if what a scalar unit wrote or read may stand in its cache alone, and nobody has said that there is one.
    pub fn leans(&self) -> bool {
        !self.cached && self.buffers.values().any(|users| users.shared().is_some())
    }

    /// What is wrong where there is a cache.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let shared = self.buffers.values().filter(|_| self.cached).filter_map(Users::shared);
        shared.map(|[(scalar, at), (other, there)]| {
            let message = format!("{scalar} and {other} share a buffer, and a data cache stands between them");
            Finding::new("stale-scalar", Severity::Error, message)
                .at(at, format!("{scalar} goes through its data cache here"))
                .also(there, format!("{other} goes past it here"))
                .note("the platform reads `scalar-cache`; no op of the text keeps the lines of the cache in order")
                .help("let one of them do both, or move the bytes with the other's kind of access")
        })
    }
}
