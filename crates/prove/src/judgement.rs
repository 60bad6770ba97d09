//! The one-word judgement of a kernel, and what it covers.

use serde::Serialize;

/// The scope's term for all schedules.
pub(crate) const ALL: &str = "all";

/// The judgement of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Nothing that the checks look for happens, within the scope.
    Proved,
    /// Proved, with warnings that the results may not be as intended: they contain unwritten bytes, or tiles overwrite
    /// each other. The reasons say which.
    Doubtful,
    /// An error happens.
    Violated,
    /// Undecided: the reasons say what prevents a proof.
    NotProved,
}

/// The scope of a judgement, one line each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProofScope {
    /// The schedules.
    pub schedules: String,
    /// The buffer contents.
    pub values: String,
    /// The trip counts and scalar arguments.
    pub counts: String,
    /// Whether loops terminate, and why.
    pub loops: String,
    /// The sequences of launches.
    pub launches: String,
    /// Assumptions about the machine.
    pub assumes: Vec<String>,
    /// Undecided questions on which the judgement depends: under the alternative answer it differs.
    pub clean_if: Vec<String>,
}

impl Judgement {
    /// `proved`, `doubtful`, `violated` or `not proved`.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Proved => "proved",
            Judgement::Doubtful => "doubtful",
            Judgement::Violated => "violated",
            Judgement::NotProved => "not proved",
        }
    }
}
