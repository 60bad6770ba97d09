//! Putting findings together.

use slipring_program::{Finding, Label, Severity, SiteRef};

/// An error without a place.
pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Box<Finding> {
    Box::new(Finding {
        code,
        severity: Severity::Error,
        message: message.into(),
        primary: None,
        secondary: Vec::new(),
        notes: Vec::new(),
        hint: None,
    })
}

/// An error at a place.
pub(crate) fn error_at(code: &'static str, site: SiteRef, text: &str, message: impl Into<String>) -> Box<Finding> {
    let mut finding = error(code, message);
    finding.primary = Some(label(site, text));
    finding
}

/// A place with a remark.
pub(crate) fn label(site: SiteRef, text: impl Into<String>) -> Label {
    Label { site, text: text.into() }
}

/// `1 tile`, `3 tiles`.
pub(crate) fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// ``ring `c2v` ``, with the word once where the ring's name has it already.
pub(crate) fn ring(name: &str) -> String {
    if name.starts_with("ring") { format!("`{name}`") } else { format!("ring `{name}`") }
}
