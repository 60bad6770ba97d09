//! DMA: byte rows between global memory and local memories (micro-instruction manual 2 and 16; seed 004's older spellings).

pub(super) mod grouped;
pub(super) mod older;
mod rows;
