//! The text as a Python tree.

use ruff_python_ast::Stmt;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};
use slipring_ir::{Diagnostic, Diags, Source, Span};

/// Parses a file. Reports every syntax error and gives the statements only if there is none.
pub fn parse(source: &Source, diags: &mut Diags) -> Option<Vec<Stmt>> {
    if source.text.len() > MOST_TEXT {
        let message = format!("the file has {} bytes, kernels at most {MOST_TEXT}", source.text.len());
        diags.push(Diagnostic::error("too-large", Span::default(), message));
        return None;
    }
    let parsed = parse_unchecked(&source.text, ParseOptions::from(Mode::Module)).try_into_module()?;
    if let Some(place) = too_deep(parsed.tokens()) {
        diags.push(
            Diagnostic::error(
                "nesting",
                widen(source, span(place)),
                "this is nested too deeply, or too long for one expression",
            )
            .help(format!(
                "at most {MOST_DEPTH} levels or operators, and {MOST_BLOCKS} blocks inside each other: use names"
            )),
        );
        // Its tree is as deep: taking it apart would overflow the stack.
        std::mem::forget(parsed);
        return None;
    }
    for error in parsed.errors().iter().take(MOST_ERRORS) {
        let message = error.error.to_string();
        diags.push(Diagnostic::error("python-syntax", widen(source, span(error.location)), message));
    }
    parsed.errors().is_empty().then(|| parsed.into_suite().into_iter().collect())
}

/// The most bytes of a file. A parsed text takes some hundred times its bytes.
const MOST_TEXT: usize = 16 << 20;
/// The most syntax errors that are reported.
const MOST_ERRORS: usize = 1000;
/// Levels of brackets and operators that an expression may have; Python itself has the same limit for brackets.
const MOST_DEPTH: usize = 200;
/// Blocks inside each other, as in Python itself.
const MOST_BLOCKS: usize = 100;

/// The first place that is nested too deeply. An operator may be a level of the tree, so all that stand between two commas
/// count.
fn too_deep(tokens: &[Token]) -> Option<TextRange> {
    let mut open = vec![0usize];
    let mut depth = 0;
    let mut blocks = 0;
    let mut clauses = 0;
    for token in tokens {
        let kind = token.kind();
        match kind {
            TokenKind::Indent => blocks += 1,
            TokenKind::Dedent => blocks -= 1,
            TokenKind::Elif => clauses += 1,
            TokenKind::Def | TokenKind::Else => clauses = 0,
            TokenKind::Newline => {
                open.truncate(1);
                (open[0], depth) = (0, 0);
            }
            TokenKind::Comma => {
                if let Some(top) = open.last_mut() {
                    depth -= std::mem::take(top);
                }
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace if open.len() > 1 => {
                // What is in the brackets is a part of what stands around them.
                depth -= open.pop().unwrap_or(0);
            }
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                if let Some(top) = open.last_mut() {
                    *top += 1;
                    depth += 1;
                }
                open.push(0);
            }
            _ if kind.is_operator() || kind.is_keyword() => {
                if let Some(top) = open.last_mut() {
                    *top += 1;
                    depth += 1;
                }
            }
            _ => {}
        }
        if depth > MOST_DEPTH || blocks > MOST_BLOCKS || clauses > MOST_DEPTH {
            return Some(token.range());
        }
    }
    None
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
