//! Element types of vector operations on the two kinds of vector unit.
//!
//! Sources: the messages of the public assembler's verifier; the pages of the tile ISA if they are more specific and no
//! message contradicts them. Unsigned integers are treated like signed ones of their width. Neither unit computes on 64
//! bits. Names with `LIBRARY` are what the device headers accept in calls of the tile library, and the pages of the tile
//! ISA do not exclude, where the assembler knows fewer or more.

use slipring_tile::Elem::{self, *};

use slipring_op::def::ElemTypes;
use slipring_op::rules::WITHOUT_SMALL_FLOATS;

const FLOATS: &[Elem] = &[F16, F32];
const WIDE_FLOATS: &[Elem] = &[F16, BF16, F32];
const NUMBERS: &[Elem] = &[I16, U16, I32, U32, F16, F32];
const BYTES_TOO: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, F32];
const BF16_TOO: &[Elem] = &[I16, U16, I32, U32, F16, BF16, F32];
const ALL: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, BF16, F32];
const SIGNED: &[Elem] = &[I16, I32, F16, F32];
const INTEGERS: &[Elem] = &[I8, U8, I16, U16, I32, U32];

/// All types of at most 32 bits.
const SHORT: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, BF16, F32, F8E4M3, F8E5M2, HiF8];
/// Sources of a gather by indices.
pub(super) const GATHERED_INDEX: ElemTypes =
    ElemTypes { operand: "src", memory: NUMBERS, registers: &[I8, U8, I16, U16, I32, U32, F16, F32, F8E4M3, F8E5M2] };
/// The indices of a gather.
pub(super) const GATHER_INDICES: ElemTypes =
    ElemTypes { operand: "indices", memory: &[I32, U32], registers: &[I16, U16, I32, U32] };
/// Sources of a gather by a pattern.
pub(super) const GATHERED_PATTERN: ElemTypes = ElemTypes { operand: "src", memory: BF16_TOO, registers: SHORT };
/// Sources of a gather by a comparison.
pub(super) const GATHERED_WHERE: ElemTypes =
    ElemTypes { operand: "src", memory: &[I32, U32, F16, F32], registers: NUMBERS };

/// Rules for one operand; the other tiles have the same type.
macro_rules! types {
    ($($(#[$doc:meta])* $name:ident: $operand:literal $memory:expr, $registers:expr;)*) => {$(
        $(#[$doc])*
        pub(super) const $name: &[ElemTypes] =
            &[ElemTypes { operand: $operand, memory: $memory, registers: $registers }];
    )*};
}

types! {
    /// Sums, extremes and their like.
    SUMS: "dst" NUMBERS, ALL;
    SUBTRACT: "dst" NUMBERS, BYTES_TOO;
    /// Sums and their like; units that work on memory have no unsigned integers there (`TAdd.hpp` and its neighbours).
    SUMS_BY_LIBRARY: "dst" SIGNED, ALL;
    MULTIPLY_BY_LIBRARY: "dst" SIGNED, BF16_TOO;
    /// Sums of three, of which no message of the assembler says a type: those of sums.
    THREE: "dst" BF16_TOO, ALL;
    WORDS: "dst" NUMBERS, NUMBERS;
    /// Divisions by a tile.
    DIVIDE: "dst" FLOATS, NUMBERS;
    /// Divisions by a row or a column.
    DIVIDE_ALONG: "dst" FLOATS, BYTES_TOO;
    DIVIDE_ALONG_BY_LIBRARY: "dst" FLOATS, ALL;
    /// Divisions by a number.
    DIVIDE_BY: "dst" NUMBERS, BYTES_TOO;
    DIVIDE_BY_LIBRARY: "dst" SIGNED, NUMBERS;
    REMAINDER: "dst" &[I32, U32, F32], NUMBERS;
    REMAINDER_BY_LIBRARY: "dst" &[I32, F32], NUMBERS;
    /// Remainders of a division rounded towards zero (`TFmod.hpp`, `TFmodS.hpp`).
    FMOD_BY_LIBRARY: "dst" &[F32], NUMBERS;
    FLOAT: "dst" FLOATS, FLOATS;
    ABSOLUTE: "dst" FLOATS, &[I16, I32, F16, F32];
    ABSOLUTE_BY_LIBRARY: "dst" FLOATS, &[I8, I16, I32, F16, F32];
    NEGATE: "dst" NUMBERS, ALL;
    SUMS_RECTIFIED: "dst" &[I16, F16, F32], &[];
    RECTIFY: "dst" &[I32, F16, F32], &[I32, F16, F32];
    BITS: "dst" INTEGERS, INTEGERS;
    /// Shifts to the right by a number.
    SHIFT_RIGHT_BY: "dst" &[I16, U16, I32, U32], INTEGERS;
    INVERT: "dst" &[I16, U16], INTEGERS;
    AXPY: "dst" FLOATS, WIDE_FLOATS;
    ROW_SUMS: "src" NUMBERS, NUMBERS;
    ROW_EXTREMES: "src" NUMBERS, BYTES_TOO;
    ROW_INDICES: "src" NUMBERS, BF16_TOO;
    COLUMN_INDICES: "src" &[U16, U32, F16, F32], ALL;
    COLUMN_SUMS: "src" NUMBERS, ALL;
    COLUMN_PRODUCTS: "src" NUMBERS, BF16_TOO;
    COMPARE: "src0" &[I32, U32, F16, F32], ALL;
    COMPARE_BY_LIBRARY: "src0" &[I32, F16, F32], ALL;
    COMPARE_NUMBER: "src" NUMBERS, ALL;
    COMPARE_NUMBER_BY_LIBRARY: "src" &[I16, U16, I32, F16, F32], ALL;
    SELECT: "dst" BF16_TOO, ALL;
    /// Elements that are only moved.
    MOVED: "dst" ALL, ALL;
    TURNED: "src" ALL, SHORT;
    /// Gathers, whose numbers are compared with the source; each form has its own types.
    GATHERED: "src" &[I16, U16, I32, U32, F16, BF16, F32], SHORT;
    GATHERED_BLOCKS: "dst" SHORT, SHORT;
    SCATTERED: "dst" ALL, ALL;
    SORTED: "src" FLOATS, FLOATS;
    MERGED: "dst" FLOATS, FLOATS;
    /// Tables in global memory: by the tile.
    TABLE: "dst" ALL, SHORT;
    TABLE_SRC: "src" ALL, SHORT;
    HISTOGRAM: "src" &[], &[U16, U32];
    RANDOM: "dst" &[], &[I32, U32];
    TRIANGLE: "dst" NUMBERS, &[I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32];
    QUANTISED: "src" &[F32], &[F32];
    GROUPED: "src" &[], WIDE_FLOATS;
    DEQUANTISED: "src" &[I8, I16], &[I8, I16];
    POWER: "dst" &[I8, U8, I16, U16, I32, U32, F32], ALL;
    /// Sums that are converted on their way out.
    SUMS_CONVERTED: "src0" &[I16, F16, F32], &[I16, F16, F32];
    WHOLE_SUMS: "src0" &[I32], &[I32];
    /// Streams that are joined and parted.
    WOVEN: "src0" &[], ALL;
    PAIR_SUMS: "src" FLOATS, FLOATS;
    /// Values with numbers beside them.
    NUMBERED: "src0" FLOATS, FLOATS;
    /// Not on units that work on memory.
    REGISTERS_ONLY: "src" &[], Elem::ALL.as_slice();
}

/// Elements that a scatter adds to those of its table: of the assembler's verifier, and of the tile library (page of
/// `MSCATTER`, Atomic Type Support).
pub(super) const SUMMED: [ElemTypes; 2] = [
    ElemTypes { operand: "src", memory: &[I32, F16, F32], registers: &[I32, F16, F32] },
    ElemTypes { operand: "src", memory: &[I8, I16, I32, F16, BF16, F32], registers: &[I32, U32, F16, BF16, F32] },
];
/// Elements of which a scatter keeps the larger or the smaller, likewise.
pub(super) const EXTREMES: [ElemTypes; 2] = [
    ElemTypes { operand: "src", memory: &[I32, F32], registers: &[I32, F32] },
    ElemTypes { operand: "src", memory: &[], registers: &[I32, U32, F32] },
];

/// Conversions: only units that work on registers have floats of 8 and 4 bits.
pub(super) const CONVERTED: &[ElemTypes] = &[
    ElemTypes { operand: "src", memory: WITHOUT_SMALL_FLOATS, registers: Elem::ALL.as_slice() },
    ElemTypes { operand: "dst", memory: WITHOUT_SMALL_FLOATS, registers: Elem::ALL.as_slice() },
];
