//! Instructions of a program, as the engine sees them in advance.

use slipring_machine::Pipe;
use slipring_program::{CoreProgram, Inst};

/// What an instruction of a core's program requires of the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ahead {
    /// It only touches registers.
    Registers,
    /// It has effects that others can observe.
    Shared,
    /// It has effects that others can observe, and needs capacity in the queue of this pipe.
    Pipe(Pipe),
}

impl Ahead {
    /// One for each instruction of a program; consulted at every step.
    pub fn of(code: &CoreProgram) -> Box<[Ahead]> {
        let one = |inst: &Inst| {
            let pipe = match inst {
                Inst::Issue { work } => code.works[*work as usize].pipe,
                Inst::Set { pipe, .. }
                | Inst::Wait { pipe, .. }
                | Inst::Acquire { pipe, waits: true, .. }
                | Inst::Release { pipe, .. }
                | Inst::Barrier { pipe: Some(pipe) } => *pipe,
                Inst::Acquire { waits: false, .. }
                | Inst::Barrier { pipe: None }
                | Inst::Inside { .. }
                | Inst::Product { .. }
                | Inst::FromProduct { .. }
                | Inst::Meet { .. }
                | Inst::Poll { .. }
                | Inst::Trap { .. }
                | Inst::End => return Ahead::Shared,
                _ => return Ahead::Registers,
            };
            if pipe == Pipe::S { Ahead::Shared } else { Ahead::Pipe(pipe) }
        };
        code.insts.iter().map(one).collect()
    }
}
