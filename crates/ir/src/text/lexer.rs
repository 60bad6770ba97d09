//! Tokens, read one at a time from the text.

use logos::Logos;

use crate::Span;

/// A kind of token.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f\u{FEFF}]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[allow(missing_docs)]
pub enum Tok {
    /// A word: `scf.for`, `ins`, `i32`.
    #[regex(r"[A-Za-z_][A-Za-z0-9_$.]*")]
    Word,
    /// `%name`.
    #[regex(r"%([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)")]
    Percent,
    /// `#name`, also `#1` after a value.
    #[regex(r"#([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)")]
    Hash,
    /// `!name`.
    #[regex(r"!([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)")]
    Bang,
    /// `^name`.
    #[regex(r"\^([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)")]
    Caret,
    /// `@name` or `@"any text"`.
    #[regex(r"@[A-Za-z_][A-Za-z0-9_$.-]*")]
    #[regex(r#"@"([^"\\\n]|\\[^\n])*""#)]
    At,
    /// `"text"`.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Str,
    #[regex(r"[0-9]+")]
    Int,
    #[regex(r"0x[0-9A-Fa-f]+")]
    Hex,
    #[regex(r"[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?")]
    Float,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("::")]
    ColonColon,
    #[token("=")]
    Equal,
    #[token("?")]
    Question,
    #[token("*")]
    Star,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("->")]
    Arrow,
    #[token("/")]
    Slash,
    #[token("|")]
    Bar,
    /// A character that begins no token, or a string without its end.
    Bad,
    /// The end of the text.
    Eof,
}

/// The token at a position of the text, after whitespace and comments.
pub(crate) fn lex_at(text: &str, at: u32) -> (Tok, Span) {
    let mut lexer = Tok::lexer(&text[at as usize..]);
    match lexer.next() {
        None => (Tok::Eof, Span::new(text.len() as u32, text.len() as u32)),
        Some(token) => {
            let span = lexer.span();
            (token.unwrap_or(Tok::Bad), Span::new(at + span.start as u32, at + span.end as u32))
        }
    }
}

/// A position between two tokens, with the following token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    pub source: &'a str,
    /// The next token.
    pub tok: Tok,
    /// Its location.
    pub span: Span,
    /// End of the token before it.
    pub prev_end: u32,
    /// Braces opened and not yet closed.
    pub braces: i32,
}

impl<'a> Cursor<'a> {
    pub fn new(source: &'a str) -> Cursor<'a> {
        let (tok, span) = lex_at(source, 0);
        Cursor { source, tok, span, prev_end: 0, braces: 0 }
    }

    /// The text of the next token.
    pub fn text(&self) -> &'a str {
        &self.source[self.span.start as usize..self.span.end as usize]
    }

    /// Advances past the next token.
    pub fn bump(&mut self) {
        match self.tok {
            Tok::LBrace => self.braces += 1,
            Tok::RBrace => self.braces -= 1,
            _ => {}
        }
        self.prev_end = self.span.end;
        (self.tok, self.span) = lex_at(self.source, self.span.end);
    }

    /// Advances to a position inside the next token: `x64xf32` is one word where no shape is expected.
    pub fn split(&mut self, at: u32) {
        self.prev_end = at;
        (self.tok, self.span) = lex_at(self.source, at);
    }

    /// The cursor after the next token.
    pub fn ahead(mut self) -> Cursor<'a> {
        self.bump();
        self
    }

    /// True if the next token directly follows the one before.
    pub fn adjacent(&self) -> bool {
        self.prev_end == self.span.start
    }

    /// True if the next token is the first one on its line.
    pub fn at_line_start(&self) -> bool {
        self.prev_end == 0 || self.source[self.prev_end as usize..self.span.start as usize].contains('\n')
    }
}

/// The contents of a string token with its escapes resolved; `None` if they are wrong.
pub(crate) fn unescape(token: &str) -> Option<String> {
    let inner = token.strip_prefix('@').unwrap_or(token);
    let inner = inner.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(inner.to_string());
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes().iter();
    while let Some(&b) = rest.next() {
        if b != b'\\' {
            bytes.push(b);
            continue;
        }
        match *rest.next()? {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            c @ (b'"' | b'\\') => bytes.push(c),
            high => {
                let digit = |b: u8| (b as char).to_digit(16);
                bytes.push((digit(high)? * 16 + digit(*rest.next()?)?) as u8);
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// A string as a token.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// True for a text that is a single word token.
pub(crate) fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.'))
}
