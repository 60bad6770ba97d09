//! What a push and a pop move.

use slipring_ir::TileType;
use slipring_machine::Role;
use slipring_program::Direction;
use slipring_tile::{Layout, Space};

use super::plan::PlannedRing;
use super::split::Split;
use crate::effect::{MoveEffect, MovePart, Place};
use crate::pto::tile::whole_boxes;

/// How a tile of a shape lies in a slot: as the consumer pops it; row-major in global memory.
fn slot_layout(ring: &PlannedRing, pushed: &Layout, (rows, cols): (u32, u32)) -> Layout {
    let like = ring.popped.map_or(*pushed, |tile| tile.layout);
    if ring.space == Space::Gm { Layout::nd(like.elem, rows, cols) } else { whole_boxes(Layout { rows, cols, ..like }) }
}

/// The move of a push: from the producer's tile into the slot, or both lanes' slots.
pub(super) fn push(role: Role, ring: &PlannedRing, split: Split, tile: &TileType) -> MoveEffect {
    let pushed = tile.layout;
    let shape = (pushed.rows, pushed.cols);
    let place = |core, layout| Place { space: ring.space, core, layout };
    let (to, parts) = match (ring.direction, ring.space) {
        // One image of the whole tile, each lane loads its part.
        (Direction::C2V, Space::Gm) => {
            (place(role, slot_layout(ring, &pushed, shape)), vec![MovePart::all(role, shape.0, shape.1)])
        }
        (Direction::C2V, _) => {
            let parts = ring.lanes().map(|lane| {
                let part = split.part(shape, lane);
                let from = (part.row, part.col);
                MovePart { from, core: Role::lane(lane), to: (0, 0), rows: part.rows, cols: part.cols }
            });
            (place(Role::Aiv0, slot_layout(ring, &pushed, split.lane_shape(shape))), parts.collect())
        }
        (Direction::V2C, _) => {
            let lane = role.subblock() as usize;
            let whole = ring.whole(split, shape);
            let part = split.part(whole, lane);
            // Without a split both lanes hold the same tile: lane 0 brings it, lane 1 only takes part in the handshake.
            let brings = split != Split::None || lane == 0 || !ring.lanes[0];
            let to = (part.row, part.col);
            let part = MovePart { from: (0, 0), core: Role::Aic, to, rows: part.rows, cols: part.cols };
            (place(Role::Aic, slot_layout(ring, &pushed, whole)), if brings { vec![part] } else { vec![] })
        }
    };
    let from = Place { space: tile.space, core: role, layout: pushed };
    MoveEffect { from, to, parts, room: Some(u64::from(ring.slot_bytes)), ..MoveEffect::default() }
}

/// The move of a pop from global memory: from the slot to where the tile lands.
pub(super) fn load(role: Role, ring: &PlannedRing, split: Split, ty: &TileType) -> MoveEffect {
    let shape = (ty.layout.rows, ty.layout.cols);
    let (whole, from) = match ring.direction {
        Direction::V2C => (shape, (0, 0)),
        Direction::C2V => {
            let whole = ring.whole(split, shape);
            let part = split.part(whole, role.subblock() as usize);
            (whole, (part.row, part.col))
        }
    };
    MoveEffect {
        from: Place { space: Space::Gm, core: role, layout: Layout::nd(ty.layout.elem, whole.0, whole.1) },
        to: Place { space: ty.space, core: role, layout: ty.layout },
        parts: vec![MovePart { from, core: role, to: (0, 0), rows: shape.0, cols: shape.1 }],
        valid_of_part: true,
        ..MoveEffect::default()
    }
}

/// Rows and columns of the part that a core pops: lane 1 of an uneven tile has fewer than its type.
pub(super) fn popped_extent(role: Role, ring: &PlannedRing, split: Split, ty: &TileType) -> [u32; 2] {
    let shape = (ty.layout.rows, ty.layout.cols);
    if ring.direction == Direction::V2C {
        return [shape.0, shape.1];
    }
    let part = split.part(ring.whole(split, shape), role.subblock() as usize);
    [part.rows, part.cols]
}
