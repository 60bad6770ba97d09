//! The reference, generated from the declarations: lists and pages of ops.

use std::fmt::Write;

use serde::Serialize;
use slipring_dialects::Dialects;
use slipring_ir::text::nearest;
use slipring_ir::{Arity, AttrKind, AttrSpec, OperandSpec, Syntax, Touch};
use slipring_lang::Entry;
use slipring_op::{CoreRule, On, OpDef, ShapeRule};

/// All ops, a line each, by name.
pub fn list() -> String {
    let mut all: Vec<&OpDef> = Dialects::get().all().to_vec();
    all.sort_by_key(|def| def.schema.name);
    all.iter().map(|def| format!("{:28} {}\n", def.schema.name, def.summary)).collect()
}

/// All ops with their summaries, by name.
pub fn ops() -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<_> = Dialects::get().all().iter().map(|def| (def.schema.name, def.summary)).collect();
    all.sort_unstable();
    all
}

/// Whether this is the name of a declared op.
pub fn is_op(name: &str) -> bool {
    Dialects::get().def(name).is_some()
}

/// An op as data.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct OpFacts {
    /// Name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Operands in the order of the text.
    pub operands: Vec<OperandFacts>,
    /// Names of the results.
    pub results: Vec<&'static str>,
    /// Attributes.
    pub attributes: Vec<AttributeFacts>,
    /// The pipe if it is always the same, `depends` if it varies; `None` for ops that occupy no pipe.
    pub pipe: Option<String>,
}

/// An operand as data.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct OperandFacts {
    /// Name.
    pub name: &'static str,
    /// `one`, `optional` or `variadic`.
    pub count: &'static str,
    /// The types that it accepts.
    pub types: &'static str,
}

/// An attribute as data.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct AttributeFacts {
    /// Name.
    pub name: &'static str,
    /// Whether it is required.
    pub required: bool,
    /// The values of an enumeration.
    pub members: &'static [&'static str],
}

/// All ops as data, by name.
pub fn facts() -> Vec<OpFacts> {
    let operand = |spec: &OperandSpec| OperandFacts {
        name: spec.name,
        count: match spec.arity {
            Arity::One => "one",
            Arity::Optional | Arity::Instead => "optional",
            Arity::Variadic => "variadic",
        },
        types: spec.ty.describe,
    };
    let attribute = |spec: &AttrSpec| AttributeFacts {
        name: spec.name,
        required: spec.required,
        members: match spec.kind {
            AttrKind::Enum(of) => of.members,
            AttrKind::Flags(of) => of.words,
            _ => &[],
        },
    };
    let op = |def: &&'static OpDef| OpFacts {
        name: def.schema.name,
        aliases: def.schema.aliases,
        operands: def.schema.operands.iter().map(operand).collect(),
        results: def.schema.results.iter().map(|spec| spec.name).collect(),
        attributes: def.schema.attrs.iter().map(attribute).collect(),
        pipe: match def.pipe {
            slipring_op::PipeRule::None => None,
            slipring_op::PipeRule::Fixed(pipe) => Some(pipe.to_string()),
            slipring_op::PipeRule::By(_) => Some("depends".to_string()),
        },
    };
    let mut all: Vec<OpFacts> = Dialects::get().all().iter().map(op).collect();
    all.sort_by_key(|facts| facts.name);
    all
}

/// All builtins of the kernel language, one per line.
pub fn language_list() -> String {
    let ops = slipring_lang::catalogue().map(|entry| format!("{:28} {}\n", title(entry), entry.doc));
    let others = slipring_lang::words().map(|word| format!("{:28} {}\n", format!("pl.{}", word.name), word.doc));
    ops.chain(others).collect()
}

/// The page of an op, by its name with or without `pto.`.
///
/// # Errors
///
/// If there is no such op: a sentence with the nearest name.
pub fn page(name: &str) -> Result<String, String> {
    let dialects = Dialects::get();
    if let Some(def) = dialects.def(name).or_else(|| dialects.def(&format!("pto.{name}"))) {
        return Ok(page_of(def));
    }
    let names = dialects.registry.names();
    let near = nearest(name, names.iter().copied()).or_else(|| nearest(&format!("pto.{name}"), names.iter().copied()));
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(format!("there is no op `{name}`{hint}"))
}

/// The page of a builtin that is not an op.
fn page_of_word(word: &slipring_lang::Word) -> String {
    let mut text = format!("pl.{}: {}\n", word.name, word.doc);
    for way in word.form.split('|').filter(|way| !way.is_empty()) {
        let _ = write!(text, "\nform      pl.{}{}", word.name, way.trim());
    }
    text
}

/// The page of a builtin of the kernel language, by its name with or without `pl.`.
///
/// # Errors
///
/// If there is no such builtin: a sentence with the nearest name.
pub fn language_page(name: &str) -> Result<String, String> {
    let bare = name.strip_prefix("pl.").unwrap_or(name);
    // A word may be an op that is refused where a value is expected.
    let word = slipring_lang::words().find(|word| word.name == bare);
    let entry = slipring_lang::find(bare).filter(|entry| !entry.refused || word.is_none());
    let Some(entry) = entry else {
        if let Some(word) = word {
            return Ok(page_of_word(word));
        }
        let words = slipring_lang::words().map(|word| word.name);
        let near = nearest(bare, slipring_lang::catalogue().flat_map(|entry| entry.names.iter().copied()).chain(words));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `pl.{near}`?"));
        return Err(format!("the kernel language has no op `pl.{bare}`{hint}"));
    };
    let mut text = format!("{}: {}\n\n", title(entry), entry.doc);
    for way in entry.params.split('|') {
        let _ = writeln!(text, "form      pl.{}({})", entry.names[0], way.trim());
    }
    if entry.refused {
        let _ = writeln!(text, "          known, but cannot be compiled yet");
    }
    for (op, when) in [(entry.op, ""), (entry.with_number, ", where its second operand is a number")] {
        if let Some(def) = op {
            let _ = writeln!(text, "becomes   {}{when}: {}", def.schema.name, def.summary);
        }
    }
    Ok(text)
}

fn title(entry: &Entry) -> String {
    entry.names.iter().map(|name| format!("pl.{name}")).collect::<Vec<_>>().join(", ")
}

/// Operands, listed by name.
fn listed(operands: &[&str]) -> String {
    operands.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The operands whose valid shapes must be equal, and in which dimensions.
fn equal_shapes(rule: &ShapeRule) -> String {
    let operands = listed(rule.operands);
    let what = match (rule.rows, rule.columns) {
        (rows, columns) if rows == columns => format!("equal rows and columns{}", rows.describe()),
        (rows, On::None) => format!("equal rows{}", rows.describe()),
        (On::None, columns) => format!("equal columns{}", columns.describe()),
        (rows, columns) => format!("equal rows{}, equal columns{}", rows.describe(), columns.describe()),
    };
    format!("{operands}: {what}")
}

/// The reference page of an op.
fn page_of(def: &OpDef) -> String {
    let schema = &def.schema;
    let mut text = format!("{}: {}\n\n", schema.name, def.summary);
    if !def.doc.is_empty() {
        let _ = writeln!(text, "{}\n", wrap(def.doc, 96));
    }
    let _ = writeln!(text, "form      {}", form(def));
    if !schema.aliases.is_empty() {
        let _ = writeln!(text, "also      {}", schema.aliases.join(", "));
    }
    let core = match def.core {
        CoreRule::Any => "any",
        CoreRule::Cube => "Cube",
        CoreRule::Vector => "Vector",
        CoreRule::ByTile => "the one that has the tiles",
    };
    let _ = writeln!(text, "core      {core}");
    let pipe = match def.pipe {
        slipring_op::PipeRule::None if def.workitems == slipring_op::Workitems::Inside => {
            "V, as a part of the launch whose body it is in".to_string()
        }
        slipring_op::PipeRule::None => "none: it runs on the scalar unit, or only names memory".to_string(),
        slipring_op::PipeRule::Fixed(pipe) => pipe.to_string(),
        slipring_op::PipeRule::By(_) => "depends on the memories of its operands, or on the platform".to_string(),
    };
    let _ = writeln!(text, "pipe      {pipe}");
    for case in def.inside {
        let on = if case.has { "A5" } else { "A2/A3" };
        let flags: Vec<String> = case.flags.iter().map(|(from, to)| format!("{from}→{to}")).collect();
        let _ = writeln!(
            text,
            "library   may use {} with id {} inside, on {on}",
            flags.join(", "),
            slipring_op::LIBRARY_EVENT
        );
    }
    if def.along != slipring_op::Along::UNKNOWN {
        let [rows, columns] = [0, 1].map(|axis| def.along[axis].describe(axis));
        let _ = writeln!(text, "rows      {rows}\ncolumns   {columns}");
    }
    let types = def.elems.iter().map(|rule| (rule, ""));
    for (rule, form) in types.chain(def.library_elems.iter().map(|rule| (rule, " in C++"))) {
        let list = |elems: &[slipring_tile::Elem]| match elems {
            [] => "none".to_string(),
            elems => elems.iter().map(|elem| elem.name()).collect::<Vec<_>>().join(", "),
        };
        let (memory, registers) = (list(rule.memory), list(rule.registers));
        let _ = writeln!(
            text,
            "types     `{}`{form} on A2/A3: {memory}\n          `{}`{form} on A5: {registers}",
            rule.operand, rule.operand
        );
    }
    for rule in def.tiles.layouts {
        let within = rule.within.map_or(String::new(), |space| format!(" in `{space}`"));
        let (lies, on) = (rule.lies.describe(), rule.on.describe());
        let _ = writeln!(text, "layout    {}{within} with {lies}{on}", listed(rule.operands));
    }
    for rule in def.tiles.shapes {
        let _ = writeln!(text, "valid     {}", equal_shapes(rule));
    }
    for rule in def.apart {
        let (sources, on) = (listed(rule.sources), rule.on.describe());
        let _ = writeln!(text, "apart     results share no bytes with {sources}{on}");
    }
    let _ = writeln!(text, "source    {}", def.source);
    section(
        &mut text,
        "operands",
        schema.operands.iter().map(|o| {
            let touch = match o.touch {
                Touch::Nothing => "",
                Touch::Read => ", read",
                Touch::Write => ", written",
                Touch::ReadWrite => ", read and written",
                Touch::Scratch => ", undefined afterwards",
            };
            (o.name, format!("{}{}{touch}: {}", o.ty.describe, arity(o.arity), o.doc))
        }),
    );
    section(
        &mut text,
        "attributes",
        schema.attrs.iter().map(|a| {
            let kind = match a.kind {
                AttrKind::Int => "integer".to_string(),
                AttrKind::Bool => "true or false".to_string(),
                AttrKind::Str => "string".to_string(),
                AttrKind::Symbol => "@name".to_string(),
                AttrKind::Unit => "present or not".to_string(),
                AttrKind::Type => "type".to_string(),
                AttrKind::Enum(e) => format!("{} ({})", e.kind, e.members.join(", ")),
                AttrKind::Flags(e) => e.words.join(", "),
                AttrKind::Numbers => "integers".to_string(),
                AttrKind::Any => "attribute".to_string(),
            };
            (a.name, format!("{kind}{}: {}", if a.required { "" } else { ", optional" }, a.doc))
        }),
    );
    section(
        &mut text,
        "results",
        schema.results.iter().map(|r| (r.name, format!("{}{}: {}", r.ty.describe, arity(r.arity), r.doc))),
    );
    section(&mut text, "regions", schema.regions.iter().map(|r| (*r, String::new())));
    text
}

fn arity(arity: Arity) -> &'static str {
    match arity {
        Arity::One => "",
        Arity::Optional => ", optional",
        Arity::Instead => ", optional, in place of the one before",
        Arity::Variadic => ", any number",
    }
}

fn section<'a>(text: &mut String, title: &str, lines: impl Iterator<Item = (&'a str, String)>) {
    for (at, (name, line)) in lines.enumerate() {
        if at == 0 {
            let _ = writeln!(text, "\n{title}");
        }
        let _ = writeln!(text, "  {name:16} {line}");
    }
}

/// The syntax of an op, as a sketch.
fn form(def: &OpDef) -> String {
    let schema = &def.schema;
    match schema.syntax {
        Syntax::Format(format) => {
            format!("{} {}", schema.name, format.split_whitespace().collect::<Vec<_>>().join(" "))
        }
        Syntax::InsOuts { ins, .. } => {
            let names: Vec<String> = schema
                .operands
                .iter()
                .map(|o| {
                    if matches!(o.arity, Arity::Optional | Arity::Instead) {
                        format!("[%{}]", o.name)
                    } else {
                        format!("%{}", o.name)
                    }
                })
                .collect();
            let (ins, outs) = names.split_at(ins.min(names.len()));
            let part = |word: &str, list: &[String]| {
                if list.is_empty() { String::new() } else { format!(" {word}({} : …)", list.join(", ")) }
            };
            format!("{}{}{}", schema.name, part("ins", ins), part("outs", outs))
        }
        Syntax::Generic => format!("\"{}\"(…) : (…) -> (…)", schema.name),
        Syntax::Custom(_) => format!("{} …", schema.name),
    }
}

fn wrap(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let full = lines.last().is_some_and(|l| !l.is_empty() && l.chars().count() + 1 + word.chars().count() > width);
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
