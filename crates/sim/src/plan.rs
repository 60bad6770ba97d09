//! The invariant part of a work item, and the accesses of one execution of it.

use std::rc::Rc;

use slipring_program::{Access, CoreProgram, Operand, Program, Work};

/// The invariant part of a work item: its plan, if all its operands are constants (unless it discovers its accesses).
#[derive(Debug)]
pub(crate) enum Fixed {
    /// It discovers its accesses by running, every time.
    No,
    /// Operands vary: planned for each execution, unless one of the last few had the same operands, as with the slots
    /// of a ring.
    Recent(Recent),
    /// Planned at the first execution, for all blocks.
    Yes(Option<Plan>),
}

/// For each work item of a core, the operands that come from buffers, one bit each.
pub(crate) fn from_buffers(program: &Program, core: &CoreProgram) -> Vec<u64> {
    let flow = program.flow(core);
    let bits = |work: &Work| {
        let data = work.args.iter().enumerate().filter(|(_, arg)| flow.of(**arg).data);
        data.fold(0, |all, (at, _)| all | 1 << at.min(63))
    };
    core.works.iter().map(bits).collect()
}

/// The accesses of an execution and its duration.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) access: Access,
    pub(crate) cycles: u64,
}

impl Fixed {
    pub fn new(work: &Work) -> Fixed {
        let constant = work.args.iter().all(|arg| matches!(arg, Operand::Imm(_)));
        match work.effect.discovers() {
            true => Fixed::No,
            false if constant => Fixed::Yes(None),
            false => Fixed::Recent(Recent::default()),
        }
    }
}

/// The plans of the last few executions, by their operands.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    plans: Vec<(Box<[u64]>, Rc<Plan>)>,
    /// The entry expected next.
    next: usize,
    /// Consecutive misses.
    missed: u32,
}

impl Recent {
    const MOST: usize = 8;
    /// After this many consecutive misses no more plans are kept.
    const PATIENCE: u32 = 64;

    #[inline]
    pub(crate) fn find(&mut self, args: &[u64]) -> Option<Rc<Plan>> {
        if self.missed >= Recent::PATIENCE {
            return None;
        }
        let has = |at: usize| self.plans.get(at).is_some_and(|(own, _)| **own == *args);
        let at = if has(self.next) { self.next } else { (0..self.plans.len()).find(|at| has(*at))? };
        (self.next, self.missed) = ((at + 1) % self.plans.len(), 0);
        Some(self.plans[at].1.clone())
    }

    pub(crate) fn add(&mut self, args: &[u64], access: &Access, cycles: u64) {
        if self.missed >= Recent::PATIENCE {
            return;
        }
        self.missed += 1;
        if self.missed == Recent::PATIENCE {
            self.plans.clear();
            return;
        }
        let plan = (args.into(), Rc::new(Plan { access: access.clone(), cycles }));
        match self.plans.len() < Recent::MOST {
            true => self.plans.push(plan),
            false => self.plans[self.missed as usize % Recent::MOST] = plan,
        }
    }
}
