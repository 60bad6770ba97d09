//! The matrix unit: its operands, products, and stores of the accumulator (micro-instruction manual 16).

pub(super) mod control;
mod controls;
pub(super) mod fill;
pub(super) mod load;
pub(super) mod mad;
pub(super) mod operand;
mod quant;
pub(super) mod store;
