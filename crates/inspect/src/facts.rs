//! What is known of a text that was checked, as data.

use serde::Serialize;
use slipring_prove::PathFix;
use slipring_report::MessageFacts;

use crate::edits::changed_lines;

/// What is known of a text that was checked, as data.
#[derive(Serialize, Debug, Default)]
#[non_exhaustive]
pub struct CheckedFacts {
    /// Name of the text.
    pub file: String,
    /// Why it was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many errors it has.
    pub errors: usize,
    /// What is wrong on some path, whatever the kernel is given.
    pub findings: usize,
    /// How many warnings it has.
    pub warnings: usize,
    /// What is assumed of the launches that this speaks of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<String>,
    /// What became of it on each platform.
    pub platforms: Vec<PlatformFacts>,
    /// What a run decides and the text does not.
    pub not_checked: String,
    /// All messages.
    pub diagnostics: Vec<MessageFacts>,
    /// The edits that mend it, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixFacts>,
    /// The edits that were written, where they were asked for, and what they leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mended: Option<MendedFacts>,
}

/// Edits that mend a text, as one change of whole lines.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct FixFacts {
    /// What is changed, an edit each.
    pub edits: Vec<String>,
    /// The first line that goes, from 1.
    pub line: usize,
    /// The line after the last that goes; `line` where none does.
    pub end_line: usize,
    /// What stands there instead: whole lines.
    pub text: String,
    /// How many findings and errors are left.
    pub left: usize,
}

impl FixFacts {
    /// Of a text and the edits that were found for it.
    pub fn of(old: &str, fix: &PathFix, left: usize) -> FixFacts {
        let (range, text) = changed_lines(old, &fix.text);
        let line = |at: usize| old[..at].matches('\n').count() + 1;
        let open = usize::from(range.end > range.start && !old[..range.end].ends_with('\n'));
        let (first, end) = (line(range.start), line(range.end) + open);
        FixFacts { edits: fix.edits.clone(), line: first, end_line: end, text: text.into(), left }
    }
}

/// Edits that were written.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct MendedFacts {
    /// The file that was written; `None` where there is no edit.
    pub file: Option<String>,
    /// What was changed, an edit each.
    pub edits: Vec<String>,
    /// How many findings and errors are left.
    pub left: usize,
}

impl MendedFacts {
    /// Of edits that were written to a file.
    pub fn written(file: &str, edits: &[String], left: usize) -> MendedFacts {
        MendedFacts { file: Some(file.into()), edits: edits.to_vec(), left }
    }

    /// Of a text for which there is no edit.
    pub fn none(left: usize) -> MendedFacts {
        MendedFacts { file: None, edits: Vec::new(), left }
    }
}

/// What became of a text on one platform.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct PlatformFacts {
    /// The platform's name.
    pub name: String,
    /// False where the declarations refuse the text there and another platform takes it.
    pub applies: bool,
    /// How many errors it has there.
    pub errors: usize,
    /// What is wrong there on some path.
    pub findings: usize,
    /// Kernels whose rings, memory and synchronisation were worked out.
    pub kernels: usize,
}

impl CheckedFacts {
    /// The same with what was written to mend the text.
    pub fn with_mended(self, mended: Option<MendedFacts>) -> CheckedFacts {
        CheckedFacts { mended, ..self }
    }

    /// The same with the edits that mend it.
    pub fn with_fix(self, fix: Option<FixFacts>) -> CheckedFacts {
        CheckedFacts { fix, ..self }
    }

    /// Of a text that was not read, and why.
    pub fn unread(file: &str, error: String) -> CheckedFacts {
        CheckedFacts { file: file.into(), error: Some(error), ..CheckedFacts::default() }
    }
}
