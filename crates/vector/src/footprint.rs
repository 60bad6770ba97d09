//! Which bytes of the unified buffer a vector function touched, and in which order nothing keeps them.
//!
//! Inside a vector function loads and stores of the same bytes are not ordered unless a `mem_bar` of the right type
//! stands between them (micro-instruction manual, `mem_bar`). Loads before stores are the exception where the stored
//! value was computed from what that very execution of the load read, or from what a barrier made wait for a store of
//! that kind. Each kind of pair has a set of bytes: what the first access touched since the last barrier for that pair.

use slipring_machine::Role;
use slipring_program::{Access, Extent, InnerConflict, SiteRef};
use slipring_tile::Space;

use crate::journal::{Journal, join};

/// A kind of memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    VectorLoad,
    VectorStore,
    ScalarLoad,
    ScalarStore,
}

impl Kind {
    pub(crate) const fn writes(self) -> bool {
        matches!(self, Kind::VectorStore | Kind::ScalarStore)
    }
}

use Kind::{ScalarLoad, ScalarStore, VectorLoad, VectorStore};

/// The pairs that nothing but a barrier orders: what comes first, what comes second, the barrier, and what it stands between.
const PAIRS: [(Kind, Kind, &str, &str); 9] = [
    (VectorStore, VectorLoad, "VST_VLD", "the store and the load"),
    (VectorLoad, VectorStore, "VLD_VST", "the load and the store"),
    (VectorStore, VectorStore, "VST_VST", "the two stores"),
    (VectorStore, ScalarLoad, "VST_LD", "the store and the scalar load"),
    (VectorLoad, ScalarStore, "VLD_ST", "the load and the scalar store"),
    (VectorStore, ScalarStore, "VST_ST", "the vector store and the scalar store"),
    (ScalarStore, VectorLoad, "ST_VLD", "the scalar store and the load"),
    (ScalarLoad, VectorStore, "LD_VST", "the scalar load and the store"),
    (ScalarStore, VectorStore, "ST_VST", "the scalar store and the vector store"),
];

/// The pairs of vector accesses, one bit each.
const VECTOR_PAIRS: u16 = 0b000_000_111;

/// A type of `mem_bar`: the pairs that it orders, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier(u16);

impl Barrier {
    /// Every spelling.
    pub const NAMES: [&'static str; 12] = [
        "VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "VLD_ST", "VST_ST", "SV_ALL", "ST_VLD",
        "LD_VST", "ST_VST",
    ];

    /// Reads the spelling of the manual.
    pub fn parse(name: &str) -> Option<Barrier> {
        Some(Barrier(match name {
            "VV_ALL" => 0b000_000_111,
            "VS_ALL" => 0b000_111_000,
            "SV_ALL" => 0b111_000_000,
            _ => 1 << PAIRS.iter().position(|pair| pair.2 == name)?,
        }))
    }
}

impl Barrier {
    /// Whether loads behind it wait for the stores before it.
    pub(crate) const fn orders_loads_behind_stores(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A set of bytes of a memory.
#[derive(Debug, Default)]
struct Bytes {
    words: Vec<u64>,
    /// Words that may have bits.
    dirty: std::ops::Range<usize>,
}

/// The bits of bytes `start .. end` in word `word`.
#[inline]
fn bits(word: usize, start: usize, end: usize) -> u64 {
    let low = start.saturating_sub(word * 64);
    let high = (end - word * 64).min(64);
    (u64::MAX >> (64 - (high - low))) << low
}

/// A range of bytes as the words that it lies in: which bits of the first and of the last one belong to it.
#[derive(Clone, Copy)]
struct Cover {
    first: usize,
    last: usize,
    head: u64,
    tail: u64,
}

impl Cover {
    #[inline]
    fn new(start: usize, end: usize) -> Cover {
        let (head, tail) = (u64::MAX << (start % 64), u64::MAX >> (end.wrapping_neg() % 64));
        Cover { first: start / 64, last: end.div_ceil(64), head, tail }
    }

    /// Not 0 if a bit of the range is set.
    #[inline]
    fn any(&self, words: &[u64]) -> u64 {
        match &words[self.first..self.last] {
            [] => 0,
            [only] => only & self.head & self.tail,
            [first, between @ .., last] => {
                between.iter().fold(first & self.head | last & self.tail, |any, word| any | word)
            }
        }
    }

    /// Sets the bits of the range.
    #[inline]
    fn fill(&self, words: &mut [u64]) {
        match &mut words[self.first..self.last] {
            [] => {}
            [only] => *only |= self.head & self.tail,
            [first, between @ .., last] => {
                *first |= self.head;
                // A register covers five words at most: not worth a call.
                match between {
                    [] => {}
                    [a] => *a = u64::MAX,
                    [a, b] => (*a, *b) = (u64::MAX, u64::MAX),
                    [a, b, c] => (*a, *b, *c) = (u64::MAX, u64::MAX, u64::MAX),
                    more => more.fill(u64::MAX),
                }
                *last |= self.tail;
            }
        }
    }
}

impl Bytes {
    fn resize(&mut self, bytes: usize) {
        self.words.resize(bytes.div_ceil(64), 0);
    }

    #[inline]
    fn add(&mut self, start: usize, end: usize) {
        let cover = Cover::new(start, end);
        cover.fill(&mut self.words);
        self.widen(cover.first, cover.last);
    }

    /// Adds the bytes of a range that `known` does not have.
    #[inline]
    fn add_without(&mut self, start: usize, end: usize, known: &Bytes) {
        if known.dirty.is_empty() {
            return self.add(start, end);
        }
        let (first, last) = (start / 64, end.div_ceil(64));
        for word in first..last {
            self.words[word] |= bits(word, start, end) & !known.words[word];
        }
        self.widen(first, last);
    }

    #[inline]
    fn widen(&mut self, first: usize, last: usize) {
        self.dirty =
            if self.dirty.is_empty() { first..last } else { self.dirty.start.min(first)..self.dirty.end.max(last) };
    }

    /// The first byte of the range that is in the set.
    #[inline]
    fn first_common(&self, start: usize, end: usize) -> Option<usize> {
        if end <= self.dirty.start * 64 || start >= self.dirty.end * 64 {
            return None;
        }
        (start / 64..end.div_ceil(64)).find_map(|word| {
            let common = self.words[word] & bits(word, start, end);
            (common != 0).then(|| word * 64 + common.trailing_zeros() as usize)
        })
    }

    fn copy_from(&mut self, other: &Bytes) {
        self.clear();
        self.words[other.dirty.clone()].copy_from_slice(&other.words[other.dirty.clone()]);
        self.dirty = other.dirty.clone();
    }

    /// Where the run of bytes of the set that begins at `start` ends, `end` at the latest.
    fn run_end(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let run = (!(self.words[at / 64] >> (at % 64))).trailing_zeros() as usize;
            at += run.min(64 - at % 64);
            if run == 0 || !at.is_multiple_of(64) {
                break;
            }
        }
        at.min(end)
    }

    fn clear(&mut self) {
        self.words[self.dirty.clone()].fill(0);
        self.dirty = 0..0;
    }

    /// Runs of bytes, in order; runs of equal length and distance become one range.
    fn extents(&self, core: Role, out: &mut Vec<Extent>) {
        let mut run: Option<(u64, u64)> = None;
        let mut close = |run: &mut Option<(u64, u64)>| {
            if let Some((start, end)) = run.take() {
                join(out, core, start, end);
            }
        };
        for at in self.dirty.clone() {
            let mut word = self.words[at];
            let mut bit = 0u64;
            if let Some((_, end)) = run.as_mut().filter(|run| word == u64::MAX && run.1 == at as u64 * 64) {
                *end += 64;
                continue;
            }
            while word != 0 {
                let skip = u64::from(word.trailing_zeros());
                word >>= skip;
                bit += skip;
                let length = u64::from(word.trailing_ones());
                let start = at as u64 * 64 + bit;
                match &mut run {
                    Some((_, end)) if *end == start => *end = start + length,
                    _ => {
                        close(&mut run);
                        run = Some((start, start + length));
                    }
                }
                word = if length == 64 { 0 } else { word >> length };
                bit += length;
            }
        }
        close(&mut run);
    }
}

/// One execution of a step that touches memory. As large as a vector of the host, so that many places take one at once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(align(16))]
pub(crate) struct Moment {
    /// Number of the step.
    pub step: u32,
    pub site: SiteRef,
    /// How many vector instructions the function had executed before.
    pub position: u32,
}

/// An access as it happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub kind: Kind,
    pub at: Moment,
}

/// Bytes to a block, for which the last access is remembered.
const BLOCK: usize = 32;

/// What one execution has touched.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    /// Read, except what the function had written itself.
    read: Bytes,
    written: Bytes,
    pending: [Bytes; PAIRS.len()],
    /// For each kind and block the last access.
    last: [Vec<Moment>; 4],
    pub conflicts: Vec<InnerConflict>,
    /// True as long as `read` and `written` say all: the sets of `pending` are not kept.
    plain: bool,
    /// True as long as accesses are only written down.
    keeps: bool,
    journal: Journal,
}

impl Footprint {
    /// Gets ready for a function with these pairs on a memory of so many bytes. Accesses are judged at the end, if there is
    /// reason to hope that this is simple: `steps` is then how many steps the function has.
    pub fn restart(&mut self, bytes: usize, relevant: u16, steps: Option<usize>) {
        self.plain = relevant & !VECTOR_PAIRS == 0;
        self.keeps = self.plain && steps.is_some();
        if let Some(steps) = steps.filter(|_| self.keeps) {
            self.journal.restart(steps);
        }
        for set in [&mut self.read, &mut self.written].into_iter().chain(&mut self.pending) {
            set.resize(bytes);
        }
        for last in &mut self.last {
            last.resize(bytes.div_ceil(BLOCK), Moment::default());
        }
    }

    /// Notes an access. `relevant` are the pairs that the function can have at all; `depends(store, load)` tells whether
    /// what an execution of a store writes was computed from what an execution of a load read.
    #[inline]
    pub fn touch(
        &mut self,
        touch: Touch,
        start: usize,
        end: usize,
        relevant: u16,
        core: Role,
        depends: impl Fn(Moment, Moment) -> bool,
    ) {
        if start == end {
            return;
        }
        if !self.keeps {
            self.touch_now(touch, start, end, relevant, core, &depends);
        } else if !self.journal.note(touch, start, end) {
            self.settle(relevant, core, &depends);
        }
    }

    /// From now on accesses are judged as they happen; those that were only written down, at once.
    #[cold]
    #[inline(never)]
    pub fn settle(&mut self, relevant: u16, core: Role, depends: &impl Fn(Moment, Moment) -> bool) {
        if std::mem::take(&mut self.keeps) {
            for (touch, start, end) in self.journal.in_order() {
                self.touch_now(touch, start, end, relevant, core, depends);
            }
        }
    }

    /// True if accesses are still only written down: after [`Footprint::finish`], if that was enough.
    pub fn keeps(&self) -> bool {
        self.keeps
    }

    #[inline(never)]
    fn touch_now(
        &mut self,
        touch: Touch,
        start: usize,
        end: usize,
        relevant: u16,
        core: Role,
        depends: &impl Fn(Moment, Moment) -> bool,
    ) {
        if self.touch_plainly(touch, start, end, depends) {
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
            if second == touch.kind {
                let mut from = start;
                while from < end
                    && let Some(at) = self.pending[pair].first_common(from, end)
                {
                    from = self.conflict(pair, touch, at, end, core, depends);
                }
            }
            if first == touch.kind {
                self.pending[pair].add(start, end);
            }
        }
        if relevant != 0 {
            let last = &mut self.last[touch.kind as usize];
            last[start / BLOCK..end.div_ceil(BLOCK)].fill(touch.at);
        }
    }

    /// Judges the bytes from `at` on that the access shares with one before it, and answers where they end.
    #[cold]
    fn conflict(
        &mut self,
        pair: usize,
        touch: Touch,
        at: usize,
        end: usize,
        core: Role,
        depends: &impl Fn(Moment, Moment) -> bool,
    ) -> usize {
        let (first, second, barrier, between) = PAIRS[pair];
        let last = &self.last[first as usize];
        let before = last[at / BLOCK];
        let others = (at / BLOCK + 1..end.div_ceil(BLOCK)).find(|block| last[*block] != before);
        let end = self.pending[pair].run_end(at, others.map_or(end, |block| block * BLOCK));
        let (earlier, later) = (before.site, touch.at.site);
        let known = |c: &InnerConflict| (c.earlier, c.later, c.barrier) == (earlier, later, barrier);
        let ordered = || first == VectorLoad && second == VectorStore && depends(touch.at, before);
        if !self.conflicts.iter().any(known) && !ordered() {
            let extent = Extent::run(Space::Vec, core, at as u64, (end - at) as u32);
            let writes = [first.writes(), second.writes()];
            self.conflicts.push(InnerConflict { earlier, later, writes, extent, barrier, between });
        }
        end
    }

    /// Notes an access while all pairs can be told from what was read and written: before any barrier, where only vector
    /// instructions touch memory. False, and nothing noted, where that is not so or no longer enough.
    #[inline]
    fn touch_plainly(
        &mut self,
        touch: Touch,
        start: usize,
        end: usize,
        depends: &impl Fn(Moment, Moment) -> bool,
    ) -> bool {
        if !self.plain {
            return false;
        }
        let cover = Cover::new(start, end);
        let blocks = start / BLOCK..end.div_ceil(BLOCK);
        let loads = &self.last[VectorLoad as usize];
        let writes = touch.kind.writes();
        let ordered = || {
            let loads = &loads[blocks.clone()];
            let first = |at: usize| at == 0 || loads[at] != loads[at - 1];
            (0..loads.len()).filter(|at| first(*at)).all(|at| depends(touch.at, loads[at]))
        };
        let over_loads = writes && cover.any(&self.read.words) != 0;
        if cover.any(&self.written.words) != 0 || (over_loads && !ordered()) {
            self.leave_plain();
            return false;
        }
        let set = if writes { &mut self.written } else { &mut self.read };
        set.add(start, end);
        self.last[touch.kind as usize][blocks].fill(touch.at);
        true
    }

    /// From now on each kind of pair has its own set.
    #[cold]
    fn leave_plain(&mut self) {
        self.plain = false;
        for (pair, set) in PAIRS.iter().zip(&mut self.pending) {
            match pair.0 {
                VectorLoad => set.copy_from(&self.read),
                VectorStore => set.copy_from(&self.written),
                _ => {}
            }
        }
    }

    /// What came before is ordered before what follows, for the pairs of this barrier. Accesses are not only written down.
    pub fn barrier(&mut self, barrier: Barrier) {
        if self.plain {
            self.leave_plain();
        }
        for (pair, set) in self.pending.iter_mut().enumerate() {
            if barrier.0 >> pair & 1 != 0 {
                set.clear();
            }
        }
    }

    /// True if the function has written the byte.
    pub fn has_written(&self, byte: usize) -> bool {
        self.written.words[byte / 64] >> (byte % 64) & 1 != 0
    }

    /// Calls `f` with the runs of bytes that the function has written: first and end.
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

    /// Hands over what was touched and forgets it. What `steady(store, load, count, pace)` tells is what
    /// [`Journal::is_plain`] asks.
    pub fn finish(
        &mut self,
        relevant: u16,
        core: Role,
        access: &mut Access,
        depends: impl Fn(Moment, Moment) -> bool,
        steady: impl Fn(Moment, Moment, u32, u32) -> bool,
    ) {
        if self.keeps && !self.journal.is_plain(steady) {
            self.settle(relevant, core, &depends);
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
    }
}

/// The pairs that can occur in a function with these kinds of access.
pub(crate) fn relevant(has: impl Fn(Kind) -> bool) -> u16 {
    let pairs = PAIRS.iter().enumerate().filter(|(_, pair)| has(pair.0) && has(pair.1));
    pairs.map(|(i, _)| 1 << i).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_ranges() {
        let mut set = Bytes::default();
        set.resize(4096);
        for row in 0..4 {
            set.add(100 + row * 256, 100 + row * 256 + 72);
        }
        set.add(2000, 2064);
        let mut out = Vec::new();
        set.extents(Role::Aiv0, &mut out);
        let rows = Extent { rows: 4, stride: 256, ..Extent::run(Space::Vec, Role::Aiv0, 100, 72) };
        assert_eq!(out, [rows, Extent::run(Space::Vec, Role::Aiv0, 2000, 64)]);
        set.clear();
        out.clear();
        set.extents(Role::Aiv0, &mut out);
        assert!(out.is_empty() && set.words.iter().all(|w| *w == 0));
    }

    /// What a conflict names: the bytes of the store before that the load also touches, store by store.
    #[test]
    fn a_conflict_names_the_bytes_that_both_touch() {
        let mut footprint = Footprint::default();
        let relevant = relevant(|kind| matches!(kind, VectorStore | VectorLoad));
        footprint.restart(1024, relevant, None);
        let mut touch = |kind, site, start, end| {
            let at = Moment { step: site, site, position: site };
            footprint.touch(Touch { kind, at }, start, end, relevant, Role::Aiv0, |_, load| load.step == 7);
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
    fn runs_end_where_a_byte_is_missing() {
        let mut set = Bytes::default();
        set.resize(512);
        set.add(10, 200);
        set.add(201, 300);
        let end = |start, end| set.run_end(start, end);
        assert_eq!([end(10, 512), end(10, 100), end(64, 512), end(201, 512), end(255, 256)], [200, 100, 200, 300, 256]);
        assert_eq!(end(200, 512), 200);
    }

    #[test]
    fn every_barrier_is_known() {
        assert!(Barrier::NAMES.iter().all(|name| Barrier::parse(name).is_some()));
        assert_eq!(Barrier::parse("VST"), None);
    }
}
