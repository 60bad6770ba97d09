//! Results of the check of a text, as data.

use serde::Serialize;
use slipring_prove::PathFix;
use slipring_report::MessageFacts;

use crate::edits::changed_lines;

/// Results of the check of a text, as data.
#[derive(Serialize, Debug, Default)]
#[non_exhaustive]
pub struct CheckedFacts {
    /// Name of the file.
    pub file: String,
    /// Why the file was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of errors.
    pub errors: usize,
    /// Number of findings: faults on some path, whatever the arguments.
    pub findings: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Assumptions about the launches under which the results hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<String>,
    /// Results for each platform.
    pub platforms: Vec<PlatformFacts>,
    /// What the check does not cover.
    pub not_checked: String,
    /// All diagnostics.
    pub diagnostics: Vec<MessageFacts>,
    /// The edits that fix it, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixFacts>,
    /// The edits that were written, if requested, and the number of problems left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mended: Option<MendedFacts>,
}

/// Edits that fix a text, combined into one change of complete lines.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct FixFacts {
    /// A description of each edit.
    pub edits: Vec<String>,
    /// The first replaced line, from 1.
    pub line: usize,
    /// The line after the last replaced one; equal to `line` for a pure insertion.
    pub end_line: usize,
    /// The replacement: complete lines.
    pub text: String,
    /// Number of remaining findings and errors.
    pub left: usize,
}

impl FixFacts {
    /// From a text and the edits found for it.
    pub fn of(old: &str, fix: &PathFix, left: usize) -> FixFacts {
        let (range, text) = changed_lines(old, &fix.text);
        let line = |at: usize| old[..at].matches('\n').count() + 1;
        let open = usize::from(range.end > range.start && !old[..range.end].ends_with('\n'));
        let (first, end) = (line(range.start), line(range.end) + open);
        FixFacts { edits: fix.edits.clone(), line: first, end_line: end, text: text.into(), left }
    }
}

/// Edits that were written to a file.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct MendedFacts {
    /// The file that was written; `None` where there is no edit.
    pub file: Option<String>,
    /// A description of each edit.
    pub edits: Vec<String>,
    /// Number of remaining findings and errors.
    pub left: usize,
}

impl MendedFacts {
    /// For edits that were written to a file.
    pub fn written(file: &str, edits: &[String], left: usize) -> MendedFacts {
        MendedFacts { file: Some(file.into()), edits: edits.to_vec(), left }
    }

    /// For a text without an edit.
    pub fn none(left: usize) -> MendedFacts {
        MendedFacts { file: None, edits: Vec::new(), left }
    }
}

/// Results for one platform.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct PlatformFacts {
    /// The platform's name.
    pub name: String,
    /// False where the declarations reject the text on this platform and accept it on another.
    pub applies: bool,
    /// Number of errors on this platform.
    pub errors: usize,
    /// Number of findings on this platform.
    pub findings: usize,
    /// Kernels whose rings, memory and synchronisation were checked.
    pub kernels: usize,
}

impl CheckedFacts {
    /// These results with the edits that were written.
    pub fn with_mended(self, mended: Option<MendedFacts>) -> CheckedFacts {
        CheckedFacts { mended, ..self }
    }

    /// These results with the edits that fix the text.
    pub fn with_fix(self, fix: Option<FixFacts>) -> CheckedFacts {
        CheckedFacts { fix, ..self }
    }

    /// For a file that could not be read, with the reason.
    pub fn unread(file: &str, error: String) -> CheckedFacts {
        CheckedFacts { file: file.into(), error: Some(error), ..CheckedFacts::default() }
    }
}
