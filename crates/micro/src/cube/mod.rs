//! The matrix unit: its operands, products, and the way out of the accumulator (micro-instruction manual 16).

pub(super) mod control;
mod load;
mod mad;
mod quant;
mod store;

use slipring_op::def::OpDef;

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[
    &load::GM_L1_FRAC,
    &load::L1_L0A,
    &load::L1_L0B,
    &load::L1_L0A_MX,
    &load::L1_L0B_MX,
    &load::L1_BT,
    &load::LOAD_CBUF_TO_CA,
    &mad::MAD,
    &mad::MAD_ACC,
    &mad::MAD_BIAS,
    &mad::MAD_MX,
    &mad::MAD_MX_ACC,
    &mad::MAD_MX_BIAS,
    &store::L0C_GM,
    &store::L0C_L1,
    &store::L0C_UB,
    &control::GET_CTRL,
    &control::SET_CTRL,
    &control::SBITSET0,
    &control::SBITSET1,
];
