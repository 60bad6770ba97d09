//! DMA: byte rows between global memory and local memories (micro-instruction manual 2 and 16; older spellings of seed
//! 004).

pub(super) mod grouped;
pub(super) mod older;
mod rows;
