//! Host actions other than queueing records.

use std::ops::Range;

use crate::wire::{Rect, Xy};

/// A host action before a record, or after the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Act {
    /// Number of records queued before it.
    pub before: usize,
    /// The action.
    pub kind: ActKind,
    /// The queue it refers to, if there are two: the one whose completions it takes.
    pub queue: u8,
    /// Its time in device cycles; 0 if unknown.
    pub cycle: u64,
    /// Its location in the text, in bytes; empty if it is not from a text.
    pub span: Range<usize>,
}

/// A host action. Addresses of host memory are those that the device sees, below bit 60.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ActKind {
    /// Waits until everything so far has run, and takes all completion records.
    Wait,
    /// Waits for the next record of the completion ring, and takes it.
    Take,
    /// Loads bytes.
    Load {
        /// Through a window to this tile; `None`: of host memory.
        tile: Option<Xy>,
        /// The first byte.
        addr: u64,
        /// Number of bytes.
        bytes: u32,
    },
    /// Stores bytes.
    Store {
        /// Through a window to this tile, or to all Tensix tiles of a rectangle except the queue's own; `None`: to host
        /// memory.
        tiles: Option<Rect>,
        /// The first byte, or a register.
        addr: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Polls memory of a tile until it contains these bytes, or until nothing happens any more.
    Poll {
        /// The tile.
        tile: Xy,
        /// The first byte.
        addr: u64,
        /// The expected bytes.
        bytes: Vec<u8>,
    },
    /// Pins memory, zeroed. If memory is already pinned there, this changes its size.
    Pin {
        /// The device's address of it.
        addr: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// Unpins memory.
    Unpin {
        /// The device's address of it.
        addr: u64,
    },
    /// Lets this many device cycles pass.
    Pause {
        /// Number of cycles.
        cycles: u64,
    },
}

impl Act {
    /// A host action after this many records have been queued, at an unknown time.
    pub fn new(before: usize, kind: ActKind) -> Act {
        Act { before, kind, queue: 0, cycle: 0, span: 0..0 }
    }
}
