//! Scalar accesses to global memory that others touch too.
//!
//! Scalar units reach global memory through a data cache that DMA and other cores do not see (headers of the A2/A3's tile library,
//! PTOAS#696 and #915; public tile manual, MGATHER and MSCATTER: maintenance by line, a barrier after it). The cache is not
//! modelled: a line of it that a scalar unit holds and others write, or that it has written and others touch, is an error where the
//! platform reads `scalar-cache`, and in order only if the cache is bypassed elsewhere. Where boards have shown that there is one
//! (`sync.scalar_cache` of the platform), others that read the very bytes that a scalar unit has written are an error in any case.

use std::collections::BTreeMap;

use slipring_machine::interpretations::SCALAR_CACHE;
use slipring_machine::{Pipe, Platform};
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
    /// The bytes of it that have been written there, a bit each.
    written: u64,
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
    /// The first two of a buffer of which the later reads what the earlier has written.
    lost: BTreeMap<usize, [Here; 2]>,
    /// What is shared is an error.
    cached: bool,
    /// What others read of it is.
    surely: bool,
}

impl ScalarMemory {
    /// Nothing has been touched yet.
    pub fn new(platform: &Platform) -> ScalarMemory {
        let cached = platform.reads_otherwise(&SCALAR_CACHE);
        ScalarMemory { cached, surely: platform.sync.scalar_cache, ..ScalarMemory::default() }
    }

    /// True if no scalar unit holds anything.
    pub fn is_idle(&self) -> bool {
        self.lines.is_empty()
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

    /// True if what a scalar unit wrote or read may stand in its cache alone, and nobody has said that there is one.
    pub fn leans(&self) -> bool {
        !self.cached && !self.shared.is_empty() && (!self.surely || self.lost.is_empty())
    }

    /// What is wrong where there is a cache.
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

/// What an access touches of a line.
#[derive(Clone, Copy)]
struct Bytes {
    mask: u64,
    write: bool,
}

/// Two accesses that do not see of each other what they write.
struct Met {
    pair: [Here; 2],
    /// The second reads bytes that the first has written, and writes none of them.
    lost: bool,
}

/// The bytes of a line that lie in a range, a bit each.
fn mask(line: u64, from: u64, to: u64) -> u64 {
    let first = line * LINE;
    let [from, to] = [from, to].map(|at| at.clamp(first, first + LINE) - first);
    let below = |at: u64| 1u64.checked_shl(at as u32).map_or(u64::MAX, |bit| bit - 1);
    below(to) & !below(from)
}

/// An access to a line that scalar units may hold: what it and an earlier access do not see of each other.
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
