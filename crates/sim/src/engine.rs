//! A run in progress.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

use slipring_machine::Pipe;
use slipring_program::{Finding, Memory, Output, Program, Scratch};

use crate::Launch;
use crate::agent::{Agenda, Agent, AgentId, key};
use crate::ahead::Ahead;
use crate::clocks::Clocks;
use crate::delay::Delays;
use crate::held::Held;
use crate::later::Later;
use crate::leftover::Leftovers;
use crate::marks::Steady;
use crate::observe::{Observer, Stall};
use crate::outside::{Outside, Polls};
use crate::plan::{Fixed, Plan};
use crate::registers::value;
use crate::report::Questions;
use crate::skipped::Skipped;
use crate::snapshot::Keeper;
use crate::state::{Cluster, Core, Entry, SyncState, What};
use crate::stats::Collector;
use crate::traffic::Traffic;

/// The outcome of an agent's step: the cycle of its next step, `None` if it has nothing to do or must wait for another
/// agent; or the finding that ends the run.
pub(crate) type Next = Result<Option<u64>, Box<Finding>>;

/// A run in progress.
pub(crate) struct Engine<'a> {
    pub launch: &'a Launch<'a>,
    pub program: &'a Program,
    pub memory: Memory,
    pub scratch: Scratch,
    pub output: Output,
    /// Results that depended on questions on which sources disagree, by location.
    pub questions: Questions,
    pub observer: (Collector, &'a mut dyn Observer),
    /// Cores of all clusters: `cluster × cores of the program + position`.
    pub cores: Vec<Core>,
    /// Synchronisation objects of all clusters: `cluster × objects of the program + index`.
    pub syncs: Vec<SyncState>,
    pub clusters: Vec<Cluster>,
    /// For each core program and work, the part that never changes.
    pub fixed: Vec<Vec<Fixed>>,
    /// For each core program, what its instructions require of the engine.
    pub ahead: Vec<Box<[Ahead]>>,
    /// For each core program and work, the operands that come from buffers, one bit each.
    pub by_data: Vec<Vec<u64>>,
    /// Steps left before the limit.
    pub steps: u64,
    /// Steps not executed by a scalar unit.
    pub other_steps: u64,
    pub leftovers: Leftovers,
    /// Signals left in the objects of their clusters by completed blocks.
    pub counters: Vec<u64>,
    pub clocks: Clocks,
    pub delays: Delays,
    /// Work that later work of its pipe overtakes.
    pub held: Vec<Held>,
    /// The number of work items that were overtaken.
    pub overtaken: u32,
    pub traffic: Traffic,
    pub skipped: Skipped,
    /// Number of times all cores met.
    pub meetings: usize,
    /// Deferred work, if any.
    pub later: Option<Box<Later>>,
    pub polls: Polls,
    /// Other users of the memory.
    pub outside: Option<&'a mut dyn Outside>,
    /// The plan of the running work of each pipe, if it is reused from an earlier execution.
    pub plans: Vec<[Option<Rc<Plan>>; Pipe::COUNT]>,
    /// Receives periodic snapshots.
    pub keeper: Option<&'a mut dyn Keeper>,
    pub agenda: Agenda,
    pub next_block: u32,
    /// Completed blocks.
    pub blocks_done: u32,
    /// The latest cycle at which anything happened.
    pub now: u64,
    /// Detects repetitions.
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

    /// True if nothing is due before `agent` at this cycle.
    pub fn is_first(&self, at: u64, agent: AgentId) -> bool {
        self.agenda.peek().is_none_or(|Reverse(first)| key(at, agent) < *first)
    }

    /// Puts a step of an agent on the agenda.
    pub fn schedule(&mut self, at: u64, agent: AgentId) {
        self.agenda.push(Reverse(key(at, agent)));
    }

    /// Appends an entry to a pipe with capacity, with the current operands of the work.
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

    /// The agent as known to observers.
    pub fn agent(&self, core: usize, pipe: Pipe) -> Agent {
        Agent { pipe, ..self.cores[core].agent }
    }

    /// Reports a stall, unless it took no time.
    pub fn tell_stall(&mut self, from: u64, to: u64, agent: Agent, cause: Stall, site: u32) {
        if to > from {
            self.observer.stall(from, to, agent, cause, site);
        }
    }
}
