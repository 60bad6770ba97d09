//! Reductions of rows and columns to one element (PTO IR manual 4.6).

use slipring_ir::{AttrKind, Diags, Dim, OpSchema, OperandSpec, Touch};
use slipring_machine::{Capability, Platform};
use slipring_tile::{BLayout, Layout, Order, Reduce, SLayout};

use super::check::{self, Elems, INDICES, NUMBERS, Needs};
use super::lower::Operands;
use super::{DST, ONE_TMP, SRC, TMP, VECTOR, ins};
use super::{inside, tiles, types, working};
use slipring_effect::vector::{ColArg, ColReduce, Reduction, RowArg, RowReduce, Rows};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{TILE, defaulted, operand, schema};
use slipring_op::{Along, ops, reduces_in_groups};

const REDUCTION: OpDef =
    OpDef { class: "reduce", source: "PTO IR manual 4.6; tile ISA, page of the same name", ..VECTOR };
const BY_ROW: OpDef = OpDef { along: [Along::Each, Along::Combines], ..REDUCTION };
const BY_COLUMN: OpDef = OpDef { along: [Along::Combines, Along::Each], ..REDUCTION };

/// Documents the combined elements of a row.
macro_rules! row_doc {
    ($($what:literal),+) => {
        concat!(
            $($what),+,
            " `dst` is one column, stored by rows or by columns; its other columns stay as they are. A row without valid \
             elements is refused."
        )
    };
}

/// Documents the combined elements of a column.
macro_rules! col_doc {
    ($($what:literal),+) => {
        concat!($($what),+, " `dst` is one row. A column without valid elements is refused.")
    };
}

/// Documents the order in which a column is combined, and the rounding.
macro_rules! col_order {
    () => {
        " Each step is rounded to the element type. A5: the first row, then the second and third, combined, the fourth and \
         fifth, …, the last one alone if the number is even. A2/A3: row after row."
    };
}

/// Documents the meaning of an index.
macro_rules! arg_doc {
    ($($what:literal),+) => {
        concat!($($what),+, " The first of equal ones counts, -0 and +0 being equal, and NaN before all others.")
    };
}

/// Reductions of rows to one element.
const ROWS: OpDef = OpDef {
    schema: ONE_TMP,
    verify: |op, _, diags| {
        rows(op, NUMBERS, diags);
        if op.operand("tmp").is_some() {
            check::same_type(op, "src", "tmp", diags);
        }
    },
    wants_tmp: true,
    tiles: tiles::BY_ROW,
    inside: inside::INTEGERS_BY_SCALARS,
    ..BY_ROW
};
/// Reductions of rows to a column index.
const ROW_INDICES: OpDef = OpDef {
    schema: ARG,
    verify: |op, _, diags| indices(op, Needs::Rows, diags),
    inside: inside::BY_SCALARS,
    elems: types::ROW_INDICES,
    wants_tmp: true,
    tiles: tiles::BY_ROW,
    working: working::ROW_INDEX,
    ..BY_ROW
};
/// Reductions of columns to one element.
const COLUMNS: OpDef = OpDef {
    schema: ONE_TMP,
    verify: |op, _, diags| columns(op, NUMBERS, diags),
    class: "columns",
    tiles: tiles::BY_COLUMN,
    elems: types::COLUMN_SUMS,
    ..BY_COLUMN
};
/// Reductions of columns to a row index.
const COLUMN_INDICES: OpDef = OpDef {
    schema: ARG,
    verify: |op, _, diags| indices(op, Needs::Columns, diags),
    elems: types::COLUMN_INDICES,
    wants_tmp: true,
    tiles: tiles::COLUMN_INDEX,
    working: working::COLUMN_INDEX,
    ..BY_COLUMN
};

ops! {
    OPS;

    pub TROWSUM "pto.trowsum" "Sum of each row": ROWS,
        doc: concat!(
            row_doc!("`dst[i, 0]` = the sum over j of `src[i, j]`."),
            " The order is part of the result. A row is taken in parts of 256 bytes. A5: 0, to which the sum of each part is added \
             in turn. A2/A3: the parts 2i and 2i + 1 are added element by element, a whole part that is left and the rest of the \
             row are added to the first; then neighbouring parts, the last of an odd number to the one before, until one is left, \
             whose elements are summed. The sum of a part is a tree over neighbours, in f32 and rounded once; other steps are \
             rounded to the element type."
        ),
        verify: |op, _, diags| rows(op, NUMBERS, diags), lower: |op, d| reduce_rows(op, d, Reduce::Sum),
        elems: types::ROW_SUMS, working: working::ROW_SUM;

    pub TROWPROD "pto.trowprod" "Product of each row": ROWS,
        doc: concat!(
            row_doc!("`dst[i, 0]` = the product over j of `src[i, j]`."),
            " The order is part of the result. A5: 256 bytes of lanes, lane j the product of the elements j, j + lanes, … in this \
             order; then lane j is multiplied by the lane half as many after it, until one is left; each step is rounded to the \
             element type. A2/A3: so with 32 bytes of lanes, which are then multiplied from the first to the last, floats in f32 \
             and rounded once."
        ),
        inside: inside::BY_SCALARS, lower: |op, d| reduce_rows(op, d, Reduce::Prod), elems: types::ROW_SUMS,
        working: working::ROW_PRODUCT;

    /// `dst[i, 0]` = the largest `src[i, j]`: NaN where one is, +0 rather than -0.
    pub TROWMAX "pto.trowmax" "Largest element of each row" [row_doc]: ROWS,
        lower: |op, d| reduce_rows(op, d, Reduce::Max), elems: types::ROW_EXTREMES, working: working::ROW_EXTREME;

    /// `dst[i, 0]` = the smallest `src[i, j]`: NaN where one is, -0 rather than +0.
    pub TROWMIN "pto.trowmin" "Smallest element of each row" [row_doc]: ROWS,
        lower: |op, d| reduce_rows(op, d, Reduce::Min), elems: types::ROW_EXTREMES, working: working::ROW_EXTREME;

    /// `dst[i, 0]` = the j of the largest `src[i, j]`, an i32 or ui32.
    pub TROWARGMAX "pto.trowargmax" "Column of the largest element of each row" [arg_doc]: ROW_INDICES,
        lower: |op, d| arg_rows(op, d, Reduce::Max);

    /// `dst[i, 0]` = the j of the smallest `src[i, j]`, an i32 or ui32.
    pub TROWARGMIN "pto.trowargmin" "Column of the smallest element of each row" [arg_doc]: ROW_INDICES,
        lower: |op, d| arg_rows(op, d, Reduce::Min);

    pub TCOLSUM "pto.tcolsum" "Sum of each column": BY_COLUMN,
        doc: concat!(
            col_doc!("`dst[0, j]` = the sum over i of `src[i, j]`."),
            col_order!(),
            " With `isBinary` rows are added in pairs instead: rows 2i and 2i + 1 give row i of the next round, until one row is \
             left; the last row of an odd number is added to the last row of the next round (A5), to its first (A2/A3)."
        ),
        verify: verify_tcolsum, lower: lower_tcolsum, elems: types::COLUMN_SUMS,
        class: "columns", tiles: tiles::BY_COLUMN, working: working::COLUMN_PAIRS,
        library_forms: &[&["dst", "src"], &["dst", "src", "tmp", "isBinary"]]
        => {
            syntax: ins(2),
            operands: &[SRC, TMP, DST],
            attrs: &[defaulted("isBinary", AttrKind::Bool, "combine rows in pairs; false by default")],
        };

    pub TCOLPROD "pto.tcolprod" "Product of each column": COLUMNS,
        doc: concat!(col_doc!("`dst[0, j]` = the product over i of `src[i, j]`."), col_order!()),
        lower: |op, d| reduce_columns(op, d, Reduce::Prod, Rows::OneByOne), elems: types::COLUMN_PRODUCTS;

    /// `dst[0, j]` = the largest `src[i, j]`: NaN where one is, +0 rather than -0.
    pub TCOLMAX "pto.tcolmax" "Largest element of each column" [col_doc]: COLUMNS,
        lower: |op, d| reduce_columns(op, d, Reduce::Max, Rows::OneByOne);

    /// `dst[0, j]` = the smallest `src[i, j]`: NaN where one is, -0 rather than +0.
    pub TCOLMIN "pto.tcolmin" "Smallest element of each column" [col_doc]: COLUMNS,
        lower: |op, d| reduce_columns(op, d, Reduce::Min, Rows::OneByOne);

    /// `dst[0, j]` = the i of the largest `src[i, j]`, an i32 or ui32.
    pub TCOLARGMAX "pto.tcolargmax" "Row of the largest element of each column" [arg_doc]: COLUMN_INDICES,
        lower: |op, d| arg_columns(op, d, Reduce::Max);

    /// `dst[0, j]` = the i of the smallest `src[i, j]`, an i32 or ui32.
    pub TCOLARGMIN "pto.tcolargmin" "Row of the smallest element of each column" [arg_doc]: COLUMN_INDICES,
        lower: |op, d| arg_columns(op, d, Reduce::Min);
}

fn verify_tcolsum(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    columns(op, NUMBERS, diags);
    let [tmp, said] = [op.operand("tmp").is_some(), op.attr("isBinary").is_some()];
    if tmp && !said {
        diags.push(
            op.error("attribute", "expects `isBinary` where `tmp` is given")
                .help("write `isBinary = true` to add rows in pairs, or leave `tmp` out"),
        );
    }
    if tmp {
        check::same_type(op, "src", "tmp", diags);
    }
}

fn lower_tcolsum(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let pairs = op.attr("isBinary").and_then(slipring_ir::Attr::as_bool).unwrap_or(false);
    reduce_columns(op, d, Reduce::Sum, if pairs { Rows::Pairs } else { Rows::OneByOne })
}

const INDEX: OperandSpec = operand("dst", TILE, Touch::Write, "where the indices go");
const ARG: OpSchema = schema("", ins(2), &[SRC, TMP, INDEX], &[], &[]);

fn rows(op: &OpRef<'_>, elems: Elems, diags: &mut Diags) {
    check::types(op, elems, diags);
    results(op, Needs::Rows, true, diags);
}

/// Requires the valid shape of `dst` to be that of the result: a column with the rows of `src`, or a row with its
/// columns. With `of_nothing`, an empty source has an empty result.
fn results(op: &OpRef<'_>, needs: Needs, of_nothing: bool, diags: &mut Diags) {
    let known = |name| op.tile(name).map(|tile| tile.valid.map(Dim::known));
    let (Some(src), Some(dst)) = (known("src"), known("dst")) else { return };
    if of_nothing && [src, dst].iter().all(|dims| dims.contains(&Some(0))) {
        return;
    }
    let want = if needs == Needs::Rows { [src[0], Some(1)] } else { [Some(1), src[1]] };
    if dst.iter().zip(want).any(|(have, want)| matches!((have, want), (Some(h), Some(w)) if *h != w)) {
        let show = |dim: Option<u64>| dim.map_or("?".to_string(), |n| n.to_string());
        diags.push(op.error("tile-valid", "expects `dst` to have the valid shape of the results").label(format!(
            "`dst` has {} x {}, the results are {} x {}",
            show(dst[0]),
            show(dst[1]),
            show(want[0]),
            show(want[1])
        )));
    }
}

fn columns(op: &OpRef<'_>, elems: Elems, diags: &mut Diags) {
    check::types(op, elems, diags);
    results(op, Needs::Columns, true, diags);
}

fn indices(op: &OpRef<'_>, needs: Needs, diags: &mut Diags) {
    check::spaces(op, diags);
    check::elem(op, "src", NUMBERS, diags);
    check::elem(op, "dst", INDICES, diags);
    results(op, needs, false, diags);
}

fn tiles<'a>(op: &OpRef<'a>, d: &mut Decoder<'_>) -> Result<(Operands<'a>, Reduction), Reported> {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let local = operands.local;
    Ok((operands, Reduction { local, dst, src }))
}

/// The summation order of the platform's tile library.
fn order(d: &Decoder<'_>) -> Order {
    if d.platform.can(Capability::RegisterReductions) { Order::Registers } else { Order::Memory }
}

fn reduce_rows(op: &OpRef<'_>, d: &mut Decoder<'_>, what: Reduce) -> Lowered {
    let (mut operands, tiles) = tiles(op, d)?;
    operands.grouped = what != Reduce::Prod && by_groups(op);
    operands.issue(d, RowReduce { tiles, what, order: order(d) })
}

fn by_groups(op: &OpRef<'_>) -> bool {
    let (Some(src), Some(dst)) = (op.tile("src"), op.tile("dst")) else { return false };
    let Layout { elem, rows, cols, .. } = src.layout;
    let whole = src.valid.iter().zip([rows, cols]).all(|(dim, all)| dim.known() == Some(u64::from(all)));
    let column = dst.layout.blayout == BLayout::ColMajor && dst.layout.slayout == SLayout::NoneBox;
    whole && column && dst.valid[1].known() == Some(1) && reduces_in_groups(elem, rows, cols)
}

fn arg_rows(op: &OpRef<'_>, d: &mut Decoder<'_>, what: Reduce) -> Lowered {
    let (operands, tiles) = tiles(op, d)?;
    operands.issue(d, RowArg { tiles, what })
}

fn reduce_columns(op: &OpRef<'_>, d: &mut Decoder<'_>, what: Reduce, rows: Rows) -> Lowered {
    let (operands, tiles) = tiles(op, d)?;
    operands.issue(d, ColReduce { tiles, what, rows, order: order(d) })
}

fn arg_columns(op: &OpRef<'_>, d: &mut Decoder<'_>, what: Reduce) -> Lowered {
    let (operands, tiles) = tiles(op, d)?;
    operands.issue(d, ColArg { tiles, what })
}
