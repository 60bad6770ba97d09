//! What happens to elements on their way: conversion, ReLU, scaling, atomic addition.

use slipring_tile::copy::{Cast, OutOfBounds, View, copy, read_row, write_row};
use slipring_tile::{Binary, Elem, RoundMode, Unary, binary, convert, load_f32, store_f32, unary};

/// Elements worked on together.
const CHUNK: usize = 256;

static RELU: Unary = unary!(float: |a| if a < 0.0 { 0.0 } else { a }, signed: |a| a.max(0));
static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));

/// What a move does to each element, in this order: ReLU in the source's type (−0 and NaN stay); multiplication by
/// the scale, in `f32`; conversion to the destination's type, once, to the nearest with ties to even, integers
/// saturating; addition to what the destination holds, in its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Finish {
    /// Negative values become 0.
    pub relu: bool,
    /// Multiply by the scale of the run-time argument.
    pub scaled: bool,
    /// Add to the destination instead of replacing it.
    pub add: bool,
}

impl Finish {
    /// Moves `rows` × `cols` elements. `scale` counts only where `scaled`.
    ///
    /// # Errors
    /// If the rectangle does not lie within its bytes.
    #[allow(clippy::too_many_arguments)]
    pub fn run(
        self,
        dst: &mut [u8],
        to: &View,
        src: &[u8],
        from: &View,
        rows: usize,
        cols: usize,
        scale: f32,
    ) -> Result<(), OutOfBounds> {
        if self == Finish::default() {
            let cast = Cast { mode: RoundMode::Rint, saturation: (!to.elem.is_float()).into() };
            return copy(dst, to, src, from, rows, cols, cast);
        }
        if !to.holds(rows, cols, dst.len()) || !from.holds(rows, cols, src.len()) {
            return Err(OutOfBounds);
        }
        let (mut taken, mut given, mut old) = ([0; CHUNK * 8], [0; CHUNK * 8], [0; CHUNK * 8]);
        let mut wide = [0f32; CHUNK];
        for row in 0..rows {
            for col in (0..cols).step_by(CHUNK) {
                let n = (cols - col).min(CHUNK);
                let taken = &mut taken[..n * from.elem.bytes()];
                let given = &mut given[..n * to.elem.bytes()];
                read_row(src, from, row, col, taken);
                if self.relu {
                    let before = &mut old[..taken.len()];
                    before.copy_from_slice(taken);
                    RELU.run(from.elem, before, taken);
                }
                if self.scaled {
                    let wide = &mut wide[..n];
                    load_f32(from.elem, taken, wide);
                    wide.iter_mut().for_each(|x| *x *= scale);
                    store_f32(to.elem, wide, given);
                } else {
                    convert(from.elem, taken, to.elem, given, RoundMode::Rint, !to.elem.is_float());
                }
                if self.add {
                    let old = &mut old[..given.len()];
                    read_row(dst, to, row, col, old);
                    ADD.run_in_place(to.elem, given, old);
                }
                write_row(dst, to, row, col, given);
            }
        }
        Ok(())
    }
}

/// The bytes of a tile's padding value: `pad` 1 zero, 2 the largest, 3 the smallest value (infinities for floats
/// that have them). `None` where the tile asks for none.
pub fn pad_value(elem: Elem, pad: u8) -> Option<[u8; 8]> {
    let bits: u64 = match (pad, elem) {
        (1, _) => 0,
        (2, Elem::F32) => 0x7f80_0000,
        (3, Elem::F32) => 0xff80_0000,
        (2, Elem::F16) => 0x7c00,
        (3, Elem::F16) => 0xfc00,
        (2, Elem::BF16) => 0x7f80,
        (3, Elem::BF16) => 0xff80,
        (2, Elem::F8E5M2) => 0x7c,
        (3, Elem::F8E5M2) => 0xfc,
        (2, Elem::F8E4M3) => 0x7e,
        (3, Elem::F8E4M3) => 0xfe,
        (2, Elem::F8E8M0) => 0xfe,
        (2, Elem::HiF8) => 0x6f,
        (3, Elem::HiF8) => 0xef,
        (2, Elem::F4E2M1x2 | Elem::F4E1M2x2) => 0x77,
        (3, Elem::F4E2M1x2 | Elem::F4E1M2x2) => 0xff,
        (2, e) if e.is_signed_int() => u64::MAX >> (65 - 8 * e.bytes()),
        (3, e) if e.is_signed_int() => 1 << (8 * e.bytes() - 1),
        (2, _) => u64::MAX,
        (3, _) => 0,
        _ => return None,
    };
    Some(bits.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(finish: Finish, from: Elem, src: &[u8], to: Elem, dst: &mut [u8], n: usize, scale: f32) {
        let view = |elem: Elem| View::strided(elem, 0, 0, elem.bytes());
        finish.run(dst, &view(to), src, &view(from), 1, n, scale).unwrap();
    }

    #[test]
    fn relu_scale_conversion_and_addition_in_that_order() {
        let src: Vec<u8> = [-3.0f32, 1.5, 2.5, 1e9].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut dst = [10u8, 10, 10, 10];
        let all = Finish { relu: true, scaled: true, add: true };
        run(all, Elem::F32, &src, Elem::I8, &mut dst, 4, 1.0);
        // 0, 2 (ties to even), 2 (ties to even), 127 (saturated), each plus 10; the last wraps.
        assert_eq!(dst, [10, 12, 12, 137]);

        let ints: Vec<u8> = [-5i32, 20_000_001, 7].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut out = [0u8; 12];
        run(Finish { relu: true, ..Finish::default() }, Elem::I32, &ints, Elem::I32, &mut out, 3, 0.0);
        assert_eq!(&out[..4], &0i32.to_le_bytes());
        assert_eq!(&out[4..8], &20_000_001i32.to_le_bytes());
    }

    #[test]
    fn padding_values() {
        assert_eq!(pad_value(Elem::F32, 0), None);
        assert_eq!(pad_value(Elem::F32, 3).unwrap()[..4], f32::NEG_INFINITY.to_le_bytes());
        assert_eq!(pad_value(Elem::I8, 2).unwrap()[0], 127);
        assert_eq!(pad_value(Elem::I16, 3).unwrap()[..2], i16::MIN.to_le_bytes());
        assert_eq!(pad_value(Elem::I64, 2).unwrap(), i64::MAX.to_le_bytes());
        assert_eq!(pad_value(Elem::U16, 2).unwrap()[..2], u16::MAX.to_le_bytes());
    }
}
