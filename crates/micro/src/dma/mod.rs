//! DMA: byte rows between global memory and local memories (micro-instruction manual 2 and 16; seed 004's older spellings).

mod grouped;
pub(super) mod older;
mod rows;

use slipring_op::def::OpDef;

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[
    &grouped::GM_UB,
    &grouped::UB_GM,
    &grouped::UB_UB,
    &grouped::UB_L1,
    &grouped::GM_L1,
    &grouped::L1_UB,
    &grouped::L1_FB,
];
