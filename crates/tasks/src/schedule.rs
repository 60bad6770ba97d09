//! Tasks on clusters in time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::Graph;

/// In the place of a cluster: nothing is held there.
const NOWHERE: u32 = u32::MAX;

/// What a task took: cycles of each block. None of a task that did not run.
pub type Run = Vec<u64>;

/// A task that is over.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Ended {
    pub task: usize,
    /// When all that it waits for was over.
    pub ready: u64,
    /// When its first block started.
    pub start: u64,
    pub end: u64,
    /// Cluster, start and end of each block.
    pub blocks: Vec<(u32, u64, u64)>,
}

/// What ran when.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Tasks in the order in which they started.
    pub ended: Vec<Ended>,
    /// When the last one was over.
    pub cycles: u64,
    /// Cycles in which each cluster worked.
    pub busy: Vec<u64>,
    /// Tasks that follow each other without a choice, the longest such chain; and its cycles. Tasks follow each other where one
    /// starts when the other is over; [`crate::signals::critical`] also knows those that wait while they run.
    pub critical: (Vec<usize>, u64),
    /// Of tasks that waited for signals while they ran: what ended each such wait. [`crate::signals::lengthen`] knows.
    pub resumed: BTreeMap<usize, Vec<Resumed>>,
    /// Cycles of the longest block of each task, with what it waited for others while it ran.
    pub longest: Vec<u64>,
    /// True if all tasks ran.
    pub complete: bool,
}

/// A number for a choice: the generator is SplitMix64.
fn mixed(seed: u64, task: usize) -> u64 {
    let mut z = seed.wrapping_add((task as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A task whose blocks are being given to clusters.
struct Open {
    ready: u64,
    run: Run,
    blocks: Vec<(u32, u64, u64)>,
    over: usize,
}

/// What came of starting a task, or of going on with one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ran {
    /// It is over: cycles of each of its blocks.
    Over(Run),
    /// It waits for other tasks that run: it keeps its clusters, unless the scheduler waits in its place.
    Waits,
    /// Everything stops.
    Stopped,
}

/// What ended a wait of a task that ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resumed {
    /// Whose step it was.
    pub by: usize,
    /// When that took place.
    pub at: u64,
}

/// Runs tasks.
pub trait Runs {
    /// Runs a task that starts at a cycle.
    fn start(&mut self, task: usize, at: u64) -> Ran;

    /// Goes on with a task that waits; `None` where what it waits for is not there.
    fn resume(&mut self, _task: usize) -> Option<Ran> {
        None
    }
}

impl<F: FnMut(usize) -> Option<Run>> Runs for F {
    fn start(&mut self, task: usize, _: u64) -> Ran {
        self(task).map_or(Ran::Stopped, Ran::Over)
    }
}

/// The clusters of all devices, and what is on them.
struct Machine {
    clusters: u32,
    /// Of each device.
    free: Vec<BTreeSet<u32>>,
    /// Tasks that could start, of each device.
    ready: Vec<BTreeSet<(u64, usize)>>,
    /// Blocks of tasks that have started, of each device.
    waiting: Vec<VecDeque<(usize, usize)>>,
    /// Tasks that wait for others while they run: when they started, and where.
    held: BTreeMap<usize, (u64, Vec<u32>)>,
    running: BTreeSet<(u64, u32, usize)>,
    open: BTreeMap<usize, Open>,
    started: Vec<usize>,
}

impl Machine {
    fn device(&self, cluster: u32) -> usize {
        (cluster / self.clusters) as usize
    }

    /// A block that can have a cluster: the cluster, the task and the block.
    fn next_block(&mut self) -> Option<(u32, usize, usize)> {
        let device = (0..self.free.len()).find(|at| !self.waiting[*at].is_empty() && !self.free[*at].is_empty())?;
        let (task, block) = self.waiting[device].pop_front()?;
        Some((self.free[device].pop_first()?, task, block))
    }

    /// The task that starts next.
    fn next_task(&mut self, graph: &Graph) -> Option<usize> {
        let fits = |device: usize, task: usize| {
            let (own, free) = (&graph.tasks[task], self.free[device].len());
            free > 0 && (!own.together || free >= own.blocks.min(self.clusters) as usize)
        };
        let first = |device: usize| self.ready[device].iter().find(|(_, task)| fits(device, *task)).copied();
        let (device, chosen) =
            (0..self.free.len()).filter_map(|device| Some((device, first(device)?))).min_by_key(|own| own.1)?;
        self.ready[device].remove(&chosen);
        Some(chosen.1)
    }
}

/// Runs the tasks of a graph without cycles on so many clusters of each device. A task starts when all that it waits for is over and
/// a cluster of its device is free; where several could start it is the one that was submitted first, or, for an `order` other
/// than 0, one that this number chooses. `runs` runs a task when its first block starts, and says how long its blocks take.
pub fn plan(graph: &Graph, clusters: u32, order: u64, runs: &mut dyn Runs) -> Plan {
    let before = graph.before();
    let mut left: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut after = vec![Vec::new(); left.len()];
    graph.edges.iter().for_each(|edge| after[edge.from].push(edge.to));
    let key = |task: usize| if order == 0 { 0 } else { mixed(order, task) };
    let device = |task: usize| graph.tasks[task].device as usize;
    let devices = graph.tasks.iter().map(|task| task.device).max().unwrap_or(0) + 1;
    let mut machine = Machine {
        clusters,
        free: (0..devices).map(|at| (at * clusters..(at + 1) * clusters).collect()).collect(),
        ready: vec![BTreeSet::new(); devices as usize],
        waiting: vec![VecDeque::new(); devices as usize],
        held: BTreeMap::new(),
        running: BTreeSet::new(),
        open: BTreeMap::new(),
        started: Vec::new(),
    };
    let mut since: BTreeMap<usize, u64> = BTreeMap::new();
    for task in (0..left.len()).filter(|task| left[*task] == 0) {
        machine.ready[device(task)].insert((key(task), task));
        since.insert(task, 0);
    }
    let mut plan = Plan { busy: vec![0; (devices * clusters) as usize], ..Plan::default() };
    let mut longest = vec![0u64; left.len()];
    let (mut now, mut done) = (0u64, 0usize);
    loop {
        // Tasks that end at this moment without a cluster: joins, and those that are left out.
        let mut over = Vec::new();
        loop {
            if let Some((cluster, task, block)) = machine.next_block() {
                if let Some(open) = machine.open.get_mut(&task) {
                    let end = now + open.run[block];
                    open.blocks.push((cluster, now, end));
                    plan.busy[cluster as usize] += open.run[block];
                    machine.running.insert((end, cluster, task));
                }
                continue;
            }
            let Some(task) = machine.next_task(graph) else { break };
            machine.started.push(task);
            let ran = runs.start(task, now);
            let mut news = vec![(task, ran)];
            // What it did may be what others wait for.
            while let Some((task, ran)) = news.pop() {
                match ran {
                    Ran::Stopped => {
                        plan.cycles = now;
                        plan.ended = ended(&machine.started, machine.open);
                        return plan;
                    }
                    Ran::Waits => {
                        let free = &mut machine.free[device(task)];
                        let own = &graph.tasks[task];
                        let most = if own.defers { 0 } else { own.blocks.min(clusters) as usize };
                        machine
                            .held
                            .entry(task)
                            .or_insert_with(|| (now, (0..most).map_while(|_| free.pop_first()).collect()));
                    }
                    Ran::Over(run) => {
                        longest[task] = run.iter().copied().max().unwrap_or(0);
                        let blocks = run.len();
                        let mut open = Open { ready: since[&task], run, blocks: Vec::new(), over: 0 };
                        match machine.held.remove(&task) {
                            Some((start, own)) if !own.is_empty() => {
                                let mut ends: Vec<u64> = vec![start; own.len()];
                                for (block, cycles) in open.run.iter().enumerate() {
                                    let at = block % own.len();
                                    let end = (ends[at] + cycles).max(now);
                                    open.blocks.push((own[at], ends[at], end));
                                    plan.busy[own[at] as usize] += end - ends[at];
                                    machine.running.insert((end, own[at], task));
                                    ends[at] = end;
                                }
                            }
                            Some((start, _)) if graph.tasks[task].defers => {
                                // It was over for its cluster as soon as it waited: only its successors feel the time, once for
                                // all blocks.
                                if blocks > 0 {
                                    let end = (start + longest[task]).max(now);
                                    open.blocks.push((NOWHERE, start, end));
                                    open.over = blocks - 1;
                                    machine.running.insert((end, NOWHERE, task));
                                }
                            }
                            _ => machine.waiting[device(task)].extend((0..blocks).map(|block| (task, block))),
                        }
                        machine.open.insert(task, open);
                        if blocks == 0 {
                            over.push(task);
                        }
                    }
                }
                let waits: Vec<usize> = machine.held.keys().copied().collect();
                let next = waits.into_iter().find_map(|task| Some((task, runs.resume(task)?)));
                news.extend(next);
            }
        }
        if over.is_empty() {
            let Some((end, cluster, task)) = machine.running.pop_first() else { break };
            now = end;
            // A cluster has several blocks of a task that kept it.
            if cluster != NOWHERE && !machine.running.iter().any(|(_, other, own)| (*other, *own) == (cluster, task)) {
                let device = machine.device(cluster);
                machine.free[device].insert(cluster);
            }
            if let Some(open) = machine.open.get_mut(&task) {
                open.over += 1;
                if open.over == open.run.len() {
                    over.push(task);
                }
            }
        }
        for task in over {
            done += 1;
            if let Some(open) = machine.open.get_mut(&task)
                && open.run.is_empty()
            {
                open.blocks.push((NOWHERE, now, now));
            }
            for &next in &after[task] {
                left[next] -= 1;
                if left[next] == 0 {
                    machine.ready[device(next)].insert((key(next), next));
                    since.insert(next, now);
                }
            }
        }
    }
    plan.cycles = now;
    plan.complete = done == left.len();
    plan.ended = ended(&machine.started, machine.open);
    plan.critical = longest_chain(graph, &before, &longest);
    plan.longest = longest;
    plan
}

fn ended(started: &[usize], mut open: BTreeMap<usize, Open>) -> Vec<Ended> {
    let one = |task: &usize| {
        let own = open.remove(task)?;
        let none = |block: &&(u32, u64, u64)| block.0 != NOWHERE;
        let start = own.blocks.iter().map(|block| block.1).min().unwrap_or(own.ready);
        let end = own.blocks.iter().map(|block| block.2).max().unwrap_or(start);
        let blocks = own.blocks.iter().filter(none).copied().collect();
        Some(Ended { task: *task, ready: own.ready, start, end, blocks })
    };
    started.iter().filter_map(one).collect()
}

/// The longest chain of tasks that wait for each other.
pub(crate) fn longest_chain(graph: &Graph, before: &[Vec<usize>], cycles: &[u64]) -> (Vec<usize>, u64) {
    let Ok(order) = graph.order() else { return Default::default() };
    let mut best: Vec<(u64, Option<usize>)> = vec![(0, None); cycles.len()];
    for task in order {
        let mut longest: (u64, Option<usize>) = (0, None);
        for &from in &before[task] {
            if longest.1.is_none() || best[from].0 > longest.0 {
                longest = (best[from].0, Some(from));
            }
        }
        best[task] = (longest.0 + cycles[task], longest.1);
    }
    let last = (0..best.len()).max_by_key(|task| (best[*task].0, std::cmp::Reverse(*task)));
    let mut path = Vec::new();
    let mut at = last;
    while let Some(task) = at {
        path.push(task);
        at = best[task].1;
    }
    path.reverse();
    (path, last.map_or(0, |task| best[task].0))
}
