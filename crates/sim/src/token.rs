//! Buffer tokens: `get_buf` and `rls_buf` (seed 004, Example 2; the manual's table of modes).
//!
//! The releases of a buffer are numbered in program order, as the scalar unit issues them. An acquire waits
//! until all releases issued before it are done, on whatever pipe; it does not wait for a pipe that holds the
//! buffer and releases it only later in the program. A release is done once the earlier work of its pipe is; a
//! *deferred* one (mode 1) waits besides for the earlier releases of the buffer and for what the other pipes that
//! hold it had been given until then. Everything waits for what comes before it in the program, so tokens
//! alone never dead-lock, and who gets a buffer does not depend on time.
//!
//! Unit flags are tokens as well: a check is an acquire, publishing or clearing a tile is a release that needs none.
//!
//! In the other interpretation of the platform (`token-locks`, `unit-flag-blocks`) an acquire waits for releases after it in the
//! program, too: that of a pipe that holds the buffer, the clearing of a tile that is published, the publication of one that
//! is not. Who waits for whom does not depend on time then either, but pipes may wait for each other.

use std::collections::BTreeSet;

use slipring_machine::Pipe;
use slipring_machine::interpretations::{TOKEN_LOCKS, UNIT_FLAG_BLOCKS};
use slipring_program::{Finding, Kind, SiteRef, SyncRole};

use crate::engine::Engine;
use crate::observe::Observer;
use crate::report;
use crate::state::{AgentId, PipeState, What};

/// A token of one cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Token {
    /// Releases issued: the number of the next one.
    issued: u32,
    /// The releases before this number are done.
    done: u32,
    /// Later releases that are done.
    early: BTreeSet<u32>,
    /// Cycle from which the last of the releases before `done` is seen.
    visible: u64,
    /// Acquires without their release, in program order.
    pub held: Vec<(Pipe, SiteRef)>,
    /// Acquires that wait until so many releases are done.
    waiters: Vec<(AgentId, u32)>,
    /// Releases of each pipe that are issued, and that are done.
    by_pipe: [[u32; 2]; Pipe::COUNT],
    /// Later releases that acquires wait for, in the other interpretation: the pipe that waits, in program order.
    later: Vec<(Pipe, Later)>,
    /// Cycle from which the last release that is done is seen.
    last_seen: u64,
    /// Deferred releases that are not done: number, and how many steps other pipes must have taken.
    deferred: Vec<(u32, Vec<(Pipe, u64)>)>,
}

/// Releases of other pipes, by their number among those of the pipe, from 1.
type Later = Vec<(Pipe, u32)>;

impl Token {
    /// A release is done; the others see it from a cycle on.
    fn complete(&mut self, pipe: Pipe, number: u32, seen: u64) {
        self.by_pipe[pipe.index()][1] += 1;
        self.last_seen = self.last_seen.max(seen);
        if number != self.done {
            self.early.insert(number);
            return;
        }
        self.done += 1;
        while self.early.remove(&self.done) {
            self.done += 1;
        }
        self.visible = seen;
    }

    /// Takes out the acquires that need not wait any longer.
    fn ready(&mut self) -> Vec<AgentId> {
        let (ready, waiters): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiters)
            .into_iter()
            .partition(|(agent, goal)| *goal <= self.done && self.open_later(agent.pipe()).next().is_none());
        self.waiters = waiters;
        ready.iter().for_each(|(agent, _)| self.forget_later(agent.pipe()));
        ready.into_iter().map(|(agent, _)| agent).collect()
    }

    /// The later releases that the oldest acquire of a pipe still waits for.
    pub fn open_later(&self, pipe: Pipe) -> impl Iterator<Item = &(Pipe, u32)> {
        let own = self.later.iter().find(|(waits, _)| *waits == pipe);
        own.into_iter().flat_map(|(_, later)| later).filter(|(by, number)| self.by_pipe[by.index()][1] < *number)
    }

    /// The oldest acquire of a pipe is over.
    fn forget_later(&mut self, pipe: Pipe) {
        if let Some(at) = self.later.iter().position(|(waits, _)| *waits == pipe) {
            self.later.remove(at);
        }
    }

    /// What an acquire of a pipe waits for in the other interpretation and the program has only after it.
    fn behind(&self, pipe: Pipe, role: SyncRole) -> Later {
        let issued = |pipe: Pipe| self.by_pipe[pipe.index()][0];
        let mut later = Later::new();
        match role {
            SyncRole::Token { .. } => {
                for (holder, _) in self.held.iter().filter(|(holder, _)| *holder != pipe) {
                    match later.iter_mut().find(|(known, _)| known == holder) {
                        Some((_, number)) => *number += 1,
                        None => later.push((*holder, issued(*holder) + 1)),
                    }
                }
            }
            _ if pipe == Pipe::M => later.push((Pipe::Fix, issued(Pipe::M))),
            _ if pipe == Pipe::Fix => later.push((Pipe::M, issued(Pipe::Fix) + 1)),
            _ => {}
        }
        later.retain(|(by, number)| issued(*by) < *number);
        later
    }

    /// For a deferred release that waits: how many steps other pipes must have taken.
    pub fn goals(&self, number: u32) -> &[(Pipe, u64)] {
        self.deferred.iter().find(|(of, _)| *of == number).map_or(&[], |(_, goals)| goals)
    }
}

impl Engine<'_> {
    fn token(&mut self, core: usize, sync: u32) -> &mut Token {
        let index = self.state_index(core, sync);
        &mut self.syncs[index].token
    }

    /// A pipe gets a buffer: the number of releases that it has to wait for, if it waits.
    pub fn hold(&mut self, core: usize, pipe: Pipe, sync: u32, waits: bool, site: SiteRef) -> u32 {
        let role = self.program.syncs[sync as usize].role;
        let question = if matches!(role, SyncRole::Token { .. }) { &TOKEN_LOCKS } else { &UNIT_FLAG_BLOCKS };
        if waits {
            let later = self.token(core, sync).behind(pipe, role);
            self.observer.hold(self.agent(core, pipe), sync, &later);
            if self.launch.platform.reads_otherwise(question) {
                self.token(core, sync).later.push((pipe, later));
            }
        }
        let token = self.token(core, sync);
        if matches!(role, SyncRole::Token { .. }) {
            token.held.push((pipe, site));
        }
        token.issued
    }

    /// A pipe gives a buffer back: the number of the release, and the other pipes that hold the buffer.
    ///
    /// # Errors
    /// A `token-not-held` finding if the pipe has not got it.
    pub fn give_back(
        &mut self,
        core: usize,
        pipe: Pipe,
        sync: u32,
        deferred: bool,
        site: SiteRef,
    ) -> Result<(u32, PipeSet), Box<Finding>> {
        let index = self.state_index(core, sync);
        let token = &mut self.syncs[index].token;
        match token.held.iter().position(|(holder, _)| *holder == pipe) {
            Some(at) => drop(token.held.remove(at)),
            None if matches!(self.program.syncs[sync as usize].role, SyncRole::UnitFlag { .. }) => {}
            None => return Err(self.not_held(core, pipe, sync, site)),
        }
        let number = token.issued;
        token.issued += 1;
        token.by_pipe[pipe.index()][0] += 1;
        let mut others = PipeSet::default();
        if deferred {
            token.held.iter().filter(|(holder, _)| *holder != pipe).for_each(|(holder, _)| others.insert(*holder));
            let pipes = &self.cores[core].pipes;
            let goals = others.iter().map(|other| (other, pipes[other.index()].pushed)).collect();
            token.deferred.push((number, goals));
        }
        Ok((number, others))
    }

    /// Starts an acquire and says when it is over; `None` if it must wait.
    pub fn acquire(
        &mut self,
        core: usize,
        pipe: Pipe,
        sync: u32,
        releases: u32,
        at: u64,
        site: SiteRef,
    ) -> Option<u64> {
        let cycles = self.sync_cycles(core, pipe);
        let index = self.state_index(core, sync);
        let releases = releases.saturating_sub(self.launch.suppose.slack(sync, site));
        let state = &mut self.syncs[index];
        let token = &mut state.token;
        let later = token.later.iter().find(|(waits, _)| *waits == pipe).is_some_and(|(_, later)| !later.is_empty());
        if token.done < releases || token.open_later(pipe).next().is_some() {
            token.waiters.push((AgentId::new(core, pipe), releases));
            return None;
        }
        state.waits += 1;
        state.last_wait = Some(site);
        token.forget_later(pipe);
        let seen = match (later, token.done == releases) {
            (true, _) => at.max(token.last_seen),
            (false, true) => at.max(token.visible),
            (false, false) => at,
        };
        Some(seen.saturating_add(cycles))
    }

    /// Starts a release at the head of its pipe and says when it is over; `None` if it is deferred and must wait.
    pub fn release(&mut self, core: usize, pipe: Pipe, sync: u32, number: u32, at: u64, site: SiteRef) -> Option<u64> {
        let cycles = self.sync_cycles(core, pipe);
        let index = self.state_index(core, sync);
        let (token, pipes) = (&mut self.syncs[index].token, &self.cores[core].pipes);
        if let Some(place) = token.deferred.iter().position(|(of, _)| *of == number) {
            let arrived = |(other, goal): &(Pipe, u64)| pipes[other.index()].popped >= *goal;
            if token.done < number || !token.deferred[place].1.iter().all(arrived) {
                return None;
            }
            token.deferred.remove(place);
        }
        let seen = at.saturating_add(cycles);
        token.complete(pipe, number, seen);
        let ready = token.ready();
        let state = &mut self.syncs[index];
        state.sets += 1;
        state.waits += ready.len() as u64;
        state.last_set = Some(site);
        self.observer.set(at, self.agent(core, pipe), sync, false, site);
        for waiter in ready {
            self.wake(waiter, index, seen);
        }
        Some(seen)
    }

    /// Looks again at the releases that wait at the head of a core's pipes, until none can go on.
    #[inline]
    pub fn retry_releases(&mut self, core: usize, at: u64) {
        if self.cores[core].deferred > 0 {
            self.retry_deferred(core, at);
        }
    }

    #[cold]
    fn retry_deferred(&mut self, core: usize, at: u64) {
        let mut moved = true;
        while moved && self.cores[core].deferred > 0 {
            moved = false;
            for pipe in Pipe::ALL {
                let unit = &self.cores[core].pipes[pipe.index()];
                let head = unit.front().filter(|e| e.what == What::Release && unit.state == PipeState::Blocked);
                let Some(entry) = head else { continue };
                let Some(done) = self.release(core, pipe, entry.id, entry.ticket, at, entry.site) else { continue };
                let since = self.cores[core].pipes[pipe.index()].since;
                let agent = self.agent(core, pipe);
                self.tell_stall(since, at, agent, crate::Stall::Wait(entry.id), entry.site);
                self.cores[core].pipes[pipe.index()].state = PipeState::Running;
                self.cores[core].deferred -= 1;
                self.schedule(done, AgentId::new(core, pipe));
                moved = true;
            }
        }
    }

    fn not_held(&self, core: usize, pipe: Pipe, sync: u32, site: SiteRef) -> Box<Finding> {
        let (decl, agent) = (&self.program.syncs[sync as usize], self.agent(core, pipe));
        let message = format!("{agent} releases {}, which it does not hold", decl.name);
        let mut finding = report::error_at(Kind::TokenNotHeld, site, "this release has no matching acquire", message);
        for (holder, place) in &self.syncs[self.state_index(core, sync)].token.held {
            finding.secondary.push(report::label(*place, format!("pipe {holder} holds it from here on")));
        }
        finding.hint = Some(format!(
            "each release needs an acquire before it: {} with the same pipe and id",
            self.program.words.get_buffer
        ));
        finding
    }
}

/// Some pipes of a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PipeSet(u8);

impl PipeSet {
    /// Adds a pipe.
    pub fn insert(&mut self, pipe: Pipe) {
        self.0 |= 1 << pipe.index();
    }

    /// The pipes, in their order.
    pub fn iter(self) -> impl Iterator<Item = Pipe> {
        Pipe::ALL.into_iter().filter(move |pipe| self.0 & (1 << pipe.index()) != 0)
    }
}
