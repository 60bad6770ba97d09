//! The engine's state for each core, pipe and synchronisation object during a run.

use std::collections::VecDeque;

use slipring_machine::{Pipe, Platform};
use slipring_program::{Access, CoreProgram, Operand, SiteRef, SyncDecl, SyncRole};

use crate::Launch;
use crate::agent::{Agent, AgentId};
use crate::endless::Watch;
use crate::products::Products;
use crate::registers::{Meant, value};
use crate::token::Token;

/// The action of a queue entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Work,
    Set,
    Wait,
    Acquire,
    Release,
    Barrier,
}

/// One entry of a pipe's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub what: What,
    /// Work id, or index of the synchronisation object in the program.
    pub id: u32,
    pub site: SiteRef,
    /// For acquires the number of releases to wait for, for releases their number.
    pub ticket: u32,
}

/// The state of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PipeState {
    /// The queue is empty.
    Idle,
    /// The oldest entry completes at the agent's time.
    Running,
    /// The oldest entry waits for a synchronisation object.
    Blocked,
}

/// A pipe: its queue, a ring of preallocated entries, and the state of its oldest entry.
#[derive(Clone, Debug)]
pub(crate) struct PipeUnit {
    pub state: PipeState,
    /// Cycle at which the oldest entry started.
    pub since: u64,
    entries: Box<[Entry]>,
    /// Operands of queued work: `stride` values per entry.
    args: Box<[u64]>,
    stride: usize,
    head: usize,
    len: usize,
    /// Bytes that the running work touches, unless it has a plan.
    pub access: Access,
    /// Cycles of the running work.
    pub cycles: u64,
    /// The index of the running work among those of its pipe, and the work that it is delayed past, if the schedule
    /// specifies that.
    pub number: u32,
    pub past: Option<u32>,
    /// Value of the running work, if it was executed when it started.
    pub value: u64,
    /// Entries put into the queue and taken out of it so far.
    pub pushed: u64,
    pub popped: u64,
}

impl PipeUnit {
    fn new(depth: usize, stride: usize) -> PipeUnit {
        let empty = Entry { what: What::Barrier, id: 0, site: 0, ticket: 0 };
        PipeUnit {
            state: PipeState::Idle,
            since: 0,
            entries: vec![empty; depth].into_boxed_slice(),
            args: vec![0; depth * stride].into_boxed_slice(),
            stride,
            head: 0,
            len: 0,
            access: Access::default(),
            cycles: 0,
            number: 0,
            past: None,
            value: 0,
            pushed: 0,
            popped: 0,
        }
    }

    pub fn is_full(&self) -> bool {
        self.len == self.entries.len()
    }

    /// Appends an entry and returns the space for its operands. The queue must not be full.
    pub fn push(&mut self, entry: Entry) -> &mut [u64] {
        let mut at = self.head + self.len;
        if at >= self.entries.len() {
            at -= self.entries.len();
        }
        self.entries[at] = entry;
        self.len += 1;
        self.pushed += 1;
        &mut self.args[at * self.stride..(at + 1) * self.stride]
    }

    /// The oldest entry, if there is one.
    pub fn front(&self) -> Option<Entry> {
        (self.len > 0).then(|| self.entries[self.head])
    }

    /// Operands of the oldest entry, and the space for its accesses.
    pub fn front_args(&mut self, count: usize) -> (&[u64], &mut Access) {
        let start = self.head * self.stride;
        (&self.args[start..start + count], &mut self.access)
    }

    /// Serialises the state that determines its behaviour from a cycle on.
    pub fn note(&self, code: &CoreProgram, at: u64, words: &mut Vec<u64>) {
        words.push(self.len as u64);
        if self.len == 0 {
            return;
        }
        words.extend([self.state as u64, self.since.wrapping_sub(at), self.cycles, self.value, self.number.into()]);
        words.push(self.past.map_or(0, |past| u64::from(past) + 1));
        for (place, entry) in (0..self.len).map(|i| (self.head + i) % self.entries.len()).map(|i| (i, &self.entries[i]))
        {
            words.extend([entry.what as u64, entry.id.into(), entry.site.into(), entry.ticket.into()]);
            // Anything else there is left from earlier entries.
            if entry.what == What::Work {
                words.extend(&self.args[place * self.stride..][..code.works[entry.id as usize].args.len()]);
            }
        }
    }

    pub fn pop(&mut self) {
        self.len -= 1;
        self.popped += 1;
        self.head += 1;
        if self.head == self.entries.len() {
            self.head = 0;
        }
    }

    /// The entries from the oldest to the newest.
    pub fn queued(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.len).map(|i| self.entries[(self.head + i) % self.entries.len()])
    }
}

/// The state of a scalar unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScalarState {
    /// It executes the instruction at `pc` at the agent's time.
    Running,
    /// The work of pipe S at `pc` completes at the agent's time.
    Working,
    /// Its wait at `pc` has received its signal and ends at the agent's time.
    Taken,
    /// Its wait at `pc` has no signal.
    Blocked,
    /// The queue of the pipe is full.
    QueueFull(Pipe),
    /// Its barrier waits for the pipes to drain.
    Draining,
    /// It has reached an [`Inst::Meet`](slipring_program::Inst::Meet) at `pc`.
    Met,
    /// It has reached an [`Inst::Poll`](slipring_program::Inst::Poll) at `pc` whose condition does not hold yet.
    Polling,
    /// Its program has ended.
    Ended,
}

/// A core.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    /// Its scalar unit, as known to observers.
    pub agent: Agent,
    /// Position in [`Program::cores`](slipring_program::Program::cores).
    pub position: usize,
    pub regs: Vec<u64>,
    pub pc: usize,
    pub state: ScalarState,
    /// Cycle at which the scalar unit started waiting.
    pub since: u64,
    /// Synchronisation object of the wait at `pc`.
    pub waits_for: u32,
    /// Pipes; the entry of pipe S serves the work that the scalar unit runs itself.
    pub pipes: [PipeUnit; Pipe::COUNT],
    /// Pipes with a non-empty queue.
    pub busy_pipes: u32,
    /// Deferred releases that wait at the head of their pipes.
    pub deferred: u32,
    /// The intended values of its registers, if some overflowed their types.
    pub meant: Meant,
    /// Its loops, if one may be infinite.
    pub watch: Option<Box<Watch>>,
    /// The contents of its accumulator memory.
    pub products: Products,
}

impl Core {
    pub fn new(position: usize, program: &CoreProgram, launch: &Launch<'_>, cluster: u32) -> Core {
        let depth = launch.platform.pipes.queue_depth as usize;
        let has = launch.pipes_of(program);
        let pipes = Pipe::ALL.map(|pipe| {
            let stride = program.works.iter().filter(|w| w.pipe == pipe).map(|w| w.args.len()).max().unwrap_or(0);
            let depth = if pipe == Pipe::S { 1 } else { depth };
            PipeUnit::new(if has.contains(&pipe) { depth } else { 0 }, stride)
        });
        Core {
            agent: Agent { cluster, block: 0, role: program.role, pipe: Pipe::S },
            position,
            regs: vec![0; program.regs as usize],
            pc: 0,
            state: ScalarState::Ended,
            since: 0,
            waits_for: 0,
            pipes,
            busy_pipes: 0,
            deferred: 0,
            meant: Meant::default(),
            watch: Watch::new(program, launch.leave.is_some()).map(Box::new),
            products: Products::default(),
        }
    }

    /// Back to the first instruction, for the next block.
    pub fn restart(&mut self, at: u64, block: u32) {
        self.agent.block = block;
        self.regs.fill(0);
        self.meant.clear();
        if let Some(watch) = &mut self.watch {
            watch.restart();
        }
        self.pc = 0;
        self.state = ScalarState::Running;
        self.since = at;
        self.products.clear();
    }

    pub fn value(&self, operand: Operand) -> u64 {
        value(&self.regs, operand)
    }

    /// Serialises the state that determines its behaviour from a cycle on, except for its registers; false if it must
    /// be stepped.
    pub fn note(&self, code: &CoreProgram, at: u64, words: &mut Vec<u64>) -> bool {
        let (state, stands) = match self.state {
            ScalarState::Running => (0, false),
            ScalarState::Ended => (1, false),
            ScalarState::Working => (2, true),
            ScalarState::Taken => (3, true),
            ScalarState::Blocked => (4, true),
            ScalarState::Draining => (5, true),
            ScalarState::QueueFull(pipe) => (8 + pipe.index() as u64, true),
            ScalarState::Met | ScalarState::Polling => return false,
        };
        words.extend([self.pc as u64, state, u64::from(self.busy_pipes), self.agent.block.into()]);
        if stands {
            words.extend([self.since.wrapping_sub(at), self.waits_for.into()]);
        }
        self.products.note(words);
        self.pipes.iter().for_each(|pipe| pipe.note(code, at, words));
        self.meant.is_empty() && self.watch.is_none() && self.deferred == 0
    }

    /// Advances its times by this many cycles, without other changes.
    pub fn pass(&mut self, cycles: u64) {
        if !matches!(self.state, ScalarState::Running | ScalarState::Ended) {
            self.since += cycles;
        }
        self.pipes.iter_mut().filter(|pipe| pipe.len > 0).for_each(|pipe| pipe.since += cycles);
    }

    /// Visits its counters.
    pub fn counts(&mut self, each: &mut dyn FnMut(&mut u64)) {
        self.regs.iter_mut().for_each(&mut *each);
        self.pipes.iter_mut().for_each(|pipe| [&mut pipe.pushed, &mut pipe.popped].into_iter().for_each(&mut *each));
    }
}

/// A signal not consumed yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// Cycle from which the waiter sees it.
    pub visible: u64,
    /// The instruction that sent it; `None` for one left by an earlier launch.
    pub site: Option<SiteRef>,
}

/// A synchronisation object of one cluster.
#[derive(Clone, Debug)]
pub(crate) struct SyncState {
    /// Signals not taken, oldest first.
    pub signals: VecDeque<Signal>,
    /// Waiting agents, in the order of arrival.
    pub waiters: Vec<AgentId>,
    /// Signals sent and consumed so far.
    pub sets: u64,
    pub waits: u64,
    /// The last set and the last wait that took place.
    pub last_set: Option<SiteRef>,
    pub last_wait: Option<SiteRef>,
    /// Issued sets minus issued waits, and the last of either.
    pub issued: i64,
    pub last_issued: Option<SiteRef>,
    /// Waits that proceeded without their signal, in a what-if run that permits it, and the cycle from which the last
    /// signal that made up for one is visible.
    pub owed: u32,
    pub paid: u64,
    /// The state of a token; idle for other objects.
    pub token: Token,
}

impl SyncState {
    pub fn new(decl: &SyncDecl) -> SyncState {
        SyncState {
            signals: VecDeque::with_capacity(decl.max.clamp(1, 16) as usize),
            waiters: Vec::with_capacity(1),
            sets: 0,
            waits: 0,
            last_set: None,
            last_wait: None,
            issued: 0,
            last_issued: None,
            owed: 0,
            paid: 0,
            token: Token::default(),
        }
    }

    /// Starts with signals left by an earlier launch: at most as many as the object holds.
    pub fn begin_with(&mut self, count: u64, decl: &SyncDecl) {
        let count = count.min(u64::from(decl.max.max(1))) as usize;
        self.signals.resize(count, Signal { visible: 0, site: None });
    }

    /// The count left when a block ends, after the waiter has reclaimed its share.
    pub fn left(&self, decl: &SyncDecl, platform: &Platform) -> u64 {
        let outlives = match decl.role {
            SyncRole::Event { .. } => true,
            SyncRole::Semaphore { .. } | SyncRole::RingReady { .. } | SyncRole::RingFree { .. } => {
                !platform.sync.semaphores_reset
            }
            SyncRole::Token { .. } | SyncRole::UnitFlag { .. } => false,
        };
        if outlives { (self.signals.len() as u64).saturating_sub(u64::from(decl.returned)) } else { 0 }
    }

    /// Serialises the state that determines its behaviour from a cycle on.
    pub fn note(&self, at: u64, words: &mut Vec<u64>) {
        let site = |site: Option<SiteRef>| site.map_or(0, |site| u64::from(site) + 1);
        words.extend([self.signals.len() as u64, self.waiters.len() as u64]);
        self.signals.iter().for_each(|signal| words.extend([signal.visible.saturating_sub(at), site(signal.site)]));
        words.extend(self.waiters.iter().map(|waiter| u64::from(waiter.0)));
        words.extend([self.last_set, self.last_wait, self.last_issued].map(site));
        words.push(self.issued as u64);
    }

    /// Advances its times by this many cycles, without other changes.
    pub fn pass(&mut self, cycles: u64) {
        self.signals.iter_mut().for_each(|signal| signal.visible += cycles);
    }

    /// Visits its counters.
    pub fn counts(&mut self, each: &mut dyn FnMut(&mut u64)) {
        [&mut self.sets, &mut self.waits].into_iter().for_each(each);
    }

    /// Back to the start, for the next block.
    pub fn restart(&mut self) {
        self.signals.clear();
        self.waiters.clear();
        (self.sets, self.waits) = (0, 0);
        (self.last_set, self.last_wait) = (None, None);
        (self.issued, self.last_issued) = (0, None);
        (self.owed, self.paid) = (0, 0);
        self.token = Token::default();
    }
}

/// A cluster and the block that runs on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cluster {
    pub block: u32,
    /// Scalar units that have not ended plus pipes with work.
    pub live: u32,
}
