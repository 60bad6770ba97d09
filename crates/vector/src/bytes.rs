//! Sets of bytes of the unified buffer.

use slipring_machine::Role;
use slipring_program::Extent;
use slipring_tile::Space;

/// A set of bytes of a memory.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    pub words: Vec<u64>,
    /// Range of words that may contain set bits.
    dirty: std::ops::Range<usize>,
}

/// The bits of bytes `start .. end` in word `word`.
#[inline]
fn bits(word: usize, start: usize, end: usize) -> u64 {
    let low = start.saturating_sub(word * 64);
    let high = (end - word * 64).min(64);
    (u64::MAX >> (64 - (high - low))) << low
}

/// A range of bytes as words, with the bits of the first and the last word that belong to it.
#[derive(Clone, Copy)]
pub(crate) struct Cover {
    pub first: usize,
    pub last: usize,
    head: u64,
    tail: u64,
}

impl Cover {
    #[inline]
    pub fn new(start: usize, end: usize) -> Cover {
        let (head, tail) = (u64::MAX << (start % 64), u64::MAX >> (end.wrapping_neg() % 64));
        Cover { first: start / 64, last: end.div_ceil(64), head, tail }
    }

    /// Nonzero if a bit of the range is set.
    #[inline]
    pub fn any(&self, words: &[u64]) -> u64 {
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
                // A register covers at most five words: too few for a call.
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
    pub fn resize(&mut self, bytes: usize) {
        self.words.resize(bytes.div_ceil(64), 0);
    }

    #[inline]
    pub fn add(&mut self, start: usize, end: usize) {
        let cover = Cover::new(start, end);
        cover.fill(&mut self.words);
        self.widen(cover.first, cover.last);
    }

    /// Adds the bytes of a range that are not in `known`.
    #[inline]
    pub fn add_without(&mut self, start: usize, end: usize, known: &Bytes) {
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
    pub fn first_common(&self, start: usize, end: usize) -> Option<usize> {
        if end <= self.dirty.start * 64 || start >= self.dirty.end * 64 {
            return None;
        }
        (start / 64..end.div_ceil(64)).find_map(|word| {
            let common = self.words[word] & bits(word, start, end);
            (common != 0).then(|| word * 64 + common.trailing_zeros() as usize)
        })
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.words[self.dirty.clone()].iter().all(|word| *word == 0)
    }

    /// Becomes the difference of one set and another one, if there is one.
    pub fn copy_without(&mut self, other: &Bytes, known: Option<&Bytes>) {
        self.clear();
        for word in other.dirty.clone() {
            self.words[word] = other.words[word] & !known.map_or(0, |known| known.words[word]);
        }
        self.dirty = other.dirty.clone();
    }

    /// Removes a range of bytes.
    pub fn remove(&mut self, start: usize, end: usize) {
        for word in (start / 64).max(self.dirty.start)..end.div_ceil(64).min(self.dirty.end) {
            self.words[word] &= !bits(word, start, end);
        }
    }

    /// The end of the run of set bytes that begins at `start`, at most `end`.
    pub fn run_end(&self, start: usize, end: usize) -> usize {
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

    pub fn clear(&mut self) {
        self.words[self.dirty.clone()].fill(0);
        self.dirty = 0..0;
    }

    /// Appends its runs of bytes, in order; runs of equal length and distance become one range.
    pub fn extents(&self, core: Role, out: &mut Vec<Extent>) {
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

/// Appends a run of bytes to ranges, merging those of equal length and distance.
pub(crate) fn join(out: &mut Vec<Extent>, core: Role, start: u64, end: u64) {
    let bytes = (end - start) as u32;
    if let Some(last) = out.last_mut().filter(|last| last.row_bytes == bytes) {
        if last.rows == 1 {
            (last.rows, last.stride) = (2, start - last.start);
            return;
        }
        if last.start + u64::from(last.rows) * last.stride == start {
            last.rows += 1;
            return;
        }
    }
    out.push(Extent::run(Space::Vec, core, start, bytes));
}

#[cfg(test)]
mod tests {
    use slipring_tile::Space;

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
}
