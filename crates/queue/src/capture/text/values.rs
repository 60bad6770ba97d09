//! Tokens and values of the text form.

use std::cell::Cell;
use std::ops::Range;

use super::TextError;
use crate::board::Board;
use crate::wire::{LargeSub, PCIE_XY, PagedToRingbuffer, Rect, Wait, WritePacked, Xy};

/// A word of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token<'a> {
    pub text: &'a str,
    pub span: Range<usize>,
}

impl Token<'_> {
    /// A number within bounds.
    pub fn fits(&self, value: Option<u64>, most: u64) -> Result<u64, TextError> {
        let value =
            value.ok_or_else(|| TextError::new(self.span.clone(), format!("`{}` holds no number", self.text)))?;
        if value > most {
            return Err(TextError::new(self.span.clone(), format!("{value} is more than {most}, the most that fits")));
        }
        Ok(value)
    }
}

/// A line with its words, without comments; never empty.
#[derive(Debug)]
pub(super) struct Line<'a> {
    tokens: Vec<Token<'a>>,
    pub span: Range<usize>,
    /// The number of words that were read.
    read: Cell<usize>,
}

impl<'a> Line<'a> {
    /// A line that starts at byte `at` of the text; `None` if it is blank.
    pub fn new(raw: &'a str, at: usize) -> Option<Line<'a>> {
        let comment = [raw.find('#'), raw.find("//")].into_iter().flatten().min();
        let code = &raw[..comment.unwrap_or(raw.len())];
        let mut tokens = Vec::new();
        for text in code.split_whitespace() {
            let start = at + (text.as_ptr() as usize - raw.as_ptr() as usize);
            tokens.push(Token { text, span: start..start + text.len() });
        }
        let span = tokens.first()?.span.start..tokens.last()?.span.end;
        Some(Line { tokens, span, read: Cell::new(1) })
    }

    /// The first word and the others, which the caller reads.
    pub fn split(&self) -> (&Token<'a>, &[Token<'a>]) {
        (self.first(), self.rest(0))
    }

    /// The first word.
    pub fn first(&self) -> &Token<'a> {
        &self.tokens[0]
    }

    /// All words from this one after the first, which the caller reads.
    pub fn rest(&self, at: usize) -> &[Token<'a>] {
        self.read.set(self.tokens.len());
        self.tokens.get(at + 1..).unwrap_or(&[])
    }

    /// Checks that every word was read.
    pub fn ends(&self) -> Result<(), TextError> {
        match self.tokens.get(self.read.get()) {
            Some(token) => {
                let message = format!("`{}` takes nothing more, but `{}` follows", self.first().text, token.text);
                Err(TextError::new(token.span.clone(), message))
            }
            None => Ok(()),
        }
    }

    /// A word after the first.
    pub fn word(&self, at: usize, what: &str) -> Result<&Token<'a>, TextError> {
        let end = self.span.end;
        self.read.set(self.read.get().max(at + 2));
        self.tokens
            .get(at + 1)
            .ok_or_else(|| TextError::new(end.saturating_sub(1)..end, format!("{what} is missing here")))
    }

    /// A number after the first word.
    pub fn number(&self, at: usize, what: &str, most: u64) -> Result<u64, TextError> {
        let word = self.word(at, what)?;
        word.fits(integer(word.text), most)
    }
}

/// A number, decimal or with `0x`.
pub(super) fn integer(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

/// The value of a field: a number, a location for location words, names for flags.
pub(super) fn field_value(name: &str, text: &str) -> Option<u64> {
    match name {
        "noc_xy" => match text {
            "pcie" => Some(u64::from(PCIE_XY)),
            _ => rect(text).map(|(rect, single)| u64::from(if single { rect.low.word() } else { rect.word() })),
        },
        "flags" => text.split('|').map(flag).try_fold(0, |all, one| one.map(|one| all | one)),
        _ => None,
    }
    .or_else(|| integer(text))
}

fn flag(name: &str) -> Option<u64> {
    Some(u64::from(match name {
        "barrier" => Wait::BARRIER,
        "notify" => Wait::NOTIFY_PREFETCH,
        "memory" => Wait::MEMORY,
        "stream" => Wait::STREAM,
        "clear" => Wait::CLEAR_STREAM,
        "mcast" => WritePacked::MCAST,
        "no_stride" => WritePacked::NO_STRIDE,
        "unlink" => LargeSub::UNLINK,
        "reset" => PagedToRingbuffer::RESET_TO_START,
        _ => return None,
    }))
}

/// `(x,y)` or `(x,y)..(x,y)`, and whether it is the former.
fn rect(text: &str) -> Option<(Rect, bool)> {
    match text.split_once("..") {
        Some((low, high)) => Some((Rect::new(tile(low)?, tile(high)?), false)),
        None => tile(text).map(|tile| (Rect::new(tile, tile), true)),
    }
}

fn tile(text: &str) -> Option<Xy> {
    let (x, y) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    let coordinate = |text: &str| integer(text).filter(|v| *v < 64).map(|v| v as u8);
    Some(Xy::new(coordinate(x)?, coordinate(y)?))
}

/// Tiles: `workers`, or locations and rectangles joined by `+`. Rectangles denote the workers in them, row by row or
/// column by column.
pub(super) fn tiles(token: &Token<'_>, board: &Board, by_column: bool) -> Result<Vec<Xy>, TextError> {
    let mut workers: Vec<Xy> = board.workers().collect();
    if by_column {
        workers.sort_by_key(|tile| (tile.x, tile.y));
    }
    if token.text == "workers" {
        return Ok(workers);
    }
    let mut out = Vec::new();
    for (rect, single) in parts(token)? {
        if single {
            out.push(rect.low);
        } else {
            out.extend(workers.iter().filter(|tile| rect.contains(**tile)));
        }
    }
    Ok(out)
}

/// Locations and rectangles joined by `+`.
pub(super) fn places(token: &Token<'_>) -> Result<Vec<Rect>, TextError> {
    Ok(parts(token)?.into_iter().map(|(rect, _)| rect).collect())
}

/// The parts of such a list, and whether each is a single location.
fn parts(token: &Token<'_>) -> Result<Vec<(Rect, bool)>, TextError> {
    let wrong = |part: &str| {
        TextError::new(token.span.clone(), format!("`{part}` names no tiles"))
            .hint("write `workers`, `(1,2)`, `(1,2)..(3,4)`, or several joined by `+`")
    };
    token.text.split('+').map(|part| rect(part).ok_or_else(|| wrong(part))).collect()
}

/// Bytes in hexadecimal, with runs such as `00*96`.
pub(super) fn bytes(tokens: &[Token<'_>], most: usize) -> Result<Vec<u8>, TextError> {
    let mut out = Vec::new();
    for token in tokens {
        let wrong = |message: &str| TextError::new(token.span.clone(), message);
        let (digits, times) = match token.text.split_once('*') {
            Some((digits, times)) => (digits, token.fits(integer(times), u64::MAX)? as usize),
            None => (token.text, 1),
        };
        if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong("bytes are pairs of hexadecimal digits").hint("a run of one value is written `00*96`"));
        }
        let digit = |b: u8| if b.is_ascii_digit() { b - b'0' } else { (b | 0x20) - b'a' + 10 };
        let value: Vec<u8> =
            digits.as_bytes().as_chunks::<2>().0.iter().map(|[h, l]| digit(*h) << 4 | digit(*l)).collect();
        if value.len().saturating_mul(times) > most - out.len() {
            return Err(TextError::full(token.span.clone()));
        }
        for _ in 0..times {
            out.extend_from_slice(&value);
        }
    }
    Ok(out)
}
