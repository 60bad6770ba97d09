//! Errors of the library: one type, with the report that the command line gives.

use std::fmt;
use std::sync::Arc;

use slipring_ir::{Diagnostic, Diags, Kind, Severity, Source};
use slipring_report::MessageFacts;
use thiserror::Error;

use crate::message_facts;

/// Messages about a text.
#[derive(Clone, Debug)]
pub struct Report {
    source: Arc<Source>,
    messages: Vec<Diagnostic>,
}

impl Report {
    /// Messages about this text.
    pub fn new(source: Arc<Source>, messages: Vec<Diagnostic>) -> Report {
        Report { source, messages }
    }

    /// The text.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The text, to be shared.
    #[doc(hidden)]
    pub fn source_shared(&self) -> Arc<Source> {
        self.source.clone()
    }

    /// The messages, in order.
    pub fn messages(&self) -> &[Diagnostic] {
        &self.messages
    }

    /// The messages as facts with lines and columns.
    pub fn facts(&self) -> Vec<MessageFacts> {
        self.messages.iter().map(|message| message_facts(message, &self.source)).collect()
    }

    /// Number of errors among them.
    pub fn errors(&self) -> usize {
        self.messages.iter().filter(|message| message.severity == Severity::Error).count()
    }

    /// True if one of them is more than a hint.
    pub fn has_findings(&self) -> bool {
        self.messages.iter().any(|message| message.severity > Severity::Note)
    }

    /// True if one of them reports something that cannot be run: there is no verdict then.
    pub fn is_unsupported(&self) -> bool {
        self.messages.iter().any(|message| matches!(message.kind, Kind::Unsupported | Kind::MemoryLimit))
    }

    /// These messages, followed by others about the same text.
    pub fn and(mut self, others: Vec<Diagnostic>) -> Report {
        self.messages.extend(others);
        self
    }

    /// These messages, followed by those of the others that repeat none of them, whatever their location.
    #[doc(hidden)]
    pub fn and_new(mut self, others: impl IntoIterator<Item = Diagnostic>) -> Report {
        add_new(&mut self.messages, others);
        self
    }

    /// All of them with their source lines, as a terminal shows them.
    pub fn render(&self, color: bool) -> String {
        let all: Vec<String> = self.messages.iter().map(|message| message.render(&self.source, color)).collect();
        all.join("\n\n")
    }
}

/// Adds the messages that are not yet present, whatever their location.
pub fn add_new(known: &mut Vec<Diagnostic>, others: impl IntoIterator<Item = Diagnostic>) {
    let before = known.len();
    for other in others {
        if !known[..before].iter().any(|message| message.says_the_same(&other)) {
            known.push(other);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// Why something was not done. Errors of a kernel at run time are not an error here but findings of its run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The text has errors; the report may also contain warnings and notes.
    #[error("{0}")]
    Text(Report),
    /// A file cannot be read, or is not a text.
    #[error("{0}")]
    File(String),
    /// There is no such platform, or a platform file has errors.
    #[error("{0}")]
    Platform(String),
    /// The arguments do not fit the kernel.
    #[error("{0}")]
    Arguments(String),
    /// The request cannot be fulfilled, and why.
    #[error("{0}")]
    Unsupported(String),
    /// The run was cancelled.
    #[error("the run was cancelled; nothing was written")]
    Cancelled,
    /// The run did not complete, so there are no results: its findings.
    #[error("the run did not complete and has no results\n{0}")]
    Incomplete(Report),
    /// A run and the sequential semantics of its source differ.
    #[error("{0}")]
    Different(Report),
}

impl Error {
    /// Errors of a text.
    #[doc(hidden)]
    pub fn text(source: Arc<Source>, diags: Diags) -> Error {
        Error::Text(Report::new(source, diags.list))
    }

    /// The messages about the text, if the error is about one.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Error::Text(report) | Error::Incomplete(report) | Error::Different(report) => Some(report),
            _ => None,
        }
    }
}

/// True if arguments would resolve every error: they depend on a shape or a value known only in a call.
pub fn waits_for_arguments(report: &Report) -> bool {
    let mut wrong = report.messages().iter().filter(|said| said.severity == Severity::Error);
    wrong.all(|said| said.kind.waits_for_arguments())
}
