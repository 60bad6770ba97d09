//! Who else has the memory of a run, and the cores that wait for them.

use slipring_program::{Memory, Program};

use crate::agent::Agent;

/// Whoever else has the global memory of a run.
pub trait Outside {
    /// Nothing in this run can go on but what others do with its memory: lets them do it. The cycle from which it is seen, or
    /// `None` where nobody does anything any more.
    fn change(&mut self, at: u64, memory: &mut Memory) -> Option<u64>;

    /// A core has found what it looks for at a cycle, in memory that others may have changed for later ones: since when it is there.
    fn there(&mut self, at: u64, _core: Agent) -> u64 {
        at
    }
}

/// What is known of cores that poll.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polls {
    /// True for a program that polls at all.
    pub any: bool,
    /// Cores that stand at a poll.
    pub waiting: u32,
    /// Global memory has changed since all of them looked.
    pub(crate) changed: bool,
}

impl Polls {
    pub fn new(program: &Program) -> Polls {
        Polls { any: program.polls(), waiting: 0, changed: false }
    }
}
