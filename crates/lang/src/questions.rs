//! Queries of an orchestration to the run for which it is followed: elements of tensors, and numbers of cores.

use slipring_tasks::Graph;
use slipring_tasks::act::Piece;

use crate::orchestration::{TaskCall, TaskKernel};

/// A query.
#[derive(Clone, PartialEq, Debug)]
pub enum Question {
    /// The value of an element once the submitted tasks are complete.
    Element(Piece),
    /// The number of clusters that the program runs on.
    Clusters,
    /// The number of Vector cores that it runs on.
    VectorCores,
    /// The number of devices that it runs on.
    Devices,
}

/// A query, with everything that was submitted before it.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Ask<'q> {
    pub question: Question,
    pub graph: &'q Graph,
    pub calls: &'q [TaskCall],
    pub kernels: &'q [TaskKernel],
    /// Initial values of the tensors that the program makes.
    pub filled: &'q [Option<String>],
}

/// Answers queries with the bits of a value, from the lowest on. An error is the reason why there is no answer.
pub type Answer<'r> = dyn FnMut(&Ask<'_>) -> Result<u64, String> + Send + 'r;
