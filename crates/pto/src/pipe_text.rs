//! The three forms of a push, pop or free of a pipe value.
//!
//! | form | push | pop | free |
//! |---|---|---|---|
//! | SSA (level 1) | `%e = pto.tpush %t, %p, %w : (T, P, E) -> E` | `%e = pto.tpop %p, %t, %w : (P, T, E) -> E` | `%e = pto.tfree %p : (P) -> E` |
//! | DPS (level 2) | `pto.tpush ins(%t : T) pipe(%p : P)` | `pto.tpop pipe(%p : P) outs(%t : T)` | `pto.tfree pipe(%p : P)` |
//! | assembler | `pto.tpush(%t, %p : T, P)` | `pto.tpop(%t, %p : T, P)` | `pto.tfree(%p : P)` |
//!
//! Attributes come last in the DPS and the assembler's form, before the `:` in the SSA form. An op that returns an
//! event is printed in the SSA form; one of a typed pipe in the DPS form; one of a `!pto.pipe` in the assembler's.

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{OpId, Type, ValueId};

/// The kind of op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    Push,
    Pop,
    Free,
}

/// The syntax of the op. Declared operands: tile (push), optional tile (pop), then the pipe, then events to wait for.
#[derive(Debug)]
pub(super) struct PipeText(pub Verb);

/// The operands of a form as they are parsed.
#[derive(Default)]
struct Operands {
    tile: Option<ValueId>,
    pipe: Option<ValueId>,
    events: Vec<ValueId>,
}

fn is_tile(ty: &Type) -> bool {
    matches!(ty, Type::Tile(_) | Type::ShortTile { .. } | Type::MemRef(_))
}

/// The textual names of the operands of ops that make an end of a pipe, in order; the first has two names, depending on
/// its type.
const VALUES: [&str; 3] = ["gm_slot_buffer", "c2v_consumer_buf", "v2c_consumer_buf"];
const SLOT_TENSOR: &str = "gm_slot_tensor";

/// `{…} (gm_slot_buffer = %p : T, c2v_consumer_buf = %a : i32)`: any of the values, in their order.
#[derive(Debug)]
pub(super) struct InitializeText;

impl CustomSyntax for InitializeText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        parser.attr_dict(op)?;
        parser.expect(Tok::LParen, "`(`")?;
        let mut values: [Option<ValueId>; 3] = [None; 3];
        let mut next = 0;
        while parser.tok() != Tok::RParen {
            if values.iter().any(Option::is_some) {
                parser.expect(Tok::Comma, "`,` or `)`")?;
            }
            let here = |at: &usize| parser.at(VALUES[*at]) || (*at == 0 && parser.at(SLOT_TENSOR));
            let Some(at) = (next..VALUES.len()).find(here) else {
                let left: Vec<String> = VALUES[next..].iter().map(|name| format!("`{name}`")).collect();
                let expected = if left.is_empty() { "`)`".to_string() } else { format!("{} or `)`", left.join(", ")) };
                return Err(parser.expected(&expected));
            };
            let tensor = parser.at(SLOT_TENSOR);
            parser.bump();
            parser.expect(Tok::Equal, "`=`")?;
            let value = parser.operand()?;
            parser.expect(Tok::Colon, "`:` and the type")?;
            let start = parser.span();
            parser.operand_type(value)?;
            if at == 0 && tensor != matches!(parser.module.ty(value), Type::TensorView(_)) {
                let message = format!("`{SLOT_TENSOR}` is a tensor view, `{}` a pointer", VALUES[0]);
                return Err(parser.error("operand-type", parser.span_from(start), message));
            }
            values[at] = Some(value);
            next = at + 1;
        }
        parser.bump();
        let groups: Vec<&[ValueId]> = values.iter().map(Option::as_slice).collect();
        parser.set_operands(op, &groups);
        Ok(())
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        printer.attr_dict(op, &[]);
        printer.write("(");
        let mut first = true;
        for name in VALUES {
            let values = module.operands_named(op, name);
            let Some(value) = values.first() else { continue };
            let is_view = matches!(module.ty(*value), Type::TensorView(_));
            let name = if is_view { SLOT_TENSOR } else { name };
            printer.write(&format!("{}{name} = ", if first { "" } else { ", " }));
            printer.values(values);
            printer.write(" : ");
            printer.types_of(values);
            first = false;
        }
        printer.write(")");
    }
}

impl PipeText {
    /// `%a, %b, … : (T, T, …) -> E`: the type of a value determines its role.
    fn values(parser: &mut OpParser<'_>, op: OpId) -> Parsed<Operands> {
        let mut list = Vec::new();
        parser.list(|p| {
            list.push(p.operand()?);
            Ok(())
        })?;
        parser.attr_dict(op)?;
        parser.expect(Tok::Colon, "`:` and the types")?;
        parser.expect(Tok::LParen, "`(` and the types of the operands")?;
        parser.operand_types(&list)?;
        parser.expect(Tok::RParen, "`)`")?;
        if parser.eat(Tok::Arrow) {
            for ty in parser.result_type_list()? {
                parser.add_result(op, ty);
            }
        }
        let mut read = Operands::default();
        for value in list {
            let ty = parser.module.ty(value);
            if is_event(ty) {
                read.events.push(value);
            } else if is_tile(ty) && read.tile.is_none() {
                read.tile = Some(value);
            } else {
                read.pipe = read.pipe.or(Some(value));
            }
        }
        Ok(read)
    }

    /// `ins(%t : T)`, `outs(%t : T)` and `pipe(%p : P)` in any order.
    fn groups(parser: &mut OpParser<'_>, op: OpId) -> Parsed<Operands> {
        let mut read = Operands::default();
        loop {
            let tile = parser.at("ins") || parser.at("outs");
            if !tile && !parser.at("pipe") {
                break;
            }
            parser.bump();
            parser.expect(Tok::LParen, "`(`")?;
            let value = parser.operand()?;
            parser.expect(Tok::Colon, "`:` and the type")?;
            parser.operand_type(value)?;
            parser.expect(Tok::RParen, "`)`")?;
            *(if tile { &mut read.tile } else { &mut read.pipe }) = Some(value);
        }
        parser.attr_dict(op)?;
        Ok(read)
    }

    /// `(%t, %p : T, P)`.
    fn parens(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<Operands> {
        parser.expect(Tok::LParen, "`(`")?;
        let mut list = vec![parser.operand()?];
        while parser.eat(Tok::Comma) {
            list.push(parser.operand()?);
        }
        parser.expect(Tok::Colon, "`:` and the types")?;
        parser.operand_types(&list)?;
        parser.expect(Tok::RParen, "`)`")?;
        parser.attr_dict(op)?;
        let pipe = list.pop();
        Ok(Operands { tile: list.pop(), pipe, events: Vec::new() })
    }
}

impl CustomSyntax for PipeText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let read = match parser.tok() {
            Tok::Percent => Self::values(parser, op)?,
            Tok::LParen => self.parens(parser, op)?,
            _ => Self::groups(parser, op)?,
        };
        let Some(pipe) = read.pipe else { return Err(parser.expected("`pipe(…)` with the pipe")) };
        let tile = read.tile.as_slice();
        match self.0 {
            Verb::Push if tile.is_empty() => return Err(parser.expected("`ins(…)` with the tile")),
            Verb::Free => parser.set_operands(op, &[&[pipe], &read.events]),
            _ => parser.set_operands(op, &[tile, &[pipe], &read.events]),
        }
        Ok(())
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        let data = module.op(op);
        let (pipe, events) = (module.operands_named(op, "pipe"), module.operands_named(op, "events"));
        let tile = if self.0 == Verb::Free { &[][..] } else { module.operands_named(op, "tile") };
        if !data.results.is_empty() || !events.is_empty() {
            let first = if self.0 == Verb::Pop { [pipe, tile] } else { [tile, pipe] };
            let all: Vec<ValueId> = first.into_iter().chain([events]).flatten().copied().collect();
            printer.write(" ");
            printer.values(&all);
            printer.attr_dict(op, &[]);
            printer.write(" : (");
            printer.types_of(&all);
            printer.write(") -> ");
            return printer.result_types_of(&data.results);
        }
        let typed = pipe.first().is_some_and(|p| matches!(module.ty(*p), Type::Pipe(_)));
        if !typed {
            let all: Vec<ValueId> = tile.iter().chain(pipe).copied().collect();
            printer.write("(");
            printer.values(&all);
            printer.write(" : ");
            printer.types_of(&all);
            printer.write(")");
            printer.attr_dict(op, &[]);
            return;
        }
        let group = |printer: &mut OpPrinter<'_>, name: &str, values: &[ValueId]| {
            if !values.is_empty() {
                printer.write(name);
                printer.values(values);
                printer.write(" : ");
                printer.types_of(values);
                printer.write(")");
            }
        };
        if self.0 == Verb::Push {
            group(printer, " ins(", tile);
        }
        group(printer, " pipe(", pipe);
        if self.0 == Verb::Pop {
            group(printer, " outs(", tile);
        }
        printer.attr_dict(op, &[]);
    }
}

/// True for `!pto.record_event`: the completion of some work.
pub fn is_event(ty: &Type) -> bool {
    matches!(ty, Type::Named(name) if &**name == "pto.record_event")
}
