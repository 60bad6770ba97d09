//! The types between which lanes are converted (micro-instruction manual 9), and the conversions that round and
//! saturate: those for which the public assembler requires the mode (ptoas 0.60, `lib/PTO/IR`).

use slipring_tile::Elem::{self, *};

/// How a conversion treats values that the new type cannot represent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// It is rounded.
    pub rounds: bool,
    /// Out-of-range values may or may not saturate.
    pub clips: bool,
}

const EXACT: Conversion = Conversion { rounds: false, clips: false };
const ROUNDS: Conversion = Conversion { rounds: true, clips: false };
const CLIPS: Conversion = Conversion { rounds: false, clips: true };
const BOTH: Conversion = Conversion { rounds: true, clips: true };

/// Source type, and target types.
const CONVERSIONS: &[(Elem, &[(Elem, Conversion)])] = &[
    (U8, &[(U16, EXACT), (U32, EXACT), (F16, EXACT)]),
    (I8, &[(I16, EXACT), (I32, EXACT), (F16, EXACT)]),
    (U16, &[(U8, CLIPS), (U32, EXACT)]),
    (I16, &[(U8, CLIPS), (U32, EXACT), (I32, EXACT), (F16, ROUNDS), (F32, EXACT)]),
    (U32, &[(U8, CLIPS), (U16, CLIPS), (I16, CLIPS)]),
    (I32, &[(U8, CLIPS), (U16, CLIPS), (I16, CLIPS), (I64, EXACT), (F32, ROUNDS)]),
    (I64, &[(I32, CLIPS), (F32, ROUNDS)]),
    (
        F16,
        &[
            (U8, BOTH),
            (I8, BOTH),
            (I16, BOTH),
            (I32, ROUNDS),
            (F32, EXACT),
            (F8E4M3, BOTH),
            (F8E5M2, BOTH),
            (HiF8, BOTH),
        ],
    ),
    (
        F32,
        &[
            (I16, BOTH),
            (I32, BOTH),
            (I64, BOTH),
            (F16, BOTH),
            (BF16, BOTH),
            (F8E4M3, BOTH),
            (F8E5M2, BOTH),
            (HiF8, BOTH),
        ],
    ),
    (
        BF16,
        &[
            (I32, BOTH),
            (F16, BOTH),
            (F32, EXACT),
            (F8E4M3, BOTH),
            (F8E5M2, BOTH),
            (F4E1M2x2, ROUNDS),
            (F4E2M1x2, ROUNDS),
        ],
    ),
    (F8E4M3, &[(F32, EXACT)]),
    (F8E5M2, &[(F32, EXACT)]),
    (HiF8, &[(F32, EXACT)]),
    (F4E1M2x2, &[(BF16, EXACT)]),
    (F4E2M1x2, &[(BF16, EXACT)]),
];

/// The types that lanes of a type can be converted to, and how; empty if there are none.
pub fn conversions(from: Elem) -> &'static [(Elem, Conversion)] {
    CONVERSIONS.iter().find(|row| row.0 == from).map_or(&[], |row| row.1)
}
