//! What the host reads by itself, by loads: it knows of a write, or of a worker's end, what the completions that it has taken say.
//!
//! A load happens when some records are queued. What those among them write that have not been looked at yet is compared with it when
//! they are: the answer does not depend on how far the device has come.

use super::Linter;
use super::results::Bytes;
use crate::sanitize::{CommandRef, Finding, Hazard};

impl Linter {
    /// The host loads bytes, when so many records are queued and it has taken so many completions: what it may have read too early.
    pub(crate) fn host_loads(&mut self, bytes: Bytes, queued: u64, taken: u64) -> Option<Finding> {
        self.host_results.took(taken);
        let write = self.unread.meets_host(&bytes, taken);
        let found = |hazard, what: &str, by: CommandRef| {
            let message =
                format!("the host reads what {by} {what}, and has taken no completion that says that it is there");
            Some(Finding { command: Some(by), ..Finding::new(hazard, message) })
        };
        if let Some(by) = write {
            return found(Hazard::HostBeforeWrite, "writes", by);
        }
        let go = self.host_results.loads(bytes, queued);
        go.and_then(|by| found(Hazard::HostBeforeDone, "lets a worker write", by))
    }

    /// A command of the record at hand writes a part.
    pub(super) fn host_has_read(&mut self, at: CommandRef, part: &Bytes) {
        let Some(record) = self.record else { return };
        if self.host_results.has_loaded(record.index, part) {
            let message =
                "the host has read what this writes, when this was queued and no completion said that it was there";
            self.find_in(at, Hazard::HostBeforeWrite, message);
        }
    }
}
