//! The state of the machine while nothing can go on, as observers see it.

use slipring_machine::{Pipe, Role};
use slipring_program::{Memory, SiteRef};

/// What a scalar unit is doing while nothing can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// It stands at an [`Inst::Meet`](slipring_program::Inst::Meet) and goes on now.
    Meet,
    /// It waits for a synchronisation object: its index in the program.
    Wait(u32),
    /// Its program has ended.
    End,
    /// It waits for a pipe.
    Pipe,
}

/// A core while nothing can go on.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CoreAt<'a> {
    pub cluster: u32,
    pub block: u32,
    pub role: Role,
    /// Position in [`Program::cores`](slipring_program::Program::cores).
    pub position: usize,
    pub pc: usize,
    pub regs: &'a [u64],
    pub at: At,
    /// Steps in the queues of its pipes.
    pub queued: usize,
    /// It stands at an [`Inst::Meet`](slipring_program::Inst::Meet) and leaves its loop now.
    pub leaves: bool,
}

/// The state of the machine while nothing can go on but what stands at an [`Inst::Meet`](slipring_program::Inst::Meet).
#[derive(Debug)]
#[allow(missing_docs)]
pub struct CutPoint<'a> {
    pub cores: Vec<CoreAt<'a>>,
    /// Signals that nobody has taken, for each object: cluster × objects of the program + object.
    pub signals: Vec<u64>,
    /// Who holds tokens: the object as in `signals`, the pipe and where it got it, in program order.
    pub held: Vec<(usize, Pipe, SiteRef)>,
    pub memory: &'a Memory,
}
