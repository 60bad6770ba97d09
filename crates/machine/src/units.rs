//! Units of work, and fixed costs of them.

/// Size of one execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Units {
    /// The amount that the price counts: bytes, blocks of the matrix unit, cycles.
    pub total: u64,
    /// Rows of a tile, or blocks of a data move, over which `total` is evenly distributed; 0 and 1 both mean one.
    pub rows: u64,
    /// True if the rows are contiguous.
    pub joined: bool,
}

impl Units {
    /// One contiguous amount.
    pub const fn of(total: u64) -> Units {
        Units { total, rows: 1, joined: true }
    }

    /// Rows of this many bytes each.
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
    /// A cost without a size-dependent part.
    pub const fn fixed(cycles: u32) -> Cost {
        Cost { fixed: cycles, num: 0, den: 1 }
    }

    /// Cycles for this size (bytes or blocks, depending on the operation). Saturates.
    pub fn cycles(self, units: Units) -> u64 {
        let grown = units.total.saturating_mul(u64::from(self.num)).div_ceil(u64::from(self.den));
        grown.saturating_add(u64::from(self.fixed).saturating_mul(units.count()))
    }
}

/// Bytes of a repeat of the vector unit.
pub const REPEAT: u64 = 256;
