//! Scalar accesses to global memory that others touch too.
//!
//! Scalar units reach global memory through a data cache that DMA and other cores do not see (headers of the A2/A3's tile library,
//! PTOAS#696 and #915; public tile manual, MGATHER and MSCATTER: maintenance by line, a barrier behind it). The cache is not
//! modelled: a line of it that a scalar unit holds and others write, or that it has written and others touch, is an error where the
//! platform reads `scalar-cache`, and in order only if the cache is bypassed elsewhere.

use std::collections::BTreeMap;

use slipring_machine::Pipe;
use slipring_program::{Cleans, Finding, Severity, SiteRef, gm_split, runs};
use slipring_sim::{Agent, WorkRun};
use slipring_tile::Space;

/// Bytes of a line of the cache (PTOAS#915; `kCacheLineBytes` of the headers).
const LINE: u64 = 64;

/// An agent at a place.
type Here = (Agent, SiteRef);

/// A line in the cache of a scalar unit.
#[derive(Clone, Debug)]
struct Held {
    /// Who holds it, and its last access.
    by: Here,
    /// It has been written there.
    written: bool,
    /// Who has written memory since it was read there.
    behind: Option<Here>,
}

/// Which lines of global memory scalar units hold, and what of them is shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScalarMemory {
    /// By line of the address space, then by [`Agent::index`].
    lines: BTreeMap<u64, BTreeMap<usize, Held>>,
    /// The first two accesses to a buffer one of which does not see what the other one writes.
    shared: BTreeMap<usize, [Here; 2]>,
    /// What is shared is an error.
    cached: bool,
}

impl ScalarMemory {
    /// Nothing has been touched yet; `cached` if a data cache stands between scalar units and global memory.
    pub fn new(cached: bool) -> ScalarMemory {
        ScalarMemory { cached, ..ScalarMemory::default() }
    }

    /// Work starts.
    pub fn start(&mut self, run: &WorkRun<'_>) {
        // The signals of control pipes are meant to be seen: their op says so.
        let scalar = run.access.cached && run.work.fills.is_none();
        let cleans = run.access.cleans.is_some();
        if run.agent.pipe == Pipe::S && !scalar && !cleans || !scalar && self.lines.is_empty() {
            return;
        }
        let here = (run.agent, run.site);
        match run.access.cleans {
            Some(Cleans::All) => self.lines.values_mut().for_each(|line| {
                line.remove(&run.agent.index());
            }),
            Some(Cleans::Line(at)) => {
                if let Some(line) = self.lines.get_mut(&(at / LINE)) {
                    line.remove(&run.agent.index());
                }
            }
            None => {}
        }
        for (ranges, write) in [(&run.access.reads, false), (&run.access.writes, true)] {
            for range in ranges.iter().filter(|range| range.space == Space::Gm && range.bytes() > 0) {
                let whole = range.start / LINE..=(range.end() - 1) / LINE;
                if !scalar && self.lines.range(whole).next().is_none() {
                    continue;
                }
                for (from, to) in runs(range, range.start) {
                    let lines = from / LINE..=(to - 1) / LINE;
                    if scalar {
                        lines.clone().for_each(|line| {
                            self.lines.entry(line).or_default();
                        });
                    }
                    let met = self.lines.range_mut(lines).filter_map(|(_, line)| touch(line, here, write, scalar));
                    if let (Some(pair), Some((buffer, _))) = (met.last(), gm_split(range.start)) {
                        self.shared.entry(buffer).or_insert(pair);
                    }
                }
            }
        }
    }

    /// True if what a scalar unit wrote or read may stand in its cache alone, and nobody has said that there is one.
    pub fn leans(&self) -> bool {
        !self.cached && !self.shared.is_empty()
    }

    /// What is wrong where there is a cache.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let shared = self.shared.values().filter(|_| self.cached);
        shared.map(|[(scalar, at), (other, there)]| {
            let message = format!("{scalar} and {other} share a line of memory, and a data cache stands between them");
            Finding::new("stale-scalar", Severity::Error, message)
                .at(*at, format!("{scalar} goes through its data cache here"))
                .also(*there, format!("{other} touches the same {LINE} bytes of memory here"))
                .note("the platform reads `scalar-cache`: a line stays in the cache until something writes it back")
                .help("write the cache back and forget its lines between the two; or let one of the two do both")
        })
    }
}

/// An access to a line that scalar units may hold: what it and an earlier access do not see of each other.
fn touch(line: &mut BTreeMap<usize, Held>, here: Here, write: bool, scalar: bool) -> Option<[Here; 2]> {
    let (own, mut met) = (here.0.index(), None);
    for (_, held) in line.iter_mut().filter(|(holder, _)| !scalar || **holder != own) {
        if held.written {
            met = Some([held.by, here]);
        } else if write {
            held.behind = Some(here);
        }
    }
    if scalar {
        let held = line.entry(own).or_insert(Held { by: here, written: false, behind: None });
        if let (Some(other), false) = (held.behind, write) {
            met = Some([here, other]);
        }
        held.by = if held.written && !write { held.by } else { here };
        held.written |= write;
    }
    met
}
