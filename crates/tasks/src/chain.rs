//! The chain of waits in a run, from the end of a program back to its start.

use std::collections::BTreeSet;

use crate::{Ended, Graph, Plan, Resumed};

/// Why a task started, or ended, when it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// The start of the program.
    Begin,
    /// The end of a task that it depends on.
    Task(usize),
    /// This cluster became free, and no other one earlier.
    Cluster(u32),
    /// Another task signalled it while it ran.
    Signal(usize),
}

/// A task in the chain, with the interval for which the end of the program waited for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Link {
    pub task: usize,
    pub start: u64,
    pub end: u64,
    /// Why it did not start or end earlier, in relation to the previous task in the list.
    pub held: Held,
}

/// A block of a task: task, cluster, start, end.
type Block = (usize, Option<u32>, u64, u64);

/// The chain of tasks that the last cycle of a plan waited for, first task first. If every task ran, their intervals
/// cover the time from cycle 0 to the end.
pub fn chain(graph: &Graph, plan: &Plan) -> Vec<Link> {
    let before = graph.before();
    let own = |ended: &Ended| -> Vec<Block> {
        let blocks = ended.blocks.iter().map(|(cluster, start, end)| (ended.task, Some(*cluster), *start, *end));
        let blocks: Vec<Block> = blocks.collect();
        // A task without a cluster still counts as one block.
        if blocks.is_empty() { vec![(ended.task, None, ended.start, ended.end)] } else { blocks }
    };
    let blocks: Vec<Block> = plan.ended.iter().flat_map(own).collect();
    let last = |task: usize| blocks.iter().filter(|block| block.0 == task).max_by_key(|block| block.3).copied();
    let ready = |task: usize| plan.ended.iter().find(|ended| ended.task == task).map_or(0, |ended| ended.ready);
    let mut at = blocks.iter().max_by_key(|block| (block.3, std::cmp::Reverse(block.0))).copied();
    let (mut links, mut seen) = (Vec::new(), BTreeSet::new());
    let mut end = plan.cycles;
    while let Some(block) = at {
        let (task, cluster, start, _) = block;
        if !seen.insert((block, end)) {
            break;
        }
        let resumed = plan.resumed.get(&task).into_iter().flatten().filter(|own| own.at > start && own.at <= end);
        let (from, held, next) = if let Some(Resumed { by, at }) = resumed.max_by_key(|own| own.at) {
            let other = blocks.iter().filter(|own| own.0 == *by && own.2 <= *at).max_by_key(|own| own.3);
            (*at, Held::Signal(*by), other.copied())
        } else if start == 0 {
            (0, Held::Begin, None)
        } else if start <= ready(task) {
            let other = before[task].iter().filter_map(|own| last(*own)).find(|own| own.3 == start);
            (start, other.map_or(Held::Begin, |own| Held::Task(own.0)), other)
        } else {
            let here = blocks.iter().filter(|own| own.3 == start && own.1.is_some() && own.2 < own.3);
            let other = here.clone().find(|own| own.1 == cluster).or_else(|| here.clone().next()).copied();
            (start, other.and_then(|own| own.1).map_or(Held::Begin, Held::Cluster), other)
        };
        links.push(Link { task, start: from, end, held });
        (at, end) = (next, from);
    }
    links.reverse();
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, Reason, Task, plan};

    fn graph(tasks: usize, edges: &[(usize, usize)]) -> Graph {
        let edge = |(from, to): &(usize, usize)| Edge { from: *from, to: *to, why: vec![Reason::Declared] };
        let task = Task { blocks: 1, ..Task::default() };
        Graph { tasks: vec![task; tasks], edges: edges.iter().map(edge).collect(), ..Graph::default() }
    }

    fn told(graph: &Graph, clusters: u32, cycles: &[u64]) -> Vec<(usize, u64, u64, Held)> {
        let own = plan(graph, clusters, 0, &mut |task: usize| Some(vec![cycles[task]]));
        chain(graph, &own).into_iter().map(|link| (link.task, link.start, link.end, link.held)).collect()
    }

    #[test]
    fn tasks_wait_for_signals() {
        // Task 1 waits for a signal of task 0 in cycle 8 of 10.
        let two = graph(2, &[]);
        let mut own = plan(&two, 2, 0, &mut |task: usize| Some(vec![[10, 17][task]]));
        own.resumed.insert(1, vec![Resumed { by: 0, at: 3 }, Resumed { by: 0, at: 8 }]);
        let told: Vec<_> =
            chain(&two, &own).into_iter().map(|link| (link.task, link.start, link.end, link.held)).collect();
        assert_eq!(told, [(0, 0, 8, Held::Begin), (1, 8, 17, Held::Signal(0))]);
    }

    #[test]
    fn tasks_wait_for_tasks_and_for_clusters() {
        let two = graph(3, &[(0, 2)]);
        // With enough clusters, 2 waits for 0. On one cluster it also waits until 1 has left it.
        assert_eq!(told(&two, 2, &[10, 5, 7]), [(0, 0, 10, Held::Begin), (2, 10, 17, Held::Task(0))]);
        let one = [(0, 0, 10, Held::Begin), (1, 10, 15, Held::Cluster(0)), (2, 15, 22, Held::Cluster(0))];
        assert_eq!(told(&two, 1, &[10, 5, 7]), one);
        assert_eq!(told(&graph(0, &[]), 1, &[]), []);
    }
}
