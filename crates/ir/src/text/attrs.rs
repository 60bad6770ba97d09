//! Parsing of attributes.

use super::lexer::Tok;
use super::literal::{bits_of, float_width};
use super::parser::Parsed;
use super::types::begins_type;
use slipring_tile::nearest;

use crate::declaration::OpParser;
use crate::{
    Attr, AttrDict, AttrKind, AttrSpec, Diagnostic, EnumSpec, FlagsSpec, Name, OpId, Reported, Sign, Span, Type,
};

/// Builtin attributes that are kept as written.
const KEPT: [&str; 8] = ["dense", "dense_resource", "sparse", "affine_map", "affine_set", "strided", "array", "loc"];

/// Maximum number of entries of one dictionary.
const MAX_ENTRIES: usize = 4096;

impl<'a> OpParser<'a> {
    /// An attribute.
    ///
    /// # Errors
    /// If there is none or it is wrong.
    pub fn parse_attr(&mut self) -> Parsed<Attr> {
        match self.cur.tok {
            Tok::Int | Tok::Hex | Tok::Float | Tok::Minus => self.number(),
            Tok::Str => {
                let string = self.string()?;
                if self.eat(Tok::Colon) {
                    self.parse_type()?;
                }
                Ok(Attr::Str(string))
            }
            Tok::At => Ok(Attr::Symbol(self.symbol()?)),
            Tok::LBracket => self.nested(|p| {
                p.bump();
                let mut items = Vec::new();
                p.list_until(Tok::RBracket, "`]`", |p| {
                    items.push(p.parse_attr()?);
                    Ok(())
                })?;
                Ok(Attr::Array(items))
            }),
            Tok::LBrace => self.nested(|p| Ok(Attr::Dict(p.dict(None)?))),
            Tok::Hash => self.dialect_attr(),
            Tok::Bang | Tok::LParen => Ok(Attr::Type(self.parse_type()?)),
            Tok::Word => self.word_attr(),
            _ => Err(self.expected("an attribute")),
        }
    }

    fn word_attr(&mut self) -> Parsed<Attr> {
        let (word, span) = (self.text(), self.span());
        let simple = match word {
            "true" => Some(Attr::Bool(true)),
            "false" => Some(Attr::Bool(false)),
            "unit" => Some(Attr::Unit),
            _ => None,
        };
        if let Some(attr) = simple {
            self.bump();
            return Ok(attr);
        }
        if word == "array" {
            return self.dense_array(span);
        }
        if KEPT.contains(&word) {
            return self.kept_attr(span);
        }
        if begins_type(word) {
            return Ok(Attr::Type(self.parse_type()?));
        }
        let d = self.expectation("an attribute");
        Err(self.fail(d.help(format!("a string is written `\"{word}\"`"))))
    }

    /// `dense<…> : tensor<…>` and others, as written.
    fn kept_attr(&mut self, start: Span) -> Parsed<Attr> {
        let head = self.text();
        self.bump();
        if !matches!(self.cur.tok, Tok::Less | Tok::LParen) {
            return Err(self.expected(&format!("`<` after `{head}`")));
        }
        let mut text = format!("{head}{}", self.nested(|p| p.balanced(start))?);
        if head.starts_with("dense") || head == "sparse" {
            self.expect(Tok::Colon, "`:` and a type")?;
            text = format!("{text} : {}", self.parse_type()?);
        }
        Ok(Attr::Opaque(text.into()))
    }

    /// `array<i32: 1, 2>`; arrays of floats are kept as written.
    fn dense_array(&mut self, start: Span) -> Parsed<Attr> {
        let before = self.cur;
        self.bump();
        self.expect(Tok::Less, "`<` after `array`")?;
        let elem = self.parse_type()?;
        if !elem.is_int_like() {
            self.cur = before;
            return self.kept_attr(start);
        }
        let mut values = Vec::new();
        if self.eat(Tok::Greater) {
            return Ok(Attr::DenseArray(elem, values));
        }
        self.expect(Tok::Colon, "`:` and the elements")?;
        self.list_until(Tok::Greater, "`>`", |p| {
            let at = p.span();
            let value = match p.text() {
                "true" | "false" => {
                    let value = i128::from(p.at("true"));
                    p.bump();
                    value
                }
                _ => p.integer()?,
            };
            p.check_range(value, &elem, at)?;
            values.push(value);
            Ok(())
        })?;
        Ok(Attr::DenseArray(elem, values))
    }

    /// A number with the type that follows it.
    fn number(&mut self) -> Parsed<Attr> {
        let start = self.span();
        let mut look = self.cur;
        if look.tok == Tok::Minus {
            look.bump();
        }
        match look.tok {
            Tok::Float => self.float(start),
            Tok::Int | Tok::Hex => {
                let hex = look.tok == Tok::Hex;
                let digits = look.text();
                let value = self.integer()?;
                let span = self.span_from(start);
                let ty = if self.eat(Tok::Colon) { self.parse_type()? } else { Type::I64 };
                if let Some(bits) = float_width(&ty) {
                    if hex && value >= 0 && (bits == 64 || value < 1 << bits) && value <= u64::MAX.into() {
                        return Ok(Attr::Float(value as u64, ty));
                    }
                    let d = Diagnostic::error("attribute", span, format!("an integer is not a `{ty}`"));
                    let help = if hex { format!("a `{ty}` has {bits} bits") } else { format!("write `{digits}.0`") };
                    return Err(self.fail(d.help(help)));
                }
                self.check_range(value, &ty, span)?;
                Ok(Attr::Int(value, ty))
            }
            _ => Err(self.expected("a number")),
        }
    }

    /// A decimal float with the type that follows it.
    fn float(&mut self, start: Span) -> Parsed<Attr> {
        let negative = self.eat(Tok::Minus);
        let digits = self.text();
        self.expect(Tok::Float, "a float")?;
        let span = self.span_from(start);
        let ty = if self.eat(Tok::Colon) { self.parse_type()? } else { Type::F64 };
        let magnitude: f64 = digits.parse().unwrap_or(f64::NAN);
        let value = if negative { -magnitude } else { magnitude };
        match bits_of(value, &ty) {
            Some(bits) => Ok(Attr::Float(bits, ty)),
            None if float_width(&ty).is_none() => {
                Err(self.error("attribute", span, format!("a float is not a `{ty}`")))
            }
            None => Err(self.error("attribute", span, format!("this is beyond the range of `{ty}`"))),
        }
    }

    /// Reports an integer that its type cannot hold.
    fn check_range(&mut self, value: i128, ty: &Type, span: Span) -> Parsed<()> {
        let fits = match *ty {
            Type::Index => i64::try_from(value).is_ok(),
            Type::Int { width, sign } => {
                let low = if sign == Sign::Unsigned { 0 } else { -(1i128 << (width - 1)) };
                let high = if sign == Sign::Signed { (1i128 << (width - 1)) - 1 } else { (1i128 << width) - 1 };
                (low..=high).contains(&value)
            }
            _ => return Err(self.error("attribute", span, format!("an integer is not a `{ty}`"))),
        };
        if fits { Ok(()) } else { Err(self.error("attribute", span, format!("this does not fit in `{ty}`"))) }
    }

    /// `#alias`, `#pto.pipe<PIPE_V>`, `#pto<pipe PIPE_V>`, and attributes that are kept as written.
    fn dialect_attr(&mut self) -> Parsed<Attr> {
        let (text, start) = (self.text(), self.span());
        if self.attrs.contains_key(&text[1..]) {
            self.bump();
            return self.attr_of_name(text, start);
        }
        if self.bad_aliases.contains(text) {
            self.bump();
            return Err(Reported);
        }
        if !text.contains('.') && self.cur.ahead().tok != Tok::Less {
            self.bump();
            let d = Diagnostic::error("attribute", start, format!("no attribute is called `{text}`"));
            return Err(self.fail(d.help("a name without a dot is an alias, defined as `#name = attribute`")));
        }
        self.bump();
        if self.cur.tok != Tok::Less {
            return Ok(Attr::Opaque(text.into()));
        }
        if let Some(attr) = self.enum_attr(text) {
            return Ok(attr);
        }
        let body = self.nested(|p| p.balanced(start))?;
        Ok(Attr::Opaque(format!("{text}{body}").into()))
    }

    /// The `<…>` of `#pto.kind<member>` or `#pto<kind member>`, if it is one.
    fn enum_attr(&mut self, head: &str) -> Option<Attr> {
        let first = self.cur.ahead();
        let second = first.ahead();
        let (kind, member, close) = match head.strip_prefix("#pto") {
            Some("") => (first.text(), second, second.ahead()),
            Some(kind) => (kind.strip_prefix('.')?, first, second),
            None => return None,
        };
        if first.tok != Tok::Word || member.tok != Tok::Word || close.tok != Tok::Greater || kind.is_empty() {
            return None;
        }
        self.cur = close.ahead();
        Some(Attr::member(kind, member.text()))
    }

    /// `{name = attribute, …}`, after the opening brace. For an op, the locations are recorded.
    fn dict(&mut self, op: Option<OpId>) -> Parsed<AttrDict> {
        let mut dict = AttrDict::default();
        self.expect(Tok::LBrace, "`{`")?;
        self.list_until(Tok::RBrace, "`}`", |p| {
            let span = p.span();
            let name: Name = match p.cur.tok {
                Tok::Str => p.string()?.into(),
                Tok::Word => p.attr_name(op)?,
                _ => return Err(p.expected("the name of an attribute")),
            };
            let taken = dict.get(&name).is_some() || op.is_some_and(|op| p.module.op(op).attrs.get(&name).is_some());
            let value = if p.eat(Tok::Equal) { p.named_attr(op, &name)? } else { Attr::Unit };
            if dict.len() == MAX_ENTRIES {
                return Err(p.error("attribute", span, format!("a dictionary has at most {MAX_ENTRIES} entries")));
            }
            if taken {
                p.error("attribute", span, format!("`{name}` is given twice"));
                return Ok(());
            }
            if op.is_some() {
                p.marks.attrs.push((name.clone(), p.span_from(span)));
            }
            dict.set(name, value);
            Ok(())
        })?;
        Ok(dict)
    }

    /// The name of an attribute: the declaration's own spelling if it has one with that name.
    fn attr_name(&mut self, op: Option<OpId>) -> Parsed<Name> {
        let text = self.word("a name")?;
        let specs = op.and_then(|op| self.module.op(op).schema()).map_or(&[][..], |schema| schema.attrs);
        let known = specs.iter().find(|spec| spec.name == text);
        Ok(known.map_or_else(|| text.to_string().into(), |spec| spec.name.into()))
    }

    /// The value of an attribute in a dictionary; the declaration determines the meaning of `<PIPE_V>` or a bare word.
    fn named_attr(&mut self, op: Option<OpId>, name: &str) -> Parsed<Attr> {
        let spec = op.and_then(|op| self.module.op(op).schema()).and_then(|s| s.attrs.iter().find(|a| a.name == name));
        match spec.map(|s| s.kind) {
            Some(AttrKind::Enum(kind)) if matches!(self.cur.tok, Tok::Less | Tok::Word) => self.enum_member(kind),
            // A number chosen by the compiler.
            Some(AttrKind::Int) if self.cur.tok == Tok::Word && self.text() == "auto" => {
                self.bump();
                Ok(Attr::Str("auto".into()))
            }
            _ => self.parse_attr(),
        }
    }

    /// The attribute dictionary of an op, if one comes next: `{…}`. Its entries become the op's.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn attr_dict(&mut self, op: OpId) -> Parsed<()> {
        if self.cur.tok != Tok::LBrace {
            return Ok(());
        }
        let dict = self.nested(|p| p.dict(Some(op)))?;
        let attrs = &mut self.module.op_mut(op).attrs;
        for (name, attr) in dict {
            attrs.set(name, attr);
        }
        Ok(())
    }

    /// `{…}` that does not belong to an op, such as the attributes of a function's argument; empty if none comes next.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn free_dict(&mut self) -> Parsed<AttrDict> {
        if self.cur.tok != Tok::LBrace {
            return Ok(AttrDict::default());
        }
        self.nested(|p| p.dict(None))
    }

    /// True if an attribute dictionary comes next, not a region.
    pub fn at_attr_dict(&self) -> bool {
        if self.cur.tok != Tok::LBrace {
            return false;
        }
        let first = self.cur.ahead();
        let second = first.ahead();
        match first.tok {
            Tok::Str => matches!(second.tok, Tok::Equal | Tok::Comma | Tok::RBrace),
            Tok::Word => match second.tok {
                Tok::Equal | Tok::Comma => true,
                Tok::RBrace => self.registry.get(first.text()).is_none(),
                _ => false,
            },
            _ => false,
        }
    }

    /// The value of a declared attribute at its position in the format: `PIPE_V`, `7`, `"text"`.
    ///
    /// # Errors
    /// If there is none of its kind.
    pub fn attr_of_kind(&mut self, spec: &AttrSpec) -> Parsed<Attr> {
        match spec.kind {
            AttrKind::Enum(kind) => self.enum_member(kind),
            AttrKind::Int => {
                let start = self.span();
                let value = self.integer()?;
                self.check_range(value, &Type::I64, self.span_from(start))?;
                Ok(Attr::Int(value, Type::I64))
            }
            AttrKind::Bool => match self.text() {
                text @ ("true" | "false") => {
                    self.bump();
                    Ok(Attr::Bool(text == "true"))
                }
                _ => Err(self.expected("`true` or `false`")),
            },
            AttrKind::Str => Ok(Attr::Str(self.string()?)),
            AttrKind::Symbol => Ok(Attr::Symbol(self.symbol()?)),
            AttrKind::Type => Ok(Attr::Type(self.parse_type()?)),
            AttrKind::Unit => Ok(Attr::Unit),
            AttrKind::Flags(spec) => self.flags(spec),
            AttrKind::Numbers | AttrKind::Any => self.parse_attr(),
        }
    }

    /// `<nsw, nuw>`.
    fn flags(&mut self, spec: &FlagsSpec) -> Parsed<Attr> {
        self.expect(Tok::Less, "`<`")?;
        let mut words = Vec::new();
        if self.tok() == Tok::Greater {
            return Err(self.expected(&format!("one of {}", spec.words.join(", "))));
        }
        self.list_until(Tok::Greater, "`>`", |p| {
            let word = p.text();
            if !spec.words.contains(&word) {
                return Err(p.expected(&format!("one of {}", spec.words.join(", "))));
            }
            p.bump();
            words.push(word);
            Ok(())
        })?;
        Ok(Attr::Opaque(spec.whole(&words).into()))
    }

    /// A member of an enumeration in any spelling: `<PIPE_V>`, `PIPE_V`, `"PIPE_V"`, `#pto.pipe<PIPE_V>`.
    ///
    /// # Errors
    /// If it is not a member; the message lists all members.
    pub fn enum_member(&mut self, spec: &EnumSpec) -> Parsed<Attr> {
        let start = self.span();
        let (kind, member) = match self.cur.tok {
            Tok::Less => {
                self.bump();
                let member = self.word(&format!("a member of `{}`", spec.kind))?;
                self.expect(Tok::Greater, "`>`")?;
                (spec.kind.into(), member.into())
            }
            Tok::Str => (spec.kind.into(), self.string()?),
            Tok::Word => (spec.kind.into(), self.word("a member")?.into()),
            Tok::Hash => match self.dialect_attr()? {
                Attr::Enum(kind, member) => (kind, member),
                _ => return Err(self.error("attribute", self.span_from(start), not_a(spec))),
            },
            _ => return Err(self.expected(&format!("a member of `{}`", spec.kind))),
        };
        self.check_member(spec, &kind, &member, self.span_from(start))
    }

    /// The member of the declared enumeration, whatever the text calls its kind: some have several names.
    pub(crate) fn check_member(&mut self, spec: &EnumSpec, kind: &str, member: &str, span: Span) -> Parsed<Attr> {
        if spec.members.contains(&member) {
            return Ok(Attr::member(spec.kind, member));
        }
        if kind != spec.kind {
            let message = format!("expected a member of `{}`, found one of `{kind}`", spec.kind);
            let d = Diagnostic::error("attribute", span, message);
            return Err(self.fail(d.note(format!("its members are {}", spec.members.join(", ")))));
        }
        Err(self.not_a_member(spec, member, span))
    }

    fn not_a_member(&mut self, spec: &EnumSpec, member: &str, span: Span) -> Reported {
        let mut d = Diagnostic::error("attribute", span, format!("`{}` has no member `{member}`", spec.kind))
            .note(format!("its members are {}", spec.members.join(", ")));
        if let Some(near) = nearest(member, spec.members.iter().copied()) {
            d = d.help(format!("is `{near}` meant?"));
        }
        self.fail(d)
    }
}

fn not_a(spec: &EnumSpec) -> String {
    format!("expected a member of `{}`, as in `#pto.{}<{}>`", spec.kind, spec.kind, spec.members.first().unwrap_or(&""))
}
