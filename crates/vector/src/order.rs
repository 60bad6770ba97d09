//! The accesses of an execution that precede a later one.

use slipring_program::{Inst, Operand, Reg};
use smallvec::SmallVec;

use crate::access::{Kind, Moment};
use crate::loads::KEPT;
use crate::trace::{SCALAR, Trace};
use crate::{Parts, Slot, Step};

impl Trace {
    /// Finds those of some accesses, given newest to oldest, that do not precede a later one.
    pub fn unordered(&self, parts: &Parts, earlier: &[Moment], later: Moment, found: &mut Vec<Moment>) {
        let mut before = Before::default();
        before.add(&parts.steps[later.step as usize]);
        let mut earlier = earlier.iter().peekable();
        // Other accesses of the same execution.
        found.extend(std::iter::from_fn(|| earlier.next_if(|moment| moment.position == later.position)));
        for position in (0..later.position).rev() {
            let Some(next) = earlier.peek() else { return };
            if (later.position - position) as usize >= KEPT {
                return;
            }
            let number = self.steps[position as usize % KEPT];
            if number & SCALAR != 0 {
                before.scalar(&parts.code[(number & !SCALAR) as usize]);
                continue;
            }
            let step = &parts.steps[number as usize];
            let comes_before = before.follows(step);
            if position == next.position {
                if !comes_before {
                    found.push(**next);
                }
                earlier.next();
            }
            if comes_before {
                before.add(step);
            }
        }
    }
}

/// Registers, one bit each.
#[derive(Default)]
struct Set(SmallVec<[u64; 4]>);

impl Set {
    fn add(&mut self, at: usize) {
        let word = at / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (at % 64);
    }

    /// Removes a register, and returns whether it was present.
    fn take(&mut self, at: usize) -> bool {
        let Some(word) = self.0.get_mut(at / 64) else { return false };
        let bit = 1 << (at % 64);
        let had = *word & bit != 0;
        *word &= !bit;
        had
    }
}

/// The predecessors of an access, as far as it is followed backwards.
#[derive(Default)]
struct Before {
    slots: Set,
    numbers: Set,
    /// Kinds of the accesses known to precede it, and its own.
    kinds: u8,
    /// Kinds all of whose earlier accesses precede it.
    all: u8,
}

impl Before {
    const SCALARS: u8 = Kind::ScalarLoad.bit() | Kind::ScalarStore.bit();

    /// A step precedes it, or is it.
    fn add(&mut self, step: &Step) {
        step.reads.iter().for_each(|Slot(slot)| self.slots.add(usize::from(*slot)));
        self.numbers_of(step);
        self.kinds |= step.memory.map_or(0, Kind::bit);
        if self.kinds & Before::SCALARS != 0 {
            self.all |= Before::SCALARS;
        }
    }

    fn numbers_of(&mut self, step: &Step) {
        step.args.iter().flat_map(|arg| arg.operands()).for_each(|operand| self.number(operand));
    }

    fn number(&mut self, operand: Operand) {
        if let Operand::Reg(Reg(reg)) = operand {
            self.numbers.add(reg as usize);
        }
    }

    /// Processes an earlier step: returns whether it precedes.
    fn follows(&mut self, step: &Step) -> bool {
        if let Some(barrier) = step.barrier {
            self.all |= barrier.before(self.kinds);
        }
        let mut wanted = step.memory.is_some_and(|kind| self.all & kind.bit() != 0);
        for Slot(slot) in &step.writes {
            wanted |= self.slots.take(usize::from(*slot));
        }
        if step.result.is_some_and(|Reg(reg)| self.numbers.take(reg as usize)) {
            match step.memory {
                // The position of a stream after an access is known without it.
                Some(Kind::VectorLoad | Kind::VectorStore) => self.numbers_of(step),
                _ => wanted = true,
            }
        }
        wanted
    }

    /// Processes an earlier scalar instruction.
    fn scalar(&mut self, inst: &Inst) {
        let (result, operands) = match inst {
            Inst::Scalar { d, args, .. } => (Some(d), &args[..]),
            Inst::Move { d, a } => (Some(d), std::slice::from_ref(a)),
            Inst::Add { d, a, b } => (Some(d), &[*a, *b][..]),
            // Instructions after a branch wait for its condition.
            Inst::JumpIfZero { a, .. } => (None, std::slice::from_ref(a)),
            Inst::JumpIfGe { a, b, .. } => (None, &[*a, *b][..]),
            _ => return,
        };
        if result.is_none_or(|Reg(reg)| self.numbers.take(*reg as usize)) {
            operands.iter().for_each(|operand| self.number(*operand));
        }
    }
}
