//! Spellings required by a version of another tool where this crate prints its own.
//!
//! Every spelling here parses to the same module: the parser accepts all of them.

use super::lexer::{escape, is_word};
use crate::declaration::Spelling;
use crate::{Attr, AttrDict, Syntax};

/// The spelling of this crate.
pub static OWN: Spelling =
    Spelling { inner: &[], whole: &[], typed: &[], comma: &[], one_by_one: &[], full: false, forms: &[] };

impl Spelling {
    /// The form of an op, if it differs from its declaration's.
    pub(super) fn form(&self, op: &str) -> Option<Syntax> {
        self.forms.iter().find(|(name, _)| *name == op).map(|(_, syntax)| *syntax)
    }

    /// The type with which an integer attribute of an op is written.
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
