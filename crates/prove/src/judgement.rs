//! What is known of a kernel, in a word, and what that covers.

use serde::Serialize;

/// How a scope that covers all schedules says so.
pub(crate) const ALL: &str = "all";

/// What is known of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Nothing that the checks look for happens, in all that the scope names.
    Proved,
    /// The same, but there are warnings that the results may not be what was meant: they hold bytes that nobody has written, or
    /// tiles overwrite each other. The reasons say which.
    Doubtful,
    /// Something of it happens.
    Violated,
    /// Neither was shown: the reasons say what stands in the way.
    NotProved,
}

/// What a judgement covers, a line each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProofScope {
    /// Which schedules.
    pub schedules: String,
    /// Which contents of the buffers.
    pub values: String,
    /// Which trip counts and scalar arguments.
    pub counts: String,
    /// Whether loops come to an end, and why.
    pub loops: String,
    /// Which launches after each other.
    pub launches: String,
    /// What is taken for granted of the machine.
    pub assumes: Vec<String>,
    /// What no source decides and the judgement changes with: with the other answer it is another one.
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
