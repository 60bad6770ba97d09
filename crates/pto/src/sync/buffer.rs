//! Buffer tokens: `get_buf` and `rls_buf` (seed 004, Example 2; the table of modes in the micro-instruction manual).

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{Attr, AttrKind, AttrSpec, Diags, OpId, OpSchema, Syntax, Touch, ValueId};
use slipring_machine::{Pipe, Platform};
use slipring_program::{Inst, Operand, SyncRef};

use super::{EVENT_TYPE, NOTHING, PIPE, event_pipe, has_pipe, pipe_attr, pipes_exist};
use slipring_op::decode::Decoder;
use slipring_op::def::{OpDef, OpRef, Reported, SyncAct};
use slipring_op::names;
use slipring_op::rules::{INTEGER, constant, defaulted, optional, schema};

const BUFFER: OpSchema = schema(
    "",
    Syntax::Custom(&BufferText),
    &[
        optional("buf_id", INTEGER, Touch::Nothing, "which buffer, from 0"),
        optional("mode", INTEGER, Touch::Nothing, "0 or 1, a constant; 0 by default"),
    ],
    &[],
    ATTRS,
);

/// The pipe, or a class of operations instead, then the integers that are written as attributes.
const ATTRS: &[AttrSpec] = &[
    defaulted("pipe", AttrKind::Enum(PIPE), "the pipe that uses the buffer"),
    defaulted(
        "op_type",
        AttrKind::Enum(EVENT_TYPE),
        "or the class of operations that use it, which stands for their pipe",
    ),
    defaulted("buf_id", AttrKind::Int, "which buffer, where it is written as a number"),
    defaulted("mode", AttrKind::Int, "0 or 1, where it is written as a number"),
];

const DOC: &str = "A core has 32 buffer ids, each shared by all its pipes. A pipe gets a buffer before it touches it and releases it \
     after its last use. Mode 0, the default: the pipe of `get_buf` is held until every release of this id that comes before \
     it in the program, on whatever pipe, is done; a release is done once the earlier work of its own pipe is. So a pipe \
     waits for whoever used the buffer before it, and a loop needs neither priming nor draining. A get does not wait for \
     releases that come after it in the program, and the first one finds the buffer free. Mode 1: `get_buf` does not hold its \
     pipe; `rls_buf` is done once, besides, the earlier releases of the id are and everything that was issued to the other \
     pipes that have the buffer. The two may be mixed. The order of the core's program counts, not that of time: a computed \
     id means what it is when the scalar unit comes there. A release of what the pipe has not got, and a get that is never \
     released, are findings. Written `\"PIPE_V\", 0, 0`, `\"PIPE_V\", %id, %mode : i64, i64`, `%id, \"PIPE_V\"`, `[TLOAD, 0]` or `[TLOAD, %id, 0]`.";

pub static GET_BUF: OpDef = OpDef {
    schema: OpSchema { name: names::GET_BUF, aliases: &["pto.get_buf_dyn"], ..BUFFER },
    summary: "Get a buffer for a pipe (A5)",
    doc: DOC,
    source: "PTO IR manual 4.2; seed 004, Examples 2 and 3b; micro-instruction manual, Mode Parameter",
    sync: |op| {
        let (pipe, id, mode) = named(op)?;
        Some(SyncAct::Get { pipe, id, waits: mode == Some(0) })
    },
    verify,
    lower: |op, d| {
        let (pipe, token, mode) = parts(op, d)?;
        d.emit(Inst::Acquire { pipe, token, waits: mode == 0 });
        Ok(())
    },
    ..NOTHING
};

pub static RLS_BUF: OpDef = OpDef {
    schema: OpSchema { name: names::RLS_BUF, aliases: &["pto.rls_buf_dyn"], ..BUFFER },
    summary: "Release a buffer of a pipe (A5)",
    doc: DOC,
    source: "PTO IR manual 4.2; seed 004, Examples 2 and 3b; micro-instruction manual, Mode Parameter",
    sync: |op| named(op).map(|(pipe, id, _)| SyncAct::Release { pipe, id }),
    verify,
    lower: |op, d| {
        let (pipe, token, mode) = parts(op, d)?;
        d.emit(Inst::Release { pipe, token, deferred: mode == 1 });
        Ok(())
    },
    ..NOTHING
};

fn verify(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if op.attr("pipe").is_some() == op.attr("op_type").is_some() {
        diags.push(op.error("buffer-pipe", "expects either a pipe or a class of operations"));
    }
    pipes_exist(op, &["pipe"], platform, diags);
    let ids = i64::from(platform.sync.buffer_tokens);
    if ids == 0 {
        let message = format!("platform {} has no buffer ids", platform.name);
        return diags.push(op.error("no-buffer-ids", message).help("use `pto.set_flag` and `pto.wait_flag`"));
    }
    match (op.operand("buf_id").map(|v| constant(op.module, v)), op.int("buf_id")) {
        (None, None) => diags.push(op.error("buffer-id", "expects a buffer id")),
        (Some(Some(id)), _) | (None, Some(id)) if !(0..ids).contains(&id) => {
            diags.push(op.error("buffer-id", format!("buffer ids go from 0 to {}, not {id}", ids - 1)));
        }
        _ => {}
    }
    let mode = op.operand("mode").map_or_else(|| op.int("mode"), |v| constant(op.module, v));
    if mode.is_some_and(|mode| mode != 0 && mode != 1) {
        diags.push(op.error("buffer-mode", "the mode is 0 or 1"));
    }
}

/// The pipe that an op names, directly or by a class of operations.
fn pipe_of(op: &OpRef<'_>) -> Option<Pipe> {
    if op.attr("op_type").is_some() { event_pipe(op, "op_type") } else { pipe_attr(op, "pipe") }
}

/// Pipe, buffer and mode, as far as they are constants.
fn named(op: &OpRef<'_>) -> Option<(Pipe, Option<i64>, Option<i64>)> {
    let number = |name: &str| match op.operand(name) {
        Some(value) => constant(op.module, value),
        None => Some(op.int(name).unwrap_or(0)),
    };
    Some((pipe_of(op)?, number("buf_id"), number("mode")))
}

/// Pipe, token and mode.
fn parts(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<(Pipe, SyncRef, i64), Reported> {
    let pipe = match pipe_of(op) {
        Some(Pipe::S) | None => return Err(d.unsupported("a buffer of anything but one pipe with a queue")),
        Some(pipe) => pipe,
    };
    has_pipe(d, pipe)?;
    let number = |d: &mut Decoder<'_>, name: &str| match op.operand(name) {
        Some(value) => d.scalar(value),
        None => Ok(Operand::imm(op.int(name).unwrap_or(0))),
    };
    let id = number(d, "buf_id")?;
    let Some(mode) = number(d, "mode")?.as_imm() else { return Err(d.unsupported("a computed mode")) };
    Ok((pipe, d.buffer(id), mode))
}

/// `"PIPE_V", 0, 0`, `"PIPE_V", %id, %mode : i64, i64`, `%id, "PIPE_V"`, `[TLOAD, 0]`, `[TLOAD, %id, 0]`.
struct BufferText;

impl CustomSyntax for BufferText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let id;
        let mut mode = None;
        if parser.eat(Tok::LBracket) {
            attr(parser, op, "op_type")?;
            parser.expect(Tok::Comma, "`,` and the buffer id")?;
            id = number(parser, op, "buf_id")?;
            if parser.eat(Tok::Comma) {
                mode = number(parser, op, "mode")?;
            }
            parser.expect(Tok::RBracket, "`]`")?;
        } else if parser.tok() == Tok::Percent {
            id = Some(parser.operand()?);
            parser.expect(Tok::Comma, "`,` and the pipe")?;
            attr(parser, op, "pipe")?;
        } else {
            attr(parser, op, "pipe")?;
            parser.expect(Tok::Comma, "`,` and the buffer id")?;
            id = number(parser, op, "buf_id")?;
            if parser.eat(Tok::Comma) {
                mode = number(parser, op, "mode")?;
            }
        }
        parser.attr_dict(op)?;
        parser.set_operands(op, &[id.as_slice(), mode.as_slice()]);
        let values: Vec<ValueId> = id.into_iter().chain(mode).collect();
        if !values.is_empty() && parser.eat(Tok::Colon) {
            parser.operand_types(&values)?;
        }
        Ok(())
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        let attrs = &module.op(op).attrs;
        if attrs.get("op_type").is_some() {
            printer.write("[");
            member(printer, attrs.get("op_type"));
            numbers(printer, op);
            printer.write("]");
        } else {
            printer.write(" ");
            member(printer, attrs.get("pipe"));
            numbers(printer, op);
        }
        printer.attr_dict(op, &["op_type", "pipe", "buf_id", "mode"]);
        if !module.op(op).operands.is_empty() {
            printer.write(" : ");
            printer.types_of(&module.op(op).operands);
        }
    }
}

/// Prints buffer and mode, as values or integers.
fn numbers(printer: &mut OpPrinter<'_>, op: OpId) {
    let module = printer.module;
    for name in ["buf_id", "mode"] {
        match (module.operands_named(op, name), module.op(op).attrs.get(name).and_then(Attr::as_int)) {
            ([value], _) => {
                printer.write(", ");
                printer.value(*value);
            }
            ([], Some(number)) => printer.write(&format!(", {number}")),
            _ => {}
        }
    }
}

/// Parses a declared attribute.
fn attr(parser: &mut OpParser<'_>, op: OpId, name: &'static str) -> Parsed<()> {
    let Some(spec) = ATTRS.iter().find(|spec| spec.name == name) else { return Ok(()) };
    let value = parser.attr_of_kind(spec)?;
    parser.module.op_mut(op).attrs.set(name, value);
    Ok(())
}

/// Parses a value, or an integer into the attribute of this name.
fn number(parser: &mut OpParser<'_>, op: OpId, name: &'static str) -> Parsed<Option<ValueId>> {
    if parser.tok() == Tok::Percent {
        return parser.operand().map(Some);
    }
    attr(parser, op, name).map(|()| None)
}

fn member(printer: &mut OpPrinter<'_>, attr: Option<&Attr>) {
    if let Some(attr) = attr {
        printer.member(attr);
    }
}
