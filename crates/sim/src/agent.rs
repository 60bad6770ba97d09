//! The agents of a run: scalar units and pipes of cores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slipring_machine::{Pipe, Role};
use slipring_program::Unit;

/// A scalar unit (`pipe` is [`Pipe::S`]) or a pipe of a core.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Agent {
    /// Cluster that the block runs on: below [`Launch::clusters`](crate::Launch::clusters).
    pub cluster: u32,
    pub block: u32,
    pub role: Role,
    pub pipe: Pipe,
}

impl Agent {
    /// Agents of one cluster.
    pub const PER_CLUSTER: usize = Role::ALL.len() * Pipe::COUNT;

    /// Position among the agents of its cluster: below [`Agent::PER_CLUSTER`].
    pub const fn lane(&self) -> usize {
        self.role.index() * Pipe::COUNT + self.pipe.index()
    }

    /// Position among all agents of the launch.
    pub const fn index(&self) -> usize {
        self.cluster as usize * Agent::PER_CLUSTER + self.lane()
    }

    /// The agent of the same cluster with this [`Agent::lane`], in `block`.
    pub const fn at(self, block: u32, lane: usize) -> Agent {
        let (role, pipe) = (Role::ALL[lane / Pipe::COUNT], Pipe::ALL[lane % Pipe::COUNT]);
        Agent { cluster: self.cluster, block, role, pipe }
    }

    /// Its pipe, regardless of the cluster.
    pub const fn unit(self) -> Unit {
        Unit { core: self.role, pipe: self.pipe }
    }

    /// The scalar unit of the same core.
    pub const fn scalar(self) -> Agent {
        Agent { pipe: Pipe::S, ..self }
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.unit().fmt(f)
    }
}

/// A pipe or scalar unit as numbered by the engine: `core × 8 + pipe`, with cores counted over all clusters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct AgentId(pub u32);

impl AgentId {
    pub fn new(core: usize, pipe: Pipe) -> AgentId {
        AgentId((core as u32) << 3 | pipe.index() as u32)
    }

    pub fn core(self) -> usize {
        (self.0 >> 3) as usize
    }

    pub fn pipe(self) -> Pipe {
        Pipe::ALL[(self.0 & 7) as usize]
    }
}

/// Agents that are due, earliest on top: cycle and agent combined in one integer.
pub(crate) type Agenda = BinaryHeap<Reverse<u128>>;

pub(crate) fn key(at: u64, agent: AgentId) -> u128 {
    u128::from(at) << 32 | u128::from(agent.0)
}
