//! What would make a run faster, as pages show it.

use serde::Serialize;

/// An edit of the source that was tried: it makes the run faster, leaves the same bytes, and nothing is found wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TriedEdit {
    /// What is changed, in words.
    pub what: String,
    /// The line that it is about, from 1.
    pub line: usize,
    /// Cycles of the run with this edit alone.
    pub cycles: u64,
    /// How its results compare with the sequential semantics: `same`, or why that was not checked.
    pub verified: String,
    /// What `prove` says of the text with it; `None` where it cannot be asked.
    pub proof: Option<String>,
    /// The edit as a unified diff, for `patch -p1` and `git apply`.
    pub patch: String,
}

impl TriedEdit {
    /// What it gains against a run, and what is known of it.
    pub fn gain(&self, before: u64) -> String {
        let change = 100.0 * (self.cycles as f64 - before as f64) / before.max(1) as f64;
        let known = match self.verified.as_str() {
            "same" => "the same bytes as before and as the sequential semantics".to_string(),
            other => format!("the same bytes as before; the sequential semantics is {other}"),
        };
        let proof = self.proof.as_ref().map_or(String::new(), |word| format!("; `prove`: {word}"));
        format!("{} cycles instead of {before}, {change:+.1} %: {known}{proof}", self.cycles)
    }
}

/// A run with something otherwise, as a page lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicted {
    /// What would be otherwise.
    pub what: String,
    /// Cycles that it would take.
    pub cycles: u64,
    /// The edit that comes nearest, among those that the page shows.
    pub edit: Option<usize>,
    /// Why there is none; empty where there is one, or where none was looked for.
    pub no_edit: String,
}
