//! Neighbours in a row (tile library: the assembler has no op for them).

use slipring_ir::{Diags, Dim, OperandSpec, Touch};

use super::check::{self, FLOATS, NUMBERS, Needs};
use super::lower::Operands;
use super::{DST, SRC, SRC0, VECTOR, ins, tiles, types};
use slipring_effect::arithmetic::ADD;
use slipring_effect::vector::{Interleave, PairSums, Weave};
use slipring_machine::Platform;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{TILE, operand, optional};
use slipring_op::{Along, ops};
use slipring_tile::Space;

const DST0: OperandSpec = operand("dst0", TILE, Touch::Write, "where the first results go");
const DST1: OperandSpec = operand("dst1", TILE, Touch::Write, "where the second results go");
const PAIRS: OpDef = OpDef {
    class: "move",
    source: "tile ISA, page of the same name, and its headers of each platform",
    elems: types::WOVEN,
    tiles: tiles::WOVEN,
    along: [Along::Each, Along::Unknown],
    ..VECTOR
};

ops! {
    OPS;

    /// A row of `src0` and one of `src1`, an element of each in turn, are a row twice as long: its first half is the
    /// row of `dst0`, its second half that of `dst1`. All four have the same valid shape, with an even number of
    /// columns. Results lie apart from each other and from the sources.
    pub TINTERLEAVE "pto.tinterleave" "Elements of two tiles in turn (A5)": PAIRS,
        verify: |op, _, diags| weave(op, true, diags), lower: |op, d| woven(op, d, Weave::Join),
        // `pto_instr.hpp`: the second halves come first.
        library_forms: &[&["dst1", "dst0", "src1", "src0"]]
        => { syntax: ins(2), operands: &[SRC0, operand("src1", TILE, Touch::Read, "the second source"), DST0, DST1] };

    /// The reverse of `pto.tinterleave`: a row of `src0` and after it one of `src1` are one row, whose elements at even
    /// places go to `dst0` and those at odd places to `dst1`; all four have the same valid shape, with an even number
    /// of columns. Without `src1` a row of `src0` alone, and the results have half as many columns. Results lie apart
    /// from each other and from the sources.
    pub TDEINTERLEAVE "pto.tdeinterleave" "Elements at even and at odd places (A5)": PAIRS,
        verify: |op, _, diags| weave(op, op.operand("src1").is_some(), diags), lower: |op, d| woven(op, d, Weave::Part),
        library_forms: &[&["dst1", "dst0", "src1", "src0"], &["dst1", "dst0", "src0"]]
        => {
            syntax: ins(2),
            operands: &[SRC0, optional("src1", TILE, Touch::Read, "the second half of each row"), DST0, DST1],
        };

    /// `dst[i, k] = src[i, 2k] + src[i, 2k + 1]` for the first half of the valid columns of `dst`, which `src` has as
    /// well, the sum rounded to the element type. What is after stays as it is, and an odd last element is in no sum:
    /// so do the instructions of both platforms; the page fills with 0 and keeps the last element.
    pub TPAIRREDUCESUM "pto.tpairreducesum" "Sums of neighbours in a row": PAIRS, verify: verify_tpairreducesum,
        lower: lower_tpairreducesum, class: "reduce", elems: types::PAIR_SUMS, tiles: tiles::ONE
        => { syntax: ins(1), operands: &[SRC, DST] };
}

fn verify_tpairreducesum(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::types(op, FLOATS, diags);
    check::covers(op, "src", Needs::All, diags);
}

fn lower_tpairreducesum(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let effect = PairSums { local: operands.local, add: &ADD, dst, src };
    operands.issue(d, effect)
}

/// Requires the same type, and matching shapes as far as they are known.
fn weave(op: &OpRef<'_>, two: bool, diags: &mut Diags) {
    check::types(op, NUMBERS, diags);
    let known = |name: &'static str| op.tile(name).map(|tile| tile.valid.map(Dim::known));
    let Some([rows, Some(cols)]) = known("dst0") else { return };
    let mut rule = |name, wanted: u64| {
        let Some([height, Some(width)]) = known(name) else { return };
        if width != wanted || matches!((height, rows), (Some(a), Some(b)) if a != b) {
            diags.push(
                op.error("tile-valid", format!("`{name}` has another valid shape than belongs to `dst0`"))
                    .label(format!("`{name}` has {width} valid columns, `dst0` {cols}")),
            );
        }
    };
    rule("dst1", cols);
    rule("src0", if two { cols } else { 2 * cols });
    if two {
        rule("src1", cols);
    }
    if two && cols % 2 != 0 {
        diags.push(
            op.error("tile-valid", "expects an even number of valid columns").label(format!("`dst0` has {cols}")),
        );
    }
}

fn woven(op: &OpRef<'_>, d: &mut Decoder<'_>, what: Weave) -> Lowered {
    let mut operands = Operands::within(op, d, Space::Vec);
    let src = operands.tile(d, "src0")?;
    let other = op.operand("src1").map(|_| operands.tile(d, "src1")).transpose()?;
    let dst = [operands.tile(d, "dst0")?, operands.tile(d, "dst1")?];
    let effect = Interleave { local: operands.local, what, dst, src, other };
    operands.issue(d, effect)
}
