//! How many steps an issue queue must hold.
//!
//! A wait that its pipe comes to before the set has been issued blocks the pipe; what is issued to the pipe until then must find room
//! in its queue, or the scalar unit never comes to the set. That many steps are a matter of the program's order alone.

use std::collections::VecDeque;

use slipring_program::SyncRole;
use slipring_sim::{Agent, Issued, Launch};

use crate::notes::Notes;

/// Counts steps after waits for events of the own core.
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
    /// Sets that no wait was issued for.
    sets: u64,
    /// Waits issued before their sets: the pipe, and its steps so far.
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

    /// The scalar unit puts a step on a pipe.
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

    /// A set is issued, or done by the scalar unit itself.
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

    /// Writes down what matters later.
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

    /// Steps that a queue must hold; at most one where no wait comes before its set.
    pub fn most(&self) -> u64 {
        self.most
    }
}
