//! Tasks that wait for each other while they run, by signals between devices.
//!
//! The signal operations of a task divide it into parts. A change of a signal comes after everything that its task did
//! before it, and a wait comes before everything that its task does after it. A change of a signal is ordered before a
//! wait if the wait could not have ended without it, whatever the other tasks did. Therefore the computed order holds
//! for all runs, not only for the observed one.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Diagnostic, Span};

use crate::graph::{Edge, Graph, Reach, Reason};
use crate::schedule::{Plan, Resumed};
use crate::touched::{self, Touched};

/// A number that tasks wait for: the index of its tensor, and its offset.
pub type Signal = (usize, u64);

/// A change of a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Adds a number.
    Add(i64),
    /// Sets the signal to a number.
    Set(i64),
}

/// The condition of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Wanted {
    pub number: i64,
    /// The wait condition is >= instead of ==.
    pub at_least: bool,
}

impl Wanted {
    /// Whether a value ends the wait.
    pub fn holds(self, number: i64) -> bool {
        if self.at_least { number >= self.number } else { number == self.number }
    }

    /// Whether a number of a range ends the wait.
    fn may_hold(self, (least, most): (i64, i64)) -> bool {
        most >= self.number && (self.at_least || least <= self.number)
    }

    /// Whether every number of a range ends the wait.
    pub(crate) fn must_hold(self, (least, most): (i64, i64)) -> bool {
        self.holds(least) && self.holds(most)
    }
}

/// A signal operation of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SignalStep {
    Change(Signal, Change),
    Wait(Signal, Wanted),
}

/// A signal operation between two parts of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Event {
    pub step: SignalStep,
    /// Its location in the text.
    pub span: Span,
    /// When it happened, in cycles since the start of its task.
    pub at: u64,
    /// For a wait, the cycles that it took.
    pub waited: u64,
    /// For a wait that had to wait, what ended it.
    pub by: Option<Resumed>,
}

/// A task split into parts: one part more than it has events.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The bytes that each part touches, by tensor, without the signal operations themselves.
    pub touched: Vec<BTreeMap<usize, Touched>>,
    #[allow(missing_docs)]
    pub events: Vec<Event>,
}

/// All tasks in parts.
#[derive(Clone, Debug, Default)]
pub struct AllParts {
    /// Task by task.
    pub tasks: Vec<Parts>,
    /// Initial values of signals that are not 0.
    pub first: BTreeMap<Signal, i64>,
}

impl AllParts {
    /// The signals that tasks wait for.
    pub fn signals(&self) -> BTreeSet<Signal> {
        self.waits().map(|(_, signal, _)| signal).collect()
    }

    pub(crate) fn first(&self, signal: &Signal) -> i64 {
        self.first.get(signal).copied().unwrap_or(0)
    }

    fn steps(&self) -> impl Iterator<Item = (At, SignalStep)> {
        let each = self.tasks.iter().enumerate();
        each.flat_map(|(task, parts)| parts.events.iter().enumerate().map(move |(at, own)| ((task, at), own.step)))
    }

    /// The changes of each signal.
    fn changes(&self) -> Changes {
        let mut changes = Changes::new();
        for (at, step) in self.steps() {
            if let SignalStep::Change(signal, change) = step {
                changes.entry(signal).or_default().push((at, change));
            }
        }
        changes
    }

    /// The waits.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (At, Signal, Wanted)> {
        self.steps().filter_map(|(at, step)| match step {
            SignalStep::Wait(signal, wanted) => Some((at, signal, wanted)),
            SignalStep::Change(..) => None,
        })
    }
}

/// The maximum number of parts of all tasks together that are analysed.
const MOST_PARTS: usize = 1 << 13;

/// The maximum number of iterations towards a fixed point.
const MOST_ROUNDS: usize = 64;

/// The changes of each signal, grouped by task and in the order of each task.
pub(crate) type Changes = BTreeMap<Signal, Vec<(At, Change)>>;

/// Why the order of the parts of tasks is unknown.
pub(crate) const TOO_MANY: &str = "the tasks have too many signal operations to compare their orders";

/// All tasks in parts, and the known order of the parts.
pub struct Ordered {
    /// The tasks.
    pub own: AllParts,
    /// `None` if there are too many parts.
    pub(crate) parts: Option<InParts>,
}

impl Ordered {
    /// Computes the order of the parts of tasks.
    pub fn new(graph: &Graph, own: AllParts) -> Ordered {
        Ordered { parts: in_parts(graph, &own), own }
    }
}

/// The parts of all tasks, and their known order.
pub(crate) struct InParts {
    /// A graph with a node for each part.
    all: Graph,
    /// The first part of each task.
    pub first: Vec<usize>,
    pub reach: Reach,
    pub changes: Changes,
}

fn in_parts(graph: &Graph, own: &AllParts) -> Option<InParts> {
    let tasks = &own.tasks;
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
    for (task, parts) in graph.tasks.iter().zip(tasks) {
        all.tasks.extend((0..=parts.events.len()).map(|_| task.clone()));
    }
    let nodes = Nodes { first: &first };
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (task, parts) in tasks.iter().enumerate() {
        pairs.extend((0..parts.events.len()).map(|at| nodes.around((task, at))));
    }
    for edge in &graph.edges {
        pairs.insert((first[edge.from] + tasks[edge.from].events.len(), first[edge.to]));
    }
    // A known order before a wait may imply further ones: another round of the same signals.
    let (mut reach, changes) = (all.with_pairs(&pairs)?, own.changes());
    for _ in 0..MOST_ROUNDS {
        let known = pairs.len();
        for (from, to) in before_waits(&nodes, &reach, own, &changes) {
            pairs.insert((nodes.around(from).0, nodes.around(to).1));
        }
        if pairs.len() == known {
            break;
        }
        reach = all.with_pairs(&pairs)?;
    }
    Some(InParts { all, first, reach, changes })
}

/// The longest chain of tasks that wait for each other, at their ends or for a signal while they run, and its cycles.
/// If others wait for a signal in the middle of a task, only the time up to that signal counts. `cycles` are those of
/// each task without its waits. `None` if there are too many parts.
pub fn critical(ordered: &Ordered, cycles: &[u64]) -> Option<(Vec<usize>, u64)> {
    let InParts { all, first, .. } = ordered.parts.as_ref()?;
    let mut own = Vec::with_capacity(all.tasks.len());
    for (parts, cycles) in ordered.own.tasks.iter().zip(cycles) {
        let mut since = 0;
        for event in &parts.events {
            let at = event.at.clamp(since, (*cycles).max(since));
            // The time of a wait belongs to the other tasks.
            own.push((at - since).saturating_sub(event.waited));
            since = at;
        }
        own.push(cycles.saturating_sub(since));
    }
    let (parts, sum) = crate::schedule::longest_chain(all, &all.before(), &own);
    let mut path: Vec<usize> = parts.iter().map(|part| first.partition_point(|own| own <= part) - 1).collect();
    path.dedup();
    Some((path, sum))
}

/// Includes signals in the critical path of a plan whose tasks all ran, if some tasks use them.
pub fn lengthen(plan: &mut Plan, ordered: Option<&Ordered>) {
    for (task, parts) in ordered.into_iter().flat_map(|ordered| &ordered.own.tasks).enumerate() {
        let resumed: Vec<Resumed> = parts.events.iter().filter_map(|event| event.by).collect();
        if !resumed.is_empty() {
            plan.resumed.insert(task, resumed);
        }
    }
    let chain = ordered.filter(|_| plan.complete).and_then(|ordered| critical(ordered, &plan.longest));
    // The work of a task before and after a wait may overlap on its pipes: a chain longer than the run is invalid.
    if let Some(chain) = chain.filter(|chain| chain.1 <= plan.cycles) {
        plan.critical = chain;
    }
}

/// Pairs of parts of tasks that touch the same bytes without an order; `None` if there are too many parts.
pub fn races(graph: &Graph, ordered: &Ordered) -> Option<Vec<Diagnostic>> {
    let InParts { all, first, reach, .. } = ordered.parts.as_ref()?;
    let tasks = &ordered.own.tasks;
    let each = |parts: &Parts| {
        (0..=parts.events.len()).map(|at| parts.touched.get(at).cloned().unwrap_or_default()).collect::<Vec<_>>()
    };
    let footprints: Vec<_> = tasks.iter().flat_map(each).collect();
    let place = |node: usize| {
        let task = first.partition_point(|own| *own <= node) - 1;
        let (events, part) = (&tasks[task].events, node - first[task]);
        let says = |step: SignalStep| if matches!(step, SignalStep::Wait(..)) { "this wait" } else { "this signal" };
        let name = graph.name(task);
        let before = events.get(part).map(|own| (own.span, format!("{name} does so before {}", says(own.step))));
        let behind = || {
            let own = events.get(part.checked_sub(1)?)?;
            Some((own.span, format!("{name} does so after {}", says(own.step))))
        };
        before.or_else(behind)
    };
    Some(touched::races_of_parts(all, reach, &footprints, &place))
}

impl Graph {
    /// The order with these additional edges; `None` if they form a cycle.
    fn with_pairs(&mut self, pairs: &BTreeSet<(usize, usize)>) -> Option<Reach> {
        self.edges =
            pairs.iter().map(|(from, to)| Edge { from: *from, to: *to, why: vec![Reason::Submitted] }).collect();
        self.edges.sort_by_key(|edge| edge.to);
        let order = self.order().ok()?;
        Some(self.reach(&order))
    }
}

/// An event: its task, and its index among the events of the task.
pub(crate) type At = (usize, usize);

/// The parts of all tasks as nodes of a graph.
pub(crate) struct Nodes<'n> {
    /// The first part of each task.
    pub first: &'n [usize],
}

impl Nodes<'_> {
    /// The parts before and after an event.
    fn around(&self, (task, at): At) -> (usize, usize) {
        (self.first[task] + at, self.first[task] + at + 1)
    }

    /// Whether one event comes before another in every run.
    pub fn before(&self, reach: &Reach, one: At, other: At) -> bool {
        let (end, begin) = (self.around(one).1, self.around(other).0);
        end == begin || reach.path(end, begin)
    }
}

/// Changes that come before waits in every run, given the known order.
pub(crate) fn before_waits(nodes: &Nodes<'_>, reach: &Reach, own: &AllParts, changes: &Changes) -> Vec<(At, At)> {
    let mut found = Vec::new();
    for (wait, signal, wanted) in own.waits() {
        let Some(list) = changes.get(&signal) else { continue };
        let needed = needed(nodes, reach, list, own.first(&signal), (wait, wanted));
        found.extend(needed.into_iter().map(|from| (from, wait)));
    }
    found
}

/// Maximum number of changes around a wait that are each tested for being needed, if some of them set a signal.
const MOST_ASKED: usize = 32;

/// The possible values of a signal after all `sure` changes and any of the `open` ones, in any order that does not
/// contradict the known one: a range for each change that may be the last to set it.
pub(crate) fn numbers(
    nodes: &Nodes<'_>,
    reach: &Reach,
    first: i64,
    sure: &[&(At, Change)],
    open: &[&(At, Change)],
) -> Vec<(i64, i64)> {
    let sets = |own: &&&(At, Change)| matches!(own.1, Change::Set(_));
    let gone = |at: At| sure.iter().filter(sets).any(|own| nodes.before(reach, at, own.0));
    let mut lasts: Vec<Option<&(At, Change)>> =
        sure.iter().chain(open).filter(sets).filter(|own| !gone(own.0)).map(|own| Some(*own)).collect();
    if !sure.iter().any(|own| sets(&own)) {
        lasts.push(None);
    }
    let range = |last: Option<&(At, Change)>| {
        let begin = match last {
            Some((_, Change::Set(n))) => *n,
            _ => first,
        };
        let (mut least, mut most) = (begin, begin);
        for (own, certain) in sure.iter().map(|own| (own, true)).chain(open.iter().map(|own| (own, false))) {
            let (at, Change::Add(n)) = own else { continue };
            if last.is_some_and(|last| nodes.before(reach, *at, last.0)) {
                continue;
            }
            let counts = certain && last.is_none_or(|last| nodes.before(reach, last.0, *at));
            least += if counts { *n } else { (*n).min(0) };
            most += if counts { *n } else { (*n).max(0) };
        }
        (least, most)
    };
    lasts.into_iter().map(range).collect()
}

/// The changes of a signal without which a wait could not have ended. A change before the wait has happened, and a
/// change after it has not. Any other change may have happened without the change in question, unless it comes after
/// it.
fn needed(
    nodes: &Nodes<'_>,
    reach: &Reach,
    changes: &[(At, Change)],
    first: i64,
    (wait, wanted): (At, Wanted),
) -> Vec<At> {
    type Changes<'a> = Vec<&'a (At, Change)>;
    let possible = changes.iter().filter(|own| !nodes.before(reach, wait, own.0));
    let (there, open): (Changes<'_>, Changes<'_>) = possible.partition(|own| nodes.before(reach, own.0, wait));
    if changes.iter().any(|(_, change)| matches!(change, Change::Set(_))) {
        let ends = |own: &&(At, Change)| matches!(own.1, Change::Set(n) if wanted.holds(n));
        let all = open.len() <= MOST_ASKED;
        // Of many it can only be the first that ends the wait by itself.
        let only = if all { None } else { open.iter().copied().find(ends).map(|own| own.0) };
        let asked = open.iter().filter(|own| all || Some(own.0) == only);
        let without = |left_out: At| -> Changes<'_> {
            open.iter().copied().filter(|own| own.0 != left_out && !nodes.before(reach, left_out, own.0)).collect()
        };
        let needs = |own: &At| {
            let numbers = numbers(nodes, reach, first, &there, &without(*own));
            !numbers.into_iter().any(|range| wanted.may_hold(range))
        };
        return asked.map(|own| own.0).filter(needs).collect();
    }
    let number = |change: Change| match change {
        Change::Add(n) | Change::Set(n) => n,
    };
    let sure: i64 = first + there.iter().map(|own| number(own.1)).sum::<i64>();
    // The largest value that the signal can reach without this change and everything after it.
    let without = |left_out: At| -> i64 {
        let (mut all, mut task, mut sum, mut most) = (sure, usize::MAX, 0i64, 0i64);
        for (at, change) in &open {
            if at.0 != task {
                all += most;
                (task, sum, most) = (at.0, 0, 0);
            }
            if *at != left_out && !nodes.before(reach, left_out, *at) {
                sum += number(*change);
                most = most.max(sum);
            }
        }
        all + most
    };
    let (mut found, mut enough): (Vec<At>, usize) = (Vec::new(), usize::MAX);
    for (at, _) in open.iter().filter(|own| own.0.0 != wait.0) {
        if at.0 == enough {
            continue;
        }
        if without(*at) >= wanted.number {
            // Later changes of this task are not needed either.
            enough = at.0;
            continue;
        }
        // It implies the earlier changes of its task.
        found.retain(|own| own.0 != at.0);
        found.push(*at);
    }
    found
}

/// A change of a signal in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Changed {
    /// When it took place.
    pub at: u64,
    pub task: usize,
    pub change: Change,
}

/// The change since which a signal satisfies a wait, given its first value and the changes in order: of those up to
/// that moment, the latest in time. `None` if the condition held from the beginning, or does not hold.
pub fn since(first: i64, log: &[Changed], wanted: Wanted) -> Option<Changed> {
    let (mut number, mut latest, mut held, mut since) = (first, None::<Changed>, wanted.holds(first), None);
    for own in log {
        latest = latest.filter(|latest| latest.at > own.at).or(Some(*own));
        number = match own.change {
            Change::Add(n) => number + n,
            Change::Set(n) => n,
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
        let events =
            steps.iter().map(|step| Event { step: *step, span: Span::default(), at: 0, waited: 0, by: None }).collect();
        Parts { touched: Vec::new(), events }
    }

    const S: Signal = (0, 0);

    /// The computed order for tasks with only these edges.
    fn before_waits(tasks: &[Parts], edges: &[(usize, usize)]) -> Vec<(At, At)> {
        let first: Vec<usize> = tasks
            .iter()
            .scan(0, |next, own| {
                let first = *next;
                *next += own.events.len() + 1;
                Some(first)
            })
            .collect();
        let own = AllParts { tasks: tasks.to_vec(), first: BTreeMap::new() };
        let nodes = Nodes { first: &first };
        let nodes_of = |own: &Parts| own.events.len() + 1;
        let mut graph =
            Graph { tasks: vec![crate::Task::default(); tasks.iter().map(nodes_of).sum()], ..Graph::default() };
        let mut pairs = BTreeSet::new();
        for (task, own) in tasks.iter().enumerate() {
            pairs.extend((0..own.events.len()).map(|at| nodes.around((task, at))));
        }
        pairs.extend(edges.iter().map(|(from, to)| (first[*from] + tasks[*from].events.len(), first[*to])));
        let reach = graph.with_pairs(&pairs).expect("no cycle");
        super::before_waits(&nodes, &reach, &own, &own.changes())
    }

    /// The first task signals at cycle 900 of 1000, the second waits after 50 of its 500 cycles; the third comes after
    /// the second.
    #[test]
    fn the_critical_path_goes_by_signals() {
        let at = |step: SignalStep, at: u64| Parts {
            touched: Vec::new(),
            events: vec![Event { step, span: Span::default(), at, waited: 0, by: None }],
        };
        let tasks =
            [at(SignalStep::Change(S, Change::Add(1)), 900), at(SignalStep::Wait(S, wants(1)), 50), Parts::default()];
        let edge = Edge { from: 1, to: 2, why: vec![Reason::Submitted] };
        let graph = Graph { tasks: vec![crate::Task::default(); 3], edges: vec![edge], ..Graph::default() };
        let of = |tasks: &[Parts]| Ordered::new(&graph, AllParts { tasks: tasks.to_vec(), first: BTreeMap::new() });
        let ordered = of(&tasks);
        assert_eq!(critical(&ordered, &[1000, 500, 20]), Some((vec![0, 1, 2], 900 + 450 + 20)));
        // The rest of the first task after its signal is longer than the other tasks.
        assert_eq!(critical(&ordered, &[2000, 500, 20]), Some((vec![0], 2000)));
        // Without the signal nothing waits for the first.
        let alone = of(&[Parts::default(), tasks[1].clone(), Parts::default()]);
        assert_eq!(critical(&alone, &[400, 500, 20]), Some((vec![1, 2], 520)));
    }

    #[test]
    fn all_that_a_wait_cannot_do_without_comes_before_it() {
        let one = SignalStep::Change(S, Change::Add(1));
        // Two tasks signal, and the wait needs both.
        let tasks = [task(&[one]), task(&[one]), task(&[SignalStep::Wait(S, wants(2))])];
        assert_eq!(before_waits(&tasks, &[]), [((0, 0), (2, 0)), ((1, 0), (2, 0))]);
        // One signal is enough, and either task may give it.
        let tasks = [task(&[one]), task(&[one]), task(&[SignalStep::Wait(S, wants(1))])];
        assert_eq!(before_waits(&tasks, &[]), []);
        // One task signals twice: the second wait needs the second signal.
        let tasks = [task(&[one, one]), task(&[SignalStep::Wait(S, wants(1)), SignalStep::Wait(S, wants(2))])];
        assert_eq!(before_waits(&tasks, &[]), [((0, 0), (1, 0)), ((0, 1), (1, 1))]);
        // After a decrement, another signal is needed.
        let back = SignalStep::Change(S, Change::Add(-1));
        let tasks = [task(&[one, one]), task(&[SignalStep::Wait(S, wants(1)), back, SignalStep::Wait(S, wants(1))])];
        assert_eq!(before_waits(&tasks, &[]), [((0, 0), (1, 0)), ((0, 1), (1, 2))]);
    }

    #[test]
    fn signals_that_are_used_again_order_each_round() {
        // Device 0 signals twice, in two tasks; device 1 waits in two tasks, and decrements the signal after each wait.
        let (one, back) = (SignalStep::Change(S, Change::Add(1)), SignalStep::Change(S, Change::Add(-1)));
        let wait = SignalStep::Wait(S, wants(1));
        let tasks = [task(&[one]), task(&[one]), task(&[wait, back]), task(&[wait, back])];
        let edges = [(0, 1), (2, 3)];
        assert_eq!(before_waits(&tasks, &edges), [((0, 0), (2, 0)), ((0, 0), (3, 0)), ((1, 0), (3, 0))]);
        // With this order known, the second signal is needed for the second wait.
        let edges = [(0, 1), (2, 3), (0, 2)];
        assert_eq!(before_waits(&tasks, &edges), [((1, 0), (3, 0))]);
        // Two unordered tasks of one device: either may have signalled.
        assert_eq!(before_waits(&tasks, &[(2, 3)]), [((0, 0), (3, 0)), ((1, 0), (3, 0))]);
        // A decrement that comes after a wait does not count for it.
        let tasks = [task(&[one]), task(&[wait]), task(&[back])];
        assert_eq!(before_waits(&tasks, &[(1, 2)]), [((0, 0), (1, 0))]);
    }

    #[test]
    fn what_a_signal_is_at_first_may_end_a_wait() {
        let tasks = [task(&[SignalStep::Change(S, Change::Set(0))]), task(&[SignalStep::Wait(S, wants(0))])];
        assert_eq!(before_waits(&tasks, &[]), []);
        // Not where the one that waits has set it to something else.
        let own = SignalStep::Change(S, Change::Set(-1));
        let tasks = [tasks[0].clone(), task(&[own, SignalStep::Wait(S, wants(0))])];
        assert_eq!(before_waits(&tasks, &[]), [((0, 0), (1, 1))]);
        // Or where it was left so by the launch before.
        let tasks = vec![task(&[SignalStep::Change(S, Change::Add(1))]), task(&[SignalStep::Wait(S, wants(1))])];
        let graph = Graph { tasks: vec![crate::Task::default(); 2], ..Graph::default() };
        let ordered = |first: BTreeMap<Signal, i64>| {
            let own = AllParts { tasks: tasks.clone(), first };
            let InParts { first, reach, changes, .. } = in_parts(&graph, &own).expect("few parts");
            super::before_waits(&Nodes { first: &first }, &reach, &own, &changes)
        };
        assert_eq!(ordered(BTreeMap::new()), [((0, 0), (1, 0))]);
        assert_eq!(ordered(BTreeMap::from([(S, 1)])), []);
    }

    #[test]
    fn only_one_may_set_what_a_wait_comes_behind() {
        let set = SignalStep::Change(S, Change::Set(3));
        // Set by one and added to by the same one: the wait needs both.
        let both = task(&[SignalStep::Change(S, Change::Set(1)), SignalStep::Change(S, Change::Add(1))]);
        assert_eq!(
            before_waits(&[both, task(&[SignalStep::Wait(S, wants(2))])], &[]),
            [((0, 0), (1, 0)), ((0, 1), (1, 0))]
        );
        let wait = SignalStep::Wait(S, Wanted { number: 3, at_least: false });
        assert_eq!(before_waits(&[task(&[set]), task(&[wait])], &[]), [((0, 0), (1, 0))]);
        assert_eq!(before_waits(&[task(&[set]), task(&[set]), task(&[wait])], &[]), []);
    }

    #[test]
    fn a_wait_is_over_when_the_last_change_that_it_needs_is_there() {
        let log = [(50, 0), (20, 1), (90, 2)].map(|(at, task)| Changed { at, task, change: Change::Add(1) });
        assert_eq!(since(0, &log, wants(2)), Some(log[0]));
        assert_eq!(since(0, &log, wants(3)), Some(log[2]));
        assert_eq!((since(0, &log, wants(4)), since(0, &log, wants(0))), (None, None));
        // An earlier run left one.
        assert_eq!((since(1, &log, wants(2)), since(1, &log, wants(4))), (Some(log[0]), Some(log[2])));
        assert_eq!(since(1, &log, wants(1)), None);
    }
}
