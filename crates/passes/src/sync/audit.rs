//! The order that the flags of a text enforce, the order they lack, and the redundant ones among them.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Module, OpId};
use slipring_machine::{CoreKind, Platform};

use super::check::{Problem, SyncStep};
use super::collect::{Collect, Steps};
use super::tree::Flag;
use crate::analysis::access::Accesses;
use crate::analysis::facts::Functions;

/// A function that nobody calls, on one kind of core.
pub struct Audit {
    /// The function.
    pub function: OpId,
    /// The core.
    pub kind: CoreKind,
    /// Its actions, including calls.
    pub steps: Steps,
    /// Problems with its flags.
    pub problems: Vec<Problem>,
    /// Ops that can be removed, each entry by itself and all of them at once, without losing an order that a hazard
    /// needs.
    pub superfluous: Vec<Vec<OpId>>,
    /// Why superfluous ops were not searched for, or not completely.
    pub not_looked: Option<NotLooked>,
}

/// Why it is unknown which ops are superfluous.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotLooked {
    /// This op signals to another core or waits for one: the preceding order matters there.
    BetweenCores(OpId),
    /// There are too many ops to try all.
    TooMany,
}

/// Total number of steps in all trials of a function.
const MOST_STEPS: usize = 4_000_000;

/// Follows every function that nobody calls and that has work on a pipe.
pub fn audit(module: &Module, platform: &Platform) -> Vec<Audit> {
    let functions = Functions::of(module);
    let accesses = Accesses::new(module, &functions, platform);
    let collect = Collect::new(module, &functions, &accesses).with_counts();
    let mut audits = Vec::new();
    for (function, body, kind) in collect.starts() {
        let steps = collect.steps(function, body, kind, &BTreeSet::new());
        if steps.works.is_empty() {
            continue;
        }
        let problems = steps.problems(platform);
        let mut found = Audit { function, kind, steps, problems, superfluous: Vec::new(), not_looked: None };
        if let Some(op) = found.steps.between_cores {
            found.not_looked = Some(NotLooked::BetweenCores(op));
        } else {
            let again = |without: &BTreeSet<OpId>| collect.steps(function, body, kind, without).problems(platform);
            look(module, &mut found, again);
        }
        audits.push(found);
    }
    needed_elsewhere(&mut audits);
    audits
}

/// Removes what can be removed, candidate by candidate.
fn look(module: &Module, found: &mut Audit, again: impl Fn(&BTreeSet<OpId>) -> Vec<Problem>) {
    let known: BTreeSet<Problem> = found.problems.iter().copied().collect();
    let mut without: BTreeSet<OpId> = BTreeSet::new();
    let cost = found.steps.works.len() + found.steps.acts.len();
    let mut left = MOST_STEPS / cost.max(1);
    // Errors are to be fixed, not removed.
    let wrong: BTreeSet<Flag> = known.iter().filter_map(flag_of).collect();
    let is_wrong = |op: &OpId| {
        let flags = found.steps.acts.iter().filter(|(other, _)| other == op);
        flags.into_iter().any(|(_, step)| match step {
            SyncStep::Set(flag) | SyncStep::Wait(flag) => wrong.contains(flag),
            _ => false,
        })
    };
    let candidates: Vec<Vec<OpId>> =
        candidates(module, &found.steps).into_iter().filter(|candidate| !candidate.iter().any(is_wrong)).collect();
    for candidate in candidates {
        if candidate.iter().any(|op| without.contains(op)) {
            continue;
        }
        if left == 0 {
            found.not_looked = Some(NotLooked::TooMany);
            break;
        }
        left -= 1;
        let trial: BTreeSet<OpId> = without.iter().chain(&candidate).copied().collect();
        if again(&trial).iter().all(|problem| known.contains(problem)) {
            without = trial;
            found.superfluous.push(candidate);
        }
    }
}

/// The flag that a problem concerns.
fn flag_of(problem: &Problem) -> Option<Flag> {
    match *problem {
        Problem::Race(..) => None,
        Problem::SetTwice(flag)
        | Problem::NeverSet(flag)
        | Problem::Unbalanced(flag)
        | Problem::LeftSet(flag)
        | Problem::Inside(flag, _) => Some(flag),
    }
}

/// Possibly superfluous ops: a barrier, all ops of a flag, a set with the wait that follows it in its block.
fn candidates(module: &Module, steps: &Steps) -> Vec<Vec<OpId>> {
    let mut all: Vec<Vec<OpId>> = Vec::new();
    let mut flags: BTreeMap<Flag, Vec<(OpId, bool)>> = BTreeMap::new();
    for (op, step) in &steps.acts {
        match step {
            SyncStep::Barrier(_) => all.push(vec![*op]),
            SyncStep::Set(flag) => flags.entry(*flag).or_default().push((*op, true)),
            SyncStep::Wait(flag) => flags.entry(*flag).or_default().push((*op, false)),
            // Pairs of computed ids are not separated, and buffers provide mutual exclusion as well as order.
            _ => {}
        }
    }
    for ops in flags.values() {
        let mut whole: Vec<OpId> = ops.iter().map(|(op, _)| *op).collect();
        whole.sort_unstable();
        whole.dedup();
        all.push(whole.clone());
        for (at, (set, sets)) in ops.iter().enumerate() {
            let wait = ops[at + 1..].iter().find(|(op, sets)| !sets && module.op(*op).block == module.op(*set).block);
            match wait {
                Some((wait, _)) if *sets && whole.len() > 2 => all.push(vec![*set, *wait]),
                _ => {}
            }
        }
    }
    all.iter_mut().for_each(|ops| ops.dedup());
    let mut seen = BTreeSet::new();
    all.retain(|ops| seen.insert(ops.clone()));
    all
}

/// An op of a function with several callers is superfluous only if it is so for all of them.
fn needed_elsewhere(audits: &mut [Audit]) {
    let mut needed: BTreeSet<OpId> = BTreeSet::new();
    for audit in audits.iter() {
        let may_go: BTreeSet<OpId> = audit.superfluous.iter().flatten().copied().collect();
        needed.extend(audit.steps.acts.iter().map(|(op, _)| *op).filter(|op| !may_go.contains(op)));
    }
    for audit in audits {
        audit.superfluous.retain(|ops| !ops.iter().any(|op| needed.contains(op)));
    }
}
