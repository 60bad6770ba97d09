//! Sets of integers that mostly consist of consecutive runs.

use std::ops::Range;

use smallvec::SmallVec;

/// A set of integers as runs, in ascending order, with a gap between every two.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Runs(SmallVec<[(u32, u32); 2]>);

impl Runs {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The runs, the first one first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u32>> + '_ {
        self.0.iter().map(|(start, end)| *start..*end)
    }

    pub(super) fn insert(&mut self, number: u32) {
        if let Some((start, end)) = self.0.last_mut()
            && (*start..=*end).contains(&number)
        {
            *end = (*end).max(number + 1);
            return;
        }
        let at = self.0.partition_point(|(_, end)| *end < number);
        match self.0.get_mut(at) {
            Some((start, end)) if *start <= number + 1 => {
                *start = (*start).min(number);
                *end = (*end).max(number + 1);
                if self.0.get(at + 1).is_some_and(|next| next.0 == self.0[at].1) {
                    let (_, end) = self.0.remove(at + 1);
                    self.0[at].1 = end;
                }
            }
            _ => self.0.insert(at, (number, number + 1)),
        }
    }

    /// Intersection.
    pub(super) fn intersect(&mut self, other: &Runs) {
        if self.is_empty() || self == other {
            return;
        }
        let mut both = SmallVec::new();
        let (mut a, mut b) = (0, 0);
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            let (start, end) = (x.0.max(y.0), x.1.min(y.1));
            if start < end {
                both.push((start, end));
            }
            if x.1 <= y.1 { a += 1 } else { b += 1 }
        }
        self.0 = both;
    }

    /// Union.
    pub(super) fn unite(&mut self, other: &Runs) {
        if other.is_empty() || self == other {
            return;
        }
        let mut sorted: SmallVec<[(u32, u32); 4]> = self.0.iter().chain(&other.0).copied().collect();
        sorted.sort_unstable();
        self.0.clear();
        for (start, end) in sorted {
            match self.0.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => self.0.push((start, end)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    fn runs(numbers: &[u32]) -> Runs {
        let mut runs = Runs::default();
        numbers.iter().for_each(|n| runs.insert(*n));
        runs
    }

    fn same(runs: &Runs, set: &BTreeSet<u32>) -> Result<(), TestCaseError> {
        let numbers: Vec<u32> = runs.iter().flatten().collect();
        prop_assert_eq!(&numbers, &set.iter().copied().collect::<Vec<_>>());
        prop_assert!(runs.0.windows(2).all(|w| w[0].1 < w[1].0), "{:?}", runs);
        Ok(())
    }

    proptest! {
        #[test]
        fn they_are_sets(
            a in prop::collection::vec(0..40u32, 0..40),
            b in prop::collection::vec(0..40u32, 0..40),
        ) {
            let (one, two) = (BTreeSet::from_iter(a.iter().copied()), BTreeSet::from_iter(b.iter().copied()));
            same(&runs(&a), &one)?;
            let mut both = runs(&a);
            both.intersect(&runs(&b));
            same(&both, &one.intersection(&two).copied().collect())?;
            let mut either = runs(&a);
            either.unite(&runs(&b));
            same(&either, &one.union(&two).copied().collect())?;
        }
    }
}
