//! An index of byte ranges that finds overlaps.

use std::collections::{BTreeMap, BTreeSet};

use crate::Bytes;

/// Sets of bytes with a number each, indexed by first byte and size: a query only visits sets close to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    /// By the bit length of the size, then by first byte: the end, and the number.
    by_size: BTreeMap<u32, BTreeSet<(u64, u64, usize)>>,
}

/// The first byte and the end of a set of bytes; `None` for the empty set.
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

    /// Removes a set that was added.
    pub fn take(&mut self, bytes: &Bytes, number: usize) {
        if let Some((first, end)) = hull(bytes)
            && let Some(own) = self.by_size.get_mut(&size(first, end))
        {
            own.remove(&(first, end, number));
        }
    }

    /// Appends the numbers of all sets that may overlap these bytes: those for which the ranges from first to last byte
    /// overlap.
    pub fn near(&self, bytes: &Bytes, found: &mut Vec<usize>) {
        let Some((from, to)) = hull(bytes) else { return };
        for (bits, own) in &self.by_size {
            // The maximum size in this class.
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
