//! Whether tasks that wait for each other complete in every order.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Graph;
use crate::signals::{AllParts, At, Change, InParts, Nodes, Ordered, SignalStep, TOO_MANY, numbers};

/// Why the results may not hold for all orders of the tasks on this number of clusters per device: in another order a
/// task may find no free cluster, or a wait may not end. `None` if all tasks complete in every order.
///
/// One order is followed, in which each task proceeds as far as it can. In an order that does not complete, consider
/// the missing step that comes first in the followed order: its task has no cluster, or it is a wait, and all changes
/// that come before it in the followed order have taken place. Other changes may have taken place too, except those
/// that come after the wait.
pub fn in_another_order(graph: &Graph, ordered: &Ordered, clusters: u32) -> Option<String> {
    let (own, Some(InParts { first, reach, changes, .. })) = (&ordered.own, &ordered.parts) else {
        return Some(TOO_MANY.into());
    };
    if let Some(task) = without_cluster(graph, own, clusters) {
        return Some(format!("in another order {} may find no free cluster", graph.name(task)));
    }
    let nodes = Nodes { first };
    let why = |task: usize| format!("in another order {} may wait forever", graph.name(task));
    let (order, stuck) = followed(graph, own);
    if let Some(task) = stuck {
        return Some(why(task));
    }
    own.waits().find_map(|(wait, signal, wanted)| {
        let list = changes.get(&signal).map_or(&[][..], |list| list);
        let possible = list.iter().filter(|own| !nodes.before(reach, wait, own.0));
        let (sure, open): (Vec<_>, Vec<_>) = possible.partition(|own| order[&own.0] < order[&wait]);
        let numbers = numbers(&nodes, reach, own.first(&signal), &sure, &open);
        let ends = numbers.into_iter().all(|range| wanted.must_hold(range));
        (!ends).then(|| why(wait.0))
    })
}

/// A task that may never start, since waiting tasks may hold the clusters of its device.
fn without_cluster(graph: &Graph, own: &AllParts, clusters: u32) -> Option<usize> {
    let reach = graph.reach(&graph.order().ok()?);
    let size = |task: usize| u64::from(graph.tasks[task].blocks.min(clusters));
    let holds: BTreeSet<usize> = own.waits().map(|(at, ..)| at.0).filter(|task| !graph.tasks[*task].defers).collect();
    let starts = graph.tasks.iter().enumerate().filter(|(_, own)| !own.dummy);
    let mut starts = starts.map(|(task, own)| (task, if own.together { size(task) } else { 1 }, own.device));
    let stuck = starts.find(|(task, needs, device)| {
        let at_once = |other: &&usize| {
            **other != *task
                && graph.tasks[**other].device == *device
                && !reach.path(**other, *task)
                && !reach.path(*task, **other)
        };
        let held: u64 = holds.iter().filter(at_once).map(|other| size(*other)).sum();
        held + needs > u64::from(clusters)
    });
    stuck.map(|(task, ..)| task)
}

/// The steps of all tasks in an order in which each proceeds as far as it can; and a task that then waits forever.
fn followed(graph: &Graph, own: &AllParts) -> (BTreeMap<At, usize>, Option<usize>) {
    let before = graph.before();
    let mut next = vec![0; own.tasks.len()];
    let mut numbers = own.first.clone();
    let mut order = BTreeMap::new();
    let over = |next: &[usize], task: usize| next[task] == own.tasks[task].events.len();
    loop {
        let known = order.len();
        for task in 0..own.tasks.len() {
            if !before[task].iter().all(|other| over(&next, *other)) {
                continue;
            }
            while let Some(event) = own.tasks[task].events.get(next[task]) {
                match event.step {
                    SignalStep::Change(signal, Change::Add(n)) => *numbers.entry(signal).or_default() += n,
                    SignalStep::Change(signal, Change::Set(n)) => drop(numbers.insert(signal, n)),
                    SignalStep::Wait(signal, wanted) => {
                        if !wanted.holds(numbers.get(&signal).copied().unwrap_or(0)) {
                            break;
                        }
                    }
                }
                order.insert((task, next[task]), order.len());
                next[task] += 1;
            }
        }
        if order.len() == known {
            let stuck = (0..next.len()).find(|task| !over(&next, *task));
            return (order, stuck);
        }
    }
}

#[cfg(test)]
mod tests {
    use slipring_ir::Span;

    use super::*;
    use crate::signals::{Event, Parts, Signal, Wanted, before_waits};

    const S: Signal = (0, 0);

    /// Enough for all tasks at once.
    const CLUSTERS: u32 = 8;

    fn task(steps: &[SignalStep]) -> Parts {
        let event = |step: &SignalStep| Event { step: *step, span: Span::default(), at: 0, waited: 0, by: None };
        Parts { touched: Vec::new(), events: steps.iter().map(event).collect() }
    }

    #[test]
    fn a_wait_may_be_passed_by_in_another_order() {
        let add = |n| SignalStep::Change(S, Change::Add(n));
        let set = |n| SignalStep::Change(S, Change::Set(n));
        let wait = |number, at_least| SignalStep::Wait(S, Wanted { number, at_least });
        let ends = |tasks: &[Parts]| {
            let graph = Graph { tasks: vec![crate::Task::default(); tasks.len()], ..Graph::default() };
            let own = AllParts { tasks: tasks.to_vec(), first: BTreeMap::new() };
            in_another_order(&graph, &Ordered::new(&graph, own), CLUSTERS).is_none()
        };
        // A signal that only grows reaches its final value.
        assert!(ends(&[task(&[add(1)]), task(&[add(1)]), task(&[wait(1, true)])]));
        assert!(ends(&[task(&[add(1), add(1)]), task(&[wait(1, true), add(-1), wait(1, true)])]));
        // The value 1 does not last: another task decrements the signal or sets it to another value.
        assert!(!ends(&[task(&[add(1)]), task(&[wait(1, false)]), task(&[add(1)])]));
        assert!(!ends(&[task(&[add(1)]), task(&[wait(1, true)]), task(&[add(-1)])]));
        assert!(!ends(&[task(&[set(1)]), task(&[wait(1, true)]), task(&[set(0)])]));
        assert!(ends(&[task(&[set(1)]), task(&[wait(1, true), set(0)])]));
        assert!(ends(&[task(&[set(1)]), task(&[wait(1, true)]), task(&[set(2)])]));
    }

    /// A small random number generator.
    struct Roll(u64);

    impl Roll {
        fn below(&mut self, below: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) % below
        }

        /// A task that changes and waits for two signals.
        fn task(&mut self) -> Parts {
            let steps: Vec<SignalStep> = (0..self.below(5))
                .map(|_| {
                    let signal = (0, 4 * self.below(2));
                    match self.below(7) {
                        0..3 => SignalStep::Change(signal, Change::Add([1, 1, 1, 2, -1][self.below(5) as usize])),
                        3 => SignalStep::Change(signal, Change::Set(self.below(3) as i64)),
                        _ => {
                            let (number, at_least) = ([1, 1, 2, 0][self.below(4) as usize], self.below(3) > 0);
                            SignalStep::Wait(signal, Wanted { number, at_least })
                        }
                    }
                })
                .collect();
            task(&steps)
        }
    }

    /// All interleavings of the steps of tasks: the reachable progress of each task, and whether an interleaving gets
    /// stuck.
    fn all_orders(own: &AllParts) -> (Vec<Vec<usize>>, bool) {
        let start = (vec![0; own.tasks.len()], own.first.clone());
        let (mut seen, mut work, mut stuck) = (std::collections::BTreeSet::from([start.clone()]), vec![start], false);
        while let Some((next, numbers)) = work.pop() {
            let mut moved = false;
            for (task, parts) in own.tasks.iter().enumerate() {
                let Some(event) = parts.events.get(next[task]) else { continue };
                let (mut next, mut numbers) = (next.clone(), numbers.clone());
                match event.step {
                    SignalStep::Change(signal, Change::Add(n)) => *numbers.entry(signal).or_default() += n,
                    SignalStep::Change(signal, Change::Set(n)) => drop(numbers.insert(signal, n)),
                    SignalStep::Wait(signal, wanted) if !wanted.holds(*numbers.entry(signal).or_default()) => continue,
                    SignalStep::Wait(..) => {}
                }
                next[task] += 1;
                moved = true;
                if seen.insert((next.clone(), numbers.clone())) {
                    work.push((next, numbers));
                }
            }
            stuck |= !moved && next.iter().zip(&own.tasks).any(|(next, parts)| *next < parts.events.len());
        }
        (seen.into_iter().map(|(next, _)| next).collect(), stuck)
    }

    #[test]
    fn what_is_known_of_orders_holds_in_all_of_them() {
        let mut roll = Roll(0x9e37_79b9_7f4a_7c15);
        let (mut known, mut end, mut said) = (0, 0, 0);
        for _ in 0..4000 {
            let tasks: Vec<Parts> = (0..2 + roll.below(2)).map(|_| roll.task()).collect();
            let first = BTreeMap::from([(S, roll.below(4) as i64 / 3)]);
            let own = AllParts { tasks, first };
            let graph = Graph { tasks: vec![crate::Task::default(); own.tasks.len()], ..Graph::default() };
            let (states, stuck) = all_orders(&own);
            let ordered = Ordered::new(&graph, own.clone());
            let ends = in_another_order(&graph, &ordered, CLUSTERS).is_none();
            assert!(!(ends && stuck), "{own:?} may end in the middle");
            end += usize::from(!stuck);
            said += usize::from(ends);
            let complete = |next: &Vec<usize>| next.iter().zip(&own.tasks).all(|(next, own)| *next == own.events.len());
            if !states.iter().any(complete) {
                continue;
            }
            let Some(InParts { first, reach, changes, .. }) = &ordered.parts else { continue };
            let nodes = Nodes { first };
            let all =
                || own.tasks.iter().enumerate().flat_map(|(task, own)| (0..own.events.len()).map(move |at| (task, at)));
            let found = all().flat_map(|one| all().map(move |other| (one, other)));
            let found = found.filter(|(one, other)| one.0 != other.0 && nodes.before(reach, *one, *other));
            for (one, other) in found.chain(before_waits(&nodes, reach, &own, changes)) {
                known += 1;
                let wrong = states.iter().find(|next| next[other.0] > other.1 && next[one.0] <= one.1);
                assert!(wrong.is_none(), "{one:?} does not always come before {other:?} in {own:?}");
            }
        }
        assert!(known > 1000 && said * 10 > end * 8, "{known} orders, {said} of {end} that end");
    }
}
