//! Sets of bytes, given as runs in any order.

use slipring_machine::Role;
use slipring_program::Extent;
use slipring_tile::Space;

/// Runs are joined once this many have been added.
const MANY: usize = 1 << 12;

/// A set of bytes of one memory.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    runs: Vec<(u64, u64)>,
    /// The number of runs at which they are joined next.
    full: usize,
}

impl Spans {
    /// Adds the bytes from `start` up to `end`.
    pub fn add(&mut self, start: u64, end: u64) {
        if let Some(last) = self.runs.last_mut().filter(|last| last.1 == start) {
            last.1 = end;
            return;
        }
        self.runs.push((start, end));
        if self.runs.len() > self.full.max(MANY) {
            self.join();
            self.full = 2 * self.runs.len();
        }
    }

    fn join(&mut self) {
        self.runs.sort_unstable();
        self.runs.dedup_by(|next, last| {
            let joins = next.0 <= last.1;
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
    }

    /// The set as ranges of a memory: runs of equal length at equal distances are rows of one range.
    pub fn extents(mut self, space: Space, core: Role) -> Vec<Extent> {
        self.join();
        let mut found: Vec<Extent> = Vec::new();
        for (start, end) in self.runs {
            if !found.last_mut().is_some_and(|last| goes_on(last, start, end)) {
                found.push(Extent::run(space, core, start, (end - start) as u32));
            }
        }
        found
    }
}

/// Adds a run to a range if it is its next row.
fn goes_on(last: &mut Extent, start: u64, end: u64) -> bool {
    let stride = if last.rows == 1 { start - last.start } else { last.stride };
    let next = last.start + u64::from(last.rows) * stride;
    let fits = start == next && end - start == u64::from(last.row_bytes);
    if fits {
        (last.rows, last.stride) = (last.rows + 1, stride);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_at_equal_distances_are_one_range() {
        let mut spans = Spans::default();
        for start in [64, 0, 32, 4, 100] {
            spans.add(start, start + 4);
        }
        let found = spans.extents(Space::Vec, Role::Aiv0);
        let shapes: Vec<_> = found.iter().map(|e| (e.start, e.rows, e.row_bytes, e.stride)).collect();
        assert_eq!(shapes, [(0, 1, 8, 0), (32, 2, 4, 32), (100, 1, 4, 0)]);
    }
}
