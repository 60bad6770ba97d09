//! Attempts: what was lowered under an assumption that turned out wrong is taken back.

use std::collections::BTreeSet;
use std::rc::Rc;

use indexmap::IndexMap;
use slipring_ir::Span;

use super::buffers::BuffersMark;
use super::{Facts, Lower, Root, Value};
use crate::program::Scope;
use crate::signature::whole_view;
use crate::value::TileId;

/// A state of the lowering: see [`Lower::attempt`].
pub(super) struct Attempt {
    module: crate::emit::Mark,
    buffers: BuffersMark,
    tiles: usize,
    regions: usize,
    extents: usize,
    diags: usize,
    env: Scope,
    lost: IndexMap<Rc<str>, (Span, &'static str)>,
    poisoned: BTreeSet<Rc<str>>,
    tuples: BTreeSet<Rc<str>>,
    facts: Facts,
}

impl Lower<'_> {
    /// The state of the lowering, to come back to.
    pub(super) fn attempt(&self) -> Attempt {
        Attempt {
            module: self.e.mark(),
            buffers: self.buffers.mark(),
            tiles: self.tiles.len(),
            regions: self.regions.len(),
            extents: self.extents.len(),
            diags: self.diags.list.len(),
            env: self.env.clone(),
            lost: self.lost.clone(),
            poisoned: self.poisoned.clone(),
            tuples: self.tuples.clone(),
            facts: self.facts.clone(),
        }
    }

    /// Takes back what was lowered since.
    pub(super) fn take_back(&mut self, attempt: &Attempt) {
        crate::counts::rolled_back();
        self.e.take_back(&attempt.module);
        self.buffers.take_back(attempt.buffers);
        let older = |id: TileId| (id.0 as usize) < attempt.tiles;
        self.tiles.truncate(attempt.tiles);
        for tile in &mut self.tiles {
            tile.copies.retain(|copy| older(copy.tile));
        }
        self.loads.retain(|load| older(load.tile));
        self.images.retain(|(image, _)| older(image.tile));
        self.regions.truncate(attempt.regions);
        self.extents.truncate(attempt.extents);
        self.forget_reports(attempt.diags);
        self.env.clone_from(&attempt.env);
        self.lost.clone_from(&attempt.lost);
        self.poisoned.clone_from(&attempt.poisoned);
        self.tuples.clone_from(&attempt.tuples);
        // The parameters that stand for tensors of its own are there to stay.
        let created = std::mem::take(&mut self.facts.created);
        self.facts.clone_from(&attempt.facts);
        self.facts.created = created;
        for at in 0..self.roots.len() {
            let made = self.e.module.defining_op(self.roots[at].view);
            let own = |value: &Value| matches!(value, Value::Tensor(own) if own.root == at);
            if made.is_some_and(|op| self.e.module.op(op).block.is_none())
                && self.facts.created.iter().any(|(_, value)| own(value))
            {
                let Root { pointer, elem, dims, strides, scales, .. } = self.roots[at].clone();
                self.roots[at].view = whole_view(self, pointer, elem, (&dims, &strides), scales);
                self.view_at_entry(at);
            }
        }
    }

    /// Moves the view of a tensor of the kernel's own to where the function begins: the tensor is there wherever it is made.
    pub fn view_at_entry(&mut self, root: usize) {
        if let Some(op) = self.e.module.defining_op(self.roots[root].view) {
            self.e.module.remove(op);
            self.e.at_entry(op);
        }
    }
}
