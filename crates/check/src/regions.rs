//! Rectangles of bytes that all have the same last accesses.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::cell::Cell;
use crate::rect::{Cut, Rect};

/// Identifies a region until one is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    /// A single run of bytes, by its first byte.
    Run(u64),
    /// Several rows, by index in the list.
    Rows(usize),
}

/// Some regions.
pub(crate) type Keys = SmallVec<[Key; 8]>;

/// Disjoint rectangles, each with the remembered accesses to all of its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    /// Single runs, by their first byte: end and cell.
    runs: BTreeMap<u64, (u64, Cell)>,
    rows: Vec<(Rect, Cell)>,
    /// By hash of a rectangle of several rows: its last index in the list.
    seen: Vec<u32>,
}

impl Regions {
    /// Number of regions.
    pub fn len(&self) -> usize {
        self.runs.len() + self.rows.len()
    }

    /// Removes all of them.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.rows.clear();
    }

    /// The cell of a region with exactly these bytes.
    #[inline]
    pub fn find(&mut self, rect: &Rect) -> Option<&mut Cell> {
        if rect.rows == 1 {
            return self.runs.get_mut(&rect.start).filter(|(end, _)| *end == rect.end()).map(|(_, cell)| cell);
        }
        let place = hash(rect) as usize & self.seen.len().wrapping_sub(1);
        let hint = self.seen.get(place).map(|at| *at as usize);
        let at = match hint.filter(|at| self.rows.get(*at).is_some_and(|(own, _)| own == rect)) {
            Some(at) => at,
            None => self.search(rect)?,
        };
        Some(&mut self.rows[at].1)
    }

    #[cold]
    fn search(&mut self, rect: &Rect) -> Option<usize> {
        let at = self.rows.iter().position(|(own, _)| own == rect)?;
        if self.seen.len() < 2 * self.rows.len() {
            self.seen = vec![0; (4 * self.rows.len()).next_power_of_two()];
        }
        let place = hash(rect) as usize & (self.seen.len() - 1);
        self.seen[place] = at as u32;
        Some(at)
    }

    /// A region.
    pub fn get(&mut self, key: Key) -> (Rect, &mut Cell) {
        match key {
            Key::Run(start) => {
                let (end, cell) = self.runs.get_mut(&start).expect("a key of a region");
                (Rect::run(start, *end), cell)
            }
            Key::Rows(at) => {
                let (rect, cell) = &mut self.rows[at];
                (*rect, cell)
            }
        }
    }

    /// Adds a region, disjoint from all others.
    pub fn insert(&mut self, rect: Rect, cell: Cell) {
        match rect.rows {
            1 => drop(self.runs.insert(rect.start, (rect.end(), cell))),
            _ => self.rows.push((rect, cell)),
        }
    }

    /// Removes regions.
    pub fn remove(&mut self, keys: &[Key]) {
        let mut places: SmallVec<[usize; 8]> = SmallVec::new();
        for key in keys {
            match key {
                Key::Run(start) => drop(self.runs.remove(start)),
                Key::Rows(at) => places.push(*at),
            }
        }
        places.sort_unstable();
        for at in places.into_iter().rev() {
            self.rows.swap_remove(at);
        }
    }

    /// Removes the regions that `which` accepts, and passes each to `f`.
    pub fn take(&mut self, which: impl Fn(&Rect) -> bool, mut f: impl FnMut(&Rect, &Cell)) {
        let mut keep = |rect: Rect, cell: &Cell| {
            let stays = !which(&rect);
            if !stays {
                f(&rect, cell);
            }
            stays
        };
        self.runs.retain(|start, (end, cell)| keep(Rect::run(*start, *end), cell));
        self.rows.retain(|(rect, cell)| keep(*rect, cell));
    }

    /// The single runs that may overlap the bytes from `start` up to `end`.
    fn runs_near(&self, start: u64, end: u64) -> impl Iterator<Item = (Key, Rect)> + '_ {
        let before = self.runs.range(..start).next_back().filter(|(_, (end, _))| *end > start);
        let run = |(start, (end, _)): (&u64, &(u64, Cell))| (Key::Run(*start), Rect::run(*start, *end));
        before.into_iter().chain(self.runs.range(start..end)).map(run)
    }

    /// The regions that may overlap a rectangle.
    fn near(&self, rect: &Rect) -> impl Iterator<Item = (Key, Rect)> + '_ {
        let (start, end) = (rect.start, rect.end());
        let rows = self.rows.iter().enumerate().map(|(at, (rect, _))| (Key::Rows(at), *rect));
        self.runs_near(start, end).chain(rows.filter(move |(_, rect)| rect.start < end && start < rect.end()))
    }

    /// Calls `f` with the first byte that each region shares with a single run, the end of the region or the run, and
    /// the region's cell.
    pub fn each(&self, run: &Rect, mut f: impl FnMut(u64, u64, &Cell)) {
        for (key, region) in self.near(run) {
            let Some(shared) = region.first_within(run.start, run.end()) else { continue };
            let end = region.end().min(run.end());
            match key {
                Key::Run(start) => f(shared, end, &self.runs[&start].1),
                Key::Rows(at) => f(shared, end, &self.rows[at].1),
            }
        }
    }

    /// True if no region overlaps a rectangle.
    pub fn is_apart(&self, rect: &Rect) -> bool {
        self.near(rect).all(|(_, region)| region.cut(rect) == Cut::Apart)
    }

    /// Splits regions so that each is inside a rectangle or disjoint from it, and returns those inside; `None` if that
    /// takes more than a few pieces.
    pub fn cut_out(&mut self, rect: &Rect) -> Option<Keys> {
        loop {
            let (mut inner, mut cut, mut parts) = (Keys::new(), Keys::new(), Vec::new());
            for (key, region) in self.near(rect) {
                match region.cut(rect) {
                    Cut::Apart => {}
                    Cut::Inside => inner.push(key),
                    Cut::Mixed => return None,
                    Cut::Parts(inside, outside) => {
                        cut.push(key);
                        parts.push((key, inside, outside));
                    }
                }
            }
            if cut.is_empty() {
                return Some(inner);
            }
            let mut new = Vec::new();
            for (key, inside, outside) in parts {
                let cell = self.get(key).1.clone();
                new.extend(inside.into_iter().chain(outside).map(|part| (part, cell.clone())));
            }
            self.remove(&cut);
            new.into_iter().for_each(|(part, cell)| self.insert(part, cell));
        }
    }
}

/// A hash of a rectangle.
#[inline]
fn hash(rect: &Rect) -> u64 {
    let mixed = rect.start ^ rect.bytes.rotate_left(20) ^ rect.rows.rotate_left(40) ^ rect.stride.rotate_left(52);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}
