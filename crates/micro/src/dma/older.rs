//! Older spellings: positional copies, with loops that are set up beforehand.

use slipring_ir::{OpSchema, OperandSpec, Syntax, Touch};
use slipring_machine::{Pipe, Role};
use slipring_program::{Inst, Operand};

use super::super::memory::{GM, L1, Memory, UB, ends, given};
use slipring_effect::{Bursts, Whose};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{BOOL, INTEGER, PLAIN, operand};

use crate::dma::rows::{GAPS, STRIDES, rows_of};
use slipring_op::{ops, positional};

const OLD: &str = "seed 004; public micro-instruction examples";

const fn number(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, INTEGER, Touch::Nothing, doc)
}

const SID: OperandSpec = number("sid", "hint for the memory system; changes nothing here");
const COUNT: OperandSpec = number("n_burst", "bursts");
const BYTES: OperandSpec = number("len_burst", "bytes of a burst");
const BLOCKS: OperandSpec = number("len_burst", "length of a burst in 32 bytes");
const SRC_GAP: OperandSpec = number("src_gap", "gap between bursts of the source in 32 bytes");
const DST_GAP: OperandSpec = number("dst_gap", "gap between bursts of the destination in 32 bytes");

/// Registers of the loops around the copies of one direction: sizes minus 1, and strides.
struct LoopRegisters {
    sizes: [&'static str; 2],
    strides: [[&'static str; 2]; 2],
}

const OUTTOUB: LoopRegisters = LoopRegisters {
    sizes: ["loop1_size_outtoub", "loop2_size_outtoub"],
    strides: [["loop1_src_outtoub", "loop1_dst_outtoub"], ["loop2_src_outtoub", "loop2_dst_outtoub"]],
};
const UBTOOUT: LoopRegisters = LoopRegisters {
    sizes: ["loop1_size_ubtoout", "loop2_size_ubtoout"],
    strides: [["loop1_src_ubtoout", "loop1_dst_ubtoout"], ["loop2_src_ubtoout", "loop2_dst_ubtoout"]],
};

impl LoopRegisters {
    /// Count and strides of both loops, the inner one first.
    fn levels(&self, d: &mut Decoder<'_>) -> Vec<Operand> {
        let mut levels = Vec::new();
        for (size, strides) in self.sizes.into_iter().zip(self.strides) {
            let less_one = Operand::Reg(d.register(size));
            levels.push(d.add(less_one, Operand::Imm(1)));
            levels.extend(strides.map(|name| Operand::Reg(d.register(name))));
        }
        levels
    }
}

/// Positional copies.
const COPIES: OpDef = OpDef { source: OLD, ..PLAIN };
/// Ops that set up the loops around them.
const SETTING: OpDef = OpDef {
    schema: OpSchema {
        syntax: positional!("first" "second"),
        operands: &[
            number("first", "of the source, or of the inner loop"),
            number("second", "of the destination, or of the outer loop"),
        ],
        ..PLAIN.schema
    },
    doc: "Sets a loop around the older copies that follow: bytes from one repetition to the next in source and \
          destination, or the repetitions of the inner and the outer loop.",
    source: OLD,
    core: CoreRule::Vector,
    ..PLAIN
};

ops! {
    OPS;

    /// As `pto.mte_gm_ub` with the two loops that `pto.set_loop_size_outtoub` and `pto.set_loop1_stride_outtoub`,
    /// `pto.set_loop2_stride_outtoub` set before; without them each loop runs once.
    COPY_GM_TO_UBUF "pto.copy_gm_to_ubuf" "Copy rows of global memory into UB (older spelling)": COPIES,
        core: CoreRule::Vector, pipe: PipeRule::Fixed(Pipe::Mte2), lower: lower_copy_gm_to_ubuf
        => {
            syntax: positional!(
                "src" "dst" "sid" "n_burst" "len_burst" "left_padding" "right_padding" "pad_en" "l2_cache_ctl" "src_stride"
                "dst_stride"
            ),
            operands: &[
                operand("src", GM, Touch::Read, "first byte in global memory"),
                operand("dst", UB, Touch::Write, "first byte in UB, a multiple of 32"),
                SID,
                COUNT,
                BYTES,
                number("left_padding", "elements of padding before a burst"),
                number("right_padding", "elements of padding after a burst"),
                operand("pad_en", BOOL, Touch::Nothing, "whether rows are padded, with 0"),
                number("l2_cache_ctl", "how the L2 cache is used; changes nothing here"),
                number("src_stride", "bytes from the start of a burst in the source to the next"),
                number("dst_stride", "bytes from the start of a burst in the destination to the next"),
            ],
        };

    /// As `pto.mte_ub_gm` with the two loops that `pto.set_loop_size_ubtoout` and `pto.set_loop1_stride_ubtoout`,
    /// `pto.set_loop2_stride_ubtoout` set before; without them each loop runs once.
    COPY_UBUF_TO_GM "pto.copy_ubuf_to_gm" "Copy rows of UB to global memory (older spelling)": COPIES,
        core: CoreRule::Vector, pipe: PipeRule::Fixed(Pipe::Mte3), lower: lower_copy_ubuf_to_gm
        => {
            syntax: positional!("src" "dst" "sid" "n_burst" "len_burst" "reserved" "dst_stride" "src_stride"),
            operands: &[
                operand("src", UB, Touch::Read, "first byte in UB, a multiple of 32"),
                operand("dst", GM, Touch::Write, "first byte in global memory"),
                SID,
                COUNT,
                BYTES,
                number("reserved", "changes nothing"),
                number("dst_stride", "bytes from the start of a burst in the destination to the next"),
                number("src_stride", "bytes from the start of a burst in the source to the next"),
            ],
        };

    /// `n_burst` bursts of `len_burst` times 32 bytes, with gaps of so many times 32 bytes between them.
    COPY_GM_TO_CBUF "pto.copy_gm_to_cbuf" "Copy rows of global memory into L1 (older spelling)": COPIES,
        core: CoreRule::Cube, pipe: PipeRule::Fixed(Pipe::Mte2), lower: lower_copy_gm_to_cbuf
        => {
            syntax: positional!("src" "dst" "n_burst" "len_burst" "src_gap" "dst_gap"),
            operands: &[
                operand("src", GM, Touch::Read, "first byte in global memory"),
                operand("dst", L1, Touch::Write, "first byte in L1, a multiple of 32"),
                COUNT,
                BLOCKS,
                SRC_GAP,
                DST_GAP,
            ],
        };

    /// `n_burst` bursts of `len_burst` times 32 bytes, with gaps of so many times 32 bytes between them.
    COPY_UBUF_TO_CBUF "pto.copy_ubuf_to_cbuf" "Copy rows of UB into the Cube core's L1 (older spelling)": COPIES,
        core: CoreRule::Vector, pipe: PipeRule::Fixed(Pipe::Mte3), lower: lower_copy_ubuf_to_cbuf
        => {
            syntax: BETWEEN,
            operands: &[
                operand("src", UB, Touch::Read, "first byte in UB, a multiple of 32"),
                operand("dst", L1, Touch::Write, "first byte in the Cube core's L1, a multiple of 32"),
                SID,
                COUNT,
                BLOCKS,
                SRC_GAP,
                DST_GAP,
            ],
        };

    /// `n_burst` bursts of `len_burst` times 32 bytes, with gaps of so many times 32 bytes between them.
    COPY_CBUF_TO_UBUF "pto.copy_cbuf_to_ubuf" "Copy rows of L1 into a Vector core's UB (older spelling)": COPIES,
        core: CoreRule::Cube, pipe: PipeRule::Fixed(Pipe::Mte1), lower: lower_copy_cbuf_to_ubuf
        => {
            syntax: BETWEEN,
            operands: &[
                operand("src", L1, Touch::Read, "first byte in L1, a multiple of 32"),
                operand("dst", UB, Touch::Write, "first byte in a Vector core's UB, a multiple of 32"),
                number("sid", "the Vector core, 0 or 1"),
                COUNT,
                BLOCKS,
                SRC_GAP,
                DST_GAP,
            ],
        };

    SET_LOOP1_STRIDE_OUTTOUB "pto.set_loop1_stride_outtoub" "Strides of the inner loop into UB": SETTING,
        lower: |op, d| set(op, d, OUTTOUB.strides[0], 0);

    SET_LOOP2_STRIDE_OUTTOUB "pto.set_loop2_stride_outtoub" "Strides of the outer loop into UB": SETTING,
        lower: |op, d| set(op, d, OUTTOUB.strides[1], 0);

    SET_LOOP_SIZE_OUTTOUB "pto.set_loop_size_outtoub" "Repetitions of the loops into UB": SETTING,
        lower: |op, d| set(op, d, OUTTOUB.sizes, 1);

    SET_LOOP1_STRIDE_UBTOOUT "pto.set_loop1_stride_ubtoout" "Strides of the inner loop out of UB": SETTING,
        lower: |op, d| set(op, d, UBTOOUT.strides[0], 0);

    SET_LOOP2_STRIDE_UBTOOUT "pto.set_loop2_stride_ubtoout" "Strides of the outer loop out of UB": SETTING,
        lower: |op, d| set(op, d, UBTOOUT.strides[1], 0);

    SET_LOOP_SIZE_UBTOOUT "pto.set_loop_size_ubtoout" "Repetitions of the loops out of UB": SETTING,
        lower: |op, d| set(op, d, UBTOOUT.sizes, 1);
}

fn lower_copy_gm_to_ubuf(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    let pad = match op.operand("pad_en").and_then(|value| d.scalar(value).ok()).and_then(Operand::as_imm) {
        Some(0) => None,
        Some(_) => Some(to.elem.bytes() as u32),
        None => return Err(d.unsupported("padding that is switched at run time")),
    };
    let mut args = rows_of(op, d, (&from, &to), STRIDES)?;
    args.extend(OUTTOUB.levels(d));
    if pad.is_some() {
        args.push(Operand::Imm(0));
        args.push(given(op, d, "left_padding")?);
        args.push(given(op, d, "right_padding")?);
    }
    let effect = Bursts { levels: 3, pad, bits: [16, 16, 21], ..rows(d, &from, &to) };
    issue(op, d, effect, args)
}

fn lower_copy_ubuf_to_gm(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    let mut args = rows_of(op, d, (&from, &to), STRIDES)?;
    args.extend(UBTOOUT.levels(d));
    let effect = Bursts { levels: 3, bits: [16, 16, 21], ..rows(d, &from, &to) };
    issue(op, d, effect, args)
}

fn lower_copy_gm_to_cbuf(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    blocks(op, d, (&from, &to), Whose::Core(to.core))
}

fn lower_copy_ubuf_to_cbuf(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    blocks(op, d, (&from, &to), Whose::Core(Role::Aic))
}

fn lower_copy_cbuf_to_ubuf(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (from, to) = ends(op, d)?;
    blocks(op, d, (&from, &to), Whose::Argument)
}

const BETWEEN: Syntax = positional!("src" "dst" "sid" "n_burst" "len_burst" "src_gap" "dst_gap");

/// Rows of bytes between two memories.
fn rows(d: &Decoder<'_>, from: &Memory, to: &Memory) -> Bursts {
    Bursts { block: d.platform.cost.burst, ..Bursts::plain(from.end(d), to.end(d)) }
}

/// Rows of blocks of 32 bytes. If the op names a Vector core, `sid` is its index.
fn blocks(op: &OpRef<'_>, d: &mut Decoder<'_>, (from, to): (&Memory, &Memory), whose: Whose) -> Lowered {
    let mut args = rows_of(op, d, (from, to), GAPS)?;
    if whose == Whose::Argument {
        args.push(given(op, d, "sid")?);
    }
    let mut effect = Bursts { unit: 32, gaps: true, bits: [16, 16, 21], ..rows(d, from, to) };
    effect.to.whose = whose;
    issue(op, d, effect, args)
}

fn issue(op: &OpRef<'_>, d: &mut Decoder<'_>, effect: Bursts, args: Vec<Operand>) -> Lowered {
    let cost = d.platform.dma_cost(effect.from.space, effect.to.space);
    let pipe = op.pipe(d.platform).ok_or(Reported)?;
    d.issue(pipe, effect, args, cost);
    Ok(())
}

/// Sets two registers to the operands, minus a constant.
fn set(op: &OpRef<'_>, d: &mut Decoder<'_>, registers: [&'static str; 2], less: u64) -> Lowered {
    for (operand, name) in ["first", "second"].into_iter().zip(registers) {
        let value = d.scalar(op.operand(operand).ok_or(Reported)?)?;
        let value = d.sub(value, Operand::Imm(less));
        let register = d.register(name);
        d.emit(Inst::Move { d: register, a: value });
    }
    Ok(())
}
