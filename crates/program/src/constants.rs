//! Ranges of a local memory whose contents do not depend on any buffer.

/// Ranges of bytes whose contents come only from the program's text and the launch arguments, or that nobody has
/// written. All other bytes may come from buffers.
#[derive(Clone, Debug)]
pub struct Constants {
    /// Start and end of each, sorted and disjoint.
    runs: Vec<(u64, u64)>,
}

impl Default for Constants {
    /// The whole memory.
    fn default() -> Constants {
        Constants { runs: vec![(0, u64::MAX)] }
    }
}

impl Constants {
    /// Maximum number of ranges that are kept.
    const MOST: usize = 1 << 12;

    /// True if it contains all bytes of a range.
    pub fn has(&self, from: u64, to: u64) -> bool {
        let at = self.runs.partition_point(|(_, end)| *end <= from);
        from >= to || self.runs.get(at).is_some_and(|(start, end)| *start <= from && to <= *end)
    }

    /// The parts of a range that it does not contain.
    pub fn others(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let (mut list, mut at) = (Vec::new(), from);
        for (start, end) in &self.runs[self.runs.partition_point(|(_, end)| *end <= from)..] {
            if *start >= to {
                break;
            }
            if at < *start {
                list.push((at, *start));
            }
            at = *end;
        }
        if at < to {
            list.push((at, to));
        }
        list
    }

    /// Removes a range.
    pub fn remove(&mut self, from: u64, to: u64) {
        let first = self.runs.partition_point(|(_, end)| *end <= from);
        let last = self.runs.partition_point(|(start, _)| *start < to);
        if from >= to || first >= last {
            return;
        }
        let (low, high) = (self.runs[first].0, self.runs[last - 1].1);
        let left = (low < from).then_some((low, from));
        let right = (to < high).then_some((to, high));
        self.runs.splice(first..last, left.into_iter().chain(right));
        // Dropping a range loses precision but is correct.
        self.runs.truncate(Constants::MOST);
    }

    /// Adds a range.
    pub fn add(&mut self, from: u64, to: u64) {
        if from >= to || self.has(from, to) {
            return;
        }
        let first = self.runs.partition_point(|(_, end)| *end < from);
        let last = self.runs.partition_point(|(start, _)| *start <= to);
        let (mut low, mut high) = (from, to);
        if first < last {
            (low, high) = (low.min(self.runs[first].0), high.max(self.runs[last - 1].1));
        }
        self.runs.splice(first..last, [(low, high)]);
        self.runs.truncate(Constants::MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same as a list of bytes.
    #[test]
    fn ranges_are_as_their_bytes() {
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut ranges, mut bytes) = (Constants::default(), [true; 100]);
        for _ in 0..5000 {
            let from = next(100);
            let to = from + next(101 - from);
            let own = &mut bytes[from as usize..to as usize];
            match next(2) {
                0 => {
                    ranges.add(from, to);
                    own.fill(true);
                }
                _ => {
                    ranges.remove(from, to);
                    own.fill(false);
                }
            }
            let (from, to) = (next(100), next(101));
            let all = from >= to || bytes[from as usize..to as usize].iter().all(|constant| *constant);
            assert_eq!(ranges.has(from, to), all);
            let mut others = [false; 100];
            for (from, to) in ranges.others(0, 100) {
                others[from as usize..to as usize].fill(true);
            }
            assert!(others.iter().zip(&bytes).all(|(other, constant)| other != constant));
            assert!(ranges.runs.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
