//! Copies between the kinds of core, and queries of the launch.

use slipring_pto as pto;

use super::entry::{Call, ENTRY, Entry};
use crate::lower::{Lower, Lowered};

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["aiv_shard"],
        params: "tile/x, mode=",
        op: Some(&pto::AIV_SHARD),
        doc: "This lane's part of a tile of the Cube core",
        lower: shard,
        ..ENTRY
    },
    Entry {
        names: &["aic_gather"],
        params: "tile/x, mode=",
        op: Some(&pto::AIC_GATHER),
        doc: "The lanes' tiles, put together for the Cube core",
        lower: gather,
        ..ENTRY
    },
    Entry {
        names: &["get_block_idx"],
        op: Some(&pto::GET_BLOCK_IDX),
        doc: "Index of this block",
        lower: question,
        ..ENTRY
    },
    Entry {
        names: &["program_id"],
        params: "axis=",
        op: Some(&pto::GET_BLOCK_IDX),
        doc: "Index of this block: a launch has one axis, 0",
        lower: program_id,
        ..ENTRY
    },
    Entry {
        names: &["get_block_num"],
        op: Some(&pto::GET_BLOCK_NUM),
        doc: "Number of blocks",
        lower: question,
        ..ENTRY
    },
    Entry {
        names: &["num_programs"],
        params: "axis=",
        op: Some(&pto::GET_BLOCK_NUM),
        doc: "Number of blocks: a launch has one axis, 0",
        lower: program_id,
        ..ENTRY
    },
    Entry {
        names: &["get_subblock_idx"],
        op: Some(&pto::GET_SUBBLOCK_IDX),
        doc: "Which Vector core of the cluster this is",
        lower: lane_question,
        ..ENTRY
    },
];

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
