//! The event loop: the agent that is due first proceeds first.

use std::cmp::Reverse;

use slipring_machine::{Pipe, Role};
use slipring_program::{CoreProgram, Env, Finding};

use crate::agent::{AgentId, key};
use crate::ahead::Ahead;
use crate::engine::{Engine, Next};
use crate::later::Later;
use crate::observe::Observer;
use crate::plan::{Fixed, from_buffers};
use crate::state::{Cluster, Core, Entry, PipeState, ScalarState, SyncState, What};
use crate::validate::validate;
use crate::{ExecutionMode, RunResult, deadlock, report};

impl Engine<'_> {
    pub fn run(mut self) -> RunResult {
        let outcome = self.run_blocks();
        self.ended(outcome)
    }

    /// Assembles the result.
    pub fn ended(mut self, outcome: Result<(), Box<Finding>>) -> RunResult {
        let mut findings = Vec::new();
        match outcome {
            Ok(()) => {}
            Err(finding) => findings.push(*finding),
        }
        if let Some(later) = self.later.take()
            && let Some((site, fault)) = later.finish(self.program, &mut self.memory, &mut self.questions)
        {
            findings.push(*report::error_at(fault.kind, site, "", fault.message));
        }
        let complete = findings.is_empty();
        findings.extend(self.leftovers.findings(self.program, self.launch.platform));
        findings
            .extend(self.questions.iter().map(|((site, _), (question, name))| report::question(question, *site, name)));
        let scalar = self.launch.limits.steps - self.steps - self.other_steps;
        let stats = self.observer.0.finish(self.now, scalar);
        RunResult {
            memory: self.memory,
            cycles: self.now,
            findings,
            output: self.output,
            stats,
            steps: self.launch.limits.steps - self.steps,
            complete,
            counters: self.counters,
            overtaken: self.overtaken,
            unused: self.delays.unused(),
            repeated: self.steady.repeated(),
        }
    }

    fn run_blocks(&mut self) -> Result<(), Box<Finding>> {
        validate(self.launch, self.memory.gm.len())?;
        for cluster in 0..self.launch.clusters() {
            for (position, core) in self.program.cores.iter().enumerate() {
                self.cores.push(Core::new(position, core, self.launch, cluster));
            }
            let first = self.syncs.len();
            self.syncs.extend(self.program.syncs.iter().map(SyncState::new));
            let left = self.launch.counters.get(first..).unwrap_or_default();
            for ((state, decl), count) in self.syncs[first..].iter_mut().zip(&self.program.syncs).zip(left) {
                state.begin_with(*count, decl);
            }
            self.clusters.push(Cluster { block: 0, live: 0 });
        }
        self.observer.begin(self.launch);
        self.observer.arm(&mut self.memory);
        self.know_works();
        // Snapshots cannot contain deferred work.
        self.later = if self.keeper.is_none() { Later::new(self.launch, &mut self.memory) } else { None };
        for cluster in 0..self.clusters.len() {
            self.start_block(cluster, 0);
        }
        match self.launch.mode {
            ExecutionMode::Pipes => self.run_pipes(),
            ExecutionMode::Sequential => self.run_sequential(),
        }
    }

    /// Determines everything known about work and cores before the run.
    pub fn know_works(&mut self) {
        self.plans = self.cores.iter().map(|_| Default::default()).collect();
        self.fixed = self.program.cores.iter().map(|core| core.works.iter().map(Fixed::new).collect()).collect();
        self.ahead = self.program.cores.iter().map(Ahead::of).collect();
        let asked = self.memory.shadow.is_some();
        let of = |core: &CoreProgram| if asked { from_buffers(self.program, core) } else { vec![0; core.works.len()] };
        self.by_data = self.program.cores.iter().map(of).collect();
    }

    pub fn run_pipes(&mut self) -> Result<(), Box<Finding>> {
        let limit = self.launch.limits.cycles;
        let mut stop = self.stop();
        let mut due = self.agenda.pop();
        while let Some(Reverse(mut first)) = due {
            if self.steady.is_due(first as u32) {
                first = self.look(first, stop)?;
            }
            let (at, agent) = ((first >> 32) as u64, AgentId(first as u32));
            if at > stop {
                if at > limit {
                    return Err(report::cycle_limit(limit, None));
                }
                stop = self.keep(at, Reverse(first));
            }
            if self.launch.cancel.is_cancelled() {
                return Err(report::cancelled());
            }
            self.now = at;
            let next = match agent.pipe() {
                Pipe::S => self.step_scalar(agent.core(), at)?,
                pipe => self.step_pipe(agent.core(), pipe, at)?,
            };
            due = match next {
                Some(next) => Some(self.exchange(Reverse(key(next, agent)))),
                None => self.agenda.pop(),
            };
            if due.is_none() && (self.poll() || self.meet()) {
                due = self.agenda.pop();
            }
        }
        if self.clusters.iter().any(|c| c.live > 0) { Err(deadlock::report(self)) } else { Ok(()) }
    }

    /// Puts a step on the agenda and takes the first one off: the same step, if nothing is due before it.
    fn exchange(&mut self, step: Reverse<u128>) -> Reverse<u128> {
        match self.agenda.peek_mut() {
            Some(mut first) if *first > step => std::mem::replace(&mut *first, step),
            _ => step,
        }
    }

    /// Starts the next block on a free cluster, if there is one left.
    fn start_block(&mut self, cluster: usize, at: u64) {
        if self.next_block == self.launch.blocks {
            return;
        }
        let block = self.launch.first_block().saturating_add(self.next_block);
        self.next_block += 1;
        let cores = self.program.cores.len();
        self.clusters[cluster] = Cluster { block, live: cores as u32 };
        self.observer.block_start(at, block, cluster as u32);
        for position in 0..cores {
            let core = cluster * cores + position;
            self.cores[core].restart(at, block);
            if self.launch.mode == ExecutionMode::Pipes {
                self.schedule(at, AgentId::new(core, Pipe::S));
            }
        }
        if cores == 0 {
            self.end_block(cluster, at);
        }
    }

    /// A scalar unit has ended or a pipe has become empty: the block may be complete.
    pub fn agent_done(&mut self, core: usize, at: u64) -> Result<(), Box<Finding>> {
        let cluster = self.cores[core].agent.cluster as usize;
        self.clusters[cluster].live -= 1;
        if self.clusters[cluster].live == 0 {
            let cores = self.program.cores.len();
            self.carry_out_held(|held| held.core / cores.max(1) == cluster)?;
            self.end_block(cluster, at);
        }
        Ok(())
    }

    fn end_block(&mut self, cluster: usize, at: u64) {
        let block = self.clusters[cluster].block;
        let count = self.program.syncs.len();
        let syncs = &mut self.syncs[cluster * count..(cluster + 1) * count];
        self.leftovers.collect(self.launch, syncs);
        let left = syncs.iter().zip(&self.program.syncs).map(|(state, decl)| state.left(decl, self.launch.platform));
        self.counters.splice(cluster * count..(cluster + 1) * count, left);
        self.observer.block_end(at, block, cluster as u32);
        self.blocks_done += 1;
        if self.next_block == self.launch.blocks {
            return;
        }
        syncs.iter_mut().for_each(SyncState::restart);
        self.memory.restart(cluster as u32);
        if let Some(later) = &mut self.later {
            later.restart(Env { block: cluster as u32, core: Role::Aic });
        }
        self.start_block(cluster, at);
    }

    /// The oldest entry of a pipe is complete; the next one starts.
    fn step_pipe(&mut self, core: usize, pipe: Pipe, at: u64) -> Next {
        self.finish_entry(core, pipe, at)?;
        self.cores[core].pipes[pipe.index()].pop();
        self.retry_releases(core, at);
        if self.cores[core].state == ScalarState::QueueFull(pipe) {
            self.has_capacity(core, at)?;
        }
        if self.cores[core].pipes[pipe.index()].front().is_some() {
            return self.start_entry(core, pipe, at);
        }
        let unit = &mut self.cores[core];
        unit.pipes[pipe.index()].state = PipeState::Idle;
        unit.busy_pipes -= 1;
        if unit.busy_pipes == 0 && unit.state == ScalarState::Draining {
            self.schedule(at, AgentId::new(core, Pipe::S));
        }
        self.agent_done(core, at)?;
        Ok(None)
    }

    /// The queue that the scalar unit needs has capacity again.
    fn has_capacity(&mut self, core: usize, at: u64) -> Result<(), Box<Finding>> {
        let unit = &mut self.cores[core];
        let next = if unit.since <= at {
            self.step_scalar(core, at)?
        } else {
            // It reaches the instruction only later.
            unit.state = ScalarState::Running;
            Some(unit.since)
        };
        if let Some(next) = next {
            self.schedule(next, AgentId::new(core, Pipe::S));
        }
        Ok(())
    }

    fn finish_entry(&mut self, core: usize, pipe: Pipe, at: u64) -> Result<(), Box<Finding>> {
        let unit = &self.cores[core].pipes[pipe.index()];
        let (Some(entry), since) = (unit.front(), unit.since) else { return Ok(()) };
        match entry.what {
            What::Work => {
                self.finish_work(core, pipe, at)?;
            }
            What::Set | What::Release => {}
            What::Wait | What::Acquire => self.wait_over(core, pipe, entry.id, since, at, entry.site),
            What::Barrier => self.observer.barrier(at, self.agent(core, pipe), entry.site),
        }
        Ok(())
    }

    /// Starts the oldest entry of a pipe and returns when it will be complete.
    pub fn start_entry(&mut self, core: usize, pipe: Pipe, at: u64) -> Next {
        let unit = &mut self.cores[core].pipes[pipe.index()];
        let Some(entry) = unit.front() else { return Ok(None) };
        unit.since = at;
        unit.state = PipeState::Running;
        match entry.what {
            What::Work => self.start_work(core, pipe, at).map(Some),
            What::Set => {
                self.settle(core, Some(pipe))?;
                self.signal(core, pipe, entry.id, at, entry.site)?;
                Ok(Some(at.saturating_add(self.sync_cycles(core, pipe))))
            }
            What::Wait => {
                let done = self.take(core, pipe, entry.id, at, entry.site);
                Ok(self.or_blocked(core, pipe, done))
            }
            What::Acquire => {
                let done = self.acquire(core, pipe, entry.id, entry.ticket, at, entry.site);
                Ok(self.or_blocked(core, pipe, done))
            }
            What::Release => {
                self.settle(core, None)?;
                let done = self.release(core, pipe, entry.id, entry.ticket, at, entry.site);
                if done.is_none() {
                    self.cores[core].deferred += 1;
                }
                self.retry_releases(core, at);
                Ok(self.or_blocked(core, pipe, done))
            }
            What::Barrier => {
                self.settle(core, Some(pipe))?;
                Ok(Some(at.saturating_add(self.sync_cycles(core, pipe))))
            }
        }
    }

    /// A pipe whose oldest entry has no end yet is blocked.
    fn or_blocked(&mut self, core: usize, pipe: Pipe, done: Option<u64>) -> Option<u64> {
        if done.is_none() {
            self.cores[core].pipes[pipe.index()].state = PipeState::Blocked;
        }
        done
    }

    /// Appends an entry to a pipe with capacity; an idle pipe starts it at once.
    pub fn enqueue(&mut self, core: usize, pipe: Pipe, entry: Entry, at: u64) -> Result<(), Box<Finding>> {
        self.push_entry(core, pipe, entry);
        let unit = &mut self.cores[core];
        if unit.pipes[pipe.index()].state == PipeState::Idle {
            unit.busy_pipes += 1;
            self.clusters[unit.agent.cluster as usize].live += 1;
            if let Some(done) = self.start_entry(core, pipe, at)? {
                self.schedule(done, AgentId::new(core, pipe));
            }
        }
        Ok(())
    }
}
