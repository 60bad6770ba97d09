//! Units of work, and plain costs of them.

/// Size of one execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Units {
    /// Bytes, blocks of the matrix unit, cycles: what the price counts.
    pub total: u64,
    /// Rows of a tile, or blocks of a data move, that `total` is spread over evenly; 0 and 1 both mean one.
    pub rows: u64,
    /// True where the rows follow each other without gaps.
    pub joined: bool,
}

impl Units {
    /// So much in one piece.
    pub const fn of(total: u64) -> Units {
        Units { total, rows: 1, joined: true }
    }

    /// Rows of so many bytes each.
    pub const fn rows(rows: u64, row_bytes: u64, joined: bool) -> Units {
        Units { total: rows.saturating_mul(row_bytes), rows, joined }
    }

    /// Rows, at least one.
    pub const fn count(self) -> u64 {
        if self.rows == 0 { 1 } else { self.rows }
    }
}

/// A cost: `fixed` for each block `+ ceil(total × num / den)` cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Latency in cycles.
    pub fixed: u32,
    /// Numerator of the cycles per unit.
    pub num: u32,
    /// Denominator of the cycles per unit; never 0.
    pub den: u32,
}

impl Cost {
    /// A cost without a part that grows.
    pub const fn fixed(cycles: u32) -> Cost {
        Cost { fixed: cycles, num: 0, den: 1 }
    }

    /// Cycles for so much (bytes or blocks, as the operation says). Saturates.
    pub fn cycles(self, units: Units) -> u64 {
        let grown = units.total.saturating_mul(u64::from(self.num)).div_ceil(u64::from(self.den));
        grown.saturating_add(u64::from(self.fixed).saturating_mul(units.count()))
    }
}

/// Bytes of a repeat of the vector unit.
pub const REPEAT: u64 = 256;
