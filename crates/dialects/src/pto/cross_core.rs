//! Synchronisation between cores: semaphores of both platforms (PTO IR manual 4.16; seed 004, Inter-Core Sync).

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{Attr, AttrKind, AttrSpec, Diags, OpId, OpSchema, Syntax, Touch};
use slipring_machine::{CoreKind, Pipe, Platform, Role};
use slipring_program::{Inst, Operand};

use super::sync::{NOTHING, PIPE, has_pipe, pipe_attr};
use crate::decode::Decoder;
use crate::def::{InCoreSync, Lowered, OpDef, OpRef, Reported};
use crate::rules::{ANY, INTEGER, defaulted, operand, optional, required, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] =
    &[&SYNC_SET, &SYNC_WAIT, &SET_CROSS_CORE, &WAIT_FLAG_DEV, &SET_INTRA_BLOCK, &WAIT_INTRA_BLOCK, &SET_FFTS];

const CROSS_DOC: &str = "Semaphores between the Cube core and the Vector cores: counters of 4 bits. Where the platform broadcasts \
     (A2/A3), a set by the Cube core reaches both Vector cores, and a wait of the Cube core needs both of them; the wait \
     stalls the whole core. Elsewhere (A5) each Vector core has ids of its own: on the Cube core id n is AIV0 and n + 16 \
     AIV1, on a Vector core id n is its own; the wait holds the named pipe.";

const SYNC: OpSchema = schema(
    "",
    Syntax::Format("$pipe `,` $event_id attr-dict"),
    &[],
    &[],
    &[
        required("pipe", AttrKind::Enum(PIPE), "the pipe that signals once its work is done, or that is held"),
        required("event_id", AttrKind::Int, "which semaphore"),
        defaulted("ffts_mode", AttrKind::Int, "2: within a cluster, the only mode here"),
    ],
);

const CROSS: OpDef = OpDef {
    source: "PTO IR manual 4.16; seed 004, Inter-Core Sync",
    in_core_sync: InCoreSync::No,
    doc: CROSS_DOC,
    ..NOTHING
};

static SYNC_SET: OpDef = OpDef {
    schema: OpSchema { name: "pto.sync.set", ..SYNC },
    summary: "Signal to the other kind of core",
    lower: |op, d| {
        let pipe = cross_pipe(op, d)?;
        let id = Operand::imm(op.int("event_id").unwrap_or(-1));
        cross_set(d, pipe, id)
    },
    ..CROSS
};

static SYNC_WAIT: OpDef = OpDef {
    schema: OpSchema { name: "pto.sync.wait", ..SYNC },
    summary: "Wait for a signal of the other kind of core",
    lower: |op, d| {
        let pipe = cross_pipe(op, d)?;
        let id = Operand::imm(op.int("event_id").unwrap_or(-1));
        cross_wait(d, pipe, id)
    },
    ..CROSS
};

const CROSS_VALUES: OpSchema = schema(
    "",
    Syntax::Custom(&CrossText),
    &[
        optional(
            "core_id",
            INTEGER,
            Touch::Nothing,
            "the core or block; the cluster's own cores are the only ones here",
        ),
        optional("event_id", INTEGER, Touch::Nothing, "which semaphore"),
    ],
    &[],
    CROSS_ATTRS,
);

const CROSS_ATTRS: &[AttrSpec] = &[
    defaulted(
        "pipe",
        AttrKind::Enum(PIPE),
        "the pipe; by default FIX on the Cube core and MTE3 on a Vector core to set, S to wait",
    ),
    defaulted("event_id", AttrKind::Int, "which semaphore, where it is written as a number"),
];

/// `%core, %id : i64, i64`, or the pipe in the core's place as the hardware's own calls have it: `"PIPE_FIX", 1`,
/// `"PIPE_V", %id : i64`.
struct CrossText;

impl CustomSyntax for CrossText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let (mut core, mut id) = (None, None);
        if parser.tok() == Tok::Percent {
            core = Some(parser.operand()?);
        } else {
            let pipe = parser.enum_member(PIPE)?;
            parser.module.op_mut(op).attrs.set("pipe", pipe);
        }
        parser.expect(Tok::Comma, "`,` and the semaphore")?;
        if parser.tok() == Tok::Percent {
            id = Some(parser.operand()?);
        } else {
            let number = parser.attr_of_kind(&CROSS_ATTRS[1])?;
            parser.module.op_mut(op).attrs.set("event_id", number);
        }
        parser.attr_dict(op)?;
        parser.set_operands(op, &[core.as_slice(), id.as_slice()]);
        let values: Vec<_> = core.into_iter().chain(id).collect();
        if values.is_empty() {
            return Ok(());
        }
        parser.expect(Tok::Colon, "`:` and the types of the values")?;
        parser.operand_types(&values)
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        let (core, id) = (module.operand_group(op, 0), module.operand_group(op, 1));
        let attr = |name: &str| module.op(op).attrs.get(name);
        printer.write(" ");
        match core {
            [] => printer.write(&format!("<{}>", attr("pipe").and_then(Attr::as_str).unwrap_or("?"))),
            core => printer.values(core),
        }
        printer.write(", ");
        match id {
            [] => printer.write(&attr("event_id").and_then(Attr::as_int).unwrap_or(-1).to_string()),
            id => printer.values(id),
        }
        printer.attr_dict(op, if core.is_empty() { &["pipe", "event_id"] } else { &["event_id"] });
        if !module.op(op).operands.is_empty() {
            printer.write(" : ");
            printer.types_of(&module.op(op).operands);
        }
    }
}

fn verify_cross(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if op.operand(1).is_some() == op.attr("event_id").is_some() {
        diags.push(op.error("semaphore-id", "expects one semaphore id"));
    }
}

static SET_CROSS_CORE: OpDef = OpDef {
    schema: OpSchema { name: "pto.set_cross_core", ..CROSS_VALUES },
    summary: "Signal to the other kind of core (A2/A3)",
    verify: verify_cross,
    lower: |op, d| cross_by_value(op, d, true),
    ..CROSS
};

static WAIT_FLAG_DEV: OpDef = OpDef {
    schema: OpSchema { name: "pto.wait_flag_dev", ..CROSS_VALUES },
    summary: "Stall the core until the other kind of core has signalled (A2/A3)",
    verify: verify_cross,
    lower: |op, d| cross_by_value(op, d, false),
    ..CROSS
};

static SET_INTRA_BLOCK: OpDef = OpDef {
    schema: OpSchema { name: "pto.set_intra_block", aliases: &["pto.set_intra_core"], ..CROSS_VALUES },
    summary: "Signal to a core of the cluster (A5)",
    verify: verify_cross,
    lower: |op, d| cross_by_value(op, d, true),
    ..CROSS
};

static WAIT_INTRA_BLOCK: OpDef = OpDef {
    schema: OpSchema { name: "pto.wait_intra_block", aliases: &["pto.wait_intra_core"], ..CROSS_VALUES },
    summary: "Hold a pipe until a core of the cluster has signalled (A5)",
    verify: verify_cross,
    lower: |op, d| cross_by_value(op, d, false),
    ..CROSS
};

fn cross_pipe(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Pipe, Reported> {
    let Some(pipe) = pipe_attr(op, "pipe") else {
        return Err(d.error("pipe-missing", "a semaphore is signalled and waited for by one pipe"));
    };
    has_pipe(d, pipe)?;
    Ok(pipe)
}

fn cross_by_value(op: &OpRef<'_>, d: &mut Decoder<'_>, set: bool) -> Lowered {
    let id = match op.operand(1) {
        Some(value) => d.scalar(value)?,
        None => Operand::imm(op.int("event_id").unwrap_or(-1)),
    };
    let default = match (set, d.role.kind()) {
        (false, _) => Pipe::S,
        (true, CoreKind::Cube) => Pipe::Fix,
        (true, CoreKind::Vector) => Pipe::Mte3,
    };
    let pipe = if op.attr("pipe").is_some() { cross_pipe(op, d)? } else { default };
    if set { cross_set(d, pipe, id) } else { cross_wait(d, pipe, id) }
}

/// The Vector cores that an id of the Cube core means, and their own id.
fn lanes_of(d: &mut Decoder<'_>, id: Operand) -> Result<Vec<(Role, Operand)>, Reported> {
    let both = [Role::Aiv0, Role::Aiv1];
    let sync = &d.platform.sync;
    if sync.broadcast_reduce {
        return Ok(both.into_iter().filter(|r| d.takes_part(*r)).map(|r| (r, id)).collect());
    }
    let Some(number) = id.as_imm() else {
        return Err(d.unsupported("a computed semaphore id on the Cube core, where ids tell the Vector cores apart,"));
    };
    let offset = i64::from(sync.subblock_offset);
    let lane = usize::from(number >= offset);
    Ok(vec![(both[lane], Operand::imm(number - offset * lane as i64))])
}

fn cross_set(d: &mut Decoder<'_>, pipe: Pipe, id: Operand) -> Lowered {
    let me = d.role;
    let targets = match me.kind() {
        CoreKind::Cube => lanes_of(d, id)?,
        CoreKind::Vector => vec![(Role::Aic, id)],
    };
    for (target, id) in targets {
        let sync = d.semaphore(me, target, id);
        d.emit(Inst::Set { pipe, sync });
    }
    Ok(())
}

fn cross_wait(d: &mut Decoder<'_>, pipe: Pipe, id: Operand) -> Lowered {
    let me = d.role;
    let pipe = if d.platform.sync.wait_stalls_core { Pipe::S } else { pipe };
    let sources = match me.kind() {
        CoreKind::Cube => lanes_of(d, id)?,
        CoreKind::Vector => vec![(Role::Aic, id)],
    };
    for (source, id) in sources {
        let sync = d.semaphore(source, me, id);
        d.emit(Inst::Wait { pipe, sync });
    }
    Ok(())
}

static SET_FFTS: OpDef = OpDef {
    schema: schema(
        "pto.set_ffts",
        Syntax::Format("$base attr-dict `:` type($base)"),
        &[operand("base", ANY, Touch::Nothing, "address that the hardware keeps cross-core flags at")],
        &[],
        &[],
    ),
    summary: "Tell the hardware where cross-core flags are kept (A2/A3)",
    doc: "Needed on A2/A3 hardware before cross-core synchronisation. The engine keeps its semaphores itself: nothing \
          happens here.",
    lower: |_, _| Ok(()),
    ..CROSS
};
