//! The uninitialised bytes of memories.
//!
//! A byte is uninitialised until somebody writes it, and again after it is written with a value derived from
//! uninitialised bytes. Local memories are uninitialised when a block starts. Neither moving such bytes nor computing
//! with them is an error: the result is uninitialised as well, and is recorded as *copied* or as *computed*. Dependence
//! on them is determined by sampling: see `probe`.

use std::collections::{BTreeMap, BTreeSet};

use slipring_machine::Role;
use slipring_tile::Space;

use crate::address::{locals, runs};
use crate::constants::Constants;
use crate::known::Known;
use crate::{Access, Choice, Env, Extent, SiteRef, gm_split};
pub use bytes::{Misuse, Nothing, Uninit, Unwritten};
use rest::Rest;
use words::{bit, bits, longer, set};

/// Bytes per block; for each block the last location that computed something from uninitialised bytes is remembered.
const BLOCK: u64 = 32;

/// One bit per byte of a memory: whether it is uninitialised, for some contents of the buffers.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The first word kept, here and in the following lists: a launch touches little of a large buffer.
    base: usize,
    nothing: Vec<u64>,
    /// Of these, the computed ones; kept as far as needed.
    computed: Vec<u64>,
    /// Of these, the ones initialised with other contents, and of those the ones initialised with the present contents;
    /// kept as far as needed.
    by_data: Vec<u64>,
    elsewhere: Vec<u64>,
    /// For each block the last location that computed, or where contents decided.
    origins: Vec<SiteRef>,
    /// The uninitialised bytes outside the kept words.
    rest: Rest,
    /// The host had no memory for the marks: nothing is marked any more.
    full: bool,
    /// Ranges of rows that are fully initialised, those queried last: the same tile is used again and again.
    known: Known,
    /// Bytes whose contents do not depend on any buffer.
    pub(crate) constants: Constants,
}

impl Marks {
    /// A memory that is completely initialised, or completely uninitialised.
    pub fn new(nothing: bool) -> Marks {
        Marks { rest: if nothing { Rest::All } else { Rest::Nothing }, ..Marks::default() }
    }

    /// A memory with some uninitialised ranges.
    fn with(ranges: Vec<(u64, u64)>) -> Marks {
        Marks { rest: Rest::of(ranges), ..Marks::default() }
    }

    /// True if a byte of the range is uninitialised, for some contents of the buffers.
    #[inline]
    pub fn any(&self, from: u64, to: u64) -> bool {
        let (first, last) = ((from / 64) as usize, to.div_ceil(64) as usize);
        if from >= to {
            return false;
        }
        if first < self.base || last > self.base + self.nothing.len() {
            return self.any_around(from, to);
        }
        self.any_of(first, last, from, to)
    }

    /// As [`Marks::any`], for a range that is not entirely within the kept words.
    fn any_around(&self, from: u64, to: u64) -> bool {
        let (start, end) = (self.base as u64 * 64, (self.base + self.nothing.len()) as u64 * 64);
        let (low, high) = (from.max(start), to.min(end));
        self.rest.any(from, to.min(start))
            || self.rest.any(from.max(end), to)
            || (low < high && self.any_of((low / 64) as usize, high.div_ceil(64) as usize, low, high))
    }

    #[inline]
    fn any_of(&self, first: usize, last: usize, from: u64, to: u64) -> bool {
        let Some(words) = self.nothing.get(first - self.base..last - self.base) else { return false };
        // Nearly always nothing is uninitialised in a wide neighbourhood: then the ends need no separate check.
        let (many, few) = words.as_chunks::<16>();
        let (fours, rest) = few.as_chunks::<4>();
        let any = many.iter().any(|words| words.iter().fold(0, |all, word| all | word) != 0)
            || fours.iter().any(|four| four[0] | four[1] | four[2] | four[3] != 0)
            || rest.iter().any(|word| *word != 0);
        any && match words {
            [] => false,
            [only] => only & bits(first as u64, from, to) != 0,
            [low, between @ .., high] => {
                let ends = low & bits(first as u64, from, to) | high & bits(last as u64 - 1, from, to);
                ends != 0 || between.iter().any(|word| *word != 0)
            }
        }
    }

    /// True if a byte of a range that begins at `start` is uninitialised.
    fn any_in(&self, extent: &Extent, start: u64) -> bool {
        if extent.rows <= 1 {
            return runs(extent, start).any(|(from, to)| self.any(from, to));
        }
        // If nothing between the rows is uninitialised either, the rows need not be checked one by one.
        let end = start.saturating_add(extent.end().saturating_sub(extent.start));
        !self.known.has(extent, start)
            && self.any(start, end)
            && runs(extent, start).any(|(from, to)| self.any(from, to))
    }

    /// The bytes of a range that begins at `start` become initialised.
    fn define_in(&mut self, extent: &Extent, start: u64) {
        if extent.rows <= 1 {
            return runs(extent, start).for_each(|(from, to)| self.define(from, to));
        }
        let end = start.saturating_add(extent.end().saturating_sub(extent.start));
        if self.known.has(extent, start) || !self.any(start, end) {
            return;
        }
        runs(extent, start).for_each(|(from, to)| self.define(from, to));
        if !self.full {
            self.known.add(extent, start);
        }
    }

    /// True if the byte is uninitialised, for some contents of the buffers.
    #[inline]
    pub fn is_doubtful(&self, at: u64) -> bool {
        let kept = ((at / 64) as usize).checked_sub(self.base).and_then(|place| self.nothing.get(place));
        kept.map_or_else(|| self.rest.any(at, at.saturating_add(1)), |word| word >> (at % 64) & 1 != 0)
    }

    /// True if the byte is uninitialised with the present contents of the buffers.
    pub fn is_nothing(&self, at: u64) -> bool {
        self.is_doubtful(at) && !self.bit(&self.elsewhere, at)
    }

    /// A bit of one of the lists.
    fn bit(&self, words: &[u64], at: u64) -> bool {
        at.checked_sub(self.base as u64 * 64).is_some_and(|at| bit(words, at))
    }

    /// The index in `origins` of a byte in the kept words.
    fn block(&self, at: u64) -> usize {
        ((at - self.base as u64 * 64) / BLOCK) as usize
    }

    /// The details of a byte that is uninitialised for some contents.
    fn kind(&self, at: u64) -> Nothing {
        let site = |own: bool| own.then(|| self.origins.get(self.block(at)).copied().unwrap_or(0));
        Nothing {
            origin: site(self.bit(&self.computed, at)),
            by: site(self.bit(&self.by_data, at)),
            elsewhere: self.bit(&self.elsewhere, at),
        }
    }

    /// The runs of bytes of a range that are uninitialised, for some contents of the buffers.
    pub fn voids(&self, from: u64, to: u64) -> Vec<Uninit> {
        let mut list: Vec<Uninit> = Vec::new();
        let mut at = from;
        while at < to {
            let stop = (at / 64 * 64 + 64).min(to);
            if !self.any(at, stop) {
                at = stop;
                continue;
            }
            for byte in at..stop {
                if !self.is_doubtful(byte) {
                    continue;
                }
                let Nothing { origin, by, elsewhere } = self.kind(byte);
                let void = Uninit { start: byte, end: byte + 1, origin, here: !elsewhere, by };
                match list.last_mut() {
                    Some(last) if void.follows(last) => last.end = void.end,
                    _ => list.push(void),
                }
            }
            at = stop;
        }
        list
    }

    /// The bytes become initialised.
    #[inline]
    pub fn define(&mut self, from: u64, to: u64) {
        if from >= to || (self.rest.is_nothing() && self.nothing.is_empty()) {
            return;
        }
        let (first, last) = ((from / 64) as usize, to.div_ceil(64) as usize);
        if !self.reach(first, last) {
            return;
        }
        set(&mut self.nothing[first - self.base..last - self.base], false, from, to);
        self.not_computed(from, to);
    }

    /// Records that the bytes, within the kept words, were not computed, and that no contents decided about them.
    #[inline]
    fn not_computed(&mut self, from: u64, to: u64) {
        let start = self.base as u64 * 64;
        let (from, to) = (from - start, to - start);
        for words in [&mut self.computed, &mut self.by_data, &mut self.elsewhere] {
            let to = to.min(words.len() as u64 * 64);
            if from < to {
                set(&mut words[(from / 64) as usize..to.div_ceil(64) as usize], false, from, to);
            }
        }
    }

    /// The bytes become uninitialised, as if nobody had written them.
    pub fn forget_run(&mut self, from: u64, to: u64) {
        let (first, last) = ((from / 64) as usize, to.div_ceil(64) as usize);
        if from >= to || !self.reach(first, last) {
            return;
        }
        self.known.forget(from, to);
        set(&mut self.nothing[first - self.base..last - self.base], true, from, to);
        self.not_computed(from, to);
    }

    /// The byte becomes uninitialised: computed at a location, or copied, for all contents or for some.
    pub fn forget(&mut self, at: u64, Nothing { origin, by, elsewhere }: Nothing) {
        let (word, place) = ((at / 64) as usize, 1 << (at % 64));
        if !self.reach(word, word + 1) {
            return;
        }
        self.known.forget(at, at + 1);
        let (word, block) = (word - self.base, self.block(at));
        self.nothing[word] |= place;
        let mut full = false;
        for (words, set) in [
            (&mut self.computed, origin.is_some()),
            (&mut self.by_data, by.is_some()),
            (&mut self.elsewhere, elsewhere),
        ] {
            full |= set && !longer(words, word + 1, 0);
            if let Some(word) = words.get_mut(word) {
                *word = *word & !place | if set { place } else { 0 };
            }
        }
        if let Some(site) = origin.or(by) {
            full |= !longer(&mut self.origins, block + 1, site);
            if let Some(place) = self.origins.get_mut(block) {
                *place = site;
            }
        }
        if full {
            self.give_up();
        }
    }

    /// The marks as words, which are equal exactly if the marks of the same memory are: for each word that differs from
    /// its initial state, its index, the uninitialised bytes, and of these the computed ones, those that contents
    /// decide, and those initialised with the present contents.
    fn words(&self) -> Vec<u64> {
        let of = |at: usize| {
            let nothing = self.nothing[at];
            let part = |words: &[u64]| words.get(at).copied().unwrap_or(0) & nothing;
            [nothing, part(&self.computed), part(&self.by_data), part(&self.elsewhere)]
        };
        let base = self.base;
        let others = (0..self.nothing.len()).filter(|at| of(*at) != [self.rest.word(base + at), 0, 0, 0]);
        let words = others.flat_map(|at| std::iter::once((base + at) as u64).chain(of(at)));
        words.chain(matches!(self.rest, Rest::All).then_some(u64::MAX)).collect()
    }

    /// Keeps the words from `first` up to `end`; false if there is no memory for them, or was none before.
    fn reach(&mut self, first: usize, end: usize) -> bool {
        if self.full {
            return false;
        }
        if self.nothing.is_empty() && matches!(self.rest, Rest::Ranges(_)) {
            self.base = first;
        }
        if first < self.base && !self.reach_down(first) {
            self.give_up();
            return false;
        }
        let kept = self.base + self.nothing.len();
        if end > kept {
            if self.nothing.try_reserve(end - kept).is_err() {
                self.give_up();
                return false;
            }
            self.nothing.extend(self.rest.words(kept, end));
        }
        true
    }

    /// Keeps words before the kept ones: twice as many, so that growing downwards word by word costs no more than
    /// growing upwards.
    fn reach_down(&mut self, first: usize) -> bool {
        let base = first.min(self.base.saturating_sub(self.nothing.len()));
        let more = self.base - base;
        let in_front = |list: &mut Vec<u64>, with: &mut dyn Iterator<Item = u64>| {
            let fits = list.try_reserve(more).is_ok();
            if fits {
                list.splice(0..0, with);
            }
            fits
        };
        let mut fits = in_front(&mut self.nothing, &mut self.rest.words(base, self.base));
        for words in [&mut self.computed, &mut self.by_data, &mut self.elsewhere] {
            fits &= words.is_empty() || in_front(words, &mut std::iter::repeat_n(0, more));
        }
        if !self.origins.is_empty() {
            let blocks = more * (64 / BLOCK as usize);
            fits &= self.origins.try_reserve(blocks).is_ok();
            if fits {
                self.origins.splice(0..0, std::iter::repeat_n(0, blocks));
            }
        }
        self.base = base;
        fits
    }

    /// Drops everything: from now on nothing is marked.
    fn give_up(&mut self) {
        *self = Marks { full: true, ..Marks::default() };
    }
}

/// The marks of all memories, and the findings.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    gm: Vec<Marks>,
    local: Vec<Marks>,
    /// Buffers in global memory whose contents are not results.
    scratch: Vec<usize>,
    misuses: Vec<Misuse>,
    /// Locations where buffer contents decide whether such bytes are used, or whether a fault is found.
    doubts: BTreeSet<(SiteRef, Choice)>,
    /// The arguments of the current work that come from buffers, one bit each.
    pub numbers: u64,
    /// For each location and result buffer: runs of uninitialised bytes that it stored.
    stores: BTreeMap<(SiteRef, usize), Vec<(u64, u64)>>,
}

impl Shadow {
    /// For this many local memories and buffers; `scratch` are the buffers that are uninitialised at the start and are
    /// not results, `unwritten` other initially uninitialised bytes.
    pub(crate) fn new(local: usize, buffers: usize, scratch: &[usize], unwritten: &[Unwritten]) -> Shadow {
        let marks = |buffer: usize| {
            let own = unwritten.iter().filter(|one| one.buffer == buffer);
            let whole = |one: &Unwritten| (one.from, one.to) == (0, u64::MAX);
            if scratch.contains(&buffer) || own.clone().any(whole) {
                return Marks::new(true);
            }
            Marks::with(own.map(|one| (one.from, one.to)).collect())
        };
        Shadow {
            gm: (0..buffers).map(marks).collect(),
            local: vec![Marks::new(true); local],
            scratch: scratch.to_vec(),
            ..Shadow::default()
        }
    }

    /// A block starts on a cluster.
    pub(crate) fn restart(&mut self, cluster: u32) {
        for role in Role::ALL {
            for space in Space::NAMED.into_iter().chain([Space::Spr]) {
                if let Some(marks) = self.local.get_mut(locals(cluster, role, space)) {
                    *marks = Marks::new(true);
                }
            }
        }
    }

    /// The marks of the memory that contains a range, and the offset of its first byte there.
    pub(crate) fn of(&self, extent: &Extent, env: Env) -> Option<(&Marks, u64)> {
        if extent.space != Space::Gm {
            return Some((self.local.get(locals(env.block, extent.core, extent.space))?, extent.start));
        }
        let (buffer, offset) = gm_split(extent.start)?;
        Some((self.gm.get(buffer)?, offset.max(0) as u64))
    }

    pub(crate) fn of_mut(&mut self, extent: &Extent, env: Env) -> Option<(&mut Marks, u64)> {
        if extent.space != Space::Gm {
            return Some((self.local.get_mut(locals(env.block, extent.core, extent.space))?, extent.start));
        }
        let (buffer, offset) = gm_split(extent.start)?;
        Some((self.gm.get_mut(buffer)?, offset.max(0) as u64))
    }

    /// Takes the marks of a local memory out, for an effect that maintains them itself.
    pub fn take(&mut self, env: Env, core: Role, space: Space) -> Marks {
        self.local.get_mut(locals(env.block, core, space)).map(std::mem::take).unwrap_or_default()
    }

    /// Puts back the marks taken with [`Shadow::take`].
    pub fn put_back(&mut self, env: Env, core: Role, space: Space, marks: Marks) {
        if let Some(place) = self.local.get_mut(locals(env.block, core, space)) {
            *place = marks;
        }
    }

    /// True if the host had no memory for the marks of some memory, which is then no longer checked.
    pub fn is_full(&self) -> bool {
        self.gm.iter().chain(&self.local).any(|marks| marks.full)
    }

    /// True if a byte of the ranges is uninitialised, for some contents of the buffers.
    pub fn any(&self, extents: &[Extent], env: Env) -> bool {
        extents.iter().any(|extent| self.of(extent, env).is_some_and(|(marks, start)| marks.any_in(extent, start)))
    }

    /// The bytes of the ranges become initialised.
    pub fn define(&mut self, extents: &[Extent], env: Env) {
        for extent in extents {
            if let Some((marks, start)) = self.of_mut(extent, env) {
                marks.define_in(extent, start);
            }
        }
    }

    /// Marks the accesses of an effect that discovers them depending on what it reads: with uninitialised bytes it
    /// could do anything.
    pub fn discovered(&mut self, access: &Access, env: Env, site: SiteRef) {
        if self.any(&access.reads, env) {
            let extent = access.reads.iter().find(|extent| self.any(&[**extent], env)).copied();
            self.misuse(Misuse { site, env, what: "is led by", extent });
        }
        self.define(&access.writes, env);
        self.derive(access, env);
        self.forget(&access.undefined, env);
    }

    /// Records whether the data written by the current work depends on buffer contents.
    pub fn derive(&mut self, access: &Access, env: Env) {
        let constant = self.numbers == 0 && access.reads.iter().all(|extent| self.is_constant(extent, env));
        for extent in access.writes.iter().filter(|extent| extent.space != Space::Gm) {
            let Some((marks, start)) = self.of_mut(extent, env) else { continue };
            match constant {
                true => runs(extent, start).for_each(|(from, to)| marks.constants.add(from, to)),
                // Including the bytes between the rows.
                false => marks.constants.remove(start, start.saturating_add(extent.end().saturating_sub(extent.start))),
            }
        }
    }

    fn is_constant(&self, extent: &Extent, env: Env) -> bool {
        let of = || self.of(extent, env).filter(|_| extent.space != Space::Gm);
        of().is_some_and(|(marks, start)| runs(extent, start).all(|(from, to)| marks.constants.has(from, to)))
    }

    /// The bytes of the ranges become uninitialised.
    pub fn forget(&mut self, extents: &[Extent], env: Env) {
        for extent in extents {
            if let Some((marks, start)) = self.of_mut(extent, env) {
                runs(extent, start).for_each(|(from, to)| marks.forget_run(from, to));
            }
        }
    }

    /// The uninitialised bytes of local memories, as words that are equal exactly if the bytes are the same.
    pub fn local_words(&self) -> Vec<u64> {
        self.local.iter().flat_map(|marks| marks.words().into_iter().chain([u64::MAX, 0])).collect()
    }

    /// The uninitialised runs within a range of a buffer.
    pub fn voids_of(&self, buffer: usize, from: u64, to: u64) -> Vec<Uninit> {
        self.gm.get(buffer).map_or_else(Vec::new, |marks| marks.voids(from, to))
    }

    /// The words of each buffer, likewise: empty if it is completely initialised.
    pub fn buffer_words(&self) -> Vec<Vec<u64>> {
        self.gm.iter().map(Marks::words).collect()
    }

    /// Records a misuse, once for each location and kind.
    pub fn misuse(&mut self, misuse: Misuse) {
        if !self.misuses.iter().any(|m| (m.site, m.what) == (misuse.site, misuse.what)) {
            self.misuses.push(misuse);
        }
    }

    /// Records that buffer contents decide something at a location.
    pub fn doubt(&mut self, site: SiteRef, choice: Choice) {
        self.doubts.insert((site, choice));
    }

    /// Locations where buffer contents have so far decided whether unwritten bytes are used or reach results, or
    /// whether a fault was found.
    pub fn doubts(&self) -> BTreeSet<(SiteRef, Choice)> {
        let mut all = self.doubts.clone();
        for (_, _, voids) in self.outputs() {
            all.extend(voids.iter().filter_map(|void| Some((void.by?, Choice::Unwritten))));
        }
        all
    }

    /// Misuses, in the order in which they happened.
    pub fn misuses(&self) -> &[Misuse] {
        &self.misuses
    }

    /// Records uninitialised bytes that a location stored to a buffer.
    pub(crate) fn stored(&mut self, site: SiteRef, extent: &Extent) {
        let Some((buffer, offset)) = gm_split(extent.start).filter(|_| extent.space == Space::Gm) else { return };
        if self.scratch.contains(&buffer) {
            return;
        }
        let Some(marks) = self.gm.get(buffer) else { return };
        let list = self.stores.entry((site, buffer)).or_default();
        for (from, to) in runs(extent, offset.max(0) as u64) {
            for void in marks.voids(from, to) {
                match list.last_mut() {
                    Some(last) if last.1 == void.start => last.1 = void.end,
                    _ => list.push((void.start, void.end)),
                }
            }
        }
    }

    /// The uninitialised parts of results, for some contents: the storing location, the buffer, the runs of bytes.
    pub fn outputs(&self) -> Vec<(SiteRef, usize, Vec<Uninit>)> {
        let mut list = Vec::new();
        for ((site, buffer), stored) in &self.stores {
            let mut left: Vec<Uninit> = Vec::new();
            let mut stored = stored.clone();
            stored.sort_unstable();
            for (from, to) in stored {
                let from = from.max(left.last().map_or(0, |void| void.end));
                for void in self.gm[*buffer].voids(from, to) {
                    match left.last_mut() {
                        Some(last) if void.follows(last) => last.end = void.end,
                        _ => left.push(void),
                    }
                }
            }
            if !left.is_empty() {
                list.push((*site, *buffer, left));
            }
        }
        list
    }

    /// The uninitialised runs within a range of a buffer in global memory: start and end, relative to the start of the
    /// range.
    pub fn of_buffer(&self, buffer: usize, from: u64, to: u64) -> Vec<(u64, u64)> {
        let Some(marks) = self.gm.get(buffer).filter(|_| !self.scratch.contains(&buffer)) else { return Vec::new() };
        let mut list: Vec<(u64, u64)> = Vec::new();
        for void in marks.voids(from, to).iter().filter(|void| void.here) {
            let (start, end) = (void.start - from, void.end - from);
            match list.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => list.push((start, end)),
            }
        }
        list
    }

    /// True if a byte of a range of a buffer in global memory is uninitialised.
    pub fn any_of_buffer(&self, buffer: usize, from: u64, to: u64) -> bool {
        let of = |marks: &Marks| marks.any(from, to) && (from..to).any(|at| marks.is_nothing(at));
        self.gm.get(buffer).is_some_and(of)
    }
}

mod bytes;
mod quick;
mod rest;
#[cfg(test)]
mod tests;
mod words;
