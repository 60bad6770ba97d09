//! Rectangles of bytes that are all alike in who touched them last.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::cell::Cell;
use crate::rect::{Cut, Rect};

/// Names a region until one is taken out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    /// A single run of bytes, by its first one.
    Run(u64),
    /// Several rows, by their place in the list.
    Rows(usize),
}

/// Some regions.
pub(crate) type Keys = SmallVec<[Key; 8]>;

/// Rectangles that share no byte, each with what is remembered of all of its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    /// Single runs, by their first byte: their end.
    runs: BTreeMap<u64, (u64, Cell)>,
    rows: Vec<(Rect, Cell)>,
    /// By a hash of a rectangle of several rows, where it stood last in the list.
    seen: Vec<u32>,
}

impl Regions {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.runs.len() + self.rows.len()
    }

    /// Takes all of them out.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.rows.clear();
    }

    /// What is remembered of a region of just these bytes.
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

    /// A new region, of bytes that are in no other one.
    pub fn insert(&mut self, rect: Rect, cell: Cell) {
        match rect.rows {
            1 => drop(self.runs.insert(rect.start, (rect.end(), cell))),
            _ => self.rows.push((rect, cell)),
        }
    }

    /// Takes regions out.
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

    /// Takes out the regions that `which` accepts, and gives each to `f`.
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

    /// The single runs that may share a byte with the bytes from `start` to before `end`.
    fn runs_near(&self, start: u64, end: u64) -> impl Iterator<Item = (Key, Rect)> + '_ {
        let before = self.runs.range(..start).next_back().filter(|(_, (end, _))| *end > start);
        let run = |(start, (end, _)): (&u64, &(u64, Cell))| (Key::Run(*start), Rect::run(*start, *end));
        before.into_iter().chain(self.runs.range(start..end)).map(run)
    }

    /// The regions that may share a byte with a rectangle.
    fn near(&self, rect: &Rect) -> impl Iterator<Item = (Key, Rect)> + '_ {
        let (start, end) = (rect.start, rect.end());
        let rows = self.rows.iter().enumerate().map(|(at, (rect, _))| (Key::Rows(at), *rect));
        self.runs_near(start, end).chain(rows.filter(move |(_, rect)| rect.start < end && start < rect.end()))
    }

    /// Calls `f` with the first byte that each region shares with a single run, the end of the region or the run, and what is
    /// remembered of it.
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

    /// True if no region shares a byte with a rectangle.
    pub fn is_apart(&self, rect: &Rect) -> bool {
        self.near(rect).all(|(_, region)| region.cut(rect) == Cut::Apart)
    }

    /// Cuts regions so that each lies inside a rectangle or apart from it, and names those inside; `None` where that takes more
    /// than a few pieces.
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

/// A number that is mostly another one for another rectangle.
#[inline]
fn hash(rect: &Rect) -> u64 {
    let mixed = rect.start ^ rect.bytes.rotate_left(20) ^ rect.rows.rotate_left(40) ^ rect.stride.rotate_left(52);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}
