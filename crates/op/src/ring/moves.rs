//! The data movement of a push and a pop.
//!
//! A divided tile is divided by its valid extent. On chip, each lane's slot holds the lane's tile as it is popped, and
//! the Cube core's slot holds the whole tile. In global memory the slot is an image of the Cube core's tile, row by
//! row, and lane 1's part begins in the middle of its rows or columns, whatever the valid extent.

use super::split::Split;
use slipring_effect::{Divide, MoveEffect, MovePart, TilePlace};
use slipring_ir::TileType;
use slipring_machine::Role;
use slipring_program::Direction;
use slipring_tile::{Layout, Space};

use crate::decode::whole_boxes;
use crate::ring::planned::PlannedRing;

fn shape(tile: &TileType) -> (u32, u32) {
    (tile.layout.rows, tile.layout.cols)
}

/// The image of a tile of the Cube core in global memory.
fn image(ring: &PlannedRing, cube: &TileType) -> Layout {
    let elem = ring.popped.map_or(cube.layout.elem, |tile| tile.layout.elem);
    Layout::nd(elem, cube.layout.rows, cube.layout.cols)
}

/// A lane's part of the image of a tile of the Cube core: its origin and its capacity.
fn in_image(split: Split, cube: &TileType, lane: usize) -> ((u32, u32), u32, u32) {
    let part = split.part(shape(cube), lane);
    ((part.row, part.col), part.rows, part.cols)
}

/// The move of a push: from the producer's tile into the slot, or into both lanes' slots. `source` is the tile's layout
/// in memory (a part of a tile has the strides of the whole), `pushed` its type.
pub(super) fn push(role: Role, ring: &PlannedRing, split: Split, source: TilePlace, pushed: &TileType) -> MoveEffect {
    let c2v = ring.direction == Direction::C2V;
    let other = ring.ends.other(split, pushed, c2v);
    let divide = split.axis().map(|axis| Divide {
        axis,
        whole: c2v,
        from: c2v,
        to: !c2v && ring.space != Space::Gm,
        expect: ring.ends.expected(split, pushed, c2v),
    });
    let lane = role.subblock() as usize;
    // Without a split both lanes hold the same tile: lane 0 pushes it, lane 1 only takes part in the handshake.
    let brings = split != Split::None || lane == 0 || !ring.lanes[0];
    let (core, layout, parts) = match (ring.direction, ring.space) {
        // One image of the whole tile; each lane loads its part.
        (Direction::C2V, Space::Gm) if split == Split::None => {
            (role, image(ring, pushed), vec![MovePart::all(role, pushed.layout.rows, pushed.layout.cols)])
        }
        (Direction::C2V, Space::Gm) => {
            let parts = [0, 1].map(|lane| {
                let (to, rows, cols) = in_image(split, pushed, lane);
                MovePart { to, lane: lane as u32, ..MovePart::all(role, rows, cols) }
            });
            (role, image(ring, pushed), parts.into())
        }
        (Direction::C2V, _) => {
            let layout = whole_boxes(Layout { elem: image(ring, pushed).elem, ..other.layout });
            let part = |lane| MovePart {
                lane: lane as u32,
                ..MovePart::all(Role::lane(lane), other.layout.rows, other.layout.cols)
            };
            (Role::Aiv0, layout, ring.lanes().map(part).collect())
        }
        (Direction::V2C, Space::Gm) => {
            let (to, rows, cols) = in_image(split, &other, lane);
            let part = MovePart { to, lane: lane as u32, ..MovePart::all(Role::Aic, rows, cols) };
            (Role::Aic, image(ring, &other), if brings { vec![part] } else { vec![] })
        }
        (Direction::V2C, _) => {
            let (_, rows, cols) = in_image(split, &other, 1);
            let part = MovePart { lane: lane as u32, ..MovePart::all(Role::Aic, rows, cols) };
            (
                Role::Aic,
                ring.library.layout(ring.leaning, whole_boxes(other.layout)),
                if brings { vec![part] } else { vec![] },
            )
        }
    };
    let to = TilePlace { space: ring.space, core, layout };
    MoveEffect { from: source, to, parts, divide, capacity: Some(u64::from(ring.slot_bytes)), ..MoveEffect::default() }
}

/// The move of a pop from global memory: from the slot to the landing address. `popped` is the type of the tile, `ty`
/// its layout in memory.
pub(super) fn load(role: Role, ring: &PlannedRing, split: Split, popped: &TileType, ty: &TileType) -> MoveEffect {
    let own = MovePart::all(role, popped.layout.rows, popped.layout.cols);
    let (image, parts, divide) = match (ring.direction, split.axis()) {
        (Direction::V2C, Some(axis)) => {
            let divide =
                Divide { axis, whole: true, from: false, to: true, expect: ring.ends.expected(split, popped, true) };
            let parts = [0, 1].map(|lane| {
                let (from, rows, cols) = in_image(split, popped, lane);
                MovePart { from, rows, cols, lane: lane as u32, ..own }
            });
            (image(ring, popped), parts.to_vec(), Some(divide))
        }
        (Direction::V2C, None) => (image(ring, popped), vec![own], None),
        (Direction::C2V, _) => {
            let whole = ring.ends.other(split, popped, false);
            let (from, ..) = in_image(split, &whole, role.subblock() as usize);
            (image(ring, &whole), vec![MovePart { from, ..own }], None)
        }
    };
    MoveEffect {
        from: TilePlace { space: Space::Gm, core: role, layout: image },
        to: TilePlace { space: ty.space, core: role, layout: ty.layout },
        parts,
        divide,
        ..MoveEffect::default()
    }
}

/// Rows and columns of a popped tile whose type leaves them dynamic and for which no operand gives them: determined by
/// the types at the other end, else the full extent of its layout.
pub(super) fn popped_extent(ring: &PlannedRing, split: Split, popped: &TileType) -> [u32; 2] {
    let is_cube = ring.direction == Direction::V2C;
    let capacity = [popped.layout.rows, popped.layout.cols];
    std::array::from_fn(|axis| {
        ring.ends.valid(split, popped, is_cube, axis).map_or(capacity[axis], |n| n.min(capacity[axis]))
    })
}
