//! Element types.

use std::fmt;

/// The type of one element of a tile or of a buffer in global memory.
///
/// Signless integers of the text (`i8` … `i64`) are signed; `ui8` … `ui64` are unsigned.
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
    pub const ALL: [Elem; 13] = [
        Elem::F32,
        Elem::F16,
        Elem::BF16,
        Elem::F8E4M3,
        Elem::F8E5M2,
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
            Elem::F8E4M3 | Elem::F8E5M2 | Elem::I8 | Elem::U8 => 1,
            Elem::F16 | Elem::BF16 | Elem::I16 | Elem::U16 => 2,
            Elem::F32 | Elem::I32 | Elem::U32 => 4,
            Elem::I64 | Elem::U64 => 8,
        }
    }

    /// True for the floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F16 | Elem::BF16 | Elem::F8E4M3 | Elem::F8E5M2)
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

    /// Reads a spelling of `.pto` text (`f32`, `ui8`, …); also `si8` for signed and `u8` for unsigned.
    pub fn parse(text: &str) -> Option<Elem> {
        let canonical = Elem::ALL.into_iter().find(|e| e.name() == text);
        canonical.or(match text {
            "f8E4M3" => Some(Elem::F8E4M3),
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
