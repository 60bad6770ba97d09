//! DMA: byte rows between global memory and local memories (micro-instruction manual 2 and 16; seed 004's older spellings).

mod grouped;
pub(super) mod older;

use slipring_effect::BurstArgs;
use slipring_op::decode::Decoder;
use slipring_op::def::{OpDef, OpRef, Reported};
use slipring_program::Operand;

use super::memory::{Memory, given};

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

/// Operands with the distances of bursts: from the end of one to the start of the next.
const GAPS: [&str; 2] = ["src_gap", "dst_gap"];
/// From start to start.
const STRIDES: [&str; 2] = ["src_stride", "dst_stride"];

/// The arguments of bursts up to the innermost level: ends, length, number and `distances`.
fn rows_of(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    (from, to): (&Memory, &Memory),
    distances: [&str; 2],
) -> Result<Vec<Operand>, Reported> {
    let mut args = BurstArgs { from: from.addr, to: to.addr, len: given(op, d, "len_burst")? }.list();
    for name in ["n_burst", distances[0], distances[1]] {
        args.push(given(op, d, name)?);
    }
    Ok(args)
}
