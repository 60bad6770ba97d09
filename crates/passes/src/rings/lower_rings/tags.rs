//! The slot used by an op of a ring: a constant where the text determines it, otherwise a counter kept by the core.

use slipring_ir::{Module, OpId};

use crate::rings::lower_rings::work::{Act, Counter, Tags, Work};

/// The counters of end `at`.
pub fn of(module: &Module, work: &Work, at: usize) -> Tags {
    let end = &work.ends[at];
    let list = |counts: fn(Act) -> bool| {
        work.steps.iter().filter(|step| step.end == at && counts(step.act)).map(|step| step.op).collect::<Vec<_>>()
    };
    let taken = list(|act| matches!(act, Act::Push | Act::Pop { .. }));
    let freed = list(|act| matches!(act, Act::Free | Act::Pop { frees: true }));
    let straight = |ops: &[OpId]| ops.iter().all(|op| module.op(*op).block == Some(end.body));
    let mut tags = Tags::default();
    let lands = !end.produces() && end.landing.is_some() && end.ring.local_slots != end.ring.slots;
    if straight(&taken) {
        tags.taken = Some(taken);
    } else {
        tags.kept.push(Counter::Taken);
        if lands {
            tags.kept.push(Counter::Landed);
        }
    }
    if straight(&freed) {
        tags.freed = Some(freed);
    } else if end.ring.protocol.is_tagged() {
        // A counter of signals is independent of the slot.
        tags.kept.push(Counter::Freed);
    }
    tags
}
