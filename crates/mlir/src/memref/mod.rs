//! Memrefs: an alternative form of buffers. A memref in global memory is a view, one in a local memory is a tile.

pub(super) mod buffer;
pub(super) mod cast;

pub use buffer::{ALLOC, DEALLOC, LOAD, STORE};
pub use cast::*;
