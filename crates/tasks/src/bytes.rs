//! Sets of bytes of a tensor.

/// A set of bytes: ranges in ascending order that neither overlap nor touch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bytes(Vec<(u64, u64)>);

impl Bytes {
    /// All bytes from `first` up to `end`.
    pub fn range(first: u64, end: u64) -> Bytes {
        Bytes(if first < end { vec![(first, end)] } else { Vec::new() })
    }

    /// The bytes of ranges (first byte and end) in any order.
    pub fn of(mut ranges: Vec<(u64, u64)>) -> Bytes {
        ranges.retain(|(first, end)| first < end);
        ranges.sort_unstable();
        let mut list: Vec<(u64, u64)> = Vec::with_capacity(ranges.len().min(64));
        for (first, end) in ranges {
            match list.last_mut() {
                Some(last) if first <= last.1 => last.1 = last.1.max(end),
                _ => list.push((first, end)),
            }
        }
        Bytes(list)
    }

    /// The bytes of a window that starts at a byte offset: elements of a size in bytes, with extents and strides in
    /// elements. If it has too many separate ranges, all bytes from its first to its last.
    pub fn window(offset: u64, elem: u64, extents: &[u64], strides: &[u64]) -> Bytes {
        const MOST_RUNS: u64 = 1 << 16;
        if extents.contains(&0) {
            return Bytes::default();
        }
        let mut run = elem;
        let mut outer: Vec<(u64, u64)> = extents.iter().copied().zip(strides.iter().map(|n| n * elem)).collect();
        outer.retain(|(extent, _)| *extent > 1);
        while let Some((extent, stride)) = outer.last().copied().filter(|(_, stride)| *stride == run) {
            run = extent * stride;
            outer.pop();
        }
        let runs = outer.iter().try_fold(1u64, |n, (extent, _)| n.checked_mul(*extent)).unwrap_or(u64::MAX);
        if runs > MOST_RUNS {
            let last: u64 = outer.iter().map(|(extent, stride)| (extent - 1) * stride).sum();
            return Bytes::range(offset, offset + last + run);
        }
        let mut starts = vec![offset];
        for (extent, stride) in outer {
            starts = starts.iter().flat_map(|start| (0..extent).map(move |n| start + n * stride)).collect();
        }
        Bytes::of(starts.into_iter().map(|start| (start, start + run)).collect())
    }

    /// The ranges: first byte and end.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// True for no byte.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|(first, end)| end - first).sum()
    }

    /// The union of both sets.
    pub fn and(&self, other: &Bytes) -> Bytes {
        Bytes::of(self.0.iter().chain(&other.0).copied().collect())
    }

    /// The intersection of both sets.
    pub fn common(&self, other: &Bytes) -> Bytes {
        let (mut list, mut a, mut b) = (Vec::new(), 0, 0);
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            let (first, end) = (x.0.max(y.0), x.1.min(y.1));
            if first < end {
                list.push((first, end));
            }
            if x.1 < y.1 { a += 1 } else { b += 1 }
        }
        Bytes(list)
    }

    /// True if they have a byte in common.
    pub fn overlaps(&self, other: &Bytes) -> bool {
        let (mut a, mut b) = (0, 0);
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            if x.0.max(y.0) < x.1.min(y.1) {
                return true;
            }
            if x.1 < y.1 { a += 1 } else { b += 1 }
        }
        false
    }

    /// The bytes of this set that are not in the other.
    pub fn without(&self, other: &Bytes) -> Bytes {
        let mut list = Vec::new();
        let mut b = 0;
        for &(mut first, end) in &self.0 {
            while b < other.0.len() && other.0[b].1 <= first {
                b += 1;
            }
            let mut at = b;
            while let Some(hole) = other.0.get(at).filter(|hole| hole.0 < end) {
                if first < hole.0 {
                    list.push((first, hole.0));
                }
                first = first.max(hole.1);
                at += 1;
            }
            if first < end {
                list.push((first, end));
            }
        }
        Bytes(list)
    }

    /// Whether it contains all bytes of the other set.
    pub fn covers(&self, other: &Bytes) -> bool {
        other.without(self).is_empty()
    }
}

impl std::fmt::Display for Bytes {
    /// `bytes 0 to 63 and 128 to 191`; the rest of a longer list is counted.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 2;
        let part = |(first, end): &(u64, u64)| format!("{first} to {}", end - 1);
        match &self.0[..] {
            [] => f.write_str("no byte"),
            [(first, end)] if end - first == 1 => write!(f, "byte {first}"),
            [one] => write!(f, "bytes {}", part(one)),
            [first, second] => write!(f, "bytes {} and {}", part(first), part(second)),
            list => {
                let shown: Vec<String> = list.iter().take(SHOWN).map(part).collect();
                write!(f, "bytes {} and {} more ranges", shown.join(", "), list.len() - SHOWN)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bits(bytes: &Bytes) -> u64 {
        bytes.ranges().iter().flat_map(|(first, end)| *first..*end).fold(0, |all, at| all | 1 << at)
    }

    fn set() -> impl Strategy<Value = Bytes> {
        prop::collection::vec((0u64..60, 0u64..12), 0..8)
            .prop_map(|list| Bytes::of(list.into_iter().map(|(at, len)| (at, (at + len).min(64))).collect()))
    }

    proptest! {
        #[test]
        fn sets_are_those_of_their_bytes(a in set(), b in set()) {
            prop_assert_eq!(bits(&a.and(&b)), bits(&a) | bits(&b));
            prop_assert_eq!(bits(&a.common(&b)), bits(&a) & bits(&b));
            prop_assert_eq!(bits(&a.without(&b)), bits(&a) & !bits(&b));
            prop_assert_eq!(a.overlaps(&b), bits(&a) & bits(&b) != 0);
            prop_assert_eq!(a.covers(&b), bits(&b) & !bits(&a) == 0);
            prop_assert_eq!(a.len(), u64::from(bits(&a).count_ones()));
            prop_assert_eq!(Bytes::of(a.ranges().to_vec()), a);
        }

        #[test]
        fn a_window_is_its_elements(rows in 1u64..4, cols in 1u64..5, gap in 0u64..3, offset in 0u64..4) {
            let stride = cols + gap;
            let window = Bytes::window(offset, 1, &[rows, cols], &[stride, 1]);
            let each = (0..rows).flat_map(|r| (0..cols).map(move |c| offset + r * stride + c));
            prop_assert_eq!(bits(&window), each.fold(0u64, |all, at| all | 1 << at));
        }
    }
}
