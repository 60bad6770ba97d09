//! Tasks on clusters in time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::Graph;

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
    /// Tasks that follow each other without a choice, the longest such chain; and its cycles.
    pub critical: (Vec<usize>, u64),
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

/// Runs the tasks of a graph without cycles on so many clusters. A task starts when all that it waits for is over and a cluster is
/// free; where several could start it is the one that was submitted first, or, for an `order` other than 0, one that this
/// number chooses. `run` runs a task when its first block starts, and says how long its blocks take; `None` stops everything.
pub fn plan(graph: &Graph, clusters: u32, order: u64, run: &mut dyn FnMut(usize) -> Option<Run>) -> Plan {
    let before = graph.before();
    let mut left: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut after = vec![Vec::new(); left.len()];
    graph.edges.iter().for_each(|edge| after[edge.from].push(edge.to));
    let key = |task: usize| if order == 0 { 0 } else { mixed(order, task) };
    let mut ready: BTreeSet<(u64, usize)> = BTreeSet::new();
    let mut since: BTreeMap<usize, u64> = BTreeMap::new();
    for task in (0..left.len()).filter(|task| left[*task] == 0) {
        ready.insert((key(task), task));
        since.insert(task, 0);
    }
    let mut plan = Plan { busy: vec![0; clusters as usize], ..Plan::default() };
    let mut free: BTreeSet<u32> = (0..clusters).collect();
    let mut waiting: VecDeque<(usize, usize)> = VecDeque::new();
    let mut running: BTreeSet<(u64, u32, usize)> = BTreeSet::new();
    let mut open: BTreeMap<usize, Open> = BTreeMap::new();
    let mut started = Vec::new();
    let mut longest = vec![0u64; left.len()];
    let (mut now, mut done) = (0u64, 0usize);
    loop {
        // Tasks that end at this moment without a cluster: joins, and those that are left out.
        let mut over = Vec::new();
        while let Some(&cluster) = free.first() {
            if let Some((task, block)) = waiting.pop_front() {
                if let Some(open) = open.get_mut(&task) {
                    let end = now + open.run[block];
                    open.blocks.push((cluster, now, end));
                    plan.busy[cluster as usize] += open.run[block];
                    running.insert((end, cluster, task));
                    free.remove(&cluster);
                }
                continue;
            }
            let fits = |task: usize| {
                let own = &graph.tasks[task];
                !own.together || free.len() >= own.blocks.min(clusters) as usize
            };
            let Some(&(k, task)) = ready.iter().find(|(_, task)| fits(*task)) else { break };
            ready.remove(&(k, task));
            let Some(run) = run(task) else {
                plan.cycles = now;
                plan.ended = ended(&started, open);
                return plan;
            };
            longest[task] = run.iter().copied().max().unwrap_or(0);
            started.push(task);
            let blocks = run.len();
            open.insert(task, Open { ready: since[&task], run, blocks: Vec::new(), over: 0 });
            waiting.extend((0..blocks).map(|block| (task, block)));
            if blocks == 0 {
                over.push(task);
            }
        }
        if over.is_empty() {
            let Some((end, cluster, task)) = running.pop_first() else { break };
            now = end;
            free.insert(cluster);
            if let Some(open) = open.get_mut(&task) {
                open.over += 1;
                if open.over == open.run.len() {
                    over.push(task);
                }
            }
        }
        for task in over {
            done += 1;
            if let Some(open) = open.get_mut(&task)
                && open.run.is_empty()
            {
                open.blocks.push((u32::MAX, now, now));
            }
            for &next in &after[task] {
                left[next] -= 1;
                if left[next] == 0 {
                    ready.insert((key(next), next));
                    since.insert(next, now);
                }
            }
        }
    }
    plan.cycles = now;
    plan.complete = done == left.len();
    plan.ended = ended(&started, open);
    plan.critical = critical(graph, &before, &longest);
    plan
}

fn ended(started: &[usize], mut open: BTreeMap<usize, Open>) -> Vec<Ended> {
    let one = |task: &usize| {
        let own = open.remove(task)?;
        let none = |block: &&(u32, u64, u64)| block.0 != u32::MAX;
        let start = own.blocks.iter().map(|block| block.1).min().unwrap_or(own.ready);
        let end = own.blocks.iter().map(|block| block.2).max().unwrap_or(start);
        let blocks = own.blocks.iter().filter(none).copied().collect();
        Some(Ended { task: *task, ready: own.ready, start, end, blocks })
    };
    started.iter().filter_map(one).collect()
}

/// The longest chain of tasks that wait for each other.
fn critical(graph: &Graph, before: &[Vec<usize>], cycles: &[u64]) -> (Vec<usize>, u64) {
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
