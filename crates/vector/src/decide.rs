//! Decisions of a vector function that depend on loaded data or scalar arguments.

use slipring_program::{Causes, Choice, Decision, Flow, Special};

use crate::access::Kind;
use crate::shade::FromData;
use crate::{Parts, Slot, Step};

/// The dependences of each register, and of the special register SQZN.
struct Slots {
    slots: Vec<Causes>,
    counted: Causes,
}

impl Slots {
    fn of<'a>(&self, slots: impl Iterator<Item = &'a Slot>) -> Causes {
        slots.fold(Causes::default(), |all, slot| all.join(self.slots[usize::from(slot.0)]))
    }

    /// The dependences of a step's non-data registers.
    fn deciding(&self, step: &Step) -> Causes {
        self.of(step.reads.iter().filter(|slot| !step.data.contains(slot)))
    }
}

/// The dependences of a function's registers.
struct Followed<'a> {
    flow: Flow<'a>,
    slots: Slots,
}

/// The dependences of the wanted scalar operands of a step.
pub(crate) fn numbers(flow: &Flow<'_>, step: &Step, wanted: &dyn Fn(usize) -> bool) -> Causes {
    let args = step.args.iter().enumerate().filter(|(at, _)| wanted(*at));
    let operands = args.flat_map(|(_, arg)| arg.operands());
    operands.fold(Causes::default(), |all, operand| all.join(flow.of(operand)))
}

/// Propagates dependences through a function with this many scalar registers, whose arguments have the dependences
/// `args`.
fn follow<'a>(parts: &'a Parts, scalars: usize, args: &[Causes]) -> Followed<'a> {
    let mut flow = Flow { code: &parts.code, sites: &parts.sites, regs: vec![Causes::default(); scalars] };
    for (reg, causes) in parts.inputs.iter().zip(args) {
        flow.add(*reg, *causes);
    }
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
    Followed { flow, slots }
}

impl FromData {
    /// For a function of which the marked arguments come from buffers.
    pub fn new(parts: &Parts, scalars: usize, by_data: u64) -> FromData {
        let causes = |at: usize| if by_data >> at.min(63) & 1 != 0 { Causes::DATA } else { Causes::default() };
        let args: Vec<Causes> = (0..parts.inputs.len()).map(causes).collect();
        let Followed { flow, slots } = follow(parts, scalars, &args);
        let bits = |step: &Step| {
            (0..step.args.len()).fold(0, |all, at| all | u8::from(numbers(&flow, step, &|n| n == at).data) << at)
        };
        let numbers = parts.steps.iter().map(bits).collect();
        FromData { slots: slots.slots.iter().map(|causes| causes.data).collect(), numbers }
    }
}

/// Names the decisions in a function with this many scalar registers, whose arguments have the dependences `args`.
pub(crate) fn decisions(parts: &Parts, scalars: usize, args: &[Causes], found: &mut Vec<Decision>) {
    let Followed { flow, slots } = follow(parts, scalars, args);
    flow.decisions(found, |work, site, found| {
        let step = &parts.steps[work as usize];
        if step.memory.is_none() {
            let causes = slots.of(step.reads.iter()).join(numbers(&flow, step, &|_| true));
            if step.faults && !causes.is_empty() {
                found.push(Decision { site, choice: Choice::Fault, causes });
            }
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
