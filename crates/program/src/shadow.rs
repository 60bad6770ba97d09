//! Which bytes of memories mean nothing.
//!
//! A byte means nothing as long as nobody has written it, and after it was written with what came from such bytes. Local memories
//! mean nothing when a block starts. Moving such bytes is no mistake, nor is computing with them: what they become means nothing
//! either, and is remembered as *copied* or as *computed*. What depends on them is found by trying: see `probe`.

use std::collections::BTreeMap;

use slipring_machine::Role;
use slipring_tile::Space;

use crate::known::Known;
use crate::memory::locals;
use crate::{Access, Env, Extent, SiteRef, gm_split};

/// Bytes to a block, for which the last place that computed something from nothing is remembered.
const BLOCK: u64 = 32;

/// One bit a byte of a memory: whether it means nothing.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    nothing: Vec<u64>,
    /// Of these, what was computed; as long as it was needed.
    computed: Vec<u64>,
    /// For each block the last place that computed.
    origins: Vec<SiteRef>,
    /// Whether bytes beyond `nothing` mean nothing.
    beyond: bool,
    /// The host had no room for them: nothing is marked any more.
    full: bool,
    /// Ranges of rows of which every byte means something, those that were asked about last: the same tile comes again and again.
    known: Known,
}

/// A run of bytes that mean nothing, all copied or all computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Void {
    pub start: u64,
    pub end: u64,
    /// Where they were computed; `None` for bytes that nobody wrote, or copies of them.
    pub origin: Option<SiteRef>,
}

impl Marks {
    /// A memory of which everything, or nothing, means nothing.
    pub fn new(nothing: bool) -> Marks {
        Marks { beyond: nothing, ..Marks::default() }
    }

    /// True if a byte of the range means nothing.
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
        match self.nothing.get(first..last) {
            None | Some([]) => false,
            Some([only]) => only & bits(first as u64, from, to) != 0,
            Some([low, between @ .., high]) => {
                let ends = low & bits(first as u64, from, to) | high & bits(last as u64 - 1, from, to);
                // A thousand bytes at a time, without a question between.
                ends != 0 || between.chunks(16).any(|words| words.iter().fold(0, |all, word| all | word) != 0)
            }
        }
    }

    /// True if a byte of a range, which begins at `start`, means nothing.
    fn any_in(&self, extent: &Extent, start: u64) -> bool {
        if extent.rows <= 1 {
            return runs(extent, start).any(|(from, to)| self.any(from, to));
        }
        // If nothing between the rows means nothing either, none of them needs to be looked at.
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

    /// True if the byte means nothing.
    #[inline]
    pub fn is_nothing(&self, at: u64) -> bool {
        self.nothing.get((at / 64) as usize).map_or(self.beyond, |word| word >> (at % 64) & 1 != 0)
    }

    /// Where the byte was computed, if it means nothing and was computed.
    fn origin(&self, at: u64) -> Option<SiteRef> {
        let computed = self.computed.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 != 0);
        computed.then(|| self.origins.get((at / BLOCK) as usize).copied().unwrap_or(0))
    }

    /// The runs of bytes of a range that mean nothing.
    pub fn voids(&self, from: u64, to: u64) -> Vec<Void> {
        let mut list: Vec<Void> = Vec::new();
        let mut at = from;
        while at < to {
            let stop = (at / 64 * 64 + 64).min(to);
            if !self.any(at, stop) {
                at = stop;
                continue;
            }
            for byte in at..stop {
                if !self.is_nothing(byte) {
                    continue;
                }
                let origin = self.origin(byte);
                match list.last_mut() {
                    Some(last) if last.end == byte && last.origin == origin => last.end += 1,
                    _ => list.push(Void { start: byte, end: byte + 1, origin }),
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

    /// The bytes were not computed, whatever they mean.
    #[inline]
    fn not_computed(&mut self, from: u64, to: u64) {
        let to = to.min(self.computed.len() as u64 * 64);
        if from < to {
            set(&mut self.computed[(from / 64) as usize..to.div_ceil(64) as usize], false, from, to);
        }
    }

    /// The bytes mean nothing from now on, as if nobody had written them.
    pub fn forget_run(&mut self, from: u64, to: u64) {
        let (first, last) = ((from / 64) as usize, to.div_ceil(64) as usize);
        if from >= to || !self.reach(last) {
            return;
        }
        self.known.forget(from, to);
        set(&mut self.nothing[first..last], true, from, to);
        self.not_computed(from, to);
    }

    /// The byte means nothing from now on: computed at a place, or copied.
    pub fn forget(&mut self, at: u64, origin: Option<SiteRef>) {
        let (word, bit) = ((at / 64) as usize, 1 << (at % 64));
        if !self.reach(word + 1) {
            return;
        }
        self.known.forget(at, at + 1);
        self.nothing[word] |= bit;
        if self.computed.len() <= word {
            if origin.is_none() {
                return;
            }
            if !longer(&mut self.computed, word + 1, 0) {
                return self.give_up();
            }
        }
        self.computed[word] &= !bit;
        if let Some(site) = origin {
            self.computed[word] |= bit;
            let block = (at / BLOCK) as usize;
            if !longer(&mut self.origins, block + 1, site) {
                return self.give_up();
            }
            self.origins[block] = site;
        }
    }

    /// The marks as words that are the same exactly if the marks are: for each word that is not as all behind the last one are, its
    /// place, what means nothing, and what of that was computed.
    fn words(&self) -> Vec<u64> {
        let rest = if self.beyond { u64::MAX } else { 0 };
        let of = |at: usize| {
            let nothing = self.nothing.get(at).copied().unwrap_or(rest);
            (nothing, self.computed.get(at).copied().unwrap_or(0) & nothing)
        };
        let others = (0..self.nothing.len().max(self.computed.len())).filter(|at| of(*at) != (rest, 0));
        let words = others.flat_map(|at| [at as u64, of(at).0, of(at).1]);
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

/// A use of bytes that mean nothing, which makes the run mean nothing.
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

/// The marks of all memories, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    gm: Vec<Marks>,
    local: Vec<Marks>,
    /// Buffers in global memory whose contents are no result.
    scratch: Vec<usize>,
    misuses: Vec<Misuse>,
    /// For each place and buffer of results: runs of bytes that it stored and that mean nothing.
    stores: BTreeMap<(SiteRef, usize), Vec<(u64, u64)>>,
}

impl Shadow {
    /// Of so many local memories and buffers; `scratch` are the buffers that mean nothing at the start and are no results.
    pub(crate) fn new(local: usize, buffers: usize, scratch: &[usize]) -> Shadow {
        Shadow {
            gm: (0..buffers).map(|buffer| Marks::new(scratch.contains(&buffer))).collect(),
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

    /// True if a byte of the ranges means nothing.
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

    /// Marks what an effect touched that discovers its accesses by what it reads: with bytes that mean nothing it could do
    /// anything.
    pub fn discovered(&mut self, access: &Access, env: Env, site: SiteRef) {
        if self.any(&access.reads, env) {
            let extent = access.reads.iter().find(|extent| self.any(&[**extent], env)).copied();
            self.misuse(Misuse { site, env, what: "is led by", extent });
        }
        self.define(&access.writes, env);
        self.forget(&access.undefined, env);
    }

    /// The bytes of the ranges mean nothing from now on.
    pub fn forget(&mut self, extents: &[Extent], env: Env) {
        for extent in extents {
            if let Some((marks, start)) = self.of_mut(extent, env) {
                runs(extent, start).for_each(|(from, to)| marks.forget_run(from, to));
            }
        }
    }

    /// What means nothing in local memories, as words that are the same exactly if it is.
    pub fn local_words(&self) -> Vec<u64> {
        self.local.iter().flat_map(|marks| marks.words().into_iter().chain([u64::MAX, 0])).collect()
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

    /// Misuses, in the order in which they happened.
    pub fn misuses(&self) -> &[Misuse] {
        &self.misuses
    }

    /// Notes bytes of a buffer that a place stored and that mean nothing.
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

    /// What results hold that means nothing: the place that stored it, the buffer, the runs of bytes.
    pub fn outputs(&self) -> Vec<(SiteRef, usize, Vec<Void>)> {
        let mut list = Vec::new();
        for ((site, buffer), stored) in &self.stores {
            let mut left: Vec<Void> = Vec::new();
            let mut stored = stored.clone();
            stored.sort_unstable();
            for (from, to) in stored {
                let from = from.max(left.last().map_or(0, |void| void.end));
                for void in self.gm[*buffer].voids(from, to) {
                    match left.last_mut() {
                        Some(last) if last.end == void.start && last.origin == void.origin => last.end = void.end,
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

    /// The runs of bytes of a buffer in global memory, of so many, that mean nothing: first byte and end.
    pub fn of_buffer(&self, buffer: usize, bytes: u64) -> Vec<(u64, u64)> {
        let Some(marks) = self.gm.get(buffer).filter(|_| !self.scratch.contains(&buffer)) else { return Vec::new() };
        let mut list: Vec<(u64, u64)> = Vec::new();
        for void in marks.voids(0, bytes) {
            match list.last_mut() {
                Some(last) if last.1 == void.start => last.1 = void.end,
                _ => list.push((void.start, void.end)),
            }
        }
        list
    }

    /// True if a byte from `from` to before `to` of a buffer in global memory means nothing.
    pub fn any_of_buffer(&self, buffer: usize, from: u64, to: u64) -> bool {
        self.gm.get(buffer).is_some_and(|marks| marks.any(from, to))
    }
}

/// The runs of bytes of a range, as offsets of the memory at whose `start` it begins.
pub fn runs(extent: &Extent, start: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
    let bytes = u64::from(extent.row_bytes);
    // Rows without a gap are one run.
    let joined = extent.rows > 1 && extent.stride == bytes;
    let (rows, bytes) = if joined { (1, bytes * u64::from(extent.rows)) } else { (extent.rows, bytes) };
    (0..u64::from(rows))
        .map(move |row| start + row * extent.stride)
        .filter(move |_| bytes > 0)
        .map(move |at| (at, at + bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        let mut marks = Marks::new(true);
        assert!(marks.any(0, 10) && !marks.any(5, 5));
        marks.define(3, 200);
        assert!(!marks.any(3, 200) && marks.any(2, 200) && marks.any(100, 201) && marks.any(5000, 5001));
        marks.forget(100, Some(7));
        marks.forget(101, None);
        let void = |start, end, origin| Void { start, end, origin };
        assert_eq!(marks.voids(3, 201), [void(100, 101, Some(7)), void(101, 102, None), void(200, 201, None)]);
        marks.define(100, 101);
        assert_eq!(marks.voids(90, 110), [void(101, 102, None)]);
        let mut marks = Marks::new(false);
        marks.define(0, 1 << 40);
        assert!(!marks.any(0, 1 << 40) && marks.nothing.is_empty());
        marks.forget(70, None);
        assert!(marks.any(0, 100) && !marks.any(0, 70) && !marks.any(71, 1000));
    }

    #[test]
    fn runs_are_forgotten_as_their_bytes_are() {
        for (from, to) in [(0, 1), (5, 64), (3, 200), (64, 128), (190, 191), (70, 70), (1000, 1100)] {
            let mut before = Marks::new(false);
            before.define(0, 300);
            before.forget(100, Some(7));
            before.forget(190, None);
            let (mut run, mut single) = (before.clone(), before);
            run.forget_run(from, to);
            (from..to).for_each(|at| single.forget(at, None));
            assert_eq!(run.voids(0, 1200), single.voids(0, 1200), "{from} to {to}");
        }
    }

    /// What is known of ranges of rows never says more than the bytes do.
    #[test]
    fn ranges_that_come_again_are_as_their_bytes() {
        use slipring_machine::Role;
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut marks, mut plain) = (Marks::new(true), Marks::new(true));
        for _ in 0..20_000 {
            let (start, rows, bytes) = (next(6) * 64, 1 + next(4) as u32, 16 << next(3));
            let stride = u64::from(bytes) + next(3) * 16;
            let extent = Extent { rows, stride, ..Extent::run(Space::Vec, Role::Aiv0, start, bytes) };
            match next(8) {
                0 => {
                    marks.forget(start, None);
                    plain.forget(start, None);
                }
                1 => {
                    marks.forget_run(start, start + 8);
                    plain.forget_run(start, start + 8);
                }
                2..5 => {
                    marks.define_in(&extent, start);
                    runs(&extent, start).for_each(|(from, to)| plain.define(from, to));
                }
                _ => assert_eq!(
                    marks.any_in(&extent, start),
                    runs(&extent, start).any(|(from, to)| plain.any(from, to)),
                    "{extent:?}"
                ),
            }
        }
        assert_eq!(marks.voids(0, 2000), plain.voids(0, 2000));
    }

    #[test]
    fn marks_without_room_are_given_up() {
        let far = 1 << 62;
        for forget in [false, true] {
            let mut marks = Marks::new(true);
            if forget {
                marks.forget(far, Some(7))
            } else {
                marks.define(far, far + 64)
            }
            assert!(marks.full && !marks.any(0, 64) && !marks.is_nothing(far));
            marks.forget(3, None);
            assert!(!marks.is_nothing(3));
        }
    }
}
