//! Ranges of a memory that are known to be initialised.

use crate::Extent;

/// Ranges of rows: first byte, bytes per row, number of rows, stride.
#[derive(Clone, Debug, Default)]
pub struct Known {
    ranges: Vec<(u64, u32, u32, u64)>,
    /// The index of the next entry to replace.
    next: usize,
}

impl Known {
    const MOST: usize = 8;

    fn of(extent: &Extent, start: u64) -> (u64, u32, u32, u64) {
        (start, extent.row_bytes, extent.rows, extent.stride)
    }

    /// Whether a range is known.
    pub fn has(&self, extent: &Extent, start: u64) -> bool {
        self.ranges.contains(&Known::of(extent, start))
    }

    /// Adds a range, replacing the oldest one if there are many.
    pub fn add(&mut self, extent: &Extent, start: u64) {
        match self.ranges.get_mut(self.next) {
            Some(place) => *place = Known::of(extent, start),
            None => self.ranges.push(Known::of(extent, start)),
        }
        self.next = (self.next + 1) % Known::MOST;
    }

    /// The bytes of a range become uninitialised.
    pub fn forget(&mut self, from: u64, to: u64) {
        if !self.ranges.is_empty() {
            let before = self.ranges.len();
            self.ranges.retain(|(start, bytes, rows, stride)| {
                let last = start.saturating_add(u64::from(*rows).saturating_sub(1).saturating_mul(*stride));
                *start >= to || last.saturating_add((*bytes).into()) <= from
            });
            if self.ranges.len() < before {
                self.next = self.ranges.len();
            }
        }
    }
}
