//! Which executions a value was computed from.
//!
//! In a loop the same step is executed again and again: a store waits for the loads of its own value, not for those of the
//! iterations before it. Where that matters, what was executed is followed back from the store, step by step.

use smallvec::SmallVec;

use crate::footprint::Kind;
use crate::{Barrier, Slot, Step};

/// Executions that are remembered. A load further back than these counts as done: no unit has so many instructions under way.
const KEPT: usize = 1 << 16;

/// The steps that a function has executed, in order.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Step number by position, modulo its length.
    steps: Vec<u32>,
}

/// Registers, one bit each.
#[derive(Default)]
struct Slots(SmallVec<[u64; 4]>);

impl Slots {
    fn add(&mut self, Slot(slot): Slot) {
        let word = usize::from(slot) / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (slot % 64);
    }

    /// Takes a register out, and tells whether it was in.
    fn take(&mut self, Slot(slot): Slot) -> bool {
        let Some(word) = self.0.get_mut(usize::from(slot) / 64) else { return false };
        let bit = 1 << (slot % 64);
        let had = *word & bit != 0;
        *word &= !bit;
        had
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
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

    /// The first steps of a function that has executed no more than are remembered.
    pub fn first(&self, executed: u32) -> &[u32] {
        self.steps.get(..executed as usize).unwrap_or_default()
    }

    /// True if the executions from `from` to `to` were the same steps as those `pace` later, and so on: so many times in all. Both
    /// the first and the last of them must still be remembered.
    pub fn repeats(&self, from: u32, to: u32, count: u32, pace: u32) -> bool {
        let part = |i: u32| self.steps.get((from + i * pace) as usize..=(to + i * pace) as usize);
        let first = part(0);
        first.is_some() && (1..count).all(|i| part(i) == first)
    }

    /// True if what the execution at position `to` reads was computed from what the one at `from`, a load, wrote. A load
    /// behind a barrier waits for the stores before the barrier, and so for what they store.
    pub fn leads(&self, steps: &[Step], from: u32, to: u32) -> bool {
        if (to - from) as usize >= KEPT {
            return true;
        }
        let step = |position: u32| &steps[self.steps[position as usize % KEPT] as usize];
        let mut needed = Slots::default();
        step(to).reads.iter().for_each(|slot| needed.add(*slot));
        // A load is needed, and with it the stores before the barriers before it.
        let (mut loaded, mut awaited) = (false, false);
        for position in (from..to).rev() {
            let step = step(position);
            let mut wanted = awaited && step.memory == Some(Kind::VectorStore);
            for slot in &step.writes {
                wanted |= needed.take(*slot);
            }
            if position == from {
                return wanted;
            }
            if wanted {
                step.reads.iter().for_each(|slot| needed.add(*slot));
                loaded |= step.memory == Some(Kind::VectorLoad);
            }
            awaited |= loaded && step.barrier.is_some_and(Barrier::orders_loads_behind_stores);
            if needed.is_empty() && !awaited && !loaded {
                return false;
            }
        }
        false
    }
}
