//! Messages about a text, as data.

use serde::{Serialize, Serializer};
use slipring_finding::{Kind, Line, Severity};

fn as_name<S: Serializer>(severity: &Severity, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(severity.name())
}

/// A finding, or a message about the text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct MessageFacts {
    /// In JSON `error`, `warning` or `note`.
    #[serde(serialize_with = "as_name")]
    pub severity: Severity,
    /// Stable code, such as `deadlock`.
    pub code: String,
    /// The kind of finding, from which pictures are drawn.
    #[serde(skip)]
    pub kind: Kind,
    pub message: String,
    /// Line and column (in characters), from 1; `None` for messages without a location.
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// Line and column just past its end.
    pub end_line: Option<usize>,
    pub end_column: Option<usize>,
    /// The file of the location, if it is not the text's own file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where the operation was originally written, if the text says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_at: Option<WrittenFacts>,
    /// What happens at the location.
    pub label: String,
    /// Related locations.
    pub also: Vec<PlaceFacts>,
    /// Notes.
    pub notes: Vec<String>,
    /// A suggested fix.
    pub help: Option<String>,
}

/// A location in the text, from 1, and what happens there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PlaceFacts {
    pub line: usize,
    pub column: usize,
    /// Line and column just past its end.
    pub end_line: usize,
    pub end_column: usize,
    /// The file, if it is not the text's own file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub label: String,
}

/// A location in a file from which the text was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WrittenFacts {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl MessageFacts {
    /// The line of the location.
    pub fn at(&self) -> Option<Line> {
        self.line.map(|number| Line::new(number as u32, self.file.as_deref()))
    }
}

impl PlaceFacts {
    /// The line of the location.
    pub fn at(&self) -> Line {
        Line::new(self.line as u32, self.file.as_deref())
    }
}
