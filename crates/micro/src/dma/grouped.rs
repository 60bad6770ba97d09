//! Bursts with loops around them: `len nburst(n, src, dst) loop(n, src, dst) … pad(value, left, right)`.

use slipring_ir::{Diags, OperandSpec, Syntax, Touch, Type};
use slipring_machine::{Pipe, Platform};
use slipring_tile::Space;

use super::super::clauses::{Clause, ClauseText, Count, Part, Types};
use super::super::memory::{FB, GM, L1, UB, ends, given_or};
use slipring_effect::Bursts;
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{INTEGER, PLAIN, SCALAR, operand, optional, variadic};

use crate::dma::rows::{GAPS, STRIDES, rows_of};
use slipring_op::ops;

const NBURST: Clause = Clause::values("nburst", &[Part::Value, Part::Value, Part::Value]);
const LOOP: Clause = Clause {
    word: "loop",
    count: Count::Any,
    flag: false,
    parts: &[Part::Value, Part::Value, Part::Value],
    types: Types::AfterWord,
};
const PAD: Clause = Clause {
    word: "pad",
    count: Count::AtMostOnce,
    flag: false,
    parts: &[Part::Value, Part::Maybe, Part::Maybe],
    types: Types::AfterWord,
};

const L2: OperandSpec =
    operand("l2_cache_ctl", INTEGER, Touch::Nothing, "how the L2 cache is used; changes nothing here");
const LEN: OperandSpec = operand("len_burst", INTEGER, Touch::Nothing, "bytes of a burst");
const COUNT: OperandSpec = operand("n_burst", INTEGER, Touch::Nothing, "bursts");
const SRC_STRIDE: OperandSpec =
    operand("src_stride", INTEGER, Touch::Nothing, "bytes from the start of a burst in the source to the next");
const DST_STRIDE: OperandSpec =
    operand("dst_stride", INTEGER, Touch::Nothing, "bytes from the start of a burst in the destination to the next");
const LOOPS: OperandSpec = variadic(
    "loops",
    INTEGER,
    Touch::Nothing,
    "count, source and destination stride (bytes) of each loop, inner first",
);

/// Transfers of a Vector core.
const VECTOR: OpDef = OpDef { core: CoreRule::Vector, ..PLAIN };
/// Transfers of a Cube core.
const CUBE: OpDef = OpDef { core: CoreRule::Cube, ..PLAIN };

ops! {
    OPS;

    /// `nburst` bursts of `len_burst` bytes each; strides go from the start of one to the start of the next. Every
    /// `loop` repeats what stands before it with strides of its own, the first one innermost. With `pad` a row of UB is
    /// `left_padding` elements of the value, the burst, `right_padding` elements, and more of them up to the next row
    /// (`dst_stride`), at least up to a multiple of 32 bytes: the manual's reference code; the public corpus has no
    /// case in which counts and stride differ. Addresses and strides in UB are multiples of 32 bytes.
    GM_UB "pto.mte_gm_ub" "Copy rows of global memory into UB": VECTOR,
        source: "micro-instruction manual 2, pto.mte_gm_ub", pipe: PipeRule::Fixed(Pipe::Mte2), verify: verify_pad,
        lower: |op, d| lower(op, d, Form { loops: true, pad: true, ..Form::BYTES })
        => {
            syntax: Syntax::Custom(&ClauseText { lead: 4, commas: false, ordered: false, clauses: &[NBURST, LOOP, PAD] }),
            operands: &[
                operand("src", GM, Touch::Read, "first byte in global memory"),
                operand("dst", UB, Touch::Write, "first byte in UB, a multiple of 32"),
                L2,
                LEN,
                COUNT,
                SRC_STRIDE,
                DST_STRIDE,
                LOOPS,
                optional("pad_value", SCALAR, Touch::Nothing, "what the rest of each row is filled with"),
                optional("left_padding", INTEGER, Touch::Nothing, "elements of padding before a burst"),
                optional("right_padding", INTEGER, Touch::Nothing, "elements of padding after a burst"),
            ],
        };

    /// `nburst` bursts of `len_burst` bytes each; strides go from the start of one to the start of the next. Every
    /// `loop` repeats what stands before it with strides of its own, the first one innermost. Addresses and strides in
    /// UB are multiples of 32 bytes; what lies between the rows stays there.
    UB_GM "pto.mte_ub_gm" "Copy rows of UB to global memory": VECTOR,
        source: "micro-instruction manual 2, pto.mte_ub_gm", pipe: PipeRule::Fixed(Pipe::Mte3),
        lower: |op, d| lower(op, d, Form { loops: true, ..Form::BYTES })
        => {
            syntax: Syntax::Custom(&ClauseText {
                lead: 3,
                commas: false, ordered: false,
                clauses: &[
                    NBURST,
                    Clause { count: Count::AtMostOnce, ..Clause::values("l2_cache_ctl", &[Part::Value]) },
                    LOOP,
                ],
            }),
            operands: &[
                operand("src", UB, Touch::Read, "first byte in UB, a multiple of 32"),
                operand("dst", GM, Touch::Write, "first byte in global memory"),
                LEN,
                COUNT,
                SRC_STRIDE,
                DST_STRIDE,
                optional("l2_cache_ctl", INTEGER, Touch::Nothing, "how the L2 cache is used; changes nothing here"),
                LOOPS,
            ],
        };

    /// `nburst` bursts of `len_burst` times 32 bytes, with gaps of so many times 32 bytes between them. Source and
    /// destination that overlap give what a copy of the whole source at first would give.
    UB_UB "pto.mte_ub_ub" "Copy rows inside UB": VECTOR, source: "micro-instruction manual 2, pto.mte_ub_ub",
        pipe: PipeRule::Fixed(Pipe::Mte3), lower: |op, d| lower(op, d, Form { unit: 32, gaps: true, ..Form::BYTES })
        => {
            syntax: GROUPED,
            operands: &[
                operand("src", UB, Touch::Read, "first byte, a multiple of 32"),
                operand("dst", UB, Touch::Write, "first byte, a multiple of 32"),
                LEN32,
                COUNT,
                SRC_GAP,
                DST_GAP,
            ],
        };

    /// `nburst` bursts of `len_burst` times 32 bytes, with gaps of so many times 32 bytes between them.
    UB_L1 "pto.mte_ub_l1" "Copy rows of UB into the Cube core's L1": VECTOR,
        source: "micro-instruction manual 2, pto.mte_ub_l1", pipe: PipeRule::Fixed(Pipe::Mte3),
        lower: |op, d| lower(op, d, Form { unit: 32, gaps: true, ..Form::BYTES })
        => {
            syntax: GROUPED,
            operands: &[
                operand("src", UB, Touch::Read, "first byte in UB, a multiple of 32"),
                operand("dst", L1, Touch::Write, "first byte in the Cube core's L1, a multiple of 32"),
                LEN32,
                COUNT,
                SRC_GAP,
                DST_GAP,
            ],
        };

    /// `nburst` bursts of `len_burst` bytes each; strides go from the start of one to the start of the next. Every
    /// `loop` repeats what stands before it with strides of its own, the first one innermost.
    GM_L1 "pto.mte_gm_l1" "Copy rows of global memory into L1": CUBE,
        source: "micro-instruction manual 16, Cube Burst / Loop Addressing Model", pipe: PipeRule::Fixed(Pipe::Mte2),
        lower: |op, d| lower(op, d, Form { loops: true, bits: [32; 3], ..Form::BYTES })
        => {
            syntax: LOOPED,
            operands: &[
                operand("src", GM, Touch::Read, "first byte in global memory"),
                operand("dst", L1, Touch::Write, "first byte in L1, a multiple of 32"),
                LEN,
                COUNT,
                SRC_STRIDE,
                DST_STRIDE,
                LOOPS,
            ],
        };

    /// `nburst` bursts of `len_burst` elements, with gaps of so many elements between them; loops, too, go on from the
    /// end of a burst. The manual speaks of bytes from start to start: with that the public examples, which write no
    /// strides, would copy one row again and again.
    L1_UB "pto.mte_l1_ub" "Copy rows of L1 into AIV0's UB": CUBE,
        source: "micro-instruction manual 16, pto.mte_l1_ub; public examples for units and gaps",
        pipe: PipeRule::Fixed(Pipe::Mte1), lower: lower_l1_ub
        => {
            syntax: LOOPED,
            operands: &[
                operand("src", L1, Touch::Read, "first byte in L1, a multiple of 32"),
                operand("dst", UB, Touch::Write, "first byte in AIV0's UB, a multiple of 32"),
                operand("len_burst", INTEGER, Touch::Nothing, "elements of a burst"),
                COUNT,
                SRC_GAP,
                DST_GAP,
                LOOPS,
            ],
        };

    /// `nburst` bursts of `len_burst` times 64 bytes, with gaps of so many times 64 bytes between them (the unit of the
    /// public examples; the manual does not name it). A pointer into the scale buffer reaches 128 KiB: the examples use
    /// address 65600. It runs on the pipe that uses the parameters, FIX, as the public library's table of pipes has it.
    L1_FB "pto.mte_l1_fb" "Load parameters of the accumulator's way out": CUBE,
        source: "micro-instruction manual 16, pto.mte_l1_fb; public examples for the unit; public library for the pipe",
        pipe: PipeRule::Fixed(Pipe::Fix), lower: lower_l1_fb
        => {
            syntax: GROUPED,
            operands: &[
                operand("src", L1, Touch::Read, "parameters in L1"),
                operand("dst", FB, Touch::Write, "first byte in the scale buffer"),
                operand("len_burst", INTEGER, Touch::Nothing, "length of a burst in 64 bytes"),
                COUNT,
                SRC_GAP,
                DST_GAP,
            ],
        };
}

fn lower_l1_ub(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let unit = op.ty("src").and_then(Type::elem).map_or(1, |elem| elem.bytes() as u64);
    lower(op, d, Form { loops: true, unit, gaps: true, bits: [32; 3], ..Form::BYTES })
}

fn lower_l1_fb(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    d.reach(Space::Scaling, FB_REACH);
    lower(op, d, Form { unit: 64, gaps: true, bits: [32; 3], ..Form::BYTES })
}

const GROUPED: Syntax = Syntax::Custom(&ClauseText { lead: 3, commas: false, ordered: false, clauses: &[NBURST] });
const LEN32: OperandSpec = operand("len_burst", INTEGER, Touch::Nothing, "length of a burst in 32 bytes");
const SRC_GAP: OperandSpec =
    operand("src_gap", INTEGER, Touch::Nothing, "from the end of a burst in the source to the next, in the same unit");
const DST_GAP: OperandSpec = operand(
    "dst_gap",
    INTEGER,
    Touch::Nothing,
    "from the end of a burst in the destination to the next, in the same unit",
);

const LOOPED: Syntax = Syntax::Custom(&ClauseText { lead: 3, commas: false, ordered: false, clauses: &[NBURST, LOOP] });

/// Capacity of the scale buffer in bytes as addressed by pointers: the public examples use addresses beyond its size.
const FB_REACH: u64 = 1 << 17;

/// The form of a grouped transfer's operands.
#[derive(Clone, Copy)]
struct Form {
    /// Whether it declares `loops` and padding.
    loops: bool,
    pad: bool,
    /// The unit of lengths and strides, in bytes.
    unit: u64,
    /// True if distances are gaps, measured from the end of a burst.
    gaps: bool,
    /// Field widths in bits: length, number of bursts, loop count.
    bits: [u32; 3],
}

impl Form {
    /// Distances in bytes from start to start, with the field widths of the manual.
    const BYTES: Form = Form { loops: false, pad: false, unit: 1, gaps: false, bits: [16, 16, 21] };
}

fn lower(op: &OpRef<'_>, d: &mut Decoder<'_>, form: Form) -> Lowered {
    let (from, to) = ends(op, d)?;
    let distances = if form.gaps { GAPS } else { STRIDES };
    let mut args = rows_of(op, d, (&from, &to), distances)?;
    let mut levels = 1;
    if form.loops {
        let loops = op.operands("loops");
        levels += loops.len() / 3;
        for value in loops {
            args.push(d.scalar(*value)?);
        }
    }
    let value = if form.pad { op.operand("pad_value") } else { None };
    if let Some(value) = value {
        args.push(d.scalar(value)?);
        args.push(given_or(op, d, "left_padding", 0)?);
        args.push(given_or(op, d, "right_padding", 0)?);
    }
    let pad = value.and_then(|value| op.module.ty(value).elem()).map(|elem| elem.bytes() as u32);
    let effect = Bursts {
        from: from.end(d),
        to: to.end(d),
        levels,
        unit: form.unit,
        gaps: form.gaps,
        pad,
        bits: form.bits,
        block: d.platform.cost.burst,
    };
    let cost = d.platform.dma_cost(from.space, to.space);
    let pipe = op.pipe(d.platform).ok_or(Reported)?;
    d.issue(pipe, effect, args, cost);
    Ok(())
}

/// Requires padding to have the width of the elements, and either both counts or none.
fn verify_pad(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if op.operands("left_padding").len() != op.operands("right_padding").len() {
        diags.push(op.error("dma-pad", "expects both padding counts or none"));
    }
    if let (Some(value), Some(dst)) = (op.ty("pad_value").and_then(Type::elem), op.ty("dst").and_then(Type::elem))
        && value.bytes() != dst.bytes()
    {
        diags.push(op.error("dma-pad", format!("expects a padding value as wide as {dst}, not {value}")));
    }
}
