//! Element types of operands for which ptoas 0.27 accepts fewer than the declarations, according to its answers in
//! `tests/accepts`.

use slipring_op::def::ElemTypes;
use slipring_op::target::TypeRule;
use slipring_tile::Elem::{self, *};

const fn rule(
    ops: &'static [&'static str],
    operand: &'static str,
    memory: &'static [Elem],
    registers: &'static [Elem],
) -> TypeRule {
    TypeRule { ops, types: ElemTypes { operand, memory, registers } }
}

/// The accepted types, on A2/A3 and on A5.
pub(super) const TYPES: &[TypeRule] = &[
    rule(
        &[
            "pto.tmax",
            "pto.tmin",
            "pto.tsel",
            "pto.trowexpandadd",
            "pto.trowexpandsub",
            "pto.trowexpandmul",
            "pto.trowexpandmax",
            "pto.trowexpandmin",
            "pto.tcolexpandadd",
            "pto.tcolexpandsub",
            "pto.tcolexpandmul",
            "pto.tcolexpandmax",
            "pto.tcolexpandmin",
        ],
        "dst",
        &[F16, F32, I16, I32, U16, U32],
        &[F16, F32, I16, I32, I8, U16, U32, U8],
    ),
    rule(
        &["pto.tand", "pto.tor", "pto.txor", "pto.tands", "pto.tors", "pto.txors"],
        "dst",
        &[I16, I8, U16, U8],
        &[I16, I32, I8, U16, U32, U8],
    ),
    rule(&["pto.tmaxs", "pto.tabs", "pto.trowexpanddiv", "pto.tcolexpanddiv"], "dst", &[F16, F32], &[F16, F32]),
    rule(&["pto.tmins"], "dst", &[F16, F32], &[BF16, F16, F32]),
    rule(&["pto.tfmods"], "dst", &[F16, F32, I16, I32], &[F16, F32, I16, I32]),
    rule(&["pto.trems"], "dst", &[F32, I32], &[F16, F32, I16, I32]),
    rule(&["pto.texpands", "pto.tsels"], "dst", &[F16, F32, I16, I32], &[F16, F32, I16, I32, I8]),
    rule(&["pto.tcmps"], "src", &[F16, F32, I16, I32, U16, U32], &[F16, F32, I16, I32, I8, U16, U32, U8]),
    rule(
        &["pto.trowmax", "pto.trowmin", "pto.trowargmax", "pto.trowargmin"],
        "src",
        &[F16, F32, I16, I32, U16, U32],
        &[F16, F32, I16, I32, U16, U32],
    ),
    rule(&["pto.tcolargmax", "pto.tcolargmin"], "src", &[F16, F32], &[F16, F32]),
    rule(&["pto.tci"], "dst", &[I16, I32], &[I16, I32]),
    rule(&["pto.ttri"], "dst", &[F16, F32, I16, I32, U16, U32], &[BF16, F16, F32, I16, I32, I8, U16, U32, U8]),
    rule(&["pto.tconcat"], "dst", &[BF16, F16, F32, I16, I32, I8], &[BF16, F16, F32, I16, I32, I8]),
    rule(
        &["pto.ttrans"],
        "src",
        &[BF16, F16, F32, I16, I32, I8, U16, U32, U8],
        &[BF16, F16, F32, I16, I32, I8, U16, U32, U8],
    ),
    rule(&["pto.mgather"], "dst", &[], &[BF16, F16, F32, F8E4M3, F8E5M2, I16, I32, I8, U16, U32, U8]),
    rule(&["pto.mgather", "pto.mscatter"], "indices", &[], &[I32]),
    rule(&["pto.mscatter"], "src", &[], &[BF16, F16, F32, F8E4M3, F8E5M2, I16, I32, I8, U16, U32, U8]),
    rule(
        &["pto.tstore"],
        "src",
        &[BF16, F16, F32, I16, I32, I64, I8, U16, U32, U64, U8],
        &[BF16, F16, F32, I16, I32, I64, I8, U16, U32, U64, U8],
    ),
    rule(&["pto.textract"], "src", &[BF16, F16, F32, I8, U8], &[BF16, F16, F32, F8E4M3, F8E5M2, I8, U8]),
];
