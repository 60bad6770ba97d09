//! The loop iteration in which a wait that never ends is executed.

use std::ops::Range;

use slipring_program::{CoreProgram, Finding, Inst, Loop};

use crate::blocked::{Blocked, Reason, View};
use crate::report;

/// Reports the loop iteration in which a wait is executed, or how often it was reached. This needs a single instruction
/// that executes all waits for the object, or for a range of objects such as the slots of a ring. The number of waits
/// gives the count.
pub(super) fn tell(view: &View<'_>, root: &Blocked, finding: &mut Finding) {
    let Reason::Wait(sync) = root.reason else { return };
    if view.is_token(sync) {
        return;
    }
    let core = &view.program.cores[view.cores[root.agent.core() - view.first].position];
    let all = || core.insts.iter().enumerate().filter_map(|(pc, inst)| Some((pc, objects(inst)?)));
    let Some((pc, own)) = all().find(|(_, own)| own.contains(&sync)) else { return };
    let others = all().filter(|(other, _)| *other != pc);
    if others.into_iter().any(|(_, other)| other.start < own.end && own.start < other.end) {
        return;
    }
    let loops = core.loops();
    let around: Vec<&Loop> = loops.iter().filter(|own| own.has(pc)).collect();
    let time = own.map(|object| view.syncs[object as usize].waits).sum::<u64>() + 1;
    match around[..] {
        [] => {}
        [only] if always(core, only, pc) => {
            finding.secondary.push(report::label(only.site, format!("the wait is in iteration {time} of this loop")));
        }
        _ => finding.notes.push(format!("the wait was reached for the {} time", ordinal(time))),
    }
}

/// The objects that an instruction may wait for.
fn objects(inst: &Inst) -> Option<Range<u32>> {
    let Inst::Wait { sync, .. } = inst else { return None };
    Some(match sync.index.as_imm().and_then(|index| u32::try_from(i64::from(sync.first) + index).ok()) {
        Some(object) => object..object + 1,
        None => sync.first..sync.first + sync.count,
    })
}

fn ordinal(n: u64) -> String {
    let end = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{end}")
}

/// True if each iteration of a loop that continues executes an instruction: no jump inside the loop skips it.
fn always(core: &CoreProgram, own: &Loop, pc: usize) -> bool {
    let past = |at: usize| match &core.insts[at] {
        Inst::Jump { to }
        | Inst::JumpIfZero { to, .. }
        | Inst::JumpIfGe { to, .. }
        | Inst::Meet { to, .. }
        | Inst::Poll { to, .. } => (pc + 1..=own.back).contains(&(*to as usize)),
        _ => false,
    };
    !(own.head..pc).any(past)
}
