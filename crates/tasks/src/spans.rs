//! Ranges of bytes, found by what they overlap.

use std::collections::{BTreeMap, BTreeSet};

use crate::Bytes;

/// Sets of bytes with a number each, in an index by their first byte and their extent: a question looks at those near it only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    /// By the number of bits of the extent, then by first byte: the end, and the number.
    by_size: BTreeMap<u32, BTreeSet<(u64, u64, usize)>>,
}

/// The first byte and the end of a set of bytes; `None` for no byte.
fn hull(bytes: &Bytes) -> Option<(u64, u64)> {
    let ranges = bytes.ranges();
    Some((ranges.first()?.0, ranges.last()?.1))
}

fn size(first: u64, end: u64) -> u32 {
    u64::BITS - (end - first).leading_zeros()
}

impl Spans {
    /// Adds a set of bytes.
    pub fn add(&mut self, bytes: &Bytes, number: usize) {
        if let Some((first, end)) = hull(bytes) {
            self.by_size.entry(size(first, end)).or_default().insert((first, end, number));
        }
    }

    /// Takes one out that was added.
    pub fn take(&mut self, bytes: &Bytes, number: usize) {
        if let Some((first, end)) = hull(bytes)
            && let Some(own) = self.by_size.get_mut(&size(first, end))
        {
            own.remove(&(first, end, number));
        }
    }

    /// Gives the numbers of all sets that may overlap these bytes: those whose first to last byte do.
    pub fn near(&self, bytes: &Bytes, found: &mut Vec<usize>) {
        let Some((from, to)) = hull(bytes) else { return };
        for (bits, own) in &self.by_size {
            // None of them is longer than that.
            let longest = 1u64.checked_shl(*bits).map_or(u64::MAX, |past| past - 1);
            let near = own.range((from.saturating_sub(longest), 0, 0)..(to, 0, 0));
            found.extend(near.filter(|(_, end, _)| *end > from).map(|(_, _, number)| *number));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn near_is_what_overlaps(
            sets in prop::collection::vec((0u64..4000, 0u64..700), 1..60),
            gone in prop::collection::vec(any::<bool>(), 60),
            (first, extent) in (0u64..4000, 0u64..900),
        ) {
            let bytes: Vec<Bytes> = sets.iter().map(|(first, extent)| Bytes::range(*first, first + extent)).collect();
            let asked = Bytes::range(first, first + extent);
            let mut spans = Spans::default();
            bytes.iter().enumerate().for_each(|(at, own)| spans.add(own, at));
            (0..bytes.len()).filter(|at| gone[*at]).for_each(|at| spans.take(&bytes[at], at));
            let mut found = Vec::new();
            spans.near(&asked, &mut found);
            found.sort_unstable();
            let wanted: Vec<usize> = (0..bytes.len()).filter(|at| !gone[*at] && bytes[*at].overlaps(&asked)).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
