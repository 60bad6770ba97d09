//! Accesses to buffers treated as single bytes: where these are ordered, it does not matter which bytes they touch.

use std::collections::{BTreeMap, BTreeSet};

use slipring_sim::Agent;

use crate::clock::Clock;
use crate::notes::Notes;

/// The last read and the last write of each agent, by buffer; 0 for none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blind {
    last: BTreeMap<usize, BTreeMap<usize, [u32; 2]>>,
    racing: BTreeSet<usize>,
}

impl Blind {
    /// An agent touches a buffer; `clock` gives what is complete before it does.
    pub fn touch(&mut self, buffer: usize, write: bool, agent: Agent, epoch: u32, clock: &Clock) {
        let all = self.last.entry(buffer).or_default();
        for (other, [read, written]) in &*all {
            let last = if write { *read.max(written) } else { *written };
            let (cluster, lane) = (other / Agent::PER_CLUSTER, other % Agent::PER_CLUSTER);
            let own = *other == agent.index() && last == epoch;
            let over = own || (cluster == agent.cluster as usize && clock.get(lane) >= last);
            if last > 0 && !over {
                self.racing.insert(buffer);
            }
        }
        all.entry(agent.index()).or_default()[usize::from(write)] = epoch;
    }

    /// Buffers with unordered accesses.
    pub fn racing(&self) -> &BTreeSet<usize> {
        &self.racing
    }

    /// Serialises the state of a buffer.
    pub fn note(&self, buffer: usize, notes: &mut Notes) {
        for (agent, epochs) in self.last.get(&buffer).into_iter().flatten() {
            notes.word(*agent as u64);
            for epoch in epochs {
                notes.word(u64::from(*epoch > 0));
                if *epoch > 0 {
                    notes.epoch(*agent, *epoch);
                }
            }
        }
    }
}
