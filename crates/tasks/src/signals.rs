//! Tasks that wait for each other while they run: signals of devices.
//!
//! What a task does with signals divides it into parts. A change of a signal comes after all that its task did before, a wait
//! comes before all that its task does behind it. Of the changes of a signal those come before a wait without which it would
//! not have ended, whatever the others did: so the order that is found is that of all runs, not of the one that was looked at.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Diagnostic, Span};

use crate::graph::{Edge, Graph, Why};
use crate::touched::{self, Touched};

/// A number that tasks wait for: its tensor and its first byte there.
pub type Signal = (usize, u64);

/// What a task does to a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It adds a number.
    Add(i64),
    /// The signal becomes a number.
    Set(i64),
}

/// What a task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Wanted {
    pub number: i64,
    /// A larger number will do as well.
    pub at_least: bool,
}

impl Wanted {
    /// True if a number ends the wait.
    pub fn holds(self, number: i64) -> bool {
        if self.at_least { number >= self.number } else { number == self.number }
    }
}

/// What a task does with a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SignalStep {
    Change(Signal, Change),
    Wait(Signal, Wanted),
}

/// A step between two parts of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Event {
    pub step: SignalStep,
    /// Where it stands in the text.
    pub span: Span,
    /// When it happened, in cycles from the start of its task.
    pub at: u64,
}

/// A task in parts: one more than it has events.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// What each part touches, by tensor, without the signals' own steps.
    pub touched: Vec<BTreeMap<usize, Touched>>,
    #[allow(missing_docs)]
    pub events: Vec<Event>,
}

/// The most parts of all tasks together that are looked at.
const MOST_PARTS: usize = 1 << 13;

/// The changes of each signal by each task, in the order of the task: the place among its events, and the change.
type Changes = BTreeMap<Signal, BTreeMap<usize, Vec<(usize, Change)>>>;

/// Pairs of parts of tasks that touch the same bytes without an order; `None` where there are too many parts to look at.
pub fn races(graph: &Graph, tasks: &[Parts]) -> Option<Vec<Diagnostic>> {
    let mut first = Vec::new();
    let mut count = 0;
    for parts in tasks {
        first.push(count);
        count += parts.events.len() + 1;
    }
    if count > MOST_PARTS {
        return None;
    }
    let mut all = Graph { tensors: graph.tensors.clone(), ..Graph::default() };
    let mut footprints = Vec::new();
    for (task, parts) in graph.tasks.iter().zip(tasks) {
        for at in 0..=parts.events.len() {
            all.tasks.push(task.clone());
            footprints.push(parts.touched.get(at).cloned().unwrap_or_default());
        }
    }
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (task, parts) in tasks.iter().enumerate() {
        pairs.extend((0..parts.events.len()).map(|at| (first[task] + at, first[task] + at + 1)));
    }
    for edge in &graph.edges {
        pairs.insert((first[edge.from] + tasks[edge.from].events.len(), first[edge.to]));
    }
    for ((from, change), (to, wait)) in before_waits(tasks) {
        pairs.insert((first[from] + change, first[to] + wait + 1));
    }
    all.edges = pairs.into_iter().map(|(from, to)| Edge { from, to, why: vec![Why::Submitted] }).collect();
    all.edges.sort_by_key(|edge| edge.to);
    let order = all.order().ok()?;
    let place = |node: usize| {
        let task = first.partition_point(|own| *own <= node) - 1;
        let (events, part) = (&tasks[task].events, node - first[task]);
        let says = |step: SignalStep| if matches!(step, SignalStep::Wait(..)) { "this wait" } else { "this signal" };
        let name = graph.name(task);
        let before = events.get(part).map(|own| (own.span, format!("{name} does so before {}", says(own.step))));
        let behind = || {
            let own = events.get(part.checked_sub(1)?)?;
            Some((own.span, format!("{name} does so behind {}", says(own.step))))
        };
        before.or_else(behind)
    };
    Some(touched::races_of_parts(&all, &all.reach(&order), &footprints, &place))
}

/// Changes that come before waits in every run: task and event of each.
fn before_waits(tasks: &[Parts]) -> Vec<((usize, usize), (usize, usize))> {
    let mut changes = Changes::new();
    for (task, parts) in tasks.iter().enumerate() {
        for (at, event) in parts.events.iter().enumerate() {
            if let SignalStep::Change(signal, change) = event.step {
                changes.entry(signal).or_default().entry(task).or_default().push((at, change));
            }
        }
    }
    let mut found = Vec::new();
    for (task, parts) in tasks.iter().enumerate() {
        for (at, event) in parts.events.iter().enumerate() {
            let SignalStep::Wait(signal, wanted) = event.step else { continue };
            let Some(by_task) = changes.get(&signal) else { continue };
            found.extend(needed(by_task, (task, at), wanted).into_iter().map(|from| (from, (task, at))));
        }
    }
    found
}

/// The changes of a signal without which a wait would not have ended: task and event.
fn needed(
    by_task: &BTreeMap<usize, Vec<(usize, Change)>>,
    (task, at): (usize, usize),
    wanted: Wanted,
) -> Vec<(usize, usize)> {
    let sets = by_task.values().flatten().any(|(_, change)| matches!(change, Change::Set(_)));
    if sets {
        // Whoever alone sets it to what is waited for.
        let ends = |(_, change): &&(usize, Change)| matches!(change, Change::Set(n) if wanted.holds(*n));
        let mut who = by_task.iter().filter_map(|(from, list)| Some((*from, list.iter().find(ends)?.0)));
        let adds = by_task.values().flatten().any(|(_, change)| matches!(change, Change::Add(_)));
        return match (who.next(), who.next()) {
            (Some(one), None) if !adds && one.0 != task => vec![one],
            _ => Vec::new(),
        };
    }
    let number = |change: &Change| match change {
        Change::Add(n) | Change::Set(n) => *n,
    };
    // What the task itself did before it waits is there; of others all may be there.
    let own: i64 = by_task.get(&task).into_iter().flatten().filter(|own| own.0 < at).map(|own| number(&own.1)).sum();
    let most = |list: &[(usize, Change)]| {
        let mut sum = 0i64;
        list.iter()
            .map(|(_, change)| {
                sum += number(change);
                sum
            })
            .max()
            .unwrap_or(0)
            .max(0)
    };
    let all: i64 = by_task.iter().filter(|(from, _)| **from != task).map(|(_, list)| most(list)).sum();
    let mut found = Vec::new();
    for (from, list) in by_task.iter().filter(|(from, _)| **from != task) {
        let others = own + all - most(list);
        let mut sum = 0;
        for (event, change) in list {
            if others + sum >= wanted.number {
                break;
            }
            sum += number(change);
            if others + sum >= wanted.number {
                found.push((*from, *event));
            }
        }
    }
    found
}

/// When a signal became what is waited for: `log` has its changes in the order in which they took place, each with its cycle.
pub fn since(log: &[(u64, Change)], wanted: Wanted) -> u64 {
    let (mut number, mut latest, mut held, mut since) = (0i64, 0, wanted.holds(0), 0);
    for (at, change) in log {
        latest = latest.max(*at);
        number = match change {
            Change::Add(n) => number + n,
            Change::Set(n) => *n,
        };
        let holds = wanted.holds(number);
        if holds && !held {
            since = latest;
        }
        held = holds;
    }
    since
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(number: i64) -> Wanted {
        Wanted { number, at_least: true }
    }

    fn task(steps: &[SignalStep]) -> Parts {
        let events = steps.iter().map(|step| Event { step: *step, span: Span::default(), at: 0 }).collect();
        Parts { touched: Vec::new(), events }
    }

    const S: Signal = (0, 0);

    #[test]
    fn all_that_a_wait_cannot_do_without_comes_before_it() {
        let one = SignalStep::Change(S, Change::Add(1));
        // Two tell, and it waits for both.
        let tasks = [task(&[one]), task(&[one]), task(&[SignalStep::Wait(S, wants(2))])];
        assert_eq!(before_waits(&tasks), [((0, 0), (2, 0)), ((1, 0), (2, 0))]);
        // It waits for one of them: either will do.
        let tasks = [task(&[one]), task(&[one]), task(&[SignalStep::Wait(S, wants(1))])];
        assert_eq!(before_waits(&tasks), []);
        // Rounds of one that tells: the second wait needs the second.
        let tasks = [task(&[one, one]), task(&[SignalStep::Wait(S, wants(1)), SignalStep::Wait(S, wants(2))])];
        assert_eq!(before_waits(&tasks), [((0, 0), (1, 0)), ((0, 1), (1, 1))]);
        // What is taken back is needed again.
        let back = SignalStep::Change(S, Change::Add(-1));
        let tasks = [task(&[one, one]), task(&[SignalStep::Wait(S, wants(1)), back, SignalStep::Wait(S, wants(1))])];
        assert_eq!(before_waits(&tasks), [((0, 0), (1, 0)), ((0, 1), (1, 2))]);
    }

    #[test]
    fn only_one_may_set_what_a_wait_comes_behind() {
        let set = SignalStep::Change(S, Change::Set(3));
        let wait = SignalStep::Wait(S, Wanted { number: 3, at_least: false });
        assert_eq!(before_waits(&[task(&[set]), task(&[wait])]), [((0, 0), (1, 0))]);
        assert_eq!(before_waits(&[task(&[set]), task(&[set]), task(&[wait])]), []);
    }

    #[test]
    fn a_wait_is_over_when_the_last_change_that_it_needs_is_there() {
        let log = [(50, Change::Add(1)), (20, Change::Add(1)), (90, Change::Add(1))];
        assert_eq!(since(&log, wants(2)), 50);
        assert_eq!(since(&log, wants(3)), 90);
    }
}
