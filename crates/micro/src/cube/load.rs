//! Fractals into L1, and biases out of it.

use slipring_ir::{AttrKind, Diags, OperandSpec, Syntax, Touch, Type};
use slipring_machine::{Pipe, Platform};
use slipring_tile::{Elem, Space};

use super::super::clauses::{Clause, ClauseText, Part, Types};
use super::super::memory::{BT, GM_BUFFER, L1, L1_BUFFER, ends, given, given_or};
use super::controls::check_fields;
use slipring_effect::{BiasArgs, BiasLoad, FractalArgs, FractalLoad};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule};
use slipring_op::ops;
use slipring_op::rules::{BOOL, INTEGER, PLAIN, defaulted, operand, optional};

pub(super) const MTE1: OpDef = OpDef { core: CoreRule::Cube, pipe: PipeRule::Fixed(Pipe::Mte1), ..PLAIN };

pub(super) const fn number(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, INTEGER, Touch::Nothing, doc)
}

const fn word(word: &'static str) -> Clause {
    Clause { types: Types::AfterWord, ..Clause::flag(word) }
}

const fn group(word: &'static str, parts: &'static [Part], types: Types) -> Clause {
    Clause { types, ..Clause::values(word, parts) }
}

ops! {
    OPS;

    /// Element (n, d) of a matrix lies `n × src_inner_stride` bytes and d elements after `src` (`nd2nz`), or `d ×
    /// src_inner_stride` bytes and n elements (`dn2nz`), and goes to line `n × dst_loop2_stride + d / c ×
    /// dst_loop3_stride` of 32 bytes, place `d mod c`, where c is the number of elements in 32 bytes. Places of the
    /// last line beyond d become 0; lines beyond n keep their bytes. With `smallc0_en` (d at most 4) a line has 4
    /// places and lines follow each other; the last 32 bytes are filled with 0.
    GM_L1_FRAC "pto.mte_gm_l1_frac" "Load matrices of global memory into fractals of L1": PLAIN,
        source: "micro-instruction manual 16, pto.mte_gm_l1_frac", core: CoreRule::Cube,
        pipe: PipeRule::Fixed(Pipe::Mte2), verify: verify_gm_l1_frac, lower: lower_gm_l1_frac
        => {
            syntax: Syntax::Custom(&ClauseText {
                lead: 2,
                commas: true, ordered: false,
                clauses: &[
                    word("nd2nz"),
                    word("dn2nz"),
                    group("shape", &[Part::Value, Part::Value], Types::AfterWord),
                    group("src_layout", &[Part::Value, Part::Maybe], Types::InParens),
                    group("dst_group", &[Part::Value, Part::Value, Part::Value, Part::Value], Types::AfterWord),
                    group("ctrl", &[Part::Value, Part::Value], Types::AfterWord),
                ],
            }),
            operands: &[
                operand("src", GM_BUFFER, Touch::Read, "first element in global memory"),
                operand("dst", L1_BUFFER, Touch::Write, "first byte of the fractals in L1, a multiple of 32"),
                number("n", "rows of the result"),
                number("d", "columns of the result"),
                number("src_inner_stride", "bytes from a row (`dn2nz`: a column) of the source to the next"),
                optional("src_outer_stride", INTEGER, Touch::Nothing, "bytes from a matrix of the source to the next"),
                number("group_count", "matrices, at least 1"),
                number("dst_loop2_stride", "distance of rows in L1, in 32 bytes"),
                number("dst_loop3_stride", "distance of blocks of columns in L1, in 32 bytes"),
                number("dst_loop4_stride", "distance of matrices in L1, in 32 bytes"),
                number("l2_cache_ctrl", "how the L2 cache is used; changes nothing here"),
                operand("smallc0_en", BOOL, Touch::Nothing, "true: lines of 4 channels follow each other"),
            ],
            attrs: &[
                defaulted("nd2nz", AttrKind::Unit, "the source has rows"),
                defaulted("dn2nz", AttrKind::Unit, "the source has columns"),
            ],
        };

    /// `dst[i] = src[i]`, f16 and bf16 widened to f32. Lengths and gaps count elements, as in the public examples (the
    /// manual speaks of load units).
    L1_BT "pto.mte_l1_bt" "Load a bias out of L1": MTE1,
        source: "micro-instruction manual 16, pto.mte_l1_bt; public examples for the unit", verify: verify_l1_bt,
        lower: lower_l1_bt
        => {
            syntax: Syntax::Custom(&ClauseText {
                lead: 3,
                commas: false, ordered: false,
                clauses: &[Clause::values("nburst", &[Part::Value, Part::Value, Part::Value])],
            }),
            operands: &[
                operand("src", L1, Touch::Read, "values in L1"),
                operand("dst", BT, Touch::Write, "bias table"),
                number("len_burst", "elements of a row"),
                number("n_burst", "rows"),
                number("src_gap", "elements between rows of the source"),
                number("dst_gap", "elements between rows of the bias table"),
            ],
        };
}

fn verify_gm_l1_frac(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if op.attr("nd2nz").is_some() == op.attr("dn2nz").is_some() {
        diags.push(op.error("frac-layout", "expects one of `nd2nz` and `dn2nz`"));
    }
    same_elem(op, platform, diags);
    let groups = op.operands("group_count");
    check_fields(op, groups, &[("group_count", [1, 65535])], diags);
}

fn lower_gm_l1_frac(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    let args = FractalArgs {
        from: from.addr,
        to: to.addr,
        n: given(op, d, "n")?,
        d: given(op, d, "d")?,
        inner: given(op, d, "src_inner_stride")?,
        groups: given(op, d, "group_count")?,
        row: given(op, d, "dst_loop2_stride")?,
        block: given(op, d, "dst_loop3_stride")?,
        matrix: given(op, d, "dst_loop4_stride")?,
        small: given(op, d, "smallc0_en")?,
        outer: given_or(op, d, "src_outer_stride", 0)?,
    };
    let effect = FractalLoad { elem: to.elem, dn: op.attr("dn2nz").is_some() };
    let cost = d.platform.dma_cost(Space::Gm, Space::Mat);
    d.issue(Pipe::Mte2, effect, args.list(), cost);
    Ok(())
}

fn verify_l1_bt(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let (Some(from), Some(to)) = (op.ty("src").and_then(Type::elem), op.ty("dst").and_then(Type::elem)) {
        let fine = matches!((from, to), (Elem::F32 | Elem::F16 | Elem::BF16, Elem::F32) | (Elem::I32, Elem::I32));
        if !fine {
            diags.push(
                op.error("bias-type", format!("no bias of {from} becomes {to}"))
                    .help("f32, f16 and bf16 become f32, i32 stays i32"),
            );
        }
    }
}

fn lower_l1_bt(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    let args = BiasArgs {
        from: from.addr,
        to: to.addr,
        len: given(op, d, "len_burst")?,
        rows: given(op, d, "n_burst")?,
        from_gap: given(op, d, "src_gap")?,
        to_gap: given(op, d, "dst_gap")?,
    };
    let cost = d.platform.dma_cost(Space::Mat, Space::Bias);
    d.issue(Pipe::Mte1, BiasLoad { elems: [from.elem, to.elem] }, args.list(), cost);
    Ok(())
}

/// Requires source and destination to have the same element type.
pub(super) fn same_elem(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let (Some(from), Some(to)) = (op.ty("src").and_then(Type::elem), op.ty("dst").and_then(Type::elem))
        && from.bytes() != to.bytes()
    {
        diags.push(op.error("elem-width", format!("expects elements of one width, not {from} and {to}")));
    }
}
