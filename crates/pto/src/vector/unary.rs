//! One tile, element by element (PTO IR manual 4.5).

use slipring_ir::{Diags, OpSchema};

use super::check::{self, FLOATS, NUMBERS, SIGNED};
use super::lower::elementwise;
use super::{EACH, ONE, ONE_TMP};
use super::{precision, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_op::def::{OpDef, OpRef};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&TABS, &TNEG, &TEXP, &TLOG, &TSQRT, &TRSQRT, &TRECIP, &TRELU];

pub static TABS: OpDef = OpDef {
    schema: OpSchema { name: "pto.tabs", ..ONE },
    summary: "Absolute value",
    doc: number_doc!("`dst = |src|`, element by element. The smallest integer stays as it is."),
    verify: |op, _, diags| check::elementwise(op, SIGNED, diags),
    class: "neg",
    lower: |op, d| elementwise(op, d, &ABS, ["src"]),
    elems: types::ABSOLUTE,
    tiles: tiles::ONE,
    ..EACH
};

pub static TNEG: OpDef = OpDef {
    schema: OpSchema { name: "pto.tneg", ..ONE },
    summary: "Negation",
    doc: number_doc!("`dst = -src`, element by element: the sign of zero turns too."),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "neg",
    lower: |op, d| elementwise(op, d, &NEG, ["src"]),
    elems: types::NEGATE,
    tiles: tiles::SHAPES_OF_SUM,
    ..EACH
};

pub static TEXP: OpDef = OpDef {
    schema: precision::with(precision::EXP, OpSchema { name: "pto.texp", ..ONE }),
    summary: "Exponential",
    doc: number_doc!("`dst = exp(src)`, element by element, correctly rounded: exp(-inf) is 0."),
    verify: |op, _, diags| precise(op, diags),
    class: "exp",
    lower: |op, d| elementwise(op, d, &EXP, ["src"]),
    elems: types::FLOAT,
    tiles: tiles::ONE,
    ..EACH
};

pub static TLOG: OpDef = OpDef {
    schema: precision::with(precision::LOG, OpSchema { name: "pto.tlog", ..ONE }),
    summary: "Natural logarithm",
    doc: number_doc!("`dst = ln(src)`, element by element, correctly rounded: -inf for ±0, NaN below."),
    verify: |op, _, diags| precise(op, diags),
    class: "log",
    lower: |op, d| elementwise(op, d, &LOG, ["src"]),
    elems: types::FLOAT,
    tiles: tiles::ONE,
    ..EACH
};

pub static TSQRT: OpDef = OpDef {
    schema: precision::with(precision::SQRT, OpSchema { name: "pto.tsqrt", ..ONE }),
    summary: "Square root",
    doc: number_doc!("`dst = sqrt(src)`, element by element, correctly rounded: -0 for -0, NaN below."),
    verify: |op, _, diags| precise(op, diags),
    class: "sqrt",
    lower: |op, d| elementwise(op, d, &SQRT, ["src"]),
    elems: types::FLOAT,
    tiles: tiles::ONE,
    ..EACH
};

pub static TRSQRT: OpDef = OpDef {
    schema: precision::with(
        precision::RSQRT,
        OpSchema { name: "pto.trsqrt", generic: &["src", "dst", "tmp"], ..ONE_TMP },
    ),
    summary: "Reciprocal of the square root",
    doc: number_doc!(
        "`dst = 1 / sqrt(src)`, element by element, the root and its reciprocal each rounded to the element type: an infinity for ±0, NaN below."
    ),
    verify: |op, platform, diags| {
        precise(op, diags);
        precision::in_memory(op, platform, diags);
    },
    class: "rsqrt",
    lower: |op, d| elementwise(op, d, &RSQRT, ["src"]),
    elems: types::FLOAT,
    tiles: tiles::ONE,
    working: working::ONES,
    ..EACH
};

pub static TRECIP: OpDef = OpDef {
    schema: precision::with(precision::RECIP, OpSchema { name: "pto.trecip", ..ONE }),
    summary: "Reciprocal",
    doc: number_doc!("`dst = 1 / src`, element by element, correctly rounded: an infinity for ±0."),
    verify: |op, _, diags| precise(op, diags),
    class: "recip",
    lower: |op, d| elementwise(op, d, &RECIP, ["src"]),
    elems: types::FLOAT,
    tiles: tiles::ONE,
    ..EACH
};

pub static TRELU: OpDef = OpDef {
    schema: OpSchema { name: "pto.trelu", ..ONE },
    summary: "ReLU",
    doc: number_doc!("`dst = max(src, 0)`, element by element: +0 for -0; NaN stays NaN."),
    verify: |op, _, diags| check::elementwise(op, SIGNED, diags),
    class: "max",
    lower: |op, d| elementwise(op, d, &RELU, ["src"]),
    elems: types::RECTIFY,
    tiles: tiles::ONE,
    ..EACH
};

/// Floats, of which some may be computed with high precision.
fn precise(op: &OpRef<'_>, diags: &mut Diags) {
    check::elementwise(op, FLOATS, diags);
    precision::verify(op, precision::HALF_AND_SINGLE, diags);
}
