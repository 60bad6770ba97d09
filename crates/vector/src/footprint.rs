//! The bytes of the unified buffer that a vector function touched, and the accesses to them that nothing orders.
//!
//! Inside a vector function, loads and stores of the same bytes are not ordered unless a `mem_bar` of the right type
//! separates them (micro-instruction manual, `mem_bar`). The exception is a load before a store whose value was
//! computed from what that very execution of the load read, or from something that a barrier made wait for a store of
//! that kind. Each kind of pair has a set of bytes: those that the first access touched since the last barrier for that
//! pair. Where two accesses share such bytes, the steps executed between them determine whether something else orders
//! them ([`Trace`](crate::trace::Trace)). Only the last store needs to be consulted, since as far as later accesses are
//! concerned it comes after what precedes it; of loads every one is consulted ([`Loads`](crate::loads::Loads)).

use slipring_machine::Role;
use slipring_program::{Access, Extent, InnerConflict, SiteRef};
use slipring_tile::Space;

use crate::Kind::VectorLoad;
use crate::access::{BEHIND_LOADS, BLOCK, Barrier, Judge, Moment, PAIRS, Touch, VECTOR_PAIRS, VLD_VST, VST_VST, row};
use crate::bytes::{Bytes, Cover, join};
use crate::journal::Journal;
use crate::loads::{Load, Loads};

/// The accesses of one execution.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    /// Bytes read, except those that the function had written itself.
    read: Bytes,
    written: Bytes,
    pending: [Bytes; PAIRS.len()],
    /// For each kind of store and each block, the last store.
    last: [Vec<Moment>; 2],
    loads: Loads,
    /// The unordered accesses among those being checked.
    unordered: Vec<Moment>,
    asked: Vec<Moment>,
    pub conflicts: Vec<InnerConflict>,
    /// True as long as `read` and `written` are sufficient: the sets of `pending` are not maintained.
    plain: bool,
    /// True as long as accesses are only recorded.
    keeps: bool,
    journal: Journal,
}

impl Footprint {
    /// Prepares for a function with these pairs on a memory of this size. If there is a chance that a simple check
    /// suffices, accesses are checked at the end: `steps` is then the number of steps of the function.
    pub fn restart(&mut self, bytes: usize, relevant: u16, steps: Option<usize>) {
        self.plain = relevant & !VECTOR_PAIRS == 0;
        self.keeps = self.plain && steps.is_some();
        if let Some(steps) = steps.filter(|_| self.keeps) {
            self.journal.restart(steps);
        }
        for set in [&mut self.read, &mut self.written].into_iter().chain(&mut self.pending) {
            set.resize(bytes);
        }
        self.loads.resize(bytes);
        for last in &mut self.last {
            last.resize(bytes.div_ceil(BLOCK), Moment::default());
        }
    }

    /// Records an access. `relevant` are the pairs that the function can have at all; `judge` returns those of some
    /// accesses, given newest to oldest, that only a barrier of their own kind orders before a later one.
    #[inline]
    pub fn touch(&mut self, touch: Touch, start: usize, end: usize, relevant: u16, core: Role, judge: impl Judge) {
        if start == end {
            return;
        }
        if !self.keeps {
            self.touch_now(touch, start, end, relevant, core, &judge);
        } else if !self.journal.note(touch, start, end) {
            self.settle(relevant, core, &judge);
        }
    }

    /// Records an access that continues the stride of its step, as long as accesses are only recorded. Otherwise
    /// returns false and records nothing.
    #[inline]
    pub fn goes_on(&mut self, touch: Touch, start: usize, end: usize) -> bool {
        self.keeps && start < end && self.journal.goes_on(touch, start, end)
    }

    /// True if accesses are only recorded, and one of this size would continue the stride of its step, as would those
    /// after it with this distance and pace.
    pub fn goes_on_by(&self, touch: Touch, start: usize, bytes: usize, distance: usize, pace: u32) -> bool {
        self.keeps && self.journal.goes_on_by(touch, start, bytes, distance, pace)
    }

    /// Records several accesses of a step for which [`Footprint::goes_on_by`] holds.
    pub fn go_on(&mut self, step: u32, count: u32) {
        self.journal.go_on(step, count);
    }

    /// From now on accesses are checked as they happen; those already recorded are checked immediately.
    #[cold]
    #[inline(never)]
    pub fn settle(&mut self, relevant: u16, core: Role, judge: &impl Judge) {
        if std::mem::take(&mut self.keeps) {
            for (touch, start, end) in self.journal.in_order() {
                self.touch_now(touch, start, end, relevant, core, judge);
            }
        }
    }

    /// True if accesses are still only recorded: after [`Footprint::finish`], if that was sufficient.
    pub fn keeps(&self) -> bool {
        self.keeps
    }

    #[inline(never)]
    fn touch_now(&mut self, touch: Touch, start: usize, end: usize, relevant: u16, core: Role, judge: &impl Judge) {
        if self.touch_plainly(touch, start, end, relevant, judge) {
            return;
        }
        if touch.kind.writes() {
            self.written.add(start, end);
        } else {
            self.read.add_without(start, end, &self.written);
        }
        let mut left = relevant;
        while left != 0 {
            let pair = left.trailing_zeros() as usize;
            left &= left - 1;
            let (first, second, ..) = PAIRS[pair];
            if second == touch.kind && self.pending[pair].first_common(start, end).is_some() {
                match BEHIND_LOADS >> pair & 1 {
                    0 => self.behind_store(pair, touch, start, end, core, judge),
                    _ => self.behind_loads(pair, touch, start, end, core, judge),
                }
            }
            if first == touch.kind {
                self.pending[pair].add(start, end);
            }
        }
        if !touch.kind.writes() {
            self.note_load(touch, start, end, relevant);
            return;
        }
        if relevant != 0 {
            self.last[row(touch.kind)][start / BLOCK..end.div_ceil(BLOCK)].fill(touch.at);
        }
        // Everything after this store comes after the loads of its bytes, or they were reported.
        let behind_loads = self.pending.iter_mut().enumerate().filter(|(pair, _)| BEHIND_LOADS >> pair & 1 != 0);
        behind_loads.for_each(|(_, set)| set.remove(start, end));
        self.loads.cover(start, end);
    }

    /// Remembers a load that some store may have to come after.
    #[inline]
    fn note_load(&mut self, touch: Touch, start: usize, end: usize, relevant: u16) {
        let pairs = relevant & BEHIND_LOADS;
        if pairs != 0 && (0..PAIRS.len()).any(|pair| pairs >> pair & 1 != 0 && PAIRS[pair].0 == touch.kind) {
            self.loads.note(Load { at: touch.at, kind: touch.kind, start, end });
        }
    }

    /// True if a conflict of these locations is known.
    fn is_told(&self, pair: usize, earlier: SiteRef, later: SiteRef) -> bool {
        self.conflicts.iter().any(|c| (c.earlier, c.later, c.barrier) == (earlier, later, PAIRS[pair].2))
    }

    /// A conflict of an access with an earlier one, in the bytes from `at` that are in the pair's set.
    fn tell(&mut self, pair: usize, touch: Touch, before: Moment, (at, end): (usize, usize), core: Role) {
        let (first, second, barrier, between) = PAIRS[pair];
        let (earlier, later) = (before.site, touch.at.site);
        if !self.is_told(pair, earlier, later) {
            let end = self.pending[pair].run_end(at, end);
            let extent = Extent::run(Space::Vec, core, at as u64, (end - at) as u32);
            let (writes, kept) = ([first.writes(), second.writes()], pair == VST_VST);
            let steps = [before.position, touch.at.position];
            self.conflicts.push(InnerConflict {
                earlier,
                later,
                writes,
                kept,
                extent,
                barrier,
                between,
                steps,
                workitems: None,
            });
        }
    }

    /// Checks an access to bytes of which some were stored before: block by block, with a common last store.
    #[cold]
    fn behind_store(&mut self, pair: usize, touch: Touch, start: usize, end: usize, core: Role, judge: &impl Judge) {
        let first = PAIRS[pair].0;
        let mut from = start;
        while from < end
            && let Some(at) = self.pending[pair].first_common(from, end)
        {
            let last = &self.last[row(first)];
            let before = last[at / BLOCK];
            let others = (at / BLOCK + 1..end.div_ceil(BLOCK)).find(|block| last[*block] != before);
            from = self.pending[pair].run_end(at, others.map_or(end, |block| block * BLOCK));
            self.unordered.clear();
            judge(&[before], touch.at, &mut self.unordered);
            if !self.unordered.is_empty() {
                self.tell(pair, touch, before, (at, from), core);
            }
        }
    }

    /// The loads of the pair that nothing orders before an access to bytes that they read, newest first.
    fn unordered_loads(&mut self, pair: usize, touch: Touch, start: usize, end: usize, judge: &impl Judge) {
        let pending = &self.pending[pair];
        let shares = |load: &Load| match self.plain {
            true => true,
            false => pending.first_common(load.start.max(start), load.end.min(end)).is_some(),
        };
        let loads = self.loads.over(start, end);
        let (first, _, barrier, _) = PAIRS[pair];
        let told = |load: &Load| {
            let same = |c: &InnerConflict| (c.earlier, c.later, c.barrier) == (load.at.site, touch.at.site, barrier);
            self.conflicts.iter().any(same)
        };
        let asked = loads.filter(|load| load.kind == first && shares(load) && !told(load)).map(|load| load.at);
        self.asked.clear();
        self.asked.extend(asked);
        self.asked.dedup();
        self.unordered.clear();
        if !self.asked.is_empty() {
            judge(&self.asked, touch.at, &mut self.unordered);
        }
    }

    /// Checks an access to bytes of which some were loaded before.
    #[cold]
    fn behind_loads(&mut self, pair: usize, touch: Touch, start: usize, end: usize, core: Role, judge: &impl Judge) {
        self.unordered_loads(pair, touch, start, end, judge);
        let mut unordered = std::mem::take(&mut self.unordered);
        for before in unordered.drain(..).rev() {
            if self.is_told(pair, before.site, touch.at.site) {
                continue;
            }
            let loads = self.loads.over(start, end);
            let shared = |load: &Load| {
                let (from, to) = (load.start.max(start), load.end.min(end));
                self.pending[pair].first_common(from, to).map(|at| (at, to))
            };
            let piece = loads.filter(|load| load.at == before).filter_map(shared).min();
            if let Some(piece) = piece {
                self.tell(pair, touch, before, piece, core);
            }
        }
        self.unordered = unordered;
    }

    /// Records an access while all pairs can be derived from the bytes read and written: before any barrier, if only
    /// vector instructions touch memory. Otherwise, or if that is no longer sufficient, returns false and records
    /// nothing.
    #[inline]
    fn touch_plainly(&mut self, touch: Touch, start: usize, end: usize, relevant: u16, judge: &impl Judge) -> bool {
        if !self.plain {
            return false;
        }
        let cover = Cover::new(start, end);
        let writes = touch.kind.writes();
        let over_loads = writes && cover.any(&self.read.words) != 0;
        let mut leaves = cover.any(&self.written.words) != 0;
        if over_loads && !leaves {
            self.unordered_loads(VLD_VST, touch, start, end, judge);
            leaves = !self.unordered.is_empty();
        }
        if leaves {
            self.leave_plain();
            return false;
        }
        let set = if writes { &mut self.written } else { &mut self.read };
        set.add(start, end);
        match writes {
            true => self.last[row(touch.kind)][start / BLOCK..end.div_ceil(BLOCK)].fill(touch.at),
            false => self.note_load(touch, start, end, relevant),
        }
        if over_loads {
            self.loads.cover(start, end);
        }
        true
    }

    /// From now on each kind of pair has its own set.
    #[cold]
    fn leave_plain(&mut self) {
        self.plain = false;
        for ((pair, ..), set) in PAIRS.iter().zip(&mut self.pending).take(VECTOR_PAIRS.count_ones() as usize) {
            match pair {
                VectorLoad => set.copy_without(&self.read, Some(&self.written)),
                _ => set.copy_without(&self.written, None),
            }
        }
    }

    /// Earlier accesses are ordered before later ones, for the pairs of this barrier. From now on accesses are not only
    /// recorded.
    pub fn barrier(&mut self, barrier: Barrier) {
        if self.plain {
            self.leave_plain();
        }
        for (pair, set) in self.pending.iter_mut().enumerate() {
            if barrier.0 >> pair & 1 != 0 {
                set.clear();
            }
        }
        if (0..PAIRS.len()).all(|pair| BEHIND_LOADS >> pair & 1 == 0 || self.pending[pair].is_empty()) {
            self.loads.clear();
        }
    }

    /// True if the function has written the byte.
    pub fn has_written(&self, byte: usize) -> bool {
        self.written.words[byte / 64] >> (byte % 64) & 1 != 0
    }

    /// Calls `f` with the runs of bytes that the function has written: start and end.
    pub fn each_written(&self, mut f: impl FnMut(u64, u64)) {
        let mut extents = Vec::new();
        self.written.extents(Role::Aiv0, &mut extents);
        for extent in extents {
            for row in 0..u64::from(extent.rows) {
                let from = extent.start + row * extent.stride;
                f(from, from + u64::from(extent.row_bytes));
            }
        }
    }

    /// Returns the accesses and resets. `steady(store, load, count, pace)` answers the queries of
    /// [`Journal::is_plain`].
    pub fn finish(
        &mut self,
        relevant: u16,
        core: Role,
        access: &mut Access,
        judge: impl Judge,
        steady: impl Fn(Moment, Moment, u32, u32) -> bool,
    ) {
        if self.keeps && !self.journal.is_plain(steady) {
            self.settle(relevant, core, &judge);
        }
        for (writes, out) in [(false, &mut access.reads), (true, &mut access.writes)] {
            let set = if writes { &mut self.written } else { &mut self.read };
            if self.keeps {
                if self.journal.runs(writes, |start, end| join(out, core, start, end)) {
                    continue;
                }
                self.journal.each(writes, |start, end| set.add(start, end));
            }
            set.extents(core, out);
        }
        access.conflicts.append(&mut self.conflicts);
        for set in [&mut self.read, &mut self.written].into_iter().chain(&mut self.pending) {
            set.clear();
        }
        self.loads.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind::VectorStore;
    use crate::access::relevant;

    /// What a conflict names: the bytes of the store before that the load also touches, store by store.
    #[test]
    fn a_conflict_names_the_bytes_that_both_touch() {
        let mut footprint = Footprint::default();
        let relevant = relevant(|kind| matches!(kind, VectorStore | VectorLoad));
        footprint.restart(1024, relevant, None);
        let mut touch = |kind, site, start, end| {
            let at = Moment { step: site, site, position: site };
            let judge = |asked: &[Moment], _, found: &mut Vec<Moment>| {
                found.extend(asked.iter().filter(|before| before.step != 7).copied());
            };
            footprint.touch(Touch { kind, at }, start, end, relevant, Role::Aiv0, judge);
        };
        touch(VectorStore, 1, 100, 228);
        touch(VectorStore, 2, 256, 512);
        touch(VectorLoad, 3, 60, 300);
        touch(VectorLoad, 4, 600, 640);
        touch(VectorLoad, 7, 640, 700);
        touch(VectorStore, 8, 630, 690);
        let named: Vec<_> =
            footprint.conflicts.iter().map(|c| (c.earlier, c.later, c.extent.start, c.extent.row_bytes)).collect();
        assert_eq!(named, [(1, 3, 100, 128), (2, 3, 256, 44), (4, 8, 630, 10)]);
    }

    #[test]
    fn every_barrier_is_known() {
        assert!(Barrier::NAMES.iter().all(|name| Barrier::parse(name).is_some()));
        assert_eq!(Barrier::parse("VST"), None);
    }
}
