//! The declarative format of an op: its definition, parsing by it, printing by it.

use std::rc::Rc;

use super::lexer::{Tok, lex_at};
use super::parser::{Parsed, is_unknown};
use super::types::begins_type;
use slipring_tile::nearest;

use crate::declaration::{OpParser, OpPrinter};
use crate::text::kept::{Element, Format};
use crate::{Arity, Attr, AttrKind, AttrSpec, OpId, OpSchema, Reported, Span, Syntax, Type, ValueId};

impl Format {
    /// Parses a format and checks it against the declaration.
    pub fn read(text: &str, schema: &OpSchema) -> Result<Format, String> {
        let mut rest = text.trim();
        let elements = elements(&mut rest, schema, false)?;
        let mut flat = Vec::new();
        flatten(&elements, &mut flat);
        let count = |wanted: &Element| flat.iter().filter(|e| **e == wanted).count();
        for (i, operand) in schema.operands.iter().enumerate() {
            let times = count(&Element::Operand(i));
            if times > 1 || (times == 0 && operand.arity == Arity::One) {
                return Err(format!("`${}` must appear once", operand.name));
            }
        }
        let dict = flat.contains(&&Element::AttrDict);
        let mut attrs = Vec::new();
        for (i, attr) in schema.attrs.iter().enumerate() {
            let times = count(&Element::Attr(i)) + count(&Element::Keyword(i));
            if times > 1 || (times == 0 && !dict) {
                return Err(format!("`${}` must appear once, or in `attr-dict`", attr.name));
            }
            if times == 1 {
                attrs.push(i);
            }
        }
        let regions: Vec<usize> =
            flat.iter().filter_map(|e| if let Element::Region(i) = e { Some(*i) } else { None }).collect();
        if regions != (0..schema.regions.len()).collect::<Vec<_>>() {
            return Err("every region must appear once, in the order of the declaration".to_string());
        }
        Ok(Format { elements, attrs })
    }
}

fn flatten<'f>(elements: &'f [Element], flat: &mut Vec<&'f Element>) {
    for element in elements {
        match element {
            Element::Group(inner) => flatten(inner, flat),
            other => flat.push(other),
        }
    }
}

fn elements(rest: &mut &str, schema: &OpSchema, in_group: bool) -> Result<Vec<Element>, String> {
    let mut list = Vec::new();
    loop {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('`') {
            let (literal, after) = after.split_once('`').ok_or("a backquote is not closed")?;
            *rest = after;
            list.push(match literal {
                "" => Element::Blank(false),
                " " => Element::Blank(true),
                _ => Element::Literal(literal.to_string(), tokens(literal)?),
            });
        } else if let Some(after) = rest.strip_prefix('$') {
            let name = word(after);
            *rest = &after[name.len()..];
            list.push(named(name, schema)?);
        } else if let Some(after) = rest.strip_prefix("type(") {
            let index = argument(rest, after)?;
            let operand = schema.operands.iter().position(|o| o.name == index).map(Element::OperandType);
            let result = schema.results.iter().position(|r| r.name == index).map(Element::ResultType);
            list.push(operand.or(result).ok_or(format!("`{index}` is neither an operand nor a result"))?);
        } else if let Some(after) = rest.strip_prefix("types(") {
            let index = argument(rest, after)?;
            let result = schema.results.iter().position(|r| r.name == index).map(Element::ResultTypes);
            list.push(result.ok_or(format!("`{index}` is not a result"))?);
        } else if let Some(after) = rest.strip_prefix("keyword(") {
            let name = argument(rest, after)?;
            match named(name, schema)? {
                Element::Attr(i) if matches!(schema.attrs[i].kind, AttrKind::Enum(_)) => list.push(Element::Keyword(i)),
                _ => return Err(format!("`{name}` is not an attribute with an enumeration")),
            }
        } else if let Some(after) = rest.strip_prefix("attr-dict") {
            *rest = after;
            list.push(Element::AttrDict);
        } else if let Some(after) = rest.strip_prefix('(') {
            *rest = after;
            let inner = elements(rest, schema, true)?;
            *rest = rest.strip_prefix(")?").ok_or("a group ends with `)?`")?;
            list.push(Element::Group(inner));
        } else if rest.is_empty() || (in_group && rest.starts_with(')')) {
            return Ok(list);
        } else {
            return Err(format!("`{rest}` begins no element"));
        }
    }
}

/// `$name)` after `type(`: the name; `rest` advances past it.
fn argument<'t>(rest: &mut &'t str, after: &'t str) -> Result<&'t str, String> {
    let (inside, behind) = after.split_once(')').ok_or("a `(` is not closed")?;
    *rest = behind;
    inside.trim().strip_prefix('$').ok_or(format!("`{inside}` does not begin with `$`"))
}

fn named(name: &str, schema: &OpSchema) -> Result<Element, String> {
    let operand = schema.operands.iter().position(|o| o.name == name).map(Element::Operand);
    let attr = schema.attrs.iter().position(|a| a.name == name).map(Element::Attr);
    let region = schema.regions.iter().position(|r| *r == name).map(Element::Region);
    operand.or(attr).or(region).ok_or(format!("`${name}` is not an operand, attribute or region"))
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn tokens(literal: &str) -> Result<Vec<String>, String> {
    let (mut list, mut at) = (Vec::new(), 0);
    loop {
        match lex_at(literal, at) {
            (Tok::Eof, _) => return Ok(list),
            (Tok::Bad, _) => return Err(format!("`{literal}` is not a text of tokens")),
            (_, span) => {
                list.push(literal[span.start as usize..span.end as usize].to_string());
                at = span.end;
            }
        }
    }
}

/// The parts of an op collected by a format so far.
struct Collected {
    operands: Vec<Vec<ValueId>>,
    results: Vec<(usize, Vec<Type>, Span)>,
    /// Number of the op's regions still to come.
    regions_left: usize,
}

impl<'a> OpParser<'a> {
    fn format_of(&mut self, schema: &'static OpSchema) -> Result<Rc<Format>, String> {
        let key: *const OpSchema = schema;
        if let Some(Some(format)) = self.formats.get(&key) {
            return Ok(format.clone());
        }
        let Syntax::Format(text) = schema.syntax else { return Err("no format".to_string()) };
        let format = Rc::new(Format::read(text, schema)?);
        self.formats.insert(key, Some(format.clone()));
        Ok(format)
    }

    /// Parses everything after the name of an op with a declarative format.
    pub(crate) fn format(&mut self, op: OpId, schema: &'static OpSchema) -> Parsed<()> {
        let format = match self.format_of(schema) {
            Ok(format) => format,
            Err(why) => {
                let span = self.module.op(op).span;
                return Err(self.error(
                    "declaration",
                    span,
                    format!("the format of `{}` is wrong: {why}", schema.name),
                ));
            }
        };
        let mut got = Collected {
            operands: vec![Vec::new(); schema.operands.len()],
            results: Vec::new(),
            regions_left: schema.regions.len(),
        };
        self.format_elements(op, schema, &format.elements, &mut got)?;
        let groups: Vec<&[ValueId]> = got.operands.iter().map(Vec::as_slice).collect();
        self.set_operands(op, &groups);
        self.results(op, &got.results)
    }

    fn format_elements(
        &mut self,
        op: OpId,
        schema: &'static OpSchema,
        elements: &[Element],
        got: &mut Collected,
    ) -> Parsed<()> {
        for (at, element) in elements.iter().enumerate() {
            match element {
                Element::Literal(_, tokens) => {
                    for token in tokens {
                        if !self.at(token) {
                            return Err(self.format_expected(schema, &elements[..at], token, &elements[at + 1..], got));
                        }
                        self.bump();
                    }
                }
                Element::Blank(_) => {}
                Element::Operand(index) => self.format_operand(schema, *index, got)?,
                Element::Attr(index) | Element::Keyword(index) => {
                    let spec = &schema.attrs[*index];
                    if spec.required || matches!(spec.kind, AttrKind::Unit) || self.attr_begins(spec) {
                        let start = self.span();
                        let attr = self.attr_of_kind(spec)?;
                        let span = self.span_from(start);
                        self.marks.attrs.push((spec.name.into(), span));
                        self.module.op_mut(op).attrs.set(spec.name, attr);
                    }
                }
                Element::Region(index) => {
                    while self.module.op(op).regions.len() < *index {
                        self.module.add_region(op);
                    }
                    got.regions_left -= 1;
                    self.region(op, Vec::new())?;
                }
                Element::OperandType(index) => self.operand_types(&got.operands[*index])?,
                Element::ResultType(index) => self.format_result_type(schema, *index, got)?,
                Element::ResultTypes(index) => {
                    let start = self.span();
                    let types = self.result_type_list()?;
                    got.results.push((*index, types, self.span_from(start)));
                }
                Element::AttrDict => {
                    if self.cur.tok == Tok::LBrace && (got.regions_left == 0 || self.at_attr_dict()) {
                        self.attr_dict(op)?;
                    }
                }
                Element::Group(inner) => {
                    if inner.iter().find(|e| !matches!(e, Element::Blank(_))).is_some_and(|e| self.begins(schema, e)) {
                        self.format_elements(op, schema, inner, got)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports missing text of the format, between the text already read and what would follow.
    fn format_expected(
        &mut self,
        schema: &OpSchema,
        before: &[Element],
        token: &str,
        after: &[Element],
        got: &Collected,
    ) -> Reported {
        let in_list = |e: &Element| matches!(e, Element::Operand(i) if schema.operands[*i].arity == Arity::Variadic);
        let list = self.cur.tok == Tok::Percent && before.last().is_some_and(in_list);
        let mut d = self.expectation(&if list { format!("`,` or `{token}`") } else { format!("`{token}`") });
        if self.cur.tok == Tok::Word && nearest(self.text(), [token]).is_some() {
            d = d.help(format!("write `{token}`"));
        }
        if let (":", Some(Element::OperandType(index))) = (token, after.first()) {
            let types: Vec<_> = got.operands[*index].iter().map(|v| self.module.ty(*v)).collect();
            if !types.is_empty() && !types.iter().any(|ty| is_unknown(ty)) {
                let types: Vec<_> = types.iter().map(|ty| ty.to_string()).collect();
                d = d.help(format!("write `: {}`", types.join(", ")));
            }
        }
        self.fail(d)
    }

    fn format_operand(&mut self, schema: &OpSchema, index: usize, got: &mut Collected) -> Parsed<()> {
        let spec = &schema.operands[index];
        let values = &mut got.operands[index];
        match spec.arity {
            Arity::One => {
                if self.cur.tok != Tok::Percent {
                    return Err(self.expected(&format!("`{}`: {}, such as `%name`", spec.name, spec.ty.describe)));
                }
                values.push(self.operand()?);
            }
            Arity::Optional | Arity::Instead if self.operand_begins() => values.push(self.operand()?),
            Arity::Variadic if self.operand_begins() => {
                loop {
                    values.push(self.operand()?);
                    if self.cur.tok != Tok::Comma || self.cur.ahead().tok != Tok::Percent {
                        break;
                    }
                    self.bump();
                }
                if values.len() > u16::MAX as usize {
                    let span = self.span();
                    return Err(self.error("operand-count", span, "an op has at most 65535 operands"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn format_result_type(&mut self, schema: &OpSchema, index: usize, got: &mut Collected) -> Parsed<()> {
        let like = got.operands.iter().flatten().next().map(|v| self.module.ty(*v).clone());
        let start = self.span();
        let mut types = Vec::new();
        match schema.results[index].arity {
            Arity::One => types.push(self.parse_type_like(like.as_ref())?),
            arity => {
                if self.type_begins() {
                    types.push(self.parse_type_like(like.as_ref())?);
                    while arity == Arity::Variadic && self.eat(Tok::Comma) {
                        types.push(self.parse_type_like(like.as_ref())?);
                    }
                }
            }
        }
        let span = self.span_from(start);
        got.results.push((index, types, span));
        Ok(())
    }

    /// True if an operand comes next, not the next operation: `return` may have no operands.
    fn operand_begins(&self) -> bool {
        self.cur.tok == Tok::Percent && !self.op_begins()
    }

    fn type_begins(&self) -> bool {
        match self.cur.tok {
            Tok::Word => begins_type(self.text()),
            tok => matches!(tok, Tok::Bang | Tok::LParen | Tok::Less),
        }
    }

    /// True if the next token can begin an optional element.
    fn begins(&self, schema: &OpSchema, element: &Element) -> bool {
        match element {
            Element::Literal(_, tokens) => {
                let mut cursor = self.cur;
                tokens.iter().all(|token| {
                    let there = cursor.text() == token;
                    cursor.bump();
                    there
                })
            }
            Element::Operand(_) => self.operand_begins(),
            Element::Attr(index) | Element::Keyword(index) => self.attr_begins(&schema.attrs[*index]),
            Element::Region(_) => self.cur.tok == Tok::LBrace,
            Element::OperandType(_) | Element::ResultType(_) => self.type_begins(),
            Element::ResultTypes(_) => self.cur.tok == Tok::LParen || self.type_begins(),
            Element::AttrDict => self.at_attr_dict(),
            Element::Group(inner) => inner.first().is_some_and(|e| self.begins(schema, e)),
            Element::Blank(_) => false,
        }
    }

    fn attr_begins(&self, spec: &AttrSpec) -> bool {
        let tok = self.cur.tok;
        match spec.kind {
            AttrKind::Int => matches!(tok, Tok::Int | Tok::Hex | Tok::Minus),
            AttrKind::Bool => matches!(self.text(), "true" | "false"),
            AttrKind::Str => tok == Tok::Str,
            AttrKind::Symbol => tok == Tok::At,
            AttrKind::Unit => false,
            AttrKind::Type => self.type_begins(),
            AttrKind::Enum(e) => match tok {
                Tok::Word => e.members.contains(&self.text()),
                tok => matches!(tok, Tok::Less | Tok::Hash | Tok::Str),
            },
            AttrKind::Flags(_) => tok == Tok::Less,
            AttrKind::Numbers => tok == Tok::LBracket,
            AttrKind::Any => {
                let simple = [Tok::Int, Tok::Hex, Tok::Float, Tok::Minus, Tok::Str, Tok::At, Tok::LBracket, Tok::Hash];
                simple.contains(&tok) || matches!(self.text(), "true" | "false" | "unit" | "dense" | "array")
            }
        }
    }
}

/// Spacing between the elements of a format: as in MLIR, none before closing punctuation and commas, none around
/// opening brackets.
struct Spacing {
    blank: bool,
    after_punctuation: bool,
}

impl Spacing {
    fn before_literal(&mut self, printer: &mut OpPrinter<'_>, text: &str) {
        let first = text.chars().next().unwrap_or(' ');
        let glued = if text.len() != 1 {
            false
        } else if self.after_punctuation {
            ">)}],".contains(first)
        } else {
            "<>(){}[],".contains(first)
        };
        if self.blank && !glued {
            printer.write(" ");
        }
        self.blank = !(text.len() == 1 && "<({[".contains(first));
        self.after_punctuation = first != '_' && !first.is_ascii_alphabetic();
    }

    fn before_element(&mut self, printer: &mut OpPrinter<'_>) {
        if self.blank || !self.after_punctuation {
            printer.write(" ");
        }
        *self = Spacing { blank: true, after_punctuation: false };
    }
}

impl OpPrinter<'_> {
    /// Writes everything after the name of an op with a declarative format; false if the format is wrong.
    pub(crate) fn format(&mut self, op: OpId, schema: &'static OpSchema, text: &str) -> bool {
        let key: *const OpSchema = schema;
        let format = match self.formats.get(&key) {
            Some(format) => format.clone(),
            None => {
                let format = Format::read(text, schema).ok().map(Rc::new);
                self.formats.insert(key, format.clone());
                format
            }
        };
        let Some(format) = format else { return false };
        let written: Vec<&str> = format.attrs.iter().map(|i| schema.attrs[*i].name).collect();
        let mut spacing = Spacing { blank: true, after_punctuation: false };
        self.format_elements(op, schema, &format.elements, &written, &mut spacing);
        true
    }

    fn format_elements(
        &mut self,
        op: OpId,
        schema: &'static OpSchema,
        elements: &[Element],
        written: &[&str],
        spacing: &mut Spacing,
    ) {
        let module = self.module;
        for element in elements {
            if !matches!(element, Element::Literal(..) | Element::Group(_)) && !self.present(op, schema, element) {
                continue;
            }
            match element {
                Element::Literal(text, _) => {
                    spacing.before_literal(self, text);
                    self.write(text);
                }
                Element::Blank(blank) => {
                    if *blank {
                        self.write(" ");
                    }
                    *spacing = Spacing { blank: false, after_punctuation: true };
                }
                Element::Operand(index) => {
                    spacing.before_element(self);
                    self.values(module.operand_group(op, *index));
                }
                Element::Attr(index) | Element::Keyword(index) => {
                    let spec = &schema.attrs[*index];
                    let Some(attr) = module.op(op).attrs.get(spec.name) else { continue };
                    if matches!(spec.kind, AttrKind::Unit) {
                        continue;
                    }
                    spacing.before_element(self);
                    self.attr_of_kind(spec, attr, matches!(element, Element::Keyword(_)));
                }
                Element::Region(index) => {
                    spacing.before_element(self);
                    self.region(op, *index, true);
                }
                Element::OperandType(index) => {
                    spacing.before_element(self);
                    self.types_of(module.operand_group(op, *index));
                }
                Element::ResultType(index) => {
                    spacing.before_element(self);
                    self.types_of(&self.result_group(op, schema, *index));
                }
                Element::ResultTypes(index) => {
                    spacing.before_element(self);
                    self.write("(");
                    self.types_of(&self.result_group(op, schema, *index));
                    self.write(")");
                }
                Element::AttrDict => {
                    if self.attr_dict(op, written) {
                        *spacing = Spacing { blank: true, after_punctuation: false };
                    }
                }
                Element::Group(inner) => {
                    let anchor = inner.iter().find(|e| {
                        matches!(
                            e,
                            Element::Operand(_)
                                | Element::Attr(_)
                                | Element::Keyword(_)
                                | Element::Region(_)
                                | Element::OperandType(_)
                                | Element::ResultType(_)
                                | Element::ResultTypes(_)
                                | Element::AttrDict
                        )
                    });
                    let there = |e: &Element| match e {
                        Element::AttrDict => module.op(op).attrs.iter().any(|(name, _)| !written.contains(&name)),
                        other => self.present(op, schema, other),
                    };
                    if anchor.is_some_and(there) {
                        self.format_elements(op, schema, inner, written, spacing);
                    }
                }
            }
        }
    }

    /// The results of a declared one; exact unless several declared ones are variadic.
    fn result_group(&self, op: OpId, schema: &OpSchema, index: usize) -> Vec<ValueId> {
        let results = &self.module.op(op).results;
        let after = schema.results.len() - index - 1;
        let end = results.len().saturating_sub(after).max(index);
        match schema.results[index].arity {
            Arity::One => results.get(index).copied().into_iter().collect(),
            _ => results.get(index..end).unwrap_or(&[]).to_vec(),
        }
    }

    fn present(&self, op: OpId, schema: &OpSchema, element: &Element) -> bool {
        let module = self.module;
        match element {
            Element::Operand(index) | Element::OperandType(index) => !module.operand_group(op, *index).is_empty(),
            Element::Attr(index) | Element::Keyword(index) => {
                module.op(op).attrs.get(schema.attrs[*index].name).is_some_and(|a| *a != Attr::Bool(false))
                    || (schema.attrs[*index].required)
                    || (!matches!(schema.attrs[*index].kind, AttrKind::Unit)
                        && module.op(op).attrs.get(schema.attrs[*index].name).is_some())
            }
            Element::Region(index) => module.body(op, *index).is_some(),
            Element::ResultType(index) | Element::ResultTypes(index) => {
                !self.result_group(op, schema, *index).is_empty()
            }
            Element::Literal(..) | Element::Blank(_) | Element::AttrDict | Element::Group(_) => true,
        }
    }
}
