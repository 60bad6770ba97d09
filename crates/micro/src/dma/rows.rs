//! Row arguments of a copy.

use slipring_effect::BurstArgs;
use slipring_op::decode::Decoder;
use slipring_op::def::{OpRef, Reported};
use slipring_program::Operand;

use crate::memory::{Memory, given};

/// Operands with gaps between bursts, from the end of one to the start of the next.
pub(crate) const GAPS: [&str; 2] = ["src_gap", "dst_gap"];

/// Operands with strides of bursts, from start to start.
pub(crate) const STRIDES: [&str; 2] = ["src_stride", "dst_stride"];

/// The arguments of bursts up to the innermost level: addresses, length, number and `distances`.
pub(crate) fn rows_of(
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
