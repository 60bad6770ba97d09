//! Source texts and locations in them.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::OnceLock;

use slipring_finding::Line;

/// Extensions of C++ files.
pub const CPP_SUFFIXES: [&str; 5] = ["cpp", "cc", "cxx", "cce", "hpp"];

/// The language of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lang {
    /// The kernel language.
    Python,
    /// A `.pto` text.
    Text,
    /// C++.
    Cpp,
}

/// A source text with its name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// File name as the user wrote it.
    pub name: String,
    /// The text.
    pub text: String,
    /// True for a text of the kernel language: by default one whose name ends in `.py`, in either case.
    pub language: bool,
    /// True for a C++ text: by default one with a C++ extension ([`CPP_SUFFIXES`]).
    pub cpp: bool,
    /// Parts that come from other files.
    elsewhere: Vec<Elsewhere>,
    /// Original locations given in the text: known once it has been parsed.
    written: Written,
    places: LineIndex,
}

/// A part of a text that comes from another file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elsewhere {
    /// Its position in the text: whole lines.
    pub span: Span,
    /// The name of the file.
    pub name: String,
    /// The line of the file, from 1, at which it begins.
    pub line: usize,
}

/// The original location of an operation, as given by its `loc("FILE":LINE:COLUMN)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenAt {
    /// The position of the operation in the text.
    pub span: Span,
    /// The name of the file.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl WrittenAt {
    /// The first file location in the contents of the parentheses of `loc(…)`; `None` if there is none.
    pub(crate) fn of(loc: &str, span: Span) -> Option<WrittenAt> {
        loc.match_indices("\":").find_map(|(end, _)| {
            let name = &loc[loc[..end].rfind('"')? + 1..end];
            let mut numbers = loc[end + 2..].splitn(2, ':');
            let line = numbers.next()?.parse().ok()?;
            let column = numbers.next()?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
            (!name.is_empty()).then(|| WrittenAt { span, name: name.to_string(), line, column })
        })
    }
}

/// A range of bytes of a source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// End of the range (exclusive).
    pub end: u32,
}

impl Span {
    /// From byte `start` up to byte `end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The smallest range that contains both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// True for the span of things without a location in the text.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Line starts and character counts before each block of the text: built on first use, so that locations in a large
/// text are found without reading it again.
#[derive(Clone, Debug, Default)]
struct LineIndex(OnceLock<Index>);

#[derive(Clone, Debug, Default)]
struct Index {
    /// First byte of each line.
    lines: Vec<usize>,
    /// Characters before each [`BLOCK`] of bytes.
    chars: Vec<usize>,
}

/// Derived from the text, in its order.
#[derive(Clone, Debug, Default)]
struct Written(OnceLock<Vec<WrittenAt>>);

impl PartialEq for Written {
    fn eq(&self, _: &Written) -> bool {
        true
    }
}

impl Eq for Written {}

const BLOCK: usize = 1024;

/// Equality of texts does not depend on whether the index has been built.
impl PartialEq for LineIndex {
    fn eq(&self, _: &LineIndex) -> bool {
        true
    }
}

impl Eq for LineIndex {}

impl Source {
    /// A text and its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let name = name.into();
        let ends = |suffix: &str| suffix_of(&name).is_some_and(|own| own.eq_ignore_ascii_case(suffix));
        let (language, cpp) = (ends("py"), CPP_SUFFIXES.iter().any(|suffix| ends(suffix)));
        Source {
            name,
            text: text.into(),
            language,
            cpp,
            elsewhere: Vec::new(),
            written: Written::default(),
            places: LineIndex::default(),
        }
    }

    /// This text as one of the kernel language, whatever its name is: for a notebook cell or typed input.
    pub fn of_language(self) -> Source {
        self.of(Lang::Python)
    }

    /// This text in the given language, whatever its name is.
    pub fn of(self, lang: Lang) -> Source {
        Source { language: lang == Lang::Python, cpp: lang == Lang::Cpp, ..self }
    }

    /// This text with parts of other files, in order of position.
    pub fn with_parts_of_others(self, elsewhere: Vec<Elsewhere>) -> Source {
        Source { elsewhere, ..self }
    }

    /// The parts that come from other files, in order of position.
    pub fn parts_of_others(&self) -> &[Elsewhere] {
        &self.elsewhere
    }

    /// The other file that a byte comes from, if any.
    pub fn elsewhere(&self, byte: u32) -> Option<&Elsewhere> {
        let after = self.elsewhere.partition_point(|part| part.span.start <= byte);
        self.elsewhere[..after].last().filter(|part| byte < part.span.end)
    }

    /// The original location of the operation at a byte, if the text gives it and has been parsed.
    pub fn written_at(&self, byte: u32) -> Option<&WrittenAt> {
        let all = self.written.0.get()?;
        let after = all.partition_point(|own| own.span.start <= byte);
        all[..after].last().filter(|own| byte < own.span.end)
    }

    /// Stores the original locations of the operations, in the order of the text.
    pub(crate) fn set_written(&self, all: Vec<WrittenAt>) {
        // Parsing a text again gives the same.
        let _ = self.written.0.set(all);
    }

    /// The language in which it is parsed.
    pub fn lang(&self) -> Lang {
        match (self.language, self.cpp) {
            (true, _) => Lang::Python,
            (_, true) => Lang::Cpp,
            _ => Lang::Text,
        }
    }

    /// True if the name determines the language.
    pub fn is_named(&self) -> bool {
        suffix_of(&self.name)
            .is_some_and(|suffix| ["py", "pto", "mlir"].iter().any(|own| suffix.eq_ignore_ascii_case(own)))
            || self.cpp
    }

    /// The name for messages: characters that would move the cursor or change the text direction are escaped.
    pub fn shown_name(&self) -> Cow<'_, str> {
        visible_name(&self.name)
    }

    /// Name, line and column of a byte in the file that it comes from, for messages; the name is as written.
    pub fn place(&self, byte: u32) -> (&str, usize, usize) {
        let (line, column) = self.line_column(byte);
        let name = self.elsewhere(byte).map_or(&self.name, |part| &part.name);
        (name, self.number_of(line - 1), column)
    }

    /// The line of a byte, in the file that it comes from.
    pub fn line(&self, byte: u32) -> Line {
        self.shown_line(self.line_column(byte).0)
    }

    /// A line of the text, from 1, as a line of the file that it comes from.
    pub fn shown_line(&self, line: usize) -> Line {
        let at = line.saturating_sub(1).min(self.index().lines.len() - 1);
        let file = self.elsewhere(self.index().lines[at] as u32).map(|part| part.name.as_str().into());
        Line { number: self.number_of(at) as u32, file }
    }

    /// The position of a file's line in the text, from 1; `None` if the text does not contain it.
    pub fn row_of(&self, line: &Line) -> Option<usize> {
        (1..=self.index().lines.len()).find(|row| self.shown_line(*row) == *line)
    }

    /// The number, from 1, of a line in the file that it comes from.
    pub(crate) fn number_of(&self, line: usize) -> usize {
        match self.elsewhere(self.index().lines[line] as u32) {
            Some(part) => part.line + line - self.line_of(part.span.start as usize),
            None => line + 1,
        }
    }

    fn index(&self) -> &Index {
        self.places.0.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
            let mut chars = vec![0];
            for block in bytes.chunks(BLOCK) {
                chars.push(chars[chars.len() - 1] + characters(block));
            }
            Index { lines: std::iter::once(0).chain(breaks).collect(), chars }
        })
    }

    /// Line and column of a byte of the text, both from 1; the column counts characters.
    pub fn line_column(&self, byte: u32) -> (usize, usize) {
        let at = self.border(byte as usize);
        let line = self.line_of(at);
        let first = self.index().lines[line];
        let before = match at - first {
            // The start of a line that is not very long.
            few if few <= BLOCK => characters(&self.text.as_bytes()[first..at]),
            _ => self.characters_before(at) - self.characters_before(first),
        };
        (line + 1, before + 1)
    }

    /// The line of a byte in the text, from 0.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        self.index().lines.partition_point(|first| *first <= byte) - 1
    }

    /// The byte range of some lines, from 0, including the line ends.
    pub(crate) fn lines(&self, first: usize, last: usize) -> std::ops::Range<usize> {
        let index = self.index();
        index.lines[first]..index.lines.get(last + 1).copied().unwrap_or(self.text.len())
    }

    /// The nearest character boundary at or before a byte.
    pub(crate) fn border(&self, byte: usize) -> usize {
        let mut at = byte.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn characters_before(&self, byte: usize) -> usize {
        let block = byte / BLOCK;
        self.index().chars[block] + characters(&self.text.as_bytes()[block * BLOCK..byte])
    }
}

/// The extension of a file's name.
fn suffix_of(name: &str) -> Option<&str> {
    std::path::Path::new(name).extension()?.to_str()
}

/// A text for messages: characters that would move the cursor or change the text direction are escaped, except line
/// breaks and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hidden(c) && c != '\n' && c != '\t')
}

/// As [`visible`], truncated if it is too long to read.
pub fn brief(text: &str) -> Cow<'_, str> {
    const MOST: usize = 1 << 13;
    if text.len() <= 2 * MOST {
        return visible(text);
    }
    let mut end = MOST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(format!("{} … ({} bytes more)", visible(&text[..end]), text.len() - end))
}

/// As [`visible`], for a name, in which line breaks and tabs are escaped too.
pub fn visible_name(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// True for control characters, direction marks and line separators.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if hidden(c) => out.push_str("\\n"),
            '\t' if hidden(c) => out.push_str("\\t"),
            '\r' if hidden(c) => out.push_str("\\r"),
            c if hidden(c) && (c as u32) < 0x80 => drop(write!(out, "\\x{:02x}", c as u32)),
            c if hidden(c) => drop(write!(out, "\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Number of characters that begin in some bytes of a text.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        assert_eq!(visible_name("a\u{1b}[31m\n\u{202e}\u{85}b é"), "a\\x1b[31m\\n\\u{202e}\\u{85}b é");
        assert_eq!(visible("one\n\ttwo\r"), "one\n\ttwo\\r");
    }

    #[test]
    fn the_suffix_says_what_a_text_is() {
        let named = |name: &str| (Source::new(name, "").is_named(), Source::new(name, "").language);
        assert_eq!(
            ["k.py", "k.PY", "a.b/k.pto", "k", "-", ".py", "k.txt"].map(named),
            [(true, true), (true, true), (true, false), (false, false), (false, false), (false, false), (false, false),]
        );
    }

    #[test]
    fn parts_of_other_files_have_the_names_and_lines_of_those() {
        let text = "one\ntwo\n\nseven\neight\n\nnine\n";
        let at = |word: &str| text.find(word).unwrap() as u32;
        let other = Elsewhere { span: Span::new(at("seven"), at("eight") + 6), name: "b.py".into(), line: 7 };
        let source = Source::new("a.py", text).with_parts_of_others(vec![other]);
        let place = |word: &str| source.place(at(word));
        assert_eq!(place("two"), ("a.py", 2, 1));
        assert_eq!(place("seven"), ("b.py", 7, 1));
        assert_eq!(place("ght"), ("b.py", 8, 3));
        assert_eq!(place("nine"), ("a.py", 7, 1));
        assert_eq!(["two", "ght", "nine"].map(|word| source.line(at(word)).to_string()), ["2", "8 of b.py", "7"]);
        assert_eq!(source.row_of(&source.line(at("ght"))), Some(5));
        assert_eq!(source.row_of(&Line::new(5, None)), None);
        // Pictures and tables are of the text itself.
        assert_eq!(source.line_column(at("seven")), (4, 1));
        let said = crate::Diagnostic::error("x", Span::new(at("ght"), at("ght") + 3), "wrong");
        let said = said.also(Span::new(at("two"), at("two") + 3), "because");
        let shown = said.render(&source, false);
        assert!(shown.contains("b.py:8:3") && shown.contains("a.py:2:1") && shown.contains("8 | eight"), "{shown}");
    }

    #[test]
    fn a_location_has_the_first_place_of_a_file_in_it() {
        let of = |loc: &str| WrittenAt::of(loc, Span::default()).map(|own| (own.name, own.line, own.column));
        let at = |name: &str, line, column| Some((name.to_string(), line, column));
        assert_eq!(of("\"/a b/k.py\":12:9"), at("/a b/k.py", 12, 9));
        assert_eq!(of("\"t\"(\"k.py\":3:4)"), at("k.py", 3, 4));
        assert_eq!(of("fused[\"a.py\":1:2, \"b.py\":3:4]"), at("a.py", 1, 2));
        assert_eq!(["unknown", "\"only a name\"", "\"k.py\":x:1", "\"\":1:2"].map(of), [None, None, None, None]);
    }

    proptest! {
        #[test]
        fn places_are_those_of_reading_the_text(
            parts in prop::collection::vec(prop_oneof!["[a-zé→𝄞]{0,400}", Just("\n".to_string())], 0..30),
            byte in 0u32..6000,
        ) {
            let source = Source::new("x", parts.concat());
            let mut at = (byte as usize).min(source.text.len());
            while !source.text.is_char_boundary(at) {
                at -= 1;
            }
            let before = &source.text[..at];
            let line = before.rsplit('\n').next().unwrap_or("");
            prop_assert_eq!(source.line_column(byte), (before.matches('\n').count() + 1, line.chars().count() + 1));
        }
    }
}
