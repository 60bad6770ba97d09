//! Matrix products, as declarations say them.

/// A matrix product of two tiles. `dst[i, j] = start + lhs[i, 0] × rhs[0, j] + …`, one chain of sums in ascending order of k, so that
/// it may be cut anywhere: the rest starts from what the first part left in `dst`. Every product declares the operands [`Product::LHS`],
/// [`Product::RHS`] and [`Product::DST`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// What the sums start from.
    pub start: ProductStart,
    /// True where the left operand is one row, and k is the right operand's.
    pub vector: bool,
}

impl Product {
    /// The left operand, m × k.
    pub const LHS: &str = "lhs";
    /// The right operand, k × n.
    pub const RHS: &str = "rhs";
    /// The accumulator, m × n.
    pub const DST: &str = "dst";
}

/// What the sums of a product start from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProductStart {
    /// Zero.
    Zero,
    /// The accumulator that this operand is.
    Acc(&'static str),
    /// The row of bias values that this operand is.
    Bias(&'static str),
}
