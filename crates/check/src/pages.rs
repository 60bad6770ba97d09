//! The last access to each byte: pages of granules with masks.

use crate::cell::{Cell, Entry, Stamp, Touch, touch_cell};
use crate::rect::Rect;

/// Bytes per page: the unit in which whole tiles are remembered.
pub(crate) const PAGE: u64 = 1024;
/// Bytes per granule: the unit in which parts of a page are remembered, with one mask bit per byte.
pub(crate) const GRANULE: u64 = 32;
const GRANULES: usize = (PAGE / GRANULE) as usize;
pub(crate) const ALL: u32 = u32::MAX;

/// Granules, or a page whose bytes all have the same accesses (its masks are then all ones).
#[derive(Clone, Debug)]
enum Page {
    Alike(Cell),
    Parts(Box<[Cell; GRANULES]>),
}

/// The remembered accesses to one memory, byte by byte.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    pages: Vec<Page>,
    /// The host had no memory for them: nothing is remembered any more.
    pub full: bool,
}

impl Pages {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pages.clear();
    }

    /// True if nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Allocates up to `end`; false if out of memory.
    fn reach(&mut self, end: u64) -> bool {
        let pages = end.div_ceil(PAGE) as usize;
        if self.pages.len() < pages {
            self.full |= self.pages.try_reserve(pages - self.pages.len()).is_err();
            if self.full {
                self.pages = Vec::new();
                return false;
            }
            self.pages.resize(pages, Page::Alike(Cell::new()));
        }
        true
    }

    /// Checks an access to the bytes from `start` up to `end` and remembers it.
    pub fn touch<F: FnMut(Stamp, u64, u64)>(&mut self, start: u64, end: u64, touch: &mut Touch<'_, F>) {
        if !self.reach(end) {
            return;
        }
        let mut at = start;
        while at < end {
            let base = at - at % PAGE;
            let stop = end.min(base + PAGE);
            self.pages[(base / PAGE) as usize].touch(base, at, stop, touch);
            at = stop;
        }
    }

    /// Calls `f` with the remembered accesses to the bytes from `start` up to `end`, piece by piece: the cell, its
    /// bytes (all of them for a page), and start and end of the piece. Stops when `f` says so, and where nothing was
    /// touched beyond.
    pub fn each(&self, start: u64, end: u64, mut f: impl FnMut(&Cell, u32, (u64, u64)) -> bool) {
        let mut at = start;
        while at < end {
            let Some(page) = self.pages.get((at / PAGE) as usize) else { return };
            let (stop, goes_on) = match page {
                Page::Alike(cell) => {
                    let stop = at - at % PAGE + PAGE;
                    (stop, f(cell, ALL, (at, stop.min(end))))
                }
                Page::Parts(cells) => {
                    let stop = end.min(at - at % GRANULE + GRANULE);
                    let mask = bits((at % GRANULE) as u32, ((stop - 1) % GRANULE + 1) as u32);
                    (stop, f(&cells[(at % PAGE / GRANULE) as usize], mask, (at, stop)))
                }
            };
            if !goes_on {
                return;
            }
            at = stop;
        }
    }

    /// The remembered accesses to all bytes of a rectangle, if they are the same for each of them.
    pub fn alike(&self, rect: &Rect) -> Option<Cell> {
        let mut first: Option<Cell> = None;
        let mut look = |cell: &[Entry], mask: u32| {
            let entries = || cell.iter().filter(|entry| entry.mask & mask != 0);
            let stamps = || entries().map(|entry| entry.stamp);
            match &first {
                _ if entries().any(|entry| entry.mask & mask != mask) => false,
                Some(first) => first.iter().map(|entry| entry.stamp).eq(stamps()),
                None => {
                    first = Some(stamps().map(|stamp| Entry { stamp, mask: ALL }).collect());
                    true
                }
            }
        };
        let known = self.pages.len() as u64 * PAGE;
        for (from, to) in rect.each() {
            let mut same = true;
            self.each(from, to, |cell, mask, _| {
                same = look(cell, mask);
                same
            });
            // Nobody has touched the bytes beyond.
            if !same || (to > known && !look(&[], ALL)) {
                return None;
            }
            if from >= known {
                break;
            }
        }
        first
    }

    /// Calls `f` with each run of bytes with the same accesses that somebody touched: start, end, and the accesses, in
    /// no particular order. Such runs also end at page and granule boundaries.
    pub fn runs(&self, mut f: impl FnMut(u64, u64, Vec<Stamp>)) {
        let mut tell = |start, end, cell: &Cell, mask: u32| {
            let stamps: Vec<Stamp> = cell.iter().filter(|e| e.mask & mask != 0).map(|e| e.stamp).collect();
            if !stamps.is_empty() {
                f(start, end, stamps);
            }
        };
        for (page, base) in self.pages.iter().zip((0..).step_by(PAGE as usize)) {
            let cells = match page {
                Page::Alike(cell) => {
                    tell(base, base + PAGE, cell, ALL);
                    continue;
                }
                Page::Parts(cells) => cells,
            };
            for (cell, first) in cells.iter().zip((base..).step_by(GRANULE as usize)) {
                // Bits at which some mask changes.
                let edges = cell.iter().fold(1, |all, entry| all | (entry.mask ^ (entry.mask << 1)));
                let mut at = 0;
                while at < GRANULE {
                    let rest = u64::from(edges) >> (at + 1);
                    let next = if rest == 0 { GRANULE } else { at + 1 + u64::from(rest.trailing_zeros()) };
                    tell(first + at, first + next, cell, 1 << at);
                    at = next;
                }
            }
        }
    }

    /// Sets the cell for all bytes of a rectangle, replacing what was remembered of them.
    pub fn replace(&mut self, rect: &Rect, with: &Cell) {
        if !self.reach(rect.end()) {
            return;
        }
        for (from, to) in rect.each() {
            let mut at = from;
            while at < to {
                let base = at - at % PAGE;
                let stop = to.min(base + PAGE);
                self.pages[(base / PAGE) as usize].replace(base, at, stop, with);
                at = stop;
            }
        }
    }
}

impl Page {
    /// The individual granules, split from now on.
    fn parts(&mut self) -> &mut [Cell] {
        if let Page::Alike(cell) = self {
            *self = Page::Parts(Box::new(std::array::from_fn(|_| cell.clone())));
        }
        if let Page::Parts(cells) = self { &mut cells[..] } else { &mut [] }
    }

    /// The part of an access within this page, which starts at `base`.
    fn touch<F: FnMut(Stamp, u64, u64)>(&mut self, base: u64, start: u64, end: u64, touch: &mut Touch<'_, F>) {
        let whole = end - start == PAGE;
        if let Page::Alike(cell) = self
            && whole
        {
            touch_cell(cell, ALL, base, Some(base + PAGE), touch);
            return;
        }
        let cells = self.parts();
        for (index, first, mask) in granules(base, start, end) {
            touch_cell(&mut cells[index], mask, first, None, touch);
        }
        if whole && touch.stamp.write && touch.stamp.update.is_none() {
            // Every granule now remembers only this write.
            *self = Page::Alike(Cell::from_slice(&[Entry { stamp: touch.stamp, mask: ALL }]));
        }
    }

    fn replace(&mut self, base: u64, start: u64, end: u64, with: &Cell) {
        if end - start == PAGE {
            *self = Page::Alike(with.clone());
            return;
        }
        let cells = self.parts();
        for (index, _, mask) in granules(base, start, end) {
            let cell = &mut cells[index];
            cell.iter_mut().for_each(|entry| entry.mask &= !mask);
            cell.retain(|entry| entry.mask != 0);
            for new in with {
                match cell.iter_mut().find(|entry| entry.stamp == new.stamp) {
                    Some(entry) => entry.mask |= mask,
                    None => cell.push(Entry { mask, ..*new }),
                }
            }
        }
    }
}

/// The granules of some bytes of a page that starts at `base`: their index, their first byte, and the mask of their
/// bytes.
fn granules(base: u64, start: u64, end: u64) -> impl Iterator<Item = (usize, u64, u32)> {
    (start / GRANULE..end.div_ceil(GRANULE)).map(move |granule| {
        let first = granule * GRANULE;
        let mask = bits(start.saturating_sub(first) as u32, (end.min(first + GRANULE) - first) as u32);
        ((granule - base / GRANULE) as usize, first, mask)
    })
}

/// Bits `from` up to `to` of a mask.
fn bits(from: u32, to: u32) -> u32 {
    let below = |n: u32| if n >= 32 { ALL } else { (1 << n) - 1 };
    below(to) & !below(from)
}
