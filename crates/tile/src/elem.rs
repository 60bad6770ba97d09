//! Element types.

use std::fmt;

/// The type of one element of a tile or of a buffer in global memory.
///
/// Signless integers of the text (`i8` … `i64`) are signed; `ui8` … `ui64` are unsigned.
///
/// The 4-bit floats come in pairs, as the tile compiler has them (`!pto.f4E2M1x2`): the element is a byte with two
/// values, the first in its low half. Shapes, strides and offsets count such bytes; [`Elem::values`] is 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Elem {
    F32,
    F16,
    BF16,
    /// 8-bit float, 4 exponent bits, 3 mantissa bits, no infinities (`f8E4M3FN`).
    F8E4M3,
    /// 8-bit float, 5 exponent bits, 2 mantissa bits (`f8E5M2`).
    F8E5M2,
    /// A power of two in 8 bits, the scale of a block: no sign, no zero (`f8E8M0FNU`, `!pto.f8E8M0`).
    F8E8M0,
    /// HiFloat8: 8 bits, 3 to 0 mantissa bits as the exponent grows (`!pto.hif8`).
    HiF8,
    /// Two 4-bit floats of 2 exponent bits and 1 mantissa bit: 0, 0.5, 1, 1.5, 2, 3, 4, 6 (`!pto.f4E2M1x2`).
    F4E2M1x2,
    /// Two 4-bit floats of 1 exponent bit and 2 mantissa bits: 0, 0.25 … 1.75 (`!pto.f4E1M2x2`).
    F4E1M2x2,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Elem {
    /// Every element type, in declaration order.
    pub const ALL: [Elem; 17] = [
        Elem::F32,
        Elem::F16,
        Elem::BF16,
        Elem::F8E4M3,
        Elem::F8E5M2,
        Elem::F8E8M0,
        Elem::HiF8,
        Elem::F4E2M1x2,
        Elem::F4E1M2x2,
        Elem::I8,
        Elem::I16,
        Elem::I32,
        Elem::I64,
        Elem::U8,
        Elem::U16,
        Elem::U32,
        Elem::U64,
    ];

    /// Size of one element in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Elem::F16 | Elem::BF16 | Elem::I16 | Elem::U16 => 2,
            Elem::F32 | Elem::I32 | Elem::U32 => 4,
            Elem::I64 | Elem::U64 => 8,
            _ => 1,
        }
    }

    /// Values in one element: 2 for the packed 4-bit floats, else 1.
    pub const fn values(self) -> usize {
        if matches!(self, Elem::F4E2M1x2 | Elem::F4E1M2x2) { 2 } else { 1 }
    }

    /// True for the floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F16 | Elem::BF16) || self.is_small_float()
    }

    /// True for the floating-point types of 8 and 4 bits, which can be stored, converted and multiplied by the matrix
    /// unit, but are not accepted by vector arithmetic.
    pub const fn is_small_float(self) -> bool {
        matches!(self, Elem::F8E4M3 | Elem::F8E5M2 | Elem::F8E8M0 | Elem::HiF8 | Elem::F4E2M1x2 | Elem::F4E1M2x2)
    }

    /// True for signed integers.
    pub const fn is_signed_int(self) -> bool {
        matches!(self, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
    }

    /// The spelling in `.pto` text.
    pub const fn name(self) -> &'static str {
        match self {
            Elem::F32 => "f32",
            Elem::F16 => "f16",
            Elem::BF16 => "bf16",
            Elem::F8E4M3 => "f8E4M3FN",
            Elem::F8E5M2 => "f8E5M2",
            Elem::F8E8M0 => "f8E8M0FNU",
            Elem::HiF8 => "!pto.hif8",
            Elem::F4E2M1x2 => "!pto.f4E2M1x2",
            Elem::F4E1M2x2 => "!pto.f4E1M2x2",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::U8 => "ui8",
            Elem::U16 => "ui16",
            Elem::U32 => "ui32",
            Elem::U64 => "ui64",
        }
    }

    /// Reads a spelling of `.pto` text (`f32`, `ui8`, `!pto.hif8`, …); also `si8` for signed, `u8` for unsigned, and
    /// the types of the dialect without `!pto.` (as used on command lines).
    pub fn parse(text: &str) -> Option<Elem> {
        let canonical = Elem::ALL.into_iter().find(|e| e.name() == text);
        canonical.or(match text {
            "f8E4M3" => Some(Elem::F8E4M3),
            "f8E8M0" | "!pto.f8E8M0" => Some(Elem::F8E8M0),
            "hif8" => Some(Elem::HiF8),
            "f4E2M1x2" => Some(Elem::F4E2M1x2),
            "f4E1M2x2" => Some(Elem::F4E1M2x2),
            "si8" => Some(Elem::I8),
            "si16" => Some(Elem::I16),
            "si32" => Some(Elem::I32),
            "si64" => Some(Elem::I64),
            "u8" => Some(Elem::U8),
            "u16" => Some(Elem::U16),
            "u32" => Some(Elem::U32),
            "u64" => Some(Elem::U64),
            _ => None,
        })
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
