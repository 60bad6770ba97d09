//! How another tool's version wants written what this crate prints in one way of its own.
//!
//! Every spelling here is read back as the same module: the parser takes them all.

use super::lexer::{escape, is_word};
use crate::{Attr, AttrDict, Syntax};

/// The spelling of one version of a tool.
#[derive(Debug)]
pub struct Spelling {
    /// Kinds of enumerations that are written `#pto<kind member>`, not `#pto.kind<member>`.
    pub inner: &'static [&'static str],
    /// Kinds of which an op's format shows the whole attribute, `#pto.kind<member>`, not `<member>` alone.
    pub whole: &'static [&'static str],
    /// Integer attributes that are written with their type: op, attribute, type.
    pub typed: &'static [(&'static str, &'static str, &'static str)],
    /// Ops of which one attribute inside `ins(…)` follows a comma, as one more operand, and the others after `outs(…)`.
    pub comma: &'static [(&'static str, &'static str)],
    /// Ops of which each operand inside `ins(…)` has its type after it: `ins(%a : T, %b : T)`.
    pub one_by_one: &'static [&'static str],
    /// True where ops of all dialects are written with the dialect's name: `func.return`.
    pub full: bool,
    /// Ops that are written in another form than their declaration's; it is read by the declaration's.
    pub forms: &'static [(&'static str, Syntax)],
}

/// The spelling of this crate.
pub static OWN: Spelling =
    Spelling { inner: &[], whole: &[], typed: &[], comma: &[], one_by_one: &[], full: false, forms: &[] };

impl Spelling {
    /// The form of an op that is not its declaration's.
    pub(super) fn form(&self, op: &str) -> Option<Syntax> {
        self.forms.iter().find(|(name, _)| *name == op).map(|(_, syntax)| *syntax)
    }

    /// The type that an integer attribute of an op is written with.
    fn int_type(&self, op: &str, attr: &str) -> Option<&'static str> {
        self.typed.iter().find(|(name, other, _)| *name == op && *other == attr).map(|(.., ty)| *ty)
    }

    /// An attribute.
    pub(super) fn attr(&self, attr: &Attr) -> String {
        match attr {
            Attr::Enum(kind, member) if self.inner.contains(&&**kind) => format!("#pto<{kind} {member}>"),
            Attr::Array(items) => format!("[{}]", self.list(items.iter().map(|item| self.attr(item)))),
            Attr::Dict(dict) => self.dict(dict),
            other => other.to_string(),
        }
    }

    fn dict(&self, dict: &AttrDict) -> String {
        format!("{{{}}}", self.list(dict.iter().map(|(name, attr)| self.entry("", name, attr))))
    }

    fn list(&self, items: impl Iterator<Item = String>) -> String {
        items.collect::<Vec<_>>().join(", ")
    }

    /// `name = value` of an op, or the name alone for a unit attribute.
    pub(super) fn entry(&self, op: &str, name: &str, attr: &Attr) -> String {
        let written = if is_word(name) { name.to_string() } else { escape(name) };
        match (attr, self.int_type(op, name)) {
            (Attr::Unit, _) => written,
            (Attr::Int(value, _), Some(ty)) => format!("{written} = {value} : {ty}"),
            _ => format!("{written} = {}", self.attr(attr)),
        }
    }
}
