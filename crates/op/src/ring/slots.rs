//! What the slots of a planned ring hold, for passes that write its steps out.

use slipring_ir::TileType;
use slipring_program::Direction;
use slipring_tile::Layout;

use super::moves;
use super::split::Split;
use crate::ring::planned::PlannedRing;

impl PlannedRing {
    /// The tile of the Cube core that a tile of one end is, or is a part of.
    pub fn cube_tile(&self, split: Split, own: &TileType, is_cube: bool) -> TileType {
        if is_cube { *own } else { self.ends.other(split, own, false) }
    }

    /// A slot on chip: a tile as the consumer pops it, of which everything is valid. `pushed` is the producer's.
    pub fn slot_tile(&self, split: Split, pushed: &TileType) -> TileType {
        let other = self.ends.other(split, pushed, self.direction == Direction::C2V);
        let space = super::slot_space(self.direction);
        let elem = self.popped.map_or(other.layout.elem, |tile| tile.layout.elem);
        let valid = [other.layout.rows, other.layout.cols].map(|n| slipring_ir::Dim::Static(n.into()));
        TileType { space, layout: Layout { elem, ..other.layout }, valid, ..other }
    }

    /// Rows and columns of a popped tile, where its type leaves them open and the text does not say them.
    pub fn popped_extent(&self, split: Split, popped: &TileType) -> [u32; 2] {
        moves::popped_extent(self, split, popped)
    }

    /// True where the fixpipe changes tiles on their way.
    pub const fn has_epilogue(&self) -> bool {
        self.epilogue.is_some()
    }

    /// True where rows are pushed into L1 that are popped in blocks.
    pub const fn takes_rows_apart(&self) -> bool {
        self.library.rows
    }
}
