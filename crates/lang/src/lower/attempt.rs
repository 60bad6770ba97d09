//! Attempts: what was lowered under an assumption that turned out wrong is taken back.

use std::collections::BTreeSet;
use std::rc::Rc;

use indexmap::IndexMap;
use slipring_ir::Span;

use super::buffers::BuffersMark;
use super::{Facts, Lower};
use crate::program::Scope;
use crate::value::TileId;

/// A state of the lowering: see [`Lower::attempt`].
pub(super) struct Attempt {
    module: crate::emit::Mark,
    buffers: BuffersMark,
    tiles: usize,
    regions: usize,
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
        self.e.take_back(&attempt.module);
        self.buffers.take_back(attempt.buffers);
        let older = |id: TileId| (id.0 as usize) < attempt.tiles;
        self.tiles.truncate(attempt.tiles);
        for tile in &mut self.tiles {
            tile.copies.retain(|copy| older(copy.tile));
        }
        self.loads.retain(|load| older(load.tile));
        self.regions.truncate(attempt.regions);
        self.forget_reports(attempt.diags);
        self.env.clone_from(&attempt.env);
        self.lost.clone_from(&attempt.lost);
        self.poisoned.clone_from(&attempt.poisoned);
        self.tuples.clone_from(&attempt.tuples);
        // The parameters that stand for tensors of its own are there to stay.
        let created = std::mem::take(&mut self.facts.created);
        self.facts.clone_from(&attempt.facts);
        self.facts.created = created;
    }
}
