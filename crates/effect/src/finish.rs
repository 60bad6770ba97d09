//! Processing of elements in transit: conversion, ReLU, scaling, atomic addition.

use slipring_machine::Role;
use slipring_program::{Env, Extent, Memory};
use slipring_tile::copy::{Cast, OutOfBounds, View, copy, read_row, write_row};
use slipring_tile::{Binary, Elem, RoundMode, Space, Unary, binary, convert, load_f32, store_f32, unary};

use super::fixpipe::{Entry, Payload};

/// Elements processed together.
const CHUNK: usize = 256;

static RELU: Unary = unary!(float: |a| if a <= 0.0 { 0.0 } else { a }, signed: |a| a.max(0));
static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));

/// The processing of each element in a move, in this order: ReLU in the source's type (−0 becomes 0, NaN stays);
/// multiplication by the scale, in `f32`; conversion to the destination's type, once, to the nearest with ties to even,
/// integers saturating; addition to what the destination holds, in its type. With a table of scales, ReLU comes after
/// the multiplication and the entry's offset, and the entry determines the range of an integer ([`Entry`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Finish {
    /// Negative values become 0.
    pub relu: bool,
    /// Multiply by the scale in the run-time argument, or by those of a table at the address in it.
    pub scale: Option<Payload>,
    /// Add to the destination instead of replacing it.
    pub add: bool,
}

/// The scales of a move at run time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scales<'a> {
    /// One for all elements.
    pub number: f32,
    /// An 8-byte entry for each column of the tile, starting at the first one that moves ([`Entry`]).
    pub table: &'a [u8],
}

impl Scales<'_> {
    /// The scales of the columns from `col`.
    pub fn from_column(self, col: u32) -> Self {
        Scales { table: self.table.get(col as usize * 8..).unwrap_or_default(), ..self }
    }

    fn entry(&self, col: usize) -> Entry {
        let bytes = self.table.get(col * 8..).and_then(<[u8]>::first_chunk);
        Entry(bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }
}

impl Finish {
    /// Adds the bytes of the table of scales for this many columns, if there is one.
    pub(super) fn reads_table(&self, core: Role, address: u64, cols: u32, reads: &mut Vec<Extent>) {
        if self.scale == Some(Payload::Table) && cols > 0 {
            reads.push(Extent::run(Space::Scaling, core, address, cols * 8));
        }
    }

    /// A copy of the table of scales for this many columns, if there is one.
    pub(super) fn table(&self, env: Env, memory: &Memory, core: Role, address: u64, cols: u32) -> Vec<u8> {
        if self.scale != Some(Payload::Table) || cols == 0 {
            return Vec::new();
        }
        let (bytes, at) = memory.locate(env, core, Space::Scaling, address);
        bytes[at..].iter().take(cols as usize * 8).copied().collect()
    }

    /// Applies the entries of columns `first` and following to values of the accumulator.
    fn by_table(self, values: &mut [f32], scales: Scales<'_>, first: usize, elem: Elem, out: &mut [u8]) {
        let size = elem.bytes();
        for (at, x) in values.iter_mut().enumerate() {
            let entry = scales.entry(first + at);
            *x = entry.scaled(*x, !elem.is_float());
            if self.relu && *x < 0.0 {
                *x = 0.0;
            }
            if !elem.is_float() {
                out[at * size..][..size].copy_from_slice(&entry.clamped(*x, size).to_le_bytes()[..size]);
            }
        }
        if elem.is_float() {
            store_f32(elem, values, out);
        }
    }

    /// Moves `rows` × `cols` elements. `scales` are used only with a `scale`.
    ///
    /// # Errors
    /// If the rectangle is not within its bytes.
    #[allow(clippy::too_many_arguments)]
    pub fn run(
        self,
        dst: &mut [u8],
        to: &View,
        src: &[u8],
        from: &View,
        rows: usize,
        cols: usize,
        scales: Scales<'_>,
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
                if self.relu && self.scale != Some(Payload::Table) {
                    let before = &mut old[..taken.len()];
                    before.copy_from_slice(taken);
                    RELU.run(from.elem, before, taken);
                }
                match self.scale {
                    Some(payload) => {
                        let wide = &mut wide[..n];
                        load_f32(from.elem, taken, wide);
                        if payload == Payload::Table {
                            self.by_table(wide, scales, col, to.elem, given);
                        } else {
                            wide.iter_mut().for_each(|x| *x *= scales.number);
                            store_f32(to.elem, wide, given);
                        }
                    }
                    None => convert(from.elem, taken, to.elem, given, RoundMode::Rint, !to.elem.is_float()),
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

/// Padding with the largest and the smallest finite value of a float.
const FINITE_MAX: u8 = 4;
const FINITE_MIN: u8 = 5;

/// The padding mode of a tile when extreme float values are interpreted as finite.
pub const fn finite_pad(pad: u8) -> u8 {
    match pad {
        2 => FINITE_MAX,
        3 => FINITE_MIN,
        pad => pad,
    }
}

/// True if finite values and infinities are different paddings.
pub fn pads_with_infinity(elem: Elem, pad: u8) -> bool {
    matches!(pad, 2 | 3) && pad_value(elem, pad) != pad_value(elem, finite_pad(pad))
}

/// The bytes of a tile's padding value: `pad` 1 zero, 2 the largest, 3 the smallest value (infinities for f32, f16 and
/// bf16; 0 for narrower floats, as in the device headers). `None` if the tile has no padding.
pub fn pad_value(elem: Elem, pad: u8) -> Option<[u8; 8]> {
    let bits: u64 = match (pad, elem) {
        (FINITE_MAX, Elem::F32) => 0x7f7f_ffff,
        (FINITE_MIN, Elem::F32) => 0xff7f_ffff,
        (FINITE_MAX, Elem::F16) => 0x7bff,
        (FINITE_MIN, Elem::F16) => 0xfbff,
        (FINITE_MAX, Elem::BF16) => 0x7f7f,
        (FINITE_MIN, Elem::BF16) => 0xff7f,
        (FINITE_MAX, _) => return pad_value(elem, 2),
        (FINITE_MIN, _) => return pad_value(elem, 3),
        (1, _) => 0,
        (2 | 3, elem) if elem.is_small_float() => 0,
        (2, Elem::F32) => 0x7f80_0000,
        (3, Elem::F32) => 0xff80_0000,
        (2, Elem::F16) => 0x7c00,
        (3, Elem::F16) => 0xfc00,
        (2, Elem::BF16) => 0x7f80,
        (3, Elem::BF16) => 0xff80,
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
        let scales = Scales { number: scale, table: &[] };
        finish.run(dst, &view(to), src, &view(from), 1, n, scales).unwrap();
    }

    #[test]
    fn relu_scale_conversion_and_addition_in_that_order() {
        let src: Vec<u8> = [-3.0f32, 1.5, 2.5, 1e9].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut dst = [10u8, 10, 10, 10];
        let all = Finish { relu: true, scale: Some(Payload::Scalar), add: true };
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
    fn columns_have_scales_offsets_and_ranges_of_their_own() {
        let entry = |scale: f32, offset: u64, signed: u64| u64::from(scale.to_bits()) | offset << 37 | signed << 46;
        let entries = [entry(0.5, 0, 1), entry(2.0, 0x1ff, 1), entry(1.0, 0, 0), entry(1.0, 4, 1), entry(1.0, 0, 0)];
        let table: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let src: Vec<u8> = [10.0f32, -3.0, 2.5, 1000.0, -7.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let moved = |relu, to: Elem, first| {
            let view = |elem: Elem| View::strided(elem, 0, 0, elem.bytes());
            let mut dst = vec![0; 5 * to.bytes()];
            let scales = Scales { number: 7.0, table: &table }.from_column(first);
            let finish = Finish { relu, scale: Some(Payload::Table), add: false };
            finish.run(&mut dst, &view(to), &src, &view(Elem::F32), 1, 5, scales).unwrap();
            dst
        };
        // 5; -6 - 1; 2 (ties to even); 1004 beyond 127; -7 beyond 0.
        assert_eq!(moved(false, Elem::I8, 0), [5, 0xf9, 2, 127, 0]);
        assert_eq!(moved(true, Elem::I8, 0), [5, 0, 2, 127, 0]);
        // From the second column on: 20 - 1, 0 at least, 6.5 without its half, 255 at most; after the table all is 0.
        assert_eq!(moved(false, Elem::I8, 1), [19, 0, 6, 255, 0]);
        let floats: Vec<u8> = [5.0f32, -6.0, 2.5, 1000.0, -7.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(moved(false, Elem::F32, 0), floats);
    }

    #[test]
    fn padding_values() {
        assert_eq!(pad_value(Elem::F32, 0), None);
        assert_eq!(pad_value(Elem::F32, 3).unwrap()[..4], f32::NEG_INFINITY.to_le_bytes());
        assert_eq!(pad_value(Elem::I8, 2).unwrap()[0], 127);
        assert_eq!(pad_value(Elem::I16, 3).unwrap()[..2], i16::MIN.to_le_bytes());
        assert_eq!(pad_value(Elem::I64, 2).unwrap(), i64::MAX.to_le_bytes());
        assert_eq!(pad_value(Elem::U16, 2).unwrap()[..2], u16::MAX.to_le_bytes());
        for elem in Elem::ALL.into_iter().filter(|elem| elem.is_small_float()) {
            assert_eq!([1, 2, 3].map(|pad| pad_value(elem, pad)), [Some([0; 8]); 3], "{elem}");
        }
    }
}
