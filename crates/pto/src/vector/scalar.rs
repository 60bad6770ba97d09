//! A tile and a scalar, elementwise (PTO IR manual 4.5).

use slipring_ir::{Diags, Syntax, Touch, Type};
use slipring_machine::{Capability, Platform};
use slipring_tile::Elem;

use super::check::{self, FLOATS, NUMBERS, Needs};
use super::inside;
use super::lower::{elementwise, of_sources};
use super::{DST, EACH, SCALAR_ARG, SRC, WITH_SCALAR, WITH_SCALAR_TMP, ins};
use super::{apart, precision, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::Two;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{SCALAR, TILE, operand, optional};

/// A tile and a scalar.
const NUMBERED: OpDef = OpDef {
    schema: WITH_SCALAR,
    verify: check::numbers,
    class: "number",
    lower: elementwise,
    elems: types::SUMS,
    library_elems: types::SUMS_BY_LIBRARY,
    tiles: tiles::SHAPES_OF_SUM,
    ..EACH
};
const NUMBERED_TMP: OpDef = OpDef { schema: WITH_SCALAR_TMP, ..NUMBERED };

ops! {
    OPS, number_doc;

    /// `dst = src + scalar`, element by element.
    pub TADDS "pto.tadds" "Add a number to a tile": NUMBERED, kernel: Two(&ADD);

    /// `dst = src - scalar`, element by element.
    pub TSUBS "pto.tsubs" "Subtract a number from a tile": NUMBERED, kernel: Two(&SUB);

    /// `dst = src * scalar`, element by element.
    pub TMULS "pto.tmuls" "Multiply a tile by a number": NUMBERED, kernel: Two(&MUL),
        library_elems: types::MULTIPLY_BY_LIBRARY;

    /// `dst = max(src, scalar)`, element by element: NaN if one of them is, +0 rather than -0.
    pub TMAXS "pto.tmaxs" "Larger of a tile and a number": NUMBERED, kernel: Two(&MAX),
        tiles: tiles::SHAPES;

    /// `dst = min(src, scalar)`, element by element: NaN if one of them is, -0 rather than +0.
    pub TMINS "pto.tmins" "Smaller of a tile and a number": NUMBERED, kernel: Two(&MIN);

    /// `dst = src - floor(src / scalar) * scalar`, as `pto.trem`: the result has the sign of `scalar`.
    pub TREMS "pto.trems" "Remainder of a division by a number, rounded down": NUMBERED_TMP, kernel: Two(&REM),
        verify: verify_trems,
        class: "div", elems: types::REMAINDER, library_elems: types::REMAINDER_BY_LIBRARY,
        tiles: tiles::REMAINDER_BY, working: working::REMAINDER_BY, apart: apart::ONE;

    /// `dst = fmod(src, scalar)`, as `pto.tfmod`: the result has the sign of `src`.
    pub TFMODS "pto.tfmods" "Remainder of a division by a number, rounded towards zero": NUMBERED, kernel: Two(&FMOD),
        class: "div", elems: types::WORDS, library_elems: types::FMOD_BY_LIBRARY, tiles: tiles::ONE, apart: apart::ONE;

    /// `ins(src, scalar)`: `dst = src / scalar`; `ins(scalar, src)`: `dst = scalar / src`, element by element. Floats
    /// are divided as IEEE 754 has it, not multiplied by a reciprocal: x / 0 is an infinity, 0 / 0 NaN. Integers are
    /// rounded towards zero; x / 0 is 0.
    pub TDIVS "pto.tdivs" "Divide a tile by a number, or a number by a tile": precision::of(precision::DIV, EACH),
        verify: verify_tdivs, class: "div", inside: inside::DIVIDED_BY_SCALARS, lower: lower_tdivs,
        elems: types::DIVIDE_BY, library_elems: types::DIVIDE_BY_LIBRARY, tiles: tiles::SHAPES, apart: apart::DIVISOR
        => {
            syntax: Syntax::InsOuts { ins: 3, attrs_in_ins: false },
            operands: &[
                optional("dividend", SCALAR, Touch::Nothing, "the number to divide, where it comes first"),
                SRC,
                optional("divisor", SCALAR, Touch::Nothing, "the number to divide by, where it comes second"),
                DST,
            ],
        };

    /// `dst = src * scalar + dst`, element by element, product and sum rounded once; on A2/A3 the product of f16 is
    /// rounded to f16 before it is added to f16, as the tests of the tile library have it. `src` may be f16 where `dst`
    /// is f32: it is widened first.
    pub TAXPY "pto.taxpy" "Add a multiple of a tile": EACH, verify: verify_taxpy, class: "mul", lower: lower_taxpy,
        elems: types::AXPY, library_elems: types::FLOAT, tiles: tiles::SHAPES
        => { syntax: ins(2), operands: &[SRC, SCALAR_ARG, operand("dst", TILE, Touch::ReadWrite, "what is added to")] };

    /// `dst = src > 0 ? src : slope * src`, element by element.
    pub TLRELU "pto.tlrelu" "Leaky ReLU": EACH, verify: check::floats, class: "mul", kernel: Two(&PRELU),
        lower: elementwise, elems: types::FLOAT, tiles: tiles::SHAPES
        => {
            syntax: ins(2),
            operands: &[SRC, operand("slope", SCALAR, Touch::Nothing, "factor of what is not positive"), DST],
        };
}

fn verify_trems(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::elementwise(op, NUMBERS, diags);
    check::working_valid(op, platform, [0, 1], diags);
}

fn verify_tdivs(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::elementwise(op, NUMBERS, diags);
    precision::verify(op, precision::HALF_AND_SINGLE, diags);
    if op.operand("dividend").is_some() == op.operand("divisor").is_some() {
        diags.push(op.error("operand-count", "expects a tile and a number, in either order"));
    }
}

fn lower_tdivs(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    match op.operand("dividend") {
        Some(_) => of_sources(op, d, &DIV, ["dividend", "src"]),
        None => of_sources(op, d, &DIV, ["src", "divisor"]),
    }
}

fn verify_taxpy(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::elem(op, "src", FLOATS, diags);
    check::elem(op, "dst", FLOATS, diags);
    check::covers(op, "src", Needs::All, diags);
    let types = (op.ty("src").and_then(Type::elem), op.ty("dst").and_then(Type::elem));
    if let (Some(src), Some(dst)) = types
        && src != dst
        && (src, dst) != (Elem::F16, Elem::F32)
    {
        diags.push(
            op.error("tile-elem", "expects src and dst of one element type, or src f16 and dst f32")
                .label(format!("`src` has `{src}`, `dst` has `{dst}`")),
        );
    }
    let number = op.ty("scalar").and_then(Type::elem);
    if let (Some(src), Some(number)) = (types.0, number)
        && src != number
    {
        let message = format!("`scalar` is a number of {number}, the elements of src are {src}");
        diags.push(op.error("scalar-type", message).help("give a number of that type, or convert it first"));
    }
}

fn lower_taxpy(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let fused = d.platform.can(Capability::FusedAxpy);
    of_sources(op, d, if fused { &AXPY } else { &AXPY_STEPS }, ["src", "scalar", "dst"])
}
