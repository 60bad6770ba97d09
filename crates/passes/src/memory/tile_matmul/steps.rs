//! The steps into which a product is split.

use std::ops::Range;

/// One operand of a product and its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Storage {
    /// Bytes of the operand per unit of k: a column of the left operand, a row of the right one.
    pub line: u64,
    /// Bytes of its memory.
    pub capacity: u64,
    /// Alignment of tiles there in bytes.
    pub align: u64,
}

impl Storage {
    /// Maximum k, in multiples of `unit`, for which `copies` slices fit side by side in the memory.
    fn most(&self, copies: u64, unit: u64) -> u64 {
        let share = self.capacity / copies / self.align.max(1) * self.align.max(1);
        share / self.line.max(1) / unit * unit
    }
}

/// Divides `k` into the fewest steps that let two slices of each operand fit side by side, so that the next one is
/// loaded during a product; if not even a fractal fits twice, into steps of which one fits at a time. All steps have
/// the same length, a multiple of `unit` (the k of one fractal), except the last, which may be shorter. `None` if not
/// even one fractal fits.
pub fn steps(k: u64, unit: u64, storages: &[Storage]) -> Option<Vec<Range<u64>>> {
    let unit = unit.max(1);
    let most = |copies| storages.iter().map(|storage| storage.most(copies, unit)).min().unwrap_or(0);
    let longest = [most(2), most(1)].into_iter().find(|length| *length > 0)?;
    let length = k.div_ceil(k.div_ceil(longest).max(1)).next_multiple_of(unit);
    Some((0..k).step_by(length as usize).map(|start| start..k.min(start + length)).collect())
}
