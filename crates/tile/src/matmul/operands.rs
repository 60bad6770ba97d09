//! The inputs of a product, and the pieces in which it is computed.

use crate::Layout;

/// The initial value of the accumulation.
#[derive(Clone, Copy, Debug)]
pub enum Init<'a> {
    /// Zero; the old contents of the accumulator are not read.
    Zero,
    /// The old contents of the accumulator.
    Acc,
    /// One value for each of the `n` columns, as little-endian bytes of the accumulator's type.
    Bias(&'a [u8]),
}

/// Bytes of one row of a strip: 16 accumulator elements.
pub(crate) const STRIP: usize = 64;

/// A product whose operands have been checked.
pub(crate) struct Operands<'a> {
    pub(crate) a: &'a [u8],
    pub(crate) a_layout: &'a Layout,
    pub(crate) b: &'a [u8],
    pub(crate) b_layout: &'a Layout,
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) init: Init<'a>,
}

/// Columns of a panel. A matrix is packed as panels of 32 columns; within each the rows are consecutive, so the kernel
/// reads A and B from a few addresses at constant distances.
pub(super) const PANEL: usize = 32;
