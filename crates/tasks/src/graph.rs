//! Tasks, tensors, and the dependencies between tasks.

use slipring_ir::Span;
use slipring_tile::Elem;

use crate::Bytes;
use crate::spans::Spans;

/// The origin of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Passed to the program.
    Argument,
    /// Created by the program, uninitialised.
    Created,
    /// Created and initialised by the program.
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
    /// False if all its edges are declared explicitly.
    pub tracked: bool,
    /// The devices that hold its parts, in the order of the parts: a task may access the parts of other devices. Empty
    /// for a tensor without devices.
    pub devices: Vec<u32>,
    /// Where it is declared or created.
    pub span: Span,
}

impl Tensor {
    /// Whether it is shared by several devices.
    pub fn is_shared(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.elem.bytes() as u64
    }
}

/// How a task accesses a part of a tensor.
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

    /// The keyword of the language.
    pub fn word(self) -> &'static str {
        match self {
            Direction::In => "an input",
            Direction::Out => "`pl.Out`",
            Direction::InOut => "`pl.InOut`",
        }
    }
}

/// The parameter name for a number that a predicate reads.
pub const PREDICATE: &str = "predicate";

/// A part of a tensor that a task uses.
#[derive(Clone, PartialEq, Debug)]
pub struct Use {
    /// Index of the tensor.
    pub tensor: usize,
    /// Name of the kernel's parameter.
    pub param: String,
    /// The bytes passed to the task.
    pub bytes: Bytes,
    /// The direction of the access.
    pub direction: Direction,
    /// True if the direction is declared, false if it is inferred from the task's own code.
    pub declared: bool,
    /// False if this use creates no edges (`pl.no_dep`).
    pub tracked: bool,
    /// Where the parameter is declared, for messages; empty if it is not declared.
    pub span: Span,
}

/// A launch of a kernel, or a join that does nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Task {
    /// Name of the kernel or of the region.
    pub name: String,
    /// The parts of tensors that it uses.
    pub uses: Vec<Use>,
    /// Tasks that it declares as dependencies.
    pub after: Vec<usize>,
    /// Names of declared dependencies that are never submitted, and where they are declared.
    pub never: Vec<(String, Span)>,
    /// Submitted in a manual scope: it has only the declared edges.
    pub manual: bool,
    /// Number of blocks; each runs on its own cluster.
    pub blocks: u32,
    /// Whether all blocks start together.
    pub together: bool,
    /// Whether it releases its clusters while it waits for others: the scheduler waits in its place.
    pub defers: bool,
    /// Whether it takes no cluster: a join, or an operation of the orchestration itself on a tensor.
    pub dummy: bool,
    /// The device whose clusters it runs on.
    pub device: u32,
    /// The task that the orchestration waited for before it submitted this one: its own access to a number.
    pub behind: Option<usize>,
    /// Where it is submitted.
    pub span: Span,
    /// The values of the enclosing loops, for messages: `i = 3`.
    pub iteration: String,
}

/// Why one task waits for another.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// `deps=`.
    Declared,
    /// The orchestration waits for the other task before it submits this one.
    Submitted,
    /// It reads what the other writes.
    Reads {
        /// Index of the tensor.
        tensor: usize,
    },
    /// It writes what the other writes.
    Writes {
        /// Index of the tensor.
        tensor: usize,
    },
    /// It writes what the other only reads.
    Overwrites {
        /// Index of the tensor.
        tensor: usize,
    },
}

/// A dependency between two tasks.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub why: Vec<Reason>,
}

/// The maximum number of tasks in a program: reachability is stored for each pair.
pub const MOST_TASKS: usize = 1 << 15;

/// The task graph of a program.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    #[allow(missing_docs)]
    pub tensors: Vec<Tensor>,
    /// In submission order.
    pub tasks: Vec<Task>,
    /// Sorted by the later task.
    pub edges: Vec<Edge>,
}

/// The transitive order of tasks.
#[derive(Clone, Debug)]
pub struct Reach {
    words: usize,
    before: Vec<u64>,
}

impl Reach {
    /// Whether there is a path from one task to another.
    pub fn path(&self, from: usize, to: usize) -> bool {
        self.before[to * self.words + from / 64] >> (from % 64) & 1 == 1
    }

    /// Removes the predecessors of `task` from a bit set of tasks.
    pub(crate) fn beside<'r>(&'r self, task: usize, tasks: &'r [u64]) -> impl Iterator<Item = u64> + Clone + 'r {
        let before = &self.before[task * self.words..][..self.words];
        before.iter().zip(tasks).map(|(before, tasks)| tasks & !before)
    }

    /// Whether one of two tasks comes before the other.
    pub fn ordered(&self, a: usize, b: usize) -> bool {
        self.path(a, b) || self.path(b, a)
    }
}

impl Graph {
    /// Computes the edges: declared ones, and those that follow from the uses.
    pub fn connect(&mut self) {
        self.edges.clear();
        // For each tensor, the earlier uses that a later task may depend on: writers and readers, by index in `uses`.
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
                        // A task that depends on this one also comes after that one.
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

    /// The direct dependencies of each task.
    pub fn before(&self) -> Vec<Vec<usize>> {
        let mut list = vec![Vec::new(); self.tasks.len()];
        self.edges.iter().for_each(|edge| list[edge.to].push(edge.from));
        list
    }

    /// A topological order of the tasks.
    ///
    /// # Errors
    ///
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
        // Every remaining task waits for another remaining one.
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

    /// The transitive order, computed along an order of [`Graph::order`].
    pub fn reach(&self, order: &[usize]) -> Reach {
        self.reach_by(order, &|_| true)
    }

    /// Like [`Graph::reach`], without the edges from readers to the tasks that overwrite what they read.
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

    /// The name of a task in messages: `scale (i = 3)`.
    pub fn name(&self, task: usize) -> String {
        let Task { name, iteration, .. } = &self.tasks[task];
        if iteration.is_empty() { format!("`{name}`") } else { format!("`{name}` ({iteration})") }
    }
}
