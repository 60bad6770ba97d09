//! The event loop: whoever is due first goes first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use slipring_machine::{Pipe, Question, Role};
use slipring_program::{CoreProgram, Env, Finding, Memory, Output, Program, Scratch, SiteRef};

use crate::delay::Delays;
use crate::held::Held;
use crate::later::Later;
use crate::leftover::Leftovers;
use crate::observe::{Agent, Observer, Stall};
use crate::poll::{Outside, Polls};
use crate::scalar::Ahead;
use crate::skipped::Skipped;
use crate::snapshot::Keeper;
use crate::state::{AgentId, Cluster, Core, Entry, PipeState, ScalarState, SyncState, What, value};
use crate::stats::Collector;
use crate::steady::Steady;
use crate::timing::Clocks;
use crate::traffic::Traffic;
use crate::validate::validate;
use crate::work::{Fixed, Plan, from_buffers};
use crate::{ExecutionMode, Launch, RunResult, deadlock, report};

/// What a step of an agent comes to: the cycle of its next step, `None` if it has nothing to do or must
/// wait for another agent; or the finding that ends the run.
pub(crate) type Next = Result<Option<u64>, Box<Finding>>;

/// Agents with something to do, the earliest on top: cycle, then agent, in one number.
pub(crate) type Agenda = BinaryHeap<Reverse<u128>>;

fn key(at: u64, agent: AgentId) -> u128 {
    u128::from(at) << 32 | u128::from(agent.0)
}

/// A run in progress.
pub(crate) struct Engine<'a> {
    pub launch: &'a Launch<'a>,
    pub program: &'a Program,
    pub memory: Memory,
    pub scratch: Scratch,
    pub output: Output,
    /// What depended on questions on which sources disagree: by place.
    pub questions: BTreeMap<(SiteRef, &'static str), (&'static Question, String)>,
    pub observer: (Collector, &'a mut dyn Observer),
    /// Cores of all clusters: `cluster × cores of the program + position`.
    pub cores: Vec<Core>,
    /// Synchronisation objects of all clusters: `cluster × objects of the program + index`.
    pub syncs: Vec<SyncState>,
    pub clusters: Vec<Cluster>,
    /// For each core program and work what never changes about it.
    pub fixed: Vec<Vec<Fixed>>,
    /// For each core program what its instructions ask of the engine.
    pub ahead: Vec<Box<[Ahead]>>,
    /// For each core program and work which of its operands come from buffers, one bit each.
    pub by_data: Vec<Vec<u64>>,
    /// Steps left before the limit.
    pub steps: u64,
    /// Steps taken by what no scalar unit executed.
    pub other_steps: u64,
    pub leftovers: Leftovers,
    /// What the blocks that are over left in the objects of their clusters.
    pub counters: Vec<u64>,
    pub clocks: Clocks,
    pub delays: Delays,
    /// Works that later work of their pipes overtakes.
    pub held: Vec<Held>,
    /// Those that were.
    pub overtaken: u32,
    pub traffic: Traffic,
    pub skipped: Skipped,
    /// How often all cores met.
    pub meetings: usize,
    /// Works whose bytes follow, if any do.
    pub later: Option<Box<Later>>,
    pub polls: Polls,
    /// Who else has the memory.
    pub outside: Option<&'a mut dyn Outside>,
    /// The plan of the running work of each pipe, where that is one of an earlier execution.
    pub plans: Vec<[Option<Rc<Plan>>; Pipe::COUNT]>,
    /// Who keeps the run as it stands now and then.
    pub keeper: Option<&'a mut dyn Keeper>,
    pub agenda: Agenda,
    pub next_block: u32,
    /// Blocks that are over.
    pub blocks_done: u32,
    /// The latest cycle at which anything happened.
    pub now: u64,
    /// Looks for what comes back.
    pub steady: Steady,
}

impl<'a> Engine<'a> {
    pub fn new(launch: &'a Launch<'a>, memory: Memory, observer: (Collector, &'a mut dyn Observer)) -> Engine<'a> {
        Engine {
            launch,
            program: launch.program,
            memory,
            scratch: Scratch { cancel: launch.cancel.clone(), ..Scratch::default() },
            output: Output::of_limit(launch.limits.output),
            questions: BTreeMap::new(),
            observer,
            cores: Vec::new(),
            syncs: Vec::new(),
            clusters: Vec::new(),
            fixed: Vec::new(),
            ahead: Vec::new(),
            by_data: Vec::new(),
            steps: launch.limits.steps,
            other_steps: 0,
            leftovers: Leftovers::default(),
            counters: vec![0; launch.clusters() as usize * launch.program.syncs.len()],
            clocks: Clocks::new(launch),
            delays: Delays::new(&launch.delays),
            held: Vec::new(),
            overtaken: 0,
            skipped: Skipped::default(),
            traffic: Traffic::new(&launch.platform.cost),
            meetings: 0,
            later: None,
            polls: Polls::new(launch.program),
            outside: None,
            plans: Vec::new(),
            keeper: None,
            agenda: Agenda::new(),
            next_block: 0,
            blocks_done: 0,
            now: 0,
            steady: Steady::new(launch),
        }
    }

    pub fn run(mut self) -> RunResult {
        let outcome = self.run_blocks();
        self.ended(outcome)
    }

    /// What came of it.
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
        // What follows is not there yet in what is kept.
        self.later = if self.keeper.is_none() { Later::new(self.launch, &mut self.memory) } else { None };
        for cluster in 0..self.clusters.len() {
            self.start_block(cluster, 0);
        }
        match self.launch.mode {
            ExecutionMode::Pipes => self.run_pipes(),
            ExecutionMode::Sequential => self.run_sequential(),
        }
    }

    /// What is known of works and cores before anything runs.
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

    /// True if nothing is due before `agent` at this cycle.
    pub fn is_first(&self, at: u64, agent: AgentId) -> bool {
        self.agenda.peek().is_none_or(|Reverse(first)| key(at, agent) < *first)
    }

    /// Puts a step of an agent on the agenda.
    pub fn schedule(&mut self, at: u64, agent: AgentId) {
        self.agenda.push(Reverse(key(at, agent)));
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

    /// A scalar unit has ended or a pipe has run dry: the block may be over.
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

    /// The oldest entry of a pipe is done; the next one starts.
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

    /// The queue that the scalar unit needs has room again.
    fn has_capacity(&mut self, core: usize, at: u64) -> Result<(), Box<Finding>> {
        let unit = &mut self.cores[core];
        let next = if unit.since <= at {
            self.step_scalar(core, at)?
        } else {
            // It comes to the instruction only later.
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

    /// Starts the oldest entry of a pipe and says when it will be done.
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

    /// A pipe whose oldest entry has no end yet waits.
    fn or_blocked(&mut self, core: usize, pipe: Pipe, done: Option<u64>) -> Option<u64> {
        if done.is_none() {
            self.cores[core].pipes[pipe.index()].state = PipeState::Blocked;
        }
        done
    }

    /// Puts an entry on a pipe that has room; an idle pipe starts it at once.
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

    /// Puts an entry on a pipe that has room, with the operands of work as they are now.
    pub fn push_entry(&mut self, core: usize, pipe: Pipe, entry: Entry) {
        let Core { position, regs, pipes, .. } = &mut self.cores[core];
        let slots = pipes[pipe.index()].push(entry);
        if entry.what == What::Work {
            let work = &self.program.cores[*position].works[entry.id as usize];
            for (slot, operand) in slots.iter_mut().zip(&work.args) {
                *slot = value(regs, *operand);
            }
        }
    }

    /// Cycles of a step of synchronisation on a pipe or scalar unit.
    pub fn sync_cycles(&mut self, core: usize, pipe: Pipe) -> u64 {
        let agent = self.agent(core, pipe);
        self.clocks.of(agent, u64::from(self.launch.platform.sync.cycles))
    }

    /// The agent that observers know.
    pub fn agent(&self, core: usize, pipe: Pipe) -> Agent {
        Agent { pipe, ..self.cores[core].agent }
    }

    /// Tells a stall, unless it took no time.
    pub fn tell_stall(&mut self, from: u64, to: u64, agent: Agent, cause: Stall, site: u32) {
        if to > from {
            self.observer.stall(from, to, agent, cause, site);
        }
    }
}
