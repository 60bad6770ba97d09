//! A stream of records, and the host actions between them.

use std::ops::Range;

use crate::capture::act::Act;
use crate::wire::Xy;

/// A recorded host stream, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Capture {
    /// Name of its board.
    pub board: String,
    /// Fields of the memory map that differ from the fixed configuration, by the names of
    /// [`Layout::NAMES`](crate::Layout::NAMES).
    pub layout: Vec<(String, u64)>,
    /// Whether there are two queues on the board, each with its own fetch queue and completion ring.
    pub two_queues: bool,
    /// Entries of the fetch queues, in the order in which the host queues them.
    pub entries: Vec<Entry>,
    /// The other host actions, in order.
    pub acts: Vec<Act>,
    /// Device memory to show after a run.
    pub dumps: Vec<Dump>,
}

/// An entry of the fetch queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// The value stored into the slot: size in 16-byte units, stall flag in bit 15.
    pub slot: u16,
    /// The bytes written into the issue region.
    pub bytes: Vec<u8>,
    /// Its queue, if there are two.
    pub queue: u8,
    /// Whether the host waits until everything before it has run.
    pub waits: bool,
    /// When the slot was stored, in device cycles; 0 if unknown.
    pub cycle: u64,
    /// Its location in the text, in bytes; empty if it is not from a text.
    pub span: Range<usize>,
    /// Lines of the text within it: the first byte that each represents, and its location.
    pub lines: Vec<(usize, Range<usize>)>,
}

/// Bytes of a tile's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dump {
    /// The tile.
    pub tile: Xy,
    /// First byte.
    pub addr: u64,
    /// Number of bytes.
    pub bytes: u32,
}

impl Entry {
    /// An entry whose slot gives its size.
    pub fn new(bytes: Vec<u8>) -> Entry {
        Entry { slot: (bytes.len() / 16) as u16, bytes, ..Entry::default() }
    }

    /// The location in the text of a byte of the entry; empty if it is not from a text.
    pub fn place(&self, at: Option<u32>) -> Range<usize> {
        let line = at.and_then(|at| self.lines.iter().rev().find(|(from, _)| *from <= at as usize));
        line.map_or_else(|| self.span.clone(), |(_, span)| span.clone())
    }

    /// Number of bytes that the device fetches for it.
    pub fn fetched(&self) -> u32 {
        fetched(self.slot)
    }

    /// Whether its slot has the stall flag.
    pub fn stalls(&self) -> bool {
        stalls(self.slot)
    }
}

/// Number of bytes that a slot makes the device fetch.
pub(crate) fn fetched(slot: u16) -> u32 {
    u32::from(slot & 0x7FFF) << 4
}

/// Whether a slot has the stall flag.
pub(crate) fn stalls(slot: u16) -> bool {
    slot & 0x8000 != 0
}
