//! Uninitialised bytes of tensors, tracked from task to task: reading them is not an error until they reach a result or
//! decide something.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Diagnostic, Kind};
use slipring_lang::Direction;
use slipring_program::Unwritten;
use slipring_tasks::{Bytes, Graph, Lost, Origin, Touched};

use super::Program;

/// The uninitialised bytes of the tensors while tasks run.
#[derive(Clone, Default)]
pub(super) struct Meaningless {
    /// Bytes, by tensor.
    pub bytes: Vec<Bytes>,
    /// Tensors that the program returns: the others are not results.
    pub results: Vec<bool>,
    /// The origins of a tensor's uninitialised bytes: indices in the list of lost bytes.
    from: Vec<Vec<(Bytes, Vec<usize>)>>,
    /// Lost bytes, and whether they have reached a result so far.
    list: Vec<(Lost, bool)>,
}

/// The uninitialised bytes left by a task.
#[derive(Default)]
pub(super) struct LeftBehind {
    /// Uninitialised bytes that it stored, by tensor.
    pub bytes: BTreeMap<usize, Bytes>,
    /// It has computed some of them: not all are copies.
    pub computed: bool,
}

impl Meaningless {
    /// The state at the start of a program: `outputs` are the tensors that are passed only to be written, `returned`
    /// those that it creates and returns.
    pub fn of(graph: &Graph, outputs: &[usize], returned: &[usize]) -> Meaningless {
        let nothing = |at: usize| graph.tensors[at].origin == Origin::Created || outputs.contains(&at);
        let size = |at: usize| {
            let own = &graph.tensors[at];
            own.shape.iter().product::<u64>().saturating_mul(own.elem.bytes() as u64)
        };
        let count = graph.tensors.len();
        let bytes = |at: usize| if nothing(at) { Bytes::range(0, size(at)) } else { Bytes::default() };
        let result = |at: usize| graph.tensors[at].origin == Origin::Argument || returned.contains(&at);
        Meaningless {
            bytes: (0..count).map(bytes).collect(),
            results: (0..count).map(result).collect(),
            from: vec![Vec::new(); count],
            list: Vec::new(),
        }
    }

    /// The uninitialised bytes of a buffer at the start of a task that has a tensor there.
    pub fn at_start(&self, tensor: usize, buffer: usize) -> impl Iterator<Item = Unwritten> {
        self.bytes[tensor].ranges().iter().map(move |&(from, to)| Unwritten { buffer, from, to })
    }

    /// The uninitialised bytes that a task read, by tensor.
    pub fn read(&self, touched: &BTreeMap<usize, Touched>) -> Vec<(usize, Bytes)> {
        let read = touched.iter().filter_map(|(&tensor, own)| {
            let all = own.atomics.iter().fold(own.reads.clone(), |all, (_, bytes)| all.and(bytes));
            let lost = all.common(self.bytes.get(tensor)?);
            (!lost.is_empty()).then_some((tensor, lost))
        });
        read.collect()
    }

    /// A task is complete. `left` is `None` if its use of such bytes was not tracked: then all that it read count.
    pub fn after(&mut self, task: usize, touched: &BTreeMap<usize, Touched>, left: Option<&LeftBehind>) {
        let mut sources = Vec::new();
        for (tensor, bytes) in self.read(touched) {
            let mut raw = bytes.clone();
            for (known, from) in &self.from[tensor] {
                if known.overlaps(&bytes) {
                    sources.extend(from.iter().copied());
                    raw = raw.without(known);
                }
            }
            if !raw.is_empty() {
                sources.push(self.list.len());
                self.list.push((Lost { task, tensor, bytes: raw, stored: None, reached: None }, left.is_none()));
            }
        }
        sources.sort_unstable();
        sources.dedup();
        if left.is_none() {
            sources.iter().for_each(|source| self.list[*source].1 = true);
        }
        for (&tensor, own) in touched {
            let written = own.changes();
            let nothing = left.and_then(|left| left.bytes.get(&tensor)).cloned().unwrap_or_default();
            self.bytes[tensor] = self.bytes[tensor].without(&written).and(&nothing);
            for (bytes, _) in &mut self.from[tensor] {
                *bytes = bytes.without(&written);
            }
            self.from[tensor].retain(|(bytes, _)| !bytes.is_empty());
            if nothing.is_empty() {
                continue;
            }
            let mut from = sources.clone();
            if from.is_empty() {
                // It is the task's own: its stores into a result have already been reported.
                let computed = left.is_some_and(|left| left.computed);
                let lost = Lost { task, tensor, bytes: nothing.clone(), stored: Some(computed), reached: None };
                from.push(self.list.len());
                self.list.push((lost, false));
            }
            self.from[tensor].push((nothing, from));
        }
    }

    /// Records what decides whether a task runs.
    pub fn decides(&mut self, task: usize, tensor: usize, bytes: &Bytes) {
        let touched = BTreeMap::from([(tensor, Touched { reads: bytes.clone(), ..Touched::default() })]);
        self.after(task, &touched, None);
    }

    /// The bytes that reached a result, or decided something.
    pub fn found(mut self) -> Vec<Lost> {
        for (result, from) in self.from.iter().enumerate().filter(|(at, _)| self.results[*at]) {
            for source in from.iter().flat_map(|(_, sources)| sources) {
                let (lost, counts) = &mut self.list[*source];
                // The task's own checks have already reported its own stores there.
                if lost.stored.is_some() && lost.tensor == result {
                    continue;
                }
                *counts = true;
                lost.reached.get_or_insert(result);
            }
        }
        self.list.into_iter().filter(|(_, counts)| *counts).map(|(lost, _)| lost).collect()
    }
}

/// True for messages of [`Program::left_out`].
pub(super) fn is_left_out(message: &Diagnostic) -> bool {
    matches!(message.kind, Kind::OutputInPart(_) | Kind::OutputUnwritten)
}

impl Program {
    /// The parts of the program's outputs, and of tensors that it creates and returns, that no task has written. All of
    /// them ran.
    pub(super) fn left_out(&self, footprints: &[BTreeMap<usize, Touched>]) -> Vec<Diagnostic> {
        let (own, graph) = (&self.orchestration, self.graph());
        let passed = own.params.iter().zip(&own.tensor_of).filter(|(param, _)| param.direction == Direction::Out);
        let passed = passed.filter_map(|(_, tensor)| *tensor);
        let made = own
            .returned
            .iter()
            .map(|piece| piece.tensor)
            .filter(|&tensor| graph.tensors[tensor].origin == Origin::Created);
        let results: BTreeSet<usize> = passed.chain(made).collect();
        let mut said = Vec::new();
        for tensor in results {
            let facts = &graph.tensors[tensor];
            let elem = facts.elem.bytes() as u64;
            let all = Bytes::range(0, facts.shape.iter().product::<u64>().saturating_mul(elem));
            let touched = footprints.iter().filter_map(|task| task.get(&tensor));
            let left = touched.fold(all.clone(), |left, own| left.without(&own.changes()));
            if left.is_empty() {
                continue;
            }
            let (kind, what) = match left == all {
                true => (Kind::OutputUnwritten, "anything".to_string()),
                false => (Kind::OutputInPart(None), slipring_check::in_words(left.ranges(), elem)),
            };
            let message = format!("no task of the program writes {what} of `{}`, which is an output", facts.name);
            said.push(Diagnostic::warning(kind, facts.span, message).help(
                "those bytes are uninitialised: write them, or declare the parameter `pl.InOut[…]` if the caller provides the rest",
            ));
        }
        said
    }
}
