//! What is on its way, in the order in which it arrives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::chip::TileId;
use super::memory::Location;
use crate::wire::Rect;

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flight {
    /// Bytes of a tile's L1 arrive somewhere. They are taken from their source now: until here the sender may not touch them.
    Write { tile: TileId, from: u32, to: Location, bytes: u32 },
    /// The same, in every tile of a rectangle.
    Multicast { tile: TileId, from: u32, rect: Rect, addr: u32, bytes: u32 },
    /// Bytes arrive in the L1 of the tile that asked for them.
    Read { from: Location, tile: TileId, to: u32, bytes: u32 },
    /// A word of L1 grows.
    Add { tile: TileId, addr: u32, value: u32 },
    /// A stream of the dispatch core grows.
    Notice { stream: u32, value: u32 },
    /// A worker looks at its go message.
    Poll { tile: TileId },
    /// A worker is done.
    Done { tile: TileId },
}

/// Flights by arrival; those of one cycle in the order in which they started.
#[derive(Default)]
pub(crate) struct Flights {
    // Arrival, and start number over slot: small keys, and one comparison decides.
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    slots: Vec<Flight>,
    free: Vec<u32>,
    started: u64,
}

const SLOT_BITS: u32 = 24;

impl Flights {
    pub fn start(&mut self, arrival: u64, flight: Flight) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = flight;
                slot
            }
            None => {
                self.slots.push(flight);
                self.slots.len() as u32 - 1
            }
        };
        debug_assert!(slot < 1 << SLOT_BITS);
        self.queue.push(Reverse((arrival, self.started << SLOT_BITS | u64::from(slot))));
        self.started += 1;
    }

    /// When the next one arrives.
    pub fn next(&self) -> Option<u64> {
        self.queue.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes the next one if it arrives by then.
    pub fn take(&mut self, by: u64) -> Option<Flight> {
        if self.next()? > by {
            return None;
        }
        let Reverse((_, key)) = self.queue.pop()?;
        let slot = (key & ((1 << SLOT_BITS) - 1)) as u32;
        self.free.push(slot);
        Some(self.slots[slot as usize])
    }

    /// How many are on their way.
    pub fn len(&self) -> usize {
        self.queue.len()
    }
}
