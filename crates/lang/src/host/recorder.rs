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
    pub(in crate::host) graph: Graph,
    pub(in crate::host) calls: Vec<TaskCall>,
    pub(in crate::host) kernels: Kernels<'a>,
    pub(in crate::host) filled: Vec<Option<String>>,
    pub(in crate::host) diags: Diags,
    pub(in crate::host) manual: Option<Span>,
    /// The last barrier of the host on each device: what is started there later comes after it.
    pub(in crate::host) barriers: IndexMap<i64, usize>,
    /// The cluster whose body is followed.
    pub(in crate::host) cluster: Option<Span>,
    /// Answers what tensors hold.
    pub(in crate::host) answer: Option<&'a mut Answer<'a>>,
    pub(in crate::host) asked: bool,
    /// A number of a tensor has been read: what tensors hold decides what follows.
    pub(in crate::host) read: bool,
    /// What stopped it may come from such a number.
    pub(in crate::host) doubtful: bool,
    /// Where parameters are declared that nobody has passed a number for.
    pub(in crate::host) waiting: Vec<Span>,
    pub(in crate::host) open: Option<Open>,
    /// Memory that each device has one of.
    pub(in crate::host) buffers: Vec<Buffer>,
    /// The device that the function which is followed runs on.
    pub(in crate::host) device: Option<i64>,
    /// The devices of each such memory.
    pub(in crate::host) groups: Groups,
    /// How many devices there are, once that was asked for.
    pub(in crate::host) devices: Option<u64>,
    /// What the orchestration waited for last.
    pub(in crate::host) behind: Option<usize>,
    /// Extents that `pl.dynamic` stands for in the function that is followed.
    pub(in crate::host) dims: IndexMap<Rc<str>, u64>,
    /// For each id of a task which task has it.
    pub(in crate::host) tickets: Vec<usize>,
    /// Counters of the loops that are open.
    pub(in crate::host) iterations: Vec<(Rc<str>, i64)>,
    /// Functions that are open: positions among those found, and their text, which is that of a helper where one has been called.
    pub(in crate::host) functions: Vec<(usize, &'a StmtFunctionDef)>,
    pub(in crate::host) yielded: Option<HostValue<'a>>,
    /// Ids that were waited for before anything had their name: the task that waits, and where.
    pub(in crate::host) later: IndexMap<Rc<str>, Vec<(usize, Span)>>,
    pub(in crate::host) stopped: bool,
    /// Arguments that the call which is read next has besides those of its text: `functools.partial`.
    pub(in crate::host) before: Given<'a>,
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

    pub(in crate::host) fn tensor(
        &mut self,
        name: &str,
        elem: Elem,
        shape: &[u64],
        origin: Origin,
        span: Span,
    ) -> Rc<View> {
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
pub(in crate::host) type Arg<'a> = (Option<Rc<str>>, HostValue<'a>, Span);

/// What a submit says besides the kernel and its arguments.
#[derive(Default)]
pub(in crate::host) struct Options {
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
pub(in crate::host) struct Buffer {
    pub(in crate::host) bytes: u64,
    pub(in crate::host) span: Span,
    /// The tensor that it is, with a part for each of its devices.
    pub(in crate::host) tensor: Option<usize>,
    /// Its devices, in their order, where those are known and not all.
    pub(in crate::host) group: Option<Rc<[u64]>>,
    /// Those that the host has started something on with it.
    pub(in crate::host) used: BTreeSet<u64>,
}

impl Buffer {
    /// The devices that something was started on with it, where those are not all.
    pub(in crate::host) fn group(&self, devices: Option<u64>) -> Vec<u64> {
        let all = self.used.is_empty() || devices.is_none_or(|all| self.used.len() as u64 == all);
        if all { Vec::new() } else { self.used.iter().copied().collect() }
    }
}
