//! How a tile is divided between the two Vector cores.

use slipring_ir::{Dim, TileType};

use crate::def::OpRef;
use crate::ring::pipe_of;

/// How a tile is divided between the two Vector cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// Not divided.
    None,
    /// Upper part of the rows to lane 0, lower part to lane 1. Of an odd number lane 0 has one more.
    UpDown,
    /// Left part of the columns to lane 0, right part to lane 1. Of an odd number lane 0 has one more.
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
    /// The mode of an op: its `split` attribute (0, 1 or 2), else that of its pipe's tile types, else undivided.
    pub fn of(op: &OpRef<'_>) -> Option<Split> {
        match op.int("split") {
            Some(0) => Some(Split::None),
            Some(1) => Some(Split::UpDown),
            Some(2) => Some(Split::LeftRight),
            Some(_) => None,
            None => Some(pipe_of(op).and_then(|pipe| pipe.split()).unwrap_or(Split::None)),
        }
    }

    /// The split that makes a lane's tile out of the Cube core's; `None` where none does.
    pub fn between(cube: &TileType, lane: &TileType) -> Option<Split> {
        let of = |tile: &TileType| (tile.layout.rows, tile.layout.cols);
        let modes = [Split::None, Split::UpDown, Split::LeftRight];
        modes.into_iter().find(|split| split.lane_shape(of(cube)) == of(lane))
    }

    /// The attribute's number.
    pub const fn number(self) -> i64 {
        self as i64
    }

    /// The part of a tile of `rows` × `cols` that a lane has.
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

    /// Rows and columns of the tile that both lanes declare for their parts of a tile: lane 0's.
    pub fn lane_shape(self, whole: (u32, u32)) -> (u32, u32) {
        let part = self.part(whole, 0);
        (part.rows, part.cols)
    }

    /// Rows and columns of an even tile whose part a lane declares.
    pub const fn whole_shape(self, (rows, cols): (u32, u32)) -> (u32, u32) {
        match self {
            Split::None => (rows, cols),
            Split::UpDown => (rows * 2, cols),
            Split::LeftRight => (rows, cols * 2),
        }
    }

    /// True if lane 1 has one row or column less than lane 0.
    pub const fn is_uneven(self, (rows, cols): (u32, u32)) -> bool {
        match self {
            Split::None => false,
            Split::UpDown => rows % 2 != 0,
            Split::LeftRight => cols % 2 != 0,
        }
    }

    /// True if a tile leaves its valid extent open along the divided side.
    pub fn is_open_along(self, tile: &TileType) -> bool {
        match self {
            Split::None => true,
            Split::UpDown => tile.valid[0] == Dim::Dynamic,
            Split::LeftRight => tile.valid[1] == Dim::Dynamic,
        }
    }
}
