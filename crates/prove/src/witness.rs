//! A schedule that shows something.

use std::fmt;

use serde::Serialize;

/// A schedule and what it shows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Witness {
    /// What `slipring run` takes to replay it: `--timing random:17`, or `--schedule FILE` with the file's text in `schedule`.
    pub replay: String,
    /// The works that take longer, a line each, where those are few.
    pub schedule: Option<String>,
    /// What it shows.
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
