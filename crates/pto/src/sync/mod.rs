//! Synchronisation of the pipes of one core (PTO IR manual 4.16; seed 004).

mod buffer;
pub(super) mod event_array;
mod pipes;

mod make;

pub use buffer::*;
pub use make::*;
pub use pipes::{EVENT, EVENT_TYPE, PIPE};
pub(crate) use pipes::{EVENT_PIPES, event_pipe};
pub(super) use pipes::{NOTHING, has_pipe, pipe_attr, pipes_exist};

use slipring_ir::{AttrKind, Diags, EnumSpec, OpSchema, Syntax, Touch};
use slipring_machine::{Pipe, Platform};
use slipring_op::make::PLACED;
use slipring_program::{Inst, Operand};

use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported, Signal, SyncAct};
use slipring_op::rules::{ANY, INTEGER, constant, defaulted, operand, required, schema};
use slipring_op::{names, ops};

/// The kind of attribute for barriers, for which other tools only accept the alternative name.
const BARRIER_TYPE: &EnumSpec = &EnumSpec { kind: "sync_op_type", ..*EVENT_TYPE };

// ---- flags between pipes of one core ----

const FLAG: OpSchema = schema(
    "",
    Syntax::Format("`[` $src_pipe `,` $dst_pipe `,` $event_id `]` attr-dict"),
    &[],
    &[],
    &[
        required("src_pipe", AttrKind::Enum(PIPE), "the pipe that signals"),
        required("dst_pipe", AttrKind::Enum(PIPE), "the pipe that waits"),
        required("event_id", AttrKind::Enum(EVENT), "which flag of the pair"),
    ],
);

const FLAG_DOC: &str = "A flag belongs to an ordered pair of pipes of one core and an event id. The source pipe sets it once its \
     earlier work is done; the destination pipe waits for it, takes the signal and goes on. Setting a flag that is \
     still set, waiting for one that nobody sets, and leaving one set at the end are findings.";

pub static SET_FLAG: OpDef = OpDef {
    schema: OpSchema { name: names::SET_FLAG, ..FLAG },
    summary: "Signal from one pipe to another",
    doc: FLAG_DOC,
    sync: |op| signal(op).map(SyncAct::Set),
    verify: verify_flag,
    lower: |op, d| flag(op, d, true),
    ..NOTHING
};

pub static WAIT_FLAG: OpDef = OpDef {
    schema: OpSchema { name: names::WAIT_FLAG, ..FLAG },
    summary: "Hold a pipe until another has signalled",
    doc: FLAG_DOC,
    sync: |op| signal(op).map(SyncAct::Wait),
    verify: verify_flag,
    lower: |op, d| flag(op, d, false),
    ..NOTHING
};

fn verify_flag(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    pipes_exist(op, &["src_pipe", "dst_pipe"], platform, diags);
    let ids = i64::from(platform.sync.event_ids);
    if let Some(id) =
        op.if_declared("event_id").and_then(|id| constant(op.module, id)).filter(|id| !(0..ids).contains(id))
    {
        diags.push(op.error("event-id", format!("event ids go from 0 to {}, not {id}", ids - 1)));
    }
    if op.text("src_pipe") == op.text("dst_pipe") {
        diags.push(
            op.error("flag-same-pipe", "a flag goes from one pipe to another")
                .label("source and destination are the same pipe")
                .help("a pipe runs its work in order; where its work overlaps, use `pto.barrier`"),
        );
    }
}

fn flag(op: &OpRef<'_>, d: &mut Decoder<'_>, set: bool) -> Lowered {
    let id = event_id(op.text("event_id"));
    pipe_flag(op, d, set, pipe_attr(op, "src_pipe"), pipe_attr(op, "dst_pipe"), Operand::imm(id))
}

/// The flag of an op with pipes, and an id in an attribute or a value.
fn signal(op: &OpRef<'_>) -> Option<Signal> {
    let id = match op.if_declared("event_id") {
        Some(value) => constant(op.module, value),
        None => Some(event_id(op.text("event_id"))),
    };
    let (from, to) = (pipe_attr(op, "src_pipe")?, pipe_attr(op, "dst_pipe")?);
    Some(Signal { from, to, id: id.and_then(|id| u32::try_from(id).ok()) })
}

/// The flag of an op with classes of operations.
fn class_signal(op: &OpRef<'_>) -> Option<Signal> {
    let (from, to) = (event_pipe(op, "src_op")?, event_pipe(op, "dst_op")?);
    Some(Signal { from, to, id: u32::try_from(event_id(op.text("event_id"))).ok() })
}

/// A pipe does not signal itself with a flag: it needs a barrier.
fn between(signal: Signal, act: impl Fn(Signal) -> SyncAct) -> SyncAct {
    if signal.from == signal.to { SyncAct::Barrier(Some(signal.from)) } else { act(signal) }
}

fn event_id(text: Option<&str>) -> i64 {
    text.and_then(|t| t.strip_prefix("EVENT_ID")).and_then(|n| n.parse().ok()).unwrap_or(-1)
}

fn pipe_flag(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    set: bool,
    from: Option<Pipe>,
    to: Option<Pipe>,
    id: Operand,
) -> Lowered {
    let (Some(from), Some(to)) = (from, to) else {
        return Err(d.error("pipe-missing", format!("`{}` names a pipe that cannot be signalled", op.def.schema.name)));
    };
    has_pipe(d, from)?;
    has_pipe(d, to)?;
    let sync = d.event(from, to, id);
    d.emit(if set { Inst::Set { pipe: from, sync } } else { Inst::Wait { pipe: to, sync } });
    Ok(())
}

const FLAG_DYN: OpSchema = schema(
    "",
    Syntax::Format("`[` $src_pipe `,` $dst_pipe `,` $event_id `]` attr-dict"),
    &[operand("event_id", INTEGER, Touch::Nothing, "which flag of the pair")],
    &[],
    &[
        required("src_pipe", AttrKind::Enum(PIPE), "the pipe that signals"),
        required("dst_pipe", AttrKind::Enum(PIPE), "the pipe that waits"),
    ],
);

/// The base of flags with a computed id.
const FLAGS_DYN: OpDef = OpDef { schema: FLAG_DYN, doc: FLAG_DOC, verify: verify_flag, ..NOTHING };
/// The base of flags between classes of operations.
const CLASSES: OpDef = OpDef { schema: EVENT_OP, doc: EVENT_DOC, ..NOTHING };

ops! {
    OPS [
        &SET_FLAG,
        &WAIT_FLAG,
        &buffer::GET_BUF,
        &buffer::RLS_BUF,
    ];

    pub SET_FLAG_DYN "pto.set_flag_dyn" "Signal from one pipe to another by a computed event id": FLAGS_DYN,
        sync: |op| signal(op).map(SyncAct::Set), lower: |op, d| flag_dyn(op, d, true);

    pub WAIT_FLAG_DYN "pto.wait_flag_dyn" "Hold a pipe until another has signalled by a computed event id": FLAGS_DYN,
        sync: |op| signal(op).map(SyncAct::Wait), lower: |op, d| flag_dyn(op, d, false);

    pub RECORD_EVENT "pto.record_event" "Signal from one class of operations to another": CLASSES,
        sync: |op| class_signal(op).map(|signal| between(signal, SyncAct::Set)), lower: |op, d| event_flag(op, d, true);

    pub WAIT_EVENT "pto.wait_event" "Wait for a signal from one class of operations to another": CLASSES,
        sync: |op| class_signal(op).map(|signal| between(signal, SyncAct::Wait)),
        lower: |op, d| event_flag(op, d, false);

    /// Later work of the pipe starts after all its earlier work has taken effect. `PIPE_ALL` holds the scalar unit, and
    /// so everything issued later, until every pipe of the core is idle.
    pub BARRIER "pto.barrier" "Hold later work of a pipe until its earlier work is done": NOTHING,
        sync: |op| Some(SyncAct::Barrier(pipe_attr(op, "pipe"))),
        verify: |op, platform, diags| pipes_exist(op, &["pipe"], platform, diags), lower: lower_barrier
        => {
            syntax: Syntax::Format("$pipe attr-dict"),
            attrs: &[
                required("pipe", AttrKind::Enum(PIPE), "the pipe, or `PIPE_ALL`"),
                defaulted("pto.auto_sync_tail_barrier", AttrKind::Unit, "left by the assembler, which placed it"),
                defaulted(
                    PLACED,
                    AttrKind::Unit,
                    "written by the passes where the cores of a cluster meet: flags are still added to the function",
                ),
            ],
            aliases: &[names::PIPE_BARRIER],
        };

    /// The same as `pto.barrier` on the pipe of the class.
    pub BARRIER_SYNC "pto.barrier_sync" "Barrier on the pipe that runs a class of operations": NOTHING,
        sync: |op| event_pipe(op, "op_type").map(|pipe| SyncAct::Barrier(Some(pipe))), lower: lower_barrier_sync
        => {
            syntax: Syntax::Format("`[` $op_type `]` attr-dict"),
            attrs: &[required("op_type", AttrKind::Enum(BARRIER_TYPE), "class of operations")],
        };

    /// Holds the scalar unit until all pipes of the core are idle.
    pub TSYNC "pto.tsync" "Wait for everything that was issued": NOTHING, sync: |_| Some(SyncAct::Barrier(None)),
        lower: lower_tsync
        => {
            syntax: Syntax::InsOuts { ins: 1, attrs_in_ins: false },
            operands: &[slipring_op::rules::variadic("events", ANY, Touch::Nothing, "what to wait for")],
        };
}

fn lower_barrier(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let pipe = pipe_attr(op, "pipe");
    if let Some(pipe) = pipe {
        has_pipe(d, pipe)?;
    } else if op.text("pipe") != Some("PIPE_ALL") {
        return Err(d.error("pipe-missing", "the core has no such pipe"));
    }
    d.emit(Inst::Barrier { pipe });
    Ok(())
}

fn lower_barrier_sync(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let pipe = event_pipe(op, "op_type").ok_or(Reported)?;
    has_pipe(d, pipe)?;
    d.emit(Inst::Barrier { pipe: Some(pipe) });
    Ok(())
}

fn lower_tsync(_: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    d.emit(Inst::Barrier { pipe: None });
    Ok(())
}

fn flag_dyn(op: &OpRef<'_>, d: &mut Decoder<'_>, set: bool) -> Lowered {
    let Some(value) = op.operand("event_id") else { return Err(Reported) };
    let id = d.scalar(value)?;
    pipe_flag(op, d, set, pipe_attr(op, "src_pipe"), pipe_attr(op, "dst_pipe"), id)
}

const EVENT_OP: OpSchema = schema(
    "",
    Syntax::Format("`[` $src_op `,` $dst_op `,` $event_id `]` attr-dict"),
    &[],
    &[],
    &[
        required("src_op", AttrKind::Enum(EVENT_TYPE), "class of the operations that come before"),
        required("dst_op", AttrKind::Enum(EVENT_TYPE), "class of the operations that wait"),
        required("event_id", AttrKind::Enum(EVENT), "which flag of the pair of pipes"),
    ],
);

const EVENT_DOC: &str = "The same as `pto.set_flag` and `pto.wait_flag` on the pipes that run the two classes of operations: loads MTE2, \
     stores of vector tiles MTE3, stores and moves of the accumulator FIX, moves out of L1 MTE1, products M, vector \
     operations V.";

fn event_flag(op: &OpRef<'_>, d: &mut Decoder<'_>, set: bool) -> Lowered {
    let id = event_id(op.text("event_id"));
    let (from, to) = (event_pipe(op, "src_op"), event_pipe(op, "dst_op"));
    if from == to && from.is_some() {
        // Work of one pipe is in order; a barrier is only needed if the pipe overlaps its work.
        if set && let Some(pipe) = from.filter(|p| d.platform.needs_barrier(*p)) {
            d.emit(Inst::Barrier { pipe: Some(pipe) });
        }
        return Ok(());
    }
    pipe_flag(op, d, set, from, to, Operand::imm(id))
}

// ---- barriers ----
