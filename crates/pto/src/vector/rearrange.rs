//! Permutations of elements (PTO IR manual 4.3 and 4.10).

use slipring_ir::{AttrKind, Diags, Syntax, Touch, Type};
use slipring_tile::{BLayout, Layout};

use super::check::{self, ANY_ELEM, NUMBERS, Needs};
use super::lower::Operands;
use super::{DST, ONE_TMP, TWO, VECTOR};
use super::{inside, tiles, types, working};
use crate::tile::lies;
use slipring_effect::vector::{Concat, ConcatCounted, Transpose};
use slipring_machine::{Capability, Platform};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef};
use slipring_op::rules::{TILE, defaulted, operand};
use slipring_op::{Along, ops};

ops! {
    OPS;

    /// `dst[i, j] = src[j, i]` for the valid shape of `dst`. The bits are moved as they are; elements have one type.
    pub TTRANS "pto.ttrans" "Transpose a tile" [shape_doc]: VECTOR.with(ONE_TMP),
        source: "PTO IR manual 4.3; tile ISA, TTRANS", verify: verify_ttrans, inside: inside::TURNED_BY_SCALARS,
        lower: lower_ttrans, elems: types::TURNED, along: [Along::Transposes; 2], class: "transpose",
        tiles: tiles::TURNED, working: working::TRANSPOSE;

    /// The first columns of `dst` are the valid columns of `src0`, the next ones those of `src1`, for the valid rows of
    /// `dst`. Together they must fit into the columns of `dst`.
    pub TCONCAT "pto.tconcat" "Put two tiles side by side": VECTOR.with(TWO),
        source: "PTO IR manual 4.10; tile ISA, TCONCAT", verify: verify_tconcat, inside: inside::JOINED_BY_SCALARS,
        lower: lower_tconcat, elems: types::MOVED, along: [Along::Each, Along::Unknown], class: "move",
        tiles: tiles::JOINED;

    /// Row i of `dst` begins with the first n elements of row i of `src0`, m elements of row i of `src1` follow. n is
    /// the number in `src0Idx[i, 0]`, without a sign, m that in `src1Idx[i, 0]`: both at most the valid columns of
    /// their source, and what is left of those of `dst`. What follows in the row stays.
    pub TCONCATIDX "pto.tconcatidx" "Put rows of two tiles together, each as long as a number says": VECTOR,
        source: "PTO IR manual 4.10 (the device headers, TConcat.hpp, divide the counts by the bytes of their type)",
        verify: verify_tconcatidx, inside: inside::BY_SCALARS, lower: lower_tconcatidx, elems: types::MOVED,
        class: "move"
        => {
            syntax: Syntax::InsOuts { ins: 4, attrs_in_ins: false },
            operands: &[
                operand("src0", TILE, Touch::Read, "first tile"),
                operand("src1", TILE, Touch::Read, "second tile"),
                operand("src0Idx", TILE, Touch::Read, "how much of each row of the first, in its first column"),
                operand("src1Idx", TILE, Touch::Read, "how much of each row of the second"),
                DST,
            ],
            attrs: &[defaulted("candidates", AttrKind::Any, "left by the assembler: which library templates fit")],
        };
}

fn verify_ttrans(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::elem(op, "src", ANY_ELEM, diags);
    check::covers(op, "src", Needs::Transposed, diags);
    check::same_type(op, "src", "dst", diags);
    if op.operand("tmp").is_some() {
        check::same_type(op, "src", "tmp", diags);
    }
    if platform.can(Capability::RegisterLayouts) {
        ["src", "dst"].iter().for_each(|name| whole_blocks(op, name, platform, diags));
    }
}

/// Requires the lines of a tile to be a multiple of 32 bytes. Those of a part are as far apart as the whole tile's.
fn whole_blocks(op: &OpRef<'_>, name: &'static str, platform: &Platform, diags: &mut Diags) {
    let layout = op.operand(name).and_then(|value| lies(op.module, value));
    let Some(Layout { rows, cols, elem, blayout, .. }) = layout else { return };
    let (line, what) = if blayout == BLayout::RowMajor { (cols, "rows") } else { (rows, "columns") };
    let bytes = line as usize * elem.bytes();
    if !bytes.is_multiple_of(32) {
        let message = format!("`pto.ttrans` takes {name} with {what} of a multiple of 32 bytes on {}", platform.name);
        diags.push(
            op.error("tile-shape", message)
                .label(format!("`{name}` has {what} of {bytes} bytes"))
                .help("give it a larger shape, and the extent that counts as its valid shape"),
        );
    }
}

fn lower_ttrans(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let effect = Transpose { local: operands.local, dst, src };
    operands.issue(d, effect)
}

fn verify_tconcat(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::types(op, NUMBERS, diags);
    check::covers(op, "src0", Needs::Rows, diags);
    check::covers(op, "src1", Needs::Rows, diags);
    let cols = |index: usize| op.tile(index)?.valid[1].known();
    if let (Some(a), Some(b), Some(dst)) = (cols(0), cols(1), op.tile("dst"))
        && a.saturating_add(b) > u64::from(dst.layout.cols)
    {
        diags.push(
            op.error("tile-shape", "expects the valid columns of src0 and src1 to fit into dst")
                .label(format!("{a} and {b} columns into {}", dst.layout.cols)),
        );
    }
}

fn lower_tconcat(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let sources = [operands.tile(d, "src0")?, operands.tile(d, "src1")?];
    let dst = operands.tile(d, "dst")?;
    let effect = Concat { local: operands.local, dst, sources };
    operands.issue(d, effect)
}

fn verify_tconcatidx(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    for name in ["src0", "src1"] {
        check::same_type(op, name, "dst", diags);
        check::covers(op, name, Needs::Rows, diags);
    }
    check::same_type(op, "src0Idx", "src1Idx", diags);
    let elem = op.ty("src0Idx").and_then(Type::elem);
    if elem.is_some_and(|elem| elem.is_float() || elem.bytes() > 4) {
        diags.push(op.error("tile-elem", "expects src0Idx and src1Idx to have integers of 8, 16 or 32 bits"));
    }
    check::by_rows(op, &["src0", "src1", "dst"], diags);
}

fn lower_tconcatidx(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let sources = [operands.tile(d, "src0")?, operands.tile(d, "src1")?];
    let counts = [operands.tile(d, "src0Idx")?, operands.tile(d, "src1Idx")?];
    let dst = operands.tile(d, "dst")?;
    let effect = ConcatCounted { local: operands.local, dst, sources, counts };
    operands.issue_discovering(d, effect)
}
