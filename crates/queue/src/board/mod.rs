//! Boards as data: the tiles, those of them that run the queue, and the tiles through which DRAM is reached.
//!
//! Two are built in, `p100` and `p150`; others come from a file of the same form (`platforms/boards/*.toml`).

mod cover;
mod load;

pub use cover::cover;
pub use load::{BUILT_IN, BoardError, built_in, parse};

use crate::wire::{Rect, Xy};

/// A board. Coordinates are translated ones, the same on both networks, unless a field says otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Board {
    /// Its name.
    pub name: String,
    /// One line describing it.
    pub description: String,
    /// Clock of tiles and networks, in MHz.
    pub clock_mhz: u32,
    /// Columns of working Tensix tiles, ascending.
    pub columns: Vec<u8>,
    /// First and last row of Tensix tiles.
    pub rows: (u8, u8),
    /// The prefetch core, on network 0.
    pub prefetch: Xy,
    /// The dispatch core and its subordinate, on network 1.
    pub dispatch: Xy,
    /// The two cores of another queue, if this is a board as seen by one of two queues: see [`Board::pair`].
    pub others: Option<[Xy; 2]>,
    /// The PCIe tile: host memory.
    pub pcie: Xy,
    /// The management core's tile.
    pub arc: Xy,
    /// Number of 2 MiB windows that a driver can open.
    pub windows_2m: u32,
    /// Number of 4 GiB windows.
    pub windows_4g: u32,
    /// Bytes of a DRAM bank.
    pub bank_bytes: u64,
    /// DRAM banks.
    pub banks: Vec<Bank>,
}

/// A DRAM bank: the tiles that reach it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bank {
    /// By network, in translated coordinates.
    pub ports: [Xy; 2],
    /// Its tiles in the untranslated coordinates of network 0: they answer on both networks.
    pub physical: Vec<Xy>,
}

/// The kind of tile at a network location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tile {
    /// A Tensix tile that runs kernels.
    Worker,
    /// The prefetch core.
    Prefetch,
    /// The dispatch core.
    Dispatch,
    /// A port of a DRAM bank.
    Dram(u32),
    /// The path to host memory.
    Pcie,
    /// The management core.
    Arc,
    /// Nothing, or a harvested tile.
    Nothing,
}

impl Board {
    /// The kind of tile at a location.
    pub fn tile(&self, at: Xy) -> Tile {
        if self.is_tensix(at) {
            return match at {
                at if at == self.prefetch => Tile::Prefetch,
                at if at == self.dispatch => Tile::Dispatch,
                at => match self.others {
                    Some([prefetch, _]) if at == prefetch => Tile::Prefetch,
                    Some([_, dispatch]) if at == dispatch => Tile::Dispatch,
                    _ => Tile::Worker,
                },
            };
        }
        // A bank answers at all three of its ports; the table lists those intended for the two networks.
        match self.banks.iter().position(|b| b.ports.contains(&at) || b.physical.contains(&at)) {
            Some(bank) => Tile::Dram(bank as u32),
            None if at == self.pcie => Tile::Pcie,
            None if at == self.arc => Tile::Arc,
            None => Tile::Nothing,
        }
    }

    /// The tile that a command reaches with a location word. A word of 0 counts as omitted: DRAM's tile at (0,0) is
    /// only for windows.
    pub fn tile_of_word(&self, at: Xy) -> Tile {
        if at.word() == 0 { Tile::Nothing } else { self.tile(at) }
    }

    /// Whether there is a working Tensix tile at a location, the queue's own cores included.
    pub fn is_tensix(&self, at: Xy) -> bool {
        (self.rows.0..=self.rows.1).contains(&at.y) && self.columns.binary_search(&at.x).is_ok()
    }

    /// All working Tensix tiles, row by row.
    pub fn tensix(&self) -> impl Iterator<Item = Xy> {
        (self.rows.0..=self.rows.1).flat_map(|y| self.columns.iter().map(move |x| Xy::new(*x, y)))
    }

    /// Tiles that run kernels, row by row.
    pub fn workers(&self) -> impl Iterator<Item = Xy> {
        self.tensix().filter(|tile| self.tile(*tile) == Tile::Worker)
    }

    /// Number of workers covered by a rectangle.
    pub fn workers_in(&self, rect: Rect) -> u32 {
        rect.tiles().filter(|tile| self.tile(*tile) == Tile::Worker).count() as u32
    }

    /// The board as each of two queues sees it. The second queue uses the two tiles below those of the first one in the
    /// same column: there is no other indication of where a driver puts it.
    ///
    /// # Errors
    /// If these are not Tensix tiles.
    pub fn pair(&self) -> Result<[Board; 2], String> {
        let below = |core: Xy| Xy::new(core.x, core.y.saturating_add(2));
        let (own, others) = ([self.prefetch, self.dispatch], [self.prefetch, self.dispatch].map(below));
        if let Some(core) = others.iter().find(|core| own.contains(core) || !self.is_tensix(**core)) {
            return Err(format!("a second queue would run on {core}, which is no free Tensix tile of a {}", self.name));
        }
        let [prefetch, dispatch] = others;
        let first = Board { others: Some(others), ..self.clone() };
        Ok([first, Board { prefetch, dispatch, others: Some(own), ..self.clone() }])
    }

    /// The word that starts a worker and tells it to notify the dispatch core: 0x80 in the top byte, then row and column.
    pub fn go_word(&self) -> u32 {
        0x80 << 24 | u32::from(self.dispatch.y) << 16 | u32::from(self.dispatch.x) << 8
    }
}
