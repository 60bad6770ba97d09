//! Memory spaces.

use std::fmt;

/// Bytes of a block of local memory: the unit of moves and of strides of vector instructions. Tiles and their rows begin
/// at multiples of it.
pub const BLOCK_BYTES: u64 = 32;

/// A memory space: where a tile or a buffer lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Space {
    /// Global memory (off-chip, shared by all clusters).
    Gm,
    /// L1 buffer of the Cube core.
    Mat,
    /// L0A: left operand of the matrix unit.
    Left,
    /// L0B: right operand of the matrix unit.
    Right,
    /// L0C: accumulator of the matrix unit.
    Acc,
    /// Unified buffer of a Vector core.
    Vec,
    /// Bias table of the Cube core.
    Bias,
    /// Scale (fixpipe) buffer of the Cube core.
    Scaling,
    /// Scales of left operands, next to L0A: those of the data at byte `a` are at byte `a / 16`.
    LeftScale,
    /// Scales of right operands, next to L0B, addressed like those of left ones.
    RightScale,
    /// Special registers of a Vector core, as far as work on its pipes writes them; texts cannot name them.
    Spr,
}

impl Space {
    /// The spaces that text can name, in declaration order.
    pub const NAMED: [Space; 10] = [
        Space::Gm,
        Space::Mat,
        Space::Left,
        Space::Right,
        Space::Acc,
        Space::Vec,
        Space::Bias,
        Space::Scaling,
        Space::LeftScale,
        Space::RightScale,
    ];

    /// Bytes of an operand for each byte of the memory of its scales.
    pub const SCALED_BYTES: u64 = 16;

    /// Number of memory spaces.
    pub const COUNT: usize = Space::NAMED.len() + 1;

    /// The spelling in `.pto` text and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Gm => "gm",
            Space::Mat => "mat",
            Space::Left => "left",
            Space::Right => "right",
            Space::Acc => "acc",
            Space::Vec => "vec",
            Space::Bias => "bias",
            Space::Scaling => "scaling",
            Space::LeftScale => "left_scale",
            Space::RightScale => "right_scale",
            Space::Spr => "spr",
        }
    }

    /// The memory of the scales of operands in this one.
    pub const fn scales(self) -> Option<Space> {
        match self {
            Space::Left => Some(Space::LeftScale),
            Space::Right => Some(Space::RightScale),
            _ => None,
        }
    }

    /// True for the memories of the scales of operands.
    pub const fn is_scale(self) -> bool {
        matches!(self, Space::LeftScale | Space::RightScale)
    }

    /// Parses the spelling of `.pto` text; the hardware's names (`ub`, `l1` …) are accepted as well.
    pub fn parse(text: &str) -> Option<Space> {
        let canonical = Space::NAMED.into_iter().find(|s| s.name() == text);
        canonical.or(match text {
            "ub" => Some(Space::Vec),
            "l1" => Some(Space::Mat),
            "l0a" => Some(Space::Left),
            "l0b" => Some(Space::Right),
            "l0c" => Some(Space::Acc),
            "zero" => Some(Space::Gm),
            _ => None,
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
