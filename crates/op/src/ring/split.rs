//! Division of a tile between the two Vector cores.

use slipring_ir::TileType;
use slipring_program::Direction;

/// How a tile is divided between the two Vector cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// Not divided.
    None,
    /// Upper half of the valid rows to lane 0, lower half to lane 1.
    UpDown,
    /// Left half of the valid columns to lane 0, right half to lane 1.
    LeftRight,
}

/// A rectangle of a tile, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Part {
    pub row: u32,
    pub col: u32,
    pub rows: u32,
    pub cols: u32,
}

impl Split {
    /// The split that relates a lane's tile to the Cube core's; `None` if none does.
    pub fn between(cube: &TileType, lane: &TileType) -> Option<Split> {
        let of = |tile: &TileType| (tile.layout.rows, tile.layout.cols);
        let modes = [Split::None, Split::UpDown, Split::LeftRight];
        modes.into_iter().find(|split| split.lane_shape(of(cube)) == of(lane))
    }

    /// The value of the attribute.
    pub const fn number(self) -> i64 {
        self as i64
    }

    /// The divided axis: 0 rows, 1 columns.
    pub const fn axis(self) -> Option<usize> {
        match self {
            Split::None => None,
            Split::UpDown => Some(0),
            Split::LeftRight => Some(1),
        }
    }

    /// The part of a layout of `rows` × `cols` that a lane gets: lane 1's begins in the middle.
    pub fn part(self, (rows, cols): (u32, u32), lane: usize) -> Part {
        let halve = |n: u32| if lane == 0 { (0, n.div_ceil(2)) } else { (n.div_ceil(2), n / 2) };
        match self {
            Split::None => Part { row: 0, col: 0, rows, cols },
            Split::UpDown => {
                let (row, rows) = halve(rows);
                Part { row, col: 0, rows, cols }
            }
            Split::LeftRight => {
                let (col, cols) = halve(cols);
                Part { row: 0, col, rows, cols }
            }
        }
    }

    /// Rows and columns of a lane's part of a layout: those of lane 0.
    pub fn lane_shape(self, whole: (u32, u32)) -> (u32, u32) {
        let part = self.part(whole, 0);
        (part.rows, part.cols)
    }

    /// The extent of the Cube core's valid shape that cannot be halved, with its axis, if there is one.
    pub fn odd(self, cube: &TileType) -> Option<(u64, usize)> {
        let axis = self.axis()?;
        cube.valid[axis].known().filter(|n| n % 2 != 0).map(|n| (n, axis))
    }

    /// True if `lane` can be the type of a lane's part of the Cube core's tile `cube`: half of the valid extent along
    /// the divided axis, all of it along the other. A dynamic valid extent fits if the layout has enough capacity.
    pub fn fits(self, cube: &TileType, lane: &TileType, direction: Direction) -> bool {
        (0..2).all(|axis| {
            let parts = if self.axis() == Some(axis) { 2 } else { 1 };
            let capacity = |tile: &TileType| u64::from([tile.layout.rows, tile.layout.cols][axis]);
            let (all, own) = (capacity(cube), capacity(lane));
            match (cube.valid[axis].known(), lane.valid[axis].known()) {
                (Some(whole), Some(part)) if parts == 2 => whole == 2 * part,
                // A pop may name a smaller or larger valid extent of a tile with the same layout.
                (Some(whole), Some(part)) => whole == part || all == own,
                (Some(whole), None) => whole <= parts * own,
                (None, Some(part)) => parts * part <= all,
                (None, None) => {
                    let (pushed, popped) =
                        if direction == Direction::C2V { (all, parts * own) } else { (parts * own, all) };
                    all.div_ceil(parts) == own || pushed <= popped
                }
            }
        })
    }
}
