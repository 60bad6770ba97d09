//! Copies between the kinds of core, and queries of the launch.

use slipring_pto as pto;

use super::entry::{Call, ENTRY, entries};
use crate::lower::{Lower, Lowered};

entries! {
    "aiv_shard" => "This lane's part of a tile of the Cube core": ENTRY, params: "tile/x, mode=",
        op: Some(&pto::AIV_SHARD), lower: shard;
    "aic_gather" => "The lanes' tiles, put together for the Cube core": ENTRY, params: "tile/x, mode=",
        op: Some(&pto::AIC_GATHER), lower: gather;
    "get_block_idx" => "Index of this block": ENTRY, op: Some(&pto::GET_BLOCK_IDX), lower: question;
    "program_id" => "Index of this block: a launch has one axis, 0": ENTRY, params: "axis=",
        op: Some(&pto::GET_BLOCK_IDX), lower: program_id;
    "get_block_num" => "Number of blocks": ENTRY, op: Some(&pto::GET_BLOCK_NUM), lower: question;
    "num_programs" => "Number of blocks: a launch has one axis, 0": ENTRY, params: "axis=",
        op: Some(&pto::GET_BLOCK_NUM), lower: program_id;
    "get_subblock_idx" => "Which Vector core of the cluster this is": ENTRY, op: Some(&pto::GET_SUBBLOCK_IDX),
        lower: lane_question;
}

fn shard(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, _) = call.need(lower, "tile")?;
    let mode = call.split(lower, "mode")?;
    lower.shard(&value, mode, call.span)
}

fn gather(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, _) = call.need(lower, "tile")?;
    let mode = call.split(lower, "mode")?;
    lower.gather(&value, mode, call.span)
}

fn lane_question(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if lower.open.region.is_none() {
        lower.facts.lane_questions.push(call.span);
    }
    question(lower, call)
}

fn program_id(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    match call.int(lower, "axis")? {
        None | Some(0) => question(lower, call),
        Some(axis) => {
            let message = format!("a launch has no axis {axis}");
            let error = slipring_ir::Diagnostic::error("argument", call.span, message)
                .help("blocks have one number: `i = pl.program_id(0) // n` and `j = pl.program_id(0) % n`");
            Err(lower.report(error))
        }
    }
}

fn question(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    Ok(lower.launch_number(call.op()))
}
