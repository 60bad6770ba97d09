//! Sets of integers that mostly consist of consecutive runs.

use std::ops::Range;

use smallvec::SmallVec;

/// A set of integers as runs, in ascending order, with a gap between every two.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Runs(SmallVec<[(u32, u32); 2]>);

impl Runs {
    /// True if it has no number.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The runs, the first one first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u32>> + '_ {
        self.0.iter().map(|(start, end)| *start..*end)
    }

    /// Adds a number.
    pub fn insert(&mut self, number: u32) {
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
    pub fn intersect(&mut self, other: &Runs) {
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
    pub fn unite(&mut self, other: &Runs) {
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
