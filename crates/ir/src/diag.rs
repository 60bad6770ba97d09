//! Diagnostics: errors as values, rendered for people.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::{Source, Span};

/// How bad a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// A place with a remark.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Labeled {
    pub span: Span,
    pub text: String,
}

/// One message about a source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable code, such as `parse` or `tile-shape`.
    pub code: &'static str,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where; `None` for what has no place in the text.
    pub primary: Option<Labeled>,
    /// Other places that explain it.
    pub secondary: Vec<Labeled>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What fixes it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: Some(Labeled { span, text: String::new() }),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Says something at the primary place.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(primary) = &mut self.primary {
            primary.text = text.into();
        }
        self
    }

    /// Adds a place that explains it.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Labeled { span, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Says what fixes it.
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
        let mut group = Group::with_title(level.primary_title(self.message.as_str()).id(self.code));
        if let Some(primary) = self.primary.as_ref().filter(|p| !p.span.is_empty()) {
            let mut snippet = Snippet::source(source.text.as_str()).path(source.name.as_str());
            let places = [(AnnotationKind::Primary, primary)];
            let places = places.into_iter().chain(self.secondary.iter().map(|l| (AnnotationKind::Context, l)));
            for (kind, label) in places {
                snippet = snippet.annotation(kind.span(clamp(source, label.span)).label(label.text.as_str()));
            }
            group = group.element(snippet);
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

/// A range that lies inside the text and on character borders, whatever the span says.
fn clamp(source: &Source, span: Span) -> std::ops::Range<usize> {
    let text = &source.text;
    let border = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = border(span.start as usize);
    start..border(span.end as usize).max(start)
}

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

    /// True if one is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// All of them, rendered one after another.
    pub fn render(&self, source: &Source, color: bool) -> String {
        self.list.iter().map(|d| d.render(source, color) + "\n").collect()
    }
}
