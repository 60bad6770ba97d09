//! Edits that mend a text, and what is then known of it.

use serde::Serialize;

use super::Judgement;

/// Edits of a text, and what is then known of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fix {
    /// What is changed, an item each: lines are those of the text as it was.
    pub edits: Vec<String>,
    /// What is known of the text with them.
    pub verdict: Judgement,
    /// Errors that are left.
    pub errors: usize,
    /// The text with them.
    #[serde(skip)]
    pub text: String,
}

impl Fix {
    /// What is then known, in words.
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
