//! Ranges of bytes in a memory of a board.

use crate::wire::Xy;

/// A memory, or the same addresses of all tiles of a rectangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Memory {
    Host,
    Bank(u32),
    Tile(Xy),
    /// Given by its word.
    Tiles(u32),
}

/// Bytes of a memory: start and end.
pub(crate) type Bytes = (Memory, u64, u64);

pub(super) fn meet(a: &Bytes, b: &Bytes) -> bool {
    a.0 == b.0 && a.1 < b.2 && b.1 < a.2
}
