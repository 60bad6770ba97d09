//! Parsing of the text to a Python tree.

use std::collections::BTreeMap;

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{CmpOp, Expr, Stmt};
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};
use slipring_ir::{Diagnostic, Diags, Source, Span};

/// Parses a file. Reports every syntax error, and returns the statements only if there is none.
pub fn parse(source: &Source, diags: &mut Diags) -> Option<Vec<Stmt>> {
    crate::counts::parsed();
    if source.text.len() > MOST_TEXT {
        let message = format!("the file has {} bytes, kernels at most {MOST_TEXT}", source.text.len());
        diags.push(Diagnostic::error("too-large", Span::default(), message));
        return None;
    }
    let nested = |place: Span| {
        let message = "this is nested too deeply, or too long for one expression";
        Diagnostic::error("nesting", widen(source, place), message).help(format!(
            "at most {MOST_DEPTH} levels or operators, and {MOST_BLOCKS} blocks inside each other: use names"
        ))
    };
    if let Some(place) = far_too_deep(&source.text) {
        diags.push(nested(place));
        return None;
    }
    let parsed = parse_unchecked(&source.text, ParseOptions::from(Mode::Module)).try_into_module()?;
    let kinds = parsed.tokens().iter().map(Token::kind);
    if let Some(token) = too_deep(kinds, MOST_DEPTH).and_then(|at| parsed.tokens().get(at)) {
        diags.push(nested(span(token.range())));
        // Its tree is equally deep: dropping it would overflow the stack.
        std::mem::forget(parsed);
        return None;
    }
    if parsed.errors().is_empty() {
        return Some(parsed.into_suite().into_iter().collect());
    }
    if let Some(place) = never_closed(parsed.tokens(), &source.text) {
        let bracket = &source.text[place];
        let message = format!("this `{bracket}` is never closed");
        diags.push(Diagnostic::error("python-syntax", widen(source, span(place)), message));
        return None;
    }
    if let Some(diagnostic) = tabs(source, parsed.errors()) {
        diags.push(diagnostic);
        return None;
    }
    for error in parsed.errors().iter().take(MOST_ERRORS) {
        let message = error.error.to_string();
        diags.push(Diagnostic::error("python-syntax", widen(source, span(error.location)), message));
    }
    None
}

/// The symbol of a comparison of numbers; `None` for `in` and `is`.
pub(crate) fn order_sign(op: CmpOp) -> Option<&'static str> {
    match op {
        CmpOp::Eq => Some("=="),
        CmpOp::NotEq => Some("!="),
        CmpOp::Lt => Some("<"),
        CmpOp::LtE => Some("<="),
        CmpOp::Gt => Some(">"),
        CmpOp::GtE => Some(">="),
        CmpOp::In | CmpOp::NotIn | CmpOp::Is | CmpOp::IsNot => None,
    }
}

/// The statements of a file that can be parsed, whether it has errors or not. `None` for one that is nested too deeply.
pub(crate) fn tolerant(source: &Source) -> Option<Vec<Stmt>> {
    if source.text.len() > MOST_TEXT || far_too_deep(&source.text).is_some() {
        return None;
    }
    let parsed = parse_unchecked(&source.text, ParseOptions::from(Mode::Module)).try_into_module()?;
    if too_deep(parsed.tokens().iter().map(Token::kind), MOST_DEPTH).is_some() {
        // Dropping its tree would overflow the stack.
        std::mem::forget(parsed);
        return None;
    }
    Some(parsed.into_suite().into_iter().collect())
}

/// The innermost bracket that the text opens but does not close.
fn never_closed(tokens: &[Token], text: &str) -> Option<TextRange> {
    let mut open: Vec<(TokenKind, TextRange)> = Vec::new();
    for token in tokens {
        let closes = match token.kind() {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                open.push((token.kind(), token.range()));
                continue;
            }
            TokenKind::Rpar => TokenKind::Lpar,
            TokenKind::Rsqb => TokenKind::Lsqb,
            TokenKind::Rbrace => TokenKind::Lbrace,
            // A keyword of a statement at the beginning of a line ends all open brackets: otherwise nothing of it would
            // be understood.
            kind if kind.is_keyword() && begins_line(text, token.range()) => match kind {
                TokenKind::Def | TokenKind::Class | TokenKind::With | TokenKind::Return | TokenKind::Import => {
                    if let Some((_, place)) = open.last() {
                        return Some(*place);
                    }
                    continue;
                }
                _ => continue,
            },
            _ => continue,
        };
        match open.last() {
            Some((kind, _)) if *kind == closes => drop(open.pop()),
            Some((_, place)) => return Some(*place),
            None => return None,
        }
    }
    open.last().map(|(_, place)| *place)
}

fn begins_line(text: &str, place: TextRange) -> bool {
    text[..usize::from(place.start())].rsplit('\n').next().is_some_and(|before| before.trim().is_empty())
}

/// The error for lines that are indented with tabs while others use spaces.
fn tabs(source: &Source, errors: &[ruff_python_parser::ParseError]) -> Option<Diagnostic> {
    use ruff_python_parser::{LexicalErrorType, ParseErrorType};
    let indentation = |error: &&ruff_python_parser::ParseError| {
        matches!(
            error.error,
            ParseErrorType::Lexical(LexicalErrorType::IndentationError) | ParseErrorType::UnexpectedIndentation
        )
    };
    let error = errors.iter().find(indentation)?;
    let blank = |line: &str, with: char| {
        line.len() > line.trim_start().len() && line.trim_start_matches(with).len() < line.len()
    };
    let lines = || source.text.lines().filter(|line| !line.trim().is_empty());
    if !lines().any(|line| blank(line, '\t')) || !lines().any(|line| blank(line, ' ')) {
        return None;
    }
    let mut place = 0;
    let mut found = span(error.location);
    for line in source.text.split_inclusive('\n') {
        if blank(line, '\t') {
            found = Span::new(place, place + line.trim_end().len() as u32);
            break;
        }
        place += line.len() as u32;
    }
    Some(
        Diagnostic::error("python-syntax", found, "this line is indented with a tab, others with blanks")
            .help("indent all lines with blanks, four for each level"),
    )
}

/// The maximum size of a file in bytes. A parsed text takes some hundred times its size.
const MOST_TEXT: usize = 16 << 20;
/// The maximum number of syntax errors that are reported.
const MOST_ERRORS: usize = 1000;
/// The maximum nesting depth of brackets and operators in an expression; Python itself has the same limit for brackets.
const MOST_DEPTH: usize = 200;
/// The nesting depth that is rejected before parsing: far more than [`MOST_DEPTH`], because an unclosed bracket turns
/// the rest of the text into one expression, and has its own message.
const FAR_TOO_DEEP: usize = 4000;
/// The maximum depth of nested blocks, as in Python itself.
const MOST_BLOCKS: usize = 100;

/// The first place of a text that is nested so deeply that the recursive parser might overflow its stack.
fn far_too_deep(text: &str) -> Option<Span> {
    let deep = |text: &str| {
        let mut lexer = lex(text, Mode::Module);
        let kinds = std::iter::from_fn(|| Some(lexer.next_token()).filter(|kind| *kind != TokenKind::EndOfFile));
        too_deep(kinds, FAR_TOO_DEEP).is_some()
    };
    if !deep(text) {
        return None;
    }
    // Finds where the depth is first exceeded.
    let (mut fits, mut first) = (0, text.len());
    while first - fits > 1 {
        let middle = text.floor_char_boundary((fits + first) / 2);
        if middle == fits {
            break;
        }
        if deep(&text[..middle]) {
            first = middle;
        } else {
            fits = middle;
        }
    }
    Some(Span::new(fits as u32, first as u32))
}

/// The first token that exceeds a nesting depth. Each operator may be a level of the tree, so all operators between two
/// commas count.
fn too_deep(tokens: impl Iterator<Item = TokenKind>, most: usize) -> Option<usize> {
    let mut open = vec![0usize];
    let mut depth = 0;
    let mut blocks = 0;
    let mut clauses = 0;
    for (at, kind) in tokens.enumerate() {
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
                // The contents of the brackets are a part of the surrounding expression.
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
        if depth > most || blocks > MOST_BLOCKS.max(most / 2) || clauses > most {
            return Some(at);
        }
    }
    None
}

/// An empty span is widened to the character there, so that it can be displayed.
fn widen(source: &Source, span: Span) -> Span {
    if !span.is_empty() {
        return span;
    }
    let end = source.text.len() as u32;
    if span.start < end { Span::new(span.start, span.start + 1) } else { Span::new(end.saturating_sub(1), end) }
}

/// The span of a range.
pub fn span(range: TextRange) -> Span {
    Span::new(range.start().into(), range.end().into())
}

/// The span of a node.
pub fn at(node: &impl Ranged) -> Span {
    span(node.range())
}

/// The error in the stages of a loop over `path(…)`: a pipelined loop without stages is an ordinary loop, and no other
/// loop has them.
pub(crate) fn wrong_stages(path: &str, call: &ruff_python_ast::ExprCall) -> Option<Diagnostic> {
    let stage = named(call, "stage");
    let error =
        |place, message: String, help: &str| Some(Diagnostic::error("loop", place, message).help(help.to_string()));
    match (path, stage) {
        ("pl.pipeline", None) => {
            let help = "write `stage=2`, or `pl.range` for a loop whose iterations come one after the other";
            error(at(call), "`pl.pipeline` does not say how many iterations overlap".to_string(), help)
        }
        ("pl.pipeline", Some(_)) | (_, None) => None,
        (other, Some(stage)) => {
            let help = "write `pl.pipeline(…, stage=N)`";
            error(at(stage), format!("`{other}` has no stages: its iterations do not overlap"), help)
        }
    }
}

/// The error for a bare `pl.yield_(…)` at the end of a loop with `init_values`: after the loop, its values are read
/// through the names that it binds (the language's manual, "For loops", rejects this as well).
pub(crate) fn yields_nameless(span: Span) -> Diagnostic {
    Diagnostic::error("yield", span, "what this loop gives has no name")
        .help("name it, `a2 = pl.yield_(a_new)`: the loop's values are read by those names behind it")
}

/// An argument that is given both by position and by keyword.
pub(crate) fn given_twice(call: &ruff_python_ast::ExprCall, first: &str) -> Option<Diagnostic> {
    let (second, order) = (named(call, first)?, call.arguments.args.first()?);
    Some(Diagnostic::error("argument", at(second), format!("`{first}` is given twice")).also(at(order), "first here"))
}

/// True for a text that can be the name of a function.
pub(crate) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    let starts = letters.next().is_some_and(|first| first == '_' || first.is_alphabetic());
    starts && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
}

/// The error in a literal list of names: an invalid name, or a duplicate.
pub(crate) fn wrong_names(word: &str, list: &Expr) -> Option<Diagnostic> {
    let items = match list {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        other => {
            let error = Diagnostic::error("no-dep", at(other), format!("`{word}` is a list that is written out"));
            return Some(error.help(format!("list the tensors here: `{word}=[a, b]`")));
        }
    };
    let mut first: BTreeMap<&str, slipring_ir::Span> = BTreeMap::new();
    for item in items {
        match item {
            Expr::Name(name) => {
                if let Some(before) = first.insert(name.id.as_str(), at(item)) {
                    let error =
                        Diagnostic::error("no-dep", at(item), format!("`{}` occurs twice in `{word}`", name.id));
                    return Some(error.also(before, "first here"));
                }
            }
            Expr::Call(_) => {
                return Some(Diagnostic::error("no-dep", at(item), format!("`{word}` is a list of tensors")));
            }
            _ => {}
        }
    }
    None
}

/// A keyword argument of a call.
pub(crate) fn named<'e>(call: &'e ruff_python_ast::ExprCall, name: &str) -> Option<&'e Expr> {
    let mut all = call.arguments.keywords.iter();
    all.find(|own| own.arg.as_ref().is_some_and(|own| own.as_str() == name)).map(|own| &own.value)
}

/// The first argument of a call, by position or keyword.
pub(crate) fn first_argument<'e>(call: &'e ruff_python_ast::ExprCall, name: &str) -> Option<&'e Expr> {
    call.arguments.args.first().or_else(|| named(call, name))
}

/// True if an expression of a body, or a part of one, satisfies `is`.
pub(crate) fn any_expr<'a>(body: &'a [Stmt], is: &mut dyn FnMut(&'a Expr) -> bool) -> bool {
    let mut search = Search { is, found: false };
    search.visit_body(body);
    search.found
}

/// True if an expression, or a part of it, satisfies `is`.
pub(crate) fn any_part<'a>(expr: &'a Expr, is: &mut dyn FnMut(&'a Expr) -> bool) -> bool {
    let mut search = Search { is, found: false };
    search.visit_expr(expr);
    search.found
}

struct Search<'a, 'f> {
    is: &'f mut dyn FnMut(&'a Expr) -> bool,
    found: bool,
}
impl<'a> Visitor<'a> for Search<'a, '_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.found = self.found || (self.is)(expr);
        if !self.found {
            walk_expr(self, expr);
        }
    }
}

/// The first line of a statement.
pub(crate) fn head(stmt: &Stmt) -> Span {
    let whole = at(stmt);
    match stmt {
        Stmt::With(with) => {
            let last = with.items.last().map_or(whole.end, |item| match &item.optional_vars {
                Some(name) => at(&**name).end,
                None => at(&item.context_expr).end,
            });
            Span::new(whole.start, last)
        }
        Stmt::For(stmt) => Span::new(whole.start, at(&*stmt.iter).end),
        _ => whole,
    }
}

/// The text of an expression that is a name: `os.environ.get`.
pub(crate) fn shown(expr: &Expr) -> String {
    match expr {
        Expr::Name(name) => name.id.as_str().to_string(),
        Expr::Attribute(attribute) => format!("{}.{}", shown(&attribute.value), attribute.attr),
        Expr::Call(call) => format!("{}(…)", shown(&call.func)),
        Expr::Subscript(subscript) => format!("{}[…]", shown(&subscript.value)),
        _ => "…".into(),
    }
}
