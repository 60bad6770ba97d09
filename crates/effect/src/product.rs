//! What products take.

use slipring_program::arguments;

arguments! {
    /// Those of [`MatmulArgs`](super::MatmulArgs); the addresses of the scales of `a` and `b`, where it has any.
    pub struct MadArgs { a, b, dst, start, m, k, n, left_scales, right_scales }
}
