//! The role of each tile on the chip.

use crate::board::{self, Board};
use crate::wire::{Rect, Xy};

/// A Tensix tile: its index in the order of rows and columns.
pub type TileId = u16;

/// The kind of tile at a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tile {
    /// Nothing that answers, or a harvested column.
    Nothing,
    /// A Tensix tile: a worker, or one of the two queue cores.
    Tensix(TileId),
    /// A port of a DRAM bank.
    Dram(u8),
    /// The PCIe tile.
    Pcie,
    /// The management core.
    Arc,
}

/// A chip's tiles, in translated coordinates.
#[derive(Clone, Debug)]
pub struct Chip {
    grid: Box<[Tile; 64 * 64]>,
    tensix: Vec<Xy>,
    /// Per bank, the port that network 0 and network 1 use.
    dram: Vec<[Xy; 2]>,
    workers: Vec<TileId>,
    prefetch: TileId,
    dispatch: TileId,
    /// The cores of another queue.
    others: Option<[TileId; 2]>,
}

impl Chip {
    /// The tiles of a board.
    pub fn new(board: &Board) -> Chip {
        let tensix: Vec<Xy> = board.tensix().collect();
        let id = |xy: Xy| tensix.iter().position(|tile| *tile == xy).map(|id| id as TileId);
        let mut grid = Box::new([Tile::Nothing; 64 * 64]);
        for y in 0..64 {
            for x in 0..64 {
                let xy = Xy::new(x, y);
                grid[xy.word() as usize] = match (id(xy), board.tile(xy)) {
                    (Some(id), _) => Tile::Tensix(id),
                    (None, board::Tile::Dram(bank)) => Tile::Dram(bank as u8),
                    (None, board::Tile::Pcie) => Tile::Pcie,
                    (None, board::Tile::Arc) => Tile::Arc,
                    _ => Tile::Nothing,
                };
            }
        }
        // A board whose queue cores are not Tensix tiles is refused when it is read.
        let (prefetch, dispatch) = (id(board.prefetch).unwrap_or(0), id(board.dispatch).unwrap_or(0));
        let others = board.others.map(|cores| cores.map(|core| id(core).unwrap_or(0)));
        let worker =
            |at: &TileId| ![prefetch, dispatch].contains(at) && others.is_none_or(|others| !others.contains(at));
        let workers = (0..tensix.len() as TileId).filter(worker).collect();
        let dram = board.banks.iter().map(|bank| bank.ports).collect();
        Chip { grid, tensix, dram, workers, prefetch, dispatch, others }
    }

    /// The tile at a location; nothing outside of the grid.
    pub fn at(&self, xy: Xy) -> Tile {
        let inside = xy.x < 64 && xy.y < 64;
        if inside { self.grid[xy.word() as usize] } else { Tile::Nothing }
    }

    /// The tile that a command reaches, see [`Board::tile_of_word`].
    pub fn at_word(&self, xy: Xy) -> Tile {
        if xy.word() == 0 { Tile::Nothing } else { self.at(xy) }
    }

    /// The location of a Tensix tile.
    pub fn xy(&self, tile: TileId) -> Xy {
        self.tensix[tile as usize]
    }

    /// Number of Tensix tiles, queue cores included.
    pub fn tensix(&self) -> usize {
        self.tensix.len()
    }

    /// The workers, by row and column.
    pub fn workers(&self) -> &[TileId] {
        &self.workers
    }

    /// The prefetch core.
    pub fn prefetch(&self) -> TileId {
        self.prefetch
    }

    /// The dispatch core.
    pub fn dispatch(&self) -> TileId {
        self.dispatch
    }

    /// Whether a Tensix tile is one of the queue's cores, or of another queue's.
    pub fn is_queue_core(&self, tile: TileId) -> bool {
        tile == self.prefetch || tile == self.dispatch || self.is_of_another(tile)
    }

    /// Whether a Tensix tile is a core of another queue.
    pub fn is_of_another(&self, tile: TileId) -> bool {
        self.others.is_some_and(|others| others.contains(&tile))
    }

    /// Whether a Tensix tile is the dispatch core of another queue.
    pub fn dispatches_for_another(&self, tile: TileId) -> bool {
        self.others.is_some_and(|[_, dispatch]| tile == dispatch)
    }

    /// Number of DRAM banks.
    pub fn banks(&self) -> u32 {
        self.dram.len() as u32
    }

    /// The port of a DRAM bank that a network uses.
    pub fn bank_port(&self, bank: u32, noc: u8) -> Xy {
        self.dram[bank as usize][usize::from(noc & 1)]
    }

    /// The targets of a multicast.
    pub(crate) fn reach(&self, rect: Rect) -> Reach {
        let mut reach = Reach { tiles: Vec::new(), clean: true };
        for xy in covered(rect) {
            match self.at(xy) {
                Tile::Tensix(id) => {
                    reach.tiles.push(id);
                    reach.clean &= !self.is_queue_core(id);
                }
                _ => reach.clean = false,
            }
        }
        reach
    }
}

/// The targets of a multicast.
#[derive(Debug)]
pub(crate) struct Reach {
    /// Its Tensix tiles.
    pub tiles: Vec<TileId>,
    /// Whether it reaches nothing else, and no queue core.
    pub clean: bool,
}

/// Columns and rows of the network, which is a torus.
const COLUMNS: u8 = 17;
const ROWS: u8 = 12;

/// The locations that a multicast passes. With reversed corners it wraps around the edges of the chip.
fn covered(rect: Rect) -> impl Iterator<Item = Xy> {
    let steps = |low: u8, high: u8, size: u8| if low <= high { high - low } else { high + size.max(low + 1) - low };
    let wrapped = |at: u8, end: u8, size: u8| if at >= size.max(end) { at - size.max(end) } else { at };
    let (low, high) = (rect.low, rect.high);
    let (columns, rows) = (steps(low.x, high.x, COLUMNS), steps(low.y, high.y, ROWS));
    let mut next = Some((0, 0));
    std::iter::from_fn(move || {
        let (x, y) = next?;
        next = match (x == columns, y == rows) {
            (false, _) => Some((x + 1, y)),
            (true, false) => Some((0, y + 1)),
            (true, true) => None,
        };
        let end = |low: u8, high: u8| low.max(high) + 1;
        Some(Xy::new(wrapped(low.x + x, end(low.x, high.x), COLUMNS), wrapped(low.y + y, end(low.y, high.y), ROWS)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multicasts_cover_their_rectangle_or_go_around_the_chip() {
        let rect = |x0, y0, x1, y1| Rect::new(Xy::new(x0, y0), Xy::new(x1, y1));
        assert!(covered(rect(1, 2, 7, 11)).eq(rect(1, 2, 7, 11).tiles()));
        let around: Vec<Xy> = covered(rect(15, 3, 1, 3)).collect();
        assert_eq!(around, [15, 16, 0, 1].map(|x| Xy::new(x, 3)));
        assert_eq!(covered(rect(2, 5, 2, 4)).count(), ROWS.into());
    }
}
