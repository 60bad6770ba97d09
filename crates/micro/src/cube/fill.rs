//! Filling L1 with a word.

use slipring_ir::{AttrKind, Diags, Touch};
use slipring_machine::{Pipe, Platform};
use slipring_tile::{BLOCK_BYTES, Space};

use super::super::memory::{L1_BUFFER, given, memory};
use slipring_effect::{FILL_MOST, Fill, FillArgs};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, Lowered, OpRef, PipeRule};
use slipring_op::rules::{INTEGER, PLAIN, constant, operand, required};
use slipring_op::{ops, positional};

ops! {
    OPS;

    /// Fills `block_num_32b` blocks of 32 bytes from `dst + byte_offset` on with the word, `repeat_times` times with
    /// `dst_gap_32b` blocks in between. `dst + byte_offset` is a multiple of 32; the last three numbers are at most
    /// 32767. It runs on the pipe that the tile library's fills of L1 run on, and costs what as many bytes from global
    /// memory cost: nothing is published of it.
    RAW_FILL_L1 "pto.raw_fill_l1" "Fill blocks of L1 with a word": PLAIN,
        source: "micro-instruction manual of assembler 0.60, 16; headers of the tile library for the pipe",
        core: CoreRule::Cube, pipe: PipeRule::Fixed(Pipe::Mte2), verify: verify, lower: lower
        => {
            syntax: positional!("dst" "byte_offset" "raw_value" "repeat_times" "block_num_32b" "dst_gap_32b"),
            operands: &[
                operand("dst", L1_BUFFER, Touch::Write, "where the offset counts from"),
                operand("byte_offset", INTEGER, Touch::Nothing, "bytes to the first block"),
                operand("raw_value", INTEGER, Touch::Nothing, "the word; of 16 bits the low ones"),
                operand("repeat_times", INTEGER, Touch::Nothing, "how often blocks are filled"),
                operand("block_num_32b", INTEGER, Touch::Nothing, "blocks each time"),
                operand("dst_gap_32b", INTEGER, Touch::Nothing, "blocks from the end of a time to the next"),
            ],
            attrs: &[required("fill_word_bits", AttrKind::Int, "16 or 32")],
        };
}

fn word_bytes(op: &OpRef<'_>) -> Option<usize> {
    match op.int("fill_word_bits") {
        Some(16) => Some(2),
        Some(32) => Some(4),
        _ => None,
    }
}

fn verify(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if word_bytes(op).is_none() {
        diags.push(op.error("attr-value", "expects `fill_word_bits` to be 16 or 32"));
    }
    let known = |name: &str| op.operand(name).and_then(|value| constant(op.module, value));
    let aligned = |offset: i64| u64::try_from(offset).is_ok_and(|offset| offset.is_multiple_of(BLOCK_BYTES));
    if let Some(offset) = known("byte_offset").filter(|offset| !aligned(*offset)) {
        let message = format!("`byte_offset` must be a non-negative multiple of {BLOCK_BYTES}, not {offset}");
        diags.push(op.error("dma-alignment", message));
    }
    for name in ["repeat_times", "block_num_32b", "dst_gap_32b"] {
        let fits = |found: i64| u64::try_from(found).is_ok_and(|found| found <= FILL_MOST);
        if let Some(found) = known(name).filter(|found| !fits(*found)) {
            let message = format!("`{name}` must be between 0 and {FILL_MOST}, not {found}");
            diags.push(op.error("dma-operand", message));
        }
    }
}

fn lower(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let dst = memory(op, d, "dst")?;
    let offset = given(op, d, "byte_offset")?;
    let args = FillArgs {
        to: d.add(dst.addr, offset),
        word: given(op, d, "raw_value")?,
        times: given(op, d, "repeat_times")?,
        blocks: given(op, d, "block_num_32b")?,
        gap: given(op, d, "dst_gap_32b")?,
    };
    let effect = Fill { space: dst.space, core: dst.core, bytes: word_bytes(op).unwrap_or(4) };
    let cost = d.platform.dma_cost(Space::Gm, Space::Mat);
    d.issue(Pipe::Mte2, effect, args.list(), cost);
    Ok(())
}
