//! A schedule that exposes a finding.

use std::fmt;

use serde::Serialize;

/// A schedule and what it exposes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Witness {
    /// The options of `slipring run` that replay it: `--timing random:17`, or `--schedule FILE` with the file's text in
    /// `schedule`.
    pub replay: String,
    /// The delayed work items, one per line, if there are few.
    pub schedule: Option<String>,
    /// What it exposes.
    pub shows: String,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schedule {
            Some(schedule) => {
                write!(f, "{}: {} (replay: `slipring run … {}`)", schedule.trim_end(), self.shows, self.replay)
            }
            None if self.replay.is_empty() => write!(f, "{} (replay: `slipring run …`)", self.shows),
            None => write!(f, "{} (replay: `slipring run … {}`)", self.shows, self.replay),
        }
    }
}
