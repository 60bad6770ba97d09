//! `ins(%a, %b {attrs} : T, T) outs(%d : T) {attrs}`.

use smallvec::SmallVec;

use super::lexer::Tok;
use super::operands::assign;
use super::parser::Parsed;
use crate::declaration::{OpParser, OpPrinter};
use crate::{Attr, Infer, OpId, OpSchema, Type, ValueId};

impl<'a> OpParser<'a> {
    /// Parses everything after the name of an op in this form: the first `ins` declared operands are read by the op.
    pub(crate) fn ins_outs(&mut self, op: OpId, schema: &'static OpSchema, ins: usize) -> Parsed<()> {
        let ins = ins.min(schema.operands.len());
        let (read, write) = schema.operands.split_at(ins);
        let mut written = Vec::new();
        let start = self.span();
        let mut values = Vec::new();
        if self.at("ins") || (write.is_empty() && !read.is_empty()) {
            self.expect_text("ins")?;
            self.typed_operands(op, &mut values)?;
        }
        let span = self.span_from(start);
        let mut sizes = self.assign_operands(&values, read, || format!("`ins` of `{}`", schema.name), span)?;
        let in_count = values.len();
        let outs_start = self.span();
        if !write.is_empty() {
            self.expect_text("outs")?;
            self.typed_operands(op, &mut values)?;
            let span = self.span_from(outs_start);
            sizes.extend(self.assign_operands(
                &values[in_count..],
                write,
                || format!("`outs` of `{}`", schema.name),
                span,
            )?);
        } else if self.at("outs") && !schema.results.is_empty() {
            self.bump();
            self.expect(Tok::Colon, "`:` and the type of the result")?;
            self.result_types(schema, &mut written)?;
        }
        self.attr_dict(op)?;
        self.clauses(op, schema)?;
        if self.cur.tok == Tok::Arrow && !schema.results.is_empty() && written.is_empty() {
            self.bump();
            self.result_types(schema, &mut written)?;
        }
        let target = self.module.op_mut(op);
        target.segments = sizes;
        target.operands = SmallVec::from_vec(values);
        self.results(op, &written)
    }

    /// Attributes after the operands, named one by one in the text: `pad_mode = <PadNull> init_out_buffer = false`.
    fn clauses(&mut self, op: OpId, schema: &OpSchema) -> Parsed<()> {
        while self.cur.tok == Tok::Word && self.cur.ahead().tok == Tok::Equal {
            let Some(spec) = schema.attrs.iter().find(|spec| spec.name == self.text()) else { break };
            self.bump();
            self.expect(Tok::Equal, "`=`")?;
            let value = self.attr_of_kind(spec)?;
            self.module.op_mut(op).attrs.set(spec.name, value);
        }
        Ok(())
    }

    fn result_types(&mut self, schema: &OpSchema, written: &mut Vec<(usize, Vec<Type>, crate::Span)>) -> Parsed<()> {
        for index in 0..schema.results.len() {
            if index > 0 {
                self.expect(Tok::Comma, "`,` and the type of the next result")?;
            }
            let start = self.span();
            let ty = self.parse_type()?;
            let span = self.span_from(start);
            written.push((index, vec![ty], span));
        }
        Ok(())
    }

    /// `(%a, %b {attrs} : T, T)`, also `(%a : T, %b : T)`.
    fn typed_operands(&mut self, op: OpId, values: &mut Vec<ValueId>) -> Parsed<()> {
        self.expect(Tok::LParen, "`(`")?;
        let mut typed = values.len();
        loop {
            match self.cur.tok {
                Tok::Percent => values.push(self.operand()?),
                Tok::LBrace => self.attr_dict(op)?,
                Tok::RParen => {}
                _ => return Err(self.expected("an operand such as `%name`, or `)`")),
            }
            self.markers(op);
            if self.cur.tok == Tok::LBrace {
                self.attr_dict(op)?;
            }
            if self.eat(Tok::Colon) {
                // The types of the operands since the last types.
                while let Some(value) = values.get(typed).copied() {
                    self.operand_type(value)?;
                    typed += 1;
                    if typed < values.len() {
                        self.comma_before_type(values[typed])?;
                    }
                }
                self.named_behind(op, values)?;
                typed = values.len();
            }
            if self.eat(Tok::RParen) {
                break;
            }
            if !self.eat(Tok::Comma) {
                return Err(self.expected(if typed < values.len() { "`,`, `:` or `)`" } else { "`,` or `)`" }));
            }
        }
        if typed < values.len() {
            let at = crate::Span::new(self.cur.prev_end - 1, self.cur.prev_end);
            let d = crate::Diagnostic::error(crate::Kind::Syntax, at, "the types of the operands are missing");
            let types: Vec<_> = values[typed..].iter().map(|v| self.module.ty(*v).to_string()).collect();
            return Err(self.fail(d.help(format!("write `: {}` before the `)`", types.join(", ")))));
        }
        Ok(())
    }
}

/// Attributes that are words after the operands.
const MARKERS: [&str; 1] = ["no_tmp"];

impl OpParser<'_> {
    /// Words after the operands that are attributes of the op.
    fn markers(&mut self, op: OpId) {
        let Some(schema) = self.module.op(op).schema() else { return };
        while let Some(spec) = schema.attrs.iter().find(|spec| MARKERS.contains(&spec.name) && self.at(spec.name)) {
            self.bump();
            self.module.op_mut(op).attrs.set(spec.name, Attr::Unit);
        }
    }

    /// The comma between types, before that of a value.
    pub(super) fn comma_before_type(&mut self, value: ValueId) -> Parsed<()> {
        if self.eat(Tok::Comma) {
            return Ok(());
        }
        Err(self.expected(&format!("`,` and the type of `{}`", self.module.value_name(value))))
    }

    /// Elements that the public assembler writes after the types: operands by name, `fp %table : T`, and for a gather
    /// by a pattern its direction, `, "row"`.
    fn named_behind(&mut self, op: OpId, values: &mut Vec<ValueId>) -> Parsed<()> {
        let Some(schema) = self.module.op(op).schema() else { return Ok(()) };
        while self.cur.tok == Tok::Word && matches!(self.text(), "fp" | "pre_quant") {
            self.bump();
            let value = self.operand()?;
            self.expect(Tok::Colon, "`:` and the type")?;
            self.operand_type(value)?;
            values.push(value);
        }
        if self.cur.tok == Tok::Comma && self.cur.ahead().tok == Tok::Str {
            let Some(spec) = schema.attrs.iter().find(|spec| spec.name == "axis") else { return Ok(()) };
            self.bump();
            let value = self.attr_of_kind(spec)?;
            self.module.op_mut(op).attrs.set(spec.name, value);
        }
        Ok(())
    }
}

impl OpPrinter<'_> {
    /// Writes everything after the op's name.
    pub(crate) fn ins_outs(&mut self, op: OpId, schema: &OpSchema, ins: usize, attrs_in_ins: bool) {
        let comma = self.spelling.comma.iter().find(|(name, _)| *name == schema.name).map(|(_, attr)| *attr);
        let one_by_one = self.spelling.one_by_one.contains(&schema.name) && !attrs_in_ins;
        let module = self.module;
        let read: usize = module.op(op).segments.iter().take(ins).map(|n| *n as usize).sum();
        let (ins_values, outs_values) = module.op(op).operands.split_at(read);
        let inside = attrs_in_ins && !ins_values.is_empty();
        let none: &[&str] = if inside { &MARKERS } else { &[] };
        if one_by_one && !ins_values.is_empty() {
            self.write(" ins(");
            for (at, value) in ins_values.iter().enumerate() {
                self.write(if at > 0 { ", " } else { "" });
                self.value(*value);
                self.write(" : ");
                self.types_of(&[*value]);
            }
            self.write(")");
        } else if !ins_values.is_empty() {
            self.write(" ins(");
            self.values(ins_values);
            for marker in MARKERS.into_iter().filter(|marker| module.op(op).attrs.get(marker).is_some()) {
                self.write(" ");
                self.write(marker);
            }
            match comma {
                Some(attr) => drop(self.attr_dict_of(", ", op, |name| name == attr)),
                None if inside => drop(self.attr_dict_after(" ", op, none)),
                None => {}
            }
            self.write(" : ");
            self.types_of(ins_values);
            self.write(")");
        }
        if !outs_values.is_empty() {
            self.write(" outs(");
            self.values(outs_values);
            self.write(" : ");
            self.types_of(outs_values);
            self.write(")");
        }
        let says_types = schema.results.iter().any(|r| matches!(r.infer, Infer::Written));
        if says_types && outs_values.is_empty() {
            self.write(" outs : ");
            self.types_of(&module.op(op).results);
        }
        match comma {
            Some(attr) => drop(self.attr_dict(op, &[attr])),
            None if !inside => drop(self.attr_dict(op, none)),
            None => {}
        }
        if says_types && !outs_values.is_empty() {
            self.write(" -> ");
            self.types_of(&module.op(op).results);
        }
    }
}

/// True if the text of the op's operands in this form parses to the same operands.
pub(crate) fn reads_back(types: &[&Type], sizes: &[u16], schema: &OpSchema, ins: usize) -> bool {
    // Without operands there is no `ins(…)` to parse.
    if types.is_empty() && !schema.operands.is_empty() {
        return false;
    }
    let ins = ins.min(schema.operands.len());
    let read: usize = sizes.iter().take(ins).map(|n| *n as usize).sum();
    let (read_types, write_types) = types.split_at(read);
    let (read_specs, write_specs) = schema.operands.split_at(ins);
    let fits = |types: &[&Type], specs, sizes: &[u16]| assign(types, specs).is_some_and(|s| s.as_slice() == sizes);
    fits(read_types, read_specs, &sizes[..ins]) && fits(write_types, write_specs, &sizes[ins..])
}
