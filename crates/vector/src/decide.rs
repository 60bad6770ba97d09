//! Where loaded data or scalar arguments decide what a vector function does.

use slipring_program::{Causes, Choice, Decision, Flow, Special};

use crate::footprint::Kind;
use crate::{Parts, Slot, Step};

/// What each register depends on, and the special register SQZN.
struct Slots {
    slots: Vec<Causes>,
    counted: Causes,
}

impl Slots {
    fn of<'a>(&self, slots: impl Iterator<Item = &'a Slot>) -> Causes {
        slots.fold(Causes::default(), |all, slot| all.join(self.slots[usize::from(slot.0)]))
    }

    /// What the registers of a step that are no data depend on.
    fn deciding(&self, step: &Step) -> Causes {
        self.of(step.reads.iter().filter(|slot| !step.data.contains(slot)))
    }
}

/// Names the decisions in a function with so many scalar registers, whose arguments depend on `args`.
pub(crate) fn decisions(parts: &Parts, scalars: usize, args: &[Causes], found: &mut Vec<Decision>) {
    let mut flow = Flow { code: &parts.code, sites: &parts.sites, regs: vec![Causes::default(); scalars] };
    for (reg, causes) in parts.inputs.iter().zip(args) {
        flow.add(*reg, *causes);
    }
    let numbers = |flow: &Flow<'_>, step: &Step, wanted: &dyn Fn(usize) -> bool| {
        let args = step.args.iter().enumerate().filter(|(at, _)| wanted(*at));
        let operands = args.flat_map(|(_, arg)| arg.operands());
        operands.fold(Causes::default(), |all, operand| all.join(flow.of(operand)))
    };
    let mut slots = Slots { slots: vec![Causes::default(); usize::from(parts.slots)], counted: Causes::default() };
    flow.settle(
        |_: Special| Causes::default(),
        |flow, work, _| {
            let step = &parts.steps[work as usize];
            let loads = matches!(step.memory, Some(Kind::VectorLoad | Kind::ScalarLoad));
            let mut causes = slots.of(step.reads.iter()).join(numbers(flow, step, &|_| true));
            if loads {
                causes = causes.join(Causes::DATA);
            }
            if step.placed {
                causes = causes.join(slots.counted);
            }
            let mut changed = step.result.is_some_and(|result| flow.add(result, causes));
            if step.counts {
                let counted = slots.counted.join(slots.deciding(step));
                changed |= std::mem::replace(&mut slots.counted, counted) != counted;
            }
            for Slot(slot) in &step.writes {
                let known = &mut slots.slots[usize::from(*slot)];
                let joined = known.join(causes);
                changed |= std::mem::replace(known, joined) != joined;
            }
            changed
        },
    );
    flow.decisions(found, |work, site, found| {
        let step = &parts.steps[work as usize];
        if step.memory.is_none() {
            return;
        }
        let mut causes = slots.deciding(step).join(numbers(&flow, step, &|at| step.values >> at & 1 == 0));
        if step.placed {
            causes = causes.join(slots.counted);
        }
        if !causes.is_empty() {
            found.push(Decision { site, choice: Choice::Access, causes });
        }
    });
}
