//! Which executions come before another one, whatever the unit does.
//!
//! In a loop the same step is executed again and again: a store waits for the loads of its own value, not for those of the
//! iterations before it. What was executed is followed back from the later access, step by step: it comes after what its
//! operands were computed from, a barrier keeps accesses of some kinds before those after it, and scalar accesses keep their
//! order. What comes before one of these comes before it, too.

use slipring_program::{Inst, Operand, Reg};
use smallvec::SmallVec;

use crate::footprint::{Kind, Moment};
use crate::{Parts, Slot, Step};

/// Executions that are remembered. What is further back than these counts as done: no unit has so many instructions under way.
pub(crate) const KEPT: usize = 1 << 16;
/// Marks the number of a scalar instruction.
const SCALAR: u32 = 1 << 31;

/// The steps that a function has executed, in order.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Step number by position, modulo its length; of a scalar instruction its place, marked, where these are followed.
    steps: Vec<u32>,
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

    /// Takes a register out, and tells whether it was in.
    fn take(&mut self, at: usize) -> bool {
        let Some(word) = self.0.get_mut(at / 64) else { return false };
        let bit = 1 << (at % 64);
        let had = *word & bit != 0;
        *word &= !bit;
        had
    }
}

/// What comes before an access, as far as it is followed back.
#[derive(Default)]
struct Before {
    slots: Set,
    numbers: Set,
    /// Kinds of the accesses that are known to come before it, and its own.
    kinds: u8,
    /// Kinds all of whose accesses further back come before it.
    all: u8,
}

impl Before {
    const SCALARS: u8 = Kind::ScalarLoad.bit() | Kind::ScalarStore.bit();

    /// A step comes before it, or is it.
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

    /// A step further back: whether it comes before.
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
                // Where a stream follows an access is known without it.
                Some(Kind::VectorLoad | Kind::VectorStore) => self.numbers_of(step),
                _ => wanted = true,
            }
        }
        wanted
    }

    /// A scalar instruction further back.
    fn scalar(&mut self, inst: &Inst) {
        let (result, operands) = match inst {
            Inst::Scalar { d, args, .. } => (Some(d), &args[..]),
            Inst::Move { d, a } => (Some(d), std::slice::from_ref(a)),
            Inst::Add { d, a, b } => (Some(d), &[*a, *b][..]),
            // What comes after a branch waits for what decides it.
            Inst::JumpIfZero { a, .. } => (None, std::slice::from_ref(a)),
            Inst::JumpIfGe { a, b, .. } => (None, &[*a, *b][..]),
            _ => return,
        };
        if result.is_none_or(|Reg(reg)| self.numbers.take(*reg as usize)) {
            operands.iter().for_each(|operand| self.number(*operand));
        }
    }
}

impl Trace {
    /// A step is executed at a position: one after the one before, from 0 on.
    #[inline]
    pub fn note(&mut self, position: u32, step: u32) {
        let at = position as usize % KEPT;
        match self.steps.get_mut(at) {
            Some(kept) => *kept = step,
            None => self.steps.push(step),
        }
    }

    /// Steps are executed one after the other, the first at a position, and all before the first [`KEPT`].
    #[inline]
    pub fn note_all(&mut self, position: u32, steps: &[u32]) {
        let at = position as usize;
        match self.steps.get_mut(at..at + steps.len()) {
            Some(kept) => kept.copy_from_slice(steps),
            None => {
                self.steps.truncate(at);
                self.steps.extend_from_slice(steps);
            }
        }
    }

    /// Notes the steps of so many rounds, one after the other from a position on.
    pub fn note_rounds(&mut self, position: u32, steps: &[u32], rounds: u32) {
        for round in 0..rounds {
            self.note_all(position + round * steps.len() as u32, steps);
        }
    }

    /// The first steps of a function that has executed no more than are remembered.
    pub fn first(&self, executed: u32) -> &[u32] {
        self.steps.get(..executed as usize).unwrap_or_default()
    }

    /// Which of the vector instructions the one at a position is, from 1, of a function that has executed so many instructions; 0 where
    /// not all before it are remembered.
    pub fn number(&self, position: u32, executed: u32) -> u32 {
        if executed as usize > KEPT {
            return 0;
        }
        let before = self.steps.iter().take(position as usize);
        before.filter(|step| *step & SCALAR == 0).count() as u32 + 1
    }

    /// True if the executions from `from` to `to` were the same steps as those `pace` later, and so on: so many times in all. Both
    /// the first and the last of them must still be remembered.
    pub fn repeats(&self, from: u32, to: u32, count: u32, pace: u32) -> bool {
        let part = |i: u32| self.steps.get((from + i * pace) as usize..=(to + i * pace) as usize);
        let first = part(0);
        first.is_some() && (1..count).all(|i| part(i) == first)
    }

    /// A scalar instruction of a function whose scalar instructions are followed is executed at a position.
    #[inline]
    pub fn note_scalar(&mut self, position: u32, pc: usize) {
        self.note(position, SCALAR | pc as u32);
    }

    /// Finds those accesses, of some from the newest to the oldest, that do not come before a later one.
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
