//! Values for each row or column, spread over a tile (PTO IR manual 4.7).

use slipring_ir::{Diags, Dim, OpSchema};
use slipring_machine::interpretations::FIRST_COLUMN;
use slipring_machine::{Capability, Platform};
use slipring_tile::{BLayout, Binary, Cast};

use super::check::{self, ANY_ELEM, Elems, FLOATS, NUMBERS, Needs};
use super::inside;
use super::lower::{Operands, spread};
use super::{ONE, TWO, TWO_TMP, VECTOR};
use super::{precision, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_effect::vector::{Input, Spread, TileArg};
use slipring_op::Along;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[
    &TROWEXPAND,
    &TCOLEXPAND,
    &TROWEXPANDADD,
    &TROWEXPANDSUB,
    &TROWEXPANDMUL,
    &TROWEXPANDDIV,
    &TROWEXPANDMAX,
    &TROWEXPANDMIN,
    &TROWEXPANDEXPDIF,
    &TCOLEXPANDADD,
    &TCOLEXPANDSUB,
    &TCOLEXPANDMUL,
    &TCOLEXPANDDIV,
    &TCOLEXPANDMAX,
    &TCOLEXPANDMIN,
    &TCOLEXPANDEXPDIF,
];

const BROADCAST: OpDef = OpDef { source: "PTO IR manual 4.7; tile ISA, page of the same name", ..VECTOR };
const BY_ROW: OpDef =
    OpDef { along: [Along::Each, Along::Repeats], library_memory: spreads_in_library_memory, ..BROADCAST };
const BY_COLUMN: OpDef = OpDef { along: [Along::First("src1"), Along::Each], ..BROADCAST };

pub static TROWEXPAND: OpDef = OpDef {
    schema: OpSchema { name: "pto.trowexpand", ..ONE },
    summary: "Repeat a column",
    doc: shape_doc!("`dst[i, j] = src[i, 0]`. The bits are moved as they are."),
    verify: |op, _, diags| {
        check::types(op, ANY_ELEM, diags);
        check::covers(op, "src", Needs::Rows, diags);
        let [rows, cols] = op.tile("dst").map_or([None; 2], |tile| tile.valid.map(Dim::known));
        if (rows == Some(0)) != (cols == Some(0)) && rows.is_some() && cols.is_some() {
            let message = "expects dst to have valid rows and columns, or none of both";
            diags.push(op.error("tile-valid", message));
        }
    },
    inside: inside::ROWS_BY_SCALARS,
    lower: |op, d| repeat(op, d, Input::FirstColumn),
    along: [Along::Each, Along::First("src")],
    elems: types::MOVED,
    class: "expand",
    tiles: tiles::SPREAD_ROWS,
    ..BROADCAST
};

pub static TCOLEXPAND: OpDef = OpDef {
    schema: OpSchema { name: "pto.tcolexpand", ..ONE },
    summary: "Repeat a row",
    doc: shape_doc!("`dst[i, j] = src[0, j]`. The bits are moved as they are."),
    verify: |op, _, diags| columns_of(op, "src", ANY_ELEM, diags),
    lower: |op, d| repeat(op, d, Input::FirstRow),
    along: [Along::First("src"), Along::Each],
    elems: types::MOVED,
    class: "expand",
    tiles: tiles::SPREAD_COLUMNS,
    ..BROADCAST
};

/// The tile library spreads a column that is stored by columns into blocks first, in memory of its own where it is given none.
fn spreads_in_library_memory(op: &OpRef<'_>) -> bool {
    let by_columns = |name| op.tile(name).is_some_and(|tile| tile.layout.blayout == BLayout::ColMajor);
    op.operand("tmp").is_none() && (by_columns("src0") || by_columns("src1"))
}

/// Says which operand is spread.
macro_rules! row_doc {
    ($what:literal) => {
        concat!(
            $what,
            ", where element (i, j) of the source that has fewer columns than `dst` (usually `src1`) is its element \
             (i, j mod n): n, its valid columns, is 1 (a value for each row, stored by columns or by rows) or 32 bytes (a \
             block for each row, repeated)."
        )
    };
}

pub static TROWEXPANDADD: OpDef = OpDef {
    schema: OpSchema { name: "pto.trowexpandadd", ..TWO_TMP },
    summary: "Add, a value for each row",
    doc: number_doc!(row_doc!("`dst = src0 + src1`")),
    verify: |op, platform, diags| with_a_column(op, NUMBERS, platform, diags),
    class: "add",
    lower: |op, d| by_row(op, d, &ADD),
    elems: types::SUMS,
    tiles: tiles::WITH_COLUMN,
    working: working::SPREAD_COLUMN,
    ..BY_ROW
};

pub static TROWEXPANDSUB: OpDef = OpDef {
    schema: OpSchema { name: "pto.trowexpandsub", ..TWO_TMP },
    summary: "Subtract, a value for each row",
    doc: number_doc!(row_doc!("`dst = src0 - src1`")),
    verify: |op, platform, diags| {
        check::types(op, NUMBERS, diags);
        spread_in_tmp(op, platform, diags);
    },
    class: "add",
    lower: |op, d| by_row(op, d, &SUB),
    elems: types::SUMS,
    tiles: tiles::WITH_COLUMN,
    working: working::SPREAD_COLUMN,
    ..BY_ROW
};

pub static TROWEXPANDMUL: OpDef = OpDef {
    schema: OpSchema { name: "pto.trowexpandmul", ..TWO_TMP },
    summary: "Multiply, a value for each row",
    doc: number_doc!(row_doc!("`dst = src0 * src1`")),
    verify: |op, platform, diags| {
        check::types(op, NUMBERS, diags);
        spread_in_tmp(op, platform, diags);
    },
    class: "mul",
    lower: |op, d| by_row(op, d, &MUL),
    elems: types::SUMS,
    tiles: tiles::WITH_COLUMN,
    working: working::SPREAD_COLUMN,
    ..BY_ROW
};

pub static TROWEXPANDDIV: OpDef = OpDef {
    schema: precision::with(precision::DIV, OpSchema { name: "pto.trowexpanddiv", ..TWO_TMP }),
    summary: "Divide, a value for each row",
    doc: number_doc!(row_doc!("`dst = src0 / src1`")),
    verify: |op, platform, diags| {
        check::types(op, NUMBERS, diags);
        precision::verify(op, precision::HALF_AND_SINGLE, diags);
        precision::in_memory(op, platform, diags);
        spread_in_tmp(op, platform, diags);
    },
    class: "div",
    lower: |op, d| by_row(op, d, &DIV),
    elems: types::DIVIDE_ALONG,
    tiles: tiles::WITH_COLUMN,
    working: working::SPREAD_COLUMN,
    ..BY_ROW
};

pub static TROWEXPANDMAX: OpDef = OpDef {
    schema: OpSchema { name: "pto.trowexpandmax", ..TWO_TMP },
    summary: "Larger, a value for each row",
    doc: number_doc!(row_doc!("`dst = max(src0, src1)`")),
    verify: |op, platform, diags| with_a_column(op, NUMBERS, platform, diags),
    class: "max",
    lower: |op, d| by_row(op, d, &MAX),
    elems: types::SUMS,
    tiles: tiles::WITH_COLUMN,
    working: working::SPREAD_COLUMN,
    ..BY_ROW
};

pub static TROWEXPANDMIN: OpDef = OpDef {
    schema: OpSchema { name: "pto.trowexpandmin", ..TWO_TMP },
    summary: "Smaller, a value for each row",
    doc: number_doc!(row_doc!("`dst = min(src0, src1)`")),
    verify: |op, platform, diags| with_a_column(op, NUMBERS, platform, diags),
    class: "max",
    lower: |op, d| by_row(op, d, &MIN),
    elems: types::SUMS,
    tiles: tiles::WITH_COLUMN,
    working: working::SPREAD_COLUMN,
    ..BY_ROW
};

pub static TROWEXPANDEXPDIF: OpDef = OpDef {
    schema: OpSchema { name: "pto.trowexpandexpdif", ..TWO_TMP },
    summary: "Exponential of a difference, a value for each row",
    doc: number_doc!(row_doc!("`dst = exp(src0 - src1)`, the difference rounded to the element type first")),
    verify: |op, platform, diags| with_a_column(op, FLOATS, platform, diags),
    class: "exp",
    lower: |op, d| by_row(op, d, &EXP_DIF),
    elems: types::FLOAT,
    tiles: tiles::WITH_COLUMN,
    working: working::SPREAD_COLUMN,
    ..BY_ROW
};

pub static TCOLEXPANDADD: OpDef = OpDef {
    schema: OpSchema { name: "pto.tcolexpandadd", ..TWO },
    summary: "Add, a value for each column",
    doc: number_doc!("`dst[i, j] = src0[i, j] + src1[0, j]`."),
    verify: |op, _, diags| columns(op, NUMBERS, diags),
    class: "add",
    lower: |op, d| by_column(op, d, &ADD),
    elems: types::SUMS,
    tiles: tiles::WITH_ROW,
    ..BY_COLUMN
};

pub static TCOLEXPANDSUB: OpDef = OpDef {
    schema: OpSchema { name: "pto.tcolexpandsub", ..TWO },
    summary: "Subtract, a value for each column",
    doc: number_doc!("`dst[i, j] = src0[i, j] - src1[0, j]`."),
    verify: |op, _, diags| columns(op, NUMBERS, diags),
    class: "add",
    lower: |op, d| by_column(op, d, &SUB),
    elems: types::SUMS,
    tiles: tiles::WITH_ROW,
    ..BY_COLUMN
};

pub static TCOLEXPANDMUL: OpDef = OpDef {
    schema: OpSchema { name: "pto.tcolexpandmul", ..TWO },
    summary: "Multiply, a value for each column",
    doc: number_doc!("`dst[i, j] = src0[i, j] * src1[0, j]`."),
    verify: |op, _, diags| columns(op, NUMBERS, diags),
    class: "mul",
    lower: |op, d| by_column(op, d, &MUL),
    elems: types::SUMS,
    tiles: tiles::WITH_ROW,
    ..BY_COLUMN
};

pub static TCOLEXPANDDIV: OpDef = OpDef {
    schema: precision::with(precision::DIV, OpSchema { name: "pto.tcolexpanddiv", ..TWO }),
    summary: "Divide, a value for each column",
    doc: number_doc!("`dst[i, j] = src0[i, j] / src1[0, j]`."),
    verify: |op, _, diags| {
        columns(op, NUMBERS, diags);
        precision::verify(op, precision::HALF_AND_SINGLE, diags);
    },
    class: "div",
    lower: |op, d| by_column(op, d, &DIV),
    elems: types::DIVIDE_ALONG,
    tiles: tiles::WITH_ROW,
    ..BY_COLUMN
};

pub static TCOLEXPANDMAX: OpDef = OpDef {
    schema: OpSchema { name: "pto.tcolexpandmax", ..TWO },
    summary: "Larger, a value for each column",
    doc: number_doc!("`dst[i, j] = max(src0[i, j], src1[0, j])`."),
    verify: |op, _, diags| columns(op, NUMBERS, diags),
    class: "max",
    lower: |op, d| by_column(op, d, &MAX),
    elems: types::SUMS,
    tiles: tiles::WITH_ROW,
    ..BY_COLUMN
};

pub static TCOLEXPANDMIN: OpDef = OpDef {
    schema: OpSchema { name: "pto.tcolexpandmin", ..TWO },
    summary: "Smaller, a value for each column",
    doc: number_doc!("`dst[i, j] = min(src0[i, j], src1[0, j])`."),
    verify: |op, _, diags| columns(op, NUMBERS, diags),
    class: "max",
    lower: |op, d| by_column(op, d, &MIN),
    elems: types::SUMS,
    tiles: tiles::WITH_ROW,
    ..BY_COLUMN
};

pub static TCOLEXPANDEXPDIF: OpDef = OpDef {
    schema: OpSchema { name: "pto.tcolexpandexpdif", ..TWO },
    summary: "Exponential of a difference, a value for each column",
    doc: number_doc!("`dst[i, j] = exp(src0[i, j] - src1[0, j])`, the difference rounded to the element type first."),
    verify: |op, _, diags| columns(op, FLOATS, diags),
    class: "exp",
    lower: |op, d| by_column(op, d, &EXP_DIF),
    elems: types::FLOAT,
    tiles: tiles::WITH_ROW,
    ..BY_COLUMN
};

/// The library of units that work on memory spreads a column stored by columns in working memory, and nothing else.
fn spread_in_tmp(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if !platform.can(Capability::RegisterScratch) && op.operand("tmp").is_some() {
        let column = |name| op.tile(name).is_some_and(|tile| tile.layout.blayout == BLayout::ColMajor);
        if !column("src0") && !column("src1") {
            let message = format!("`{}` with tmp spreads a column that is stored by columns", op.def.schema.name);
            diags.push(op.error("tile-layout", message).help("leave tmp out where a row has a block of 32 bytes"));
        }
    }
}

fn with_a_column(op: &OpRef<'_>, elems: Elems, platform: &Platform, diags: &mut Diags) {
    check::types(op, elems, diags);
    spread_in_tmp(op, platform, diags);
    check::beside_a_column(op, diags);
}

fn columns(op: &OpRef<'_>, elems: Elems, diags: &mut Diags) {
    columns_of(op, "src1", elems, diags);
    check::covers(op, "src0", Needs::All, diags);
}

fn columns_of(op: &OpRef<'_>, source: &'static str, elems: Elems, diags: &mut Diags) {
    check::types(op, elems, diags);
    check::covers(op, source, Needs::Columns, diags);
}

fn by_row(op: &OpRef<'_>, d: &mut Decoder<'_>, kernel: &'static Binary) -> Lowered {
    let input = if d.platform.reads_otherwise(&FIRST_COLUMN) { Input::PerRowFirst } else { Input::PerRow };
    spread(op, d, kernel, [("src0", input), ("src1", input)])
}

fn by_column(op: &OpRef<'_>, d: &mut Decoder<'_>, kernel: &'static Binary) -> Lowered {
    spread(op, d, kernel, [("src0", Input::Tile), ("src1", Input::FirstRow)])
}

fn repeat(op: &OpRef<'_>, d: &mut Decoder<'_>, input: fn(TileArg) -> Input) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let effect = Spread { local: operands.local, dst, input: input(src), cast: Cast::default() };
    operands.issue(d, effect)
}
