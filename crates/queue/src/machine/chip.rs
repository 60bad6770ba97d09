//! Which tile stands where.

use crate::board::{self, Board};
use crate::wire::{Rect, Xy};

/// A Tensix tile: its place in the order of rows and columns.
pub type TileId = u16;

/// What stands at a place.
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
        // A board whose queue cores are no Tensix tiles is not read in.
        let (prefetch, dispatch) = (id(board.prefetch).unwrap_or(0), id(board.dispatch).unwrap_or(0));
        let workers = (0..tensix.len() as TileId).filter(|id| *id != prefetch && *id != dispatch).collect();
        let dram = board.banks.iter().map(|bank| bank.ports).collect();
        Chip { grid, tensix, dram, workers, prefetch, dispatch }
    }

    /// What stands at a place.
    pub fn at(&self, xy: Xy) -> Tile {
        self.grid[xy.word() as usize]
    }

    /// Where a Tensix tile stands.
    pub fn xy(&self, tile: TileId) -> Xy {
        self.tensix[tile as usize]
    }

    /// How many Tensix tiles there are, queue cores included.
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

    /// Whether a Tensix tile is one of the queue's cores.
    pub fn is_queue_core(&self, tile: TileId) -> bool {
        tile == self.prefetch || tile == self.dispatch
    }

    /// How many DRAM banks there are.
    pub fn banks(&self) -> u32 {
        self.dram.len() as u32
    }

    /// The port of a DRAM bank that a network uses.
    pub fn bank_port(&self, bank: u32, noc: u8) -> Xy {
        self.dram[bank as usize][usize::from(noc & 1)]
    }

    /// How many Tensix tiles a multicast reaches, and whether it reaches nothing else and no queue core.
    pub fn reach(&self, rect: Rect) -> (u32, bool) {
        let (mut count, mut clean) = (0, true);
        for xy in covered(rect) {
            match self.at(xy) {
                Tile::Tensix(id) => {
                    count += 1;
                    clean &= !self.is_queue_core(id);
                }
                _ => clean = false,
            }
        }
        (count, clean)
    }
}

/// Columns and rows of the network, around which it is closed.
const COLUMNS: u8 = 17;
const ROWS: u8 = 12;

/// The places that a multicast passes. One whose corners are the wrong way round goes around the edges of the chip.
pub(crate) fn covered(rect: Rect) -> impl Iterator<Item = Xy> {
    let span = |low: u8, high: u8, size: u8| {
        let size = size.max(low + 1).max(high + 1);
        let steps = if low <= high { high - low } else { high + size - low };
        (0..=steps).map(move |step| (low + step) % size)
    };
    let columns = move || span(rect.low.x, rect.high.x, COLUMNS);
    span(rect.low.y, rect.high.y, ROWS).flat_map(move |y| columns().map(move |x| Xy::new(x, y)))
}
