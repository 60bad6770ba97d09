//! A whole program, as its orchestration submits it: tensors, tasks, and the kernels of the tasks.

use slipring_ir::{Module, Span};
use slipring_tasks::{Act, Graph};

use crate::compiled::{KernelInfo, ParamInfo};

/// A whole program: what its orchestration submits.
#[derive(Debug)]
pub struct Orchestration {
    /// Name of the function.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<ParamInfo>,
    /// The numbers of scalars, which the tasks follow from; `None` for tensors.
    pub numbers: Vec<Option<String>>,
    /// The tensor that each parameter is, by its number in the graph; `None` for scalars.
    pub tensor_of: Vec<Option<usize>>,
    /// Tensors, tasks and their edges.
    pub graph: Graph,
    /// What each task starts, and with what.
    pub calls: Vec<TaskCall>,
    /// The kernels of the tasks.
    pub kernels: Vec<TaskKernel>,
    /// The tensors that the program gives back.
    pub returned: Vec<usize>,
    /// First values of the tensors that the program makes, as the command line writes an argument.
    pub filled: Vec<Option<String>>,
    /// The question after which nothing is known, where one had no answer.
    pub open: Option<Open>,
    /// True where answers decided what there is: it holds for these inputs and this number of clusters.
    pub by_answers: bool,
    /// True where errors may come from numbers that were read: for other contents of the tensors there may be none.
    pub doubtful: bool,
    /// How many devices it runs on, where it asks for that.
    pub devices: Option<u64>,
    /// For each memory that devices have the devices that tasks were started on with it, where those are not all.
    pub(crate) groups: Vec<Vec<u64>>,
}

impl Orchestration {
    /// One that submits nothing yet.
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

    /// Leaves out the kernels that no task starts: what runs together on a cluster was compiled alone, too.
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
    /// Its function, and those that it needs.
    pub module: Module,
    /// Its parameters.
    pub info: KernelInfo,
}

/// What a task starts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TaskCall {
    /// Position of the kernel; `None` for a join that does nothing.
    pub kernel: Option<usize>,
    /// One for each parameter of the kernel.
    pub args: Vec<TaskArg>,
    /// What the orchestration does itself instead.
    pub act: Option<Act>,
    /// The task runs only if this holds when it could start.
    pub predicate: Option<Predicate>,
}

/// What is passed to a task.
#[derive(Clone, PartialEq, Debug)]
pub enum TaskArg {
    /// A tensor from a byte on.
    Tensor {
        /// Its number in the graph.
        tensor: usize,
        /// The first byte that is handed over.
        offset: u64,
    },
    /// A scalar as the command line writes it.
    Scalar(String),
    /// A buffer that the kernel makes for itself, as the command line writes an argument.
    Own(String),
}

/// A comparison of an element of a tensor with a number.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Predicate {
    pub tensor: usize,
    /// Byte of the element.
    pub offset: u64,
    /// `==`, `!=`, `<`, `<=`, `>` or `>=`.
    pub op: &'static str,
    pub number: i64,
    pub span: Span,
}

/// A question without an answer: what follows it is not known.
#[derive(Clone, PartialEq, Debug)]
pub struct Open {
    /// Where it is asked.
    pub span: Span,
    /// What is asked.
    pub what: String,
    /// Why there is no answer; `None` where nobody was asked.
    pub why: Option<String>,
}
