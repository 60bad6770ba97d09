//! Memrefs: buffers by another name. A memref in global memory is a view, one in a local memory a tile.

mod buffer;
mod cast;

pub use buffer::{ALLOC, DEALLOC, LOAD, STORE};
pub use cast::*;

use slipring_op::def::OpDef;

/// Its ops.
pub(crate) const OPS: &[&OpDef] = &[&ALLOC, &DEALLOC, &LOAD, &STORE, &cast::REINTERPRET_CAST];
