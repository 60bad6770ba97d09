//! Which bytes of memories are uninitialised.
//!
//! A byte is uninitialised as long as nobody has written it, and after it was written with what came from such bytes. Local memories
//! are uninitialised when a block starts. Moving such bytes is not a mistake, nor is computing with them: what they become is uninitialised
//! either, and is remembered as *copied* or as *computed*. What depends on them is found by trying: see `probe`.

use std::collections::{BTreeMap, BTreeSet};

use slipring_machine::Role;
use slipring_tile::Space;

use crate::address::{locals, runs};
use crate::constants::Constants;
use crate::known::Known;
use crate::{Access, Choice, Env, Extent, SiteRef, gm_split};

/// Bytes to a block, for which the last place that computed something from nothing is remembered.
const BLOCK: u64 = 32;

/// One bit a byte of a memory: whether it is uninitialised, with some contents of the buffers.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    nothing: Vec<u64>,
    /// Of these, what was computed; as long as it was needed.
    computed: Vec<u64>,
    /// Of these, what means something with other contents, and of that what means something with the present ones; as long as they
    /// were needed.
    by_data: Vec<u64>,
    elsewhere: Vec<u64>,
    /// For each block the last place that computed, or where contents decided.
    origins: Vec<SiteRef>,
    /// Whether bytes beyond `nothing` are uninitialised.
    beyond: bool,
    /// The host had no room for them: nothing is marked any more.
    full: bool,
    /// Ranges of rows of which every byte means something, those that were asked about last: the same tile comes again and again.
    known: Known,
    /// Bytes in which no contents of buffers have a part.
    pub(crate) constants: Constants,
}

/// A run of bytes that are uninitialised, all copied or all computed; with these contents of the buffers, or with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Uninit {
    pub start: u64,
    pub end: u64,
    /// Where they were computed; `None` for bytes that nobody wrote, or copies of them.
    pub origin: Option<SiteRef>,
    /// They are uninitialised with the contents that the buffers have.
    pub here: bool,
    /// Where contents of buffers decided whether they mean something; `None` if they are uninitialised with any.
    pub by: Option<SiteRef>,
}

impl Uninit {
    /// True if it begins where another one ends, and is of the same kind.
    fn follows(&self, last: &Uninit) -> bool {
        last.end == self.start && (last.origin, last.here, last.by) == (self.origin, self.here, self.by)
    }
}

/// What is known of a byte that is uninitialised, with some contents of the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Nothing {
    /// Where it was computed; `None` for one that nobody wrote, or a copy.
    pub origin: Option<SiteRef>,
    /// Where contents of buffers decided.
    pub by: Option<SiteRef>,
    /// It means something with the present contents.
    pub elsewhere: bool,
}

impl Marks {
    /// A memory of which everything, or nothing, is uninitialised.
    pub fn new(nothing: bool) -> Marks {
        Marks { beyond: nothing, ..Marks::default() }
    }

    /// True if a byte of the range is uninitialised, with some contents of the buffers.
    #[inline]
    pub fn any(&self, from: u64, to: u64) -> bool {
        let (first, last) = ((from / 64) as usize, to.div_ceil(64) as usize);
        if from >= to {
            return false;
        }
        if last > self.nothing.len() {
            return self.beyond || self.any_of(first, self.nothing.len(), from, to);
        }
        self.any_of(first, last, from, to)
    }

    #[inline]
    fn any_of(&self, first: usize, last: usize, from: u64, to: u64) -> bool {
        let Some(words) = self.nothing.get(first..last) else { return false };
        // Nearly always nothing is uninitialised for far around: then the ends need no look of their own.
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

    /// True if a byte of a range, which begins at `start`, is uninitialised.
    fn any_in(&self, extent: &Extent, start: u64) -> bool {
        if extent.rows <= 1 {
            return runs(extent, start).any(|(from, to)| self.any(from, to));
        }
        // If nothing between the rows is uninitialised either, none of them needs to be looked at.
        let end = start.saturating_add(extent.end().saturating_sub(extent.start));
        !self.known.has(extent, start)
            && self.any(start, end)
            && runs(extent, start).any(|(from, to)| self.any(from, to))
    }

    /// The bytes of a range, which begins at `start`, have a meaning from now on.
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

    /// True if the byte is uninitialised, with some contents of the buffers.
    #[inline]
    pub fn is_doubtful(&self, at: u64) -> bool {
        self.nothing.get((at / 64) as usize).map_or(self.beyond, |word| word >> (at % 64) & 1 != 0)
    }

    /// True if the byte is uninitialised with the contents that the buffers have.
    pub fn is_nothing(&self, at: u64) -> bool {
        self.is_doubtful(at) && !bit(&self.elsewhere, at)
    }

    /// What is known of a byte that is uninitialised with some contents.
    fn kind(&self, at: u64) -> Nothing {
        let site = |own: bool| own.then(|| self.origins.get((at / BLOCK) as usize).copied().unwrap_or(0));
        Nothing {
            origin: site(bit(&self.computed, at)),
            by: site(bit(&self.by_data, at)),
            elsewhere: bit(&self.elsewhere, at),
        }
    }

    /// The runs of bytes of a range that are uninitialised, with some contents of the buffers.
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

    /// The bytes have a meaning from now on.
    #[inline]
    pub fn define(&mut self, from: u64, to: u64) {
        if from >= to || (!self.beyond && self.nothing.is_empty()) {
            return;
        }
        let (first, last) = ((from / 64) as usize, to.div_ceil(64) as usize);
        if !self.reach(last) {
            return;
        }
        set(&mut self.nothing[first..last], false, from, to);
        self.not_computed(from, to);
    }

    /// The bytes were not computed, and no contents decided about them.
    #[inline]
    fn not_computed(&mut self, from: u64, to: u64) {
        for words in [&mut self.computed, &mut self.by_data, &mut self.elsewhere] {
            let to = to.min(words.len() as u64 * 64);
            if from < to {
                set(&mut words[(from / 64) as usize..to.div_ceil(64) as usize], false, from, to);
            }
        }
    }

    /// The bytes are uninitialised from now on, as if nobody had written them.
    pub fn forget_run(&mut self, from: u64, to: u64) {
        let (first, last) = ((from / 64) as usize, to.div_ceil(64) as usize);
        if from >= to || !self.reach(last) {
            return;
        }
        self.known.forget(from, to);
        set(&mut self.nothing[first..last], true, from, to);
        self.not_computed(from, to);
    }

    /// The byte is uninitialised from now on: computed at a place, or copied, with all contents or with some.
    pub fn forget(&mut self, at: u64, Nothing { origin, by, elsewhere }: Nothing) {
        let (word, place) = ((at / 64) as usize, 1 << (at % 64));
        if !self.reach(word + 1) {
            return;
        }
        self.known.forget(at, at + 1);
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
            let block = (at / BLOCK) as usize;
            full |= !longer(&mut self.origins, block + 1, site);
            if let Some(place) = self.origins.get_mut(block) {
                *place = site;
            }
        }
        if full {
            self.give_up();
        }
    }

    /// The marks as words that are the same exactly if the marks are: for each word that is not as all after the last one are, its
    /// place, what is uninitialised, and what of that was computed, what contents decide, and what means something with these.
    fn words(&self) -> Vec<u64> {
        let rest = if self.beyond { u64::MAX } else { 0 };
        let of = |at: usize| {
            let nothing = self.nothing.get(at).copied().unwrap_or(rest);
            let part = |words: &[u64]| words.get(at).copied().unwrap_or(0) & nothing;
            [nothing, part(&self.computed), part(&self.by_data), part(&self.elsewhere)]
        };
        let others = (0..self.nothing.len()).filter(|at| of(*at) != [rest, 0, 0, 0]);
        let words = others.flat_map(|at| std::iter::once(at as u64).chain(of(at)));
        words.chain(self.beyond.then_some(u64::MAX)).collect()
    }

    /// Makes room for so many words; false where there is none, or was none before.
    fn reach(&mut self, words: usize) -> bool {
        let rest = if self.beyond { u64::MAX } else { 0 };
        if self.full || !longer(&mut self.nothing, words, rest) {
            self.give_up();
        }
        !self.full
    }

    /// Forgets everything: from now on nothing is marked.
    fn give_up(&mut self) {
        *self = Marks { full: true, ..Marks::default() };
    }
}

/// A bit of words of which the last ones may be missing.
fn bit(words: &[u64], at: u64) -> bool {
    words.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 != 0)
}

/// Makes a list at least so long; false if the host has no room for it.
fn longer<T: Clone>(list: &mut Vec<T>, len: usize, with: T) -> bool {
    let more = len.saturating_sub(list.len());
    if list.try_reserve(more).is_err() {
        return false;
    }
    list.resize(list.len() + more, with);
    true
}

/// The bits of word `word` that lie in the bytes from `from` to before `to`.
#[inline]
fn bits(word: u64, from: u64, to: u64) -> u64 {
    let low = from.saturating_sub(word * 64);
    let high = (to - word * 64).min(64);
    (u64::MAX >> (64 - (high - low))) << low
}

/// Sets or clears the bits of the bytes from `from` to before `to`, which lie in the words given: from the one of `from` to that of
/// the last byte.
#[inline]
fn set(words: &mut [u64], to_ones: bool, from: u64, to: u64) {
    let put = |word: &mut u64, mask: u64| *word = if to_ones { *word | mask } else { *word & !mask };
    let (head, tail) = (u64::MAX << (from % 64), u64::MAX >> (to.wrapping_neg() % 64));
    match words {
        [] => {}
        [only] => put(only, head & tail),
        [first, between @ .., last] => {
            put(first, head);
            between.fill(if to_ones { u64::MAX } else { 0 });
            put(last, tail);
        }
    }
}

/// A use of bytes that are uninitialised, which leaves the run without a meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misuse {
    /// Where.
    pub site: SiteRef,
    /// Whose core, and its cluster.
    pub env: Env,
    /// What it does with them, as `takes its mask from`.
    pub what: &'static str,
    /// The bytes, where they are in a memory.
    pub extent: Option<Extent>,
}

/// Bytes of a buffer in global memory that hold nothing when a launch begins, although the buffer is a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// Its index in [`Memory::gm`](crate::Memory::gm).
    pub buffer: usize,
    /// The first byte.
    pub from: u64,
    /// Before which byte; the largest number stands for everything that is there.
    pub to: u64,
}

impl Unwritten {
    /// All bytes of a buffer.
    pub const fn whole(buffer: usize) -> Unwritten {
        Unwritten { buffer, from: 0, to: u64::MAX }
    }
}

/// The marks of all memories, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    gm: Vec<Marks>,
    local: Vec<Marks>,
    /// Buffers in global memory whose contents are no result.
    scratch: Vec<usize>,
    misuses: Vec<Misuse>,
    /// Places where contents of buffers decide whether such bytes are used, or whether a fault is found.
    doubts: BTreeSet<(SiteRef, Choice)>,
    /// Which numbers of the present work come from buffers, one bit each.
    pub numbers: u64,
    /// For each place and buffer of results: runs of bytes that it stored and that are uninitialised.
    stores: BTreeMap<(SiteRef, usize), Vec<(u64, u64)>>,
}

impl Shadow {
    /// Of so many local memories and buffers; `scratch` are the buffers that are uninitialised at the start and are no results,
    /// `unwritten` what else is uninitialised at the start.
    pub(crate) fn new(local: usize, buffers: usize, scratch: &[usize], unwritten: &[Unwritten]) -> Shadow {
        let marks = |buffer: usize| {
            let mut own = unwritten.iter().filter(|one| one.buffer == buffer);
            let whole = |one: &Unwritten| (one.from, one.to) == (0, u64::MAX);
            if scratch.contains(&buffer) || own.clone().any(whole) {
                return Marks::new(true);
            }
            own.by_ref().fold(Marks::new(false), |mut marks, one| {
                marks.forget_run(one.from, one.to);
                marks
            })
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

    /// The marks of the memory that a range lies in, and the offset of its first byte there.
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

    /// Takes the marks of a local memory out, for an effect that keeps them itself.
    pub fn take(&mut self, env: Env, core: Role, space: Space) -> Marks {
        self.local.get_mut(locals(env.block, core, space)).map(std::mem::take).unwrap_or_default()
    }

    /// Gives back what [`Shadow::take`] took.
    pub fn put_back(&mut self, env: Env, core: Role, space: Space, marks: Marks) {
        if let Some(place) = self.local.get_mut(locals(env.block, core, space)) {
            *place = marks;
        }
    }

    /// True if the host had no room for the marks of some memory, of which nothing was said any more then.
    pub fn is_full(&self) -> bool {
        self.gm.iter().chain(&self.local).any(|marks| marks.full)
    }

    /// True if a byte of the ranges is uninitialised, with some contents of the buffers.
    pub fn any(&self, extents: &[Extent], env: Env) -> bool {
        extents.iter().any(|extent| self.of(extent, env).is_some_and(|(marks, start)| marks.any_in(extent, start)))
    }

    /// The bytes of the ranges have a meaning from now on.
    pub fn define(&mut self, extents: &[Extent], env: Env) {
        for extent in extents {
            if let Some((marks, start)) = self.of_mut(extent, env) {
                marks.define_in(extent, start);
            }
        }
    }

    /// Marks what an effect touched that discovers its accesses by what it reads: with bytes that are uninitialised it could do
    /// anything.
    pub fn discovered(&mut self, access: &Access, env: Env, site: SiteRef) {
        if self.any(&access.reads, env) {
            let extent = access.reads.iter().find(|extent| self.any(&[**extent], env)).copied();
            self.misuse(Misuse { site, env, what: "is led by", extent });
        }
        self.define(&access.writes, env);
        self.derive(access, env);
        self.forget(&access.undefined, env);
    }

    /// Remembers whether contents of buffers have a part in what the present work writes.
    pub fn derive(&mut self, access: &Access, env: Env) {
        let constant = self.numbers == 0 && access.reads.iter().all(|extent| self.is_constant(extent, env));
        for extent in access.writes.iter().filter(|extent| extent.space != Space::Gm) {
            let Some((marks, start)) = self.of_mut(extent, env) else { continue };
            match constant {
                true => runs(extent, start).for_each(|(from, to)| marks.constants.add(from, to)),
                // What lies between the rows as well.
                false => marks.constants.remove(start, start.saturating_add(extent.end().saturating_sub(extent.start))),
            }
        }
    }

    fn is_constant(&self, extent: &Extent, env: Env) -> bool {
        let of = || self.of(extent, env).filter(|_| extent.space != Space::Gm);
        of().is_some_and(|(marks, start)| runs(extent, start).all(|(from, to)| marks.constants.has(from, to)))
    }

    /// The bytes of the ranges are uninitialised from now on.
    pub fn forget(&mut self, extents: &[Extent], env: Env) {
        for extent in extents {
            if let Some((marks, start)) = self.of_mut(extent, env) {
                runs(extent, start).for_each(|(from, to)| marks.forget_run(from, to));
            }
        }
    }

    /// What is uninitialised in local memories, as words that are the same exactly if it is.
    pub fn local_words(&self) -> Vec<u64> {
        self.local.iter().flat_map(|marks| marks.words().into_iter().chain([u64::MAX, 0])).collect()
    }

    /// What of some bytes of a buffer is uninitialised.
    pub fn voids_of(&self, buffer: usize, from: u64, to: u64) -> Vec<Uninit> {
        self.gm.get(buffer).map_or_else(Vec::new, |marks| marks.voids(from, to))
    }

    /// The same of each buffer: empty where everything in it means something.
    pub fn buffer_words(&self) -> Vec<Vec<u64>> {
        self.gm.iter().map(Marks::words).collect()
    }

    /// Notes a misuse, once for each place and kind.
    pub fn misuse(&mut self, misuse: Misuse) {
        if !self.misuses.iter().any(|m| (m.site, m.what) == (misuse.site, misuse.what)) {
            self.misuses.push(misuse);
        }
    }

    /// Notes that contents of buffers decide something at a place.
    pub fn doubt(&mut self, site: SiteRef, choice: Choice) {
        self.doubts.insert((site, choice));
    }

    /// Where contents of buffers have decided so far whether bytes that nobody wrote are used or come into results, or whether a fault
    /// was found.
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

    /// Notes bytes of a buffer that a place stored and that are uninitialised.
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

    /// What results hold that is uninitialised, with some contents: the place that stored it, the buffer, the runs of bytes.
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

    /// The runs of bytes of a buffer in global memory, between two of them, that are uninitialised: first byte and end, counted from the
    /// first of the two.
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

    /// True if a byte from `from` to before `to` of a buffer in global memory is uninitialised.
    pub fn any_of_buffer(&self, buffer: usize, from: u64, to: u64) -> bool {
        let of = |marks: &Marks| marks.any(from, to) && (from..to).any(|at| marks.is_nothing(at));
        self.gm.get(buffer).is_some_and(of)
    }
}

mod quick;
#[cfg(test)]
mod tests;
