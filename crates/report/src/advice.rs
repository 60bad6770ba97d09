//! Proposed edits and predictions that would make a run faster, as pages list them.

use serde::Serialize;

use crate::Verified;

/// A tried edit of the source: the run is faster, produces the same bytes, and has no findings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TriedEdit {
    /// A description of the change.
    pub what: String,
    /// The line that it changes, from 1.
    pub line: usize,
    /// Cycles of the run with this edit alone.
    pub cycles: u64,
    /// The result of comparison with the sequential semantics.
    pub verified: Option<Verified>,
    /// The verdict of `prove` on the edited text; `None` where `prove` does not apply.
    pub proof: Option<String>,
    /// The edit as a unified diff, for `patch -p1` and `git apply`.
    pub patch: String,
}

impl TriedEdit {
    /// The gain over a run of `before` cycles, with the evidence for it.
    pub fn gain(&self, before: u64) -> String {
        let change = 100.0 * (self.cycles as f64 - before as f64) / before.max(1) as f64;
        let known = Verified::beside_the_same_bytes(self.verified.as_ref());
        let proof = self.proof.as_ref().map_or(String::new(), |word| format!("; `prove`: {word}"));
        format!("{} cycles instead of {before}, {change:+.1} %: {known}{proof}", self.cycles)
    }
}

/// A prediction for a hypothetical change, as a page lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicted {
    /// The hypothetical change.
    pub what: String,
    /// Predicted cycles.
    pub cycles: u64,
    /// Index of the edit that comes closest to it, among those on the page.
    pub edit: Option<usize>,
    /// Why there is no such edit; empty where there is one, or where none was searched for.
    pub no_edit: String,
}
