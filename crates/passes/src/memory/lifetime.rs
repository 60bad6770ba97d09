//! Buffer lifetimes.
//!
//! Every function is a scope of its own, with its ops numbered in the order of the text, an op with regions from its
//! start to its end. A buffer lives from the first op that touches it to the last. If it is touched inside a loop and
//! declared outside of it, it lives as long as the loop, unless each iteration begins by writing all of it and nothing
//! outside of the loop touches it: then no iteration sees the contents left by another. A call touches whatever its
//! callee touches: the buffers of a callee therefore conflict with everything that its caller uses around the call, but
//! not for that reason with each other. A tile that is only passed as working memory to ops that do not touch it on the
//! platform is never in use.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Flow, Module, OpId, Span, Touch, Type, ValueId};
use slipring_machine::Platform;
use slipring_op::ring::{ring_tile, table_of};
use slipring_op::{OpRef, PipeRule, RingPart};

use super::pack::Live;
use crate::analysis::facts::{Functions, flow};
use crate::analysis::roots::{RootId, Roots, home};

/// Lifetimes of the roots of a module, by root.
pub fn lifetimes(module: &Module, functions: &Functions, roots: &Roots, platform: &Platform) -> Vec<Vec<Live>> {
    follow(module, functions, roots, platform).of
}

/// Lifetimes, and the meaning of their numbers.
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

/// Follows the ops of a module and determines the lifetimes of its roots.
pub fn follow(module: &Module, functions: &Functions, roots: &Roots, platform: &Platform) -> Lives {
    let mut finder = Finder {
        module,
        platform,
        functions,
        roots,
        numbers: vec![(0, 0); module.op_count()],
        touched: BTreeMap::new(),
        renewed: BTreeMap::new(),
        lives: vec![BTreeMap::new(); roots.roots.len()],
    };
    let mut scopes = Vec::new();
    for (scope, (function, body)) in functions.with_bodies(module).enumerate() {
        let mut next = 0;
        finder.number(body, &mut next);
        finder.renewed = renewed(module, functions, roots, platform, (function, body));
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
    platform: &'m Platform,
    functions: &'m Functions,
    roots: &'m Roots,
    /// First and last number of each op.
    numbers: Vec<(u32, u32)>,
    touched: BTreeMap<OpId, BTreeSet<RootId>>,
    /// In the current function: the loop in which each iteration begins by writing all of a root.
    renewed: BTreeMap<RootId, OpId>,
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
            None => touched_directly(self.module, self.roots, op, self.platform),
        };
        for root in touched {
            let declared = self.roots.root(root).op;
            // Objects declared by a callee are new in every call.
            let fresh = callee.is_some() && home(self.module, self.roots.root(root).value) != Some(function);
            let (mut first, mut last) = self.numbers[op.index()];
            if callee.is_none() && self.module.op(op).regions.is_empty() {
                last = first;
            }
            let mut at = op;
            let own = self.renewed.get(&root).copied();
            while let Some(outer) = self.module.parent_op(at).filter(|o| *o != function) {
                let inside = declared.is_some_and(|d| is_inside(self.module, d, outer));
                if own == Some(outer) {
                    break;
                }
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

    /// Roots touched by a function, including its callees.
    fn touched_by(&mut self, function: OpId) -> BTreeSet<RootId> {
        if let Some(known) = self.touched.get(&function) {
            return known.clone();
        }
        // Recursion is refused elsewhere; here it adds nothing.
        self.touched.insert(function, BTreeSet::new());
        let mut touched = BTreeSet::new();
        if let Some(body) = self.module.body(function, 0) {
            for op in self.module.walk(body) {
                match self.functions.callee(self.module, op) {
                    Some(callee) => touched.extend(self.touched_by(callee)),
                    None => touched.extend(touched_directly(self.module, self.roots, op, self.platform)),
                }
            }
        }
        self.touched.insert(function, touched.clone());
        touched
    }
}

/// The innermost loop around all accesses to a root declared outside of it, if the first access in each iteration
/// writes all of the root, on every path.
fn renewed(
    module: &Module,
    functions: &Functions,
    roots: &Roots,
    platform: &Platform,
    (function, body): (OpId, BlockId),
) -> BTreeMap<RootId, OpId> {
    // The first op that touches a root, and the loops around all such ops, outermost first.
    let mut found: BTreeMap<RootId, (OpId, Vec<OpId>)> = BTreeMap::new();
    for op in module.walk(body) {
        if functions.callee(module, op).is_some() {
            for value in &module.op(op).operands {
                roots.get(*value).iter().for_each(|root| drop(found.insert(*root, (op, Vec::new()))));
            }
            continue;
        }
        let touched = touched_directly(module, roots, op, platform);
        if touched.is_empty() {
            continue;
        }
        let around =
            std::iter::successors(module.parent_op(op), |o| module.parent_op(*o)).take_while(|o| *o != function);
        let mut loops: Vec<OpId> = around.filter(|outer| flow(module, *outer) == Flow::Repeat).collect();
        loops.reverse();
        for root in touched {
            match found.get_mut(&root) {
                None => drop(found.insert(root, (op, loops.clone()))),
                Some((_, common)) => {
                    let same = common.iter().zip(&loops).take_while(|(a, b)| a == b).count();
                    common.truncate(same);
                }
            }
        }
    }
    let of_loop = found.into_iter().filter_map(|(root, (first, loops))| {
        let innermost = *loops.last()?;
        let declared = roots.root(root).op?;
        let always = std::iter::successors(module.parent_op(first), |o| module.parent_op(*o))
            .take_while(|outer| *outer != innermost)
            .all(|outer| flow(module, outer) == Flow::Once);
        // A loop with a condition has two bodies.
        let one_body = module.op(innermost).regions.len() == 1;
        let known = !is_inside(module, declared, innermost) && module.op(first).regions.is_empty();
        (always && one_body && known && writes_all(module, roots, first, root)).then_some((root, innermost))
    });
    of_loop.collect()
}

/// True if an op writes a whole tile and reads none of it.
fn writes_all(module: &Module, roots: &Roots, op: OpId, root: RootId) -> bool {
    let Some(declared) = OpRef::of(module, op).filter(|op| op.def.ring.is_none()) else { return false };
    let whole = roots.root(root).value;
    if module.ty(whole).as_tile().is_none_or(|ty| ty.valid.iter().any(|dim| dim.known().is_none())) {
        return false;
    }
    // The part filled by a window of unknown extents is known only at run time.
    let open = |value: &slipring_ir::ValueId| match module.ty(*value) {
        Type::PartitionView(view) => view.dims.iter().any(|dim| dim.known().is_none()),
        _ => false,
    };
    if module.op(op).operands.iter().any(open) {
        return false;
    }
    let mut writes = false;
    for (index, spec) in declared.def.schema.operands.iter().enumerate() {
        for value in module.operand_group(op, index) {
            if !roots.get(*value).contains(&root) {
                continue;
            }
            if spec.touch != Touch::Write || *value != whole {
                return false;
            }
            writes = true;
        }
    }
    writes
}

/// Roots whose bytes an op reads or writes, excluding working memory that the platform's library does not touch.
fn touched_directly(module: &Module, roots: &Roots, op: OpId, platform: &Platform) -> BTreeSet<RootId> {
    let data = module.op(op);
    let mut touched = BTreeSet::new();
    let mut touch =
        |values: &[ValueId]| touched.extend(values.iter().flat_map(|value| roots.get(*value).iter().copied()));
    let Some(declared) = OpRef::of(module, op) else {
        touch(&data.operands);
        return touched;
    };
    let def = declared.def;
    if def.ring.is_some_and(RingPart::takes_tile) {
        touch(ring_tile(&declared).as_slice());
        return touched;
    }
    touch(table_of(&declared).as_slice());
    for (index, spec) in def.schema.operands.iter().enumerate() {
        if spec.touch != Touch::Nothing && !declared.leaves_alone(spec, platform) {
            touch(module.operand_group(op, index));
        }
    }
    let makes = data.results.iter().any(|v| module.ty(*v).space().is_some());
    if makes && !matches!(def.pipe, PipeRule::None) {
        touch(&data.results);
    }
    touched
}

fn is_inside(module: &Module, op: OpId, outer: OpId) -> bool {
    std::iter::successors(module.parent_op(op), |o| module.parent_op(*o)).any(|o| o == outer)
}
