//! Tasks that wait for each other while they run: signals of devices.
//!
//! What a task does with signals divides it into parts. A change of a signal comes after all that its task did before, a wait
//! comes before all that its task does after it. Of the changes of a signal those come before a wait without which it would
//! not have ended, whatever the others did: so the order that is found is that of all runs, not of the one that was looked at.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Diagnostic, Span};

use crate::graph::{Edge, Graph, Reach, Reason};
use crate::schedule::{Plan, Resumed};
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
    /// Of a wait: the cycles until then in which it waited.
    pub waited: u64,
    /// Of a wait that had to wait: what ended it.
    pub by: Option<Resumed>,
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

/// How often what was found is looked at again.
const MOST_ROUNDS: usize = 64;

/// The changes of each signal, task by task, in the order of each task.
type Changes = BTreeMap<Signal, Vec<(At, Change)>>;

/// The parts of all tasks, and what is known of their order.
struct InParts {
    /// A graph whose tasks are the parts.
    all: Graph,
    /// The first part of each task.
    first: Vec<usize>,
    reach: Reach,
}

/// Finds the order of the parts of tasks; `None` where there are too many to look at.
fn in_parts(graph: &Graph, tasks: &[Parts]) -> Option<InParts> {
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
    let nodes = Nodes { first: &first, tasks };
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (task, parts) in tasks.iter().enumerate() {
        pairs.extend((0..parts.events.len()).map(|at| nodes.around((task, at))));
    }
    for edge in &graph.edges {
        pairs.insert((first[edge.from] + tasks[edge.from].events.len(), first[edge.to]));
    }
    // What comes before a wait may show that something else does, too: another round of the same signals.
    let mut reach = all.with_pairs(&pairs)?;
    for _ in 0..MOST_ROUNDS {
        let known = pairs.len();
        for (from, to) in before_waits(&nodes, &reach) {
            pairs.insert((nodes.around(from).0, nodes.around(to).1));
        }
        if pairs.len() == known {
            break;
        }
        reach = all.with_pairs(&pairs)?;
    }
    Some(InParts { all, first, reach })
}

/// The longest chain of tasks that wait for each other, at their ends or for a signal while they run, and its cycles: of a task that
/// others wait for in its middle, only what it did until then counts. `cycles` are those of each task without its waits. `None` where
/// there are too many parts to look at.
pub fn critical(graph: &Graph, tasks: &[Parts], cycles: &[u64]) -> Option<(Vec<usize>, u64)> {
    let InParts { all, first, .. } = in_parts(graph, tasks)?;
    let mut own = Vec::with_capacity(all.tasks.len());
    for (parts, cycles) in tasks.iter().zip(cycles) {
        let mut since = 0;
        for event in &parts.events {
            let at = event.at.clamp(since, (*cycles).max(since));
            // What it waited is the others' time.
            own.push((at - since).saturating_sub(event.waited));
            since = at;
        }
        own.push(cycles.saturating_sub(since));
    }
    let (parts, sum) = crate::schedule::longest_chain(&all, &all.before(), &own);
    let mut path: Vec<usize> = parts.iter().map(|part| first.partition_point(|own| own <= part) - 1).collect();
    path.dedup();
    Some((path, sum))
}

/// Puts signals into the critical path of a plan whose tasks all ran, where they take steps with some.
pub fn lengthen(plan: &mut Plan, graph: &Graph, parts: Option<&[Parts]>) {
    for (task, parts) in parts.into_iter().flatten().enumerate() {
        let resumed: Vec<Resumed> = parts.events.iter().filter_map(|event| event.by).collect();
        if !resumed.is_empty() {
            plan.resumed.insert(task, resumed);
        }
    }
    let parts = parts.filter(|_| plan.complete);
    let chain = parts.and_then(|parts| critical(graph, parts, &plan.longest));
    // What a task does before and behind a wait may overlap on its pipes: a chain longer than the run is none.
    if let Some(chain) = chain.filter(|chain| chain.1 <= plan.cycles) {
        plan.critical = chain;
    }
}

/// Pairs of parts of tasks that touch the same bytes without an order; `None` where there are too many parts to look at.
pub fn races(graph: &Graph, tasks: &[Parts]) -> Option<Vec<Diagnostic>> {
    let InParts { all, first, reach } = in_parts(graph, tasks)?;
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
    Some(touched::races_of_parts(&all, &reach, &footprints, &place))
}

impl Graph {
    /// The same tasks with these edges: which comes before which. `None` for a cycle.
    fn with_pairs(&mut self, pairs: &BTreeSet<(usize, usize)>) -> Option<Reach> {
        self.edges =
            pairs.iter().map(|(from, to)| Edge { from: *from, to: *to, why: vec![Reason::Submitted] }).collect();
        self.edges.sort_by_key(|edge| edge.to);
        let order = self.order().ok()?;
        Some(self.reach(&order))
    }
}

/// An event: its task, and its place among those of the task.
type At = (usize, usize);

/// The parts of all tasks as nodes of a graph.
struct Nodes<'n> {
    /// The first part of each task.
    first: &'n [usize],
    tasks: &'n [Parts],
}

impl Nodes<'_> {
    /// The parts before and after an event.
    fn around(&self, (task, at): At) -> (usize, usize) {
        (self.first[task] + at, self.first[task] + at + 1)
    }

    /// True if one event comes before another one in every run.
    fn before(&self, reach: &Reach, one: At, other: At) -> bool {
        let (end, begin) = (self.around(one).1, self.around(other).0);
        end == begin || reach.path(end, begin)
    }
}

/// Changes that come before waits in every run, as far as the order is known.
fn before_waits(nodes: &Nodes<'_>, reach: &Reach) -> Vec<(At, At)> {
    let mut changes = Changes::new();
    for (task, parts) in nodes.tasks.iter().enumerate() {
        for (at, event) in parts.events.iter().enumerate() {
            if let SignalStep::Change(signal, change) = event.step {
                changes.entry(signal).or_default().push(((task, at), change));
            }
        }
    }
    let mut found = Vec::new();
    for (task, parts) in nodes.tasks.iter().enumerate() {
        for (at, event) in parts.events.iter().enumerate() {
            let SignalStep::Wait(signal, wanted) = event.step else { continue };
            let Some(list) = changes.get(&signal) else { continue };
            found.extend(needed(nodes, reach, list, ((task, at), wanted)).into_iter().map(|from| (from, (task, at))));
        }
    }
    found
}

/// The changes of a signal without which a wait would not have ended. What comes before the wait is there, what comes after it is
/// not; of the others all that does not come after a change may be there without it.
fn needed(nodes: &Nodes<'_>, reach: &Reach, changes: &[(At, Change)], (wait, wanted): (At, Wanted)) -> Vec<At> {
    let possible: Vec<&(At, Change)> = changes.iter().filter(|own| !nodes.before(reach, wait, own.0)).collect();
    if changes.iter().any(|(_, change)| matches!(change, Change::Set(_))) {
        // Whoever alone sets it to what is waited for.
        let ends = |own: &&&(At, Change)| matches!(own.1, Change::Set(n) if wanted.holds(n));
        let mut who: Vec<At> = possible.iter().filter(ends).map(|own| own.0).collect();
        who.dedup_by_key(|own| own.0);
        let adds = changes.iter().any(|(_, change)| matches!(change, Change::Add(_)));
        return match who[..] {
            [one] if !adds && one.0 != wait.0 => vec![one],
            _ => Vec::new(),
        };
    }
    let number = |change: Change| match change {
        Change::Add(n) | Change::Set(n) => n,
    };
    type Changes<'a> = Vec<&'a (At, Change)>;
    let (there, open): (Changes<'_>, Changes<'_>) =
        possible.into_iter().partition(|own| nodes.before(reach, own.0, wait));
    let sure: i64 = there.iter().map(|own| number(own.1)).sum();
    // The largest number that it may come to without what comes after a change, and without that.
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
            // Nor are later ones of this task needed.
            enough = at.0;
            continue;
        }
        // Those before it come with it.
        found.retain(|own| own.0 != at.0);
        found.push(*at);
    }
    found
}

/// A change of a signal in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Changed {
    /// The cycle in which it took place.
    pub at: u64,
    pub task: usize,
    pub change: Change,
}

/// The change since which a signal is as a wait wants it, by those that took place, in their order: the latest in time of those until
/// then. `None` where it was so from the beginning, or is not.
pub fn since(log: &[Changed], wanted: Wanted) -> Option<Changed> {
    let (mut number, mut latest, mut held, mut since) = (0i64, None::<Changed>, wanted.holds(0), None);
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

    /// The order that follows from tasks without edges, and with these.
    fn before_waits(tasks: &[Parts], edges: &[(usize, usize)]) -> Vec<(At, At)> {
        let first: Vec<usize> = tasks
            .iter()
            .scan(0, |next, own| {
                let first = *next;
                *next += own.events.len() + 1;
                Some(first)
            })
            .collect();
        let nodes = Nodes { first: &first, tasks };
        let nodes_of = |own: &Parts| own.events.len() + 1;
        let mut graph =
            Graph { tasks: vec![crate::Task::default(); tasks.iter().map(nodes_of).sum()], ..Graph::default() };
        let mut pairs = BTreeSet::new();
        for (task, own) in tasks.iter().enumerate() {
            pairs.extend((0..own.events.len()).map(|at| nodes.around((task, at))));
        }
        pairs.extend(edges.iter().map(|(from, to)| (first[*from] + tasks[*from].events.len(), first[*to])));
        let reach = graph.with_pairs(&pairs).expect("no cycle");
        super::before_waits(&nodes, &reach)
    }

    /// The first task signals at 900 of its 1000 cycles, the second waits after 50 of its 500; the third comes after the second.
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
        assert_eq!(critical(&graph, &tasks, &[1000, 500, 20]), Some((vec![0, 1, 2], 900 + 450 + 20)));
        // What the first does after its signal is longer than what the others do.
        assert_eq!(critical(&graph, &tasks, &[2000, 500, 20]), Some((vec![0], 2000)));
        // Without the signal nothing waits for the first.
        let alone = [Parts::default(), tasks[1].clone(), Parts::default()];
        assert_eq!(critical(&graph, &alone, &[400, 500, 20]), Some((vec![1, 2], 520)));
    }

    #[test]
    fn all_that_a_wait_cannot_do_without_comes_before_it() {
        let one = SignalStep::Change(S, Change::Add(1));
        // Two tell, and it waits for both.
        let tasks = [task(&[one]), task(&[one]), task(&[SignalStep::Wait(S, wants(2))])];
        assert_eq!(before_waits(&tasks, &[]), [((0, 0), (2, 0)), ((1, 0), (2, 0))]);
        // It waits for one of them: either will do.
        let tasks = [task(&[one]), task(&[one]), task(&[SignalStep::Wait(S, wants(1))])];
        assert_eq!(before_waits(&tasks, &[]), []);
        // Rounds of one that tells: the second wait needs the second.
        let tasks = [task(&[one, one]), task(&[SignalStep::Wait(S, wants(1)), SignalStep::Wait(S, wants(2))])];
        assert_eq!(before_waits(&tasks, &[]), [((0, 0), (1, 0)), ((0, 1), (1, 1))]);
        // What is taken back is needed again.
        let back = SignalStep::Change(S, Change::Add(-1));
        let tasks = [task(&[one, one]), task(&[SignalStep::Wait(S, wants(1)), back, SignalStep::Wait(S, wants(1))])];
        assert_eq!(before_waits(&tasks, &[]), [((0, 0), (1, 0)), ((0, 1), (1, 2))]);
    }

    #[test]
    fn signals_that_are_used_again_order_each_round() {
        // Device 0 tells twice, in two tasks; device 1 waits in two tasks and takes back what it saw.
        let (one, back) = (SignalStep::Change(S, Change::Add(1)), SignalStep::Change(S, Change::Add(-1)));
        let wait = SignalStep::Wait(S, wants(1));
        let tasks = [task(&[one]), task(&[one]), task(&[wait, back]), task(&[wait, back])];
        let edges = [(0, 1), (2, 3)];
        assert_eq!(before_waits(&tasks, &edges), [((0, 0), (2, 0)), ((0, 0), (3, 0)), ((1, 0), (3, 0))]);
        // With that known the second one is needed for the second wait.
        let edges = [(0, 1), (2, 3), (0, 2)];
        assert_eq!(before_waits(&tasks, &edges), [((1, 0), (3, 0))]);
        // Two tasks of one device without an order: either may have told.
        assert_eq!(before_waits(&tasks, &[(2, 3)]), [((0, 0), (3, 0)), ((1, 0), (3, 0))]);
        // What one takes back that comes after a wait does not count for it.
        let tasks = [task(&[one]), task(&[wait]), task(&[back])];
        assert_eq!(before_waits(&tasks, &[(1, 2)]), [((0, 0), (1, 0))]);
    }

    #[test]
    fn only_one_may_set_what_a_wait_comes_behind() {
        let set = SignalStep::Change(S, Change::Set(3));
        let wait = SignalStep::Wait(S, Wanted { number: 3, at_least: false });
        assert_eq!(before_waits(&[task(&[set]), task(&[wait])], &[]), [((0, 0), (1, 0))]);
        assert_eq!(before_waits(&[task(&[set]), task(&[set]), task(&[wait])], &[]), []);
    }

    #[test]
    fn a_wait_is_over_when_the_last_change_that_it_needs_is_there() {
        let log = [(50, 0), (20, 1), (90, 2)].map(|(at, task)| Changed { at, task, change: Change::Add(1) });
        assert_eq!(since(&log, wants(2)), Some(log[0]));
        assert_eq!(since(&log, wants(3)), Some(log[2]));
        assert_eq!((since(&log, wants(4)), since(&log, wants(0))), (None, None));
    }
}
