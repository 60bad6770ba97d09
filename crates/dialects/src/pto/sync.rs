//! Synchronisation of the pipes of one core (PTO IR manual 4.16; seed 004).

use slipring_ir::{AttrKind, Diags, EnumSpec, Infer, OpSchema, Syntax, Touch, Type};
use slipring_machine::{Pipe, Platform};
use slipring_program::{Inst, Operand};

use crate::decode::{Binding, Decoder};
use crate::def::{CoreRule, InCoreSync, Lowered, OpDef, OpRef, PipeRule, Reported, no_rules};
use crate::rules::{ANY, INTEGER, defaulted, operand, required, result, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[
    &SET_FLAG,
    &WAIT_FLAG,
    &SET_FLAG_DYN,
    &WAIT_FLAG_DYN,
    &RECORD_EVENT,
    &WAIT_EVENT,
    &BARRIER,
    &BARRIER_SYNC,
    &GET_BUF,
    &RLS_BUF,
    &TSYNC,
    &DECLARE_EVENTID_ARRAY,
    &EVENTID_ARRAY_GET,
    &EVENTID_ARRAY_SET,
];

/// `#pto.pipe<…>`.
pub const PIPE: &EnumSpec = &EnumSpec {
    kind: "pipe",
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
    members: &["EVENT_ID0", "EVENT_ID1", "EVENT_ID2", "EVENT_ID3", "EVENT_ID4", "EVENT_ID5", "EVENT_ID6", "EVENT_ID7"],
};

/// Classes of operations that events are recorded for, in both spellings, and the pipe of each.
const EVENT_PIPES: &[(&str, Pipe)] = &[
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

pub(super) const NOTHING: OpDef = OpDef {
    schema: schema("", Syntax::Generic, &[], &[], &[]),
    summary: "",
    doc: "",
    source: "PTO IR manual 4.16; seed 004, Intra-Core Pipeline Sync",
    core: CoreRule::Any,
    pipe: PipeRule::None,
    ring: None,
    per_lane: false,
    in_core_sync: InCoreSync::Manual,
    verify: no_rules,
    lower: |_, d| Err(d.unsupported("this op")),
};

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

static SET_FLAG: OpDef = OpDef {
    schema: OpSchema { name: "pto.set_flag", ..FLAG },
    summary: "Signal from one pipe to another",
    doc: FLAG_DOC,
    verify: verify_flag,
    lower: |op, d| flag(op, d, true),
    ..NOTHING
};

static WAIT_FLAG: OpDef = OpDef {
    schema: OpSchema { name: "pto.wait_flag", ..FLAG },
    summary: "Hold a pipe until another has signalled",
    doc: FLAG_DOC,
    verify: verify_flag,
    lower: |op, d| flag(op, d, false),
    ..NOTHING
};

fn verify_flag(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
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

fn event_id(text: Option<&str>) -> i64 {
    text.and_then(|t| t.strip_prefix("EVENT_ID")).and_then(|n| n.parse().ok()).unwrap_or(-1)
}

pub(super) fn pipe_attr(op: &OpRef<'_>, name: &str) -> Option<Pipe> {
    op.text(name).and_then(Pipe::parse)
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

pub(super) fn has_pipe(d: &mut Decoder<'_>, pipe: Pipe) -> Lowered {
    let kind = d.role.kind();
    if d.platform.pipes_of(kind).contains(&pipe) {
        return Ok(());
    }
    Err(d.error("pipe-missing", format!("the {} core has no pipe {pipe}", kind.name())))
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

static SET_FLAG_DYN: OpDef = OpDef {
    schema: OpSchema { name: "pto.set_flag_dyn", ..FLAG_DYN },
    summary: "Signal from one pipe to another by a computed event id",
    doc: FLAG_DOC,
    verify: verify_flag,
    lower: |op, d| flag_dyn(op, d, true),
    ..NOTHING
};

static WAIT_FLAG_DYN: OpDef = OpDef {
    schema: OpSchema { name: "pto.wait_flag_dyn", ..FLAG_DYN },
    summary: "Hold a pipe until another has signalled by a computed event id",
    doc: FLAG_DOC,
    verify: verify_flag,
    lower: |op, d| flag_dyn(op, d, false),
    ..NOTHING
};

fn flag_dyn(op: &OpRef<'_>, d: &mut Decoder<'_>, set: bool) -> Lowered {
    let Some(value) = op.operand(0) else { return Err(Reported) };
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

static RECORD_EVENT: OpDef = OpDef {
    schema: OpSchema { name: "pto.record_event", ..EVENT_OP },
    summary: "Signal from one class of operations to another",
    doc: EVENT_DOC,
    lower: |op, d| event_flag(op, d, true),
    ..NOTHING
};

static WAIT_EVENT: OpDef = OpDef {
    schema: OpSchema { name: "pto.wait_event", ..EVENT_OP },
    summary: "Wait for a signal from one class of operations to another",
    doc: EVENT_DOC,
    lower: |op, d| event_flag(op, d, false),
    ..NOTHING
};

fn event_pipe(op: &OpRef<'_>, name: &str) -> Option<Pipe> {
    let class = op.text(name)?;
    EVENT_PIPES.iter().find(|(n, _)| *n == class).map(|(_, pipe)| *pipe)
}

fn event_flag(op: &OpRef<'_>, d: &mut Decoder<'_>, set: bool) -> Lowered {
    let id = event_id(op.text("event_id"));
    let (from, to) = (event_pipe(op, "src_op"), event_pipe(op, "dst_op"));
    if from == to && from.is_some() {
        // Work of one pipe is in order; only where it overlaps a barrier is needed.
        if set && let Some(pipe) = from.filter(|p| d.platform.needs_barrier(*p)) {
            d.emit(Inst::Barrier { pipe: Some(pipe) });
        }
        return Ok(());
    }
    pipe_flag(op, d, set, from, to, Operand::imm(id))
}

// ---- barriers ----

static BARRIER: OpDef = OpDef {
    schema: OpSchema {
        aliases: &["pto.pipe_barrier"],
        ..schema(
            "pto.barrier",
            Syntax::Format("$pipe attr-dict"),
            &[],
            &[],
            &[required("pipe", AttrKind::Enum(PIPE), "the pipe, or `PIPE_ALL`")],
        )
    },
    summary: "Hold later work of a pipe until its earlier work is done",
    doc: "Later work of the pipe starts after all its earlier work has taken effect. `PIPE_ALL` holds the scalar unit, and \
          so everything issued later, until every pipe of the core is idle.",
    lower: |op, d| {
        let pipe = pipe_attr(op, "pipe");
        if let Some(pipe) = pipe {
            has_pipe(d, pipe)?;
        } else if op.text("pipe") != Some("PIPE_ALL") {
            return Err(d.error("pipe-missing", "the core has no such pipe"));
        }
        d.emit(Inst::Barrier { pipe });
        Ok(())
    },
    ..NOTHING
};

static BARRIER_SYNC: OpDef = OpDef {
    schema: schema(
        "pto.barrier_sync",
        Syntax::Format("`[` $op_type `]` attr-dict"),
        &[],
        &[],
        &[required("op_type", AttrKind::Enum(EVENT_TYPE), "class of operations")],
    ),
    summary: "Barrier on the pipe that runs a class of operations",
    doc: "The same as `pto.barrier` on the pipe of the class.",
    lower: |op, d| {
        let pipe = event_pipe(op, "op_type").ok_or(Reported)?;
        has_pipe(d, pipe)?;
        d.emit(Inst::Barrier { pipe: Some(pipe) });
        Ok(())
    },
    ..NOTHING
};

// ---- buffer tokens ----

const TOKEN: OpSchema = schema(
    "",
    Syntax::Format("`[` $op_type `,` $buf_id `]` attr-dict"),
    &[],
    &[],
    &[
        required("op_type", AttrKind::Enum(EVENT_TYPE), "class of operations"),
        required("buf_id", AttrKind::Int, "which token"),
        defaulted("mode", AttrKind::Int, "0 by default"),
    ],
);

static GET_BUF: OpDef = OpDef {
    schema: OpSchema { name: "pto.get_buf", ..TOKEN },
    summary: "Acquire a buffer token (A5)",
    doc: "Orders operations of several pipes on one buffer in program order. Read and verified; it cannot be run yet.",
    source: "PTO IR manual 4.2; seed 004",
    lower: |_, d| Err(d.unsupported("buffer tokens")),
    ..NOTHING
};

static RLS_BUF: OpDef = OpDef {
    schema: OpSchema { name: "pto.rls_buf", ..TOKEN },
    summary: "Release a buffer token (A5)",
    doc: "Orders operations of several pipes on one buffer in program order. Read and verified; it cannot be run yet.",
    source: "PTO IR manual 4.2; seed 004",
    lower: |_, d| Err(d.unsupported("buffer tokens")),
    ..NOTHING
};

static TSYNC: OpDef = OpDef {
    schema: schema(
        "pto.tsync",
        Syntax::InsOuts { ins: 1, attrs_in_ins: false },
        &[crate::rules::variadic("events", ANY, Touch::Nothing, "what to wait for")],
        &[],
        &[],
    ),
    summary: "Wait for everything that was issued",
    doc: "Holds the scalar unit until all pipes of the core are idle.",
    lower: |_, d| {
        d.emit(Inst::Barrier { pipe: None });
        Ok(())
    },
    ..NOTHING
};

// ---- arrays of event ids ----

const EVENT_ARRAY: slipring_ir::TypeRule = slipring_ir::TypeRule {
    describe: "an array of event ids",
    accepts: |t| matches!(t, Type::Named(name) if name.starts_with("pto.eventid_array")),
};

static DECLARE_EVENTID_ARRAY: OpDef = OpDef {
    schema: schema(
        "pto.declare_eventid_array",
        Syntax::Format("attr-dict `->` type($array)"),
        &[],
        &[result("array", EVENT_ARRAY, Infer::Written, "the array")],
        &[],
    ),
    summary: "An array of event ids",
    doc: "`!pto.eventid_array<N>` holds N event ids, all 0 at first.",
    in_core_sync: InCoreSync::No,
    lower: |op, d| {
        let Type::Named(name) = op.module.ty(op.result(0)) else { return Err(Reported) };
        let size = name.split(['<', '>']).nth(1).and_then(|n| n.trim().parse::<usize>().ok());
        let Some(size) = size.filter(|n| (1..=64).contains(n)) else {
            return Err(d.error("eventid-array", "an array of event ids has 1 to 64 of them"));
        };
        let slots = (0..size).map(|_| Binding::Scalar(Operand::Reg(d.variable(Operand::Imm(0))))).collect();
        d.bind(op.result(0), Binding::Many(slots));
        Ok(())
    },
    ..NOTHING
};

static EVENTID_ARRAY_GET: OpDef = OpDef {
    schema: schema(
        "pto.eventid_array_get",
        Syntax::Format("$array `[` $index `]` attr-dict `:` type($array)"),
        &[
            operand("array", EVENT_ARRAY, Touch::Nothing, "the array"),
            operand("index", INTEGER, Touch::Nothing, "which of its ids"),
        ],
        &[result("id", INTEGER, Infer::Fixed(|| Type::Index), "the event id")],
        &[],
    ),
    summary: "Read an event id from an array",
    doc: "The index must be a constant.",
    in_core_sync: InCoreSync::No,
    lower: |op, d| {
        let slot = array_slot(op, d)?;
        let copy = d.variable(slot);
        d.bind(op.result(0), Binding::Scalar(Operand::Reg(copy)));
        Ok(())
    },
    ..NOTHING
};

static EVENTID_ARRAY_SET: OpDef = OpDef {
    schema: schema(
        "pto.eventid_array_set",
        Syntax::Format("$array `[` $index `]` `,` $id attr-dict `:` type($array)"),
        &[
            operand("array", EVENT_ARRAY, Touch::Nothing, "the array"),
            operand("index", INTEGER, Touch::Nothing, "which of its ids"),
            operand("id", INTEGER, Touch::Nothing, "the event id"),
        ],
        &[],
        &[],
    ),
    summary: "Write an event id to an array",
    doc: "The index must be a constant.",
    in_core_sync: InCoreSync::No,
    lower: |op, d| {
        let Operand::Reg(slot) = array_slot(op, d)? else { return Err(Reported) };
        let value = op.operand(2).ok_or(Reported)?;
        let a = d.scalar(value)?;
        d.emit(Inst::Move { d: slot, a });
        Ok(())
    },
    ..NOTHING
};

fn array_slot(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Operand, Reported> {
    let (array, index) = (op.operand(0).ok_or(Reported)?, op.operand(1).ok_or(Reported)?);
    let index = d.scalar(index)?;
    let Some(at) = index.as_imm() else { return Err(d.unsupported("an array of event ids with a computed index")) };
    let slot = match d.binding(array) {
        Some(Binding::Many(slots)) => usize::try_from(at).ok().and_then(|at| slots.get(at)),
        _ => None,
    };
    match slot {
        Some(Binding::Scalar(slot)) => Ok(*slot),
        _ => Err(d.error("eventid-array", format!("the array has no element {at}"))),
    }
}
