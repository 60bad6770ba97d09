//! The matrix unit: its operands, products, and stores of the accumulator (micro-instruction manual 16).

pub(super) mod control;
pub(super) mod fill;
pub(super) mod load;
pub(super) mod mad;
mod quant;
pub(super) mod store;
