//! Tasks, tensors, and the edges between tasks.

use slipring_ir::Span;
use slipring_tile::Elem;

use crate::Bytes;
use crate::spans::Spans;

/// Where a tensor comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It is passed to the program.
    Argument,
    /// The program makes it: it holds nothing at first.
    Created,
    /// The program makes it and gives it its first value.
    Filled,
}

/// A tensor in global memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    /// Its name in the text.
    pub name: String,
    /// Type of its elements.
    pub elem: Elem,
    /// Extents in elements, outermost first.
    pub shape: Vec<u64>,
    #[allow(missing_docs)]
    pub origin: Origin,
    /// False where all its edges are declared by hand.
    pub tracked: bool,
    /// The devices that have a part of it, in the order of the parts: a task may touch those of others. Empty for one of no device.
    pub devices: Vec<u32>,
    /// Where it is declared or made.
    pub span: Span,
}

impl Tensor {
    /// True if several devices see it.
    pub fn is_shared(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.elem.bytes() as u64
    }
}

/// What a task does with a part of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Direction {
    In,
    Out,
    InOut,
}

impl Direction {
    /// True if it reads.
    pub fn reads(self) -> bool {
        self != Direction::Out
    }

    /// True if it writes.
    pub fn writes(self) -> bool {
        self != Direction::In
    }

    /// As the language writes it.
    pub fn word(self) -> &'static str {
        match self {
            Direction::In => "an input",
            Direction::Out => "`pl.Out`",
            Direction::InOut => "`pl.InOut`",
        }
    }
}

/// What stands for the name of the parameter where a predicate reads a number.
pub const PREDICATE: &str = "predicate";

/// A part of a tensor that a task uses.
#[derive(Clone, PartialEq, Debug)]
pub struct Use {
    /// Which tensor.
    pub tensor: usize,
    /// Name of the kernel's parameter.
    pub param: String,
    /// The bytes that are handed to the task.
    pub bytes: Bytes,
    /// What it says it does with them.
    pub direction: Direction,
    /// Whether it says that itself, or it is read off the task's own text.
    pub declared: bool,
    /// False where this use makes no edges (`pl.no_dep`).
    pub tracked: bool,
    /// Where the parameter is declared, for messages; empty where it is not.
    pub span: Span,
}

/// One start of a kernel, or a join that does nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Task {
    /// Name of the kernel or of the region.
    pub name: String,
    /// What it uses.
    pub uses: Vec<Use>,
    /// Tasks that it is declared to wait for.
    pub after: Vec<usize>,
    /// Names of tasks that it waits for and that nothing submits, and where it says so.
    pub never: Vec<(String, Span)>,
    /// Submitted in a manual scope: no edges but those that are declared.
    pub manual: bool,
    /// Blocks: each runs on a cluster of its own.
    pub blocks: u32,
    /// All blocks start together.
    pub together: bool,
    /// While it waits for others it keeps no cluster: the scheduler waits in its place.
    pub defers: bool,
    /// Takes no cluster: a join, or what the orchestration does itself with a tensor.
    pub dummy: bool,
    /// The device that it runs on, on clusters of its own.
    pub device: u32,
    /// What the orchestration waited for before it submitted this one: a number that it read or wrote itself.
    pub behind: Option<usize>,
    /// Where it is submitted.
    pub span: Span,
    /// The values of the loops around it, for messages: `i = 3`.
    pub iteration: String,
}

/// Why one task waits for another.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// `deps=`.
    Declared,
    /// The orchestration submits it after it waited for the other one.
    Submitted,
    /// It reads what the other writes.
    Reads {
        /// Which tensor.
        tensor: usize,
    },
    /// It writes what the other writes.
    Writes {
        /// Which tensor.
        tensor: usize,
    },
    /// It writes what the other only reads.
    Overwrites {
        /// Which tensor.
        tensor: usize,
    },
}

/// One task waits for another.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub why: Vec<Reason>,
}

/// The most tasks of a program: what reaches what is kept for each pair.
pub const MOST_TASKS: usize = 1 << 15;

/// A program's tasks.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    #[allow(missing_docs)]
    pub tensors: Vec<Tensor>,
    /// In the order in which they are submitted.
    pub tasks: Vec<Task>,
    /// In the order of their later ends.
    pub edges: Vec<Edge>,
}

/// Which tasks come before which.
#[derive(Clone, Debug)]
pub struct Reach {
    words: usize,
    before: Vec<u64>,
}

impl Reach {
    /// True if there is a path from one task to another.
    pub fn path(&self, from: usize, to: usize) -> bool {
        self.before[to * self.words + from / 64] >> (from % 64) & 1 == 1
    }

    /// Of some tasks, a bit each, those that do not come before another one.
    pub(crate) fn beside<'r>(&'r self, task: usize, tasks: &'r [u64]) -> impl Iterator<Item = u64> + Clone + 'r {
        let before = &self.before[task * self.words..][..self.words];
        before.iter().zip(tasks).map(|(before, tasks)| tasks & !before)
    }

    /// True if one of two tasks comes before the other.
    pub fn ordered(&self, a: usize, b: usize) -> bool {
        self.path(a, b) || self.path(b, a)
    }
}

impl Graph {
    /// Finds the edges: what is declared, and what follows from the uses.
    pub fn connect(&mut self) {
        self.edges.clear();
        // For each tensor: earlier uses that a later task may have to wait for, those that write and the others. All by their number.
        let mut open: Vec<[Spans; 2]> = vec![Default::default(); self.tensors.len()];
        let mut uses: Vec<(usize, usize)> = Vec::new();
        let mut near = Vec::new();
        for to in 0..self.tasks.len() {
            let mut found: Vec<(usize, Reason)> =
                self.tasks[to].after.iter().map(|from| (*from, Reason::Declared)).collect();
            found.extend(self.tasks[to].behind.map(|from| (from, Reason::Submitted)));
            let task = &self.tasks[to];
            if !task.manual {
                for (at, own) in task.uses.iter().enumerate() {
                    if !own.tracked || !self.tensors[own.tensor].tracked {
                        continue;
                    }
                    let [writers, readers] = &mut open[own.tensor];
                    near.clear();
                    writers.near(&own.bytes, &mut near);
                    if own.direction.writes() {
                        readers.near(&own.bytes, &mut near);
                    }
                    near.sort_unstable();
                    for number in near.drain(..) {
                        let (from, which) = uses[number];
                        let other = &self.tasks[from].uses[which];
                        if from == to || !own.bytes.overlaps(&other.bytes) {
                            continue;
                        }
                        let tensor = own.tensor;
                        let why = match (own.direction.reads(), other.direction.writes()) {
                            (true, true) => Reason::Reads { tensor },
                            (false, true) => Reason::Writes { tensor },
                            (_, false) => Reason::Overwrites { tensor },
                        };
                        found.push((from, why));
                        // Who waits for this one waits for that one as well.
                        if own.direction.writes() && own.bytes.covers(&other.bytes) {
                            let list = if other.direction.writes() { &mut *writers } else { &mut *readers };
                            list.take(&other.bytes, number);
                        }
                    }
                    let list = if own.direction.writes() { writers } else { readers };
                    list.add(&own.bytes, uses.len());
                    uses.push((to, at));
                }
            }
            found.sort_by_key(|(from, _)| *from);
            for (from, why) in found {
                match self.edges.last_mut() {
                    Some(edge) if edge.from == from && edge.to == to => {
                        if !edge.why.contains(&why) {
                            edge.why.push(why);
                        }
                    }
                    _ => self.edges.push(Edge { from, to, why: vec![why] }),
                }
            }
        }
    }

    /// The tasks that each task waits for.
    pub fn before(&self) -> Vec<Vec<usize>> {
        let mut list = vec![Vec::new(); self.tasks.len()];
        self.edges.iter().for_each(|edge| list[edge.to].push(edge.from));
        list
    }

    /// The tasks in an order that all edges allow.
    ///
    /// # Errors
    /// The tasks of a cycle, each waiting for the next one.
    pub fn order(&self) -> Result<Vec<usize>, Vec<usize>> {
        let before = self.before();
        let mut left: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut after = vec![Vec::new(); self.tasks.len()];
        self.edges.iter().for_each(|edge| after[edge.from].push(edge.to));
        let mut ready: std::collections::BTreeSet<usize> = (0..left.len()).filter(|at| left[*at] == 0).collect();
        let mut order = Vec::new();
        while let Some(task) = ready.pop_first() {
            order.push(task);
            for &next in &after[task] {
                left[next] -= 1;
                if left[next] == 0 {
                    ready.insert(next);
                }
            }
        }
        let Some(first) = (0..left.len()).find(|at| left[*at] > 0) else { return Ok(order) };
        // Whoever is left waits for somebody who is left.
        let mut path = vec![first];
        loop {
            let last = path[path.len() - 1];
            let Some(&next) = before[last].iter().find(|from| left[**from] > 0) else { return Err(path) };
            if let Some(at) = path.iter().position(|task| *task == next) {
                return Err(path.split_off(at));
            }
            path.push(next);
        }
    }

    /// Which tasks come before which, for an order of [`Graph::order`].
    pub fn reach(&self, order: &[usize]) -> Reach {
        self.reach_by(order, &|_| true)
    }

    /// The same without the edges from readers to what overwrites them.
    pub fn reach_of_writers(&self, order: &[usize]) -> Reach {
        self.reach_by(order, &|edge| edge.why.iter().any(|why| !matches!(why, Reason::Overwrites { .. })))
    }

    fn reach_by(&self, order: &[usize], counts: &dyn Fn(&Edge) -> bool) -> Reach {
        let words = self.tasks.len().div_ceil(64);
        let mut reach = Reach { words, before: vec![0; words * self.tasks.len()] };
        let mut before = vec![Vec::new(); self.tasks.len()];
        self.edges.iter().filter(|edge| counts(edge)).for_each(|edge| before[edge.to].push(edge.from));
        for &to in order {
            for &from in &before[to] {
                reach.before[to * words + from / 64] |= 1 << (from % 64);
                for word in 0..words {
                    let more = reach.before[from * words + word];
                    reach.before[to * words + word] |= more;
                }
            }
        }
        reach
    }

    /// What a task is called in a message: `scale (i = 3)`.
    pub fn name(&self, task: usize) -> String {
        let Task { name, iteration, .. } = &self.tasks[task];
        if iteration.is_empty() { format!("`{name}`") } else { format!("`{name}` ({iteration})") }
    }
}
