//! The state of the machine while nothing can proceed, as observers see it.

use slipring_machine::{Pipe, Role};
use slipring_program::{Memory, SiteRef};

/// The state of a scalar unit while nothing can proceed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// It is at an [`Inst::Meet`](slipring_program::Inst::Meet) and proceeds now.
    Meet,
    /// It waits for a synchronisation object: its index in the program.
    Wait(u32),
    /// Its program has ended.
    End,
    /// It waits for a pipe.
    Pipe,
}

/// A core while nothing can proceed.
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
    /// It is at an [`Inst::Meet`](slipring_program::Inst::Meet) and leaves its loop now.
    pub leaves: bool,
}

/// The state of the machine when only cores at an [`Inst::Meet`](slipring_program::Inst::Meet) can proceed.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct CutPoint<'a> {
    pub cores: Vec<CoreAt<'a>>,
    /// Signals not yet consumed, for each object: cluster × objects of the program + object.
    pub signals: Vec<u64>,
    /// Holders of tokens: the object as in `signals`, the pipe and the location of the acquire, in program order.
    pub held: Vec<(usize, Pipe, SiteRef)>,
    pub memory: &'a Memory,
}
