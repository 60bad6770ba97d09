//! Rectangles of bytes: rows of equal length at equal distances.

use slipring_program::Extent;
use smallvec::SmallVec;

/// Rows of bytes. Never empty; a single row has stride 0, others a stride larger than the row, so that equal sets of
/// bytes in a single row, or with one stride, are equal values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rect {
    pub start: u64,
    /// Bytes per row.
    pub bytes: u64,
    pub rows: u64,
    pub stride: u64,
}

/// Some disjoint rectangles.
pub(crate) type Rects = SmallVec<[Rect; 4]>;

/// The intersection of a rectangle with another one.
#[derive(Clone, PartialEq, Eq, Debug)]
// Destructured immediately: it is never stored, and boxing would be its main cost.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Cut {
    /// Empty.
    Apart,
    /// All of its bytes.
    Inside,
    /// The first rectangles are common, the second ones are not.
    Parts(Rects, Rects),
    /// Not expressible by a few rectangles: their strides differ, or one wraps around the other's rows.
    Mixed,
}

impl Rect {
    /// The bytes from `start` up to `end`, which is larger.
    pub fn run(start: u64, end: u64) -> Rect {
        Rect { start, bytes: end - start, rows: 1, stride: 0 }
    }

    /// The bytes of a range that begins at `start` of its memory; `None` for one without bytes, with overlapping rows,
    /// or beyond all memories.
    pub fn of(range: &Extent, start: u64) -> Option<Rect> {
        let (bytes, rows, stride) = (u64::from(range.row_bytes), u64::from(range.rows), range.stride);
        if bytes == 0 || rows == 0 || (rows > 1 && stride < bytes) {
            return None;
        }
        start.checked_add(rows.checked_mul(stride.max(bytes))?)?;
        Rect::rows(start, bytes, rows, stride)
    }

    fn rows(start: u64, bytes: u64, rows: u64, stride: u64) -> Option<Rect> {
        match rows {
            _ if rows == 0 || bytes == 0 => None,
            1 => Some(Rect { start, bytes, rows, stride: 0 }),
            _ if stride == bytes => Some(Rect { start, bytes: bytes * rows, rows: 1, stride: 0 }),
            _ => Some(Rect { start, bytes, rows, stride }),
        }
    }

    /// End (exclusive).
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + (self.rows - 1) * self.stride + self.bytes
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.rows * self.bytes
    }

    /// Start and end of each row.
    pub fn each(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let Rect { start, bytes, rows, stride } = *self;
        (0..rows).map(move |row| start + row * stride).map(move |at| (at, at + bytes))
    }

    /// Its intersection with another one.
    pub fn cut(&self, by: &Rect) -> Cut {
        if by.start >= self.end() || by.end() <= self.start {
            return Cut::Apart;
        }
        match (self.rows, by.rows) {
            (1, 1) if by.start <= self.start && self.end() <= by.end() => Cut::Inside,
            (_, 1) => self.cut_by_run(by.start, by.end()),
            (1, _) => self.run_cut(by),
            _ if self == by => Cut::Inside,
            _ if self.stride == by.stride => self.cut_in_step(by),
            _ if self.meets(by) => Cut::Mixed,
            _ => Cut::Apart,
        }
    }

    /// The rows that overlap the bytes from `from` up to `to`: the first, and the end.
    fn rows_within(&self, from: u64, to: u64) -> (u64, u64) {
        if self.rows == 1 {
            let meets = self.start < to && from < self.end();
            return (0, u64::from(meets));
        }
        // Row i ends at start + i × stride + bytes, and begins at start + i × stride.
        let first = match from.checked_sub(self.start + self.bytes) {
            Some(behind) => behind / self.stride + 1,
            None => 0,
        };
        let last = to.saturating_sub(self.start).div_ceil(self.stride);
        (first.min(self.rows), last.min(self.rows))
    }

    /// The first byte in common with the bytes from `from` up to `to`.
    pub fn first_within(&self, from: u64, to: u64) -> Option<u64> {
        let (first, behind) = self.rows_within(from, to);
        (first < behind).then(|| from.max(self.start + first * self.stride))
    }

    /// A range of its rows.
    fn part(&self, from: u64, to: u64) -> Option<Rect> {
        (from < to).then(|| Rect::rows(self.start + from * self.stride, self.bytes, to - from, self.stride)).flatten()
    }

    /// Its intersection with a single row.
    fn cut_by_run(&self, from: u64, to: u64) -> Cut {
        let (first, behind) = self.rows_within(from, to);
        if first >= behind {
            return Cut::Apart;
        }
        let (mut inside, mut outside) = (Rects::new(), Rects::new());
        outside.extend(self.part(0, first));
        outside.extend(self.part(behind, self.rows));
        // Only the first and the last row can be partial.
        let row = |at: u64| (self.start + at * self.stride, self.start + at * self.stride + self.bytes);
        let (mut low, mut high) = (first, behind);
        for at in [first, behind - 1] {
            let (start, end) = row(at);
            if (from <= start && end <= to) || at < low || at >= high {
                continue;
            }
            if at == first {
                low += 1
            } else {
                high -= 1
            }
            inside.push(Rect::run(start.max(from), end.min(to)));
            if start < from {
                outside.push(Rect::run(start, from));
            }
            if to < end {
                outside.push(Rect::run(to, end));
            }
        }
        inside.extend(self.part(low, high));
        if outside.is_empty() { Cut::Inside } else { Cut::Parts(inside, outside) }
    }

    /// The intersection of a single row with several.
    fn run_cut(&self, by: &Rect) -> Cut {
        let (from, to) = (self.start, self.end());
        let (inside, _) = match by.cut_by_run(from, to) {
            Cut::Apart | Cut::Mixed => return Cut::Apart,
            Cut::Inside => (Rects::from_slice(&[*by]), Rects::new()),
            Cut::Parts(inside, outside) => (inside, outside),
        };
        let (first, behind) = by.rows_within(from, to);
        let (start, end) = (by.start + first * by.stride, by.start + (behind - 1) * by.stride + by.bytes);
        let mut outside = Rects::new();
        if from < start {
            outside.push(Rect::run(from, start));
        }
        outside.extend(Rect::rows(start + by.bytes, by.stride - by.bytes, behind - 1 - first, by.stride));
        if end < to {
            outside.push(Rect::run(end, to));
        }
        if outside.is_empty() { Cut::Inside } else { Cut::Parts(inside, outside) }
    }

    /// Its intersection with one of the same stride.
    fn cut_in_step(&self, by: &Rect) -> Cut {
        let stride = self.stride as i128;
        let ahead = i128::from(by.start) - i128::from(self.start);
        let (down, left) = (ahead.div_euclid(stride), ahead.rem_euclid(stride) as u64);
        let right = left + by.bytes;
        // In columns of this one's rows; anything beyond the stride is at the beginning of the next row.
        let wraps = right > self.stride;
        let (left, right, down) = match (left < self.bytes, wraps) {
            (true, true) => return if self.meets(by) { Cut::Mixed } else { Cut::Apart },
            (true, false) => (left, right.min(self.bytes), down),
            (false, true) => (0, (right - self.stride).min(self.bytes), down + 1),
            (false, false) => return Cut::Apart,
        };
        let row = |at: i128| at.clamp(0, i128::from(self.rows)) as u64;
        let (top, bottom) = (row(down), row(down + i128::from(by.rows)));
        let columns = |from: u64, to: u64| {
            if from >= to || top >= bottom {
                return None;
            }
            Rect::rows(self.start + top * self.stride + from, to - from, bottom - top, self.stride)
        };
        let Some(inside) = columns(left, right) else { return Cut::Apart };
        let mut outside = Rects::new();
        outside.extend(self.part(0, top));
        outside.extend(columns(0, left));
        outside.extend(columns(right, self.bytes));
        outside.extend(self.part(bottom, self.rows));
        if outside.is_empty() { Cut::Inside } else { Cut::Parts(Rects::from_slice(&[inside]), outside) }
    }

    /// True if they share a byte; merges their rows.
    fn meets(&self, other: &Rect) -> bool {
        let (mut a, mut b) = (0, 0);
        while a < self.rows && b < other.rows {
            let (x, y) = (self.start + a * self.stride, other.start + b * other.stride);
            if x < y + other.bytes && y < x + self.bytes {
                return true;
            }
            if x + self.bytes <= y + other.bytes { a += 1 } else { b += 1 }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bytes(rects: &[Rect]) -> Vec<u64> {
        let mut list: Vec<u64> = rects.iter().flat_map(Rect::each).flat_map(|(from, to)| from..to).collect();
        list.sort_unstable();
        list
    }

    fn rect() -> impl Strategy<Value = Rect> {
        (0..60u64, 1..20u64, 1..6u64, 0..24u64, any::<bool>()).prop_map(|(start, bytes, rows, gap, fixed)| {
            let stride = if fixed { 24.max(bytes + 1) } else { bytes + gap };
            Rect::rows(start, bytes, rows, stride).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn cuts_are_those_of_sets_of_bytes(a in rect(), b in rect()) {
            let (all, other) = (bytes(&[a]), bytes(&[b]).into_iter().collect::<BTreeSet<_>>());
            prop_assert_eq!(all.len() as u64, a.len());
            prop_assert_eq!(all.last().map(|last| last + 1), Some(a.end()));
            let (common, rest): (Vec<u64>, Vec<u64>) = all.iter().partition(|byte| other.contains(byte));
            if b.rows == 1 {
                prop_assert_eq!(a.first_within(b.start, b.end()), common.first().copied());
            }
            match a.cut(&b) {
                Cut::Apart => prop_assert!(common.is_empty()),
                Cut::Inside => prop_assert!(rest.is_empty()),
                Cut::Parts(inside, outside) => {
                    prop_assert!(!inside.is_empty() && !outside.is_empty());
                    prop_assert_eq!(bytes(&inside), common);
                    prop_assert_eq!(bytes(&outside), rest);
                }
                Cut::Mixed => {
                    prop_assert!(!common.is_empty() && a.rows > 1 && b.rows > 1);
                    let wraps = a.stride == b.stride && a.bytes + b.bytes > a.stride;
                    prop_assert!(a.stride != b.stride || wraps);
                }
            }
        }
    }
}
