//! Two tiles, element by element (PTO IR manual 4.5).

use slipring_ir::{Diags, OpSchema};
use slipring_machine::{Capability, Platform};
use slipring_tile::Binary;

use super::check::{self, FLOATS, NUMBERS};
use super::lower::{Operands, elementwise};
use super::{EACH, TWO, TWO_TMP};
use super::{precision, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_effect::vector::Partial;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] =
    &[&TADD, &TSUB, &TMUL, &TDIV, &TMAX, &TMIN, &TREM, &TFMOD, &TPARTADD, &TPARTMUL, &TPARTMAX, &TPARTMIN, &TPRELU];

pub static TADD: OpDef = OpDef {
    schema: OpSchema { name: "pto.tadd", ..TWO },
    summary: "Add two tiles",
    doc: number_doc!("`dst = src0 + src1`, element by element."),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "add",
    lower: |op, d| elementwise(op, d, &ADD, ["src0", "src1"]),
    elems: types::SUMS,
    commutes: true,
    tiles: tiles::TWO,
    ..EACH
};

pub static TSUB: OpDef = OpDef {
    schema: OpSchema { name: "pto.tsub", ..TWO },
    summary: "Subtract a tile from a tile",
    doc: number_doc!("`dst = src0 - src1`, element by element."),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "add",
    lower: |op, d| elementwise(op, d, &SUB, ["src0", "src1"]),
    elems: types::SUBTRACT,
    tiles: tiles::TWO,
    ..EACH
};

pub static TMUL: OpDef = OpDef {
    schema: OpSchema { name: "pto.tmul", ..TWO },
    summary: "Multiply two tiles",
    doc: number_doc!("`dst = src0 * src1`, element by element."),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "mul",
    lower: |op, d| elementwise(op, d, &MUL, ["src0", "src1"]),
    elems: types::WORDS,
    commutes: true,
    tiles: tiles::TWO,
    ..EACH
};

pub static TDIV: OpDef = OpDef {
    schema: precision::with(precision::DIV, OpSchema { name: "pto.tdiv", ..TWO }),
    summary: "Divide a tile by a tile",
    doc: number_doc!(
        "`dst = src0 / src1`, element by element. Floats as IEEE 754 has it: x / 0 is an infinity, 0 / 0 NaN. Integers are \
          rounded towards zero; x / 0 is 0."
    ),
    verify: |op, _, diags| {
        check::elementwise(op, NUMBERS, diags);
        precision::verify(op, precision::HALF_AND_SINGLE, diags);
    },
    class: "div",
    lower: |op, d| elementwise(op, d, &DIV, ["src0", "src1"]),
    elems: types::DIVIDE,
    tiles: tiles::TWO,
    ..EACH
};

pub static TMAX: OpDef = OpDef {
    schema: OpSchema { name: "pto.tmax", ..TWO },
    summary: "Larger of two tiles",
    doc: number_doc!("`dst = max(src0, src1)`, element by element: NaN if one of them is, +0 rather than -0."),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "max",
    lower: |op, d| elementwise(op, d, &MAX, ["src0", "src1"]),
    elems: types::SUMS,
    commutes: true,
    tiles: tiles::TWO,
    ..EACH
};

pub static TMIN: OpDef = OpDef {
    schema: OpSchema { name: "pto.tmin", ..TWO },
    summary: "Smaller of two tiles",
    doc: number_doc!("`dst = min(src0, src1)`, element by element: NaN if one of them is, -0 rather than +0."),
    verify: |op, _, diags| check::elementwise(op, NUMBERS, diags),
    class: "max",
    lower: |op, d| elementwise(op, d, &MIN, ["src0", "src1"]),
    elems: types::SUMS,
    commutes: true,
    tiles: tiles::TWO,
    ..EACH
};

fn remainder(op: &OpRef<'_>, diags: &mut Diags) {
    check::elementwise(op, NUMBERS, diags);
    precision::verify(op, precision::HALF_AND_SINGLE, diags);
}

pub static TREM: OpDef = OpDef {
    schema: precision::with(precision::REM, OpSchema { name: "pto.trem", ..TWO_TMP }),
    summary: "Remainder of a division rounded down",
    doc: number_doc!(
        "`dst = src0 - floor(src0 / src1) * src1`, element by element: the result has the sign of `src1`. The remainder is \
          exact; where its sign must be turned, `src1` is added and the sum rounded once. x rem 0 is NaN for floats, x for \
          integers."
    ),
    verify: |op, _, diags| remainder(op, diags),
    class: "div",
    lower: |op, d| elementwise(op, d, &REM, ["src0", "src1"]),
    elems: types::REMAINDER,
    tiles: tiles::REMAINDER,
    working: working::REMAINDER,
    ..EACH
};

pub static TFMOD: OpDef = OpDef {
    schema: precision::with(precision::FMOD, OpSchema { name: "pto.tfmod", ..TWO }),
    summary: "Remainder of a division rounded towards zero",
    doc: number_doc!(
        "`dst = fmod(src0, src1)`, element by element and exact: the result has the sign of `src0`. fmod(x, 0) is NaN for \
          floats, x for integers."
    ),
    verify: |op, _, diags| remainder(op, diags),
    class: "div",
    lower: |op, d| elementwise(op, d, &FMOD, ["src0", "src1"]),
    elems: types::WORDS,
    tiles: tiles::TWO,
    ..EACH
};

pub static TPARTADD: OpDef = OpDef {
    schema: OpSchema { name: "pto.tpartadd", ..TWO },
    summary: "Add two tiles, one of which may be smaller",
    doc: number_doc!(
        "`dst = src0 + src1` where both sources have valid elements, the element of the one that has it elsewhere. One source must have \
          the valid shape of `dst`, the other none larger."
    ),
    verify: verify_parts,
    class: "add",
    lower: |op, d| partial(op, d, &ADD),
    elems: types::SUMS,
    commutes: true,
    ..EACH
};

pub static TPARTMUL: OpDef = OpDef {
    schema: OpSchema { name: "pto.tpartmul", ..TWO },
    summary: "Multiply two tiles, one of which may be smaller",
    doc: number_doc!(
        "`dst = src0 * src1` where both sources have valid elements, the element of the one that has it elsewhere. One source must have \
          the valid shape of `dst`, the other none larger."
    ),
    verify: verify_parts,
    class: "mul",
    lower: |op, d| partial(op, d, &MUL),
    elems: types::SUMS,
    commutes: true,
    ..EACH
};

pub static TPARTMAX: OpDef = OpDef {
    schema: OpSchema { name: "pto.tpartmax", ..TWO },
    summary: "Larger of two tiles, one of which may be smaller",
    doc: number_doc!(
        "`dst = max(src0, src1)` where both sources have valid elements, the element of the one that has it elsewhere. One source must have \
          the valid shape of `dst`, the other none larger."
    ),
    verify: verify_parts,
    class: "max",
    lower: |op, d| partial(op, d, &MAX),
    elems: types::SUMS,
    commutes: true,
    ..EACH
};

pub static TPARTMIN: OpDef = OpDef {
    schema: OpSchema { name: "pto.tpartmin", ..TWO },
    summary: "Smaller of two tiles, one of which may be smaller",
    doc: number_doc!(
        "`dst = min(src0, src1)` where both sources have valid elements, the element of the one that has it elsewhere. One source must have \
          the valid shape of `dst`, the other none larger."
    ),
    verify: verify_parts,
    class: "max",
    lower: |op, d| partial(op, d, &MIN),
    elems: types::SUMS,
    commutes: true,
    ..EACH
};

pub static TPRELU: OpDef = OpDef {
    schema: OpSchema { name: "pto.tprelu", ..TWO_TMP },
    summary: "Leaky ReLU with a slope for each element",
    doc: number_doc!("`dst = src0 > 0 ? src0 : src1 * src0`, element by element."),
    verify: |op, platform, diags| {
        check::elementwise(op, FLOATS, diags);
        // The mask of units that work on memory has a bit for each element of a row.
        check::working_valid(op, platform, [0, 8], diags);
    },
    class: "mul",
    lower: |op, d| elementwise(op, d, &PRELU, ["src0", "src1"]),
    elems: types::FLOAT,
    tiles: tiles::PRELU,
    working: working::PRELU,
    ..EACH
};

/// The header of units that work on memory asserts the valid shapes; the other one's says nothing before it runs.
fn verify_parts(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::types(op, NUMBERS, diags);
    if !platform.can(Capability::AnyParts) {
        check::parts_of(op, diags);
    }
}

/// `dst = kernel(src0, src1)` where both are valid.
fn partial(op: &OpRef<'_>, d: &mut Decoder<'_>, kernel: &'static Binary) -> Lowered {
    let mut operands = Operands::new(op, d);
    let dst = operands.tile(d, "dst")?;
    let sources = [operands.tile(d, "src0")?, operands.tile(d, "src1")?];
    if !kernel.supports(dst.layout.elem) {
        return Err(d.unsupported("this element type"));
    }
    let effect = Partial { local: operands.local, op: kernel, dst, sources };
    operands.issue(d, effect)
}
