//! The last access to each byte.
//!
//! Programs touch the same tiles again and again. A tile that was touched as a whole is remembered in one entry, a
//! *region*: a rectangle of bytes that all have the same last accesses. Where accesses overlap without being equal,
//! regions are cut into rectangles; only what cannot be expressed by a few rectangles is remembered byte by byte, in
//! [`Pages`]. The representation does not affect reported findings: tests compare the two.

use slipring_program::{Extent, runs};
use smallvec::SmallVec;

use crate::cell::{Cell, Entry, Stamp, Touch, touch_cell};
use crate::clock::Clock;
use crate::pages::{ALL, GRANULE, PAGE, Pages};
use crate::rect::{Cut, Rect, Rects};
use crate::regions::{Keys, Regions};

/// Maximum number of regions of a memory: it limits the cost of finding those that an access overlaps.
const MOST: usize = 2048;
/// Accesses to no more than this many bytes are remembered byte by byte.
const FEW: u64 = 128;

/// The remembered accesses to one memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow {
    regions: Regions,
    /// Those to bytes outside all regions.
    pages: Pages,
}

/// Bytes with the same remembered accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub start: u64,
    pub end: u64,
    /// Their last accesses, in a fixed order.
    pub stamps: Vec<Stamp>,
}

impl Shadow {
    /// The remembered accesses as runs of equal bytes, independent of the representation.
    pub fn runs(&self) -> Vec<Run> {
        let mut all = self.clone();
        all.regions.take(|_| true, |rect, cell| all.pages.replace(rect, cell));
        let mut list: Vec<Run> = Vec::new();
        all.pages.runs(|start, end, mut stamps| {
            stamps.sort_unstable_by_key(|stamp| (stamp.block, stamp.lane, stamp.write, stamp.epoch, stamp.number));
            match list.last_mut() {
                Some(last) if last.end == start && last.stamps == stamps => last.end = end,
                _ => list.push(Run { start, end, stamps }),
            }
        });
        list
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.regions.clear();
        self.pages.clear();
    }

    /// True if out of memory: nothing is remembered any more.
    pub fn is_full(&self) -> bool {
        self.pages.full
    }

    /// Checks an access to a range that begins at `start` of the memory, and remembers it.
    pub fn touch<F: FnMut(Stamp, u64, u64)>(&mut self, range: &Extent, start: u64, touch: &mut Touch<'_, F>) {
        if self.pages.full {
            return;
        }
        match Rect::of(range, start) {
            Some(rect) => self.touch_rect(&rect, touch),
            // Rows that overlap.
            None => runs(range, start).for_each(|(from, to)| self.touch_rect(&Rect::run(from, to), touch)),
        }
    }

    #[inline]
    fn touch_rect<F: FnMut(Stamp, u64, u64)>(&mut self, rect: &Rect, touch: &mut Touch<'_, F>) {
        match self.regions.find(rect) {
            Some(cell) => touch_cell(cell, ALL, rect.start, Some(rect.end()), touch),
            None if rect.len() > FEW => self.touch_pieces(rect, touch),
            None => {
                for (from, to) in rect.each() {
                    self.free(&Rect::run(from / PAGE * PAGE, to.next_multiple_of(PAGE)));
                    self.pages.touch(from, to, touch);
                }
            }
        }
    }

    /// An access to bytes that do not form a region: to some regions, or parts of them, and to bytes outside of all.
    fn touch_pieces<F: FnMut(Stamp, u64, u64)>(&mut self, rect: &Rect, touch: &mut Touch<'_, F>) {
        // Conflicts of the pieces, reported in byte order.
        let mut told: SmallVec<[(Stamp, u64, u64); 4]> = SmallVec::new();
        let (stamp, clock, known, blocks_meet) = (touch.stamp, touch.clock, touch.known, touch.blocks_meet);
        let conflict = |old, first, end| told.push((old, first, end));
        let mut pieces = Touch { stamp, clock, conflict, blocks_meet, known, leans: &mut *touch.leans };
        let one = stamp.replaces();
        let (inner, rest) = self.cut_out(rect);
        for key in &inner {
            let (rect, cell) = self.regions.get(*key);
            touch_cell(cell, ALL, rect.start, Some(rect.end()), &mut pieces);
        }
        for piece in rest {
            match self.pages.alike(&piece) {
                Some(mut cell) => {
                    touch_cell(&mut cell, ALL, piece.start, Some(piece.end()), &mut pieces);
                    if !one {
                        self.regions.insert(piece, cell);
                    }
                }
                None => piece.each().for_each(|(from, to)| self.pages.touch(from, to, &mut pieces)),
            }
        }
        told.sort_by_key(|(_, first, _)| first / GRANULE);
        told.into_iter().for_each(|(old, first, end)| (touch.conflict)(old, first, end));
        if one {
            // Every byte now remembers only this write.
            self.regions.remove(&inner);
            self.regions.insert(*rect, Cell::from_slice(&[Entry { stamp, mask: ALL }]));
        }
        if self.regions.len() > MOST {
            self.regions.take(|_| true, |rect, cell| self.pages.replace(rect, cell));
        }
    }

    /// The regions inside a rectangle, in ascending order, after splitting those that extend beyond it; and the
    /// rectangle's bytes outside of all regions.
    fn cut_out(&mut self, rect: &Rect) -> (Keys, Rects) {
        let Some(inner) = self.regions.cut_out(rect) else { return self.byte_by_byte(rect) };
        let mut rest = Rects::from_slice(&[*rect]);
        if inner.iter().map(|key| self.regions.get(*key).0.len()).sum::<u64>() == rect.len() {
            rest.clear();
        }
        for key in &inner {
            let region = self.regions.get(*key).0;
            let mut left = Rects::new();
            for piece in &rest {
                match piece.cut(&region) {
                    Cut::Apart => left.push(*piece),
                    Cut::Inside => {}
                    Cut::Parts(_, outside) => left.extend(outside),
                    Cut::Mixed => return self.byte_by_byte(rect),
                }
            }
            rest = left;
        }
        (inner, rest)
    }

    /// Converts everything that overlaps a rectangle to byte-by-byte form.
    fn byte_by_byte(&mut self, rect: &Rect) -> (Keys, Rects) {
        self.regions.take(|region| region.cut(rect) != Cut::Apart, |rect, cell| self.pages.replace(rect, cell));
        (Keys::new(), Rects::from_slice(&[*rect]))
    }

    /// Converts the bytes of a rectangle to byte-by-byte form.
    fn free(&mut self, rect: &Rect) {
        if self.regions.is_apart(rect) {
            return;
        }
        let (inner, _) = self.cut_out(rect);
        for key in &inner {
            let (rect, cell) = self.regions.get(*key);
            self.pages.replace(&rect, cell);
        }
        self.regions.remove(&inner);
    }

    /// Calls `f` with the remembered accesses to the bytes of a rectangle, piece by piece: the cell, its bytes, and
    /// start and end of the piece.
    fn look(&mut self, rect: &Rect, mut f: impl FnMut(&Cell, u32, (u64, u64))) {
        if let Some(cell) = self.regions.find(rect) {
            f(cell, ALL, (rect.start, rect.end()));
            return;
        }
        if self.pages.is_empty() && rect.rows == 1 {
            self.regions.each(rect, |at, end, cell| f(cell, ALL, (at, end)));
            return;
        }
        let (inner, rest) = self.cut_out(rect);
        for key in inner {
            let (region, cell) = self.regions.get(key);
            f(cell, ALL, (region.start, region.end()));
        }
        for (from, to) in rest.iter().flat_map(Rect::each) {
            self.pages.each(from, to, |cell, mask, piece| {
                f(cell, mask, piece);
                true
            });
        }
    }

    /// Checks a write against the reads of its own lane without remembering it, before reads of the same work replace
    /// them.
    pub fn look_ahead<F: FnMut(Stamp, u64, u64)>(&mut self, range: &Extent, start: u64, touch: &mut Touch<'_, F>) {
        if self.pages.full {
            return;
        }
        let new = touch.stamp;
        let own = |old: &Stamp| !old.write && (old.block, old.lane) == (new.block, new.lane);
        let mut see = |cell: &Cell, mask: u32, (from, to): (u64, u64)| {
            for Entry { stamp: old, mask: its } in cell.iter().filter(|entry| own(&entry.stamp)) {
                let shared = its & mask;
                if shared == 0 {
                    continue;
                }
                let bit = |bit: u32| from - from % GRANULE + u64::from(bit);
                let bytes = || match shared == mask {
                    true => (from, to),
                    false => (bit(shared.trailing_zeros()), bit(32 - shared.leading_zeros())),
                };
                if touch.clock.get(usize::from(old.lane)) < old.epoch {
                    let (first, end) = bytes();
                    (touch.conflict)(*old, first, end);
                } else if old.number != new.number {
                    touch.leans.on(*old, touch.known, new.commutes(old), bytes);
                }
            }
        };
        match Rect::of(range, start) {
            Some(rect) => self.look(&rect, see),
            None => runs(range, start).for_each(|(from, to)| self.look(&Rect::run(from, to), &mut see)),
        }
    }

    /// The accesses to the bytes from `start` up to `end` that `clock` of this block does not know to be complete, once
    /// each.
    pub fn unordered(&mut self, start: u64, end: u64, block: u32, clock: &Clock) -> Vec<Stamp> {
        if start >= end || self.pages.full {
            return Vec::new();
        }
        let mut found: Vec<(u64, Stamp)> = Vec::new();
        self.look(&Rect::run(start, end), |cell, mask, (at, _)| {
            for Entry { stamp, .. } in cell.iter().filter(|entry| entry.mask & mask != 0) {
                let over = stamp.block == block && clock.get(usize::from(stamp.lane)) >= stamp.epoch;
                if !over {
                    found.push((at / GRANULE, *stamp));
                }
            }
        });
        found.sort_by_key(|(at, _)| *at);
        let mut list: Vec<Stamp> = Vec::new();
        for (_, stamp) in found {
            if !list.contains(&stamp) {
                list.push(stamp);
            }
        }
        list
    }
}

#[cfg(test)]
mod tests;
