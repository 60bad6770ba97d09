//! A record of everything that scalar units and pipes did in a run, with the cause that ended each wait.

mod apart;
mod lines;
mod live;
mod path;
mod roofline;
mod trace;

use std::collections::VecDeque;

use slipring_machine::Pipe;
use slipring_program::{Extent, Program, SiteRef, SyncRole};
use slipring_sim::{Agent, Issued, Launch, Observer, Stall, WorkRun};
use slipring_tile::Space;

pub use lines::{LineFacts, lines_text};
pub use path::{PathFacts, PathPart, Segment, SegmentKind, path_text};
pub use roofline::Roofline;
pub use trace::Legend;

/// What an agent did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// An op instance: its accesses in [`Record::touches`], and the number of bytes that it reads and writes.
    Work {
        /// Its name.
        name: &'static str,
        /// Index of its first access, and the number of accesses.
        touches: (u32, u32),
        /// Bytes read.
        read: u64,
        /// Bytes written.
        written: u64,
        /// Bytes of global memory, read and written.
        global: u64,
        /// Size in the unit of its cost.
        units: u64,
        /// The ring that it moves a tile into.
        fills: Option<u32>,
    },
    /// A signal of an object; a lost signal has no effect.
    Set {
        /// The object.
        sync: u32,
        /// Whether the signal was lost.
        lost: bool,
    },
    /// A signal of an object was taken.
    Take {
        /// The object.
        sync: u32,
    },
    /// A barrier of a pipe.
    Barrier,
    /// A stall.
    Stall(Stall),
}

/// A stretch of an agent's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Happening {
    /// The agent.
    pub agent: Agent,
    /// Its activity.
    pub doing: Doing,
    /// First cycle.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// When the scalar unit enqueued it on the pipe.
    pub issued: u64,
    /// The instruction.
    pub site: SiteRef,
    /// For a taken signal, the happening that sent it.
    pub cause: Option<u32>,
}

impl Happening {
    /// Its cycles.
    pub fn cycles(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// An access of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// The bytes.
    pub extent: Extent,
    /// Whether it is a write.
    pub writes: bool,
}

/// A block of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct BlockTime {
    pub block: u32,
    pub cluster: u32,
    pub start: u64,
    pub end: Option<u64>,
}

/// Everything that happened in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// Sorted by agent (clusters, cores, pipes), then by time.
    pub happenings: Vec<Happening>,
    /// Accesses of work.
    pub touches: Vec<Touch>,
    /// In the order in which they started.
    pub blocks: Vec<BlockTime>,
    /// When the programs of cores ended.
    pub core_ends: Vec<(Agent, u64)>,
    /// Cycles of the run.
    pub cycles: u64,
    /// Clock frequency of the platform.
    pub clock_mhz: u32,
}

/// Maximum number of accesses kept per execution, for reads and writes each.
const TOUCHES: usize = 4;

/// An observer that records everything.
#[derive(Debug, Default)]
pub struct Recorder {
    record: Record,
    roles: Vec<SyncRole>,
    /// Cycles of a step of synchronisation.
    sync_cycles: u64,
    /// For each cluster and object, the senders of the signals that have not been taken yet; for a token, all its
    /// releases.
    sent: Vec<VecDeque<Option<u32>>>,
    /// For each agent, the times at which the entries of its queue were enqueued.
    issued: Vec<VecDeque<u64>>,
}

impl Recorder {
    /// The record, once the run is over.
    pub fn finish(self) -> Record {
        let Recorder { mut record, sync_cycles, .. } = self;
        let mut order: Vec<u32> = (0..record.happenings.len() as u32).collect();
        order.sort_by_key(|at| {
            let happening = &record.happenings[*at as usize];
            (happening.agent.index(), happening.start, *at)
        });
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, old)| place[*old as usize] = new as u32);
        let mut sorted: Vec<Happening> = order.iter().map(|old| record.happenings[*old as usize]).collect();
        for happening in &mut sorted {
            happening.cause = happening.cause.map(|old| place[old as usize]);
        }
        for at in 0..sorted.len() {
            let own = sorted[at];
            let same = |other: &&Happening| other.agent.index() == own.agent.index();
            match own.doing {
                // The engine does not report how long a synchronisation step takes: use the platform's value, or less
                // if the next step begins earlier.
                Doing::Set { .. } => {
                    let next = sorted.get(at + 1).filter(same).map_or(u64::MAX, |next| next.start);
                    sorted[at].end = next.min(own.start.saturating_add(sync_cycles)).max(own.start);
                }
                Doing::Take { .. } | Doing::Barrier => {
                    let before = at.checked_sub(1).map(|at| sorted[at]);
                    let before = before.as_ref().filter(same).map_or(0, |before| before.end);
                    sorted[at].start = own.start.max(before).min(own.end);
                }
                _ => {}
            }
        }
        record.happenings = sorted;
        let ends = record.happenings.iter().map(|happening| happening.end);
        let blocks = record.blocks.iter().filter_map(|block| block.end);
        record.cycles = record.cycles.max(ends.chain(blocks).max().unwrap_or(0));
        record
    }

    fn object(&self, agent: Agent, sync: u32) -> usize {
        agent.cluster as usize * self.roles.len() + sync as usize
    }

    fn is_token(&self, sync: u32) -> bool {
        matches!(self.roles[sync as usize], SyncRole::Token { .. } | SyncRole::UnitFlag { .. })
    }

    fn add(&mut self, agent: Agent, doing: Doing, start: u64, end: u64, site: SiteRef) {
        let queued = agent.pipe != Pipe::S && !matches!(doing, Doing::Stall(_));
        let issued = if queued { self.issued[agent.index()].pop_front() } else { None };
        let issued = issued.unwrap_or(start);
        self.record.happenings.push(Happening { agent, doing, start, end, issued, site, cause: None });
    }
}

impl Observer for Recorder {
    fn begin(&mut self, launch: &Launch<'_>) {
        let program: &Program = launch.program;
        self.roles = program.syncs.iter().map(|sync| sync.role).collect();
        self.sync_cycles = u64::from(launch.platform.sync.cycles);
        self.record.clock_mhz = launch.platform.clock_mhz;
        let clusters = launch.clusters() as usize;
        self.sent = vec![VecDeque::new(); clusters * self.roles.len()];
        for (sent, count) in self.sent.iter_mut().zip(&launch.counters) {
            sent.resize(usize::try_from(*count).unwrap_or(0).min(1 << 16), None);
        }
        self.issued = vec![VecDeque::new(); clusters * Agent::PER_CLUSTER];
    }

    fn block_start(&mut self, at: u64, block: u32, cluster: u32) {
        if self.record.blocks.iter().any(|earlier| earlier.cluster == cluster) {
            let objects = self.roles.len();
            self.sent[cluster as usize * objects..][..objects].iter_mut().for_each(VecDeque::clear);
        }
        self.record.blocks.push(BlockTime { block, cluster, start: at, end: None });
    }

    fn block_end(&mut self, at: u64, block: u32, _: u32) {
        if let Some(own) = self.record.blocks.iter_mut().rev().find(|own| own.block == block) {
            own.end = Some(at);
        }
    }

    fn issue(&mut self, at: u64, to: Agent, _: Issued, _: SiteRef) {
        if to.pipe != Pipe::S {
            self.issued[to.index()].push_back(at);
        }
    }

    fn end(&mut self, at: u64, run: &WorkRun<'_>) {
        let first = self.record.touches.len() as u32;
        let (mut bytes, mut global) = ([0, 0], 0);
        for (writes, list) in [(false, &run.access.reads), (true, &run.access.writes)] {
            bytes[usize::from(writes)] = list.iter().map(Extent::bytes).sum();
            global += list.iter().filter(|extent| extent.space == Space::Gm).map(Extent::bytes).sum::<u64>();
            self.record.touches.extend(list.iter().take(TOUCHES).map(|extent| Touch { extent: *extent, writes }));
        }
        let doing = Doing::Work {
            name: run.work.name,
            touches: (first, self.record.touches.len() as u32 - first),
            read: bytes[0],
            written: bytes[1],
            global,
            units: run.access.units.total,
            fills: run.work.fills,
        };
        self.add(run.agent, doing, at.saturating_sub(run.cycles), at, run.site);
    }

    fn set(&mut self, at: u64, agent: Agent, sync: u32, lost: bool, site: SiteRef) {
        let number = self.record.happenings.len() as u32;
        self.add(agent, Doing::Set { sync, lost }, at, at, site);
        if !lost {
            let object = self.object(agent, sync);
            self.sent[object].push_back(Some(number));
        }
    }

    fn wait(&mut self, at: u64, agent: Agent, sync: u32, site: SiteRef) {
        let start = at.saturating_sub(self.sync_cycles);
        let object = self.object(agent, sync);
        let cause = if self.is_token(sync) {
            // An acquire waits for all releases that complete before it: the last of them is its cause.
            let seen = |number: &u32| self.record.happenings[*number as usize].start < start;
            self.sent[object].iter().rev().flatten().copied().find(seen)
        } else {
            self.sent[object].pop_front().flatten()
        };
        // A signal is never taken before it is sent.
        let cause = cause.filter(|number| self.record.happenings[*number as usize].start <= start);
        self.add(agent, Doing::Take { sync }, start, at, site);
        if let Some(own) = self.record.happenings.last_mut() {
            own.cause = cause;
        }
    }

    fn barrier(&mut self, at: u64, agent: Agent, site: SiteRef) {
        if agent.pipe != Pipe::S {
            self.add(agent, Doing::Barrier, at.saturating_sub(self.sync_cycles), at, site);
        }
    }

    fn stall(&mut self, from: u64, to: u64, agent: Agent, cause: Stall, site: SiteRef) {
        self.add(agent, Doing::Stall(cause), from, to, site);
    }

    fn core_end(&mut self, at: u64, agent: Agent) {
        self.record.core_ends.push((agent, at));
        self.record.cycles = self.record.cycles.max(at);
    }
}

/// The name of a stall in tables: `flag`, `no tile` …
pub fn stall_name(stall: Stall, roles: impl Fn(u32) -> Option<SyncRole>) -> &'static str {
    let sync = match stall {
        Stall::QueueFull(_) => return "queue full",
        Stall::Drain => return "drain",
        Stall::Signal => return "signal",
        Stall::Wait(sync) => sync,
    };
    match roles(sync) {
        Some(SyncRole::RingReady { .. }) => "no tile",
        Some(SyncRole::RingFree { .. }) => "no free slot",
        Some(SyncRole::Event { .. }) => "flag",
        Some(SyncRole::Semaphore { .. }) => "semaphore",
        Some(SyncRole::Token { .. } | SyncRole::UnitFlag { .. }) | None => "token",
    }
}

impl Record {
    /// The happenings of each agent, in the order of agents.
    pub fn agents(&self) -> impl Iterator<Item = (Agent, std::ops::Range<usize>)> {
        let mut first = 0;
        self.happenings.chunk_by(|a, b| a.agent.index() == b.agent.index()).map(move |chunk| {
            let range = first..first + chunk.len();
            first = range.end;
            (chunk[0].agent, range)
        })
    }

    /// Accesses of work.
    pub fn touches_of(&self, doing: &Doing) -> &[Touch] {
        match doing {
            Doing::Work { touches: (first, count), .. } => {
                self.touches.get(*first as usize..(*first + *count) as usize).unwrap_or_default()
            }
            _ => &[],
        }
    }
}

/// True for pipes that move data.
pub(crate) fn moves(pipe: Pipe) -> bool {
    matches!(pipe, Pipe::Mte1 | Pipe::Mte2 | Pipe::Mte3 | Pipe::Fix)
}
