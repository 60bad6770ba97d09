//! Building trees from functions.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;
use slipring_ir::{BlockId, Module, OpId};
use slipring_machine::Platform;
use slipring_op::{OpRef, Signal, SyncAct, kernel_kind};

use super::tree::{Flag, Tree, flags_inside};
use crate::analysis::access::Accesses;
use crate::analysis::facts::{Functions, flow, runs_on, syncs_by_hand};
use crate::analysis::touch::{Access, Work};

/// A function as a tree, with the ops of its nodes.
#[derive(Default)]
pub struct Built {
    /// The tree.
    pub tree: Tree,
    /// The module's block for each block of the tree; `None` inside calls.
    pub blocks: Vec<Option<BlockId>>,
    /// The op of each node.
    pub ops: Vec<Vec<OpId>>,
    /// Flags that callees use.
    flags_of_calls: BTreeSet<Flag>,
}

/// The information about a function that callers need.
#[derive(Clone, Default, Debug)]
pub struct Summary {
    /// Work of each pipe and kind of core, with all accesses combined.
    pub works: Vec<Work>,
    /// Flags that it uses.
    pub flags: Vec<Flag>,
}

/// Builds trees, callees before their callers.
pub struct Builder<'m> {
    pub(crate) module: &'m Module,
    functions: &'m Functions,
    platform: &'m Platform,
    accesses: &'m Accesses<'m>,
    /// Summaries of the functions built so far, by function.
    pub summaries: BTreeMap<OpId, Summary>,
    /// How often each function is called.
    calls: BTreeMap<OpId, usize>,
}

impl<'m> Builder<'m> {
    /// Prepares a module.
    pub fn new(
        module: &'m Module,
        functions: &'m Functions,
        platform: &'m Platform,
        accesses: &'m Accesses<'m>,
    ) -> Builder<'m> {
        let mut calls = BTreeMap::new();
        for (function, _) in functions.with_bodies(module) {
            for (_, callee) in functions.calls(module, function) {
                *calls.entry(callee).or_insert(0) += 1;
            }
        }
        Builder { module, functions, platform, accesses, summaries: BTreeMap::new(), calls }
    }

    /// The functions, callees before callers.
    pub fn order(&self) -> Vec<(OpId, BlockId)> {
        let mut done = Vec::new();
        let mut seen = BTreeSet::new();
        for (function, _) in self.functions.with_bodies(self.module) {
            self.visit(function, &mut done, &mut seen);
        }
        done.into_iter().filter_map(|f| Some((f, self.module.body(f, 0)?))).collect()
    }

    fn visit(&self, function: OpId, done: &mut Vec<OpId>, seen: &mut BTreeSet<OpId>) {
        if !seen.insert(function) {
            return;
        }
        for (_, callee) in self.functions.calls(self.module, function) {
            self.visit(callee, done, seen);
        }
        done.push(function);
    }

    /// The tree of a function.
    pub fn build(&self, function: OpId, body: BlockId) -> Built {
        let mut built = Built { blocks: vec![Some(body)], ops: vec![Vec::new()], ..Built::default() };
        self.block(function, body, 0, &mut built);
        built
    }

    fn block(&self, function: OpId, block: BlockId, at: usize, built: &mut Built) {
        for &op in &self.module.block(block).ops {
            let data = self.module.op(op);
            if let Some(callee) = self.functions.callee(self.module, op) {
                self.call(function, op, callee, at, built);
            } else if !data.regions.is_empty() {
                let regions: Vec<BlockId> = (0..data.regions.len()).filter_map(|r| self.module.body(op, r)).collect();
                if !regions.iter().any(|r| self.has_work(function, *r)) {
                    continue;
                }
                let blocks = built.tree.push_group(at, flow(self.module, op), regions.len());
                built.ops[at].push(op);
                built.grow();
                for (inner, region) in blocks.into_iter().zip(regions) {
                    built.blocks[inner] = Some(region);
                    self.block(function, region, inner, built);
                }
            } else if let Some(work) = self.accesses.work(op) {
                built.tree.push_work(at, work);
                built.ops[at].push(op);
            }
        }
    }

    fn has_work(&self, function: OpId, block: BlockId) -> bool {
        let works = |op: &OpId| match self.functions.callee(self.module, *op) {
            Some(callee) => {
                runs_on(self.module, callee, kernel_kind(self.module, function))
                    && self.summaries.get(&callee).is_some_and(|s| !s.works.is_empty())
            }
            None => self.accesses.pipe(*op).is_some(),
        };
        self.module.walk(block).iter().any(works)
    }

    fn call(&self, function: OpId, op: OpId, callee: OpId, at: usize, built: &mut Built) {
        if !runs_on(self.module, callee, kernel_kind(self.module, function)) {
            return;
        }
        let Some(summary) = self.summaries.get(&callee).filter(|s| !s.works.is_empty()) else { return };
        let again = self.calls.get(&callee).is_some_and(|n| *n > 1) || built.tree.is_repeated(at);
        // A flag also used by an earlier callee may not have been consumed yet.
        let shared = summary.flags.iter().any(|flag| built.flags_of_calls.contains(flag));
        built.flags_of_calls.extend(&summary.flags);
        let alone = shared || again && !summary.flags.is_empty();
        built.tree.push_call(at, summary.works.clone(), summary.flags.clone(), alone);
        built.ops[at].push(op);
        built.grow();
    }

    /// Records the information that callers need. `flags` are those that the function uses itself.
    pub fn summarise(&mut self, function: OpId, built: &Built, flags: Vec<Flag>) {
        if !self.calls.contains_key(&function) {
            return;
        }
        let mut works: Vec<Work> = Vec::new();
        let mut seen = IndexSet::new();
        for work in &built.tree.works {
            let at = works.iter().position(|w| w.pipe == work.pipe && w.core == work.core).unwrap_or_else(|| {
                works.push(Work { accesses: Vec::new(), inside: Default::default(), ..*work });
                works.len() - 1
            });
            // Windows refer to views in the callee, which may refer to something else in each call.
            let accesses = work.accesses.iter().map(|a| Access { window: None, ..a.clone() });
            works[at].accesses.extend(accesses.filter(|access| seen.insert((at, access.clone()))));
        }
        let mut flags = flags;
        flags.extend(built.tree.works.iter().flat_map(flags_inside));
        flags.extend(&built.flags_of_calls);
        flags.sort_unstable();
        flags.dedup();
        self.summaries.insert(function, Summary { works, flags });
    }

    /// True if a function itself synchronises the pipes of its core. Flags placed by other passes do not count.
    pub fn is_manual(&self, body: BlockId) -> bool {
        self.module.walk(body).iter().any(|op| syncs_by_hand(self.module, *op))
    }

    /// Flags that a function sets manually; all ids of a pair of pipes if an id is computed.
    pub fn flags_by_hand(&self, body: BlockId) -> Vec<Flag> {
        let mut flags = Vec::new();
        for op in self.module.walk(body) {
            let act = OpRef::of(self.module, op).and_then(|op| op.sync());
            let Some(SyncAct::Set(Signal { from, to, id }) | SyncAct::Wait(Signal { from, to, id })) = act else {
                continue;
            };
            match id {
                Some(id) => flags.push(Flag { from, to, id }),
                None => flags.extend((0..self.platform.sync.event_ids).map(|id| Flag { from, to, id })),
            }
        }
        flags
    }
}

impl Built {
    fn grow(&mut self) {
        self.blocks.resize(self.tree.blocks.len(), None);
        self.ops.resize(self.tree.blocks.len(), Vec::new());
    }
}
