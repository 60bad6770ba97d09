//! Declarations of matrix products.

/// A matrix product of two tiles. `dst[i, j] = start + lhs[i, 0] × rhs[0, j] + …`, summed strictly in ascending order
/// of k. It can therefore be cut at any k: the second part starts from the result of the first part in `dst`. Every
/// product declares the operands [`Product::LHS`], [`Product::RHS`] and [`Product::DST`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    /// The initial value of the sums.
    pub start: ProductStart,
    /// True if the left operand is a single row, and k is taken from the right operand.
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

/// The initial value of the sums of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProductStart {
    /// Zero.
    Zero,
    /// The accumulator in this operand.
    Acc(&'static str),
    /// The row of bias values in this operand.
    Bias(&'static str),
}
