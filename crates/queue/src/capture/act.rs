//! What a host does besides queueing records.

use std::ops::Range;

use crate::wire::{Rect, Xy};

/// Something that the host does in front of a record, or after the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Act {
    /// How many records are queued before it.
    pub before: usize,
    /// What it is.
    pub kind: ActKind,
    /// Which of two queues it is about: whose completions it takes.
    pub queue: u8,
    /// When, in device cycles; 0 where that is not known.
    pub cycle: u64,
    /// Where the text has it, in bytes; empty if it is from no text.
    pub span: Range<usize>,
}

/// What a host does. Addresses of host memory are those that the device sees, below bit 60.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ActKind {
    /// It waits until everything so far has run, and takes all completion records.
    Wait,
    /// It takes the next record of the completion ring, and waits for it.
    Take,
    /// It loads bytes.
    Load {
        /// Through a window to this tile; `None`: of host memory.
        tile: Option<Xy>,
        /// The first byte.
        addr: u64,
        /// How many.
        bytes: u32,
    },
    /// It stores bytes.
    Store {
        /// Through a window to this tile, or to all Tensix tiles of a rectangle but the queue's own; `None`: to host memory.
        tiles: Option<Rect>,
        /// The first byte, or a register.
        addr: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// It looks at memory of a tile until these bytes are there, or until nothing happens any more.
    Poll {
        /// The tile.
        tile: Xy,
        /// The first byte.
        addr: u64,
        /// What it waits for.
        bytes: Vec<u8>,
    },
    /// It pins memory, zeroed. Where memory is pinned already, that has this many bytes from now on.
    Pin {
        /// Where the device sees it.
        addr: u64,
        /// How many.
        bytes: u64,
    },
    /// It gives pinned memory back.
    Unpin {
        /// Where the device sees it.
        addr: u64,
    },
    /// It lets so many device cycles pass.
    Pause {
        /// How many.
        cycles: u64,
    },
}

impl Act {
    /// What a host does when so many records are queued, at an unknown time.
    pub fn new(before: usize, kind: ActKind) -> Act {
        Act { before, kind, queue: 0, cycle: 0, span: 0..0 }
    }
}
