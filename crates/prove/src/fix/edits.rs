//! Edits that fix a text, and the resulting verdict.

use serde::Serialize;

use super::Judgement;

/// Edits of a text, and the resulting verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fix {
    /// The edits, one per item: line numbers are those of the original text.
    pub edits: Vec<String>,
    /// The verdict on the edited text.
    pub verdict: Judgement,
    /// Remaining errors.
    pub errors: usize,
    /// The edited text.
    #[serde(skip)]
    pub text: String,
}

impl Fix {
    /// The resulting verdict, as text.
    pub fn then(&self) -> String {
        match (self.verdict, self.errors) {
            (Judgement::Proved, _) => "then it is proved".into(),
            (Judgement::Doubtful, _) => "then only warnings are left".into(),
            (_, 0) => "then nothing is found, but it is not proved".into(),
            (_, 1) => "then 1 error is left".into(),
            (_, left) => format!("then {left} errors are left"),
        }
    }
}
