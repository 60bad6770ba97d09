//! Compares the accesses of tasks in a run with the graph.
//!
//! The bytes are those of the kernels' actual accesses, not those of their signatures. The order is that of the graph:
//! two tasks without a path between them may run at the same time or in either order, whatever this run did. Thus one
//! run finds the races of all orders. If it finds none, every read has only one possible value, so that all orders
//! touch the same bytes.

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, Severity, Span};

use crate::graph::{Graph, Origin, PREDICATE, Reach, Reason, Task, Use};
use crate::spans::Spans;
use crate::{Bytes, Direction};

pub use crate::judge::judge;

/// An atomic update: updates of one kind on elements of one type may occur in any order.
pub type Atomic = (u8, u8);

/// The bytes of a tensor that a task touched.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Touched {
    /// Bytes that it read before writing them itself.
    pub reads: Bytes,
    /// Bytes that it wrote.
    pub writes: Bytes,
    /// Bytes that it updated atomically.
    pub atomics: Vec<(Atomic, Bytes)>,
}

impl Touched {
    /// All bytes that it changed.
    pub fn changes(&self) -> Bytes {
        self.atomics.iter().fold(self.writes.clone(), |all, (_, bytes)| all.and(bytes))
    }

    /// The bytes for which the order of two tasks matters.
    pub fn conflict(&self, other: &Touched) -> Bytes {
        let mut all = self.writes.common(&other.changes().and(&other.reads));
        all = all.and(&other.writes.common(&self.changes().and(&self.reads)));
        for (kind, bytes) in &self.atomics {
            all = all.and(&bytes.common(&other.reads));
            for (other_kind, others) in other.atomics.iter().filter(|(other, _)| other != kind) {
                let _ = other_kind;
                all = all.and(&bytes.common(others));
            }
        }
        for (_, bytes) in &other.atomics {
            all = all.and(&bytes.common(&self.reads));
        }
        all
    }

    fn verb(&self, bytes: &Bytes) -> &'static str {
        let changes = self.changes().overlaps(bytes);
        match (changes, self.reads.overlaps(bytes)) {
            (true, true) => "reads and writes",
            (true, false) => "writes",
            _ => "reads",
        }
    }
}

/// Uninitialised bytes of a tensor that matter: they reached a result, or decided something.
#[derive(Clone, PartialEq, Debug)]
pub struct Lost {
    /// The task that read them, or that stored them.
    pub task: usize,
    /// Index of the tensor.
    pub tensor: usize,
    /// The bytes.
    pub bytes: Bytes,
    /// The task stored uninitialised data of its own: true if it computed with it.
    pub stored: Option<bool>,
    /// The tensor that they reached; `None` if they decided something, or if their use is unknown.
    pub reached: Option<usize>,
}

/// The bytes touched by each task, by tensor index.
pub type Footprints = Vec<BTreeMap<usize, Touched>>;

/// Reports why the graph waits forever: a cycle, or a dependency that is never submitted.
pub fn deadlocks(graph: &Graph) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, task) in graph.tasks.iter().enumerate() {
        for (name, place) in &task.never {
            let message = format!("{} waits for `{name}`, which is never submitted", graph.name(at));
            found.push(
                Diagnostic::error("task-deadlock", *place, message)
                    .also(task.span, "the task that waits")
                    .help("a dependency is the id of a task: `with pl.at(…) as first:`, or what `pl.submit` gives"),
            );
        }
    }
    if let Err(cycle) = graph.order() {
        let first = cycle[0];
        let mut error = Diagnostic::error(
            "task-deadlock",
            graph.tasks[first].span,
            format!("{} tasks wait for each other: none of them can start", cycle.len()),
        );
        for (at, &task) in cycle.iter().enumerate() {
            let next = cycle[(at + 1) % cycle.len()];
            let edge = graph.edges.iter().find(|edge| edge.from == next && edge.to == task);
            let why = edge.map_or(String::new(), |edge| reasons(graph, &edge.why));
            error = error.note(format!("{} waits for {}: {why}", graph.name(task), graph.name(next)));
            if at > 0 {
                error = error.also(graph.tasks[task].span, "one of them");
            }
        }
        found.push(error.help("remove one of these: `deps=` names tasks that must finish before this one"));
    }
    found
}

/// The reasons of an edge, as text.
pub fn reasons(graph: &Graph, why: &[Reason]) -> String {
    let one = |why: &Reason| match why {
        Reason::Declared => "`deps=` says so".to_string(),
        Reason::Submitted => "it is submitted when that has finished".to_string(),
        Reason::Reads { tensor } => format!("it reads what that writes, `{}`", graph.tensors[*tensor].name),
        Reason::Writes { tensor } => format!("it writes what that writes, `{}`", graph.tensors[*tensor].name),
        Reason::Overwrites { tensor } => format!("it overwrites what that reads, `{}`", graph.tensors[*tensor].name),
    };
    why.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// A finding, and the number of similar ones.
struct Found {
    diagnostic: Diagnostic,
    more: usize,
}

/// One finding for each pair of locations and tensor.
#[derive(Default)]
struct Once(BTreeMap<(Span, Span, usize), Found>, Vec<(Span, Span, usize)>);

impl Once {
    fn add(&mut self, key: (Span, Span, usize), make: impl FnOnce() -> Diagnostic) {
        match self.0.get_mut(&key) {
            Some(found) => found.more += 1,
            None => {
                self.0.insert(key, Found { diagnostic: make(), more: 0 });
                self.1.push(key);
            }
        }
    }

    fn list(mut self, what: &str) -> Vec<Diagnostic> {
        let mut list = Vec::new();
        for key in self.1 {
            let Some(Found { diagnostic, more }) = self.0.remove(&key) else { continue };
            list.push(match more {
                0 => diagnostic,
                1 => diagnostic.note(format!("one more {what} of these two places is like it")),
                n => diagnostic.note(format!("{n} more {what}s of these two places are like it")),
            });
        }
        list
    }
}

/// Visits the pairs of tasks, the earlier one first, in which one changes bytes of a tensor close to those that the
/// other uses, and in which the first does not come before the second in `reach`. All other pairs have disjoint bytes
/// or are ordered.
fn each_pair(graph: &Graph, reach: &Reach, touched: &Footprints, see: &mut dyn FnMut(usize, usize, usize)) {
    // Most tasks use few of the tensors.
    let mut users = vec![Vec::new(); graph.tensors.len()];
    for (task, own) in touched.iter().enumerate() {
        for (tensor, own) in own {
            if let Some(users) = users.get_mut(*tensor) {
                users.push((task, own));
            }
        }
    }
    for (tensor, users) in users.into_iter().enumerate() {
        let (mut changes, mut uses, mut pairs, mut near) = (Spans::default(), Spans::default(), Vec::new(), Vec::new());
        let mut earlier = vec![0u64; touched.len().div_ceil(64)];
        for (at, (second, own)) in users.into_iter().enumerate() {
            let (changed, used) = (own.changes(), own.changes().and(&own.reads));
            let count: u32 = reach.beside(second, &earlier).map(u64::count_ones).sum();
            if count as usize <= at / 8 {
                // Nearly all earlier tasks come before it: check the remaining few individually.
                for (word, bits) in reach.beside(second, &earlier).enumerate().filter(|(_, bits)| *bits != 0) {
                    let own = (0..64).filter(|bit| bits >> bit & 1 != 0);
                    pairs.extend(own.map(|bit| (64 * word + bit, second)));
                }
            } else {
                // The tasks that change what this one uses, and those that use what it changes.
                changes.near(&used, &mut near);
                uses.near(&changed, &mut near);
                near.sort_unstable();
                near.dedup();
                pairs.extend(near.drain(..).filter(|first| !reach.path(*first, second)).map(|first| (first, second)));
            }
            earlier[second / 64] |= 1 << (second % 64);
            changes.add(&changed, second);
            uses.add(&used, second);
        }
        pairs.sort_unstable();
        pairs.into_iter().for_each(|(first, second)| see(first, second, tensor));
    }
}

/// For each tensor, whether any task updates it atomically.
pub fn summed(graph: &Graph, touched: &Footprints) -> Vec<bool> {
    let mut summed = vec![false; graph.tensors.len()];
    for (tensor, own) in touched.iter().flatten() {
        if let Some(summed) = summed.get_mut(*tensor) {
            *summed |= !own.atomics.is_empty();
        }
    }
    summed
}

/// Receives the tasks of a race, its tensor, and a function that builds the diagnostic.
type SeeRace<'s> = dyn FnMut([usize; 2], usize, &dyn Fn() -> Diagnostic) + 's;

/// Visits each pair of unordered tasks in which one changes bytes that the other uses.
fn each_race(graph: &Graph, reach: &Reach, touched: &Footprints, see: &mut SeeRace<'_>) {
    each_pair(graph, reach, touched, &mut |first, second, tensor| {
        if reach.ordered(first, second) {
            return;
        }
        let (a, b) = (&touched[first][&tensor], &touched[second][&tensor]);
        let bytes = a.conflict(b);
        if !bytes.is_empty() {
            see([first, second], tensor, &|| race(graph, tensor, &bytes, (first, a), (second, b)));
        }
    });
}

pub(crate) fn races(graph: &Graph, reach: &Reach, touched: &Footprints) -> Vec<Diagnostic> {
    let mut once = Once::default();
    each_race(graph, reach, touched, &mut |tasks, tensor, race| {
        let [first, second] = tasks.map(|task| graph.tasks[task].span);
        once.add((first, second, tensor), race);
    });
    once.list("pair")
}

/// The races of tasks split into parts. `place` returns the location at which a part begins or ends, and its label.
pub(crate) fn races_of_parts(
    graph: &Graph,
    reach: &Reach,
    touched: &Footprints,
    place: &dyn Fn(usize) -> Option<(Span, String)>,
) -> Vec<Diagnostic> {
    let mut once = Once::default();
    each_race(graph, reach, touched, &mut |[first, second], tensor, race| {
        let spans = [first, second].map(|part| place(part).map_or(graph.tasks[part].span, |place| place.0));
        once.add((spans[0], spans[1], tensor), || {
            let mut error = race();
            for (span, what) in [first, second].into_iter().filter_map(place) {
                error = error.also(span, what);
            }
            if graph.tasks[first].device == graph.tasks[second].device {
                return error;
            }
            error.help(
                "let one device tell the other: `pld.system.notify(…)` after the first access, `pld.system.wait(…)` before the other",
            )
        });
    });
    once.list("pair")
}

/// Pairs that are only ordered by an edge from a reader to the task that overwrites it.
pub(crate) fn overwritten(graph: &Graph, reach: &Reach, writers: &Reach, touched: &Footprints) -> Vec<Diagnostic> {
    let mut once = Once::default();
    each_pair(graph, writers, touched, &mut |first, second, tensor| {
        if !reach.ordered(first, second) || writers.ordered(first, second) {
            return;
        }
        let (first, second) = if reach.path(first, second) { (first, second) } else { (second, first) };
        let bytes = touched[first][&tensor].conflict(&touched[second][&tensor]);
        if bytes.is_empty() {
            return;
        }
        let (one, two) = (&graph.tasks[first], &graph.tasks[second]);
        once.add((one.span, two.span, tensor), || {
            let name = &graph.tensors[tensor].name;
            let message = format!(
                "{} overwrites what {} reads, and only an edge from the reader keeps them apart",
                graph.name(second),
                graph.name(first)
            );
            let warning = Diagnostic::warning("overwritten-read", two.span, message)
                .label(format!("{bytes} of `{name}`"))
                .note("a runtime may not follow readers: then the reader may find what comes after it");
            let warning = if one.span == two.span { warning } else { warning.also(one.span, "reads them") };
            warning.help(format!("declare the order: `deps=` with the id of `{}`, or use another tensor", one.name))
        });
    });
    once.list("pair")
}

fn race(
    graph: &Graph,
    tensor: usize,
    bytes: &Bytes,
    (first, a): (usize, &Touched),
    (second, b): (usize, &Touched),
) -> Diagnostic {
    let name = &graph.tensors[tensor].name;
    let (one, two) = (&graph.tasks[first], &graph.tasks[second]);
    let message = format!(
        "{} and {} touch the same bytes of `{name}`, and nothing orders them",
        graph.name(first),
        graph.name(second)
    );
    let mut error = Diagnostic::error(slipring_ir::Kind::TaskRace, two.span, message)
        .label(format!("{} {bytes} of `{name}`", b.verb(bytes)));
    if one.span != two.span {
        error = error.also(one.span, format!("{} them", a.verb(bytes)));
    }
    let own = |task: &'_ Task| -> Vec<Use> { task.uses.iter().filter(|own| own.tensor == tensor).cloned().collect() };
    let mut help = None;
    for (task, touched) in [(one, a), (two, b)] {
        let uses = own(task);
        let conflicts = uses.iter().filter(|own| own.bytes.overlaps(bytes));
        let mut all_in = None;
        for own in conflicts {
            if own.param == PREDICATE {
                error = error.note(format!("the predicate of `{}` reads them when the task could start", task.name));
                help.get_or_insert_with(|| "give the id of the task that writes the number to `deps=`".to_string());
            } else if !own.tracked {
                let note = format!("`{}` of `{}` is excluded from dependency tracking", own.param, task.name);
                if !error.notes.contains(&note) {
                    error = error.note(note);
                }
                help.get_or_insert_with(|| {
                    "the parts are not disjoint: take the `no_dep` away, or declare the order with `deps=`".to_string()
                });
            }
            if own.direction == Direction::In && touched.changes().overlaps(bytes) {
                all_in = Some(own.clone());
            }
        }
        if let Some(own) = all_in {
            help = Some(format!("`{}` writes `{}`: declare it `pl.Out[…]` or `pl.InOut[…]`", task.name, own.param));
        }
        if !graph.tensors[tensor].is_shared() && uses.iter().all(|own| !own.bytes.overlaps(bytes)) {
            error = error.note(format!("these bytes are outside of what is handed to `{}`", task.name));
        }
    }
    if help.is_none() && !graph.tensors[tensor].tracked {
        error = error.note(format!("`{name}` is made with `manual_dep=True`: what uses it makes no edges"));
    }
    if help.is_none() && (one.manual || two.manual) {
        error = error.note("a manual scope has only the declared edges");
    }
    let declare = || match one.iteration.is_empty() || one.iteration == two.iteration {
        true => format!(
            "declare the order: bind the first task, `as first`, and give the other `deps=[first]` (`{}` waits for `{}`)",
            two.name, one.name
        ),
        false => format!(
            "declare the order: collect the ids of `{}` in `pl.array.create(n, pl.TASK_ID)`, and give the array to `deps=` of `{}`",
            one.name, two.name
        ),
    };
    error.help(help.unwrap_or_else(declare))
}

pub(crate) fn directions(graph: &Graph, touched: &Footprints) -> Vec<Diagnostic> {
    let mut once = Once::default();
    for (at, task) in graph.tasks.iter().enumerate() {
        for (&tensor, what) in touched[at].iter().filter(|(tensor, _)| !graph.tensors[**tensor].is_shared()) {
            let uses = || task.uses.iter().filter(|own| own.tensor == tensor);
            let bytes = |of: &dyn Fn(&Use) -> bool| {
                uses().filter(|own| of(own)).fold(Bytes::default(), |all, own| all.and(&own.bytes))
            };
            let name = &graph.tensors[tensor].name;
            let changes = what.changes();
            let written = changes.without(&bytes(&|own| own.direction.writes()));
            let read = what.reads.without(&bytes(&|own| own.direction.reads()));
            for (part, writes) in [(written, true), (read, false)] {
                if part.is_empty() {
                    continue;
                }
                let wrong = uses().find(|own| own.bytes.overlaps(&part));
                let verb = if writes { "writes" } else { "reads" };
                let Some(wrong) = wrong else {
                    once.add((task.span, Span::default(), tensor), || {
                        let message =
                            format!("{} {verb} {part} of `{name}`, outside of what is handed to it", graph.name(at));
                        Diagnostic::error("task-bounds", task.span, message)
                            .help("hand it the whole tensor, or the part that it touches")
                    });
                    continue;
                };
                if !wrong.declared {
                    continue;
                }
                once.add((task.span, wrong.span, tensor), || {
                    let message = format!(
                        "{} {verb} `{}`, which its signature calls {}",
                        graph.name(at),
                        wrong.param,
                        wrong.direction.word()
                    );
                    let error = Diagnostic::error("wrong-direction", task.span, message)
                        .label(format!("{verb} {part} of `{name}`"))
                        .note("edges between tasks follow from directions: a wrong one takes an edge away");
                    let error = if wrong.span.is_empty() { error } else { error.also(wrong.span, "declared here") };
                    error.help(match writes {
                        true => format!("declare it `pl.InOut[…]`, or `pl.Out[…]` if `{}` does not read it", task.name),
                        false => "declare it `pl.InOut[…]`: an output holds nothing when a task begins".to_string(),
                    })
                });
            }
        }
    }
    once.list("task")
}

/// Tensors of the program that are read where no task has written, if that matters for a result.
pub(crate) fn unwritten(graph: &Graph, reach: &Reach, touched: &Footprints, lost: &[Lost]) -> Vec<Diagnostic> {
    let mut once = Once::default();
    for Lost { task, tensor, bytes, stored, reached } in lost {
        let own = &graph.tensors[*tensor];
        // A write by an unordered task is a race, which is reported separately.
        let may = (0..touched.len()).filter(|other| other != task && !reach.path(*task, *other));
        let writes = may.filter_map(|other| touched[other].get(tensor));
        let left = match stored {
            None => writes.fold(bytes.clone(), |left, other| left.without(&other.writes)),
            Some(_) => bytes.clone(),
        };
        if left.is_empty() {
            continue;
        }
        let (span, name) = (graph.tasks[*task].span, &own.name);
        once.add((span, own.span, *tensor), || {
            let becomes = match reached.filter(|reached| reached != tensor) {
                Some(reached) => format!(", and a value computed from it reaches `{}`", graph.tensors[reached].name),
                None => String::new(),
            };
            let Some(computed) = stored else {
                let message = format!("{} reads `{name}`, which was never written{becomes}", graph.name(*task));
                let holds = match own.origin {
                    Origin::Argument => "an output holds nothing when the program begins",
                    _ => "the tensor is made here and holds nothing",
                };
                return Diagnostic::error(slipring_ir::Kind::TaskUnwritten, span, message)
                    .label(format!("reads {left} of it"))
                    .also(own.span, holds)
                    .help("write it in a task before, or give it a value: `pl.create_tensor(…, init_value=0.0)`");
            };
            let message = format!("{} stores uninitialised bytes into `{name}`{becomes}", graph.name(*task));
            let said = match computed {
                true => Diagnostic::error(slipring_ir::Kind::TaskUnwritten, span, message),
                false => Diagnostic::warning(slipring_ir::Kind::TaskUnwritten, span, message),
            };
            said.label(format!("{left} of it are uninitialised"))
                .help("store only the part that was written, or fill the rest first")
        });
    }
    once.list("task")
}

/// Edges that follow from the arguments of tasks, but that their accesses do not need.
pub(crate) fn needless(graph: &Graph, reach: &Reach, touched: &Footprints) -> Vec<Diagnostic> {
    let mut once = Once::default();
    let before = graph.before();
    for edge in &graph.edges {
        if edge.why.iter().any(|why| matches!(why, Reason::Declared | Reason::Submitted)) {
            continue;
        }
        let (a, b) = (&touched[edge.from], &touched[edge.to]);
        let needed = a.iter().any(|(tensor, a)| b.get(tensor).is_some_and(|b| !a.conflict(b).is_empty()));
        let implied = before[edge.to].iter().any(|other| *other != edge.from && reach.path(edge.from, *other));
        if needed || implied {
            continue;
        }
        let tensor = edge.why.iter().find_map(|why| match why {
            Reason::Reads { tensor } | Reason::Writes { tensor } | Reason::Overwrites { tensor } => Some(*tensor),
            Reason::Declared | Reason::Submitted => None,
        });
        let Some(tensor) = tensor else { continue };
        let (from, to) = (&graph.tasks[edge.from], &graph.tasks[edge.to]);
        once.add((from.span, to.span, tensor), || {
            let name = &graph.tensors[tensor].name;
            let both = |a: Option<&Touched>, b: Option<&Touched>| a.zip(b).is_some_and(|(a, b)| a.changes().overlaps(&b.changes()));
            let how = match both(a.get(&tensor), b.get(&tensor)) {
                true => "what they add to it may come in any order",
                false => "they touch different bytes of it",
            };
            let (first, second) = (graph.name(edge.from), graph.name(edge.to));
            let message = format!("{second} waits for {first} because both use `{name}`, and {how}");
            let note = Diagnostic::warning(slipring_ir::Kind::NeedlessEdge, to.span, message);
            let note = Diagnostic { severity: Severity::Note, ..note };
            let note = if from.span == to.span { note } else { note.also(from.span, "the other task") };
            note.help(format!(
                "hand each task its part, `{name}[first:end, …]`, or take it out of the tracking: `no_dep_args=[{name}]`, `pl.no_dep({name})`"
            ))
        });
    }
    once.list("edge")
}
