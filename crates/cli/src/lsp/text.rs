//! Positions: converts between byte offsets of a text and the protocol's lines and UTF-16 units.

use serde_json::{Value, json};
use slipring_ir::Span;

/// A text with the offsets of its lines.
pub struct LineMap<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineMap<'a> {
    /// Indexes the lines of a text.
    pub fn new(text: &'a str) -> LineMap<'a> {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        LineMap { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// Number of lines.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// A line, from 0, without its terminator.
    pub fn line(&self, line: usize) -> &'a str {
        let Some(&start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The first byte of a line.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The line of a byte, from 0.
    pub fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte) - 1
    }

    /// A byte offset as a position of the protocol. Positions outside the text are clamped.
    pub fn position(&self, byte: usize) -> Value {
        let mut at = byte.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.line_of(at);
        let units: usize = self.text[self.starts[line]..at].chars().map(char::len_utf16).sum();
        json!({ "line": line, "character": units })
    }

    /// A byte range as a range of the protocol.
    pub fn range(&self, start: usize, end: usize) -> Value {
        json!({ "start": self.position(start), "end": self.position(end.max(start)) })
    }

    /// A span as a range of the protocol.
    pub fn range_of(&self, span: Span) -> Value {
        self.range(span.start as usize, span.end as usize)
    }

    /// The byte offset of a position of the protocol, rounded to the start of a character.
    pub fn byte(&self, position: &Value) -> Option<usize> {
        let number = |name: &str| usize::try_from(position.get(name)?.as_u64()?).ok();
        let (line, units) = (number("line")?, number("character")?);
        let text = self.line(line);
        let mut seen = 0;
        for (at, c) in text.char_indices() {
            if seen + c.len_utf16() > units {
                return Some(self.start(line) + at);
            }
            seen += c.len_utf16();
        }
        Some(self.start(line) + text.len())
    }

    /// The word around a byte: letters, digits, dots and a leading sigil. Returns its offset and the word.
    pub fn word(&self, byte: usize) -> (usize, &'a str) {
        let line = self.line_of(byte.min(self.text.len()));
        let (first, text) = (self.start(line), self.line(line));
        let at = byte.saturating_sub(first).min(text.len());
        let part = |c: char| c.is_alphanumeric() || "_.%@!#".contains(c);
        let start = text[..at]
            .rfind(|c| !part(c))
            .map_or(0, |last| last + text[last..].chars().next().map_or(1, char::len_utf8));
        let end = text[at..].find(|c| !part(c)).map_or(text.len(), |next| at + next);
        (first + start, &text[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_in_utf16() {
        let lines = LineMap::new("aé𝄞b\nnext %x");
        assert_eq!(lines.position(7), json!({ "line": 0, "character": 4 }));
        assert_eq!(lines.byte(&json!({ "line": 0, "character": 4 })), Some(7));
        // Inside the surrogate pair of one character, and past the end of a line and of the text.
        assert_eq!(lines.byte(&json!({ "line": 0, "character": 3 })), Some(3));
        assert_eq!(lines.byte(&json!({ "line": 0, "character": 99 })), Some(8));
        assert_eq!(lines.byte(&json!({ "line": 9, "character": 0 })), Some(16));
        assert_eq!(lines.position(4), json!({ "line": 0, "character": 2 }));
        assert_eq!(lines.word(15), (14, "%x"));
        assert_eq!(LineMap::new("").position(3), json!({ "line": 0, "character": 0 }));
    }
}
