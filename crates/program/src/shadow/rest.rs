//! Uninitialised bytes where no bit words are kept.

use std::sync::Arc;

/// The bytes without individual marks.
#[derive(Clone, Debug, Default)]
pub(super) enum Rest {
    /// All of them are initialised.
    #[default]
    Nothing,
    /// All of them are uninitialised.
    All,
    /// Those in these ranges are, sorted and disjoint.
    Ranges(Arc<[(u64, u64)]>),
}

impl Rest {
    /// The bytes of some ranges, in any order.
    pub fn of(mut ranges: Vec<(u64, u64)>) -> Rest {
        ranges.retain(|(from, to)| from < to);
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let joins = next.0 <= last.1;
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
        match ranges[..] {
            [] => Rest::Nothing,
            [(0, u64::MAX)] => Rest::All,
            _ => Rest::Ranges(ranges.into()),
        }
    }

    pub fn is_nothing(&self) -> bool {
        matches!(self, Rest::Nothing)
    }

    /// True if a byte of the range is uninitialised.
    pub fn any(&self, from: u64, to: u64) -> bool {
        from < to
            && match self {
                Rest::Nothing => false,
                Rest::All => true,
                Rest::Ranges(ranges) => {
                    let at = ranges.partition_point(|own| own.1 <= from);
                    ranges.get(at).is_some_and(|own| own.0 < to)
                }
            }
    }

    /// The uninitialised bytes of word `at`, one bit each.
    pub fn word(&self, at: usize) -> u64 {
        let Rest::Ranges(ranges) = self else { return if self.is_nothing() { 0 } else { u64::MAX } };
        let (first, end) = (at as u64 * 64, at as u64 * 64 + 64);
        let from = ranges.partition_point(|own| own.1 <= first);
        let own = ranges[from..].iter().take_while(|own| own.0 < end);
        own.fold(0, |word, own| word | super::words::bits(at as u64, own.0.max(first), own.1.min(end)))
    }

    /// The words from `first` up to `end`.
    pub fn words(&self, first: usize, end: usize) -> impl Iterator<Item = u64> {
        // Nearly always they are equal.
        let (from, to) = (first as u64 * 64, end as u64 * 64);
        let alike = match self {
            Rest::Nothing => Some(0),
            Rest::All => Some(u64::MAX),
            Rest::Ranges(_) if !self.any(from, to) => Some(0),
            Rest::Ranges(ranges) => {
                let at = ranges.partition_point(|own| own.1 <= from);
                ranges.get(at).filter(|own| own.0 <= from && own.1 >= to).map(|_| u64::MAX)
            }
        };
        (first..end).map(move |at| alike.unwrap_or_else(|| self.word(at)))
    }
}
