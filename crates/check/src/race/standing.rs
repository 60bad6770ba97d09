//! The state of the race check: if it is the same and the same events happen again, the check reports nothing new.
//!
//! Of epochs and step numbers only the order among the remembered ones is serialised, as at cut points
//! ([`crate::Marking`]): the clocks need not advance over repetitions.

use slipring_sim::{Again, Standing};

use super::Race;
use crate::notes::Notes;
use crate::queues::Queues;
use crate::shadow::{Run, Shadow};

impl Race {
    /// Serialises the state that determines its reports; false if it must receive every event.
    pub(crate) fn stand(&self, queues: &Queues, standing: &mut Standing) -> bool {
        let followed = self.signals.is_some() || self.blind.is_some() || !self.open.is_empty();
        if followed || !self.active || self.gave_up {
            return false;
        }
        // Its reports and recorded reasons only grow.
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

    /// Repeats past events.
    pub(crate) fn repeat(&mut self, again: &mut Again<'_>) {
        self.pushes.repeat(again);
    }
}
