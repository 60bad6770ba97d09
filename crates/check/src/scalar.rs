//! Scalar accesses to global memory that other agents touch as well.
//!
//! Scalar units reach global memory through a data cache that DMA and other cores do not see (headers of the A2/A3's
//! tile library, PTOAS#696 and #915; public tile manual, MGATHER and MSCATTER: maintenance by line, a barrier after
//! it). The cache is not modelled. A cache line that a scalar unit holds and others write, or that it has written and
//! others touch, is an error under the interpretation `scalar-cache`; otherwise such accesses count as ordered only on
//! the assumption that the cache is bypassed. Where boards have shown that the cache exists (`sync.scalar_cache` of the
//! platform), a read by others of the very bytes that a scalar unit has written is an error in any case.

use std::collections::BTreeMap;

use slipring_machine::interpretations::SCALAR_CACHE;
use slipring_machine::{Pipe, Platform};
use slipring_program::{Cleans, Finding, Severity, SiteRef, gm_split, runs};
use slipring_sim::{Agent, WorkRun};
use slipring_tile::Space;

/// Bytes per cache line (PTOAS#915; `kCacheLineBytes` of the headers).
const LINE: u64 = 64;

/// An agent at a location.
type Here = (Agent, SiteRef);

/// A line in the cache of a scalar unit.
#[derive(Clone, Debug)]
struct Held {
    /// The holder, and its last access.
    by: Here,
    /// The bytes of it that have been written there, one bit each.
    written: u64,
    /// The agent that has written memory since it was read there.
    behind: Option<Here>,
}

/// The lines of global memory held by scalar units, and the conflicting uses of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScalarMemory {
    /// By line of the address space, then by [`Agent::index`].
    lines: BTreeMap<u64, BTreeMap<usize, Held>>,
    /// For each buffer, the first two accesses of which one does not see the other's writes.
    shared: BTreeMap<usize, [Here; 2]>,
    /// For each buffer, the first two of which the later reads bytes that the earlier has written.
    lost: BTreeMap<usize, [Here; 2]>,
    /// Whether the former are errors.
    cached: bool,
    /// Whether the latter are errors.
    surely: bool,
}

impl ScalarMemory {
    /// An empty state.
    pub fn new(platform: &Platform) -> ScalarMemory {
        let cached = platform.reads_otherwise(&SCALAR_CACHE);
        ScalarMemory { cached, surely: platform.sync.scalar_cache, ..ScalarMemory::default() }
    }

    /// True if no scalar unit holds any line.
    pub fn is_idle(&self) -> bool {
        self.lines.is_empty()
    }

    /// Work starts.
    pub fn start(&mut self, run: &WorkRun<'_>) {
        // The signals of control pipes are meant to be visible: their op states that.
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
                    let met: Vec<Met> = self
                        .lines
                        .range_mut(lines)
                        .filter_map(|(at, line)| touch(line, here, Bytes { mask: mask(*at, from, to), write }, scalar))
                        .collect();
                    let Some((buffer, _)) = gm_split(range.start) else { continue };
                    if let Some(lost) = met.iter().rfind(|met| met.lost) {
                        self.lost.entry(buffer).or_insert(lost.pair);
                    }
                    if let Some(shared) = met.last() {
                        self.shared.entry(buffer).or_insert(shared.pair);
                    }
                }
            }
        }
    }

    /// True if data written or read by a scalar unit may be only in its cache, and it is not established that there is
    /// a cache.
    pub fn leans(&self) -> bool {
        !self.cached && !self.shared.is_empty() && (!self.surely || self.lost.is_empty())
    }

    /// The errors if there is a cache.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let found = match (self.cached, self.surely) {
            (true, _) => Some(&self.shared),
            (false, true) => Some(&self.lost),
            _ => None,
        };
        let why = if self.cached {
            "the platform reads `scalar-cache`: a line stays in the cache until something writes it back"
        } else {
            "results of boards (PTOAS#696, #915): what a scalar unit writes stays in its cache until something writes it back"
        };
        found.into_iter().flat_map(BTreeMap::values).map(move |[(scalar, at), (other, there)]| {
            let message = format!("{scalar} and {other} share a line of memory, and a data cache stands between them");
            Finding::new("stale-scalar", Severity::Error, message)
                .at(*at, format!("{scalar} goes through its data cache here"))
                .also(*there, format!("{other} touches the same {LINE} bytes of memory here"))
                .note(why)
                .help("write back and invalidate the cache lines between the two, or do both accesses on one unit")
        })
    }
}

/// The part of a line that an access touches.
#[derive(Clone, Copy)]
struct Bytes {
    mask: u64,
    write: bool,
}

/// Two accesses that do not see each other's writes.
struct Met {
    pair: [Here; 2],
    /// The second reads bytes that the first has written, and writes none of them.
    lost: bool,
}

/// The bytes of a line within a range, one bit each.
fn mask(line: u64, from: u64, to: u64) -> u64 {
    let first = line * LINE;
    let [from, to] = [from, to].map(|at| at.clamp(first, first + LINE) - first);
    let below = |at: u64| 1u64.checked_shl(at as u32).map_or(u64::MAX, |bit| bit - 1);
    below(to) & !below(from)
}

/// An access to a line that scalar units may hold: the conflict with an earlier access, if any.
fn touch(line: &mut BTreeMap<usize, Held>, here: Here, bytes: Bytes, scalar: bool) -> Option<Met> {
    let (own, mut met) = (here.0.index(), None);
    let Bytes { mask, write } = bytes;
    for (_, held) in line.iter_mut().filter(|(holder, _)| !scalar || **holder != own) {
        if held.written != 0 {
            met = Some(Met { pair: [held.by, here], lost: !write && held.written & mask != 0 });
        } else if write {
            held.behind = Some(here);
        }
    }
    if scalar {
        let held = line.entry(own).or_insert(Held { by: here, written: 0, behind: None });
        if let (Some(other), false) = (held.behind, write) {
            met = Some(Met { pair: [here, other], lost: false });
        }
        held.by = if held.written != 0 && !write { held.by } else { here };
        held.written |= if write { mask } else { 0 };
    }
    met
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn bytes_of_a_line_are_bits() {
        assert_eq!(mask(0, 0, 64), u64::MAX);
        assert_eq!(mask(1, 0, 64), 0);
        assert_eq!(mask(1, 60, 66), 0b11);
        assert_eq!(mask(0, 60, 66), 0b1111 << 60);
    }
}
