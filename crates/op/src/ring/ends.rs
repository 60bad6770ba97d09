//! The tile types at the two ends of a ring.

use slipring_ir::TileType;
use slipring_program::Direction;

use super::split::Split;

/// The types of the tiles of a ring, as the text declares them: the Cube core's and the lanes'.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    direction: Direction,
    cube: Vec<(Split, TileType)>,
    lane: Vec<(Split, TileType)>,
}

impl Ends {
    /// The ends of a ring whose pushes and pops have these types.
    pub fn new(direction: Direction, pushes: Vec<(Split, TileType)>, pops: Vec<(Split, TileType)>) -> Ends {
        let (cube, lane) = if direction == Direction::C2V { (pushes, pops) } else { (pops, pushes) };
        Ends { direction, cube, lane }
    }

    /// The tiles at the other end that a tile may be the whole or a part of. If some of them have layouts in exactly
    /// that proportion, those that merely leave enough capacity are dropped when their valid shape or that of the tile
    /// is dynamic.
    pub fn others(&self, split: Split, own: &TileType, is_cube: bool) -> Vec<TileType> {
        let pair = |other: &TileType| if is_cube { (*own, *other) } else { (*other, *own) };
        let fits = |other: &TileType| {
            let (cube, lane) = pair(other);
            split.fits(&cube, &lane, self.direction)
        };
        let shape = |tile: &TileType| (tile.layout.rows, tile.layout.cols);
        let exact = |other: &TileType| {
            let (cube, lane) = pair(other);
            split.lane_shape(shape(&cube)) == shape(&lane)
        };
        let closed = |tile: &TileType| tile.valid.iter().all(|extent| extent.known().is_some());
        let list = if is_cube { &self.lane } else { &self.cube };
        let mut list: Vec<TileType> = list.iter().filter(|(mode, _)| *mode == split).map(|(_, tile)| *tile).collect();
        list.retain(fits);
        if list.iter().any(exact) {
            list.retain(|other| exact(other) || (closed(own) && closed(other)));
        }
        list
    }

    /// The representative of the tiles at the other end, which all have the same layout; if there are none, a tile of
    /// the matching size.
    pub fn other(&self, split: Split, own: &TileType, is_cube: bool) -> TileType {
        if let Some(first) = self.others(split, own, is_cube).first() {
            return *first;
        }
        let mut other = *own;
        let (rows, cols) = (own.layout.rows, own.layout.cols);
        (other.layout.rows, other.layout.cols) = match (is_cube, split) {
            (true, _) => split.lane_shape((rows, cols)),
            (false, Split::None) => (rows, cols),
            (false, Split::UpDown) => (rows.saturating_mul(2), cols),
            (false, Split::LeftRight) => (rows, cols.saturating_mul(2)),
        };
        other
    }

    /// The tiles of the Cube core's end.
    pub fn cube_tiles(&self) -> impl Iterator<Item = &TileType> {
        self.cube.iter().map(|(_, tile)| tile)
    }

    /// The extent of a lane's tile along the divided axis according to the types at the other end, if they determine
    /// it.
    pub fn expected(&self, split: Split, own: &TileType, is_cube: bool) -> Option<u32> {
        let axis = split.axis()?;
        let own = self.valid(split, own, is_cube, axis)?;
        Some(if is_cube { own / 2 } else { own })
    }

    /// The valid extent of a tile along an axis according to the types at the other end, if they all agree.
    pub fn valid(&self, split: Split, own: &TileType, is_cube: bool, axis: usize) -> Option<u32> {
        let mut said = self.others(split, own, is_cube).into_iter().map(|other| other.valid[axis].known());
        let first = said.next()??;
        let first = said.all(|n| n == Some(first)).then(|| u32::try_from(first).ok()).flatten()?;
        match (split.axis() == Some(axis), is_cube) {
            (false, _) => Some(first),
            (true, true) => first.checked_mul(2),
            (true, false) => Some(first / 2),
        }
    }
}
