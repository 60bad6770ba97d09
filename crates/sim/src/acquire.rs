//! Acquires and releases of tokens.

use slipring_machine::Pipe;
use slipring_machine::interpretations::{TOKEN_LOCKS, UNIT_FLAG_BLOCKS};
use slipring_program::{Finding, Kind, SiteRef, SyncRole};

use crate::agent::AgentId;
use crate::engine::Engine;
use crate::observe::Observer;
use crate::pipe_set::PipeSet;
use crate::report;
use crate::state::{PipeState, What};
use crate::token::Token;

impl Engine<'_> {
    fn token(&mut self, core: usize, sync: u32) -> &mut Token {
        let index = self.state_index(core, sync);
        &mut self.syncs[index].token
    }

    /// A pipe acquires a buffer: the number of releases that it has to wait for, if it waits.
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

    /// A pipe releases a buffer: the number of the release, and the other pipes that hold the buffer.
    ///
    /// # Errors
    /// A `token-not-held` finding if the pipe does not hold it.
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

    /// Starts an acquire and returns when it is complete; `None` if it must wait.
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

    /// Starts a release at the head of its pipe and returns when it is complete; `None` if it is deferred and must
    /// wait.
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

    /// Checks the releases that wait at the head of a core's pipes again, until none can proceed.
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
