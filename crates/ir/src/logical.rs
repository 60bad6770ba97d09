//! The types of logical vectors: lanes in as many registers as they need (SPEC of virtual micro-instructions).

use std::fmt;

use slipring_tile::Elem;

/// Bytes of a vector register.
const REGISTER: u32 = 256;

/// `!pto.vmi.vreg<256xf32>`: a vector of any length, in order. The registers that hold it are the assembler's to choose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LogicalVector {
    /// Number of lanes.
    pub lanes: u32,
    /// What a lane is.
    pub lane: LaneType,
}

/// The type of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LaneType {
    /// An element; an integer without a sign in its name (`i32`) counts as unsigned where it matters.
    Elem(Elem),
    /// An integer that is written as signed: `si32`.
    Signed(Elem),
    /// `!pto.bf16x2`: two `bf16` that are converted together.
    PairOfBf16,
}

/// `!pto.vmi.mask<128xpred>`: a predicate for that many lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LogicalMask {
    /// Number of lanes.
    pub lanes: u32,
    /// Width in bits of the lanes that it governs, if the type gives it: `128xb32`.
    pub bits: Option<u8>,
}

impl LaneType {
    /// Bytes of a lane.
    pub const fn bytes(self) -> usize {
        match self {
            LaneType::Elem(elem) | LaneType::Signed(elem) => elem.bytes(),
            LaneType::PairOfBf16 => 4,
        }
    }

    /// The type that arithmetic uses: integers are signed only if they are written so. `None` for pairs, which are only
    /// converted.
    pub const fn arithmetic(self) -> Option<Elem> {
        Some(match self {
            LaneType::Elem(Elem::I8) => Elem::U8,
            LaneType::Elem(Elem::I16) => Elem::U16,
            LaneType::Elem(Elem::I32) => Elem::U32,
            LaneType::Elem(Elem::I64) => Elem::U64,
            LaneType::Elem(elem) | LaneType::Signed(elem) => elem,
            LaneType::PairOfBf16 => return None,
        })
    }
}

impl LogicalVector {
    /// The most lanes of a vector or a predicate.
    pub const MOST_LANES: u32 = 2048;
    /// Registers of the vector unit: no vector has more.
    pub const MOST_REGISTERS: u32 = 32;

    /// Bytes of all lanes.
    pub const fn bytes(self) -> usize {
        self.lanes as usize * self.lane.bytes()
    }

    /// Registers that hold it in order.
    pub const fn registers(self) -> usize {
        self.bytes().div_ceil(REGISTER as usize)
    }
}

impl LogicalMask {
    /// Registers that hold it with one bit for each lane.
    pub const fn registers(self) -> usize {
        self.lanes.div_ceil(REGISTER) as usize
    }
}

impl fmt::Display for LaneType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaneType::Elem(elem) => write!(f, "{elem}"),
            LaneType::Signed(elem) => write!(f, "s{elem}"),
            LaneType::PairOfBf16 => f.write_str("!pto.bf16x2"),
        }
    }
}

impl fmt::Display for LogicalVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "!pto.vmi.vreg<{}x{}>", self.lanes, self.lane)
    }
}

impl fmt::Display for LogicalMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bits {
            Some(bits) => write!(f, "!pto.vmi.mask<{}xb{bits}>", self.lanes),
            None => write!(f, "!pto.vmi.mask<{}xpred>", self.lanes),
        }
    }
}
