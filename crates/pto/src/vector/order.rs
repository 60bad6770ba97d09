//! Sorting (PTO IR manual 4.11).

use slipring_ir::{Attr, AttrKind, Diags, Syntax, Touch, Type, TypeRule};
use slipring_machine::Platform;
use slipring_tile::{Elem, Space};

use super::check::{self, Elems};
use super::inside;
use super::lower::Operands;
use super::{DST, SRC, TMP, VECTOR, types, working};
use slipring_effect::vector::{Merge, MergeRows, SortRows};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, TILE, constant, defaulted, operand, optional, variadic};

const UNSIGNED: Elems = Elems::new("ui32", |elem| elem == Elem::U32);

ops! {
    OPS;

    /// Each 32 elements of a row of `src`, for the valid rows of `dst`, are sorted in descending order, by themselves,
    /// and written to the same row of `dst` as records of 8 bytes: the element (an f16 in the lower two bytes, then two
    /// of 0) and its index of `idx`. Of equal elements the earlier one comes first; -0 equals +0; a NaN comes before
    /// +inf, one with the sign set after -inf. With `tmp` a last block of fewer than 32 valid elements is filled up
    /// with NaN that have the sign set (0xffc00000, f16 0xfe00) and the indices that `idx` has there; without it such
    /// elements are left out. `dst` must lie apart from the others.
    pub TSORT32 "pto.tsort32" "Sort blocks of 32 elements": VECTOR, source: "PTO IR manual 4.11; tile library, TSORT32",
        elems: types::SORTED, verify: verify_tsort32, lower: lower_tsort32, class: "sort", working: working::SORT
        => {
            syntax: Syntax::InsOuts { ins: 3, attrs_in_ins: false },
            operands: &[
                SRC,
                operand("idx", TILE, Touch::Read, "indices, a row for each row of src or one for all"),
                TMP,
                DST,
            ],
        };

    /// Lists are records of 8 bytes, as `pto.tsort32` writes them, in descending order, in the valid columns of tiles
    /// of one row. `ins(src, blockLen)`: every four blocks of `blockLen` elements of `src` become one list in the same
    /// place of `dst`; the valid columns must be 1 to 255 times four blocks. `ins(src0, src1[, src2[, src3]], tmp)
    /// outs(dst, executed)` (or `outs(dst, tmp, executed)`, or `no_tmp` after the sources): two to four lists are merged in `tmp`, with `exhausted`
    /// until the first of them is used up, and as much of that as `dst` has valid columns is copied; what `dst` gets
    /// beyond the merged records, and all of `tmp`, is uninitialised. Of equal elements that of the earlier list comes
    /// first; -0 and NaN as in `pto.tsort32`. A list that is not sorted is `sort-unsorted`.
    pub TMRGSORT "pto.tmrgsort" "Merge sorted lists": VECTOR, source: "PTO IR manual 4.11; tile library, TMRGSORT",
        elems: types::MERGED, verify: verify_merge, inside: inside::COUNTED_BY_SCALARS, lower: lower_merge,
        class: "merge"
        => {
            syntax: Syntax::InsOuts { ins: 2, attrs_in_ins: true },
            operands: &[
                // The last one may be working memory.
                variadic("sources", TILE, Touch::ReadWrite, "a list in blocks, or sorted lists and working memory"),
                optional("blockLen", INTEGER, Touch::Nothing, "elements of a sorted block, a multiple of 64"),
                DST,
                TMP,
                optional("executed", COUNTS, Touch::Nothing, "stands for the records that were taken; nothing reads it"),
            ],
            attrs: &[
                defaulted("exhausted", AttrKind::Bool, "stop when one list is used up; false by default"),
                defaulted("no_tmp", AttrKind::Unit, "working memory is not given: the assembler finds some"),
            ],
        };
}

fn verify_tsort32(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::by_rows(op, &["src", "idx", "dst"], diags);
    check::elem(op, "idx", UNSIGNED, diags);
    check::same_type(op, "src", "dst", diags);
}

fn lower_tsort32(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let indices = operands.tile(d, "idx")?;
    let fills = op.operand("tmp").is_some();
    let effect = SortRows { local: operands.local, dst, src, indices, fills };
    operands.issue(d, effect)
}

/// `vector<4xi16>`.
const COUNTS: TypeRule = TypeRule { describe: "a vector of numbers", accepts: |t| matches!(t, Type::Vector(_)) };

/// Says that working memory is not given.
const NO_TMP: &str = "no_tmp";

/// The number of lists, and whether there is working memory: among the results, or last among the sources.
fn lists(op: &OpRef<'_>) -> (usize, bool) {
    let sources = op.operands("sources").len();
    let last = op.operand("blockLen").is_none() && op.operand("tmp").is_none() && !op.is_set(NO_TMP);
    (sources - usize::from(last && sources > 0), last)
}

fn verify_merge(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let (count, last) = lists(op);
    let in_blocks = op.operand("blockLen").is_some();
    if op.is_set(NO_TMP) && (in_blocks || op.operand("tmp").is_some()) {
        diags
            .push(op.error("operand-count", "expects working memory or `no_tmp`, not both, and neither with blockLen"));
        return;
    }
    if in_blocks && (op.operands("sources").len() != 1 || op.operand("tmp").is_some()) {
        diags.push(op.error("operand-count", "expects one list with blockLen, and dst alone"));
        return;
    }
    if !in_blocks && !(2..=4).contains(&count) {
        diags.push(op.error("operand-count", format!("expects two to four lists and tmp, not {count} lists")));
        return;
    }
    let of = |value: Option<slipring_ir::ValueId>| value.and_then(|value| op.module.ty(value).as_tile());
    let working = op.operand("tmp").or_else(|| op.operands("sources").last().copied().filter(|_| last));
    if let (Some(tmp), Some(dst)) = (of(working), op.tile("dst"))
        && tmp.layout.cols < dst.layout.cols
    {
        let message =
            format!("expects tmp to have at least the {} columns of dst, not {}", dst.layout.cols, tmp.layout.cols);
        diags.push(op.error("tile-shape", message));
    }
    let tiles = op.operands("sources").iter().chain(op.operands("dst")).chain(op.operands("tmp"));
    let first = op.ty("dst").and_then(Type::elem);
    for value in tiles {
        let ty = op.module.ty(*value);
        if ty.elem() != first {
            diags.push(op.error("tile-elem", "expects all lists, tmp and dst to have the same element type"));
            return;
        }
        let Some(tile) = ty.as_tile() else { continue };
        if tile.space != Space::Vec {
            diags.push(op.error("tile-space", "expects all lists, tmp and dst to be in vec"));
            return;
        }
        if tile.layout.rows != 1 {
            let message = format!("expects lists of one row, not {}", tile.layout.rows);
            diags.push(op.error("tile-shape", message).label("a list is stored in a single row"));
            return;
        }
    }
    let block = op.operand("blockLen").and_then(|value| constant(op.module, value));
    if block.is_some_and(|block| block <= 0 || block % 64 != 0) {
        diags.push(op.error("merge-block", "expects blockLen to be a positive multiple of 64"));
    }
}

fn lower_merge(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let dst = operands.tile(d, "dst")?;
    let local = operands.local;
    let (count, last) = lists(op);
    let values = op.operands("sources");
    let mut sources = Vec::new();
    for value in values.iter().take(count) {
        sources.push(operands.argument(d, "sources", *value)?);
    }
    let merge = if op.operand("blockLen").is_some() {
        Merge::Blocks(operands.integer(d, "blockLen")?)
    } else {
        let tmp = if last { values.last().copied() } else { op.operand("tmp") };
        let tmp = tmp.map(|tmp| operands.argument(d, "tmp", tmp)).transpose()?;
        Merge::Lists { tmp, stops: matches!(op.attr("exhausted"), Some(Attr::Bool(true))) }
    };
    operands.issue_discovering(d, MergeRows { local, dst, sources, merge })
}
