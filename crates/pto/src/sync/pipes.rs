//! Pipes and events as attributes, and helpers for synchronisation ops.

use slipring_ir::{Diags, EnumSpec, Syntax};
use slipring_machine::{Pipe, Platform};
use slipring_op::decode::Decoder;
use slipring_op::def::{InCoreSync, Lowered, OpDef, OpRef};
use slipring_op::home_kind;
use slipring_op::rules::{PLAIN, schema};

/// `#pto.pipe<…>`.
pub const PIPE: &EnumSpec = &EnumSpec {
    kind: "pipe",
    numbered: false,
    members: &[
        "PIPE_S",
        "PIPE_V",
        "PIPE_M",
        "PIPE_MTE1",
        "PIPE_MTE2",
        "PIPE_MTE3",
        "PIPE_FIX",
        "PIPE_ALL",
        "PIPE_MTE4",
        "PIPE_MTE5",
    ],
};

/// `#pto.event<…>`.
pub const EVENT: &EnumSpec = &EnumSpec {
    kind: "event",
    numbered: false,
    members: &["EVENT_ID0", "EVENT_ID1", "EVENT_ID2", "EVENT_ID3", "EVENT_ID4", "EVENT_ID5", "EVENT_ID6", "EVENT_ID7"],
};

/// Classes of operations that events are recorded for, in both spellings, with the pipe of each.
pub(crate) const EVENT_PIPES: &[(&str, Pipe)] = &[
    ("TLOAD", Pipe::Mte2),
    ("TSTORE_ACC", Pipe::Fix),
    ("TSTORE_VEC", Pipe::Mte3),
    ("TMOV_M2L", Pipe::Mte1),
    ("TMOV_M2S", Pipe::Mte1),
    ("TMOV_M2B", Pipe::Mte1),
    ("TMOV_M2V", Pipe::Fix),
    ("TMOV_V2M", Pipe::Mte3),
    ("TMATMUL", Pipe::M),
    ("TVEC", Pipe::V),
    ("TVECWAIT_EVENT", Pipe::V),
    ("EVENT_LOAD_FROM_GM", Pipe::Mte2),
    ("EVENT_STORE_FROM_ACC", Pipe::Fix),
    ("EVENT_STORE_FROM_VEC", Pipe::Mte3),
    ("EVENT_MOVE_MAT_TO_LEFT", Pipe::Mte1),
    ("EVENT_MOVE_MAT_TO_SCALAR", Pipe::Mte1),
    ("EVENT_MOVE_MAT_TO_BIAS", Pipe::Mte1),
    ("EVENT_MOVE_MAT_TO_VEC", Pipe::Fix),
    ("EVENT_MOVE_VEC_TO_MAT", Pipe::Mte3),
    ("EVENT_COMPUTE_MATMUL", Pipe::M),
    ("EVENT_COMPUTE_VEC", Pipe::V),
    ("EVENT_VEC_WAITPOINT", Pipe::V),
];

/// `#pto.pipe_event_type<…>`, also spelt `#pto.sync_op_type<…>`.
pub const EVENT_TYPE: &EnumSpec = &EnumSpec {
    kind: "pipe_event_type",
    numbered: false,
    members: &{
        let mut names = [""; EVENT_PIPES.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = EVENT_PIPES[at].0;
            at += 1;
        }
        names
    },
};

pub(crate) const NOTHING: OpDef = OpDef {
    schema: schema("", Syntax::Generic, &[], &[], &[]),
    summary: "",
    doc: "",
    source: "PTO IR manual 4.16; seed 004, Intra-Core Pipeline Sync",
    in_core_sync: InCoreSync::Manual,
    lower: |_, d| Err(d.unsupported("this op")),
    ..PLAIN
};

pub(crate) fn pipe_attr(op: &OpRef<'_>, name: &str) -> Option<Pipe> {
    op.text(name).and_then(Pipe::parse)
}

/// Requires the pipes in these attributes to exist on the core of the op, if that can be determined.
pub(crate) fn pipes_exist(op: &OpRef<'_>, attrs: &[&str], platform: &Platform, diags: &mut Diags) {
    let Some(kind) = home_kind(op) else { return };
    for pipe in attrs.iter().filter_map(|attr| pipe_attr(op, attr)) {
        if !platform.pipes_of(kind).contains(&pipe) {
            diags.push(op.error("pipe-missing", format!("the {} core has no pipe {pipe}", kind.name())));
            return;
        }
    }
}

pub(crate) fn has_pipe(d: &mut Decoder<'_>, pipe: Pipe) -> Lowered {
    let kind = d.role.kind();
    if d.platform.pipes_of(kind).contains(&pipe) {
        return Ok(());
    }
    Err(d.error("pipe-missing", format!("the {} core has no pipe {pipe}", kind.name())))
}

pub(crate) fn event_pipe(op: &OpRef<'_>, name: &str) -> Option<Pipe> {
    let class = op.text(name)?;
    EVENT_PIPES.iter().find(|(n, _)| *n == class).map(|(_, pipe)| *pipe)
}
