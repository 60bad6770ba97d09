//! What a program has submitted so far, while it is followed.

use std::collections::BTreeSet;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::StmtFunctionDef;
use slipring_ir::{Diags, Span};
use slipring_tasks::{Graph, Origin, Tensor};
use slipring_tile::Elem;

use super::tasks::kernels::Kernels;
use super::value::{Given, HostValue};
use super::view::{View, dense_strides};
use crate::orchestration::{Open, Predicate, TaskCall};
use crate::questions::Answer;

/// Which devices have a part of each memory that the host makes for devices.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Groups {
    /// The program is followed to find out: nothing is started.
    Asked,
    /// Those that it was found to start something on with it, for each; nothing for one that all have.
    Known(Vec<Vec<u64>>),
}

/// What a program has submitted so far.
pub(crate) struct Recorder<'a> {
    pub(super) graph: Graph,
    pub(super) calls: Vec<TaskCall>,
    pub(super) kernels: Kernels<'a>,
    pub(super) filled: Vec<Option<String>>,
    pub(super) diags: Diags,
    pub(super) manual: Option<Span>,
    /// The last barrier of the host on each device: what is started there later comes after it.
    pub(super) barriers: IndexMap<i64, usize>,
    /// The cluster whose body is followed.
    pub(super) cluster: Option<Span>,
    /// Answers what tensors hold.
    pub(super) answer: Option<&'a mut Answer<'a>>,
    pub(super) asked: bool,
    /// A number of a tensor has been read: what tensors hold decides what follows.
    pub(super) read: bool,
    /// What stopped it may come from such a number.
    pub(super) doubtful: bool,
    /// Where parameters are declared that nobody has passed a number for.
    pub(super) waiting: Vec<Span>,
    pub(super) open: Option<Open>,
    /// Memory that each device has one of.
    pub(super) buffers: Vec<Buffer>,
    /// The device that the function which is followed runs on.
    pub(super) device: Option<i64>,
    /// The devices of each such memory.
    pub(super) groups: Groups,
    /// How many devices there are, once that was asked for.
    pub(super) devices: Option<u64>,
    /// What the orchestration waited for last.
    pub(super) behind: Option<usize>,
    /// Extents that `pl.dynamic` stands for in the function that is followed.
    pub(super) dims: IndexMap<Rc<str>, u64>,
    /// For each id of a task which task has it.
    pub(super) tickets: Vec<usize>,
    /// Counters of the loops that are open.
    pub(super) iterations: Vec<(Rc<str>, i64)>,
    /// Functions that are open: positions among those found, and their text, which is that of a helper where one has been called.
    pub(super) functions: Vec<(usize, &'a StmtFunctionDef)>,
    pub(super) yielded: Option<HostValue<'a>>,
    /// Ids that were waited for before anything had their name: the task that waits, and where.
    pub(super) later: IndexMap<Rc<str>, Vec<(usize, Span)>>,
    pub(super) stopped: bool,
    /// Arguments that the call which is read next has besides those of its text: `functools.partial`.
    pub(super) before: Given<'a>,
}

impl<'a> Recorder<'a> {
    pub fn new(kernels: Kernels<'a>, answer: Option<&'a mut Answer<'a>>) -> Recorder<'a> {
        Recorder {
            graph: Graph::default(),
            calls: Vec::new(),
            kernels,
            filled: Vec::new(),
            diags: Diags::default(),
            manual: None,
            barriers: IndexMap::new(),
            cluster: None,
            answer,
            asked: false,
            read: false,
            doubtful: false,
            waiting: Vec::new(),
            open: None,
            buffers: Vec::new(),
            groups: Groups::Known(Vec::new()),
            device: None,
            devices: None,
            behind: None,
            dims: IndexMap::new(),
            tickets: Vec::new(),
            iterations: Vec::new(),
            functions: Vec::new(),
            yielded: None,
            later: IndexMap::new(),
            stopped: false,
            before: Vec::new(),
        }
    }

    /// The same, for what is known of the devices of each memory.
    pub fn with_groups(self, groups: Groups) -> Recorder<'a> {
        Recorder { groups, ..self }
    }

    pub(super) fn tensor(&mut self, name: &str, elem: Elem, shape: &[u64], origin: Origin, span: Span) -> Rc<View> {
        let tensor =
            Tensor { name: name.into(), elem, shape: shape.to_vec(), origin, tracked: true, devices: Vec::new(), span };
        self.graph.tensors.push(tensor);
        self.filled.push(None);
        let strides = dense_strides(shape);
        let tensor = self.graph.tensors.len() - 1;
        Rc::new(View { tensor, elem, offset: 0, shape: shape.to_vec(), strides, tracked: true, domain: None })
    }
}

/// A call's argument: its name, its value, its place.
pub(super) type Arg<'a> = (Option<Rc<str>>, HostValue<'a>, Span);

/// What a submit says besides the kernel and its arguments.
#[derive(Default)]
pub(super) struct Options {
    pub after: Vec<usize>,
    pub never: Vec<(Rc<str>, Span)>,
    pub untracked: Vec<usize>,
    pub blocks: Option<u32>,
    pub together: bool,
    /// Whether the scheduler waits in its place.
    pub defers: bool,
    pub predicate: Option<Predicate>,
}

/// Memory that each device has one of, and the others can see.
pub(super) struct Buffer {
    pub(super) bytes: u64,
    pub(super) span: Span,
    /// The tensor that it is, with a part for each of its devices.
    pub(super) tensor: Option<usize>,
    /// Its devices, in their order, where those are known and not all.
    pub(super) group: Option<Rc<[u64]>>,
    /// Those that the host has started something on with it.
    pub(super) used: BTreeSet<u64>,
}

impl Buffer {
    /// The devices that something was started on with it, where those are not all.
    pub(super) fn group(&self, devices: Option<u64>) -> Vec<u64> {
        let all = self.used.is_empty() || devices.is_none_or(|all| self.used.len() as u64 == all);
        if all { Vec::new() } else { self.used.iter().copied().collect() }
    }
}
