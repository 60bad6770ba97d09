//! Integers that overflowed their types. The value that a register was meant to hold is tracked until the two agree
//! again. If such a register determines an access, a trip count or a signal, the run stops with a finding.
//!
//! Integers that are only data may wrap: a run in which none has wrapped pays one comparison per instruction.

use slipring_program::{CoreProgram, Finding, Inst, Operand};

use crate::engine::Engine;
use crate::registers::{Meant, Number};
use crate::report;

/// What an instruction decides by a value that overflowed its type, and that value; `value` gives the contents of
/// operands.
fn misled(
    core: &CoreProgram,
    pc: usize,
    meant: &Meant,
    value: impl Fn(Operand) -> u64,
) -> Option<(Number, &'static str)> {
    let one = |operand: Operand, what| Some((meant.get(operand)?, what));
    match &core.insts[pc] {
        Inst::JumpIfGe { a, b, .. } | Inst::Meet { a, b, .. } => {
            Some((meant.leaves([*a, *b], [value(*a), value(*b)])?, "decides the trip count of this loop"))
        }
        Inst::JumpIfZero { a, .. } => {
            let number = meant.get(*a)?;
            let leaves = core.loops().iter().any(|own| core.exits(own).contains(&pc));
            leaves.then_some((number, "decides whether this loop continues"))
        }
        Inst::Issue { work } => {
            let work = &core.works[*work as usize];
            let decides = |at: &usize| work.decides(*at, core.inst_sites[pc]);
            let mut wrapped = (0..work.args.len()).filter(|at| meant.get(work.args[*at]).is_some());
            one(work.args[wrapped.find(decides)?], "decides what this accesses")
        }
        Inst::Set { sync, .. } | Inst::Wait { sync, .. } => one(sync.index, "decides which signal this uses"),
        Inst::Acquire { token, .. } | Inst::Release { token, .. } => one(token.index, "decides which token this uses"),
        _ => None,
    }
}

impl Engine<'_> {
    /// Checks the next instruction of a core before it is executed.
    ///
    /// # Errors
    /// If a value that overflowed its type decides its behaviour.
    pub fn check_numbers(&self, core: usize) -> Result<(), Box<Finding>> {
        let unit = &self.cores[core];
        if unit.meant.is_empty() {
            return Ok(());
        }
        let code = &self.program.cores[unit.position];
        match misled(code, unit.pc, &unit.meant, |operand| unit.value(operand)) {
            Some((number, what)) => Err(report::wraps(number, what, code.inst_sites[unit.pc])),
            None => Ok(()),
        }
    }
}
