//! Schedules tasks on clusters.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::Graph;

/// In place of a cluster: no cluster is held.
const NOWHERE: u32 = u32::MAX;

/// The cycles of each block of a task. Empty for a task that did not run.
pub type Run = Vec<u64>;

/// A completed task.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Ended {
    pub task: usize,
    /// When all its dependencies were complete.
    pub ready: u64,
    /// When its first block started.
    pub start: u64,
    pub end: u64,
    /// Cluster, start and end of each block.
    pub blocks: Vec<(u32, u64, u64)>,
}

/// The schedule of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Tasks in the order in which they started.
    pub ended: Vec<Ended>,
    /// When the last one ended.
    pub cycles: u64,
    /// Busy cycles of each cluster.
    pub busy: Vec<u64>,
    /// The longest chain of dependent tasks, and its cycles. Here a task depends on those that must end before it
    /// starts; [`crate::signals::critical`] also considers tasks that wait while they run.
    pub critical: (Vec<usize>, u64),
    /// For tasks that waited for signals while they ran, what ended each wait. Set by [`crate::signals::lengthen`].
    pub resumed: BTreeMap<usize, Vec<Resumed>>,
    /// Cycles of the longest block of each task, including its waits for others while it ran.
    pub longest: Vec<u64>,
    /// True if all tasks ran.
    pub complete: bool,
}

/// A pseudo-random number for a choice (SplitMix64).
fn mixed(seed: u64, task: usize) -> u64 {
    let mut z = seed.wrapping_add((task as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A task whose blocks are being assigned to clusters.
struct Open {
    ready: u64,
    run: Run,
    blocks: Vec<(u32, u64, u64)>,
    over: usize,
}

/// The result of starting or resuming a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ran {
    /// The task is complete: the cycles of each of its blocks.
    Over(Run),
    /// The task waits for other running tasks: it keeps its clusters, unless the scheduler waits in its place.
    Waits,
    /// The whole run stops.
    Stopped,
}

/// The end of a wait of a running task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resumed {
    /// The task whose step ended it.
    pub by: usize,
    /// When that step took place.
    pub at: u64,
}

/// Executes tasks.
pub trait Runs {
    /// Starts a task at a cycle.
    fn start(&mut self, task: usize, at: u64) -> Ran;

    /// Resumes a waiting task; `None` if its condition does not hold yet.
    fn resume(&mut self, _task: usize) -> Option<Ran> {
        None
    }
}

impl<F: FnMut(usize) -> Option<Run>> Runs for F {
    fn start(&mut self, task: usize, _: u64) -> Ran {
        self(task).map_or(Ran::Stopped, Ran::Over)
    }
}

/// The clusters of all devices, and their state.
struct Machine {
    clusters: u32,
    /// Free clusters of each device.
    free: Vec<BTreeSet<u32>>,
    /// Tasks of each device that are ready to start.
    ready: Vec<BTreeSet<(u64, usize)>>,
    /// Blocks of started tasks that wait for a cluster, for each device.
    waiting: Vec<VecDeque<(usize, usize)>>,
    /// Tasks that wait for others while they run: when they started, and their clusters.
    held: BTreeMap<usize, (u64, Vec<u32>)>,
    running: BTreeSet<(u64, u32, usize)>,
    open: BTreeMap<usize, Open>,
    started: Vec<usize>,
}

impl Machine {
    fn device(&self, cluster: u32) -> usize {
        (cluster / self.clusters) as usize
    }

    /// The next block to be placed: the cluster, the task and the block.
    fn next_block(&mut self) -> Option<(u32, usize, usize)> {
        let device = (0..self.free.len()).find(|at| !self.waiting[*at].is_empty() && !self.free[*at].is_empty())?;
        let (task, block) = self.waiting[device].pop_front()?;
        Some((self.free[device].pop_first()?, task, block))
    }

    /// The next task to start.
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

/// Runs the tasks of an acyclic graph on this number of clusters per device. A task starts when all its dependencies
/// are complete and a cluster of its device is free. Of several ready tasks, the one submitted first starts; for an
/// `order` other than 0, a pseudo-random one. `runs` executes a task when its first block starts, and returns the
/// cycles of its blocks.
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
        // Tasks that complete at this moment without a cluster: joins, and tasks that are skipped.
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
            // Its signals may end the waits of other tasks.
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
                                // Its cluster was released as soon as it waited: only its successors see the time, once
                                // for all blocks.
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
            // A cluster may have several blocks of a task that kept it.
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

/// The longest chain of dependent tasks.
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
