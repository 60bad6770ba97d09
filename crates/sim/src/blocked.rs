//! Blocked agents, what they wait for, and who could end the wait.

use slipring_machine::Pipe;
use slipring_program::{Inst, Program, SiteRef, SyncRef, SyncRole};

use crate::agent::AgentId;
use crate::state::{Core, Entry, PipeState, ScalarState, SyncState, What};

/// The state of one cluster, seen from outside.
pub(crate) struct View<'a> {
    pub program: &'a Program,
    /// Cores of the cluster, in the order of the program.
    pub cores: &'a [Core],
    /// Index of the cluster's first core among all cores.
    pub first: usize,
    pub syncs: &'a [SyncState],
}

/// Why an agent is blocked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    Wait(u32),
    QueueFull(Pipe),
    Drain,
    /// A value in memory does not satisfy its condition.
    Signal,
}

/// A blocked agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocked {
    pub agent: AgentId,
    pub reason: Reason,
    pub site: SiteRef,
}

/// What would end a wait, and why it does not happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Release {
    /// These agents are blocked themselves.
    Agents(Vec<AgentId>),
    /// The object's setter takes no part in the program.
    NoCore,
    /// The setter has no instruction that sets it.
    NoSet,
    /// The setter's program has ended.
    Ended,
    /// Nobody changes the value any more.
    Nobody,
}

impl View<'_> {
    /// All blocked agents, in order.
    pub fn blocked(&self) -> Vec<Blocked> {
        let mut list = Vec::new();
        for (at, core) in self.cores.iter().enumerate() {
            let agent = |pipe| AgentId::new(self.first + at, pipe);
            let reason = match core.state {
                ScalarState::Blocked => Some(Reason::Wait(core.waits_for)),
                ScalarState::QueueFull(pipe) => Some(Reason::QueueFull(pipe)),
                ScalarState::Draining => Some(Reason::Drain),
                ScalarState::Polling => Some(Reason::Signal),
                _ => None,
            };
            if let Some(reason) = reason {
                let site = self.program.cores[core.position].inst_sites[core.pc];
                list.push(Blocked { agent: agent(Pipe::S), reason, site });
            }
            for (pipe, unit) in Pipe::ALL.into_iter().zip(&core.pipes) {
                if let (PipeState::Blocked, Some(entry)) = (unit.state, unit.front()) {
                    list.push(Blocked { agent: agent(pipe), reason: Reason::Wait(entry.id), site: entry.site });
                }
            }
        }
        list
    }

    /// Who could end the wait of an agent.
    pub fn release(&self, blocked: &Blocked) -> Release {
        let own = blocked.agent.core();
        match blocked.reason {
            Reason::QueueFull(pipe) => Release::Agents(vec![AgentId::new(own, pipe)]),
            Reason::Drain => {
                let units = Pipe::ALL.into_iter().zip(&self.cores[own - self.first].pipes);
                let busy = units.filter(|(_, unit)| unit.state != PipeState::Idle);
                Release::Agents(busy.map(|(pipe, _)| AgentId::new(own, pipe)).collect())
            }
            Reason::Signal => Release::Nobody,
            Reason::Wait(sync) if self.is_token(sync) => self.releasers(blocked, sync),
            Reason::Wait(sync) => self.setter_of(sync),
        }
    }

    /// True for buffer tokens.
    pub fn is_token(&self, sync: u32) -> bool {
        matches!(self.program.syncs[sync as usize].role, SyncRole::Token { .. } | SyncRole::UnitFlag { .. })
    }

    /// The pipes with outstanding releases that an acquire or a deferred release waits for, or with outstanding work
    /// that the latter waits for.
    fn releasers(&self, blocked: &Blocked, sync: u32) -> Release {
        let core = &self.cores[blocked.agent.core() - self.first];
        let own = blocked.agent.pipe();
        let Some(head) = core.pipes[own.index()].front() else { return Release::NoSet };
        let goals = self.syncs[sync as usize].token.goals(head.ticket);
        let goals = if head.what == What::Release { goals } else { &[] };
        let units = Pipe::ALL.into_iter().zip(&core.pipes).filter(|(pipe, _)| *pipe != own);
        let token = &self.syncs[sync as usize].token;
        let later: Vec<Pipe> = match head.what {
            What::Acquire => token.open_later(own).map(|(by, _)| *by).collect(),
            _ => Vec::new(),
        };
        let releases = |e: &Entry| e.what == What::Release && e.id == sync;
        let owes = units.clone().filter(|(pipe, unit)| {
            unit.queued().any(|e| releases(&e) && (e.ticket < head.ticket || later.contains(pipe)))
                || goals.iter().any(|(other, goal)| other == pipe && unit.popped < *goal)
        });
        let mut owes: Vec<Pipe> = owes.map(|(pipe, _)| pipe).collect();
        // Anything not issued yet is owed by the scalar unit.
        let open = |by: &Pipe| !core.pipes[by.index()].queued().any(|e| releases(&e));
        if later.iter().any(open) {
            match core.state {
                ScalarState::Ended if owes.is_empty() => return Release::Ended,
                ScalarState::Ended => {}
                _ => owes.push(Pipe::S),
            }
        }
        Release::Agents(owes.into_iter().map(|pipe| AgentId::new(blocked.agent.core(), pipe)).collect())
    }

    fn setter_of(&self, sync: u32) -> Release {
        let setter = self.program.syncs[sync as usize].setter;
        let Some(at) = self.cores.iter().position(|core| core.agent.role == setter) else { return Release::NoCore };
        let core = &self.cores[at];
        for (pipe, unit) in Pipe::ALL.into_iter().zip(&core.pipes) {
            if unit.queued().any(|entry| entry.what == What::Set && entry.id == sync) {
                return Release::Agents(vec![AgentId::new(self.first + at, pipe)]);
            }
        }
        if self.sets_in_text(at, sync).is_empty() {
            Release::NoSet
        } else if core.state == ScalarState::Ended {
            Release::Ended
        } else {
            Release::Agents(vec![AgentId::new(self.first + at, Pipe::S)])
        }
    }

    /// Locations of the instructions of a core (position in the view) that set an object.
    fn sets_in_text(&self, core: usize, sync: u32) -> Vec<SiteRef> {
        let code = &self.program.cores[self.cores[core].position];
        let names = |s: &SyncRef| match s.index.as_imm() {
            Some(index) => i64::from(s.first) + index == i64::from(sync),
            None => (s.first..s.first + s.count).contains(&sync),
        };
        let sets = code.insts.iter().zip(&code.inst_sites);
        sets.filter(|(inst, _)| matches!(inst, Inst::Set { sync, .. } if names(sync))).map(|(_, site)| *site).collect()
    }

    /// Locations at which an object is set in the program of the core that sets it.
    pub fn set_sites(&self, sync: u32) -> Vec<SiteRef> {
        let setter = self.program.syncs[sync as usize].setter;
        let core = self.cores.iter().position(|core| core.agent.role == setter);
        core.map_or_else(Vec::new, |core| self.sets_in_text(core, sync))
    }

    /// Agents in the order of a circular wait, if there is one.
    pub fn cycle(&self, blocked: &[Blocked]) -> Option<Vec<AgentId>> {
        for start in blocked {
            let mut path: Vec<AgentId> = Vec::new();
            if self.search(start.agent, blocked, &mut path, &mut Vec::new()) {
                return Some(path);
            }
        }
        None
    }

    /// Depth-first search; leaves the cycle in `path` when it returns true.
    fn search(&self, agent: AgentId, blocked: &[Blocked], path: &mut Vec<AgentId>, done: &mut Vec<AgentId>) -> bool {
        if let Some(at) = path.iter().position(|a| *a == agent) {
            path.drain(..at);
            return true;
        }
        if done.contains(&agent) {
            return false;
        }
        let Some(entry) = blocked.iter().find(|b| b.agent == agent) else { return false };
        path.push(agent);
        if let Release::Agents(next) = self.release(entry) {
            for next in next {
                if self.search(next, blocked, path, done) {
                    return true;
                }
            }
        }
        path.pop();
        done.push(agent);
        false
    }
}
