//! E8M0: a power of two in 8 bits, the scale of a block (OCP Microscaling formats 1.0).
//!
//! Code `c` is 2^(c − 127), `0xff` NaN; there is no zero, no sign and no infinity.

use super::round_up;
use crate::rounding::Saturation;

const NAN: u8 = 0xff;

/// The values of all codes.
pub(super) static VALUES: [f32; 256] = {
    let mut values = [0.0; 256];
    // 2^-127 is a subnormal f32.
    values[0] = f32::from_bits(1 << 22);
    let mut code = 1;
    while code < 255 {
        values[code] = f32::from_bits((code as u32) << 23);
        code += 1;
    }
    values[255] = f32::from_bits(0x7fc0_0000);
    values
};

/// Rounds the `f32` with the bits `x`. Values without a code (zero, negative numbers, NaN) become NaN whatever the
/// saturation. A positive number below 2^-127 becomes 2^-127. The one mantissa, 1, is odd: for ties, rounding to even
/// takes the larger power, and rounding to odd truncates.
#[inline(always)]
pub(super) fn narrow<const MODE: u8>(x: u32, saturation: Saturation) -> u8 {
    let exponent = x >> 23;
    let subnormal = exponent == 0;
    // Between 2^-127 and 2^-126 the step is half of the offset at which subnormal bits start.
    let (rest, half) = if subnormal { (x.max(1 << 22) - (1 << 22), 1 << 21) } else { (x & 0x7f_ffff, 1 << 22) };
    let code = exponent + round_up::<MODE>(1, rest, half, false);
    let infinite = x == 0x7f80_0000;
    let finite = (saturation != Saturation::Off) | (super::rounds_inward::<MODE>(false) & !infinite);
    let code = if code >= 255 { 255 - finite as u32 } else { code };
    if (x == 0) | (x > 0x7f80_0000) { NAN } else { code as u8 }
}
