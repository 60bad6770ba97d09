//! DMA: byte rows between global memory and local memories (micro-instruction manual 2; seed 004's older spellings).

mod grouped;

use crate::def::OpDef;

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&grouped::GM_UB, &grouped::UB_GM];
