//! What the operations compute for one element.
//!
//! Floats are computed in `f32` and rounded once where they are narrower; NaN results are the canonical NaN.

use slipring_tile::{Binary, Ternary, Unary, binary, math, ternary, unary};

pub(super) static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));
pub(super) static SUB: Binary = binary!(float: |a, b| a - b, int: |a, b| a.wrapping_sub(b));
pub(super) static MUL: Binary = binary!(float: |a, b| a * b, int: |a, b| a.wrapping_mul(b));
pub(super) static DIV: Binary = binary!(float: |a, b| a / b, int: |a, b| if b == 0 { 0 } else { a.wrapping_div(b) });
pub(super) static MAX: Binary = binary!(float: |a, b| math::maximum(a, b), int: |a, b| a.max(b));
pub(super) static MIN: Binary = binary!(float: |a, b| math::minimum(a, b), int: |a, b| a.min(b));
pub(super) static EXP_DIF: Binary = binary!(float: |a, b| math::exp(a - b));

/// Remainder of the division rounded towards zero: the sign of the dividend.
pub(super) static FMOD: Binary = binary!(float: |a, b| a % b, int: |a, b| if b == 0 { a } else { a.wrapping_rem(b) });

/// Remainder of the division rounded down: the sign of the divisor.
pub(super) static REM: Binary = binary!(
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

pub(super) static AND: Binary = binary!(int: |a, b| a & b);
pub(super) static OR: Binary = binary!(int: |a, b| a | b);
pub(super) static XOR: Binary = binary!(int: |a, b| a ^ b);

/// Shifts by the width or more, or by a negative number (read as unsigned), shift everything out.
pub(super) static SHL: Binary = binary!(int: |a, b| if fits(b as u64, size_of_val(&a)) { a << b } else { 0 });
pub(super) static SHR: Binary = binary!(
    signed: |a, b| if fits(b as u64, size_of_val(&a)) { a >> b } else { a >> (8 * size_of_val(&a) - 1) },
    unsigned: |a, b| if fits(b as u64, size_of_val(&a)) { a >> b } else { 0 },
);

fn fits(shift: u64, bytes: usize) -> bool {
    shift < 8 * bytes as u64
}

/// `a` where it is positive, `slope * a` elsewhere.
pub(super) static PRELU: Binary = binary!(float: |a, slope| if a > 0.0 { a } else { slope * a });

pub(super) static ADD_ADD: Ternary =
    ternary!(float: |a, b, c| a + b + c, int: |a, b, c| a.wrapping_add(b).wrapping_add(c));
pub(super) static SUB_ADD: Ternary =
    ternary!(float: |a, b, c| a - b + c, int: |a, b, c| a.wrapping_sub(b).wrapping_add(c));

/// `a * b + c` rounded once.
pub(super) static AXPY: Ternary = ternary!(float: |a, b, c| a.mul_add(b, c));

pub(super) static ABS: Unary = unary!(float: |a| a.abs(), signed: |a| a.wrapping_abs(), unsigned: |a| a);
pub(super) static NEG: Unary = unary!(float: |a| -a, signed: |a| a.wrapping_neg());
pub(super) static EXP: Unary = unary!(float: |a| math::exp(a));
pub(super) static LOG: Unary = unary!(float: |a| math::ln(a));
pub(super) static SQRT: Unary = unary!(float: |a| math::sqrt(a));
pub(super) static RSQRT: Unary = unary!(float: |a| math::rsqrt(a));
pub(super) static RECIP: Unary = unary!(float: |a| math::recip(a));
pub(super) static RELU: Unary = unary!(float: |a| math::maximum(a, 0.0), signed: |a| a.max(0), unsigned: |a| a);
pub(super) static NOT: Unary = unary!(int: |a| !a);
