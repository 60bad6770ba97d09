//! When each buffer is in use.
//!
//! Every function is a scope of its own, its ops numbered in the order of the text, an op with regions from where it begins
//! to where it ends. A buffer lives from the first op that touches it to the last. Touched inside a loop and declared
//! outside of it, it lives as long as the loop. A call touches whatever the callee touches: so the buffers of a callee
//! conflict with all that its caller has in use around the call, but not with each other for that.

use std::collections::{BTreeMap, BTreeSet};

use slipring_dialects::ring::ring_tile;
use slipring_dialects::{PipeRule, RingPart};
use slipring_ir::{BlockId, Flow, Module, OpId, Span, Touch};

use super::pack::Live;
use crate::analysis::facts::{Functions, flow, op_ref};
use crate::analysis::roots::{RootId, Roots, home};

/// Lives of the roots of a module, by root.
pub fn lifetimes(module: &Module, functions: &Functions, roots: &Roots) -> Vec<Vec<Live>> {
    follow(module, functions, roots).of
}

/// Lives, and what their numbers stand for.
#[derive(Clone, Debug)]
pub struct Lives {
    /// By root.
    pub of: Vec<Vec<Live>>,
    /// The function of each scope.
    pub scopes: Vec<OpId>,
    /// First and last number of each op.
    numbers: Vec<(u32, u32)>,
}

impl Lives {
    /// The op that begins at a number of a scope, or the last one inside the op that ends there.
    pub fn span(&self, module: &Module, scope: u32, number: u32) -> Span {
        let body = self.scopes.get(scope as usize).and_then(|function| module.body(*function, 0));
        let ops = body.map_or(Vec::new(), |body| module.walk(body));
        let at = ops.partition_point(|op| self.numbers[op.index()].0 <= number);
        ops.get(at.saturating_sub(1)).map_or_else(Span::default, |op| module.op(*op).span)
    }
}

/// Follows the ops of a module and finds the lives of its roots.
pub fn follow(module: &Module, functions: &Functions, roots: &Roots) -> Lives {
    let mut finder = Finder {
        module,
        functions,
        roots,
        numbers: vec![(0, 0); module.op_count()],
        touched: BTreeMap::new(),
        lives: vec![BTreeMap::new(); roots.roots.len()],
    };
    let mut scopes = Vec::new();
    for (scope, (function, body)) in functions.with_bodies(module).enumerate() {
        let mut next = 0;
        finder.number(body, &mut next);
        for op in module.walk(body) {
            finder.op(scope as u32, function, op);
        }
        scopes.push(function);
    }
    let of = finder.lives.into_iter().map(|lives| lives.into_values().collect()).collect();
    Lives { of, scopes, numbers: finder.numbers }
}

struct Finder<'m> {
    module: &'m Module,
    functions: &'m Functions,
    roots: &'m Roots,
    /// First and last number of each op.
    numbers: Vec<(u32, u32)>,
    touched: BTreeMap<OpId, BTreeSet<RootId>>,
    /// By root and scope.
    lives: Vec<BTreeMap<u32, Live>>,
}

impl Finder<'_> {
    fn number(&mut self, block: BlockId, next: &mut u32) {
        for &op in &self.module.block(block).ops {
            let first = *next;
            *next += 1;
            for region in &self.module.op(op).regions {
                for &inner in &self.module.region(*region).blocks {
                    self.number(inner, next);
                }
            }
            self.numbers[op.index()] = (first, *next);
            *next += 1;
        }
    }

    fn op(&mut self, scope: u32, function: OpId, op: OpId) {
        let callee = self.functions.callee(self.module, op);
        let touched = match callee {
            Some(callee) => self.touched_by(callee),
            None => touched_directly(self.module, self.roots, op),
        };
        for root in touched {
            let declared = self.roots.root(root).op;
            // What a callee declares is new with every call.
            let fresh = callee.is_some() && home(self.module, self.roots.root(root).value) != Some(function);
            let (mut first, mut last) = self.numbers[op.index()];
            if callee.is_none() && self.module.op(op).regions.is_empty() {
                last = first;
            }
            let mut at = op;
            while let Some(outer) = self.module.parent_op(at).filter(|o| *o != function) {
                let inside = declared.is_some_and(|d| is_inside(self.module, d, outer));
                if flow(self.module, outer) == Flow::Repeat && !inside && !fresh {
                    (first, last) = self.numbers[outer.index()];
                }
                at = outer;
            }
            let by_call = callee.filter(|_| fresh).map(|callee| callee.0);
            let live = self.lives[root as usize].entry(scope).or_insert(Live { scope, first, last, by_call });
            live.by_call = live.by_call.filter(|known| Some(*known) == by_call);
            live.first = live.first.min(first);
            live.last = live.last.max(last);
        }
    }

    /// Roots that a function touches, calls followed.
    fn touched_by(&mut self, function: OpId) -> BTreeSet<RootId> {
        if let Some(known) = self.touched.get(&function) {
            return known.clone();
        }
        // A function that calls itself is refused elsewhere; here it adds nothing more.
        self.touched.insert(function, BTreeSet::new());
        let mut touched = BTreeSet::new();
        if let Some(body) = self.module.body(function, 0) {
            for op in self.module.walk(body) {
                match self.functions.callee(self.module, op) {
                    Some(callee) => touched.extend(self.touched_by(callee)),
                    None => touched.extend(touched_directly(self.module, self.roots, op)),
                }
            }
        }
        self.touched.insert(function, touched.clone());
        touched
    }
}

/// Roots whose bytes an op reads or writes.
fn touched_directly(module: &Module, roots: &Roots, op: OpId) -> BTreeSet<RootId> {
    let data = module.op(op);
    let of = |values: &[slipring_ir::ValueId]| -> BTreeSet<RootId> {
        values.iter().flat_map(|v| roots.get(*v).iter().copied()).collect()
    };
    let Some(declared) = op_ref(module, op) else { return of(&data.operands) };
    let def = declared.def;
    if def.ring.is_some_and(RingPart::takes_tile) {
        return of(ring_tile(&declared).as_slice());
    }
    let mut touched = BTreeSet::new();
    for (index, spec) in def.schema.operands.iter().enumerate() {
        if spec.touch != Touch::Nothing {
            touched.extend(of(module.operand_group(op, index)));
        }
    }
    let makes = data.results.iter().any(|v| module.ty(*v).space().is_some());
    if makes && !matches!(def.pipe, PipeRule::None) {
        touched.extend(of(&data.results));
    }
    touched
}

fn is_inside(module: &Module, op: OpId, outer: OpId) -> bool {
    std::iter::successors(module.parent_op(op), |o| module.parent_op(*o)).any(|o| o == outer)
}
