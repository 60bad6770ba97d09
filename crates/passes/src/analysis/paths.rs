//! Following a function path by path, through calls, branches and loops.

use slipring_ir::{BlockId, Flow, Module, OpId, ValueId};
use slipring_machine::CoreKind;
use slipring_op::{OpRef, affinity};

use super::facts::{Functions, flow};

/// A condition and the arm that was taken.
pub type Decision = (ValueId, usize);

/// What is followed: the functions of a module, as one kind of core runs them.
pub struct Route<'m> {
    /// The module.
    pub module: &'m Module,
    /// Its functions by name.
    pub functions: &'m Functions,
    /// The kind of core.
    pub kind: CoreKind,
    /// The functions entered, outermost first.
    pub calls: Vec<OpId>,
}

/// Follows all paths from a state for each. A branch splits a path, unless its arms leave the same state; the same
/// condition met again takes the same arm. What a loop does to a state is the implementation's to say.
pub trait Paths<'m> {
    /// What is known on one path.
    type Path: Clone;

    /// What is followed.
    fn route(&mut self) -> &mut Route<'m>;

    /// An op without regions, on one path.
    fn step(&mut self, op: &OpRef<'m>, path: &mut Self::Path);

    /// The path after a loop.
    fn repeat(&mut self, op: &OpRef<'m>, blocks: &[BlockId], path: Self::Path) -> Self::Path;

    /// Reduces the paths after a branch so that they can be followed.
    fn bounded(&mut self, op: OpId, paths: Vec<Self::Path>) -> Vec<Self::Path>;

    /// The conditions decided on a path.
    fn decided(path: &mut Self::Path) -> &mut Vec<Decision>;

    /// True if two paths differ in nothing but decisions.
    fn same(one: &Self::Path, other: &Self::Path) -> bool;

    /// True once nothing more is followed.
    fn stopped(&self) -> bool;

    /// A copy of a path for another arm.
    fn copy(&mut self, path: &Self::Path) -> Self::Path {
        path.clone()
    }

    /// The value that stands for all conditions equivalent to this one.
    fn condition(&self, value: ValueId) -> ValueId {
        value
    }

    /// The arm that a condition takes on every path, if that is known.
    fn fixed(&self, _: ValueId) -> Option<usize> {
        None
    }

    /// Follows the ops of a block.
    fn block(&mut self, block: BlockId, mut paths: Vec<Self::Path>) -> Vec<Self::Path> {
        let module = self.route().module;
        for &op in &module.block(block).ops {
            if self.stopped() {
                break;
            }
            paths = self.op(op, paths);
        }
        paths
    }

    /// Follows blocks one after the other.
    fn blocks(&mut self, blocks: &[BlockId], paths: Vec<Self::Path>) -> Vec<Self::Path> {
        blocks.iter().fold(paths, |paths, block| self.block(*block, paths))
    }

    /// Follows an op, and what it calls or contains.
    fn op(&mut self, id: OpId, mut paths: Vec<Self::Path>) -> Vec<Self::Path> {
        let Route { module, functions, kind, ref calls } = *self.route();
        if let Some(callee) = functions.callee(module, id) {
            let Some(body) = functions.entered(module, callee, kind, calls) else { return paths };
            self.route().calls.push(callee);
            paths = self.block(body, paths);
            self.route().calls.pop();
            return paths;
        }
        let Some(op) = OpRef::of(module, id) else { return paths };
        if !module.op(id).regions.is_empty() {
            return self.regions(&op, paths);
        }
        paths.iter_mut().for_each(|path| self.step(&op, path));
        paths
    }

    /// Follows the regions of an op, unless they run on the other kind of core.
    fn regions(&mut self, op: &OpRef<'m>, paths: Vec<Self::Path>) -> Vec<Self::Path> {
        let Route { module, kind, .. } = *self.route();
        if affinity(op).is_some_and(|own| own != kind) {
            return paths;
        }
        let regions = 0..module.op(op.id).regions.len();
        let blocks: Vec<BlockId> = regions.filter_map(|region| module.body(op.id, region)).collect();
        match flow(module, op.id) {
            Flow::Once => self.blocks(&blocks, paths),
            Flow::OneOf => {
                let split = paths.into_iter().flat_map(|path| self.arms(op, path)).collect();
                self.bounded(op.id, split)
            }
            Flow::Repeat => paths.into_iter().map(|path| self.repeat(op, &blocks, path)).collect(),
        }
    }

    /// Follows the arms of a branch that a path may take: of an `if` without `else`, also none.
    fn arms(&mut self, op: &OpRef<'m>, mut path: Self::Path) -> Vec<Self::Path> {
        if self.stopped() {
            return vec![path];
        }
        let module = self.route().module;
        let data = module.op(op.id);
        let arms = data.regions.len().max(2);
        let condition = data.operands.first().map(|value| self.condition(*value));
        let decided = Self::decided(&mut path).clone();
        let known = condition.and_then(|c| decided.iter().find(|decision| decision.0 == c)).map(|decision| decision.1);
        let known = known.or_else(|| condition.filter(|_| arms == 2).and_then(|condition| self.fixed(condition)));
        let mut ends = Vec::new();
        for arm in (0..arms).filter(|arm| known.is_none_or(|known| known == *arm)) {
            let mut entry = self.copy(&path);
            Self::decided(&mut entry).extend(condition.filter(|_| known.is_none()).map(|c| (c, arm)));
            match module.body(op.id, arm) {
                Some(block) => ends.extend(self.block(block, vec![entry])),
                None => ends.push(entry),
            }
        }
        match ends.split_first() {
            Some((first, rest)) if rest.iter().all(|other| Self::same(other, first)) => {
                let mut first = self.copy(first);
                *Self::decided(&mut first) = decided;
                vec![first]
            }
            _ => ends,
        }
    }
}
