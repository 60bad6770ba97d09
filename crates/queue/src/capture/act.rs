//! What a host does besides queueing records.

use std::ops::Range;

use crate::wire::Xy;

/// Something that the host does in front of a record, or after the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Act {
    /// How many records are queued before it.
    pub before: usize,
    /// What it is.
    pub kind: ActKind,
    /// When, in device cycles; 0 where that is not known.
    pub cycle: u64,
    /// Where the text has it, in bytes; empty if it is from no text.
    pub span: Range<usize>,
}

/// What a host does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActKind {
    /// It waits until everything so far has run, and takes all completion records.
    Wait,
    /// It takes the next record of the completion ring, and waits for it.
    Take,
    /// It loads bytes.
    Load {
        /// Through a window to this tile; `None`: of host memory, at an address as the device sees it, below bit 60.
        tile: Option<Xy>,
        /// The first byte.
        addr: u64,
        /// How many.
        bytes: u32,
    },
}

impl Act {
    /// What a host does when so many records are queued, at an unknown time.
    pub fn new(before: usize, kind: ActKind) -> Act {
        Act { before, kind, cycle: 0, span: 0..0 }
    }
}
