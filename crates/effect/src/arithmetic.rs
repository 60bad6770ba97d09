//! Arithmetic of the operations on one element.
//!
//! Floats are computed in `f32`, and narrower types are rounded once; a NaN result is the canonical NaN.

// Most are explained by their names.
#![allow(missing_docs)]

use slipring_tile::{Binary, Ternary, Unary, binary, math, ternary, unary};

pub static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));
pub static SUB: Binary = binary!(float: |a, b| a - b, int: |a, b| a.wrapping_sub(b));
pub static MUL: Binary = binary!(float: |a, b| a * b, int: |a, b| a.wrapping_mul(b));
pub static DIV: Binary = binary!(float: |a, b| a / b, int: |a, b| if b == 0 { 0 } else { a.wrapping_div(b) });
pub static MAX: Binary = binary!(float: |a, b| math::maximum(a, b), int: |a, b| a.max(b));
pub static MIN: Binary = binary!(float: |a, b| math::minimum(a, b), int: |a, b| a.min(b));
pub static EXP_DIF: Binary = binary!(float: |a, b| math::exp(a - b), half: |a, b| math::exp(math::half(a - b)));

/// Remainder of the division rounded towards zero: the sign of the dividend.
pub static FMOD: Binary = binary!(float: |a, b| a % b, int: |a, b| if b == 0 { a } else { a.wrapping_rem(b) });

/// Remainder of the division rounded down: the sign of the divisor.
pub static REM: Binary = binary!(
    float: |a, b| {
        let r = a % b;
        if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
    },
    signed: |a, b| if b == 0 {
        a
    } else {
        let r = a.wrapping_rem(b);
        if r != 0 && (r < 0) != (b < 0) { r.wrapping_add(b) } else { r }
    },
    unsigned: |a, b| if b == 0 { a } else { a % b },
);

pub static AND: Binary = binary!(int: |a, b| a & b);
pub static OR: Binary = binary!(int: |a, b| a | b);
pub static XOR: Binary = binary!(int: |a, b| a ^ b);

/// Shifts by the width or more, or by a negative number (interpreted as unsigned), shift everything out.
pub static SHL: Binary = binary!(int: |a, b| if fits(b as u64, size_of_val(&a)) { a << b } else { 0 });
pub static SHR: Binary = binary!(
    signed: |a, b| if fits(b as u64, size_of_val(&a)) { a >> b } else { a >> (8 * size_of_val(&a) - 1) },
    unsigned: |a, b| if fits(b as u64, size_of_val(&a)) { a >> b } else { 0 },
);

fn fits(shift: u64, bytes: usize) -> bool {
    shift < 8 * bytes as u64
}

/// `a` if it is positive, otherwise `slope * a`.
pub static PRELU: Binary = binary!(float: |a, slope| if a > 0.0 { a } else { slope * a });

pub static ADD_ADD: Ternary = ternary!(float: |a, b, c| a + b + c, int: |a, b, c| a.wrapping_add(b).wrapping_add(c));
pub static SUB_ADD: Ternary = ternary!(float: |a, b, c| a - b + c, int: |a, b, c| a.wrapping_sub(b).wrapping_add(c));

/// `a * b + c` rounded once.
pub static AXPY: Ternary = ternary!(float: |a, b, c| a.mul_add(b, c));
/// As [`AXPY`], but for `f16` the product is rounded to `f16` before the addition.
pub static AXPY_STEPS: Ternary = ternary!(float: |a, b, c| a.mul_add(b, c), half: |a, b, c| math::half(a * b) + c);

/// Powers of floats, and of integers, which wrap; a negative power of an integer is 0 except for 1 and -1.
macro_rules! power {
    (|$a:ident, $b:ident| $float:expr) => {
        binary!(
            float: |$a, $b| $float,
            signed: |a, b| match (a, b < 0) {
                (_, false) => a.wrapping_pow(b as u32),
                (1, true) => 1,
                (-1, true) => if b & 1 == 0 { 1 } else { -1 },
                (_, true) => 0,
            },
            unsigned: |a, b| a.wrapping_pow(b as u32),
        )
    };
}

/// The power, rounded to the nearest.
pub static POW: Binary = power!(|a, b| math::pow(a, b));

/// The power on memory-based units, whose library handles signs and special cases element by element: zeros have no
/// sign, and non-integral powers are computed through a logarithm.
pub static POW_IN_STEPS: Binary = power!(|a, b| if b == 0.0 {
    1.0
} else if a == 0.0 {
    if b > 0.0 { 0.0 } else { f32::INFINITY }
} else if a == 1.0 && !b.is_finite() || a < 0.0 && b.trunc() != b {
    math::NAN
} else {
    math::pow(a, b)
});

/// `c * a + b`, where `c` is the destination, rounded once; for `f16` the product is rounded first.
pub static SCALE_ADD: Ternary = ternary!(float: |a, b, c| a.mul_add(c, b), half: |a, b, c| math::half(a * c) + b);
/// As [`SCALE_ADD`], with 0 for negative results.
pub static SCALE_ADD_RELU: Ternary = ternary!(
    float: |a, b, c| math::maximum(a.mul_add(c, b), 0.0),
    half: |a, b, c| math::maximum(math::half(math::half(a * c) + b), 0.0),
);
/// A difference, with 0 for negative results.
pub static SUB_RELU: Binary = binary!(float: |a, b| math::maximum(a - b, 0.0));
/// A sum, with 0 for negative results, in the type of the operands.
pub static ADD_RELU: Binary = binary!(
    float: |a, b| math::maximum(a + b, 0.0),
    half: |a, b| math::maximum(math::half(a + b), 0.0),
    signed: |a, b| a.wrapping_add(b).max(0)
);
/// `a` times a scale, with 0 for negative results: scaled through 2^-17, which keeps large sums within the range of
/// `f16` products.
pub static SCALED_RELU: Binary = binary!(float: |a, scale| math::maximum(a * (1.0 / 131072.0) * scale * 131072.0, 0.0));

pub static ABS: Unary = unary!(float: |a| a.abs(), signed: |a| a.wrapping_abs(), unsigned: |a| a);
pub static NEG: Unary = unary!(float: |a| -a, signed: |a| a.wrapping_neg(), unsigned: |a| a.wrapping_neg());
pub static EXP: Unary = unary!(float: |a| math::exp(a));
pub static LOG: Unary = unary!(float: |a| math::ln(a));
pub static SQRT: Unary = unary!(float: |a| math::sqrt(a));
pub static RSQRT: Unary = unary!(
    float: |a| math::recip(math::sqrt(a)),
    half: |a| math::recip(math::half(math::sqrt(a)))
);
pub static RECIP: Unary = unary!(float: |a| math::recip(a));
pub static RELU: Unary = unary!(float: |a| math::maximum(a, 0.0), signed: |a| a.max(0), unsigned: |a| a);
pub static NOT: Unary = unary!(int: |a| !a);
