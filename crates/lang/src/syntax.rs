//! The text as a Python tree.

use ruff_python_ast::Stmt;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};
use slipring_ir::{Diagnostic, Diags, Source, Span};

/// Parses a file. Reports every syntax error and gives the statements only if there is none.
pub fn parse(source: &Source, diags: &mut Diags) -> Option<Vec<Stmt>> {
    if u32::try_from(source.text.len()).is_err() {
        diags.push(Diagnostic::error("python-syntax", Span::default(), "the file is larger than 4 GiB"));
        return None;
    }
    let parsed = parse_unchecked(&source.text, ParseOptions::from(Mode::Module)).try_into_module()?;
    for error in parsed.errors() {
        let message = error.error.to_string();
        diags.push(Diagnostic::error("python-syntax", widen(source, span(error.location)), message));
    }
    parsed.errors().is_empty().then(|| parsed.into_suite().into_iter().collect())
}

/// An empty place becomes the character there, so that it can be shown.
fn widen(source: &Source, span: Span) -> Span {
    if !span.is_empty() {
        return span;
    }
    let end = source.text.len() as u32;
    if span.start < end { Span::new(span.start, span.start + 1) } else { Span::new(end.saturating_sub(1), end) }
}

/// The bytes of a node.
pub fn span(range: TextRange) -> Span {
    Span::new(range.start().into(), range.end().into())
}

/// The bytes of a node.
pub fn at(node: &impl Ranged) -> Span {
    span(node.range())
}
