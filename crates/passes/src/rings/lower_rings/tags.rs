//! Which slot an op of a ring takes: a number where the text tells it, else a count that the core keeps.

use slipring_ir::{Module, OpId};

use super::decide::{Act, Work};

/// What counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// Pushes or pops.
    Taken,
    /// Frees.
    Freed,
    /// Tiles that landed.
    Landed,
}

/// The counters of an end. `None` is one that a core keeps; else the ops that count, in order.
#[derive(Clone, Default, Debug)]
pub struct Tags {
    taken: Option<Vec<OpId>>,
    freed: Option<Vec<OpId>>,
    /// Whether anything is counted that is not known.
    pub kept: Vec<Counter>,
}

impl Tags {
    /// How many ops of a counter come before this one, where the text tells it.
    pub fn before(&self, counter: Counter, op: OpId) -> Option<u64> {
        let list = match counter {
            Counter::Taken | Counter::Landed => &self.taken,
            Counter::Freed => &self.freed,
        };
        Some(list.as_ref()?.iter().position(|one| *one == op)? as u64)
    }
}

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
        // A counter of signals does not ask which slot.
        tags.kept.push(Counter::Freed);
    }
    tags
}
