//! Copies of tiles: private buffers, and copies into another tile's buffer.

use slipring_ir::{Diagnostic, OpId, Span, Type, ValueDef};
use slipring_pto as pto;
use slipring_tile::Space;

use super::lowering::{Lower, Lowered};
use crate::dtype::DType;
use crate::value::{Index, Tile, TileId, Value, show};

impl Lower<'_> {
    /// True if a tile's buffer is not exclusive to this name: another name uses it, or it is a view or a slot of a
    /// ring.
    pub(super) fn is_shared(&self, name: &str, id: TileId) -> bool {
        let (value, buffer) = (self.tile(id).value, self.buffer_of(id));
        value != buffer
            || !self.held.allocs.contains(&buffer)
            || self.names_in(buffer).iter().any(|other| **other != *name)
    }

    /// A tile with a private buffer: the tile's own, or a copy.
    pub(super) fn own_buffer(&mut self, name: &str, id: TileId, span: Span) -> Lowered<TileId> {
        self.still_there(id, span)?;
        if self.tile(id).ty.space == Space::Acc || !self.is_shared(name, id) {
            return Ok(self.claim(id));
        }
        let copy = self.copied(id)?;
        self.part_if_shared(Some(&name.into()), id, copy);
        Ok(copy)
    }

    /// A tile's buffer that will be changed: it is no longer found as a copy of another tile.
    pub(super) fn claim(&mut self, id: TileId) -> TileId {
        let buffer = self.tile(id).value;
        let is_it = |tiles: &[Tile], id: TileId| tiles[id.0 as usize].value == buffer;
        for at in 0..self.held.tiles.len() {
            if !self.held.tiles[at].copies.is_empty() {
                let mut copies = std::mem::take(&mut self.held.tiles[at].copies);
                copies.retain(|copy| !is_it(&self.held.tiles, copy.tile));
                self.held.tiles[at].copies = copies;
            }
        }
        self.tensors.loads.retain(|load| !is_it(&self.held.tiles, load.tile));
        self.held.images.retain(|(image, _)| !is_it(&self.held.tiles, image.tile));
        self.renewed(id)
    }

    /// A copy of a tile in the same memory, made where work of the tile's kind is allowed.
    pub(super) fn copied(&mut self, id: TileId) -> Lowered<TileId> {
        let tile = self.tile(id).clone();
        if tile.ty.space != Space::Vec {
            let message = format!("a tile in `{}` cannot be copied, which is needed to carry it", tile.ty.space);
            let span = self.e.span;
            let error = Diagnostic::error("carry", span, message).also(tile.span, "the tile is made here");
            return Err(self.report(error.help("carry a tile that has no other name")));
        }
        let copy = match tile.valid {
            None => {
                let value = self.buffer(tile.ty);
                self.add_tile(value, tile.ty, &tile.shape, tile.made_by)
            }
            Some(valid) => self.new_valid_tile(&tile.shape, tile.ty.layout.elem, tile.ty.space, valid, tile.made_by),
        };
        self.held.tiles[copy.0 as usize].region = tile.region;
        self.held.tiles[copy.0 as usize].mask.clone_from(&tile.mask);
        self.copy_into(id, copy)?;
        Ok(copy)
    }

    /// The reason why a tile cannot be put into another one's buffer; `None` if they have the same type.
    pub(super) fn unequal(&self, source: &Tile, target: &Tile, span: Span) -> Option<Diagnostic> {
        if source.valid != target.valid {
            let message = "a name refers to tiles with different valid shapes before and after";
            return Some(
                Diagnostic::error("carry", span, message)
                    .also(target.span, "the one")
                    .also(source.span, "the other")
                    .help("make all of the tile valid first: `pl.fillpad`"),
            );
        }
        if source.ty.layout.elem == target.ty.layout.elem && source.shape == target.shape && source.mask == target.mask
        {
            return None;
        }
        let show = |t: &Tile| format!("{} {}", show(&t.shape), DType::Elem(t.ty.layout.elem).name());
        let message = format!("a name stands for a tile {} before and {} after", show(target), show(source));
        Some(
            Diagnostic::error("carry-type", span, message)
                .also(target.span, "the one")
                .also(source.span, "the other")
                .help("a tile that a loop or branch changes keeps its shape and type: use another name"),
        )
    }

    /// Copies a tile into another one's buffer, unless it is there already.
    pub(super) fn copy_into(&mut self, from: TileId, to: TileId) -> Lowered<()> {
        let (source, target) = (self.tile(from).clone(), self.tile(to).clone());
        let span = self.e.span;
        self.still_there(from, span)?;
        if source.value == target.value {
            return Ok(());
        }
        if let Some(error) = self.unequal(&source, &target, span) {
            return Err(self.report(error));
        }
        let from_id = if source.ty.space == target.ty.space {
            from
        } else {
            self.demand(&Value::Tile(from), target.ty.space, span)?
        };
        let source = self.tile(from_id).clone();
        if source.ty.space != Space::Vec {
            let error = cannot_be_copied(&source, span);
            return Err(self.report(error));
        }
        // In a function with regions, Vector work is only allowed in regions.
        match source.region.filter(|_| self.open.region.is_none()) {
            None => {
                self.e.op(&pto::TMOV, &[("src", &[source.value]), ("dst", &[target.value])], &[], &[]);
            }
            Some(region) => {
                let mode = self.open.regions[region.0 as usize].used.map_or(0, |(mode, _)| mode as i64);
                let op = self.e.op(&pto::SPLIT_AIV, &[], &[("split", slipring_ir::Attr::int(mode))], &[]);
                let block = self.e.region(op);
                let place = self.e.span;
                self.e.module.add_arg(block, Type::Index, None, place);
                self.e.inside(block, |e| {
                    e.op(&pto::TMOV, &[("src", &[source.value]), ("dst", &[target.value])], &[], &[])
                });
            }
        }
        Ok(())
    }

    /// Copies tiles into buffers as if simultaneously: `a, b = b, a`.
    pub(super) fn copy_all(&mut self, mut copies: Vec<(TileId, TileId)>) -> Lowered<()> {
        for at in 1..copies.len() {
            let source = self.buffer_of(copies[at].0);
            let overwrites =
                |(from, to): &(TileId, TileId)| self.tile(*to).value == source && self.tile(*from).value != source;
            if copies[..at].iter().any(overwrites) {
                copies[at].0 = self.copied(copies[at].0)?;
            }
        }
        copies.into_iter().try_for_each(|(from, to)| self.copy_into(from, to))
    }

    /// A buffer like that of a tile, declared before an op.
    pub(super) fn buffer_before(&mut self, op: OpId, like: TileId) -> TileId {
        let tile = self.tile(like).clone();
        let alloc = self.e.make(&pto::ALLOC_TILE, &[], &[], &[Type::Tile(tile.ty)]);
        let anchor = self.open.region.map_or(op, |region| self.open.regions[region.0 as usize].op);
        self.e.module.insert_before(anchor, alloc);
        let value = self.e.module.op(alloc).results[0];
        self.held.allocs.insert(value);
        let id = self.add_tile(value, tile.ty, &tile.shape, tile.made_by);
        self.held.tiles[id.0 as usize].region = tile.region;
        self.held.tiles[id.0 as usize].mask = tile.mask;
        // With the same valid extent, if that is known before the op.
        let there = |extent: &Index| match extent {
            Index::Known(_) => true,
            Index::At(scalar) => {
                let block = match self.e.module.value(scalar.value).def {
                    ValueDef::Result(op, _) => self.e.module.op(op).block,
                    ValueDef::Arg(block, _) => Some(block),
                };
                // The value must be available before the region.
                let outside = self.open.region.is_none() || scalar.region.is_none();
                outside && block.is_some_and(|block| self.open.blocks.contains(&block))
            }
        };
        if let Some(valid) = tile.valid.filter(|valid| valid.iter().all(there)) {
            let [rows, cols] = valid.map(|extent| self.index_value(extent));
            let groups: [(&str, &[_]); 3] = [("source", &[value]), ("valid_row", &[rows]), ("valid_col", &[cols])];
            let set = self.e.make(&pto::SET_VALIDSHAPE, &groups, &[], &[]);
            self.e.module.insert_before(anchor, set);
            self.held.tiles[id.0 as usize].valid = Some(valid);
        }
        id
    }
}

pub(super) fn cannot_be_copied(tile: &Tile, span: Span) -> Diagnostic {
    let message = format!("a tile in `{}` cannot be copied, which is needed to carry it", tile.ty.space);
    Diagnostic::error("carry", span, message)
        .also(tile.span, "the tile is made here")
        .help("accumulate in place: `acc = pl.matmul_acc(acc, a, b)`")
}
