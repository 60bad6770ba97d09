//! Messages about a text, for programs.

use serde::Serialize;
use slipring_finding::{Kind, Line};

/// A finding, or a message about the text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct MessageFacts {
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// Stable code, such as `deadlock`.
    pub code: String,
    /// What it is about: pictures are drawn of it.
    #[serde(skip)]
    pub kind: Kind,
    pub message: String,
    /// Line and column (in characters) where it shows, from 1; `None` for what has no place in the text.
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// Line and column of the character after its end.
    pub end_line: Option<usize>,
    pub end_column: Option<usize>,
    /// The file that it shows in, where that is another one than the text's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where the operation there was written, if the text says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_at: Option<WrittenFacts>,
    /// What is there.
    pub label: String,
    /// Other places that explain it.
    pub also: Vec<PlaceFacts>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What fixes it.
    pub help: Option<String>,
}

/// A place in the text, from 1, and what is there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PlaceFacts {
    pub line: usize,
    pub column: usize,
    /// Line and column of the character after its end.
    pub end_line: usize,
    pub end_column: usize,
    /// The file, where that is another one than the text's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub label: String,
}

/// A place of a file that a text was made from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WrittenFacts {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl MessageFacts {
    /// The line that it shows.
    pub fn at(&self) -> Option<Line> {
        self.line.map(|number| Line::new(number as u32, self.file.as_deref()))
    }
}

impl PlaceFacts {
    /// The line.
    pub fn at(&self) -> Line {
        Line::new(self.line as u32, self.file.as_deref())
    }
}
