//! The MLIR-style text: parsed and printed.
//!
//! [`parse`] reads a file into a [`Module`]; [`print()`] writes one. The form of an op comes from its declaration, an
//! [`OpSchema`] of the [`Registry`]; undeclared ops keep the generic form `"dialect.op"(%a) ({ … }) {attr = 1} : (T) ->
//! T`, which every op may be written in.
//!
//! `parse ∘ print` is the identity on a module's contents (structure, names, types, attributes, locations); `print ∘
//! parse` gives the canonical spelling and is idempotent.
//!
//! # The format language
//!
//! [`Syntax::Format`] describes the text of an op after its name:
//!
//! | element | reads and prints |
//! |---|---|
//! | `` `text` `` | literal text: a keyword or punctuation, one token or several |
//! | `` `` `` / `` ` ` `` | nothing; when printing, no space / one space at this point |
//! | `$operand` | `%a`; an optional one may be missing; a variadic one is a comma-separated list, which may be empty |
//! | `$attr` | the bare value of an attribute: `7`, `"text"`, `@name`, `true`, a type, `<PIPE_V>` for a member of an enumeration, any attribute for [`AttrKind::Any`](crate::AttrKind::Any). One that is not required may be missing |
//! | `keyword($attr)` | the same, a member of an enumeration being printed as a bare word: `slt` |
//! | `$region` | `{ … }`, the arguments of its first block as `^bb0(%a: T):` |
//! | `type($name)` | the types of an operand or result, comma-separated. Types of operands are checked against the definitions |
//! | `types($result)` | the types of a result in parentheses, as which they are printed, or one without |
//! | `attr-dict` | `{a = 1, b}`: the attributes that the format does not write elsewhere; nothing if there are none |
//! | `( … )?` | a group that may be missing. It is read if what comes next begins its first element, and printed if its first `$operand`, `$attr`, `$region`, `type($result)` or `attr-dict` is there. A group without any of these is read and never printed |
//!
//! A unit attribute inside a group writes nothing itself: it is present if the group is. Enumerations are read in every
//! spelling (`<PIPE_V>`, `PIPE_V`, `"PIPE_V"`, `#pto.pipe<PIPE_V>`, `#pto<pipe PIPE_V>`). Integers of declared
//! attributes are written without a type. Spaces are printed as in MLIR: none before `,` and closing brackets, none
//! around opening ones.
//!
//! Results: a type in the text (`type($result)`) takes precedence; otherwise [`Infer`](crate::Infer) determines it.
//!
//! ```text
//! format                                                              text
//! `[` $src `,` $dst `,` $event `]` attr-dict                          pto.set_flag[<PIPE_M>, <PIPE_V>, <EVENT_ID0>]
//! $ptr `[` $at `]` attr-dict `:` type($ptr) `->` type($out)           %v = pto.vlds %p[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
//! `(` $tile `,` $pipe `:` type($tile) `,` type($pipe) `)` attr-dict   pto.tpush(%t, %p : !pto.tile_buf<…>, !pto.pipe) {split = 0}
//! (`valid_row` `=` $rows)? attr-dict `:` type($tile)                  %t = pto.alloc_tile valid_row = %r : !pto.tile_buf<…>
//! attr-dict $body                                                     pto.section.cube { … }
//! ```
//!
//! # Operands in `ins(…) outs(…)`
//!
//! [`Syntax::InsOuts`] assigns the values of the text to the declared operands in order; an optional operand whose
//! [`TypeRule`](crate::TypeRule) rejects the value is skipped. So one op may have a tile and a scalar in either order
//! (`[scalar], tile, [scalar]`). Values may also be typed one by one (`ins(%a : T, %b : T)`).

use std::sync::Arc;

use crate::text::kept::Format;
use crate::{Attr, Diagnostic, Diags, Module, OpId, OpSchema, Registry, Reported, Source, Span, Syntax, Type};

mod attrs;
mod blocks;
mod check;
mod format;
mod insouts;
pub(crate) mod kept;
mod last_types;
pub(crate) mod lexer;
mod literal;
mod logical_type;
mod names;
mod operands;
mod ops;
pub(crate) mod parser;
pub(crate) mod print;
mod readback;
mod spell;
mod spelling;
mod tile_type;
mod types;
mod weight;

pub use crate::declaration::{CustomSyntax, OpParser, OpPrinter, Spelling};
pub use blocks::BlockArg;
pub use lexer::Tok;
pub use literal::{bits_of as float_bits, value_of as float_value};
pub use parser::Parsed;
pub use slipring_tile::nearest;
pub use tile_type::{MOST_EXTENT, PAD_NAMES};
pub use types::same_type;

/// Parses a file. The module holds whatever could be parsed; it is usable only if the diagnostics contain no error.
pub fn parse(source: Arc<Source>, registry: &Registry) -> (Module, Diags) {
    let mut module = Module::new(source.clone());
    let diags = with_parser(&source, &mut module, registry, |parser| parser.file()).1;
    (module, diags)
}

/// Parses a standalone type.
///
/// # Errors
/// What is wrong with it; the locations refer to a source with this text.
pub fn parse_type(text: &str) -> Result<Type, Diags> {
    alone(text, |parser| parser.parse_type())
}

/// Parses a standalone attribute.
///
/// # Errors
/// What is wrong with it; the locations refer to a source with this text.
pub fn parse_attr(text: &str) -> Result<Attr, Diags> {
    alone(text, |parser| parser.parse_attr())
}

fn alone<T>(text: &str, read: impl FnOnce(&mut OpParser<'_>) -> Parsed<T>) -> Result<T, Diags> {
    let source = Arc::new(Source::new("", text));
    let mut module = Module::new(source.clone());
    let (read, diags) = with_parser(&source, &mut module, &Registry::default(), |parser| {
        let value = read(parser)?;
        parser.expect(Tok::Eof, "the end")?;
        Ok::<T, Reported>(value)
    });
    match read {
        Some(Ok(value)) if !diags.has_errors() => Ok(value),
        _ => Err(diags),
    }
}

fn with_parser<T>(
    source: &Source,
    module: &mut Module,
    registry: &Registry,
    read: impl FnOnce(&mut OpParser<'_>) -> T,
) -> (Option<T>, Diags) {
    let mut diags = Diags::default();
    if u32::try_from(source.text.len()).is_err() {
        diags.push(Diagnostic::error(crate::Kind::Syntax, Span::default(), "a text has at most 4 GiB"));
        return (None, diags);
    }
    let mut parser = OpParser::new(&source.text, module, registry);
    let value = read(&mut parser);
    diags = parser.diags;
    // In the order of the text: an error found late may be near its start.
    diags.list.sort_by_key(|d| d.primary.as_ref().map_or(0, |p| p.span.start));
    (Some(value), diags)
}

/// Writes a module.
pub fn print(module: &Module) -> String {
    print_in(module, &spelling::OWN)
}

/// Writes a module as another tool spells it.
pub fn print_in(module: &Module, spelling: &'static Spelling) -> String {
    let mut printer = OpPrinter::new(module, spelling);
    printer.top();
    printer.finish()
}

/// Writes one operation with its regions, with values named as in the text of the whole module.
pub fn print_op(module: &Module, op: OpId) -> String {
    let mut printer = OpPrinter::new(module, &spelling::OWN);
    printer.op(op);
    printer.finish()
}

/// Checks that a declaration can be parsed and printed: its format, if it has one.
///
/// # Errors
/// What is wrong with the format.
pub fn check_schema(schema: &OpSchema) -> Result<(), String> {
    match schema.syntax {
        Syntax::Format(text) => Format::read(text, schema).map(drop),
        Syntax::InsOuts { ins, .. } if ins > schema.operands.len() => {
            Err(format!("{ins} operands inside `ins`, but only {} are declared", schema.operands.len()))
        }
        _ => Ok(()),
    }
}
