//! Lane kernels of vector instructions that differ from the tile op of the same name.

use slipring_tile::{Binary, Ternary, Unary, binary, ternary, unary};

/// 0 for negative values and for -0.0; NaN is kept.
pub(crate) static RELU: Unary = unary!(float: |a| if a <= 0.0 { 0.0 } else { a }, signed: |a| a.max(0));

/// Shifts by the count modulo the width of a lane.
pub(crate) static SHL: Binary = binary!(int: |a, b| a.wrapping_shl(b as u32));
pub(crate) static SHR: Binary = binary!(int: |a, b| a.wrapping_shr(b as u32));

/// `a` if it is at least 0, else `slope × a`.
pub(crate) static PRELU: Binary = binary!(float: |a, slope| if a >= 0.0 { a } else { slope * a });
/// `acc + a × b`, rounded once.
pub(crate) static MULA: Ternary =
    ternary!(float: |acc, a, b| a.mul_add(b, acc), int: |acc, a, b| a.wrapping_mul(b).wrapping_add(acc));
/// `alpha × a + b`, rounded once.
pub(crate) static AXPY: Ternary = ternary!(float: |a, b, alpha| alpha.mul_add(a, b));
/// The absolute value of floats and signed integers; the most negative integer stays what it is.
pub(crate) static SIGNED_ABS: Unary = unary!(float: |a| a.abs(), signed: |a| a.wrapping_abs());
