//! The syntax of ops with clauses: `%a, %b nburst(%n, %s, %d) loop(%n, %s, %d) : T, T, i64, i64, i64, loop i64, …`.
//!
//! Leading operands, then clauses (in any order unless the op has one; printed in that of the declaration), then `:`
//! and the types of all operands in textual order, some after the keyword of their clause.

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok, nearest};
use slipring_ir::{Attr, Diagnostic, EnumSpec, OpId, Span, ValueId};

/// The syntax of the operands and clauses of an op. The op declares the same operands in the same order; the values of
/// a repeated clause form one variadic operand.
#[derive(Debug)]
pub(super) struct ClauseText {
    /// Number of operands before the clauses.
    pub lead: usize,
    /// True if a comma precedes each clause.
    pub commas: bool,
    /// True if clauses must be in the order of the declaration.
    pub ordered: bool,
    /// The possible clauses.
    pub clauses: &'static [Clause],
}

/// A clause: `word(part, part)`, or `word` alone if it has no parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause {
    pub word: &'static str,
    /// How often it may occur.
    pub count: Count,
    /// True if its presence is recorded as a unit attribute of this name.
    pub flag: bool,
    /// The contents of its parentheses.
    pub parts: &'static [Part],
    /// The syntax of the types of its values.
    pub types: Types,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Count {
    Once,
    AtMostOnce,
    Any,
}

/// A part of a clause, in textual order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// `%a`.
    Value,
    /// `%a`, optional.
    Maybe,
    /// `key = %a`, optional.
    Named(&'static str),
    /// A keyword, optional: an attribute.
    Word(&'static str, &'static EnumSpec),
    /// `key = keyword`: an attribute.
    NamedWord(&'static str, &'static str, &'static EnumSpec),
}

/// The syntax of the types of a clause's values in the list of types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Types {
    /// `i64, i64`.
    Plain,
    /// `loop i64, i64`.
    AfterWord,
    /// `src_layout(i64, i64)`.
    InParens,
}

impl Clause {
    /// A clause of required values, as in `nburst(%n, %s, %d)`.
    pub const fn values(word: &'static str, parts: &'static [Part]) -> Clause {
        Clause { word, count: Count::Once, flag: false, parts, types: Types::Plain }
    }

    /// An optional keyword without parts.
    pub const fn flag(word: &'static str) -> Clause {
        Clause { word, count: Count::AtMostOnce, flag: true, parts: &[], types: Types::Plain }
    }

    /// `word(member)`, optional: an attribute.
    pub const fn choice(word: &'static str, parts: &'static [Part]) -> Clause {
        Clause { word, count: Count::AtMostOnce, flag: false, parts, types: Types::Plain }
    }

    /// True if the text names it: of clauses that repeat with or without a number, `loop` or `loop1`.
    fn is_named(&self, text: &str) -> bool {
        let number = || text.strip_prefix(self.word).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        text == self.word || self.count == Count::Any && number()
    }

    /// The number of declared operands in its parts.
    fn operands(&self) -> usize {
        match self.count {
            Count::Any => 1,
            _ => self.parts.iter().filter(|part| part.is_value()).count(),
        }
    }
}

impl Part {
    const fn is_value(&self) -> bool {
        matches!(self, Part::Value | Part::Maybe | Part::Named(_))
    }
}

/// A run of types in the list: those of a clause, or of operands without a keyword.
struct TypeRun {
    /// The clause, if its keyword precedes the types.
    clause: Option<&'static Clause>,
    values: Vec<ValueId>,
}

impl CustomSyntax for ClauseText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let mut lead = Vec::new();
        for at in 0..self.lead {
            if at > 0 {
                p.expect(Tok::Comma, "`,` and the next operand")?;
            }
            lead.push(p.operand()?);
        }
        let mut groups: Vec<Vec<ValueId>> = lead.iter().map(|value| vec![*value]).collect();
        let firsts: Vec<usize> = self
            .clauses
            .iter()
            .scan(self.lead, |next, clause| {
                *next += clause.operands();
                Some(*next - clause.operands())
            })
            .collect();
        groups.resize_with(self.lead + self.clauses.iter().map(Clause::operands).sum::<usize>(), Vec::new);
        let mut runs = vec![TypeRun { clause: None, values: lead }];
        let mut seen = vec![false; self.clauses.len()];
        while if self.commas { p.eat(Tok::Comma) } else { p.tok() == Tok::Word } {
            let at = self.next_clause(p)?;
            let clause = &self.clauses[at];
            let span = p.span();
            if std::mem::replace(&mut seen[at], true) && clause.count != Count::Any {
                return Err(p.error("clause-twice", span, format!("`{}` occurs twice", clause.word)));
            }
            self.in_order(p, at, &seen)?;
            p.bump();
            let mut values = Vec::new();
            self.clause(p, op, clause, firsts[at], &mut groups, &mut values)?;
            match runs.last_mut() {
                Some(run) if clause.types == Types::Plain && run.clause.is_none() => run.values.extend(values),
                _ => runs.push(TypeRun { clause: (clause.types != Types::Plain).then_some(clause), values }),
            }
        }
        if let Some(missing) = self.clauses.iter().zip(&seen).find(|(c, seen)| c.count == Count::Once && !**seen) {
            return Err(p.expected(&format!("`{}(…)`", missing.0.word)));
        }
        let span = p.span();
        p.attr_dict(op)?;
        let operands: usize = groups.iter().map(Vec::len).sum();
        segments(p, op, operands, span)?;
        let groups: Vec<&[ValueId]> = groups.iter().map(Vec::as_slice).collect();
        p.set_operands(op, &groups);
        p.expect(Tok::Colon, "`:` and the types of the operands")?;
        self.types(p, &runs)
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        let mut next = 0;
        let mut group = || {
            next += 1;
            module.operand_group(op, next - 1)
        };
        let mut types = String::new();
        let mut add_types = |clause: Option<&Clause>, values: &[ValueId]| {
            let names: Vec<String> = values.iter().map(|v| module.ty(*v).to_string()).collect();
            let names = names.join(", ");
            let text = match clause.map(|c| (c.word, c.types)) {
                Some((word, Types::AfterWord)) if names.is_empty() => word.to_string(),
                Some((word, Types::AfterWord)) => format!("{word} {names}"),
                Some((word, Types::InParens)) => format!("{word}({names})"),
                _ if names.is_empty() => return,
                _ => names,
            };
            if !types.is_empty() {
                types.push_str(", ");
            }
            types.push_str(&text);
        };
        p.write(" ");
        for at in 0..self.lead {
            let values = group();
            p.write(if at > 0 { ", " } else { "" });
            p.values(values);
            add_types(None, values);
        }
        let mut written = Vec::new();
        for clause in self.clauses {
            if clause.count == Count::Any {
                for values in group().chunks(clause.parts.len()) {
                    p.write(if self.commas { ", " } else { " " });
                    p.write(clause.word);
                    p.write("(");
                    p.values(values);
                    p.write(")");
                    add_types(Some(clause), values);
                }
                continue;
            }
            let attr = |name: &str| module.op(op).attrs.get(name);
            if clause.flag {
                written.push(clause.word);
            }
            let (mut texts, mut values) = (Vec::new(), Vec::new());
            for part in clause.parts {
                let name = match part {
                    Part::Value | Part::Maybe | Part::Named(_) => {
                        let found = group();
                        values.extend_from_slice(found);
                        let key = if let Part::Named(key) = part { Some(*key) } else { None };
                        texts.extend(found.iter().map(|v| (key, Err(*v))));
                        continue;
                    }
                    Part::Word(name, _) => (None, *name),
                    Part::NamedWord(key, name, _) => (Some(*key), *name),
                };
                written.push(name.1);
                texts.extend(attr(name.1).and_then(Attr::as_str).map(|word| (name.0, Ok(word))));
            }
            if texts.is_empty() && !(clause.flag && attr(clause.word).is_some()) {
                continue;
            }
            p.write(if self.commas { ", " } else { " " });
            p.write(clause.word);
            if !texts.is_empty() {
                p.write("(");
                for (at, (key, text)) in texts.into_iter().enumerate() {
                    p.write(if at > 0 { ", " } else { "" });
                    if let Some(key) = key {
                        p.write(key);
                        p.write(" = ");
                    }
                    match text {
                        Ok(word) => p.write(word),
                        Err(value) => p.value(value),
                    }
                }
                p.write(")");
            }
            add_types(Some(clause), &values);
        }
        p.attr_dict(op, &written);
        p.write(" : ");
        p.write(&types);
    }
}

/// Removes the sizes of operand groups, which texts of the assembler's passes also have in this form: the clauses already
/// say them. They must add up to the number of operands.
fn segments(p: &mut OpParser<'_>, op: OpId, operands: usize, span: Span) -> Parsed<()> {
    let Some(sizes) = p.module.op_mut(op).attrs.remove("operandSegmentSizes") else { return Ok(()) };
    let total = match &sizes {
        Attr::DenseArray(_, sizes) => sizes.iter().sum::<i128>(),
        _ => -1,
    };
    if total != operands as i128 {
        let message = format!("`operandSegmentSizes` is {sizes}, and there are {operands} operands");
        return Err(p.error("operand-count", span, message));
    }
    Ok(())
}

impl ClauseText {
    /// The clause whose keyword comes next.
    fn next_clause(&self, p: &mut OpParser<'_>) -> Parsed<usize> {
        if let Some(at) = self.clauses.iter().position(|clause| clause.is_named(p.text())) {
            return Ok(at);
        }
        let words: Vec<&str> = self.clauses.iter().map(|clause| clause.word).collect();
        let mut error = p.expectation("a clause of this op").note(format!("its clauses are {}", words.join(", ")));
        if let Some(near) = nearest(p.text(), words) {
            error = error.help(format!("is `{near}` meant?"));
        }
        Err(p.fail(error))
    }

    /// Reports a clause, the next token, that comes after one which it must precede.
    fn in_order(&self, p: &mut OpParser<'_>, at: usize, seen: &[bool]) -> Parsed<()> {
        let Some(later) = seen.iter().skip(at + 1).position(|seen| *seen).filter(|_| self.ordered) else {
            return Ok(());
        };
        let message = format!("`{}` comes after `{}`", self.clauses[at].word, self.clauses[at + 1 + later].word);
        let words: Vec<&str> = self.clauses.iter().map(|clause| clause.word).collect();
        let help = format!("the order of the clauses of this op is {}", words.join(", "));
        let error = Diagnostic::error(slipring_ir::Kind::Syntax, p.span(), message);
        Err(p.fail(error.help(help)))
    }

    /// Parses the rest of a clause after its keyword; its values are also appended to `values`, in textual order.
    fn clause(
        &self,
        p: &mut OpParser<'_>,
        op: OpId,
        clause: &'static Clause,
        first: usize,
        groups: &mut [Vec<ValueId>],
        values: &mut Vec<ValueId>,
    ) -> Parsed<()> {
        if clause.flag {
            p.module.op_mut(op).attrs.set(clause.word, Attr::Unit);
            if clause.parts.is_empty() || p.tok() != Tok::LParen {
                return Ok(());
            }
        }
        let start = p.span();
        p.expect(Tok::LParen, "`(`")?;
        let mut filled = vec![false; clause.parts.len()];
        p.list_until(Tok::RParen, "`)`", |p| {
            let part = clause.parts.iter().zip(&filled).position(|(part, filled)| !filled && part.begins(p));
            let Some(at) = part else { return Err(p.expected(&clause.parts_text(&filled))) };
            filled[at] = true;
            if let Part::Named(_) | Part::NamedWord(..) = clause.parts[at] {
                p.bump();
                p.expect(Tok::Equal, "`=`")?;
            }
            match clause.parts[at] {
                Part::Word(name, kind) | Part::NamedWord(_, name, kind) => {
                    let member = p.enum_member(kind)?;
                    p.module.op_mut(op).attrs.set(name, member);
                }
                Part::Value | Part::Maybe | Part::Named(_) => {
                    let before = clause.parts[..at].iter().filter(|part| part.is_value()).count();
                    let value = p.operand()?;
                    groups[first + if clause.count == Count::Any { 0 } else { before }].push(value);
                    values.push(value);
                }
            }
            Ok(())
        })?;
        let missing = |(part, filled): (&Part, &bool)| !filled && matches!(part, Part::Value | Part::NamedWord(..));
        if clause.parts.iter().zip(&filled).any(missing) || !filled.contains(&true) {
            let text = format!("`{}` needs {}", clause.word, clause.parts_text(&filled));
            return Err(p.error("syntax", p.span_from(start), text));
        }
        Ok(())
    }

    /// Parses the list of types. Integer types may be omitted at the end of a run without a keyword, as some texts do:
    /// they are known from the definitions of the values.
    fn types(&self, p: &mut OpParser<'_>, runs: &[TypeRun]) -> Parsed<()> {
        let at_word = |p: &OpParser<'_>| self.clauses.iter().any(|clause| clause.is_named(p.text()));
        let mut comma = false;
        for run in runs {
            if let Some(clause) = run.clause {
                if !comma && p.tok() == Tok::Comma {
                    p.bump();
                }
                match clause.is_named(p.text()) {
                    true => p.bump(),
                    false => p.expect_text(clause.word)?,
                }
                if clause.types == Types::InParens {
                    p.expect(Tok::LParen, "`(`")?;
                }
            }
            comma = false;
            for (at, value) in run.values.iter().enumerate() {
                if at > 0 {
                    let more = p.tok() == Tok::Comma;
                    if more {
                        p.bump();
                        comma = true;
                    }
                    let ends = !more || at_word(p);
                    if ends && run.clause.is_none() && run.values[at..].iter().all(|v| p.module.ty(*v).is_scalar()) {
                        let text = format!(
                            "{} for {}",
                            slipring_op::rules::counted(at, "type"),
                            slipring_op::rules::counted(run.values.len(), "operand")
                        );
                        p.warn(Diagnostic::warning("types-missing", p.span(), text));
                        break;
                    }
                    if !more {
                        return Err(p.expected(&format!("`,` and the type of `{}`", p.module.value_name(*value))));
                    }
                }
                p.operand_type(*value)?;
                comma = false;
            }
            if run.clause.is_some_and(|clause| clause.types == Types::InParens) {
                p.expect(Tok::RParen, "`)`")?;
            }
        }
        Ok(())
    }
}

impl Part {
    /// True if the next tokens are this part.
    fn begins(&self, p: &OpParser<'_>) -> bool {
        match self {
            Part::Value | Part::Maybe => p.tok() == Tok::Percent,
            Part::Named(key) | Part::NamedWord(key, ..) => p.at(key),
            Part::Word(..) => p.tok() == Tok::Word,
        }
    }
}

impl Clause {
    /// The parts that may still follow, for messages.
    fn parts_text(&self, filled: &[bool]) -> String {
        let left = self.parts.iter().zip(filled).filter(|(_, filled)| !**filled);
        let names: Vec<String> = left
            .map(|(part, _)| match part {
                Part::Value | Part::Maybe => "a value".to_string(),
                Part::Named(key) => format!("`{key} = %value`"),
                Part::Word(_, kind) => kind.members.join(" | "),
                Part::NamedWord(key, _, kind) => format!("`{key} = {}`", kind.members.join(" | ")),
            })
            .collect();
        if names.is_empty() { "`)`".to_string() } else { names.join(" or ") }
    }
}
