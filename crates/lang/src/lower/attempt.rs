//! Speculative lowering: rollback if an assumption turns out to be wrong.

use super::held::BuffersMark;
use super::lowering::Lower;
use super::signature::whole_view;
use super::state::{Facts, NameState, Root};
use crate::value::{TileId, Value};

/// A state of the lowering: see [`Lower::attempt`].
pub(super) struct Attempt {
    module: crate::emit::Mark,
    buffers: BuffersMark,
    tiles: usize,
    regions: usize,
    extents: usize,
    diags: usize,
    names: NameState,
    facts: Facts,
}

impl Lower<'_> {
    /// The current state, for a later rollback.
    pub(super) fn attempt(&self) -> Attempt {
        Attempt {
            module: self.e.mark(),
            buffers: self.held.buffers.mark(),
            tiles: self.held.tiles.len(),
            regions: self.open.regions.len(),
            extents: self.tensors.extents.len(),
            diags: self.diags.list.len(),
            names: self.names.clone(),
            facts: self.facts.clone(),
        }
    }

    /// Rolls back to an earlier state.
    pub(super) fn take_back(&mut self, attempt: &Attempt) {
        crate::counts::rolled_back();
        self.e.take_back(&attempt.module);
        self.held.buffers.take_back(attempt.buffers);
        let older = |id: TileId| (id.0 as usize) < attempt.tiles;
        self.held.tiles.truncate(attempt.tiles);
        for tile in &mut self.held.tiles {
            tile.copies.retain(|copy| older(copy.tile));
        }
        self.tensors.loads.retain(|load| older(load.tile));
        self.held.images.retain(|(image, _)| older(image.tile));
        self.open.regions.truncate(attempt.regions);
        self.tensors.extents.truncate(attempt.extents);
        self.forget_reports(attempt.diags);
        self.names.clone_from(&attempt.names);
        // The parameters for tensors of the kernel's own must be kept.
        let created = std::mem::take(&mut self.facts.created);
        self.facts.clone_from(&attempt.facts);
        self.facts.created = created;
        for at in 0..self.tensors.roots.len() {
            let made = self.e.module.defining_op(self.tensors.roots[at].view);
            let own = |value: &Value| matches!(value, Value::Tensor(own) if own.root == at);
            if made.is_some_and(|op| self.e.module.op(op).block.is_none())
                && self.facts.created.iter().any(|(_, value)| own(value))
            {
                let Root { pointer, elem, dims, strides, scales, .. } = self.tensors.roots[at].clone();
                self.tensors.roots[at].view = whole_view(self, pointer, elem, (&dims, &strides), scales);
                self.view_at_entry(at);
            }
        }
    }

    /// Moves the view of a tensor of the kernel's own to the beginning of the function, where it dominates all uses.
    pub fn view_at_entry(&mut self, root: usize) {
        if let Some(op) = self.e.module.defining_op(self.tensors.roots[root].view) {
            self.e.module.remove(op);
            self.e.at_entry(op);
        }
    }
}
