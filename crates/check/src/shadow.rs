//! Who touched which byte last.

use slipring_program::Update;
use smallvec::SmallVec;

use crate::clock::Clock;

/// Bytes of a page: the unit in which whole tiles are remembered.
const PAGE: u64 = 1024;
/// Bytes of a granule: the unit in which parts of a page are remembered, with one mask bit a byte.
const GRANULE: u64 = 32;
const GRANULES: usize = (PAGE / GRANULE) as usize;
const ALL: u32 = u32::MAX;

/// One access, as it is remembered for the bytes that it touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub block: u32,
    pub lane: u8,
    pub write: bool,
    /// Part of an atomic update, which may come before or after another one of its kind.
    pub update: Option<Update>,
    pub epoch: u32,
    pub site: u32,
    /// Number of the step among those of its core, in program order.
    pub number: u32,
}

impl Stamp {
    /// True for two atomic updates that may come in either order.
    pub fn commutes(&self, other: &Stamp) -> bool {
        self.update.is_some() && self.update == other.update
    }
}

/// An access and the bytes of the granule that it touched and that nothing later replaced.
#[derive(Clone, Copy, Debug)]
struct Entry {
    stamp: Stamp,
    mask: u32,
}

/// What is remembered of a granule, or of a page whose bytes are all alike (its masks are then all ones):
/// for each byte the last write, and the last read of each agent since.
type Cell = SmallVec<[Entry; 2]>;

#[derive(Clone, Debug)]
enum Page {
    Alike(Cell),
    Parts(Box<[Cell; GRANULES]>),
}

/// What is remembered of one memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow {
    pages: Vec<Page>,
    /// The host had no room for them: nothing is remembered any more.
    pub full: bool,
}

/// An access that is checked.
pub(crate) struct Touch<'a, F: FnMut(Stamp, u64, u64)> {
    pub stamp: Stamp,
    /// What is over before the access starts.
    pub clock: &'a Clock,
    /// Told for each earlier access that conflicts and is not ordered before: who it was and the bytes
    /// (first and end) of a piece of the overlap.
    pub conflict: F,
    /// Set where only the order of one pipe keeps the access apart from an earlier one.
    pub leans: &'a mut bool,
}

impl Shadow {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pages.clear();
    }

    /// Checks an access to the bytes from `start` to before `end` and remembers it.
    pub fn touch<F: FnMut(Stamp, u64, u64)>(&mut self, start: u64, end: u64, touch: &mut Touch<'_, F>) {
        let pages = end.div_ceil(PAGE) as usize;
        if self.pages.len() < pages {
            self.full |= self.pages.try_reserve(pages - self.pages.len()).is_err();
            if self.full {
                self.pages = Vec::new();
                return;
            }
            self.pages.resize(pages, Page::Alike(Cell::new()));
        }
        let mut at = start;
        while at < end {
            let base = at - at % PAGE;
            let stop = end.min(base + PAGE);
            self.pages[(base / PAGE) as usize].touch(base, at, stop, touch);
            at = stop;
        }
    }
}

impl Shadow {
    /// The accesses to the bytes from `start` to before `end` that `clock` of this block does not know to be over, once each.
    pub fn unordered(&self, start: u64, end: u64, block: u32, clock: &Clock) -> Vec<Stamp> {
        let mut found: Vec<Stamp> = Vec::new();
        let mut look = |cell: &Cell, mask: u32| {
            for Entry { stamp, .. } in cell.iter().filter(|entry| entry.mask & mask != 0) {
                let over = stamp.block == block && clock.get(usize::from(stamp.lane)) >= stamp.epoch;
                if !over && !found.contains(stamp) {
                    found.push(*stamp);
                }
            }
        };
        let mut at = start;
        while at < end {
            let Some(page) = self.pages.get((at / PAGE) as usize) else { break };
            at = match page {
                Page::Alike(cell) => {
                    look(cell, ALL);
                    at - at % PAGE + PAGE
                }
                Page::Parts(cells) => {
                    let stop = end.min(at - at % GRANULE + GRANULE);
                    let mask = bits((at % GRANULE) as u32, ((stop - 1) % GRANULE + 1) as u32);
                    look(&cells[(at % PAGE / GRANULE) as usize], mask);
                    stop
                }
            };
        }
        found
    }
}

impl Page {
    /// The part of an access that lies in this page, which starts at `base`.
    fn touch<F: FnMut(Stamp, u64, u64)>(&mut self, base: u64, start: u64, end: u64, touch: &mut Touch<'_, F>) {
        let whole = end - start == PAGE;
        if let Page::Alike(cell) = self {
            if whole {
                touch_cell(cell, ALL, base, PAGE, touch);
                return;
            }
            *self = Page::Parts(Box::new(std::array::from_fn(|_| cell.clone())));
        }
        let Page::Parts(cells) = self else { return };
        let mut at = start;
        while at < end {
            let index = (at - base) / GRANULE;
            let first = base + index * GRANULE;
            let stop = end.min(first + GRANULE);
            let mask = bits((at - first) as u32, (stop - first) as u32);
            touch_cell(&mut cells[index as usize], mask, first, GRANULE, touch);
            at = stop;
        }
        if whole && touch.stamp.write && touch.stamp.update.is_none() {
            // Every granule now remembers this write and nothing else.
            *self = Page::Alike(Cell::from_slice(&[Entry { stamp: touch.stamp, mask: ALL }]));
        }
    }
}

/// Bits `from` to before `to` of a mask.
fn bits(from: u32, to: u32) -> u32 {
    let below = |n: u32| if n >= 32 { ALL } else { (1 << n) - 1 };
    below(to) & !below(from)
}

/// The part of an access that lies in one granule or page of `size` bytes.
#[inline]
fn touch_cell<F: FnMut(Stamp, u64, u64)>(cell: &mut Cell, mask: u32, base: u64, size: u64, touch: &mut Touch<'_, F>) {
    let new = touch.stamp;
    // Reads of two other blocks over all these bytes: whatever writes here later races with one of them.
    let mut others: [Option<u32>; 2] = [None; 2];
    let mut at = 0;
    while at < cell.len() {
        let entry = &mut cell[at];
        let shared = entry.mask & mask;
        if shared != 0 {
            let old = entry.stamp;
            let ordered = old.block == new.block && touch.clock.get(usize::from(old.lane)) >= old.epoch;
            let commute = new.commutes(&old);
            if (new.write || old.write) && ordered && old.lane == new.lane && old.number != new.number {
                *touch.leans = true;
            }
            if (new.write || old.write) && !ordered {
                let (first, last) = (shared.trailing_zeros(), 32 - shared.leading_zeros());
                let (from, to) = if size == GRANULE { (u64::from(first), u64::from(last)) } else { (0, size) };
                (touch.conflict)(old, base + from, base + to);
            }
            // A later access that conflicts with both need only be ordered after the new one.
            let same = old.block == new.block && old.lane == new.lane;
            // One that is not ordered after another update of its kind does not stand for it.
            if (new.write && (!commute || ordered || same)) || (!old.write && (ordered || same)) {
                entry.mask &= !mask;
                if entry.mask == 0 {
                    cell.swap_remove(at);
                    continue;
                }
            } else if !old.write && old.block != new.block && shared == mask {
                match others {
                    [None, _] => others[0] = Some(old.block),
                    [Some(block), None] if block != old.block => others[1] = Some(old.block),
                    _ => {}
                }
            }
        }
        at += 1;
    }
    if others[1].is_none() {
        cell.push(Entry { stamp: new, mask });
    }
}

#[cfg(test)]
mod tests {
    use slipring_program::UpdateKind;

    use super::*;

    fn stamp(lane: u8, write: bool) -> Stamp {
        Stamp { block: 0, lane, write, update: None, epoch: 1, site: u32::from(lane), number: 0 }
    }

    /// Accesses of agents that know nothing of each other: the conflicts of each.
    fn conflicts(accesses: &[(u8, bool, u64, u64)]) -> Vec<(u8, u64, u64)> {
        let mut shadow = Shadow::default();
        let mut found: Vec<(u8, u64, u64)> = Vec::new();
        for &(lane, write, start, end) in accesses {
            let mut clock = Clock::default();
            clock.set(usize::from(lane), 1);
            let before = found.len();
            let conflict = |old: Stamp, from, to| match found[before..]
                .iter_mut()
                .find(|last| last.0 == old.lane && last.2 == from)
            {
                Some(last) => last.2 = to,
                None => found.push((old.lane, from, to)),
            };
            shadow.touch(
                start,
                end,
                &mut Touch { stamp: stamp(lane, write), clock: &clock, conflict, leans: &mut false },
            );
        }
        found
    }

    #[test]
    fn what_has_no_room_is_given_up() {
        let (mut shadow, mut clock) = (Shadow::default(), Clock::default());
        clock.set(1, 1);
        let mut leans = false;
        for start in [0, 1 << 60, 0] {
            let conflict = |_, _, _| {};
            let mut touch = Touch { stamp: stamp(1, true), clock: &clock, conflict, leans: &mut leans };
            shadow.touch(start, start + 32, &mut touch);
        }
        assert!(shadow.full && shadow.pages.is_empty());
    }

    #[test]
    fn overlaps_are_exact_to_the_byte() {
        assert_eq!(conflicts(&[(1, true, 0, 100), (2, false, 100, 200)]), []);
        assert_eq!(conflicts(&[(1, true, 0, 100), (2, false, 99, 200)]), [(1, 99, 100)]);
        assert_eq!(conflicts(&[(1, false, 5, 7), (1, false, 9, 11), (2, true, 7, 9)]), []);
        assert_eq!(conflicts(&[(1, true, 0, 4096), (2, true, 1000, 3000)]), [(1, 1000, 3000)]);
        assert_eq!(conflicts(&[(1, true, 1000, 3000), (2, true, 0, 4096)]), [(1, 1000, 3000)]);
    }

    #[test]
    fn reads_do_not_conflict_and_none_is_forgotten() {
        assert_eq!(conflicts(&[(1, false, 0, 64), (2, false, 0, 64), (3, false, 0, 64)]), []);
        let mut all = conflicts(&[(1, false, 0, 32), (2, false, 0, 32), (3, true, 0, 32)]);
        all.sort();
        assert_eq!(all, [(1, 0, 32), (2, 0, 32)]);
    }

    #[test]
    fn a_write_replaces_what_it_covers_only() {
        let accesses = [(1, true, 0, 64), (2, true, 0, 16), (3, false, 0, 64)];
        // The third sees the second for bytes 0 to 15 and the first for the rest.
        let mut found = conflicts(&accesses);
        found[1..].sort();
        assert_eq!(found, [(1, 0, 16), (1, 16, 64), (2, 0, 16)]);
    }

    #[test]
    fn updates_of_a_kind_commute_and_none_is_forgotten() {
        let mut shadow = Shadow::default();
        let mut found = Vec::new();
        let of = |kind| Some(Update { kind, elem: slipring_tile::Elem::I32 });
        for (lane, update) in [(1, of(UpdateKind::Add)), (2, of(UpdateKind::Add)), (3, of(UpdateKind::Max)), (4, None)]
        {
            let mut clock = Clock::default();
            clock.set(usize::from(lane), 1);
            let stamp = Stamp { update, ..stamp(lane, update.is_some()) };
            let conflict = |old: Stamp, _, _| found.push((lane, old.lane, stamp.commutes(&old)));
            shadow.touch(0, 32, &mut Touch { stamp, clock: &clock, conflict, leans: &mut false });
        }
        found.sort_unstable();
        // The second addition is told of the first, with which it commutes; the maximum races with both, the read with all.
        let told = [(2, 1, true), (3, 1, false), (3, 2, false), (4, 3, false)];
        assert_eq!(found, told);
    }

    #[test]
    fn blocks_are_never_ordered() {
        let mut shadow = Shadow::default();
        let mut clock = Clock::default();
        clock.set(3, 100);
        let mut found = Vec::new();
        for (block, write) in [(0, false), (1, false), (2, false), (3, false), (1, true)] {
            let stamp = Stamp { block, ..stamp(3, write) };
            let conflict = |old: Stamp, _, _| found.push(old.block);
            shadow.touch(0, 2048, &mut Touch { stamp, clock: &clock, conflict, leans: &mut false });
        }
        // Two other readers are enough to remember; each page tells the one that is not the writer itself.
        assert_eq!(found, [0, 0]);
    }
}
