//! Contents of the slots of a planned ring, for passes that expand its steps.

use slipring_ir::TileType;
use slipring_program::Direction;
use slipring_tile::Layout;

use super::moves;
use super::split::Split;
use crate::ring::planned::PlannedRing;

impl PlannedRing {
    /// The tile of the Cube core that a tile of one end corresponds to, as the whole or a part.
    pub fn cube_tile(&self, split: Split, own: &TileType, is_cube: bool) -> TileType {
        if is_cube { *own } else { self.ends.other(split, own, false) }
    }

    /// The tile type of a slot on chip: the tile as the consumer pops it, entirely valid. `pushed` is the producer's.
    pub fn slot_tile(&self, split: Split, pushed: &TileType) -> TileType {
        let other = self.ends.other(split, pushed, self.direction == Direction::C2V);
        let space = super::slot_space(self.direction);
        let elem = self.popped.map_or(other.layout.elem, |tile| tile.layout.elem);
        let valid = [other.layout.rows, other.layout.cols].map(|n| slipring_ir::Dim::Static(n.into()));
        TileType { space, layout: Layout { elem, ..other.layout }, valid, ..other }
    }

    /// Rows and columns of a popped tile whose type leaves them dynamic and for which the text does not give them.
    pub fn popped_extent(&self, split: Split, popped: &TileType) -> [u32; 2] {
        moves::popped_extent(self, split, popped)
    }

    /// True if the fixpipe converts tiles of this ring.
    pub const fn has_epilogue(&self) -> bool {
        self.epilogue.is_some()
    }

    /// True if rows are pushed into L1 and popped in blocks.
    pub const fn takes_rows_apart(&self) -> bool {
        self.library.rows
    }
}
