//! A whole program as submitted by its orchestration: tensors, tasks, and the kernels of the tasks.

use slipring_ir::{Module, Span};
use slipring_tasks::{Act, Graph, Piece};

use crate::compiled::{KernelInfo, ParamInfo};

/// A whole program: the submits of its orchestration.
#[derive(Debug)]
pub struct Orchestration {
    /// Name of the function.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<ParamInfo>,
    /// The values of scalars on which the tasks depend; `None` for tensors.
    pub numbers: Vec<Option<String>>,
    /// The tensor of each parameter, by its index in the graph; `None` for scalars.
    pub tensor_of: Vec<Option<usize>>,
    /// Tensors, tasks and their edges.
    pub graph: Graph,
    /// The kernel that each task starts, and its arguments.
    pub calls: Vec<TaskCall>,
    /// The kernels of the tasks.
    pub kernels: Vec<TaskKernel>,
    /// The tensors that the program returns, or parts of them.
    pub returned: Vec<Piece>,
    /// Initial values of the tensors that the program makes, in the syntax of the command line.
    pub filled: Vec<Option<String>>,
    /// The first question without an answer, after which nothing is known.
    pub open: Option<Open>,
    /// True if the tasks depend on answers: they are valid for these inputs and this number of clusters only.
    pub by_answers: bool,
    /// True if errors may depend on elements that were read: for other contents of the tensors there may be none.
    pub doubtful: bool,
    /// The number of devices that it runs on, if it queries that.
    pub devices: Option<u64>,
    /// For each memory of devices, the devices on which tasks were started that use it, if those are not all.
    pub(crate) groups: Vec<Vec<u64>>,
}

impl Orchestration {
    /// An orchestration without submits.
    pub(crate) fn of(name: String) -> Orchestration {
        Orchestration {
            name,
            params: Vec::new(),
            numbers: Vec::new(),
            tensor_of: Vec::new(),
            graph: Graph::default(),
            calls: Vec::new(),
            kernels: Vec::new(),
            returned: Vec::new(),
            filled: Vec::new(),
            open: None,
            by_answers: false,
            doubtful: false,
            devices: None,
            groups: Vec::new(),
        }
    }

    /// Removes the kernels that no task starts: kernels that run together on a cluster were compiled separately, too.
    pub(crate) fn without_unused(&mut self) {
        let used: std::collections::BTreeSet<usize> = self.calls.iter().filter_map(|call| call.kernel).collect();
        let place: Vec<Option<usize>> =
            (0..self.kernels.len()).map(|at| used.iter().position(|own| *own == at)).collect();
        let mut at = 0;
        self.kernels.retain(|_| {
            at += 1;
            place[at - 1].is_some()
        });
        self.calls.iter_mut().for_each(|call| call.kernel = call.kernel.and_then(|kernel| place[kernel]));
    }
}

/// A kernel of tasks.
#[derive(Debug)]
pub struct TaskKernel {
    /// Its function, and the functions that it needs.
    pub module: Module,
    /// Its parameters.
    pub info: KernelInfo,
}

/// The action of a task.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TaskCall {
    /// Index of the kernel; `None` for a join, which does nothing.
    pub kernel: Option<usize>,
    /// One for each parameter of the kernel.
    pub args: Vec<TaskArg>,
    /// The action of the orchestration itself, instead of a kernel.
    pub act: Option<Act>,
    /// The task only runs if this holds when it could start.
    pub predicate: Option<Predicate>,
}

/// An argument of a task.
#[derive(Clone, PartialEq, Debug)]
pub enum TaskArg {
    /// A tensor, starting at a byte.
    Tensor {
        /// Its index in the graph.
        tensor: usize,
        /// The first byte that is passed.
        offset: u64,
    },
    /// A scalar in the syntax of the command line.
    Scalar(String),
    /// A buffer that the kernel makes for itself, in the syntax of the command line.
    Own(String),
}

/// A comparison of an element of a tensor with a number.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Predicate {
    pub tensor: usize,
    /// Byte offset of the element.
    pub offset: u64,
    /// `==`, `!=`, `<`, `<=`, `>` or `>=`.
    pub op: &'static str,
    pub number: i64,
    pub span: Span,
}

/// A question without an answer: what follows it is not known.
#[derive(Clone, PartialEq, Debug)]
pub struct Open {
    /// The place of the query.
    pub span: Span,
    /// The queried value.
    pub what: String,
    /// The reason why there is no answer; `None` if nobody was asked.
    pub why: Option<String>,
}
