//! Quantisation of groups of 32 elements to short floats with shared exponents (OCP microscaling formats).

use slipring_program::{Access, Effect, Env, Extent, Fault, Run};
use slipring_tile::{Elem, RoundMode, Saturation, convert, load_f32};

use super::{Local, TileArg, tile_units};
use crate::scaled::SCALE_GROUP;

/// Elements of a group.
pub const GROUP: u32 = SCALE_GROUP as u32;
/// Bytes that a store of the vector unit writes.
const STORE: u32 = 256;
/// The shared exponent of a group with a NaN.
const NAN_EXPONENT: u8 = 0xff;
/// The largest exponent of a finite scale.
const MOST_EXPONENT: u32 = 0xfe;

/// How the shared exponent of a group is found from its largest magnitude.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharedExponent {
    /// Its own exponent, minus that of the largest number of the result.
    Exponent,
    /// The smallest power of two with which the largest magnitude fits.
    Ceiling,
}

/// Where the groups are, and how their results are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Groups {
    /// Groups of columns. Maxima and scales are contiguous; exponents too if `flat`.
    Columns {
        /// The exponents are one row.
        flat: bool,
    },
    /// Groups of rows. The exponents of two groups alternate in a row if `interleaved`.
    Rows {
        /// See above.
        interleaved: bool,
    },
}

/// Quantises each group of a tile: `exp` is the shared exponent (biased by 127), `max` the largest magnitude, `scaling`
/// the reciprocal of the scale, by which elements are multiplied before they are rounded to the nearest, ties to even.
///
/// Tiles have static valid shapes. 16-bit sources leave bf16 in `scaling`, and in `max` unless f16 is taken as it is
/// (`Ceiling`).
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct QuantiseGroups {
    pub local: Local,
    pub src: TileArg,
    pub dst: TileArg,
    pub exp: TileArg,
    pub max: TileArg,
    pub scaling: TileArg,
    pub rule: SharedExponent,
    pub groups: Groups,
}

/// The results for a group.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Shared {
    exponent: u8,
    /// The bits of the scale's reciprocal in f32.
    reciprocal: u32,
}

impl QuantiseGroups {
    /// Rows and columns of groups.
    fn counts(&self, (rows, cols): (u32, u32)) -> (u32, u32) {
        match self.groups {
            Groups::Columns { .. } => (rows, cols / GROUP),
            Groups::Rows { .. } => (rows / GROUP, cols),
        }
    }

    /// Whether f32 is quantised two registers at a time, with each scale twice: the library's condition.
    pub fn unrolled(&self, rows: u32) -> bool {
        let (all, lines) = (self.src.layout.rows * self.src.layout.cols, rows * self.src.layout.cols);
        let flat = self.groups == Groups::Columns { flat: true };
        flat && self.src.layout.elem == Elem::F32 && all > 1024 && all % 256 == 0 && lines % 256 == 0
    }

    /// The elements of the tile of scales that are written, and those whose bytes are clobbered: stores write whole
    /// registers.
    pub fn scales(&self, shape @ (rows, _): (u32, u32)) -> (u32, u32) {
        let (group_rows, group_cols) = self.counts(shape);
        let written = group_rows * group_cols * if self.unrolled(rows) { 2 } else { 1 };
        match self.groups {
            Groups::Columns { flat: true } => {
                (written, written.next_multiple_of(STORE / self.scaling.layout.elem.bytes() as u32))
            }
            _ => (written, written),
        }
    }

    /// Element `k` of a group in the source and in the result.
    fn element(&self, (row, col): (u32, u32), k: u32) -> (u32, u32) {
        match self.groups {
            Groups::Columns { .. } => (row, col * GROUP + k),
            Groups::Rows { .. } => (row * GROUP + k, col),
        }
    }

    /// The offset in bytes of a group's exponent.
    fn exponent_at(&self, (row, col): (u32, u32), group_cols: u32) -> usize {
        match self.groups {
            Groups::Columns { flat: true } => (row * group_cols + col) as usize,
            Groups::Rows { interleaved: true } => self.exp.layout.offset(row / 2, 2 * col + row % 2),
            _ => self.exp.layout.offset(row, col),
        }
    }

    /// The index of a group's number among the elements of a tile that holds one for each group.
    fn number_at(&self, tile: &TileArg, (row, col): (u32, u32), group_cols: u32) -> usize {
        match self.groups {
            Groups::Columns { .. } => (row * group_cols + col) as usize,
            Groups::Rows { .. } => tile.layout.offset(row, col) / tile.layout.elem.bytes(),
        }
    }

    /// The magnitude's bits in the type that the maximum is taken in, and their value in f32.
    fn magnitude(&self, bytes: &[u8]) -> (u32, f32) {
        let elem = self.src.layout.elem;
        let own = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let own = own & !(1 << (8 * bytes.len() - 1));
        let bits = match (elem, self.rule) {
            (Elem::F16, SharedExponent::Exponent) => to_bf16(own as u16),
            _ => own,
        };
        let narrow = match (elem, self.rule) {
            (Elem::F16, SharedExponent::Ceiling) => return (bits, widened(Elem::F16, &bits.to_le_bytes()[..2])),
            (Elem::F32, _) => bits,
            _ => bits << 16,
        };
        (bits, f32::from_bits(narrow))
    }

    fn shared(&self, largest: f32) -> Shared {
        let short = self.src.layout.elem != Elem::F32;
        let packed = self.dst.layout.elem.values() > 1;
        match self.rule {
            SharedExponent::Exponent => by_exponent(largest, if packed { 2 } else { 8 }, nan_scale(short, packed)),
            SharedExponent::Ceiling => by_ceiling(largest, if packed { 6.0 } else { 448.0 }, nan_scale(short, packed)),
        }
    }

    /// The element of the result, or half of it if it is packed, for a product.
    fn rounded(&self, product: f32, out: &mut [u8; 2]) {
        let packed = self.dst.layout.elem.values() > 1;
        let (target, nan) = if packed { (Elem::F4E2M1x2, f32::INFINITY) } else { (Elem::F8E4M3, f32::NAN) };
        let product = if product.is_nan() { nan } else { product };
        let pair = [product.to_le_bytes(), [0; 4]].concat();
        convert(Elem::F32, &pair, target, out, RoundMode::Rint, Saturation::KeepNan);
    }

    fn prefix(&self, tile: &TileArg, args: &[u64], from: u32, to: u32) -> Extent {
        let size = tile.layout.elem.bytes() as u32;
        let start = args[tile.at] + u64::from(from * size);
        Extent::run(self.local.space, self.local.core, start, (to - from) * size)
    }

    /// The bytes of the results besides `dst`.
    fn notes(&self, args: &[u64], shape @ (rows, cols): (u32, u32), access: &mut Access) {
        let (group_rows, group_cols) = self.counts(shape);
        let count = group_rows * group_cols;
        match self.groups {
            Groups::Columns { flat: true } => access.writes.push(self.prefix(&self.exp, args, 0, count)),
            Groups::Columns { flat: false } => {
                self.exp.rect(group_rows, group_cols).extents(self.local, args, &mut access.writes);
            }
            Groups::Rows { interleaved: false } => {
                self.exp.rect(group_rows, cols).extents(self.local, args, &mut access.writes);
            }
            Groups::Rows { interleaved: true } => {
                self.exp.rect(group_rows / 2, 2 * cols).extents(self.local, args, &mut access.writes);
            }
        }
        let (written, clobbered) = self.scales(shape);
        match self.groups {
            Groups::Columns { .. } => {
                access.writes.push(self.prefix(&self.max, args, 0, count));
                access.writes.push(self.prefix(&self.scaling, args, 0, written));
                if clobbered > written {
                    access.undefined.push(self.prefix(&self.scaling, args, written, clobbered));
                    access.writes.extend_from_slice(&access.undefined);
                }
            }
            Groups::Rows { .. } => {
                for tile in [self.max, self.scaling] {
                    tile.rect(rows / GROUP, cols).extents(self.local, args, &mut access.writes);
                }
            }
        }
    }
}

impl Effect for QuantiseGroups {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let shape @ (rows, cols) = self.src.valid(args)?;
        self.src.rect(rows, cols).extents(self.local, args, &mut access.reads);
        let packed = self.dst.layout.elem.values() as u32;
        self.dst.rect(rows, cols / packed).extents(self.local, args, &mut access.writes);
        self.notes(args, shape, access);
        access.units = tile_units(&self.src.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let shape @ (rows, _) = self.src.valid(args)?;
        let (group_rows, group_cols) = self.counts(shape);
        let Local { space, core } = self.local;
        let (size, packed) = (self.src.layout.elem.bytes(), self.dst.layout.elem.values() as u32);
        let at = |tile: &TileArg, offset: usize| args[tile.at] + offset as u64;
        for group in (0..group_rows).flat_map(|row| (0..group_cols).map(move |col| (row, col))) {
            let mut values = [0.0; GROUP as usize];
            let mut largest = (0, 0.0);
            for (k, value) in (0..GROUP).zip(&mut values) {
                let (row, col) = self.element(group, k);
                let bytes = memory.bytes(env, core, space, at(&self.src, self.src.layout.offset(row, col)), size);
                *value = widened(self.src.layout.elem, bytes);
                let magnitude = self.magnitude(bytes);
                largest = if magnitude.0 > largest.0 { magnitude } else { largest };
            }
            let shared = self.shared(largest.1);
            let exponent = at(&self.exp, self.exponent_at(group, group_cols));
            memory.bytes_mut(env, core, space, exponent, 1)[0] = shared.exponent;
            let index = self.number_at(&self.max, group, group_cols);
            let max = at(&self.max, index * size);
            memory.bytes_mut(env, core, space, max, size).copy_from_slice(&largest.0.to_le_bytes()[..size]);
            let times = if self.unrolled(rows) { 2 } else { 1 };
            let index = self.number_at(&self.scaling, group, group_cols) * times;
            let reciprocal = shared.reciprocal.to_le_bytes();
            for copy in index..index + times {
                let scaling = at(&self.scaling, copy * size);
                memory.bytes_mut(env, core, space, scaling, size).copy_from_slice(&reciprocal[4 - size..]);
            }
            let scale = f32::from_bits(shared.reciprocal);
            for (k, value) in (0..GROUP).zip(values) {
                let (row, col) = self.element(group, k);
                let mut rounded = [0; 2];
                self.rounded(value * scale, &mut rounded);
                let to = at(&self.dst, self.dst.layout.offset(row, col / packed));
                let byte = &mut memory.bytes_mut(env, core, space, to, 1)[0];
                *byte = match (packed, col % 2) {
                    (1, _) => rounded[0],
                    (_, 0) => *byte & 0xf0 | rounded[0] & 0xf,
                    _ => *byte & 0xf | rounded[0] << 4,
                };
            }
        }
        Ok(0)
    }
}

/// A float as f32.
fn widened(elem: Elem, bytes: &[u8]) -> f32 {
    let mut wide = [0.0];
    load_f32(elem, bytes, &mut wide);
    wide[0]
}

/// The bits of a positive f16 as bf16: rounded toward zero, infinity and NaN kept.
fn to_bf16(bits: u16) -> u32 {
    let value = widened(Elem::F16, &bits.to_le_bytes());
    if value.is_nan() { 0x7fc0 } else { value.to_bits() >> 16 }
}

/// The bits of the NaN that is the scale of a group with a NaN, in f32.
fn nan_scale(short: bool, packed: bool) -> u32 {
    if short && !packed { 0x7f81_0000 } else { 0x7fc0_0000 }
}

/// `emax` is the exponent of the largest number of the result's type.
fn by_exponent(largest: f32, emax: u32, nan: u32) -> Shared {
    if largest.is_nan() {
        return Shared { exponent: NAN_EXPONENT, reciprocal: nan };
    }
    let exponent = (largest.to_bits() >> 23).saturating_sub(emax);
    Shared { exponent: exponent as u8, reciprocal: (MOST_EXPONENT - exponent) << 23 }
}

/// `most` is the largest number of the result's type.
fn by_ceiling(largest: f32, most: f32, nan: u32) -> Shared {
    let scaled = largest * (1.0 / most);
    let bits = scaled.to_bits();
    match () {
        () if scaled.is_nan() => Shared { exponent: NAN_EXPONENT, reciprocal: nan },
        // 2^-127.
        () if scaled.is_infinite() => Shared { exponent: MOST_EXPONENT as u8, reciprocal: 0x0040_0000 },
        () => {
            let (exponent, mantissa) = (bits >> 23, bits & 0x7f_ffff);
            // Among subnormal numbers, those beyond half the smallest scale.
            let up = mantissa != 0 && bits > 0x40_0000;
            let exponent = exponent + u32::from(up);
            Shared { exponent: exponent as u8, reciprocal: (MOST_EXPONENT - exponent) << 23 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the public generator of test data for the library.
    #[test]
    fn shared_exponents() {
        let own = |largest: f32| by_exponent(largest, 8, 0x7fc0_0000);
        assert_eq!(own(448.0), Shared { exponent: 127, reciprocal: 0x3f80_0000 });
        assert_eq!(own(0.0), Shared { exponent: 0, reciprocal: 0x7f00_0000 });
        assert_eq!(own(f32::INFINITY), Shared { exponent: 247, reciprocal: 7 << 23 });
        assert_eq!(own(f32::NAN).exponent, 0xff);
        let up = |largest: f32| by_ceiling(largest, 448.0, 0x7fc0_0000);
        assert_eq!(up(448.0).exponent, 127);
        assert_eq!(up(449.0).exponent, 128, "448 would not hold it");
        assert_eq!(up(0.0), Shared { exponent: 0, reciprocal: 0x7f00_0000 });
        assert_eq!(up(f32::INFINITY), Shared { exponent: 0xfe, reciprocal: 0x0040_0000 });
    }
}
