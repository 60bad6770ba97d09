//! One tile, elementwise (PTO IR manual 4.5).

use slipring_ir::{AttrSpec, Diags, OpSchema};

use super::check;
use super::lower::elementwise;
use super::{EACH, ONE, ONE_TMP};
use super::{apart, precision, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_machine::Platform;
use slipring_op::def::Arithmetic::One;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::ops;

/// One tile.
const TILES: OpDef = OpDef { schema: ONE, verify: check::numbers, lower: elementwise, tiles: tiles::ONE, ..EACH };
const ROOT: OpSchema = OpSchema { generic: &["src", "dst", "tmp"], ..ONE_TMP };

/// One tile of floats, with a high-precision form for some types.
const fn precise(attrs: &'static [AttrSpec], schema: OpSchema) -> OpDef {
    OpDef { schema: precision::with(attrs, schema), verify: precision::floats, elems: types::FLOAT, ..TILES }
}

ops! {
    OPS, number_doc;

    /// `dst = |src|`, element by element. The smallest integer stays as it is.
    pub TABS "pto.tabs" "Absolute value": TILES, kernel: One(&ABS), verify: check::signed, class: "neg",
        elems: types::ABSOLUTE, library_elems: types::ABSOLUTE_BY_LIBRARY;

    /// `dst = -src`, element by element: the sign of zero turns too.
    pub TNEG "pto.tneg" "Negation": TILES, kernel: One(&NEG), class: "neg", elems: types::NEGATE,
        tiles: tiles::SHAPES_OF_SUM;

    /// `dst = exp(src)`, element by element, correctly rounded: exp(-inf) is 0.
    pub TEXP "pto.texp" "Exponential": precise(precision::EXP, ONE), kernel: One(&EXP), class: "exp";

    /// `dst = ln(src)`, element by element, correctly rounded: -inf for ±0, NaN below.
    pub TLOG "pto.tlog" "Natural logarithm": precise(precision::LOG, ONE), kernel: One(&LOG), class: "log";

    /// `dst = sqrt(src)`, element by element, correctly rounded: -0 for -0, NaN below.
    pub TSQRT "pto.tsqrt" "Square root": precise(precision::SQRT, ONE), kernel: One(&SQRT), class: "sqrt";

    /// `dst = 1 / sqrt(src)`, element by element, the root and its reciprocal each rounded to the element type: an
    /// infinity for ±0, NaN below.
    pub TRSQRT "pto.trsqrt" "Reciprocal of the square root": precise(precision::RSQRT, ROOT), kernel: One(&RSQRT),
        verify: verify_trsqrt, class: "rsqrt", working: working::ONES;

    /// `dst = 1 / src`, element by element, correctly rounded: an infinity for ±0.
    pub TRECIP "pto.trecip" "Reciprocal": precise(precision::RECIP, ONE), kernel: One(&RECIP), class: "recip",
        apart: apart::ONE;

    /// `dst = max(src, 0)`, element by element: +0 for -0; NaN stays NaN.
    pub TRELU "pto.trelu" "ReLU": TILES, kernel: One(&RELU), verify: check::signed, class: "max",
        elems: types::RECTIFY;
}

fn verify_trsqrt(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    precision::floats(op, platform, diags);
    precision::in_memory(op, platform, diags);
}
