//! Synchronisation between cores: semaphores of both platforms (PTO IR manual 4.16; seed 004, Inter-Core Sync).

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{Attr, AttrKind, AttrSpec, Diagnostic, Diags, OpId, OpSchema, Severity, Syntax, Touch};
use slipring_machine::{CoreKind, Pipe, Platform, Role};
use slipring_program::{Inst, Operand};

use super::sync::{NOTHING, PIPE, has_pipe, pipe_attr, pipes_exist};
use slipring_op::decode::Decoder;
use slipring_op::def::{InCoreSync, Lowered, OpDef, OpRef, Reported, SyncAct};
use slipring_op::rules::{ANY, INTEGER, constant, defaulted, operand, optional, required, schema};
use slipring_op::{home_kind, ops, positional};

const CROSS_DOC: &str = "Semaphores between the Cube core and the Vector cores: counters of 4 bits. Where the platform broadcasts \
     (A2/A3), a set by the Cube core reaches both Vector cores, and a wait of the Cube core needs both of them; the wait \
     stalls the whole core. Elsewhere (A5) each Vector core has ids of its own: on the Cube core id n is AIV0 and n + 16 \
     AIV1, on a Vector core id n is its own; the wait holds the named pipe.";

const SYNC: OpSchema = schema(
    "",
    Syntax::Custom(&SyncText),
    &[optional("event_id", INTEGER, Touch::Nothing, "which semaphore, where that is computed")],
    &[],
    &[
        required("pipe", AttrKind::Enum(PIPE), "the pipe that signals once its work is done, or that is held"),
        defaulted("event_id", AttrKind::Int, "which semaphore, where it is written as a number"),
    ],
);

/// `<PIPE_FIX>, 7` or `<PIPE_FIX>, %id`.
struct SyncText;

impl CustomSyntax for SyncText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let pipe = parser.enum_member(PIPE)?;
        parser.module.op_mut(op).attrs.set("pipe", pipe);
        parser.expect(Tok::Comma, "`,` and the semaphore")?;
        let mut id = None;
        if parser.tok() == Tok::Percent {
            id = Some(parser.operand()?);
        } else {
            let number = parser.attr_of_kind(&SYNC.attrs[1])?;
            parser.module.op_mut(op).attrs.set("event_id", number);
        }
        parser.attr_dict(op)?;
        parser.set_operands(op, &[id.as_slice()]);
        Ok(())
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let (module, attrs) = (printer.module, &printer.module.op(op).attrs);
        printer.write(&format!(" <{}>, ", attrs.get("pipe").and_then(Attr::as_str).unwrap_or("?")));
        match module.operands_named(op, "event_id") {
            [] => printer.write(&attrs.get("event_id").and_then(Attr::as_int).unwrap_or(-1).to_string()),
            id => printer.values(id),
        }
        printer.attr_dict(op, &["pipe", "event_id"]);
    }
}

/// The attributes of `pto.sync.set` and of the wait: the pipe, the semaphore and the mode.
const WITH_MODE: &[AttrSpec] = &[
    SYNC.attrs[0],
    SYNC.attrs[1],
    defaulted("ffts_mode", AttrKind::Int, "A2/A3: 2, between the kinds of core of a cluster; 0 and 1 are not run"),
];

const CROSS: OpDef = OpDef {
    source: "PTO IR manual 4.16; seed 004, Inter-Core Sync",
    in_core_sync: InCoreSync::No,
    doc: CROSS_DOC,
    ..NOTHING
};

ops! {
    OPS;

    pub SYNC_SET "pto.sync.set" "Signal to the other kind of core": CROSS.with(SYNC), sync: send, verify: verify_sync,
        lower: lower_sync_set
        => { attrs: WITH_MODE };

    pub SYNC_WAIT "pto.sync.wait" "Wait for a signal of the other kind of core": CROSS.with(SYNC), sync: receive,
        verify: verify_sync, lower: lower_sync_wait
        => { attrs: WITH_MODE };

    /// `pto.sync.set` with `ffts_mode = 0`: to all cores of a kind, in all blocks. Not run: `pto.syncall` is the barrier
    /// of blocks that is.
    pub SET_CROSS_BLOCK "pto.set_cross_block" "Signal to the cores of other blocks": CROSS.with(SYNC),
        lower: |_, d| Err(between_blocks(d))
        => { attrs: WITH_MODE };

    /// The wait for `pto.set_cross_block`. Not run either.
    pub WAIT_CROSS_BLOCK "pto.wait_cross_block" "Wait for the cores of other blocks": CROSS.with(SYNC),
        lower: |_, d| Err(between_blocks(d));

    pub SET_CROSS_CORE "pto.set_cross_core" "Signal to the other kind of core (A2/A3)": CROSS.with(CROSS_VALUES),
        sync: send, verify: |op, platform, diags| verify_cross(op, platform, diags, true),
        lower: |op, d| cross_by_value(op, d, true);

    pub WAIT_FLAG_DEV "pto.wait_flag_dev"
        "Stall the core until the other kind of core has signalled (A2/A3)": CROSS.with(CROSS_VALUES), sync: receive,
        verify: |op, platform, diags| verify_cross(op, platform, diags, true),
        lower: |op, d| cross_by_value(op, d, false);

    pub SET_INTRA_BLOCK "pto.set_intra_block" "Signal to a core of the cluster (A5)": CROSS.with(CROSS_VALUES),
        sync: send, verify: |op, platform, diags| verify_cross(op, platform, diags, false),
        lower: |op, d| cross_by_value(op, d, true)
        => { aliases: &["pto.set_intra_core"] };

    pub WAIT_INTRA_BLOCK "pto.wait_intra_block"
        "Hold a pipe until a core of the cluster has signalled (A5)": CROSS.with(CROSS_VALUES), sync: receive,
        verify: |op, platform, diags| verify_cross(op, platform, diags, false),
        lower: |op, d| cross_by_value(op, d, false)
        => { aliases: &["pto.wait_intra_core"] };

    /// Needed on A2/A3 hardware before cross-core synchronisation. The engine keeps its semaphores itself: nothing
    /// happens here.
    pub SET_FFTS "pto.set_ffts" "Tell the hardware where cross-core flags are kept (A2/A3)": CROSS,
        lower: |_, _| Ok(())
        => {
            syntax: positional!("base"),
            operands: &[operand("base", ANY, Touch::Nothing, "address that the hardware keeps cross-core flags at")],
        };
}

fn between_blocks(d: &mut Decoder<'_>) -> Reported {
    d.unsupported("a signal between the cores of several blocks")
}

/// Requires the mode, where it is written, to be the one that signals to the other kind of core.
fn mode_is_run(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    match op.int("ffts_mode").filter(|mode| *mode != BETWEEN_KINDS) {
        Some(mode) => {
            Err(d.unsupported(&format!("`ffts_mode = {mode}`, which does not signal to the other kind of core,")))
        }
        None => Ok(()),
    }
}

fn lower_sync_set(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    mode_is_run(op, d)?;
    let pipe = cross_pipe(op, d)?;
    let id = semaphore_operand(op, d)?;
    cross_set(d, pipe, id)
}

fn lower_sync_wait(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    mode_is_run(op, d)?;
    let pipe = cross_pipe(op, d)?;
    let id = semaphore_operand(op, d)?;
    cross_wait(d, pipe, id)
}

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

/// `%core, %id : i64, i64`, or the pipe instead of the core as in the hardware's own calls: `"PIPE_FIX", 1`, `"PIPE_V",
/// %id : i64`.
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
        // Assembler 0.60 writes no type for a semaphore that is a value.
        if values.is_empty() || core.is_none() && parser.tok() != Tok::Colon {
            return Ok(());
        }
        parser.expect(Tok::Colon, "`:` and the types of the values")?;
        parser.operand_types(&values)
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        let (core, id) = (module.operands_named(op, "core_id"), module.operands_named(op, "event_id"));
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

/// The mode in which a set of the A2/A3 goes from one kind of core of a cluster to the other. Mode 0 synchronises all
/// cores of a kind, mode 1 the Vector cores of a cluster.
const BETWEEN_KINDS: i64 = 2;

fn verify_sync(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if let Some(mode) = op.int("ffts_mode").filter(|mode| !(0..=BETWEEN_KINDS).contains(mode)) {
        diags.push(op.error("ffts-mode", format!("`ffts_mode` goes from 0 to {BETWEEN_KINDS}, not {mode}")));
    }
    if !one_id(op, diags) {
        return;
    }
    flags_have_a_place(op, platform, diags);
    verify_id_and_pipe(op, semaphore(op), platform, diags);
}

/// Warns at the first semaphore of a function without an address for the flags, if the hardware needs one: the public
/// assembler rejects it. Functions made by passes have no address to give.
fn flags_have_a_place(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let module = op.module;
    let Some(body) = module.function_of(op.id).and_then(|function| module.body(function, 0)) else { return };
    let named = |names: &[&str]| module.walk(body).into_iter().find(|id| names.contains(&&*module.op(*id).name));
    let first = named(&[SYNC_SET.schema.name, SYNC_WAIT.schema.name]) == Some(op.id);
    if platform.sync.broadcast_reduce && first && named(&[SET_FFTS.schema.name]).is_none() {
        let message = format!("on {} this needs `pto.set_ffts` in the same function", platform.name);
        let warning = Diagnostic { severity: Severity::Warning, ..op.error("set-ffts", message) };
        diags.push(
            warning
                .help("pass the address for cross-core flags as a parameter: `pto.set_ffts %flags : memref<256xi64>`"),
        );
    }
}

/// Requires the op to name exactly one semaphore, by an attribute or a value; true if it does.
fn one_id(op: &OpRef<'_>, diags: &mut Diags) -> bool {
    let one = op.operand("event_id").is_some() != op.attr("event_id").is_some();
    if !one {
        diags.push(op.error("semaphore-id", "expects one semaphore id"));
    }
    one
}

fn verify_cross(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags, of_broadcast: bool) {
    let name = op.def.schema.name;
    if platform.sync.broadcast_reduce != of_broadcast {
        let pair = if of_broadcast {
            "`pto.set_intra_block` and `pto.wait_intra_block`, with an id for each Vector core"
        } else {
            "`pto.set_cross_core` and `pto.wait_flag_dev`, which reach both Vector cores"
        };
        let message = format!("platform {} has no `{name}`", platform.name);
        diags.push(
            op.error("other-platform", message)
                .help(format!("use {pair}; `pto.sync.set` and `pto.sync.wait` are for both")),
        );
        return;
    }
    if !one_id(op, diags) {
        return;
    }
    verify_id_and_pipe(op, semaphore(op), platform, diags);
}

/// Requires a constant semaphore id to exist on its core, and so the pipe.
fn verify_id_and_pipe(op: &OpRef<'_>, id: Option<i64>, platform: &Platform, diags: &mut Diags) {
    pipes_exist(op, &["pipe"], platform, diags);
    let (sync, home) = (&platform.sync, home_kind(op));
    let vector = home == Some(CoreKind::Vector);
    let ids = i64::from(sync.semaphores) + if vector { 0 } else { i64::from(sync.subblock_offset) };
    let Some(id) = id.filter(|id| !(0..ids).contains(id)) else { return };
    let core = home.map_or(String::new(), |kind| format!(" of the {} core", kind.name()));
    let mut error = op.error("semaphore-id", format!("semaphore ids{core} go from 0 to {}, not {id}", ids - 1));
    if vector && sync.subblock_offset > 0 {
        error = error.help("on a Vector core id n is its own; only the Cube core adds 16 for AIV1");
    }
    diags.push(error);
}

/// The constant id of the semaphore that an op names by an attribute or a value.
fn semaphore(op: &OpRef<'_>) -> Option<i64> {
    op.operand("event_id").map_or_else(|| op.int("event_id"), |id| constant(op.module, id))
}

fn send(op: &OpRef<'_>) -> Option<SyncAct> {
    Some(SyncAct::Send { pipe: pipe_attr(op, "pipe"), id: semaphore(op) })
}

fn receive(op: &OpRef<'_>) -> Option<SyncAct> {
    Some(SyncAct::Receive { pipe: pipe_attr(op, "pipe"), id: semaphore(op) })
}

fn cross_pipe(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Pipe, Reported> {
    let Some(pipe) = pipe_attr(op, "pipe") else {
        return Err(d.error("pipe-missing", "a semaphore is signalled and waited for by one pipe"));
    };
    has_pipe(d, pipe)?;
    Ok(pipe)
}

/// The id of the semaphore at run time.
fn semaphore_operand(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Operand, Reported> {
    match op.operand("event_id") {
        Some(value) => d.scalar(value),
        None => Ok(Operand::imm(op.int("event_id").unwrap_or(-1))),
    }
}

fn cross_by_value(op: &OpRef<'_>, d: &mut Decoder<'_>, set: bool) -> Lowered {
    let id = semaphore_operand(op, d)?;
    let default = match (set, d.role.kind()) {
        (false, _) => Pipe::S,
        (true, CoreKind::Cube) => Pipe::Fix,
        (true, CoreKind::Vector) => Pipe::Mte3,
    };
    let pipe = if op.attr("pipe").is_some() { cross_pipe(op, d)? } else { default };
    if set { cross_set(d, pipe, id) } else { cross_wait(d, pipe, id) }
}

/// Emits a set or wait of one pipe for each core that an id refers to.
///
/// On a platform without broadcasts, the id selects the Vector core when used on the Cube core: n is AIV0's, n + offset
/// AIV1's. For a computed id the core's scalar unit decides at run time.
fn each_peer(d: &mut Decoder<'_>, id: Operand, step: impl Fn(&mut Decoder<'_>, Role, Operand)) {
    let both = [Role::Aiv0, Role::Aiv1];
    if d.role.kind() == CoreKind::Vector {
        return step(d, Role::Aic, id);
    }
    if d.platform.sync.broadcast_reduce {
        for lane in both.into_iter().filter(|lane| d.takes_part(*lane)).collect::<Vec<_>>() {
            step(d, lane, id);
        }
        return;
    }
    let offset = i64::from(d.platform.sync.subblock_offset);
    if let Some(number) = id.as_imm() {
        let lane = usize::from(number >= offset);
        return step(d, both[lane], Operand::imm(number - offset * lane as i64));
    }
    let (second, after) = (d.label(), d.label());
    d.jump_if_ge(id, Operand::imm(offset), second);
    step(d, Role::Aiv0, id);
    d.jump(after);
    d.place(second);
    let own = d.fresh();
    d.emit(Inst::Add { d: own, a: id, b: Operand::imm(-offset) });
    step(d, Role::Aiv1, Operand::Reg(own));
    d.place(after);
}

fn cross_set(d: &mut Decoder<'_>, pipe: Pipe, id: Operand) -> Lowered {
    let me = d.role;
    each_peer(d, id, |d, target, id| {
        let sync = d.semaphore(me, target, id);
        d.emit(Inst::Set { pipe, sync });
    });
    Ok(())
}

fn cross_wait(d: &mut Decoder<'_>, pipe: Pipe, id: Operand) -> Lowered {
    let me = d.role;
    let pipe = if d.platform.sync.wait_stalls_core { Pipe::S } else { pipe };
    each_peer(d, id, |d, source, id| {
        let sync = d.semaphore(source, me, id);
        d.emit(Inst::Wait { pipe, sync });
    });
    Ok(())
}
