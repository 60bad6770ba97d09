//! Diagnostics: errors as values, rendered for people.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
// Not used in code: the manifest states why it is a dependency.
use anstyle as _;

use slipring_finding::{Kind, Severity};

use crate::{Source, Span, brief, visible_name};

/// A location with a remark.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Labeled {
    pub span: Span,
    pub text: String,
}

/// One message about a source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// Stable code, such as `parse` or `tile-shape`, which is displayed.
    pub code: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// The error, in one sentence without a full stop.
    pub message: String,
    /// Its location; `None` if it has none in the text.
    pub primary: Option<Labeled>,
    /// Other locations that explain it.
    pub secondary: Vec<Labeled>,
    /// Further facts.
    pub notes: Vec<String>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a location.
    pub fn error(kind: impl Into<Kind>, span: Span, message: impl Into<String>) -> Diagnostic {
        let primary = Some(Labeled { span, text: String::new() });
        Diagnostic { primary, ..Diagnostic::nowhere(kind, Severity::Error, message) }
    }

    /// A diagnostic without a location in the text.
    pub fn nowhere(kind: impl Into<Kind>, severity: Severity, message: impl Into<String>) -> Diagnostic {
        let kind = kind.into();
        Diagnostic {
            severity,
            code: kind.code(),
            kind,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning at a location.
    pub fn warning(kind: impl Into<Kind>, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(kind, span, message) }
    }

    /// True if both have the same contents, whatever their locations.
    pub fn says_the_same(&self, other: &Diagnostic) -> bool {
        self.code == other.code && self.message == other.message
    }

    /// True if both have the same contents and location.
    pub fn repeats(&self, other: &Diagnostic) -> bool {
        self.says_the_same(other) && self.primary == other.primary
    }

    /// Adds a remark at the primary location.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(primary) = &mut self.primary {
            primary.text = text.into();
        }
        self
    }

    /// Adds a location that explains it.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Labeled { span, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds how to fix it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The message with its source lines. `color` adds terminal colours.
    pub fn render(&self, source: &Source, color: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let mut group = Group::with_title(level.primary_title(brief(&self.message)).id(self.code));
        if let Some(primary) = self.primary.as_ref().filter(|p| !p.span.is_empty()) {
            let places = std::iter::once((AnnotationKind::Primary, primary));
            let places = places.chain(self.secondary.iter().map(|label| (AnnotationKind::Context, label)));
            for part in excerpts(source, places.collect()) {
                group = part.show(source, group);
            }
            // The file is named but not opened: a text could name any file.
            if let Some(own) = source.written_at(primary.span.start) {
                let at = format!("written at {}:{}:{}", own.name, own.line, own.column);
                group = group.element(Level::NOTE.message(brief(&at).into_owned()));
            }
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(brief(note)));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(brief(help)));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

/// Maximum number of bytes of the text shown as one excerpt: locations further apart are shown in several, and longer
/// lines are only named. This bounds the cost of one message, however large the text is.
const MOST_SHOWN: usize = 1 << 14;

/// Locations shown together, in some lines of the text.
struct Excerpt<'a> {
    /// First and last line, from 0.
    lines: (usize, usize),
    places: Vec<(AnnotationKind, &'a Labeled)>,
}

/// Groups locations into excerpts of the text.
fn excerpts<'a>(source: &Source, places: Vec<(AnnotationKind, &'a Labeled)>) -> Vec<Excerpt<'a>> {
    let mut parts: Vec<Excerpt<'a>> = Vec::new();
    for place in places {
        let span = clamp(source, place.1.span);
        let own = (source.line_of(span.start), source.line_of(span.end.saturating_sub(1).max(span.start)));
        let together = |lines: (usize, usize)| (lines.0.min(own.0), lines.1.max(own.1));
        // Parts of another file are shown separately, with the name and the line numbers of that file.
        let file = |line: usize| source.elsewhere(source.lines(line, line).start as u32).map(|part| part.span);
        let near = |part: &&mut Excerpt<'_>| {
            let (first, last) = together(part.lines);
            file(first) == file(last) && source.lines(first, last).len() <= MOST_SHOWN
        };
        match parts.iter_mut().find(near) {
            Some(part) => {
                part.lines = together(part.lines);
                part.places.push(place);
            }
            None => parts.push(Excerpt { lines: own, places: vec![place] }),
        }
    }
    parts
}

impl<'a> Excerpt<'a> {
    fn show(self, source: &'a Source, group: Group<'a>) -> Group<'a> {
        let (first, last) = self.lines;
        let shown = source.lines(first, last);
        // If a location spans more lines than can be shown, the first ones.
        let shown = shown.start..source.border(shown.end.min(shown.start + MOST_SHOWN));
        let fits = |place: &(AnnotationKind, &Labeled)| clamp(source, place.1.span).start < shown.end;
        if !self.places.iter().all(fits) || source.lines(first, first).len() > MOST_SHOWN {
            return self.places.iter().fold(group, |group, (_, place)| {
                let (name, line, column) = source.place(place.span.start);
                let origin = Origin::path(visible_name(name)).line(line).char_column(column);
                let text = Some(place.text.as_str()).filter(|text| !text.is_empty());
                let group = group.element(origin);
                match text {
                    Some(text) => group.element(Level::NOTE.message(brief(text))),
                    None => group,
                }
            });
        }
        let text = &source.text[shown.clone()];
        let (name, line, _) = source.place(shown.start as u32);
        let mut snippet = Snippet::source(text).line_start(line).path(visible_name(name));
        for (kind, label) in self.places {
            let span = clamp(source, label.span);
            let span = span.start - shown.start..span.end.min(shown.end) - shown.start;
            snippet = snippet.annotation(kind.span(span).label(brief(&label.text)));
        }
        group.element(snippet)
    }
}

/// A range within the text and on character boundaries, whatever the span.
fn clamp(source: &Source, span: Span) -> std::ops::Range<usize> {
    let start = source.border(span.start as usize);
    start..source.border(span.end as usize).max(start)
}

/// Indicates that an error was reported and its subject was abandoned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reported;

/// Diagnostics in the order they were found.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Diags {
    /// All of them.
    pub list: Vec<Diagnostic>,
}

impl Diags {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// True if one of this kind is at a location, whatever its message.
    pub fn has_at(&self, kind: impl Into<Kind>, span: Span) -> bool {
        let kind = kind.into();
        let here = |said: &&Diagnostic| said.primary.as_ref().is_some_and(|primary| primary.span == span);
        self.list.iter().filter(here).any(|said| said.kind.is_like(&kind))
    }

    /// True if one is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// All of them, rendered one after another.
    pub fn render(&self, source: &Source, color: bool) -> String {
        self.list.iter().map(|d| d.render(source, color) + "\n").collect()
    }
}
