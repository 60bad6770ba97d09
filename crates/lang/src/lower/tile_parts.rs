//! Parts of tiles: the same bytes.

use slipring_ir::{Attr, Diagnostic, Dim, Reported, Span, Type};
use slipring_pto as pto;
use slipring_tile::{SLayout, Space};

use super::lowering::{Lower, Lowered};
use crate::value::{Index, TileId};

impl Lower<'_> {
    /// A part of a tile of more than two dimensions as rows and columns of the folded one.
    pub(super) fn folded_part(
        &mut self,
        whole: &[u64],
        offsets: &[Index],
        shape: &[u64],
    ) -> Option<([Index; 2], [u64; 2])> {
        let lines = whole.len() - 1;
        // Single indices, then a range, then full dimensions.
        let after = (0..lines).find(|dim| shape[*dim] != 1).unwrap_or(lines);
        if (after + 1..lines).any(|dim| shape[dim] != whole[dim]) {
            return None;
        }
        let mut row = Index::Known(0);
        for dim in 0..lines {
            let step: u64 = whole[dim + 1..lines].iter().product();
            let part = self.times(offsets[dim], step as i64);
            row = self.add_index(row, part);
        }
        Some(([row, offsets[lines]], [shape[..lines].iter().product(), shape[lines]]))
    }

    /// Rows and columns of a tile by rows: the same bytes.
    pub fn subset(&mut self, id: TileId, part: ([Index; 2], [u64; 2]), shape: &[u64], span: Span) -> Lowered<TileId> {
        self.part_of_tile(id, part, shape, false, span)
    }

    /// Like [`Lower::subset`]; the run stops if a part that must be `inside` is not.
    pub(super) fn part_of_tile(
        &mut self,
        id: TileId,
        (offsets, sizes): ([Index; 2], [u64; 2]),
        shape: &[u64],
        inside: bool,
        span: Span,
    ) -> Lowered<TileId> {
        let tile = self.tile(id).clone();
        let space = tile.ty.space;
        if space == Space::Mat && tile.ty.layout.slayout != SLayout::NoneBox && shape.len() == 2 {
            // The instruction that moves it on extracts it.
            let (whole, first) = tile.part.unwrap_or((id, [Index::Known(0); 2]));
            let at = [0, 1].map(|dim| self.add_index(first[dim], offsets[dim]));
            let mut ty = super::layouts::Place::of(space).tile_type(shape, tile.ty.layout.elem);
            (ty.layout.blayout, ty.layout.slayout) = (tile.ty.layout.blayout, tile.ty.layout.slayout);
            let part = self.add_tile(self.tile(whole).value, ty, shape, tile.made_by);
            let own = &mut self.held.tiles[part.0 as usize];
            (own.region, own.part) = (tile.region, Some((whole, at)));
            return Ok(part);
        }
        let values: Vec<_> = offsets.iter().map(|offset| self.index_value(*offset)).collect();
        if tile.ty.layout.slayout != SLayout::NoneBox {
            return Err(self.unsupported(span, format!("a part of a tile in `{space}`")));
        }
        // A view of whole lines, or of pieces of lines: the strides are those of the tile.
        let mut ty = tile.ty;
        (ty.layout.rows, ty.layout.cols) = (sizes[0] as u32, sizes[1] as u32);
        ty.valid = [Dim::Static(sizes[0]), Dim::Static(sizes[1])];
        let sizes = Attr::Array(sizes.iter().map(|n| Attr::int(*n as i64)).collect());
        let attrs = [("sizes", sizes), (pto::INSIDE, Attr::Bool(true))];
        let attrs = if inside { &attrs[..] } else { &attrs[..1] };
        let operands = [("source", &[tile.value][..]), ("offsets", &values)];
        let part = self.e.value(&pto::SUBSET, &operands, attrs, Type::Tile(ty));
        let part = self.add_tile(part, ty, shape, tile.made_by);
        self.held.tiles[part.0 as usize].region = tile.region;
        Ok(part)
    }

    /// Reports a part of a product: only shards read parts of the accumulator.
    pub(super) fn part_of_product(&mut self, id: TileId, span: Span) -> Reported {
        let Some(region) = self.open.region else {
            let what = "a part of an accumulator (store it, or take it on the Vector cores)";
            return self.unsupported(span, what);
        };
        let region = self.open.regions[region.0 as usize].span;
        let error = Diagnostic::error(
            "implicit-shard",
            span,
            "a part of a product is read on the Vector cores without a shard",
        )
        .also(self.tile(id).span, "the product")
        .also(region, "the region begins here")
        .help("take this lane's half with `pl.aiv_shard(…)` at the top of the region, and parts of that");
        self.report(error)
    }
}
