//! Operands of the matrix unit and their scales: fractals from L1 into L0A, L0B and the memories beside them.

use slipring_ir::{Arity, Attr, AttrKind, Diags, Kind, OpSchema, OperandSpec, Syntax, Touch, Type};
use slipring_machine::{Pipe, Platform};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};

use super::super::memory::{L0A_BUFFER, L0B_BUFFER, L1_BUFFER, Memory, ends};
use super::super::pointer::constant_address;
use super::controls::{Controls, Field, check_fields};
use super::load::{MTE1, number, same_elem};
use slipring_effect::{BurstEnd, Bursts, FRACTAL, FractalSelect, MoveArgs, OperandLoad, SelectArgs};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{INTEGER, constant, defaulted, operand, schema};
use slipring_op::{ops, positional};

/// Ranges of fields of 16 and 8 bits that may not be 0, and of a start.
const START: [i64; 2] = [0, 65535];
const STEP: [i64; 2] = [1, 255];
const STRIDE: [i64; 2] = [1, 65535];

/// Fractals of an operand.
const FRACTALS: [Field; 6] = [
    ("m_start", START),
    ("k_start", START),
    ("m_step", STEP),
    ("k_step", STEP),
    ("src_stride", STRIDE),
    ("dst_stride", STRIDE),
];
/// Fragments of scales.
const FRAGMENTS: [Field; 6] = [
    ("x_start", START),
    ("y_start", START),
    ("x_step", START),
    ("y_step", START),
    ("src_stride", START),
    ("dst_stride", START),
];

const LEFT_SHAPE: [&str; 4] = ["m", "k", "start_row", "start_col"];
const RIGHT_SHAPE: [&str; 4] = ["k", "n", "start_row", "start_col"];

static LEFT: Controls = Controls { shape: LEFT_SHAPE, full: FRACTALS };
static RIGHT: Controls = Controls { shape: RIGHT_SHAPE, full: FRACTALS };
static LEFT_SCALES: Controls = Controls { shape: LEFT_SHAPE, full: FRAGMENTS };
static RIGHT_SCALES: Controls = Controls { shape: RIGHT_SHAPE, full: FRAGMENTS };

ops! {
    OPS [&L1_L0A];

    /// With `transpose`, `dst[i, j] = src[i, j]` for an operand of k × n elements: L0B wants k innermost, so that
    /// elements are exchanged, in squares of 16, of 8-bit elements 32, which k and n are rounded up to. Without,
    /// fractals move as they are, `dst[i, j] = src[j, i]`: they hold the n × k elements of the transposed operand. The
    /// fractals of L1 are blocks of columns of 32 bytes, one row after the other, with rows padded to a multiple of 16
    /// (of 32 where squares are). Six numbers, and where it begins: as for `pto.mte_l1_l0a`.
    L1_L0B "pto.mte_l1_l0b" "Load a right operand out of L1": MTE1.with(LOAD_A),
        source: "micro-instruction manual 16, Left / Right Tile Load Model; public compiler for the squares",
        verify: verify_operand, lower: lower_l1_l0b
        => {
            syntax: Syntax::Custom(&RIGHT),
            operands: &[
                operand("src", L1_BUFFER, Touch::Read, "fractals in L1"),
                operand("dst", L0B_BUFFER, Touch::Write, "right operand in L0B"),
                control(
                    "k and n, rows and columns of the operand; then perhaps the row and the column of L1 at which it begins, 0 and 0. \
                     Or six, as for `pto.mte_l1_l0a`",
                ),
            ],
            attrs: &[defaulted("transpose", AttrKind::Bool, "true: the fractals hold k × n elements, else n × k")],
        };

    L1_L0A_MX "pto.mte_l1_l0a_mx" "Load the scales of a left operand": MTE1.with(LOAD_A), doc: SCALES_DOC,
        source: SCALES_SOURCE, verify: verify_scales, lower: |op, d| lower_scales(op, d, [0, 1])
        => {
            syntax: Syntax::Custom(&LEFT_SCALES),
            operands: &[LOAD_A.operands[0], LOAD_A.operands[1], control(SCALES_NUMBERS)],
            attrs: &[],
        };

    L1_L0B_MX "pto.mte_l1_l0b_mx" "Load the scales of a right operand": MTE1.with(LOAD_A), doc: SCALES_DOC,
        source: SCALES_SOURCE, verify: verify_scales, lower: |op, d| lower_scales(op, d, [1, 0])
        => {
            syntax: Syntax::Custom(&RIGHT_SCALES),
            operands: &[L1_L0B.schema.operands[0], L1_L0B.schema.operands[1], control(SCALES_NUMBERS)],
            attrs: &[],
        };

    /// An older spelling: copies whole fractals of 512 bytes as they are, `m_step` of each of `k_step` columns. The row
    /// of a product with m = 1 is brought this way.
    LOAD_CBUF_TO_CA "pto.load_cbuf_to_ca" "Copy fractals of L1 into L0A": MTE1,
        source: "public micro-instruction examples; assembler 0.60 for the ranges", verify: verify_fractals,
        lower: select_fractals
        => {
            syntax: positional!("src" "dst" "m_start" "k_start" "m_step" "k_step" "src_stride" "dst_stride"),
            operands: &[
                operand("src", L1_BUFFER, Touch::Read, "fractals in L1"),
                operand("dst", L0A_BUFFER, Touch::Write, "fractals in L0A"),
                number("m_start", "first fractal downwards"),
                number("k_start", "first column of fractals"),
                number("m_step", "fractals downwards, 1 to 255"),
                number("k_step", "columns of fractals, 1 to 255"),
                number("src_stride", "fractals of L1 from a column of them to the next"),
                number("dst_stride", "fractals of L0A from a column of them to the next"),
            ],
        };
}

/// The integer operands of a load of a matrix operand.
const fn control(doc: &'static str) -> OperandSpec {
    OperandSpec { name: "control", arity: Arity::Variadic, ty: INTEGER, touch: Touch::Nothing, doc }
}

const LOAD_A: OpSchema = schema(
    "pto.mte_l1_l0a",
    Syntax::Custom(&LEFT),
    &[
        operand("src", L1_BUFFER, Touch::Read, "fractals in L1"),
        operand("dst", L0A_BUFFER, Touch::Write, "left operand in L0A"),
        control(
            "m and k, rows and columns of the operand; then perhaps the row and the column of L1 at which it begins, 0 and 0. Or \
             six, the fractals to copy: `m_start`, `k_start` (0 to 65535), `m_step`, `k_step` (1 to 255), `src_stride`, \
             `dst_stride` (1 to 65535), as `pto.load_cbuf_to_ca` has them",
        ),
    ],
    &[],
    &[defaulted("transpose", AttrKind::Bool, "true: the fractals hold k × m elements")],
);

static L1_L0A: OpDef = OpDef {
    schema: LOAD_A,
    summary: "Load a left operand out of L1",
    doc: "`dst[i, j] = src[i, j]` for an operand of m × k elements; with `transpose`, `dst[i, j] = src[j, i]`, exchanged in \
          squares of 16, of 8-bit elements 32, which m and k are rounded up to. The fractals of L1 are blocks of columns of \
          32 bytes, one row after the other, as `pto.mte_gm_l1_frac` leaves them with rows padded to a multiple of 16 (of 32 \
          where squares are). With six numbers the fractals that they select move as they are, or with `transpose` exchange \
          the elements of the region. Numbers may have names, as in `m_step(%a)`, in any order. Where an operand begins is \
          counted in elements by one source and in fractals by another: other numbers than 0 are refused. k of packed 4-bit \
          floats counts values, two for each byte.",
    source: "micro-instruction manual 16, Left / Right Tile Load Model; of assembler 0.60, also Full-control L1 to L0 Loads",
    verify: verify_operand,
    lower: |op, d| {
        if op.operands("control").len() == FULL {
            return select_fractals(op, d);
        }
        let left = Some(d.platform.left_blayout);
        let [m, k] = extents(op, d)?;
        load_operand(op, d, [m, k], 1, OperandLoad { elem: elem(op)?, left, turned: transposes(op) })
    },
    ..MTE1
};

fn lower_l1_l0b(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if op.operands("control").len() == FULL {
        return select_fractals(op, d);
    }
    let [k, n] = extents(op, d)?;
    load_operand(op, d, [k, n], 0, OperandLoad { elem: elem(op)?, left: None, turned: !transposes(op) })
}

fn elem(op: &OpRef<'_>) -> Result<Elem, Reported> {
    op.ty("dst").and_then(Type::elem).ok_or(Reported)
}

fn transposes(op: &OpRef<'_>) -> bool {
    op.attr("transpose").and_then(Attr::as_bool) == Some(true)
}

/// True for elements of two values.
fn packed(op: &OpRef<'_>) -> bool {
    elem(op).is_ok_and(|elem| elem.values() > 1)
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
                let message = "an operand that begins inside its fractals is not modelled: sources count rows and columns \
                               of elements, or fractals";
                diags.push(
                    op.error(Kind::Unsupported, message)
                        .help("move the pointer into L1 with `pto.addptr`, and write 0 and 0"),
                );
            }
        }
        _ if control.len() == FULL => {
            check_fields(op, control, &FRACTALS, diags);
            if packed(op) && control.get(1).is_some_and(|k_start| constant(op.module, *k_start) != Some(0)) {
                let message = "`k_start` of packed 4-bit floats counts bytes: only 0 is modelled";
                diags.push(op.error(Kind::Unsupported, message).help("move the pointer into L1 with `pto.addptr`"));
            }
        }
        _ => wrong_count(op, diags),
    }
    if packed(op) && transposes(op) {
        diags.push(op.error(Kind::Unsupported, "exchanging packed 4-bit floats is not modelled"));
    }
}

fn wrong_count(op: &OpRef<'_>, diags: &mut Diags) {
    let message = format!("expects 2, 4 or {FULL} numbers, not {}", op.operands("control").len());
    diags.push(op.error("operand-count", message).help(op.def.schema.operands[2].doc));
}

fn verify_fractals(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    same_elem(op, platform, diags);
    let fours = |name: &str| op.ty(name).and_then(Type::elem).filter(|elem| elem.values() > 1);
    if let Some(elem) = fours("src").or(fours("dst")) {
        let message = format!("`{}` moves no packed 4-bit floats, such as {elem}", op.def.schema.name);
        diags.push(op.error("elem-type", message).help("`pto.mte_l1_l0a` moves them"));
    }
    check_fields(op, &op.module.op(op.id).operands[2..], &FRACTALS, diags);
}

/// The first two numbers: rows and columns of a matrix operand.
fn extents(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<[Operand; 2], Reported> {
    let [rows, cols, ..] = op.operands("control") else { return Err(Reported) };
    Ok([d.scalar(*rows)?, d.scalar(*cols)?])
}

/// Loads an operand whose extent `deep` is k; two values of k are one element of a packed type.
fn load_operand(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    mut extents: [Operand; 2],
    deep: usize,
    mut effect: OperandLoad,
) -> Lowered {
    let (from, to) = ends(op, d)?;
    let zero = Operand::Imm(0);
    if packed(op) {
        extents[deep] = d.compute(|[k, ..]| Ok(k.div_ceil(2)), [extents[deep], zero, zero]);
        effect.elem = Elem::U8;
    }
    let [rows, cols] = extents;
    let args = MoveArgs { from: from.addr, to: to.addr, rows, cols, scale: zero };
    let cost = d.platform.dma_cost(from.space, to.space);
    d.issue(Pipe::Mte1, effect, args.list(), cost);
    Ok(())
}

/// Bytes of a fragment of scales.
const FRAGMENT: u64 = 32;

/// Copies the fractals that the integer operands after the two pointers select.
fn select_fractals(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    let numbers = scalars(op, d)?;
    let [start, line, step, lines, from_stride, to_stride] = numbers[..] else { return Err(Reported) };
    let effect = FractalSelect {
        rows: lines_of(d, from, to.end(d), FRACTAL),
        fields: FRACTALS,
        per: 1,
        turned: transposes(op).then_some(to.elem),
    };
    let args = SelectArgs { from: from.addr, to: to.addr, start, line, step, lines, from_stride, to_stride };
    let cost = d.platform.dma_cost(from.space, to.space);
    d.issue(Pipe::Mte1, effect, args.list(), cost);
    Ok(())
}

fn scalars(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Vec<Operand>, Reported> {
    op.module.op(op.id).operands[2..].iter().map(|at| d.scalar(*at)).collect()
}

/// Lines of fractals of this size.
fn lines_of(d: &Decoder<'_>, from: Memory, to: BurstEnd, unit: u64) -> Bursts {
    Bursts { unit, block: d.platform.cost.burst, ..Bursts::plain(from.end(d), to) }
}

const SCALES_DOC: &str = "Loads the scales of an operand: a byte for each group of 32 elements of k, `2^(byte - 127)`. They come as pieces \
     of 32 bytes, 16 rows (columns of a right operand) by 2 groups, the groups of a row next to each other; pieces of one \
     line of 16 rows (columns) follow each other along k. With extents, all pieces of the operand move, from piece \
     `start_col` of line `start_row` on. With six numbers, `y_step` pieces of `x_step` lines move, from piece `y_start` of \
     line `x_start` on: piece `(x_start + i) × src_stride + y_start + j` becomes piece `i × dst_stride + j`. Numbers may \
     have names, as in `x_step(%a)`, in any order. `src` is a multiple of 32, `dst` of 16. The scales belong to the operand \
     at `dst` from then on.";
const SCALES_SOURCE: &str = "micro-instruction manual 16, MX Scale Load Model; public compiler for the numbers of pieces; public examples for the \
     order inside a piece";
const SCALES_NUMBERS: &str = "m and k (of a right operand k and n), rows and columns of the operand; then perhaps the line and the piece of L1 at \
     which its scales begin. Or six, the pieces to copy: `x_start`, `y_start`, `x_step`, `y_step`, `src_stride`, \
     `dst_stride`";

/// Checks the extents of the operand with its start, or the selection of pieces.
fn verify_scales(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    same_elem(op, platform, diags);
    for (name, unit) in [("src", FRAGMENT as i64), ("dst", Space::SCALED_BYTES as i64)] {
        let address = op.operand(name).and_then(|pointer| constant_address(op.module, pointer));
        if let Some(address) = address.filter(|address| address % unit != 0) {
            let message = format!("expects the address of {name} to be a multiple of {unit} bytes, not {address}");
            diags.push(op.error("dma-alignment", message));
        }
    }
    let control = op.operands("control");
    match control {
        [_, _] => {}
        [_, _, start @ ..] if start.len() == 2 => {
            check_fields(op, start, &[("start_row", START), ("start_col", START)], diags);
        }
        _ if control.len() == FULL => check_fields(op, control, &FRAGMENTS, diags),
        _ => wrong_count(op, diags),
    }
}

/// Copies pieces of scales. `[outer, deep]` are the places of the outer extent (rows of a left, columns of a right
/// operand) and of k among the first two numbers.
fn lower_scales(op: &OpRef<'_>, d: &mut Decoder<'_>, [outer, deep]: [usize; 2]) -> Lowered {
    let (from, to) = ends(op, d)?;
    let numbers = scalars(op, d)?;
    let zero = Operand::Imm(0);
    let [line, start, lines, step, from_stride, to_stride] = match numbers[..] {
        [line, start, lines, step, from_stride, to_stride] => [line, start, lines, step, from_stride, to_stride],
        [_, _, ..] => {
            let lines = d.compute(|[outer, ..]| Ok(outer.div_ceil(16)), [numbers[outer], zero, zero]);
            let step = d.compute(|[k, ..]| Ok(k.div_ceil(64)), [numbers[deep], zero, zero]);
            let begin = |at: usize| numbers.get(at).copied().unwrap_or(zero);
            [begin(2), begin(3), lines, step, step, step]
        }
        _ => return Err(Reported),
    };
    let space = to.space.scales().ok_or(Reported)?;
    let [x_start, y_start, x_step, y_step, src_stride, dst_stride] = FRAGMENTS;
    let effect = FractalSelect {
        rows: lines_of(d, from, BurstEnd { space, align: 1, ..to.end(d) }, FRAGMENT),
        fields: [y_start, x_start, y_step, x_step, src_stride, dst_stride],
        per: Space::SCALED_BYTES,
        turned: None,
    };
    let args = SelectArgs { from: from.addr, to: to.addr, start, line, step, lines, from_stride, to_stride };
    let cost = d.platform.dma_cost(from.space, to.space);
    d.issue(Pipe::Mte1, effect, args.list(), cost);
    Ok(())
}
