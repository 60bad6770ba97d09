//! Bitmaps with one bit for each byte of a memory.

/// A bit of a word list whose last words may be missing.
pub(super) fn bit(words: &[u64], at: u64) -> bool {
    words.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 != 0)
}

/// Extends a list to this length; false if out of memory.
pub(super) fn longer<T: Clone>(list: &mut Vec<T>, len: usize, with: T) -> bool {
    let more = len.saturating_sub(list.len());
    if list.try_reserve(more).is_err() {
        return false;
    }
    list.resize(list.len() + more, with);
    true
}

/// The bits of word `word` for the bytes from `from` up to `to`.
#[inline]
pub(super) fn bits(word: u64, from: u64, to: u64) -> u64 {
    let low = from.saturating_sub(word * 64);
    let high = (to - word * 64).min(64);
    (u64::MAX >> (64 - (high - low))) << low
}

/// Sets or clears the bits of the bytes from `from` up to `to` in the given words, which start with the word of `from`
/// and end with that of the last byte.
#[inline]
pub(super) fn set(words: &mut [u64], to_ones: bool, from: u64, to: u64) {
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
