//! Serialisation of a state, so that two states can be compared.

use std::collections::BTreeMap;

use slipring_machine::Pipe;
use slipring_program::{Change, SiteRef};
use slipring_sim::Agent;

use crate::clock::Clock;
use crate::shadow::Run;

/// Serialises a state. Two states with the same words are equivalent.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    words: Vec<u64>,
    /// Remembered epochs by [`Agent::index`], and remembered step indices by cluster × 3 + core.
    epochs: BTreeMap<usize, Vec<u32>>,
    numbers: BTreeMap<usize, Vec<u32>>,
    /// The first of two passes, which collects them.
    collects: bool,
    /// Source locations and step indices are serialised as well, for everything remembered.
    places: bool,
}

impl Notes {
    /// Runs the serialiser of a state twice: to collect what is remembered, and to write.
    pub(crate) fn of(write: impl Fn(&mut Notes)) -> Vec<u64> {
        let mut notes = Notes { collects: true, ..Notes::default() };
        write(&mut notes);
        for list in notes.epochs.values_mut().chain(notes.numbers.values_mut()) {
            list.sort_unstable();
            list.dedup();
        }
        (notes.collects, notes.words) = (false, Vec::new());
        write(&mut notes);
        notes.words
    }

    /// As [`Notes::of`], including source locations and step indices: states with the same words also report the same
    /// from then on.
    pub fn in_full(write: impl Fn(&mut Notes)) -> Vec<u64> {
        Notes::of(|notes| {
            notes.places = true;
            write(notes);
        })
    }

    /// Writes a source location, if enabled.
    pub fn site(&mut self, site: SiteRef) {
        if self.places {
            self.word(site.into());
        }
    }

    /// Writes a number.
    pub fn word(&mut self, word: u64) {
        if !self.collects {
            self.words.push(word);
        }
    }

    /// Writes a remembered epoch of an agent.
    pub fn epoch(&mut self, agent: usize, epoch: u32) {
        note(&mut self.epochs, self.collects.then_some(()), agent, epoch, &mut self.words);
    }

    /// Writes a remembered step index of a core.
    pub fn number(&mut self, core: usize, number: u32) {
        note(&mut self.numbers, self.collects.then_some(()), core, number, &mut self.words);
    }

    /// Writes the knowledge about the agents of a cluster.
    pub fn clock(&mut self, cluster: usize, clock: &Clock) {
        if self.collects {
            return;
        }
        for lane in 0..Agent::PER_CLUSTER {
            let known = clock.get(lane);
            let list = self.epochs.get(&(cluster * Agent::PER_CLUSTER + lane)).map_or(&[][..], Vec::as_slice);
            self.words.push(list.partition_point(|epoch| *epoch <= known) as u64);
        }
    }

    /// Writes runs of bytes with their last accesses.
    pub fn runs(&mut self, runs: &[Run]) {
        self.word(runs.len() as u64);
        for run in runs {
            self.word(run.start);
            self.word(run.end);
            self.word(run.stamps.len() as u64);
            for stamp in &run.stamps {
                let agent = stamp.block as usize * Agent::PER_CLUSTER + usize::from(stamp.lane);
                let update = stamp.update.map_or(0, update_word);
                self.word(u64::from(stamp.write) | update << 1);
                self.word(agent as u64);
                self.epoch(agent, stamp.epoch);
                if self.places {
                    self.site(stamp.site);
                    self.number(agent / Pipe::COUNT, stamp.number);
                }
            }
        }
    }
}

pub(crate) fn note(
    lists: &mut BTreeMap<usize, Vec<u32>>,
    collects: Option<()>,
    of: usize,
    value: u32,
    words: &mut Vec<u64>,
) {
    match collects {
        Some(()) => lists.entry(of).or_default().push(value),
        None => {
            let rank = lists.get(&of).map_or(0, |list| list.partition_point(|known| *known <= value));
            words.push(rank as u64);
        }
    }
}

/// A number for each atomic change, from 1.
fn update_word(change: Change) -> u64 {
    match change {
        Change::Update(update) => 8 + u64::from(update.elem as u8) * 8 + update.kind as u64,
        Change::And => 1,
        Change::Or => 2,
        Change::Xor => 3,
        Change::Exchange => 4,
    }
}
