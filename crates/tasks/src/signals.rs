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

    /// True if one of the numbers of a range ends it.
    fn may_hold(self, (least, most): (i64, i64)) -> bool {
        most >= self.number && (self.at_least || least <= self.number)
    }

    /// True if each of them does.
    pub(crate) fn must_hold(self, (least, most): (i64, i64)) -> bool {
        self.holds(least) && self.holds(most)
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

/// All tasks in parts.
#[derive(Clone, Debug, Default)]
pub struct AllParts {
    /// Task by task.
    pub tasks: Vec<Parts>,
    /// What signals are before the first task, where that is not 0.
    pub first: BTreeMap<Signal, i64>,
}

impl AllParts {
    /// The signals that tasks wait for.
    pub fn signals(&self) -> BTreeSet<Signal> {
        let steps = self.tasks.iter().flat_map(|own| &own.events).map(|event| event.step);
        steps.filter_map(|step| if let SignalStep::Wait(signal, _) = step { Some(signal) } else { None }).collect()
    }

    pub(crate) fn first(&self, signal: &Signal) -> i64 {
        self.first.get(signal).copied().unwrap_or(0)
    }

    /// The changes of each signal.
    pub(crate) fn changes(&self) -> Changes {
        let mut changes = Changes::new();
        for (task, parts) in self.tasks.iter().enumerate() {
            for (at, event) in parts.events.iter().enumerate() {
                if let SignalStep::Change(signal, change) = event.step {
                    changes.entry(signal).or_default().push(((task, at), change));
                }
            }
        }
        changes
    }

    /// The waits.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (At, Signal, Wanted)> {
        let each = self.tasks.iter().enumerate();
        let each =
            each.flat_map(|(task, parts)| parts.events.iter().enumerate().map(move |(at, own)| ((task, at), own)));
        each.filter_map(|(at, own)| match own.step {
            SignalStep::Wait(signal, wanted) => Some((at, signal, wanted)),
            SignalStep::Change(..) => None,
        })
    }
}

/// The most parts of all tasks together that are looked at.
const MOST_PARTS: usize = 1 << 13;

/// How often what was found is looked at again.
const MOST_ROUNDS: usize = 64;

/// The changes of each signal, task by task, in the order of each task.
pub(crate) type Changes = BTreeMap<Signal, Vec<(At, Change)>>;

/// The parts of all tasks, and what is known of their order.
pub(crate) struct InParts {
    /// A graph whose tasks are the parts.
    all: Graph,
    /// The first part of each task.
    pub first: Vec<usize>,
    pub reach: Reach,
}

/// Finds the order of the parts of tasks; `None` where there are too many to look at.
pub(crate) fn in_parts(graph: &Graph, own: &AllParts) -> Option<InParts> {
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
    // What comes before a wait may show that something else does, too: another round of the same signals.
    let mut reach = all.with_pairs(&pairs)?;
    for _ in 0..MOST_ROUNDS {
        let known = pairs.len();
        for (from, to) in before_waits(&nodes, &reach, own) {
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
pub fn critical(graph: &Graph, tasks: &AllParts, cycles: &[u64]) -> Option<(Vec<usize>, u64)> {
    let InParts { all, first, .. } = in_parts(graph, tasks)?;
    let mut own = Vec::with_capacity(all.tasks.len());
    for (parts, cycles) in tasks.tasks.iter().zip(cycles) {
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
pub fn lengthen(plan: &mut Plan, graph: &Graph, parts: Option<&AllParts>) {
    for (task, parts) in parts.into_iter().flat_map(|own| &own.tasks).enumerate() {
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
pub fn races(graph: &Graph, tasks: &AllParts) -> Option<Vec<Diagnostic>> {
    let InParts { all, first, reach } = in_parts(graph, tasks)?;
    let tasks = &tasks.tasks;
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

    /// True if one event comes before another one in every run.
    pub fn before(&self, reach: &Reach, one: At, other: At) -> bool {
        let (end, begin) = (self.around(one).1, self.around(other).0);
        end == begin || reach.path(end, begin)
    }
}

/// Changes that come before waits in every run, as far as the order is known.
pub(crate) fn before_waits(nodes: &Nodes<'_>, reach: &Reach, own: &AllParts) -> Vec<(At, At)> {
    let changes = own.changes();
    let mut found = Vec::new();
    for (wait, signal, wanted) in own.waits() {
        let Some(list) = changes.get(&signal) else { continue };
        let needed = needed(nodes, reach, list, own.first(&signal), (wait, wanted));
        found.extend(needed.into_iter().map(|from| (from, wait)));
    }
    found
}

/// The most changes that may come before or after a wait of which each is asked whether the wait needs it, where some set a signal.
const MOST_ASKED: usize = 32;

/// What a signal may be once the `sure` changes took place, and any of the `open` ones, in any order that is not known to be another: a
/// range for each change that may be the last to set it.
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

/// The changes of a signal without which a wait would not have ended. What comes before the wait is there, what comes after it is
/// not; of the others all that does not come after a change may be there without it.
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
        super::before_waits(&nodes, &reach, &own)
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
        let tasks = AllParts { tasks: tasks.to_vec(), first: BTreeMap::new() };
        assert_eq!(critical(&graph, &tasks, &[1000, 500, 20]), Some((vec![0, 1, 2], 900 + 450 + 20)));
        // What the first does after its signal is longer than what the others do.
        assert_eq!(critical(&graph, &tasks, &[2000, 500, 20]), Some((vec![0], 2000)));
        // Without the signal nothing waits for the first.
        let alone = vec![Parts::default(), tasks.tasks[1].clone(), Parts::default()];
        let alone = AllParts { tasks: alone, first: BTreeMap::new() };
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
            let InParts { first, reach, .. } = in_parts(&graph, &own).expect("few parts");
            super::before_waits(&Nodes { first: &first }, &reach, &own)
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
        assert_eq!(since(&log, wants(2)), Some(log[0]));
        assert_eq!(since(&log, wants(3)), Some(log[2]));
        assert_eq!((since(&log, wants(4)), since(&log, wants(0))), (None, None));
    }
}
