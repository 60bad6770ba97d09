//! Values for each row or column, broadcast over a tile (PTO IR manual 4.7).

use slipring_ir::{AttrKind, AttrSpec, Diags, Dim};
use slipring_machine::interpretations::FIRST_COLUMN;
use slipring_machine::{Capability, Platform};
use slipring_tile::{BLayout, Cast};

use super::check::{self, ANY_ELEM, Elems, FLOATS, NUMBERS, Needs};
use super::inside;
use super::lower::{Operands, of_two, spread};
use super::{ONE, TWO, TWO_TMP, VECTOR};
use super::{precision, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_effect::vector::{Input, Spread, TileArg};
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::Two;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::defaulted;
use slipring_op::{Along, ops};

const BROADCAST: OpDef = OpDef { source: "PTO IR manual 4.7; tile ISA, page of the same name", ..VECTOR };
const BY_ROW: OpDef =
    OpDef { along: [Along::Each, Along::Repeats], library_memory: spreads_in_library_memory, ..BROADCAST };
const BY_COLUMN: OpDef = OpDef { along: [Along::First("src1"), Along::Each], ..BROADCAST };

/// Documents which operand is broadcast.
macro_rules! row_doc {
    ($($what:literal),+) => {
        number_doc!(
            $($what),+,
            ", where element (i, j) of the source that has fewer columns than `dst` (usually `src1`) is its element \
             (i, j mod n): n, its valid columns, is 1 (a value for each row, stored by columns or by rows) or 32 bytes (a \
             block for each row, repeated)."
        )
    };
}

/// Which column of a row's block is meant, as test programs of assembler 0.60 write it, and two facts beside it that
/// follow from the operands.
const SPREAD: &[AttrSpec] = &[
    defaulted(
        COLUMNS,
        AttrKind::Int,
        "1: the first element of a row's block stands for all columns; other counts are not modelled",
    ),
    defaulted("src0eqdst", AttrKind::Bool, "whether src0 has the shape of dst; the tiles say so themselves"),
    defaulted("highPrecision", AttrKind::Bool, "how exact the device is; no effect: results are rounded once"),
];
const COLUMNS: &str = "src1Col";
/// The same where the op has a precision, too.
const SPREAD_AND_PRECISION: &[AttrSpec] = &[precision::DIV[0], precision::DIV[1], SPREAD[0], SPREAD[1], SPREAD[2]];

/// One column or row broadcast to all of `dst`.
const REPEATED: OpDef = OpDef { schema: ONE, elems: types::MOVED, class: "expand", ..BROADCAST };
/// A tile and a value for each row.
const WITH_COLUMN: OpDef = OpDef {
    schema: precision::with(SPREAD, TWO_TMP),
    lower: by_row,
    tiles: tiles::WITH_COLUMN,
    working: working::SPREAD_COLUMN,
    verify: with_a_column,
    elems: types::SUMS,
    library_elems: types::SUMS_BY_LIBRARY,
    ..BY_ROW
};
/// A tile and a value for each column.
const WITH_ROW: OpDef = OpDef {
    schema: TWO,
    lower: by_column,
    tiles: tiles::WITH_ROW,
    verify: with_a_row,
    elems: types::SUMS,
    library_elems: types::SUMS_BY_LIBRARY,
    ..BY_COLUMN
};

ops! {
    OPS, row_doc;

    /// `dst[i, j] = src[i, 0]`. The bits are moved as they are.
    pub TROWEXPAND "pto.trowexpand" "Repeat a column" [shape_doc]: REPEATED, verify: verify_trowexpand,
        inside: inside::ROWS_BY_SCALARS, lower: |op, d| repeat(op, d, Input::FirstColumn),
        along: [Along::Each, Along::First("src")], tiles: tiles::SPREAD_ROWS;

    /// `dst[i, j] = src[0, j]`. The bits are moved as they are.
    pub TCOLEXPAND "pto.tcolexpand" "Repeat a row" [shape_doc]: REPEATED,
        verify: |op, _, diags| columns_of(op, "src", ANY_ELEM, diags), lower: |op, d| repeat(op, d, Input::FirstRow),
        along: [Along::First("src"), Along::Each], tiles: tiles::SPREAD_COLUMNS;

    /// `dst = src0 + src1`
    pub TROWEXPANDADD "pto.trowexpandadd" "Add, a value for each row": WITH_COLUMN, kernel: Two(&ADD), class: "add";

    /// `dst = src0 - src1`
    pub TROWEXPANDSUB "pto.trowexpandsub" "Subtract, a value for each row": WITH_COLUMN, kernel: Two(&SUB),
        verify: with_values, class: "add";

    /// `dst = src0 * src1`
    pub TROWEXPANDMUL "pto.trowexpandmul" "Multiply, a value for each row": WITH_COLUMN, kernel: Two(&MUL),
        verify: with_values, class: "mul";

    /// `dst = src0 / src1`
    pub TROWEXPANDDIV "pto.trowexpanddiv" "Divide, a value for each row": precision::of(SPREAD_AND_PRECISION, WITH_COLUMN),
        kernel: Two(&DIV), verify: verify_trowexpanddiv, class: "div", elems: types::DIVIDE_ALONG,
        library_elems: types::DIVIDE_ALONG_BY_LIBRARY;

    /// `dst = max(src0, src1)`
    pub TROWEXPANDMAX "pto.trowexpandmax" "Larger, a value for each row": WITH_COLUMN, kernel: Two(&MAX), class: "max";

    /// `dst = min(src0, src1)`
    pub TROWEXPANDMIN "pto.trowexpandmin" "Smaller, a value for each row": WITH_COLUMN, kernel: Two(&MIN), class: "max";

    /// `dst = exp(src0 - src1)`, the difference rounded to the element type first
    pub TROWEXPANDEXPDIF "pto.trowexpandexpdif" "Exponential of a difference, a value for each row": WITH_COLUMN,
        kernel: Two(&EXP_DIF), verify: floats_with_a_column, class: "exp", elems: types::FLOAT, library_elems: types::FLOAT;

    /// `dst[i, j] = src0[i, j] + src1[0, j]`.
    pub TCOLEXPANDADD "pto.tcolexpandadd" "Add, a value for each column" [number_doc]: WITH_ROW, kernel: Two(&ADD),
        class: "add";

    /// `dst[i, j] = src0[i, j] - src1[0, j]`.
    pub TCOLEXPANDSUB "pto.tcolexpandsub" "Subtract, a value for each column" [number_doc]: WITH_ROW, kernel: Two(&SUB),
        class: "add";

    /// `dst[i, j] = src0[i, j] * src1[0, j]`.
    pub TCOLEXPANDMUL "pto.tcolexpandmul" "Multiply, a value for each column" [number_doc]: WITH_ROW, kernel: Two(&MUL),
        class: "mul";

    /// `dst[i, j] = src0[i, j] / src1[0, j]`.
    pub TCOLEXPANDDIV "pto.tcolexpanddiv"
        "Divide, a value for each column" [number_doc]: precision::of(precision::DIV, WITH_ROW),
        kernel: Two(&DIV), verify: verify_tcolexpanddiv, class: "div", elems: types::DIVIDE_ALONG,
        library_elems: types::DIVIDE_ALONG_BY_LIBRARY;

    /// `dst[i, j] = max(src0[i, j], src1[0, j])`.
    pub TCOLEXPANDMAX "pto.tcolexpandmax" "Larger, a value for each column" [number_doc]: WITH_ROW, kernel: Two(&MAX),
        class: "max";

    /// `dst[i, j] = min(src0[i, j], src1[0, j])`.
    pub TCOLEXPANDMIN "pto.tcolexpandmin" "Smaller, a value for each column" [number_doc]: WITH_ROW, kernel: Two(&MIN),
        class: "max";

    /// `dst[i, j] = exp(src0[i, j] - src1[0, j])`, the difference rounded to the element type first.
    pub TCOLEXPANDEXPDIF "pto.tcolexpandexpdif"
        "Exponential of a difference, a value for each column" [number_doc]: WITH_ROW,
        kernel: Two(&EXP_DIF), verify: floats_with_a_row, class: "exp", elems: types::FLOAT, library_elems: types::FLOAT;
}

fn verify_trowexpand(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::types(op, ANY_ELEM, diags);
    check::covers(op, "src", Needs::Rows, diags);
    let [rows, cols] = op.tile("dst").map_or([None; 2], |tile| tile.valid.map(Dim::known));
    if (rows == Some(0)) != (cols == Some(0)) && rows.is_some() && cols.is_some() {
        let message = "expects dst to have valid rows and columns, or none of both";
        diags.push(op.error("tile-valid", message));
    }
}

fn verify_trowexpanddiv(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::types(op, NUMBERS, diags);
    precision::verify(op, precision::HALF_AND_SINGLE, diags);
    precision::in_memory(op, platform, diags);
    spread_in_tmp(op, platform, diags);
}

fn verify_tcolexpanddiv(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    with_a_row(op, platform, diags);
    precision::verify(op, precision::HALF_AND_SINGLE, diags);
}

/// The tile library first spreads a column in column order into blocks, in library memory if it has no working memory.
fn spreads_in_library_memory(op: &OpRef<'_>) -> bool {
    let by_columns = |name| op.tile(name).is_some_and(|tile| tile.layout.blayout == BLayout::ColMajor);
    op.operand("tmp").is_none() && (by_columns("src0") || by_columns("src1"))
}

/// The library of units that work on memory uses working memory only to spread a column in column order.
fn spread_in_tmp(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if !platform.can(Capability::RegisterScratch) && op.operand("tmp").is_some() {
        let column = |name| op.tile(name).is_some_and(|tile| tile.layout.blayout == BLayout::ColMajor);
        if !column("src0") && !column("src1") {
            let message = format!("`{}` with tmp spreads a column that is stored by columns", op.def.schema.name);
            diags.push(op.error("tile-layout", message).help("leave tmp out where a row has a block of 32 bytes"));
        }
    }
}

fn with_values(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::types(op, NUMBERS, diags);
    spread_in_tmp(op, platform, diags);
}

fn with_a_column(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    with_values(op, platform, diags);
    check::beside_a_column(op, diags);
}

fn floats_with_a_column(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::types(op, FLOATS, diags);
    spread_in_tmp(op, platform, diags);
    check::beside_a_column(op, diags);
}

fn with_a_row(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    columns_of(op, "src1", NUMBERS, diags);
    check::covers(op, "src0", Needs::All, diags);
}

fn floats_with_a_row(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    columns_of(op, "src1", FLOATS, diags);
    check::covers(op, "src0", Needs::All, diags);
}

fn columns_of(op: &OpRef<'_>, source: &'static str, elems: Elems, diags: &mut Diags) {
    check::types(op, elems, diags);
    check::covers(op, source, Needs::Columns, diags);
}

fn by_row(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let kernel = of_two(op)?;
    let first = match op.int(COLUMNS) {
        None => d.platform.reads_otherwise(&FIRST_COLUMN),
        Some(1) => true,
        // Sources disagree on what more columns stand for: parts of a row, or a block that is repeated.
        Some(count) => return Err(d.unsupported(&format!("`{COLUMNS} = {count}`, a row that is spread in parts,"))),
    };
    let input = if first { Input::PerRowFirst } else { Input::PerRow };
    spread(op, d, kernel, [("src0", input), ("src1", input)])
}

fn by_column(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let kernel = of_two(op)?;
    spread(op, d, kernel, [("src0", Input::Tile), ("src1", Input::FirstRow)])
}

fn repeat(op: &OpRef<'_>, d: &mut Decoder<'_>, input: fn(TileArg) -> Input) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let effect = Spread { local: operands.local, dst, input: input(src), cast: Cast::default(), other: None };
    operands.issue(d, effect)
}
