//! What decides where workitems go, and which bytes they touch.

use slipring_program::{Causes, Choice, Decision, Flow, SiteRef};

use crate::instruction::{Act, Instruction};
use crate::parts::Parts;

/// Adds the decisions of a launch whose arguments have these causes: of the shape first.
pub(crate) fn decisions(parts: &Parts, scalars: usize, args: &[Causes], site: SiteRef, found: &mut Vec<Decision>) {
    let (shape, inputs) = args.split_at(args.len().min(3));
    let mut flow = Flow { code: &parts.code, sites: &parts.sites, regs: vec![Causes::default(); scalars] };
    for (reg, causes) in parts.inputs.iter().zip(inputs) {
        flow.add(*reg, *causes);
    }
    flow.settle(|_| Causes::default(), |flow, work, _| follow(flow, &parts.steps[work as usize]));
    decide(shape.iter().fold(Causes::default(), |all, causes| all.join(*causes)), Choice::Access, site, found);
    flow.decisions(found, |work, site, found| of_step(&flow, &parts.steps[work as usize], site, found));
}

/// The result of a step depends on what it loads, or on its arguments.
fn follow(flow: &mut Flow<'_>, step: &Instruction) -> bool {
    let Some(d) = step.result else { return false };
    let causes = match step.act {
        Act::Load(_) | Act::Change(..) | Act::Resume(_) => Causes::DATA,
        _ => step.args.iter().fold(Causes::default(), |all, arg| all.join(flow.of(*arg))),
    };
    flow.add(d, causes)
}

/// The address of an access decides which bytes it touches, the control of an exchange whether the lane is there.
fn of_step(flow: &Flow<'_>, step: &Instruction, site: SiteRef, found: &mut Vec<Decision>) {
    match (&step.act, step.args.as_slice()) {
        (Act::Load(_) | Act::Store(_) | Act::Change(..), [address, ..]) => {
            decide(flow.of(*address), Choice::Access, site, found);
        }
        (Act::Exchange(_), [_, control]) => decide(flow.of(*control), Choice::Fault, site, found),
        _ => {}
    }
}

fn decide(causes: Causes, choice: Choice, site: SiteRef, found: &mut Vec<Decision>) {
    if !causes.is_empty() {
        found.push(Decision { site, choice, causes });
    }
}
