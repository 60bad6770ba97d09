//! The tasks that a program has submitted so far, while it is followed.

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

/// The devices that have a part of each memory that the host makes for devices.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Groups {
    /// The program is followed to determine them: nothing is started.
    Asked,
    /// Those on which the host starts something that uses the memory; empty for a memory that all devices have.
    Known(Vec<Vec<u64>>),
}

/// The tasks that a program has submitted so far.
pub(crate) struct Recorder<'a> {
    pub(super) graph: Graph,
    pub(super) calls: Vec<TaskCall>,
    pub(super) kernels: Kernels<'a>,
    pub(super) filled: Vec<Option<String>>,
    pub(super) diags: Diags,
    pub(super) manual: Option<Span>,
    /// The last barrier of the host on each device: later starts there come after it.
    pub(super) barriers: IndexMap<i64, usize>,
    /// The cluster whose body is being followed.
    pub(super) cluster: Option<Span>,
    /// Supplies the contents of tensors.
    pub(super) answer: Option<&'a mut Answer<'a>>,
    pub(super) asked: bool,
    /// True once an element of a tensor has been read: what follows depends on the contents of tensors.
    pub(super) read: bool,
    /// True if the error that stopped it may depend on such an element.
    pub(super) doubtful: bool,
    /// Places of parameter declarations for which no value has been passed.
    pub(super) waiting: Vec<Span>,
    pub(super) open: Option<Open>,
    /// Memory with a part for each device.
    pub(super) buffers: Vec<Buffer>,
    /// The device that the followed function runs on.
    pub(super) device: Option<i64>,
    /// The devices of each such memory.
    pub(super) groups: Groups,
    /// The number of devices, once it was queried.
    pub(super) devices: Option<u64>,
    /// The task that the orchestration waited for last.
    pub(super) behind: Option<usize>,
    /// Values of `pl.dynamic` extents in the followed function.
    pub(super) dims: IndexMap<Rc<str>, u64>,
    /// The task of each task id.
    pub(super) tickets: Vec<usize>,
    /// Counters of the surrounding loops.
    pub(super) iterations: Vec<(Rc<str>, i64)>,
    /// The functions being followed: their indices, and their text, which is that of a helper during its call.
    pub(super) functions: Vec<(usize, &'a StmtFunctionDef)>,
    pub(super) yielded: Option<HostValue<'a>>,
    /// Ids that were waited for before anything had their name: the waiting task, and the place.
    pub(super) later: IndexMap<Rc<str>, Vec<(usize, Span)>>,
    pub(super) stopped: bool,
    /// Additional arguments of the next call besides those in its text: `functools.partial`.
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

    /// This recorder, with known devices of each memory.
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
        Rc::new(View {
            tensor,
            elem,
            offset: 0,
            shape: shape.to_vec(),
            strides,
            tracked: true,
            domain: None,
            truths: false,
        })
    }
}

/// A call's argument: its name, its value, its place.
pub(super) type Arg<'a> = (Option<Rc<str>>, HostValue<'a>, Span);

/// The options of a submit besides the kernel and its arguments.
#[derive(Default)]
pub(super) struct Options {
    pub after: Vec<usize>,
    pub never: Vec<(Rc<str>, Span)>,
    pub untracked: Vec<usize>,
    pub blocks: Option<u32>,
    pub together: bool,
    /// True if the scheduler waits instead of the task.
    pub defers: bool,
    pub predicate: Option<Predicate>,
}

/// Memory with a part for each device that the others can access.
pub(super) struct Buffer {
    pub(super) bytes: u64,
    pub(super) span: Span,
    /// Its tensor, with a part for each of its devices.
    pub(super) tensor: Option<usize>,
    /// Its devices, in order, if they are known and not all.
    pub(super) group: Option<Rc<[u64]>>,
    /// The devices on which the host has started something that uses it.
    pub(super) used: BTreeSet<u64>,
}

impl Buffer {
    /// The devices on which something was started that uses it, if those are not all.
    pub(super) fn group(&self, devices: Option<u64>) -> Vec<u64> {
        let all = self.used.is_empty() || devices.is_none_or(|all| self.used.len() as u64 == all);
        if all { Vec::new() } else { self.used.iter().copied().collect() }
    }
}
