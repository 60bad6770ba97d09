//! Inputs of products.

use slipring_program::arguments;

arguments! {
    /// Those of [`MatmulArgs`](super::MatmulArgs); the addresses of the scales of `a` and `b`, if they have any.
    pub struct MadArgs { a, b, dst, start, m, k, n, left_scales, right_scales }
}
