//! Which executions precede another one, whatever the unit does.
//!
//! In a loop the same step is executed again and again: a store waits for the loads of its own value, not for those of
//! the iterations before it. The executed steps are followed backwards from the later access: an access comes after
//! whatever its operands were computed from, a barrier orders accesses of some kinds before those after it, and scalar
//! accesses keep their order. The relation is transitive.

use crate::loads::KEPT;

/// Marks the index of a scalar instruction.
pub(crate) const SCALAR: u32 = 1 << 31;

/// The steps that a function has executed, in order.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Step index by position, modulo its length; for a scalar instruction its marked index, if these are tracked.
    pub(crate) steps: Vec<u32>,
}

impl Trace {
    /// A step is executed at a position; positions are consecutive, from 0.
    #[inline]
    pub fn note(&mut self, position: u32, step: u32) {
        let at = position as usize % KEPT;
        match self.steps.get_mut(at) {
            Some(kept) => *kept = step,
            None => self.steps.push(step),
        }
    }

    /// Consecutive steps are executed, the first at a position, and all within the first [`KEPT`].
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

    /// Records the steps of several iterations, consecutively from a position.
    pub fn note_rounds(&mut self, position: u32, steps: &[u32], rounds: u32) {
        for round in 0..rounds {
            self.note_all(position + round * steps.len() as u32, steps);
        }
    }

    /// The first steps of a function that has executed no more than are remembered.
    pub fn first(&self, executed: u32) -> &[u32] {
        self.steps.get(..executed as usize).unwrap_or_default()
    }

    /// The index of the vector instruction at a position among the vector instructions, from 1, for a function that has
    /// executed this many instructions; 0 if not all before it are remembered.
    pub fn number(&self, position: u32, executed: u32) -> u32 {
        if executed as usize > KEPT {
            return 0;
        }
        let before = self.steps.iter().take(position as usize);
        before.filter(|step| *step & SCALAR == 0).count() as u32 + 1
    }

    /// True if the executions from `from` to `to` were the same steps as those `pace` later, and so on, this many times
    /// in total. Both the first and the last of them must still be remembered.
    pub fn repeats(&self, from: u32, to: u32, count: u32, pace: u32) -> bool {
        let part = |i: u32| self.steps.get((from + i * pace) as usize..=(to + i * pace) as usize);
        let first = part(0);
        first.is_some() && (1..count).all(|i| part(i) == first)
    }

    /// A scalar instruction is executed at a position, in a function whose scalar instructions are tracked.
    #[inline]
    pub fn note_scalar(&mut self, position: u32, pc: usize) {
        self.note(position, SCALAR | pc as u32);
    }
}
