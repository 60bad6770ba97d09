//! Source texts and places in them.

/// A source text with its name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// File name as the user wrote it.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A range of bytes of a source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// First byte after the range.
    pub end: u32,
}

impl Span {
    /// From byte `start` up to byte `end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The smallest range that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// True for the span of things that no text stands for.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl Source {
    /// A text and its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    /// Line and column of a byte, both from 1; the column counts characters.
    pub fn line_column(&self, byte: u32) -> (usize, usize) {
        let mut at = (byte as usize).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}
