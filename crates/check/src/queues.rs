//! The required capacity of issue queues.
//!
//! A wait that its pipe reaches before the set has been issued blocks the pipe. Everything issued to the pipe until
//! then must fit into its queue, or the scalar unit never reaches the set. The number of such steps depends on the
//! program's order alone.

use std::collections::VecDeque;

use slipring_program::SyncRole;
use slipring_sim::{Agent, Issued, Launch};

use crate::notes::Notes;

/// Counts steps after waits for events of the same core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    /// Steps issued so far, by [`Agent::index`].
    issued: Vec<u64>,
    /// Cluster × objects + index.
    events: Vec<Event>,
    per_cluster: usize,
    is_event: Vec<bool>,
    most: u64,
    /// The program has no events.
    idle: bool,
}

/// An event of a core.
#[derive(Clone, Debug, Default)]
struct Event {
    /// Sets without an issued wait.
    sets: u64,
    /// Waits issued before their sets: the pipe, and its number of steps so far.
    waits: VecDeque<(usize, u64)>,
}

impl Queues {
    pub fn new(launch: &Launch<'_>) -> Queues {
        let (clusters, syncs) = (launch.clusters() as usize, &launch.program.syncs);
        Queues {
            issued: vec![0; clusters * Agent::PER_CLUSTER],
            events: vec![Event::default(); clusters * syncs.len()],
            per_cluster: syncs.len(),
            is_event: syncs.iter().map(|sync| matches!(sync.role, SyncRole::Event { .. })).collect(),
            most: 0,
            idle: !syncs.iter().any(|sync| matches!(sync.role, SyncRole::Event { .. })),
        }
    }

    /// A block starts on a cluster.
    pub fn restart(&mut self, cluster: u32) {
        let first = cluster as usize * self.per_cluster;
        self.events[first..first + self.per_cluster].fill(Event::default());
    }

    /// The scalar unit issues a step to a pipe.
    #[inline]
    pub fn issue(&mut self, to: Agent, step: Issued) {
        if !self.idle {
            self.count(to, step);
        }
    }

    fn count(&mut self, to: Agent, step: Issued) {
        let Some(count) = self.issued.get_mut(to.index()) else { return };
        *count += 1;
        let count = *count;
        match step {
            Issued::Set(sync) => self.set(to, sync),
            Issued::Wait(sync) if self.is_event[sync as usize] => {
                let event = &mut self.events[to.cluster as usize * self.per_cluster + sync as usize];
                match event.sets.checked_sub(1) {
                    Some(left) => event.sets = left,
                    None => event.waits.push_back((to.index(), count)),
                }
            }
            _ => {}
        }
    }

    /// A set is issued, or executed by the scalar unit itself.
    pub fn set(&mut self, agent: Agent, sync: u32) {
        if !self.is_event[sync as usize] {
            return;
        }
        let event = &mut self.events[agent.cluster as usize * self.per_cluster + sync as usize];
        match event.waits.pop_front() {
            Some((pipe, before)) => self.most = self.most.max(self.issued[pipe] + 1 - before),
            None => event.sets += 1,
        }
    }

    /// Serialises the state that matters later.
    pub fn note(&self, notes: &mut Notes) {
        for event in &self.events {
            notes.word(event.sets);
            notes.word(event.waits.len() as u64);
            for (pipe, before) in &event.waits {
                notes.word(*pipe as u64);
                notes.word(self.issued[*pipe] - before);
            }
        }
    }

    /// Number of steps that a queue must hold; at most one if no wait precedes its set.
    pub fn most(&self) -> u64 {
        self.most
    }
}
