//! The loads of a vector function that a store may have to follow: all of them.
//!
//! Apart from barriers, a load is ordered only before values computed from it. Unlike a later store, a later load of
//! the same bytes therefore does not subsume an earlier one: something ordered after the later load need not be ordered
//! after the earlier one. A load is forgotten once a store has covered its bytes (the store came after it, or the two
//! were reported), at a barrier, and once so many loads follow it that no unit can still have it in flight.

use std::ops::Range;

use crate::access::{BLOCK, Kind, Moment};

/// Maximum number of remembered loads, in total and per block.
const MOST: usize = 2 * KEPT;
const MOST_OF_BLOCK: u32 = 1 << 11;
const NONE: u32 = u32::MAX;

/// A load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub at: Moment,
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// A load's bytes in one block not covered by a later store.
#[derive(Clone, Copy, Debug)]
struct Part {
    load: u32,
    bytes: u32,
    next: u32,
}

/// Loads, by the blocks that they touch.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    list: Vec<Load>,
    parts: Vec<Part>,
    /// For each block the newest part, and an upper bound of their number.
    heads: Vec<(u32, u32)>,
    /// Range of blocks that may have parts.
    dirty: Range<usize>,
    found: Vec<u32>,
}

/// The bytes of a block within a range.
fn bytes_in(block: usize, start: usize, end: usize) -> u32 {
    let base = block * BLOCK;
    let (low, high) = (start.saturating_sub(base), (end - base).min(BLOCK));
    (u32::MAX >> (BLOCK - (high - low))) << low
}

fn blocks(start: usize, end: usize) -> Range<usize> {
    start / BLOCK..end.div_ceil(BLOCK)
}

impl Loads {
    /// Prepares for a memory of this size.
    pub fn resize(&mut self, bytes: usize) {
        self.heads.resize(bytes.div_ceil(BLOCK), (NONE, 0));
    }

    /// Forgets all loads.
    pub fn clear(&mut self) {
        self.list.clear();
        self.parts.clear();
        self.heads[self.dirty.clone()].fill((NONE, 0));
        self.dirty = 0..0;
    }

    /// Remembers a load.
    pub fn note(&mut self, load: Load) {
        if self.list.len() >= MOST {
            self.forget(load.at.position);
        }
        let (number, blocks) = (self.list.len() as u32, blocks(load.start, load.end));
        self.list.push(load);
        for block in blocks.clone() {
            let (next, count) = self.heads[block];
            self.heads[block] = (self.parts.len() as u32, count + 1);
            self.parts.push(Part { load: number, bytes: bytes_in(block, load.start, load.end), next });
            if count >= MOST_OF_BLOCK {
                self.shorten(block);
            }
        }
        self.dirty = match self.dirty.is_empty() {
            true => blocks,
            false => self.dirty.start.min(blocks.start)..self.dirty.end.max(blocks.end),
        };
    }

    /// Forgets the older half of a block's loads.
    #[cold]
    fn shorten(&mut self, block: usize) {
        let (mut at, mut count) = (self.heads[block].0, 0);
        while let Some(part) = self.parts.get_mut(at as usize) {
            (at, count) = (part.next, count + 1);
            if count == MOST_OF_BLOCK / 2 {
                part.next = NONE;
                at = NONE;
            }
        }
        self.heads[block].1 = count;
    }

    /// Forgets the loads that are far back, and at least half of them.
    #[cold]
    fn forget(&mut self, now: u32) {
        let old = self.list.partition_point(|load| now.wrapping_sub(load.at.position) as usize >= KEPT);
        let old = old.max(self.list.len() / 2);
        let mut parts = Vec::with_capacity(self.parts.len());
        for block in self.dirty.clone() {
            let (mut at, _) = std::mem::replace(&mut self.heads[block], (NONE, 0));
            let first = parts.len();
            while let Some(part) = self.parts.get(at as usize) {
                at = part.next;
                if part.load as usize >= old {
                    parts.push(Part { load: part.load - old as u32, next: parts.len() as u32 + 1, ..*part });
                }
            }
            if let Some(last) = parts[first..].last_mut() {
                last.next = NONE;
                self.heads[block] = (first as u32, (parts.len() - first) as u32);
            }
        }
        self.parts = parts;
        self.list.drain(..old);
    }

    /// The loads that share a byte, not covered by a later store, with a range, newest to oldest.
    pub fn over(&mut self, start: usize, end: usize) -> impl Iterator<Item = &Load> + '_ {
        self.found.clear();
        for block in blocks(start, end) {
            let (mut at, wanted) = (self.heads[block].0, bytes_in(block, start, end));
            while let Some(part) = self.parts.get(at as usize) {
                at = part.next;
                if part.bytes & wanted != 0 {
                    self.found.push(part.load);
                }
            }
        }
        self.found.sort_unstable_by(|a, b| b.cmp(a));
        self.found.dedup();
        self.found.iter().map(|number| &self.list[*number as usize])
    }

    /// A store has covered a range.
    pub fn cover(&mut self, start: usize, end: usize) {
        let touched = blocks(start, end);
        for block in touched.start.max(self.dirty.start)..touched.end.min(self.dirty.end) {
            let (mut at, covered) = (self.heads[block].0, bytes_in(block, start, end));
            let mut before: Option<usize> = None;
            while let Some(part) = self.parts.get_mut(at as usize) {
                part.bytes &= !covered;
                let (left, next) = (part.bytes, part.next);
                if left != 0 {
                    before = Some(at as usize);
                } else {
                    match before {
                        Some(before) => self.parts[before].next = next,
                        None => self.heads[block].0 = next,
                    }
                }
                at = next;
            }
        }
    }
}

/// Number of remembered executions. Anything further back counts as complete: no unit has that many instructions in
/// flight.
pub(crate) const KEPT: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn load(position: u32, start: usize, end: usize) -> Load {
        Load { at: Moment { step: 0, site: 0, position }, kind: Kind::VectorLoad, start, end }
    }

    fn over(loads: &mut Loads, start: usize, end: usize) -> Vec<u32> {
        loads.over(start, end).map(|load| load.at.position).collect()
    }

    #[test]
    fn loads_stay_until_their_bytes_are_covered() {
        let mut loads = Loads::default();
        loads.resize(1024);
        loads.note(load(1, 0, 256));
        loads.note(load(2, 100, 356));
        assert_eq!(over(&mut loads, 0, 4), [1]);
        assert_eq!(over(&mut loads, 90, 110), [2, 1]);
        loads.cover(96, 128);
        assert!(over(&mut loads, 96, 128).is_empty());
        assert_eq!(over(&mut loads, 90, 130), [2, 1]);
        loads.cover(0, 256);
        assert_eq!(over(&mut loads, 0, 1024), [2]);
        loads.clear();
        assert!(over(&mut loads, 0, 1024).is_empty());
    }

    /// However many there are, the newest are known, and what is kept does not grow.
    #[test]
    fn many_loads_are_forgotten_from_the_oldest_on() {
        let mut loads = Loads::default();
        loads.resize(1 << 18);
        for position in 0..3 * MOST as u32 {
            let start = position as usize * 32 % (1 << 18);
            loads.note(load(position, start, start + 32));
            if position % 1000 == 0 {
                assert!(loads.list.len() <= MOST && loads.parts.len() <= 2 * MOST);
                assert_eq!(over(&mut loads, start, start + 32)[0], position);
            }
        }
        loads.clear();
        (0..10_000).for_each(|position| loads.note(load(position, 64, 96)));
        let known = over(&mut loads, 64, 96);
        assert!(known.len() as u32 <= MOST_OF_BLOCK + 1 && known[0] == 9_999);
        assert!(known.windows(2).all(|pair| pair[0] == pair[1] + 1));
    }
}
