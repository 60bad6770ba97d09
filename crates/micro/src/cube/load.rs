//! Operands of the matrix unit: fractals into L1, from L1 into L0A, L0B and the bias table.

use slipring_ir::{Arity, Attr, AttrKind, Diags, Kind, OpSchema, OperandSpec, Syntax, Touch, Type};
use slipring_machine::{Pipe, Platform};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};

use super::super::clauses::{Clause, ClauseText, Part, Types};
use super::super::memory::{BT, GM, L0A, L0B, L1, ends, given, given_or};
use slipring_effect::{BiasArgs, BiasLoad, BurstArgs, Bursts, FractalArgs, FractalLoad, MoveArgs, OperandLoad};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{BOOL, INTEGER, PLAIN, constant, defaulted, operand, optional, schema};
use slipring_op::{ops, positional};

const MTE1: OpDef = OpDef { core: CoreRule::Cube, pipe: PipeRule::Fixed(Pipe::Mte1), ..PLAIN };

const fn number(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, INTEGER, Touch::Nothing, doc)
}

const fn word(word: &'static str) -> Clause {
    Clause { types: Types::AfterWord, ..Clause::flag(word) }
}

const fn group(word: &'static str, parts: &'static [Part], types: Types) -> Clause {
    Clause { types, ..Clause::values(word, parts) }
}

ops! {
    OPS [&L1_L0A];

    /// Element (n, d) of a matrix lies at `src + n × src_inner_stride + d` elements (`nd2nz`) or at `src + d ×
    /// src_inner_stride + n` elements (`dn2nz`), and goes to line `n × dst_loop2_stride + d / c × dst_loop3_stride` of
    /// 32 bytes, place `d mod c`, where c is the number of elements in 32 bytes. Places of the last line beyond d
    /// become 0; lines beyond n keep their bytes. With `smallc0_en` (d at most 4) a line has 4 places and lines follow
    /// each other; the last 32 bytes are filled with 0.
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
                operand("src", GM, Touch::Read, "first element in global memory"),
                operand("dst", L1, Touch::Write, "first byte of the fractals in L1, a multiple of 32"),
                number("n", "rows of the result"),
                number("d", "columns of the result"),
                number("src_inner_stride", "bytes from a row (`dn2nz`: a column) of the source to the next"),
                optional("src_outer_stride", INTEGER, Touch::Nothing, "bytes from a matrix of the source to the next"),
                number("group_count", "matrices"),
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

    /// With `transpose`, `dst[i, j] = src[i, j]` for an operand of k × n elements: L0B wants k innermost, so that
    /// elements are exchanged inside the fractals. Without, fractals move as they are, `dst[i, j] = src[j, i]`: they
    /// hold the n × k elements of the transposed operand. So do fractals of 8-bit elements where n is not a multiple of
    /// 32, whatever `transpose` says: the public examples with n = 16 have no more in L1. The fractals of L1 are blocks
    /// of columns of 32 bytes, one row after the other, with rows padded to a multiple of 16. Six numbers, and where it
    /// begins: as for `pto.mte_l1_l0a`.
    L1_L0B "pto.mte_l1_l0b" "Load a right operand out of L1": MTE1.with(LOAD_A),
        source: "micro-instruction manual 16, Left / Right Tile Load Model; public examples, which all transpose",
        verify: verify_operand, lower: lower_l1_l0b
        => {
            operands: &[
                operand("src", L1, Touch::Read, "fractals in L1"),
                operand("dst", L0B, Touch::Write, "right operand in L0B"),
                control(
                    "k and n, rows and columns of the operand; then perhaps the row and the column of L1 at which it begins, 0 and 0. \
                     Or six: the fractals to copy, as `pto.load_cbuf_to_ca` has them",
                ),
            ],
            attrs: &[defaulted("transpose", AttrKind::Bool, "true: the fractals hold k × n elements, else n × k")],
        };

    L1_L0A_MX "pto.mte_l1_l0a_mx" "Load the scales of a left operand": MTE1.with(LOAD_A), doc: SCALES_DOC,
        source: "micro-instruction manual 16, MX Scale Load Model; public examples for the order inside a piece",
        verify: verify_scales, lower: lower_l1_l0a_mx
        => { attrs: &[] };

    L1_L0B_MX "pto.mte_l1_l0b_mx" "Load the scales of a right operand": MTE1.with(LOAD_A), doc: SCALES_DOC,
        source: "micro-instruction manual 16, MX Scale Load Model; public examples for the order inside a piece",
        verify: verify_scales, lower: lower_l1_l0b_mx
        => { operands: L1_L0B.schema.operands, attrs: &[] };

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

    /// An older spelling: copies whole fractals of 512 bytes as they are, `m_step` of each of `k_step` columns. The row
    /// of a product with m = 1 is brought this way.
    LOAD_CBUF_TO_CA "pto.load_cbuf_to_ca" "Copy fractals of L1 into L0A": MTE1,
        source: "public micro-instruction examples", lower: copy_fractals
        => {
            syntax: positional!("src" "dst" "m_start" "k_start" "m_step" "k_step" "src_stride" "dst_stride"),
            operands: &[
                operand("src", L1, Touch::Read, "fractals in L1"),
                operand("dst", L0A, Touch::Write, "fractals in L0A"),
                number("m_start", "first fractal downwards"),
                number("k_start", "first column of fractals"),
                number("m_step", "fractals downwards"),
                number("k_step", "columns of fractals"),
                number("src_stride", "fractals of L1 from a column of them to the next"),
                number("dst_stride", "fractals of L0A from a column of them to the next"),
            ],
        };
}

fn verify_gm_l1_frac(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if op.attr("nd2nz").is_some() == op.attr("dn2nz").is_some() {
        diags.push(op.error("frac-layout", "expects one of `nd2nz` and `dn2nz`"));
    }
    same_elem(op, platform, diags);
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

fn lower_l1_l0b(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if op.operands("control").len() == FULL {
        return copy_fractals(op, d);
    }
    let turned = op.attr("transpose").and_then(Attr::as_bool) != Some(true);
    load_operand(op, d, OperandLoad { elem: elem(op)?, left: None, turned })
}

fn lower_l1_l0a_mx(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let [rows, cols] = extents(op, d)?;
    load_scales(op, d, rows, cols)
}

fn lower_l1_l0b_mx(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let [rows, cols] = extents(op, d)?;
    load_scales(op, d, cols, rows)
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
fn same_elem(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let (Some(from), Some(to)) = (op.ty("src").and_then(Type::elem), op.ty("dst").and_then(Type::elem))
        && from.bytes() != to.bytes()
    {
        diags.push(op.error("elem-width", format!("expects elements of one width, not {from} and {to}")));
    }
}

const OPERAND: Syntax = positional!("src" "dst" "control");

/// The integer operands of a load of a matrix operand.
const fn control(doc: &'static str) -> OperandSpec {
    OperandSpec { name: "control", arity: Arity::Variadic, ty: INTEGER, touch: Touch::Nothing, doc }
}

const LOAD_A: OpSchema = schema(
    "pto.mte_l1_l0a",
    OPERAND,
    &[
        operand("src", L1, Touch::Read, "fractals in L1"),
        operand("dst", L0A, Touch::Write, "left operand in L0A"),
        control(
            "m and k, rows and columns of the operand; then perhaps the row and the column of L1 at which it begins, 0 and 0. Or \
             six: the fractals to copy, as `pto.load_cbuf_to_ca` has them",
        ),
    ],
    &[],
    &[defaulted("transpose", AttrKind::Bool, "true: the fractals hold k × m elements")],
);

static L1_L0A: OpDef = OpDef {
    schema: LOAD_A,
    summary: "Load a left operand out of L1",
    doc: "`dst[i, j] = src[i, j]` for an operand of m × k elements; with `transpose`, `dst[i, j] = src[j, i]`. The \
          fractals of L1 are blocks of columns of 32 bytes, one row after the other, as `pto.mte_gm_l1_frac` leaves them \
          with rows padded to a multiple of 16. With six numbers fractals move as they are. Where an operand begins is \
          counted in elements by one source and in fractals by another: other numbers than 0 are refused.",
    source: "micro-instruction manual 16, Left / Right Tile Load Model; of assembler 0.60, also Full-control L1 to L0 Loads",
    verify: verify_operand,
    lower: |op, d| {
        if op.operands("control").len() == FULL {
            return copy_fractals(op, d);
        }
        let left = Some(d.platform.left_blayout);
        let turned = op.attr("transpose").and_then(Attr::as_bool) == Some(true);
        load_operand(op, d, OperandLoad { elem: elem(op)?, left, turned })
    },
    ..MTE1
};

fn elem(op: &OpRef<'_>) -> Result<Elem, Reported> {
    op.ty("dst").and_then(Type::elem).ok_or(Reported)
}

/// Number of integers in the form that selects fractals.
const FULL: usize = 6;

/// Checks rows and columns of the operand with its start, or the selection of fractals.
fn verify_operand(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    same_elem(op, platform, diags);
    let control = op.operands("control");
    match control {
        [_, _] => {}
        [_, _, start @ ..] if start.len() == 2 => {
            if start.iter().any(|at| constant(op.module, *at) != Some(0)) {
                let message = "an operand that begins inside of its fractals is not modelled: sources count rows and columns \
                               of elements, or fractals";
                diags.push(
                    op.error(Kind::Unsupported, message)
                        .help("move the pointer into L1 with `pto.addptr`, and write 0 and 0"),
                );
            }
        }
        _ if control.len() == FULL => {
            if op.attr("transpose").and_then(Attr::as_bool) == Some(true) {
                diags.push(
                    op.error(Kind::Unsupported, "fractals that are exchanged as they are copied are not modelled"),
                );
            }
        }
        _ => {
            let message = format!("expects 2, 4 or {FULL} numbers, not {}", control.len());
            diags.push(op.error("operand-count", message).help(op.def.schema.operands[2].doc));
        }
    }
}

/// Rows and columns of a matrix operand.
fn extents(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<[Operand; 2], Reported> {
    let [rows, cols, ..] = op.operands("control") else { return Err(Reported) };
    Ok([d.scalar(*rows)?, d.scalar(*cols)?])
}

fn load_operand(op: &OpRef<'_>, d: &mut Decoder<'_>, effect: OperandLoad) -> Lowered {
    let (from, to) = ends(op, d)?;
    let [rows, cols] = extents(op, d)?;
    let args = MoveArgs { from: from.addr, to: to.addr, rows, cols, scale: Operand::Imm(0) };
    let cost = d.platform.dma_cost(from.space, to.space);
    d.issue(Pipe::Mte1, effect, args.list(), cost);
    Ok(())
}

const SCALES_DOC: &str = "Loads the scales of an operand: a byte for each group of 32 elements of k, `2^(byte - 127)`. They come as pieces \
     of 32 bytes, 16 rows (columns of a right operand) by 2 groups, the groups of a row next to each other; pieces of one \
     line of 16 rows (columns) follow each other along k. They belong to the operand at `dst` from then on.";

/// Checks rows and columns of the operand, and its start.
fn verify_scales(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if op.operands("control").len() == FULL {
        diags.push(op.error(Kind::Unsupported, "scales that are taken piece by piece are not modelled"));
    } else {
        verify_operand(op, platform, diags);
    }
}

/// Copies whole fractals of scales: of the outer extent (rows of a left, columns of a right operand) and of k.
fn load_scales(op: &OpRef<'_>, d: &mut Decoder<'_>, outer: Operand, k: Operand) -> Lowered {
    let (from, to) = ends(op, d)?;
    let bytes = d.compute(
        |[outer, k, _]| Ok(outer.div_ceil(16).saturating_mul(k.div_ceil(64)).saturating_mul(32)),
        [outer, k, Operand::Imm(0)],
    );
    let scales = d.scales_at(to.addr);
    let (zero, one) = (Operand::Imm(0), Operand::Imm(1));
    let mut effect = Bursts { block: d.platform.cost.burst, ..Bursts::plain(from.end(d), to.end(d)) };
    effect.to.space = to.space.scales().ok_or(Reported)?;
    effect.to.align = 32;
    let cost = d.platform.dma_cost(from.space, to.space);
    let mut args = BurstArgs { from: from.addr, to: scales, len: bytes }.list();
    args.extend([one, zero, zero]);
    d.issue(Pipe::Mte1, effect, args, cost);
    Ok(())
}

/// Bytes of a fractal.
const FRACTAL: u64 = 512;

/// Copies fractals: the first ones, their number, and the strides are the integer operands after the two pointers.
fn copy_fractals(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    let numbers: Vec<Operand> =
        op.module.op(op.id).operands[2..].iter().map(|at| d.scalar(*at)).collect::<Result<_, _>>()?;
    let [m, k, len, right, src_stride, dst_stride] = numbers[..] else { return Err(Reported) };
    let columns = d.distance(k, src_stride);
    let first = d.further(m, columns);
    let bytes = d.distance(first, Operand::Imm(FRACTAL));
    let source = d.moved(from.addr, bytes);
    let effect = Bursts { unit: FRACTAL, block: d.platform.cost.burst, ..Bursts::plain(from.end(d), to.end(d)) };
    let cost = d.platform.dma_cost(from.space, to.space);
    let mut args = BurstArgs { from: source, to: to.addr, len }.list();
    args.extend([right, src_stride, dst_stride]);
    d.issue(Pipe::Mte1, effect, args, cost);
    Ok(())
}
