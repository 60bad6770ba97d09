//! Parsing of operations, and recovery after an error.

use std::sync::Arc;

use smallvec::SmallVec;

use super::lexer::{Cursor, Tok, lex_at, unescape};
use super::parser::Parsed;
use slipring_tile::nearest;

use crate::declaration::OpParser;
use crate::text::kept::{Labels, Marks};
use crate::{Attr, BlockId, Declaration, Diagnostic, OpId, Span, Syntax, ValueId, WrittenAt};

/// Names before `=`: name, number of results it denotes, location.
type ResultNames<'a> = SmallVec<[(&'a str, usize, Span); 1]>;

/// Maximum number of names of an abandoned op that are treated as defined.
const MAX_NAMES: usize = 256;

/// Maximum number of locations substituted for aliases, in total.
const MAX_LOCS: usize = 1 << 20;

/// Longest text of an expanded location.
const MAX_LOC: usize = 4096;

impl<'a> OpParser<'a> {
    /// A whole file.
    pub(crate) fn file(&mut self) {
        let top = self.module.top;
        loop {
            match self.cur.tok {
                Tok::Eof => break,
                Tok::RBrace => {
                    self.error(crate::Kind::Syntax, self.span(), "this `}` closes nothing");
                    self.bump();
                    self.cur.braces = 0;
                }
                Tok::Hash | Tok::Bang if self.cur.ahead().tok == Tok::Equal => {
                    let (begin, braces) = (self.cur, self.cur.braces);
                    if self.alias().is_err() {
                        self.recover(begin.span, braces);
                    }
                }
                _ => self.operation(top),
            }
        }
        self.expand_locs();
        let module = &*self.module;
        let written = module.walk(module.top).into_iter().filter_map(|op| {
            let op = module.op(op);
            WrittenAt::of(op.loc.as_ref()?, op.span)
        });
        module.source.set_written(written.collect());
    }

    /// `#name = attribute`, `#name = loc(…)`, `!name = type`.
    fn alias(&mut self) -> Parsed<()> {
        let (text, span) = (self.text(), self.span());
        let name = &text[1..];
        if name.contains('.') {
            let d = Diagnostic::error(crate::Kind::Syntax, span, "the name of an alias has no dot");
            return Err(self.fail(d));
        }
        let is_type = self.cur.tok == Tok::Bang;
        self.bump();
        self.bump();
        // Uses of a name with an erroneous definition are not reported.
        self.bad_aliases.insert(text);
        let taken = if is_type {
            let ty = self.parse_type()?;
            let ty = self.type_of_name(ty, text, span)?;
            self.types.insert(name, ty).is_some()
        } else if self.at_loc() {
            let loc = self.loc()?;
            self.locs.insert(name, loc).is_some()
        } else {
            let attr = self.parse_attr()?;
            self.attrs.insert(name, attr).is_some()
        };
        self.bad_aliases.remove(text);
        if taken {
            self.error("redefinition", span, format!("`{text}` is defined twice"));
        }
        Ok(())
    }

    /// One operation with its results' names, appended to a block. Errors do not propagate further.
    pub(crate) fn operation(&mut self, block: BlockId) {
        let (begin, braces, scopes) = (self.span(), self.cur.braces, self.scopes.len());
        let marks = Marks { begin: Some(begin.start), ..Marks::default() };
        let outer = std::mem::replace(&mut self.marks, marks);
        let mut names = ResultNames::new();
        match self.named_operation(&mut names) {
            Ok(op) => {
                self.bind_results(op, &names);
                self.check(op);
                self.module.append(block, op);
            }
            Err(_) => {
                self.scopes.truncate(scopes);
                self.recover(begin, braces);
                for (name, count, span) in names {
                    self.define_unknown(name, count, span);
                }
                if self.span() == begin && self.cur.tok != Tok::Eof {
                    self.bump();
                }
            }
        }
        self.marks = outer;
    }

    fn named_operation(&mut self, names: &mut ResultNames<'a>) -> Parsed<OpId> {
        let begin = self.span();
        if self.cur.tok == Tok::Percent {
            self.list(|p| {
                let (name, start) = p.value_name()?;
                let mut count = 1;
                if p.eat(Tok::Colon) {
                    let at = p.span();
                    count = usize::try_from(p.integer()?).unwrap_or(0);
                    if !(1..=1024).contains(&count) {
                        return Err(p.error(crate::Kind::Syntax, at, "a name can have 1 to 1024 results"));
                    }
                }
                let span = p.span_from(start);
                names.push((name, count, span));
                Ok(())
            })?;
            self.expect(Tok::Equal, "`=`")?;
            self.marks.named_results = names.iter().map(|n| n.1).sum();
        }
        let op = match self.cur.tok {
            Tok::Str => self.generic(begin)?,
            Tok::Word => self.custom(begin)?,
            _ => return Err(self.expected("an operation")),
        };
        if self.at_loc() {
            let start = self.span();
            let loc = self.loc()?;
            if loc.contains('#') {
                let span = self.span_from(start);
                self.named_locs.push((op, span));
            }
            self.module.op_mut(op).loc = Some(loc.into());
        }
        let end = self.marks.header_end.unwrap_or(self.cur.prev_end);
        self.module.op_mut(op).span = Span::new(begin.start, end.max(begin.start));
        Ok(op)
    }

    /// An op in the form of its declaration.
    fn custom(&mut self, begin: Span) -> Parsed<OpId> {
        let (name, span) = (self.text(), self.span());
        let Some(declaration) = self.registry.get(name) else {
            let d = Diagnostic::error("unknown-op", span, format!("no operation is called `{name}`"));
            let help = match nearest(name, self.registry.names()) {
                Some(near) => format!("is `{near}` meant?"),
                None => "an operation that is not declared has the form `\"dialect.name\"(%a) : (T) -> T`".to_string(),
            };
            return Err(self.fail(d.help(help)));
        };
        self.bump();
        let schema = declaration.schema();
        let op = self.module.create(schema.name, Some(declaration), begin);
        match schema.syntax {
            Syntax::Generic => {
                let d = Diagnostic::error(crate::Kind::Syntax, span, format!("`{name}` has only the generic form"));
                return Err(self.fail(d.help(format!("write `\"{name}\"(…) : (…) -> (…)`"))));
            }
            Syntax::Format(_) => self.format(op, schema)?,
            Syntax::InsOuts { ins, .. } => self.ins_outs(op, schema, ins)?,
            Syntax::Custom(syntax) => syntax.parse(self, op)?,
        }
        // Regions omitted in the text exist and are empty.
        while self.module.op(op).regions.len() < schema.regions.len() {
            self.module.add_region(op);
        }
        Ok(op)
    }

    fn bind_results(&mut self, op: OpId, names: &ResultNames<'a>) {
        let results = self.module.op(op).results.clone();
        let named: usize = names.iter().map(|n| n.1).sum();
        if !names.is_empty() && named != results.len() {
            let first = names[0].2;
            let span = names.iter().fold(first, |all, n| all.to(n.2));
            let has = match results.len() {
                0 => "no result".to_string(),
                1 => "one result".to_string(),
                n => format!("{n} results"),
            };
            let message = format!("`{}` has {has}, but {named} are named", self.module.op(op).name);
            self.error("results", span, message);
            for (name, count, span) in names {
                self.define_unknown(name, *count, *span);
            }
            return;
        }
        let mut rest = results.as_slice();
        for (name, count, span) in names {
            let (group, after) = rest.split_at(*count);
            rest = after;
            let shared: Arc<str> = (*name).into();
            for value in group {
                let value = self.module.value_mut(*value);
                value.name = Some(shared.clone());
                value.span = *span;
            }
            self.define(name, group.into(), *span);
        }
    }

    // After an error.

    /// Skips to the next operation of the block, given the start of the erroneous op and the number of braces open
    /// there. Regions on the way are parsed, so that their errors are found too.
    pub(super) fn recover(&mut self, begin: Span, braces: i32) {
        let mut names = Vec::new();
        self.names_between(begin.start, &mut names);
        loop {
            let inside = self.cur.braces > braces;
            let fresh = self.span().start > begin.start && self.cur.at_line_start();
            match self.cur.tok {
                Tok::Eof => return,
                Tok::RBrace if !inside => return,
                Tok::Caret if fresh && !inside => return,
                Tok::LBrace if self.region_follows() => self.skip_region(&names),
                // The next alias; aliases are at top level.
                Tok::Hash | Tok::Bang if fresh && !inside && self.cur.ahead().tok == Tok::Equal => return,
                _ if fresh && self.op_begins() => {
                    // Inside braces: a closing one is missing.
                    self.cur.braces = braces;
                    return;
                }
                tok => {
                    if tok == Tok::Percent {
                        names.push((&self.text()[1..], self.span()));
                    }
                    self.bump();
                }
            }
            names.truncate(MAX_NAMES);
        }
    }

    /// The names of values from a position up to the next token.
    fn names_between(&self, from: u32, names: &mut Vec<(&'a str, Span)>) {
        let mut at = from;
        while names.len() < MAX_NAMES {
            let (tok, span) = lex_at(self.cur.source, at);
            if span.start >= self.span().start {
                return;
            }
            if tok == Tok::Percent {
                names.push((&self.cur.source[span.start as usize + 1..span.end as usize], span));
            }
            at = span.end;
        }
    }

    /// Skips a region of an abandoned op, reporting the errors inside of it. Names that the op mentions and nothing
    /// defines, such as the arguments of a function, are treated as defined.
    fn skip_region(&mut self, names: &[(&'a str, Span)]) {
        let braces = self.cur.braces;
        self.bump();
        if self.may_nest() {
            let op = self.module.create("", None, self.span());
            let region = self.module.add_region(op);
            let block = self.module.add_block(region);
            self.push_scope();
            self.labels.push(Labels::default());
            for (name, span) in names {
                if !self.is_defined(name) {
                    self.define_unknown(name, 1, *span);
                }
            }
            let _ = self.nested(|p| {
                p.block_ops(block);
                while p.cur.tok == Tok::Caret {
                    p.headed_block(block, 0);
                }
                Ok(())
            });
            self.labels.pop();
            self.pop_scope();
            self.eat(Tok::RBrace);
        } else {
            while self.cur.braces > braces && self.cur.tok != Tok::Eof {
                self.bump();
            }
        }
    }

    /// True if the next `{` begins a region, not a dictionary.
    fn region_follows(&self) -> bool {
        let first = self.cur.ahead();
        match first.tok {
            Tok::RBrace | Tok::Caret | Tok::Percent => true,
            _ => begins_op(first, self),
        }
    }

    /// True if the next tokens look like the beginning of an operation.
    pub(super) fn op_begins(&self) -> bool {
        begins_op(self.cur, self)
    }

    // The generic form.

    /// `"dialect.op"(%a) <{…}> ({…}) {…} : (T) -> T`.
    fn generic(&mut self, begin: Span) -> Parsed<OpId> {
        let (text, span) = (self.text(), self.span());
        self.bump();
        let Some(name) = unescape(text).filter(|n| !n.is_empty()) else {
            return Err(self.error(crate::Kind::Syntax, span, "expected the name of an operation"));
        };
        let declaration = self.registry.get(&name);
        let schema = declaration.map(Declaration::schema);
        let op = self.module.create(name, declaration, begin);
        self.expect(Tok::LParen, "`(` and the operands")?;
        let mut operands = Vec::new();
        self.list_until(Tok::RParen, "`)`", |p| {
            operands.push(p.operand()?);
            Ok(())
        })?;
        if self.cur.tok == Tok::LBracket {
            if schema.is_some_and(|schema| !schema.terminator) {
                let message = format!("`{}` does not branch to other blocks", self.module.op(op).name);
                return Err(self.error(crate::Kind::Syntax, self.span(), message));
            }
            self.bump();
            self.list_until(Tok::RBracket, "`]`", |p| p.successor(op))?;
        }
        if self.cur.tok == Tok::Less && self.cur.ahead().tok == Tok::LBrace {
            self.bump();
            self.attr_dict(op)?;
            self.expect(Tok::Greater, "`>` after the properties")?;
        }
        if self.cur.tok == Tok::LParen {
            self.bump();
            self.list_until(Tok::RParen, "`)`", |p| p.region_text(op, Vec::new(), false))?;
        }
        self.attr_dict(op)?;
        self.expect(Tok::Colon, "`:` and the types of operands and results")?;
        self.operand_types_in_parens(&operands)?;
        self.expect(Tok::Arrow, "`->`")?;
        for ty in self.result_type_list()? {
            self.add_result(op, ty);
        }
        match schema {
            Some(schema) => self.generic_operands(op, schema, &operands)?,
            None => self.module.op_mut(op).operands = operands.into(),
        }
        Ok(op)
    }

    fn operand_types_in_parens(&mut self, operands: &[ValueId]) -> Parsed<()> {
        let start = self.span();
        self.expect(Tok::LParen, "`(` and the types of the operands")?;
        let mut count = 0;
        self.list_until(Tok::RParen, "`)`", |p| {
            match operands.get(count) {
                Some(operand) => p.operand_type(*operand)?,
                None => drop(p.parse_type()?),
            }
            count += 1;
            Ok(())
        })?;
        if count == operands.len() {
            return Ok(());
        }
        let message = format!("{count} types for {} operands", operands.len());
        Err(self.error("operand-count", self.span_from(start), message))
    }

    // Locations.

    /// True if `loc(` comes next.
    pub fn at_loc(&self) -> bool {
        self.cur.tok == Tok::Word && self.text() == "loc" && self.cur.ahead().tok == Tok::LParen
    }

    /// `loc(…)`: what is between the parentheses.
    ///
    /// # Errors
    /// If the parentheses do not match.
    pub fn loc(&mut self) -> Parsed<String> {
        let start = self.span();
        self.bump();
        let text = self.balanced(start)?;
        Ok(text[1..text.len() - 1].trim().to_string())
    }

    /// Substitutes aliases in the locations that refer to them.
    fn expand_locs(&mut self) {
        let mut left = MAX_LOCS;
        for (op, span) in std::mem::take(&mut self.named_locs) {
            let Some(loc) = self.module.op(op).loc.clone() else { continue };
            match self.expand_loc(&loc, 0, &mut left) {
                Ok(text) => self.module.op_mut(op).loc = Some(text.into()),
                Err(why) => {
                    self.error("location", span, why);
                }
            }
        }
    }

    fn expand_loc(&self, loc: &str, depth: u32, left: &mut usize) -> Result<String, String> {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return Err(format!("the names of locations in this text stand for more than {MAX_LOCS} others"));
        }
        if depth > 16 {
            return Err("these locations are nested more than 16 levels deep".to_string());
        }
        let (mut out, mut at, mut copied) = (String::new(), 0, 0);
        loop {
            let (tok, span) = lex_at(loc, at);
            if tok == Tok::Eof {
                break;
            }
            let (from, to) = (span.start as usize, span.end as usize);
            if tok == Tok::Hash {
                let name = &loc[from + 1..to];
                let Some(text) = self.locs.get(name) else {
                    return Err(format!("no location is called `#{name}`"));
                };
                out.push_str(&loc[copied..from]);
                out.push_str(&self.expand_loc(text, depth + 1, left)?);
                copied = to;
                if out.len() > MAX_LOC {
                    return Err(format!("this location is longer than {MAX_LOC} characters"));
                }
            }
            at = span.end;
        }
        out.push_str(&loc[copied..]);
        Ok(out)
    }
}

/// True if the tokens at the cursor look like the beginning of an operation.
fn begins_op(cursor: Cursor<'_>, parser: &OpParser<'_>) -> bool {
    let next = cursor.ahead();
    match cursor.tok {
        Tok::Str => next.tok == Tok::LParen,
        Tok::Word => {
            let word = cursor.text();
            let known = parser.registry.get(word).is_some();
            match next.tok {
                Tok::Equal | Tok::Greater | Tok::Comma => false,
                Tok::RBrace => known,
                _ => known || word.contains('.'),
            }
        }
        Tok::Percent => {
            let mut c = next;
            for _ in 0..16 {
                if c.tok == Tok::Colon && c.ahead().tok == Tok::Int {
                    c = c.ahead().ahead();
                }
                match c.tok {
                    Tok::Equal => return matches!(c.ahead().tok, Tok::Word | Tok::Str),
                    Tok::Comma if c.ahead().tok == Tok::Percent => c = c.ahead().ahead(),
                    _ => return false,
                }
            }
            false
        }
        _ => false,
    }
}

/// The sizes of `operandSegmentSizes`: `array<i32: 1, 0, 2>`.
pub(crate) fn segment_sizes(attr: &Attr) -> Option<SmallVec<[u16; 4]>> {
    match attr {
        Attr::DenseArray(_, sizes) => sizes.iter().map(|n| u16::try_from(*n).ok()).collect(),
        _ => None,
    }
}
