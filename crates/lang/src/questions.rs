//! What an orchestration asks of the run that it is followed for: numbers that tensors hold, and how many cores there are.

use slipring_tasks::Graph;
use slipring_tasks::act::Piece;

use crate::orchestration::{TaskCall, TaskKernel};

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub enum Question {
    /// The number that an element holds once the tasks that were submitted are over.
    Element(Piece),
    /// How many clusters the program runs on.
    Clusters,
    /// How many Vector cores it runs on.
    VectorCores,
    /// How many devices it runs on.
    Devices,
}

/// A question, and what was submitted before it.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Ask<'q> {
    pub question: Question,
    pub graph: &'q Graph,
    pub calls: &'q [TaskCall],
    pub kernels: &'q [TaskKernel],
    /// First values of the tensors that the program makes.
    pub filled: &'q [Option<String>],
}

/// Answers questions: the bits of a number, from the lowest on. An error says why there is no answer.
pub type Answer<'r> = dyn FnMut(&Ask<'_>) -> Result<u64, String> + Send + 'r;
