//! Other users of a run's memory, and the cores that wait for them.

use slipring_program::{Memory, Program};

use crate::agent::Agent;

/// Another user of a run's global memory.
pub trait Outside {
    /// Nothing in this run can proceed until others change its memory: lets them do so. Returns the cycle from which
    /// the change is visible, or `None` if nobody will change anything.
    fn change(&mut self, at: u64, memory: &mut Memory) -> Option<u64>;

    /// A core has found the value it polls for at a cycle, in memory that others may have changed for later cycles:
    /// returns since when the value is there.
    fn there(&mut self, at: u64, _core: Agent) -> u64 {
        at
    }
}

/// The state of polling cores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polls {
    /// True for a program that polls.
    pub any: bool,
    /// Cores that are at a poll.
    pub waiting: u32,
    /// Global memory has changed since all of them last read it.
    pub(crate) changed: bool,
}

impl Polls {
    pub fn new(program: &Program) -> Polls {
        Polls { any: program.polls(), waiting: 0, changed: false }
    }
}
