//! The parser's core: tokens, errors, names in scope, operands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipring_finding::Kind;
use slipring_tile::nearest;
use smallvec::SmallVec;

use super::lexer::{Cursor, Tok, unescape};
use crate::declaration::OpParser;
use crate::text::kept::{Binding, Marks, Scope};
use crate::{Diagnostic, Diags, Module, OpId, Registry, Reported, Span, Type, ValueDef, ValueId};

/// The result of a parsing step.
pub type Parsed<T> = Result<T, Reported>;

/// Maximum nesting depth of regions, types and attributes.
const MAX_DEPTH: u32 = 96;
/// Errors beyond this number are not reported.
const MAX_ERRORS: usize = 1000;

/// Maximum number of names compared with a misspelt one.
pub(crate) const MAX_CANDIDATES: usize = 2000;

/// The name of a placeholder's type.
const UNKNOWN: &str = "<unknown>";

/// The type of a value with an erroneous definition: it suppresses follow-up errors.
pub(crate) fn unknown_type() -> Type {
    Type::named(UNKNOWN)
}

/// True for the type of a value with an erroneous definition.
pub(crate) fn is_unknown(ty: &Type) -> bool {
    matches!(ty, Type::Named(name) if &**name == UNKNOWN)
}

impl<'a> OpParser<'a> {
    pub(crate) fn new(text: &'a str, module: &'a mut Module, registry: &'a Registry) -> OpParser<'a> {
        OpParser {
            module,
            registry,
            cur: Cursor::new(text),
            diags: Diags::default(),
            scopes: vec![Scope::default()],
            labels: Vec::new(),
            marks: Marks::default(),
            types: BTreeMap::new(),
            bad_aliases: BTreeSet::new(),
            attrs: BTreeMap::new(),
            named_parts: 0,
            locs: BTreeMap::new(),
            named_locs: Vec::new(),
            formats: BTreeMap::new(),
            last_types: Vec::new(),
            depth: 0,
            errors: 0,
            last_error: None,
        }
    }

    // Tokens.

    /// The kind of the next token.
    pub fn tok(&self) -> Tok {
        self.cur.tok
    }

    /// The text of the next token.
    pub fn text(&self) -> &'a str {
        self.cur.text()
    }

    /// The location of the next token.
    pub fn span(&self) -> Span {
        self.cur.span
    }

    /// Advances past the next token.
    pub fn bump(&mut self) {
        self.cur.bump();
    }

    /// From byte `start` to the end of the last token read.
    pub fn span_from(&self, start: Span) -> Span {
        Span::new(start.start, self.cur.prev_end.max(start.start))
    }

    /// Advances past the next token if it is of this kind.
    pub fn eat(&mut self, tok: Tok) -> bool {
        let there = self.cur.tok == tok;
        if there {
            self.bump();
        }
        there
    }

    /// Consumes a token of this kind.
    ///
    /// # Errors
    /// If the next token is of another kind; `what` is what was expected.
    pub fn expect(&mut self, tok: Tok, what: &str) -> Parsed<()> {
        if self.eat(tok) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// True if the next token has exactly this text: a word or punctuation.
    pub fn at(&self, literal: &str) -> bool {
        self.cur.text() == literal
    }

    /// Advances past the next token if it has exactly this text.
    pub fn eat_text(&mut self, literal: &str) -> bool {
        let there = self.at(literal);
        if there {
            self.bump();
        }
        there
    }

    /// Consumes a token with exactly this text.
    ///
    /// # Errors
    /// If the next token is another.
    pub fn expect_text(&mut self, literal: &str) -> Parsed<()> {
        if self.eat_text(literal) {
            return Ok(());
        }
        let mut d = self.expectation(&format!("`{literal}`"));
        if self.cur.tok == Tok::Word && nearest(self.text(), [literal]).is_some() {
            d = d.help(format!("write `{literal}`"));
        }
        Err(self.fail(d))
    }

    /// Items separated by commas until one is not followed by a comma.
    ///
    /// # Errors
    /// Those of an item.
    pub fn list(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        loop {
            item(self)?;
            if !self.eat(Tok::Comma) {
                return Ok(());
            }
        }
    }

    /// Items separated by commas up to a closing token, which is consumed too. There may be none.
    ///
    /// # Errors
    /// Those of an item; a missing comma or closing token.
    pub fn list_until(&mut self, close: Tok, what: &str, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(close) {
                return Ok(());
            }
            if !self.eat(Tok::Comma) {
                return Err(self.expected(&format!("`,` or {what}")));
            }
        }
    }

    // Errors.

    /// Reports an error. A syntax error is dropped if one was just reported at the same position.
    pub fn fail(&mut self, diagnostic: Diagnostic) -> Reported {
        let place = diagnostic.primary.as_ref().map(|p| p.span);
        if diagnostic.kind == Kind::Syntax && place.is_some() && place == self.last_error {
            return Reported;
        }
        self.last_error = place;
        self.errors += 1;
        if self.errors == MAX_ERRORS {
            let span = place.unwrap_or_default();
            self.diags.push(Diagnostic::error(crate::Kind::Syntax, span, "too many errors; the rest is not shown"));
        } else if self.errors < MAX_ERRORS {
            self.diags.push(diagnostic);
        }
        Reported
    }

    /// Reports an error at a location.
    pub fn error(&mut self, kind: impl Into<Kind>, span: Span, message: impl Into<String>) -> Reported {
        self.fail(Diagnostic::error(kind, span, message))
    }

    /// Reports a warning.
    pub fn warn(&mut self, diagnostic: Diagnostic) {
        if self.diags.list.len() < 2 * MAX_ERRORS {
            self.diags.push(diagnostic);
        }
    }

    /// Reports that something other than the next token was expected. If that token is on another line, the location is
    /// the end of the line where it was expected.
    pub fn expected(&mut self, what: &str) -> Reported {
        let d = self.expectation(what);
        self.fail(d)
    }

    /// The error of [`OpParser::expected`], not reported yet.
    pub fn expectation(&self, what: &str) -> Diagnostic {
        let found = match self.cur.tok {
            Tok::Eof => "the end of the text".to_string(),
            Tok::Bad if self.text().starts_with('"') => "a string without its closing quote".to_string(),
            _ => format!("`{}`", shorten(self.text())),
        };
        let missing = self.cur.tok == Tok::Eof
            || (self.cur.at_line_start() && self.marks.begin.is_some_and(|begin| begin < self.span().start));
        let last = self.cur.source[..self.cur.prev_end as usize].chars().next_back();
        let span = match last.filter(|_| missing) {
            Some(last) => Span::new(self.cur.prev_end - last.len_utf8() as u32, self.cur.prev_end),
            None => self.span(),
        };
        let d = Diagnostic::error(crate::Kind::Syntax, span, format!("expected {what}, found {found}"));
        if missing { d.label("expected after this") } else { d }
    }

    /// The amount of output so far: errors, and displayed messages.
    pub(crate) fn said(&self) -> (usize, usize) {
        (self.errors, self.diags.list.len())
    }

    /// True once the maximum number of reported errors is reached.
    pub(crate) fn has_enough_errors(&self) -> bool {
        self.errors >= MAX_ERRORS
    }

    /// Runs a step one level deeper.
    ///
    /// # Errors
    /// If the text is nested too deeply, and those of the step.
    pub(crate) fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if !self.may_nest() {
            return Err(self.error("nesting", self.span(), format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    pub(crate) fn may_nest(&self) -> bool {
        self.depth < MAX_DEPTH
    }

    // Literals.

    /// A word such as an enumeration member or a keyword.
    ///
    /// # Errors
    /// If there is none.
    pub fn word(&mut self, what: &str) -> Parsed<&'a str> {
        let text = self.text();
        self.expect(Tok::Word, what)?;
        Ok(text)
    }

    /// A possibly negative number, decimal or hexadecimal.
    ///
    /// # Errors
    /// If there is none or it has more than 127 bits.
    pub fn integer(&mut self) -> Parsed<i128> {
        let start = self.span();
        let negative = self.eat(Tok::Minus);
        let text = self.text();
        let value = match self.cur.tok {
            Tok::Int => text.parse::<i128>().ok(),
            Tok::Hex => i128::from_str_radix(&text[2..], 16).ok(),
            _ => return Err(self.expected("an integer")),
        };
        self.bump();
        match value {
            Some(value) => Ok(if negative { -value } else { value }),
            None => Err(self.error("attribute", self.span_from(start), "this integer is too large")),
        }
    }

    /// A string with its escapes resolved.
    ///
    /// # Errors
    /// If there is none or an escape is wrong.
    pub fn string(&mut self) -> Parsed<Arc<str>> {
        let (text, span) = (self.text(), self.span());
        self.expect(Tok::Str, "a string")?;
        match unescape(text) {
            Some(string) => Ok(string.into()),
            None => {
                let wrong = Diagnostic::error(crate::Kind::Syntax, span, "this string has an unknown escape");
                Err(self.fail(wrong.help("write `\\n`, `\\t`, `\\\\`, `\\\"` or two hexadecimal digits after `\\`")))
            }
        }
    }

    /// `@name`, `@"any name"` or `@outer::@inner`, without the first `@`.
    ///
    /// # Errors
    /// If there is none.
    pub fn symbol(&mut self) -> Parsed<Arc<str>> {
        let mut name = self.symbol_part()?;
        while self.cur.tok == Tok::ColonColon {
            self.bump();
            name = format!("{name}::@{}", self.symbol_part()?);
        }
        Ok(name.into())
    }

    fn symbol_part(&mut self) -> Parsed<String> {
        let (text, span) = (self.text(), self.span());
        self.expect(Tok::At, "a symbol such as `@name`")?;
        if text.starts_with("@\"") {
            return unescape(text)
                .ok_or_else(|| self.error(crate::Kind::Syntax, span, "this name has an unknown escape"));
        }
        Ok(text[1..].to_string())
    }

    // Names in scope.

    /// Reads `%name` or `%name#1`: a previously defined value. An undefined value is reported and replaced by a
    /// placeholder.
    ///
    /// # Errors
    /// If there is no value name.
    pub fn operand(&mut self) -> Parsed<ValueId> {
        let (name, start) = self.value_name()?;
        let mut index = None;
        if self.cur.tok == Tok::Hash && self.cur.adjacent() {
            index = self.text()[1..].parse::<usize>().ok();
            if index.is_none() {
                return Err(self.expected("the number of a result, as in `%x#1`"));
            }
            self.bump();
        }
        let span = self.span_from(start);
        let value = self.resolve(name, index, span);
        self.marks.uses.push((value, span));
        Ok(value)
    }

    /// Reads `%name` without looking it up: the name of a block argument or result.
    ///
    /// # Errors
    /// If there is none.
    pub fn value_name(&mut self) -> Parsed<(&'a str, Span)> {
        let (text, span) = (self.text(), self.span());
        self.expect(Tok::Percent, "a value such as `%name`")?;
        Ok((&text[1..], span))
    }

    fn resolve(&mut self, name: &'a str, index: Option<usize>, span: Span) -> ValueId {
        let found = self.scopes.iter().rev().find_map(|s| s.get(name)).cloned();
        let Some(binding) = found else { return self.undefined(name, index, span) };
        match index {
            None if binding.values.len() == 1 => binding.values[0],
            None => {
                let first = binding.values[0];
                if !is_unknown(self.module.ty(first)) {
                    let n = binding.values.len();
                    let d = Diagnostic::error(Kind::UndefinedValue, span, format!("`%{name}` has {n} results"))
                        .also(binding.span, "defined here")
                        .help(format!("name one of them: `%{name}#0` to `%{name}#{}`", n - 1));
                    self.fail(d);
                }
                first
            }
            Some(i) => match binding.values.get(i) {
                Some(value) => *value,
                None => {
                    let first = binding.values[0];
                    if !is_unknown(self.module.ty(first)) {
                        let n = binding.values.len();
                        let d =
                            Diagnostic::error(Kind::UndefinedValue, span, format!("`%{name}` has only {n} results"))
                                .also(binding.span, "defined here");
                        self.fail(d);
                    }
                    self.placeholder(name, span)
                }
            },
        }
    }

    fn undefined(&mut self, name: &'a str, index: Option<usize>, span: Span) -> ValueId {
        let mut d = Diagnostic::error(Kind::UndefinedValue, span, format!("`%{name}` is not defined here"));
        let known = self.scopes.iter().rev().flat_map(|s| s.keys().rev().copied());
        // A text with hundreds of such errors has another problem.
        if self.errors < MAX_ERRORS / 10
            && let Some(near) = nearest(name, known.take(MAX_CANDIDATES))
        {
            d = d.help(format!("is `%{near}` meant?"));
        }
        self.fail(d);
        let value = self.placeholder(name, span);
        let values = SmallVec::from_elem(value, index.map_or(1, |i| i.min(15) + 1));
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Binding { values, span });
        }
        value
    }

    /// A value of unknown type that suppresses errors about it.
    fn placeholder(&mut self, name: &str, span: Span) -> ValueId {
        let op = self.module.create("", None, span);
        self.module.add_result(op, unknown_type(), Some(name.into()), span)
    }

    /// Gives a name to values in the innermost scope.
    pub(crate) fn define(&mut self, name: &'a str, values: SmallVec<[ValueId; 1]>, span: Span) {
        let earlier = self.scopes.iter().rev().find_map(|s| s.get(name)).cloned();
        if let Some(earlier) = earlier {
            let placeholder = matches!(self.module.value(earlier.values[0]).def,
                ValueDef::Result(op, _) if self.module.op(op).name.is_empty());
            if placeholder {
                // It was used before its definition: add that to the reported error.
                let reported = self.diags.list.iter_mut().rev().find(|d| {
                    d.kind == Kind::UndefinedValue && d.primary.as_ref().is_some_and(|p| p.span == earlier.span)
                });
                if let Some(reported) = reported {
                    let defined = crate::Labeled { span, text: "defined only here".to_string() };
                    reported.secondary.push(defined);
                    reported.help = None;
                }
            } else {
                let d = Diagnostic::error("redefinition", span, format!("`%{name}` is defined twice"))
                    .also(earlier.span, "first defined here")
                    .help("give it another name");
                self.fail(d);
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Binding { values, span });
        }
    }

    /// Defines placeholders for results of an abandoned op.
    pub(crate) fn define_unknown(&mut self, name: &'a str, count: usize, span: Span) {
        let values = (0..count.clamp(1, 64)).map(|_| self.placeholder(name, span)).collect();
        self.define(name, values, span);
    }

    pub(crate) fn push_scope(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// True if the name is visible.
    pub(crate) fn is_defined(&self, name: &str) -> bool {
        self.scopes.iter().any(|s| s.contains_key(name))
    }

    pub(crate) fn pop_scope(&mut self) {
        self.scopes.pop();
    }

    /// The location at which the op being parsed names this value.
    pub(crate) fn use_span(&self, value: ValueId) -> Option<Span> {
        self.marks.uses.iter().find(|(v, _)| *v == value).map(|(_, s)| *s)
    }

    /// Gives an op its operands, one group for each declared operand.
    pub fn set_operands(&mut self, op: OpId, groups: &[&[ValueId]]) {
        let op = self.module.op_mut(op);
        op.segments = groups.iter().map(|g| u16::try_from(g.len()).unwrap_or(u16::MAX)).collect();
        op.operands = groups.iter().flat_map(|g| g.iter().copied()).collect();
    }

    /// Adds a result; its name comes from the text before the op.
    pub fn add_result(&mut self, op: OpId, ty: Type) -> ValueId {
        let span = self.module.op(op).span;
        self.module.add_result(op, ty, None, span)
    }

    /// Number of results named in the text before the op's name; 0 if there are none.
    pub fn named_results(&self) -> usize {
        self.marks.named_results
    }
}

/// A text truncated for a message.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_string() } else { text.chars().take(37).chain("...".chars()).collect() }
}
