//! Two tiles, element by element (PTO IR manual 4.5).

use slipring_ir::{AttrSpec, Diags, OpSchema};
use slipring_machine::{Capability, Platform};

use super::check::{self, Elems, FLOATS, NUMBERS};
use super::lower::{Operands, elementwise, of_two};
use super::{EACH, TWO, TWO_TMP};
use super::{apart, precision, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_effect::vector::Partial;
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::Two;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_tile::Elem;

/// Two tiles of numbers, each covering the valid shape of `dst`.
const TILES: OpDef = OpDef { schema: TWO, verify: check::numbers, lower: elementwise, tiles: tiles::TWO, ..EACH };
/// Like [`TILES`], with working memory.
const WITH_TMP: OpDef = OpDef { schema: TWO_TMP, ..TILES };
/// Two tiles of which one may have fewer valid elements.
const PARTS: OpDef =
    OpDef { schema: TWO, verify: verify_parts, lower: partial, library_elems: types::SUMS_BY_LIBRARY, ..EACH };

/// Like [`TILES`], with a high-precision form for some floats.
const fn precise(attrs: &'static [AttrSpec], schema: OpSchema) -> OpDef {
    OpDef { schema: precision::with(attrs, schema), verify: precision::numbers, ..TILES }
}

ops! {
    OPS, number_doc;

    /// `dst = src0 + src1`, element by element.
    pub TADD "pto.tadd" "Add two tiles": TILES, kernel: Two(&ADD), class: "add", elems: types::SUMS,
        library_elems: types::SUMS_BY_LIBRARY, commutes: true;

    /// `dst = max(src0 + src1, 0)`, element by element; the sum of two f16 is rounded first. Only units that work on
    /// memory have it.
    pub TADDRELU "pto.taddrelu" "Add two tiles and take out what is negative (A2/A3)": TILES, kernel: Two(&ADD_RELU),
        source: "declarations of assembler 0.60, `PTOOps.td`", class: "add", elems: types::SUMS_RECTIFIED, commutes: true;

    /// `dst = src0 - src1`, element by element.
    pub TSUB "pto.tsub" "Subtract a tile from a tile": TILES, kernel: Two(&SUB), class: "add", elems: types::SUBTRACT,
        library_elems: types::SUMS_BY_LIBRARY;

    /// `dst = src0 * src1`, element by element.
    pub TMUL "pto.tmul" "Multiply two tiles": TILES, kernel: Two(&MUL), class: "mul", elems: types::WORDS,
        library_elems: types::MULTIPLY_BY_LIBRARY, commutes: true;

    /// `dst = src0 / src1`, element by element. Floats as IEEE 754 has it: x / 0 is an infinity, 0 / 0 NaN. Integers
    /// are rounded towards zero; x / 0 is 0.
    pub TDIV "pto.tdiv" "Divide a tile by a tile": precise(precision::DIV, TWO), kernel: Two(&DIV), class: "div",
        elems: types::DIVIDE;

    /// `dst = max(src0, src1)`, element by element: NaN if one of them is, +0 rather than -0.
    pub TMAX "pto.tmax" "Larger of two tiles": TILES, kernel: Two(&MAX), class: "max", elems: types::SUMS,
        library_elems: types::SUMS_BY_LIBRARY, commutes: true;

    /// `dst = min(src0, src1)`, element by element: NaN if one of them is, -0 rather than +0.
    pub TMIN "pto.tmin" "Smaller of two tiles": TILES, kernel: Two(&MIN), class: "max", elems: types::SUMS,
        library_elems: types::SUMS_BY_LIBRARY, commutes: true;

    /// `dst = src0 - floor(src0 / src1) * src1`, element by element: the result has the sign of `src1`. The remainder
    /// is exact; where its sign must be turned, `src1` is added and the sum rounded once. x rem 0 is NaN for floats, x
    /// for integers.
    pub TREM "pto.trem" "Remainder of a division rounded down": precise(precision::REM, TWO_TMP), kernel: Two(&REM),
        class: "div", elems: types::REMAINDER, library_elems: types::REMAINDER_BY_LIBRARY, tiles: tiles::REMAINDER,
        working: working::REMAINDER, apart: apart::TWO;

    /// `dst = fmod(src0, src1)`, element by element and exact: the result has the sign of `src0`. fmod(x, 0) is NaN for
    /// floats, x for integers.
    pub TFMOD "pto.tfmod" "Remainder of a division rounded towards zero": precise(precision::FMOD, TWO),
        kernel: Two(&FMOD), class: "div", elems: types::WORDS, library_elems: types::FMOD_BY_LIBRARY,
        apart: apart::TWO;

    /// `dst = src0 + src1` where both sources have valid elements, the element of the one that has it elsewhere. One
    /// source must have the valid shape of `dst`, the other none larger.
    pub TPARTADD "pto.tpartadd" "Add two tiles, one of which may be smaller": PARTS, kernel: Two(&ADD), class: "add",
        elems: types::SUMS, commutes: true;

    /// `dst = src0 * src1` where both sources have valid elements, the element of the one that has it elsewhere. One
    /// source must have the valid shape of `dst`, the other none larger.
    pub TPARTMUL "pto.tpartmul" "Multiply two tiles, one of which may be smaller": PARTS, kernel: Two(&MUL),
        class: "mul", elems: types::SUMS, commutes: true;

    /// `dst = max(src0, src1)` where both sources have valid elements, the element of the one that has it elsewhere.
    /// One source must have the valid shape of `dst`, the other none larger.
    pub TPARTMAX "pto.tpartmax" "Larger of two tiles, one of which may be smaller": PARTS, kernel: Two(&MAX),
        class: "max", elems: types::SUMS, commutes: true;

    /// `dst = min(src0, src1)` where both sources have valid elements, the element of the one that has it elsewhere.
    /// One source must have the valid shape of `dst`, the other none larger.
    pub TPARTMIN "pto.tpartmin" "Smaller of two tiles, one of which may be smaller": PARTS, kernel: Two(&MIN),
        class: "max", elems: types::SUMS, commutes: true;

    /// `dst = src0 > 0 ? src0 : src1 * src0`, element by element.
    pub TPRELU "pto.tprelu" "Leaky ReLU with a slope for each element": WITH_TMP, kernel: Two(&PRELU),
        verify: verify_tprelu, class: "mul", elems: types::FLOAT, tiles: tiles::PRELU, working: working::PRELU,
        apart: apart::TWO;
}

const BYTES: Elems = Elems::new("i8 and ui8", |elem| matches!(elem, Elem::I8 | Elem::U8));

fn verify_tprelu(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::elementwise(op, FLOATS, diags);
    if !platform.can(Capability::RegisterScratch) && op.operand("tmp").is_some() {
        check::elem(op, "tmp", BYTES, diags);
    }
    // The mask of units that work on memory has one bit for each element of a row.
    check::working_valid(op, platform, [0, 8], diags);
}

/// The header for units that work on memory asserts the valid shapes; the other one has no static requirement.
fn verify_parts(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::types(op, NUMBERS, diags);
    if !platform.can(Capability::AnyParts) {
        check::parts_of(op, diags);
    }
}

/// `dst = kernel(src0, src1)` where both are valid.
fn partial(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let kernel = of_two(op)?;
    let mut operands = Operands::new(op, d);
    let dst = operands.tile(d, "dst")?;
    let sources = [operands.tile(d, "src0")?, operands.tile(d, "src1")?];
    if !kernel.supports(dst.layout.elem) {
        return Err(d.unsupported("this element type"));
    }
    let effect = Partial { local: operands.local, op: kernel, dst, sources };
    operands.issue(d, effect)
}
