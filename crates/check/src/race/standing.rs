//! How the check stands: where it stands the same and the same happens again, it says no more than it has said.
//!
//! Of epochs and numbers of steps only their order among those that are remembered is written down, as where all cores meet
//! ([`crate::Marking`]): the clocks need not move on over what happens again.

use slipring_sim::{Again, Standing};

use super::Race;
use crate::notes::Notes;
use crate::queues::Queues;
use crate::shadow::{Run, Shadow};

impl Race {
    /// Writes down what decides what it will say; false where it wants to be told of everything.
    pub(crate) fn stand(&self, queues: &Queues, standing: &mut Standing) -> bool {
        let followed = self.signals.is_some() || self.blind.is_some() || !self.open.is_empty();
        if followed || !self.active || self.gave_up {
            return false;
        }
        // What it has said and wondered about only grows.
        let lists = [
            self.seen.len(),
            self.findings.len(),
            self.questions.len(),
            self.doubts.len(),
            self.doubted.len(),
            self.sums.len(),
            self.overlaps.len(),
        ];
        let signs = [self.leans, self.instead.is_some(), self.signals_compete].map(u64::from);
        standing.same.extend(lists.map(|len| len as u64).into_iter().chain(signs));
        let runs: Vec<Vec<Run>> = self.shadows.all().map(Shadow::runs).collect();
        standing.same.extend(Notes::in_full(|notes| {
            self.order.note(notes);
            self.freed.note(notes);
            queues.note(notes);
            runs.iter().for_each(|runs| notes.runs(runs));
        }));
        self.pushes.stand(standing);
        true
    }

    /// What it was told of happens again.
    pub(crate) fn repeat(&mut self, again: &mut Again<'_>) {
        self.pushes.repeat(again);
    }
}
