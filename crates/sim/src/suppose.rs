//! What-if runs: runs with hypothetical changes, for forecasts of their time.

use std::collections::BTreeMap;

use slipring_machine::{Pipe, Units};
use slipring_program::SiteRef;

/// Hypothetical changes of a run. The values computed in such a run are meaningless: only its cycles are valid.
///
/// A wait may have *slack*: that many more waits than signals are permitted. One more buffer between two pipes is a
/// slack of 1 for the waits of the pipe that fills it; omitting waits altogether is a slack of [`Suppose::ALL`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suppose {
    /// Factor for the bytes that pipes move per cycle; 0 and 1 leave it unchanged.
    pub bandwidth: u32,
    /// Slack by synchronisation object: its index in the program.
    pub objects: BTreeMap<u32, u32>,
    /// Slack by instruction: for waits, and for anything else that waits for an object there.
    pub sites: BTreeMap<SiteRef, u32>,
}

impl Suppose {
    /// Slack of waits that never block.
    pub const ALL: u32 = u32::MAX;

    /// True if nothing is changed.
    pub fn is_nothing(&self) -> bool {
        self.bandwidth <= 1 && self.objects.is_empty() && self.sites.is_empty()
    }

    /// True if some waits have slack.
    pub(crate) fn has_slack(&self) -> bool {
        !self.objects.is_empty() || !self.sites.is_empty()
    }

    /// Slack of a wait.
    pub(crate) fn slack(&self, sync: u32, site: SiteRef) -> u32 {
        let of = |slack: Option<&u32>| slack.copied().unwrap_or(0);
        of(self.objects.get(&sync)).max(of(self.sites.get(&site)))
    }

    /// Units of work that determine its time.
    pub(crate) fn units(&self, pipe: Pipe, units: Units) -> Units {
        let moves = matches!(pipe, Pipe::Mte1 | Pipe::Mte2 | Pipe::Mte3 | Pipe::Fix);
        let total = if moves { units.total.div_ceil(u64::from(self.bandwidth.max(1))) } else { units.total };
        Units { total, ..units }
    }
}
