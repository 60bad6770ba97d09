//! From a function with its flags to steps for [`super::check`].

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Flow, Module, OpId};
use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_op::{OpRef, Signal, SyncAct, kernel_kind};

use super::check::{Problem, SyncStep, check};
use super::index::Conflicts;
use super::tree::Flag;
use crate::analysis::access::Accesses;
use crate::analysis::facts::{Functions, flow, runs_on, trips};
use crate::analysis::touch::Work;

/// The steps of a function on one kind of core, including calls.
#[derive(Default)]
pub struct Steps {
    /// In program order.
    pub steps: Vec<SyncStep>,
    /// The work items that steps refer to.
    pub works: Vec<Work>,
    /// The op of each work item.
    pub ops: Vec<OpId>,
    /// Ops that order the pipes of the core, in program order.
    pub acts: Vec<(OpId, SyncStep)>,
    /// An op that signals to another core or waits for one, if there is one.
    pub between_cores: Option<OpId>,
}

impl Steps {
    /// Problems with the flags.
    pub fn problems(&self, platform: &Platform) -> Vec<Problem> {
        let conflicts = Conflicts::new(&self.works);
        check(&self.steps, &self.works, &conflicts, &platform.overlapping())
    }
}

/// Collects the steps of the functions of a module.
pub struct Collect<'m> {
    module: &'m Module,
    functions: &'m Functions,
    accesses: &'m Accesses<'m>,
    /// Pairs of pipes with computed flags.
    computed: BTreeSet<(Pipe, Pipe)>,
    /// Whether a loop whose bounds guarantee an iteration is assumed to run.
    counts: bool,
}

/// Maximum number of steps of a loop whose first iteration is followed separately.
const MOST_PEELED: usize = 4096;

impl<'m> Collect<'m> {
    /// Prepares a module.
    pub fn new(module: &'m Module, functions: &'m Functions, accesses: &'m Accesses<'m>) -> Collect<'m> {
        Collect { module, functions, accesses, computed: computed_flags(module), counts: false }
    }

    /// Assumes that loops run if their bounds guarantee it: their first iteration is followed separately.
    pub fn with_counts(self) -> Collect<'m> {
        Collect { counts: true, ..self }
    }

    /// The functions that nobody calls, with each kind of core that runs them.
    pub fn starts(&self) -> Vec<(OpId, BlockId, CoreKind)> {
        let with_bodies = || self.functions.with_bodies(self.module);
        let called: BTreeSet<OpId> = with_bodies()
            .flat_map(|(function, _)| self.functions.calls(self.module, function))
            .map(|(_, callee)| callee)
            .collect();
        let mut starts = Vec::new();
        for (function, body) in with_bodies().filter(|(function, _)| !called.contains(function)) {
            for kind in [CoreKind::Cube, CoreKind::Vector] {
                if kernel_kind(self.module, function).is_none_or(|k| k == kind) {
                    starts.push((function, body, kind));
                }
            }
        }
        starts
    }

    /// The steps of a function on one kind of core; ops in `without` do nothing.
    pub fn steps(&self, function: OpId, body: BlockId, kind: CoreKind, without: &BTreeSet<OpId>) -> Steps {
        let mut walk = Walk { of: self, kind, without, calls: vec![function], found: Steps::default() };
        let steps = walk.block(body);
        Steps { steps, ..walk.found }
    }
}

/// The pairs of pipes with flags whose id is computed.
fn computed_flags(module: &Module) -> BTreeSet<(Pipe, Pipe)> {
    let acts = module.walk(module.top).into_iter().filter_map(|op| OpRef::of(module, op)?.sync());
    let pairs = acts.filter_map(|act| match act {
        SyncAct::Set(Signal { from, to, id: None }) | SyncAct::Wait(Signal { from, to, id: None }) => Some((from, to)),
        _ => None,
    });
    pairs.collect()
}

/// The number of steps, including those in regions.
fn size(steps: &[SyncStep]) -> usize {
    let of = |step: &SyncStep| match step {
        SyncStep::Group(_, regions) => 1 + regions.iter().map(|region| size(region)).sum::<usize>(),
        _ => 1,
    };
    steps.iter().map(of).sum()
}

struct Walk<'a, 'm> {
    of: &'a Collect<'m>,
    kind: CoreKind,
    without: &'a BTreeSet<OpId>,
    calls: Vec<OpId>,
    pub(crate) found: Steps,
}

impl Walk<'_, '_> {
    /// The step for an op that synchronises the pipes of a core; none for one between cores.
    fn act(&self, act: SyncAct) -> Option<SyncStep> {
        let trusted = |signal: &Signal| self.of.computed.contains(&(signal.from, signal.to));
        Some(match act {
            SyncAct::Set(signal) if trusted(&signal) => return None,
            SyncAct::Wait(signal) if trusted(&signal) => SyncStep::Trust(signal.from, signal.to),
            SyncAct::Set(Signal { from, to, id }) => SyncStep::Set(Flag { from, to, id: id? }),
            SyncAct::Wait(Signal { from, to, id }) => SyncStep::Wait(Flag { from, to, id: id? }),
            SyncAct::Barrier(pipe) => SyncStep::Barrier(pipe),
            SyncAct::Get { pipe, id, waits: true } => SyncStep::Get(pipe, id?),
            SyncAct::Release { pipe, id } => SyncStep::Release(pipe, id?),
            SyncAct::Get { waits: false, .. } | SyncAct::Send { .. } | SyncAct::Receive { .. } => return None,
        })
    }

    fn block(&mut self, block: BlockId) -> Vec<SyncStep> {
        let (module, functions) = (self.of.module, self.of.functions);
        let mut steps = Vec::new();
        for &op in &module.block(block).ops {
            let data = module.op(op);
            if let Some(callee) = functions.callee(module, op) {
                if runs_on(module, callee, Some(self.kind))
                    && !self.calls.contains(&callee)
                    && let Some(body) = module.body(callee, 0)
                {
                    self.calls.push(callee);
                    steps.extend(self.block(body));
                    self.calls.pop();
                }
                continue;
            }
            if !data.regions.is_empty() {
                let blocks: Vec<BlockId> = (0..data.regions.len()).filter_map(|r| module.body(op, r)).collect();
                let regions: Vec<Vec<SyncStep>> = blocks.into_iter().map(|b| self.block(b)).collect();
                let flow = flow(module, op);
                if self.of.counts
                    && flow == Flow::Repeat
                    && let [body] = &regions[..]
                    && size(body) <= MOST_PEELED
                    && OpRef::of(module, op).and_then(|op| trips(&op)).is_some_and(|rounds| rounds > 0)
                {
                    steps.extend(body.iter().cloned());
                }
                // An `if` without `else` does nothing on the other path, which the check assumes anyway.
                steps.push(SyncStep::Group(flow, regions));
                continue;
            }
            if let Some(act) = OpRef::of(module, op).and_then(|op| op.sync()) {
                if matches!(act, SyncAct::Send { .. } | SyncAct::Receive { .. }) {
                    self.found.between_cores.get_or_insert(op);
                }
                if let Some(step) = self.act(act) {
                    self.found.acts.push((op, step.clone()));
                    steps.extend((!self.without.contains(&op)).then_some(step));
                }
                continue;
            }
            let Some(mut work) = self.of.accesses.work(op) else { continue };
            if work.core.is_some_and(|k| k != self.kind) {
                continue;
            }
            if self.calls.len() > 1 {
                work.accesses.iter_mut().for_each(|a| a.window = None);
            }
            steps.push(SyncStep::Work(self.found.works.len()));
            self.found.works.push(work);
            self.found.ops.push(op);
        }
        steps
    }
}
