//! Counters of events.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipring_machine::cost::Price;
use slipring_machine::{Backing, Pipe, Role};
use slipring_program::{Direction, Extent, SiteRef, SyncRole};

use crate::Launch;
use crate::agent::Agent;
use crate::observe::{Observer, Stall, WorkRun};
use crate::standing::{Again, Standing};

/// Counts of a run. Cores, pipes, rings and ops are summed over all blocks; every number is exact.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stats {
    /// Cycle at which the last block ended, or at which the run stopped.
    pub cycles: u64,
    /// Instructions that the scalar units executed.
    pub instructions: u64,
    /// Blocks in the order in which they started.
    pub blocks: Vec<BlockStats>,
    /// Cores that take part, in the order AIC, AIV0, AIV1.
    pub cores: Vec<CoreStats>,
    /// By name, in alphabetical order.
    pub ops: Vec<OpStats>,
    /// Rings, in the order of [`Program::rings`](slipring_program::Program::rings).
    pub rings: Vec<RingStats>,
}

/// The period in which a block ran.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct BlockStats {
    pub block: u32,
    pub cluster: u32,
    /// First cycle.
    pub start: u64,
    /// Cycle at which it ended; `None` if it did not complete.
    pub end: Option<u64>,
}

/// A core.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct CoreStats {
    pub role: Role,
    /// The scalar unit first, then the active pipes, in the order of [`Pipe::ALL`].
    pub pipes: Vec<PipeStats>,
}

/// A pipe or the scalar unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipeStats {
    /// Which; `S` is the scalar unit.
    pub pipe: Pipe,
    /// Cycles in which work ran. For the scalar unit: cycles of its memory accesses.
    pub busy: u64,
    /// Executions of work.
    pub operations: u64,
    /// Bytes read and written by work.
    pub read: u64,
    #[allow(missing_docs)]
    pub written: u64,
    /// Stall cycles, by cause.
    pub stalls: StallCycles,
}

/// Stall cycles, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StallCycles {
    /// The queue of a pipe was full.
    pub queue_full: u64,
    /// The pipes had to drain.
    pub drain: u64,
    /// No tile was ready in a ring: a consumer's wait.
    pub ring_ready: u64,
    /// No slot of a ring was free: a producer's wait.
    pub ring_free: u64,
    /// An event flag of the core was not set.
    pub event: u64,
    /// A semaphore of another core was not set.
    pub semaphore: u64,
    /// A buffer was held.
    pub token: u64,
    /// A value in global memory did not satisfy a wait.
    pub signal: u64,
}

impl StallCycles {
    /// All causes together.
    pub fn total(&self) -> u64 {
        let rings = self.ring_ready + self.ring_free;
        self.queue_full + self.drain + rings + self.event + self.semaphore + self.token + self.signal
    }
}

/// All executions of one op.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct OpStats {
    pub name: &'static str,
    /// Executions.
    pub count: u64,
    /// Cycles from start to completion, summed.
    pub cycles: u64,
    /// Bytes read and written.
    pub read: u64,
    pub written: u64,
    /// The composition of its cycles, by entry of the platform file.
    pub costs: Vec<CostStats>,
}

/// The cost of an op's executions under one entry of the platform file.
#[derive(Clone, PartialEq, Debug)]
pub struct CostStats {
    /// The entry, such as `cost.vector.add`; empty for costs that no table lists.
    pub entry: Arc<str>,
    /// The evidence behind their cycles.
    pub backing: Backing,
    /// Executions.
    pub count: u64,
    /// Their cycles.
    pub cycles: u64,
    /// Their size: bytes, blocks of the matrix unit, or cycles, as the entry counts.
    pub units: u64,
    /// Rows, or blocks of data moves.
    pub rows: u64,
    /// Repeats of the vector unit, where the entry counts them.
    pub repeats: u64,
}

/// A ring.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct RingStats {
    pub name: String,
    pub direction: Direction,
    pub lane: Role,
    pub slots: u32,
    /// Tiles pushed, popped, and slots freed after a pop: counted by the signals, each representing one ready slot or
    /// `period` freed ones.
    pub pushed: u64,
    pub popped: u64,
    pub freed: u64,
    /// Maximum number of slots that held a tile at once: from the signal of the push to that of the free.
    pub max_filled: u32,
    /// Slots that held a tile, summed over all cycles of all blocks; divided by `cycles` it is the mean.
    pub slot_cycles: u64,
    /// Cycles of all blocks.
    pub cycles: u64,
    /// Cycles that the producer waited for a free slot.
    pub producer_wait: u64,
    /// Cycles that the consumer waited for a tile.
    pub consumer_wait: u64,
}

impl Stats {
    /// The evidence behind the cycles of all work.
    pub fn backing(&self) -> Backing {
        let mut all = Backing::default();
        self.ops.iter().flat_map(|op| &op.costs).for_each(|cost| all.add(&cost.backing));
        all
    }
}

impl RingStats {
    /// Mean number of slots that held a tile; for display.
    pub fn mean_filled(&self) -> f64 {
        if self.cycles == 0 { 0.0 } else { self.slot_cycles as f64 / self.cycles as f64 }
    }
}

/// The current state of one ring of one cluster.
#[derive(Clone, Copy, Debug, Default)]
struct Filled {
    slots: u32,
    since: u64,
    popped: u64,
    freed: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct WorkTotal {
    /// Cycles with enough nearby points, the thousandths of a cycle by which they may be off, and cycles without such
    /// points.
    known: u64,
    off: u64,
    unknown: u64,
    count: u64,
    cycles: u64,
    units: u64,
    rows: u64,
    repeats: u64,
    read: u64,
    written: u64,
}

/// Collects the statistics during the launch.
#[derive(Clone, Debug)]
pub(crate) struct Collector {
    stats: Stats,
    /// Scalar units and pipes of the three cores: see [`Agent::lane`].
    units: Vec<PipeStats>,
    /// For each core and work.
    works: [Vec<WorkTotal>; 3],
    names: [Vec<(&'static str, Price)>; 3],
    roles: Vec<SyncRole>,
    /// The number of tiles represented by one free signal of each ring.
    periods: Vec<u32>,
    /// For each cluster and ring.
    filled: Vec<Filled>,
}

impl Collector {
    pub fn new(launch: &Launch<'_>) -> Collector {
        let program = launch.program;
        let mut works: [Vec<WorkTotal>; 3] = Default::default();
        let mut names: [Vec<(&'static str, Price)>; 3] = Default::default();
        for core in &program.cores {
            works[core.role.index()] = vec![WorkTotal::default(); core.works.len()];
            names[core.role.index()] = core.works.iter().map(|w| (w.name, w.cost.clone())).collect();
        }
        let rings = program.rings.iter().map(|ring| RingStats {
            name: ring.name.to_string(),
            direction: ring.direction,
            lane: ring.lane,
            slots: ring.slots,
            pushed: 0,
            popped: 0,
            freed: 0,
            max_filled: 0,
            slot_cycles: 0,
            cycles: 0,
            producer_wait: 0,
            consumer_wait: 0,
        });
        let unit =
            |pipe| PipeStats { pipe, busy: 0, operations: 0, read: 0, written: 0, stalls: StallCycles::default() };
        let mut roles: Vec<Role> = program.cores.iter().map(|c| c.role).collect();
        roles.sort();
        let cores = roles.into_iter().map(|role| CoreStats { role, pipes: Vec::new() });
        Collector {
            stats: Stats { rings: rings.collect(), cores: cores.collect(), ..Stats::default() },
            units: Role::ALL.iter().flat_map(|_| Pipe::ALL).map(unit).collect(),
            works,
            names,
            roles: program.syncs.iter().map(|s| s.role).collect(),
            periods: program.rings.iter().map(|ring| ring.period).collect(),
            filled: vec![Filled::default(); program.rings.len() * launch.clusters() as usize],
        }
    }

    /// The counts, at the end of the run.
    pub fn finish(mut self, cycles: u64, instructions: u64) -> Stats {
        self.stats.cycles = cycles;
        self.stats.instructions = instructions;
        let open: Vec<u32> = self.stats.blocks.iter().filter(|b| b.end.is_none()).map(|b| b.cluster).collect();
        for cluster in open {
            self.close(cycles, cluster);
        }
        for core in &mut self.stats.cores {
            let first = core.role.index() * Pipe::COUNT;
            let units = &self.units[first..first + Pipe::COUNT];
            let active = |u: &&PipeStats| u.pipe == Pipe::S || u.operations > 0 || u.stalls.total() > 0;
            core.pipes = units.iter().filter(active).cloned().collect();
        }
        let mut ops: BTreeMap<&'static str, OpStats> = BTreeMap::new();
        for (names, works) in self.names.iter().zip(&self.works) {
            for ((name, price), work) in names.iter().zip(works).filter(|(_, work)| work.count > 0) {
                let new = || OpStats { name, count: 0, cycles: 0, read: 0, written: 0, costs: Vec::new() };
                ops.entry(name).or_insert_with(new).add(price, work);
            }
        }
        self.stats.ops = ops.into_values().collect();
        self.stats
    }

    /// Closes the account of a cluster's rings for a block.
    fn close(&mut self, at: u64, cluster: u32) {
        let rings = self.stats.rings.len();
        let block = self.stats.blocks.iter().rev().find(|b| b.cluster == cluster);
        let cycles = block.map_or(0, |b| at - b.start);
        for ring in 0..rings {
            self.fill(at, cluster, ring as u32, 0);
            self.stats.rings[ring].cycles += cycles;
            self.filled[cluster as usize * rings + ring] = Filled::default();
        }
    }

    /// Visits the counters.
    fn counts(&mut self, each: &mut dyn FnMut(&mut u64)) {
        for PipeStats { busy, operations, read, written, stalls, .. } in &mut self.units {
            let StallCycles { queue_full, drain, ring_ready, ring_free, event, semaphore, token, signal } = stalls;
            [busy, operations, read, written].into_iter().for_each(&mut *each);
            [queue_full, drain, ring_ready, ring_free, event, semaphore, token, signal]
                .into_iter()
                .for_each(&mut *each);
        }
        for work in self.works.iter_mut().flatten() {
            let WorkTotal { known, off, unknown, count, cycles, units, rows, repeats, read, written } = work;
            [known, off, unknown, count, cycles, units, rows, repeats, read, written].into_iter().for_each(&mut *each);
        }
        for RingStats { pushed, popped, freed, slot_cycles, cycles, producer_wait, consumer_wait, .. } in
            &mut self.stats.rings
        {
            [pushed, popped, freed, slot_cycles, cycles, producer_wait, consumer_wait].into_iter().for_each(&mut *each);
        }
        for Filled { since, popped, freed, .. } in &mut self.filled {
            [since, popped, freed].into_iter().for_each(&mut *each);
        }
    }

    /// The number of slots in use changes.
    fn fill(&mut self, at: u64, cluster: u32, ring: u32, change: i32) {
        let rings = self.stats.rings.len();
        let Some(stats) = self.stats.rings.get_mut(ring as usize) else { return };
        let filled = &mut self.filled[cluster as usize * rings + ring as usize];
        // If a fault stops the run, other cores may have been ahead of it.
        stats.slot_cycles += u64::from(filled.slots) * at.saturating_sub(filled.since);
        filled.slots = filled.slots.saturating_add_signed(change);
        filled.since = filled.since.max(at);
        stats.max_filled = stats.max_filled.max(filled.slots);
    }
}

impl OpStats {
    fn add(&mut self, price: &Price, work: &WorkTotal) {
        self.count += work.count;
        self.cycles += work.cycles;
        self.read += work.read;
        self.written += work.written;
        let at = self.costs.binary_search_by(|have| have.entry.cmp(&price.entry)).unwrap_or_else(|at| {
            let entry = price.entry.clone();
            let new =
                CostStats { entry, backing: Backing::default(), count: 0, cycles: 0, units: 0, rows: 0, repeats: 0 };
            self.costs.insert(at, new);
            at
        });
        let cost = &mut self.costs[at];
        cost.count += work.count;
        cost.cycles += work.cycles;
        cost.backing.known(work.known, work.off);
        cost.backing.unknown(self.name, work.unknown);
        cost.units += work.units;
        cost.rows += work.rows;
        cost.repeats += work.repeats;
    }
}

fn bytes(ranges: &[Extent]) -> u64 {
    ranges.iter().map(Extent::bytes).sum()
}

impl Observer for Collector {
    fn block_start(&mut self, at: u64, block: u32, cluster: u32) {
        self.stats.blocks.push(BlockStats { block, cluster, start: at, end: None });
        let rings = self.stats.rings.len();
        for filled in &mut self.filled[cluster as usize * rings..(cluster as usize + 1) * rings] {
            filled.since = at;
        }
    }

    fn block_end(&mut self, at: u64, block: u32, cluster: u32) {
        self.close(at, cluster);
        if let Some(stats) = self.stats.blocks.iter_mut().rev().find(|b| b.block == block) {
            stats.end = Some(at);
        }
    }

    #[inline]
    fn end(&mut self, _: u64, run: &WorkRun<'_>) {
        let (read, written) = (bytes(&run.access.reads), bytes(&run.access.writes));
        let unit = &mut self.units[run.agent.lane()];
        unit.operations += 1;
        unit.busy += run.cycles;
        unit.read += read;
        unit.written += written;
        let total = &mut self.works[run.agent.role.index()][run.id as usize];
        total.count += 1;
        total.cycles += run.cycles;
        total.read += read;
        total.written += written;
        let units = run.access.units;
        match run.work.cost.within(units) {
            Some(tenths) => {
                total.known += run.cycles;
                total.off += run.cycles.saturating_mul(tenths.into());
            }
            None => total.unknown += run.cycles,
        }
        total.units += units.total;
        total.rows += units.count();
        total.repeats += run.work.cost.repeats(units).unwrap_or(0);
    }

    #[inline]
    fn set(&mut self, at: u64, agent: Agent, sync: u32, _: bool, _: SiteRef) {
        let rings = self.stats.rings.len();
        match self.roles[sync as usize] {
            SyncRole::RingReady { ring, .. } if (ring as usize) < rings => {
                self.stats.rings[ring as usize].pushed += 1;
                self.fill(at, agent.cluster, ring, 1);
            }
            SyncRole::RingFree { ring, .. } if (ring as usize) < rings => {
                // A free without a preceding pop only declares the slot free, at the start.
                let filled = &mut self.filled[agent.cluster as usize * rings + ring as usize];
                let freed = u64::from(self.periods[ring as usize]).min(filled.popped - filled.freed);
                filled.freed += freed;
                self.stats.rings[ring as usize].freed += freed;
                if freed > 0 {
                    self.fill(at, agent.cluster, ring, -(freed as i32));
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn wait(&mut self, _: u64, agent: Agent, sync: u32, _: SiteRef) {
        if let SyncRole::RingReady { ring, .. } = self.roles[sync as usize]
            && let Some(stats) = self.stats.rings.get_mut(ring as usize)
        {
            stats.popped += 1;
            let rings = self.stats.rings.len();
            self.filled[agent.cluster as usize * rings + ring as usize].popped += 1;
        }
    }

    fn stand(&mut self, standing: &mut Standing) -> bool {
        standing.same.push(self.stats.blocks.len() as u64);
        standing.same.extend(self.stats.rings.iter().map(|ring| u64::from(ring.max_filled)));
        standing.same.extend(self.filled.iter().map(|filled| u64::from(filled.slots)));
        self.counts(&mut |count| standing.counts.push(*count));
        true
    }

    fn repeat(&mut self, again: &mut Again<'_>) {
        self.counts(&mut |count| again.move_on(count));
    }

    fn stall(&mut self, from: u64, to: u64, agent: Agent, cause: Stall, _: SiteRef) {
        let cycles = to - from;
        let stalls = &mut self.units[agent.lane()].stalls;
        let role = match cause {
            Stall::QueueFull(_) => return stalls.queue_full += cycles,
            Stall::Drain => return stalls.drain += cycles,
            Stall::Signal => return stalls.signal += cycles,
            Stall::Wait(sync) => self.roles[sync as usize],
        };
        match role {
            SyncRole::Event { .. } => stalls.event += cycles,
            SyncRole::Semaphore { .. } => stalls.semaphore += cycles,
            SyncRole::Token { .. } | SyncRole::UnitFlag { .. } => stalls.token += cycles,
            SyncRole::RingReady { ring, .. } => {
                stalls.ring_ready += cycles;
                if let Some(ring) = self.stats.rings.get_mut(ring as usize) {
                    ring.consumer_wait += cycles;
                }
            }
            SyncRole::RingFree { ring, .. } => {
                stalls.ring_free += cycles;
                if let Some(ring) = self.stats.rings.get_mut(ring as usize) {
                    ring.producer_wait += cycles;
                }
            }
        }
    }
}
