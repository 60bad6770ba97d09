//! The graph of a whole program as facts.

use serde::Serialize;
use slipring_ir::Line;
use slipring_report::{MessageFacts, write_line};
use slipring_tasks::{Reason, touched};

use super::Program;

/// The tasks of a whole program and their order.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[allow(missing_docs)]
pub struct GraphFacts {
    pub program: String,
    pub tensors: Vec<GraphTensor>,
    pub tasks: Vec<GraphTask>,
    pub edges: Vec<GraphEdge>,
    pub findings: Vec<MessageFacts>,
}

/// A tensor used by tasks.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[allow(missing_docs)]
pub struct GraphTensor {
    pub name: String,
    pub elem: String,
    pub shape: Vec<u64>,
    pub origin: &'static str,
}

/// A task.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[allow(missing_docs)]
pub struct GraphTask {
    pub name: String,
    pub iteration: String,
    #[serde(flatten, serialize_with = "write_line")]
    pub line: Line,
    pub blocks: u32,
    pub manual: bool,
    pub uses: Vec<GraphUse>,
}

/// A task's use of a tensor, given by its index.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[allow(missing_docs)]
pub struct GraphUse {
    pub tensor: usize,
    pub param: String,
    pub direction: &'static str,
    /// Start and end of each range.
    pub bytes: Vec<(u64, u64)>,
    pub tracked: bool,
}

/// An ordering of two tasks, given by their indices.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[allow(missing_docs)]
pub struct GraphEdge {
    pub from: usize,
    pub to: usize,
    /// `declared`, `submitted`, `reads`, `writes` or `overwrites`.
    pub why: Vec<&'static str>,
    pub reason: String,
}

impl Program {
    /// The graph as facts, with the findings of a report.
    pub fn graph_facts(&self, findings: Vec<MessageFacts>) -> GraphFacts {
        let graph = self.graph();
        let direction = |own| match own {
            slipring_tasks::Direction::In => "in",
            slipring_tasks::Direction::Out => "out",
            slipring_tasks::Direction::InOut => "inout",
        };
        let why = |why: &Reason| match why {
            Reason::Declared => "declared",
            Reason::Submitted => "submitted",
            Reason::Reads { .. } => "reads",
            Reason::Writes { .. } => "writes",
            Reason::Overwrites { .. } => "overwrites",
        };
        GraphFacts {
            program: self.name().to_string(),
            tensors: graph
                .tensors
                .iter()
                .map(|own| GraphTensor {
                    name: own.name.clone(),
                    elem: own.elem.to_string(),
                    shape: own.shape.clone(),
                    origin: match own.origin {
                        slipring_tasks::Origin::Argument => "argument",
                        slipring_tasks::Origin::Created => "created",
                        slipring_tasks::Origin::Filled => "filled",
                    },
                })
                .collect(),
            tasks: graph
                .tasks
                .iter()
                .enumerate()
                .map(|(at, own)| GraphTask {
                    name: own.name.clone(),
                    iteration: own.iteration.clone(),
                    line: self.line(at),
                    blocks: own.blocks,
                    manual: own.manual,
                    uses: own
                        .uses
                        .iter()
                        .map(|own| GraphUse {
                            tensor: own.tensor,
                            param: own.param.clone(),
                            direction: direction(own.direction),
                            bytes: own.bytes.ranges().to_vec(),
                            tracked: own.tracked,
                        })
                        .collect(),
                })
                .collect(),
            edges: graph
                .edges
                .iter()
                .map(|edge| GraphEdge {
                    from: edge.from,
                    to: edge.to,
                    why: edge.why.iter().map(why).collect(),
                    reason: touched::reasons(graph, &edge.why),
                })
                .collect(),
            findings,
        }
    }
}
