//! Summary of a buffer's contents.

use serde::{Serialize, Serializer};
use slipring_tile::summary::{self, Range};
use slipring_tile::{Elem, load_f32};

/// Summary of a buffer's contents.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Digest {
    /// Smallest and largest value, ignoring NaN; `None` for an empty buffer.
    pub min: Option<Number>,
    #[allow(missing_docs)]
    pub max: Option<Number>,
    /// Number of NaNs.
    pub nans: usize,
    /// The first elements.
    pub first: Vec<Number>,
    /// FNV-1a, 64 bits, of all bytes: equal buffers have equal hashes on every host.
    pub hash: String,
}

/// Number of elements that are shown.
const SHOWN: usize = 6;

/// Summarises a buffer of elements of one type. Bytes after the last complete element count for the hash only.
pub fn digest(elem: Elem, bytes: &[u8]) -> Digest {
    let first = bytes.chunks_exact(elem.bytes()).take(SHOWN).flat_map(|element| numbers(elem, element)).take(SHOWN);
    let (range, nans) = summary::range(elem, bytes);
    let ends = range.map(|range| match range {
        Range::Signed(low, high) => (Number::Signed(low), Number::Signed(high)),
        Range::Unsigned(low, high) => (Number::Unsigned(low), Number::Unsigned(high)),
        Range::Float(low, high) => (Number::Float(low.into()), Number::Float(high.into())),
    });
    let (min, max) = ends.unzip();
    Digest { min, max, nans, first: first.collect(), hash: format!("{:016x}", summary::hash(bytes)) }
}

/// An exact value of a buffer. In JSON: an integer, a float, or one of the strings `inf`, `-inf` and `nan`, which JSON
/// numbers cannot express.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Number {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self {
            Number::Signed(x) => to.serialize_i64(x),
            Number::Unsigned(x) => to.serialize_u64(x),
            Number::Float(x) if x.is_finite() => to.serialize_f64(x),
            Number::Float(x) if x.is_nan() => to.serialize_str("nan"),
            Number::Float(x) => to.serialize_str(if x > 0.0 { "inf" } else { "-inf" }),
        }
    }
}

/// The values of one element: two of a packed type.
pub fn numbers(elem: Elem, bytes: &[u8]) -> impl Iterator<Item = Number> {
    let mut values = [Number::Float(0.0); 2];
    if elem.is_float() {
        let mut floats = [0f32; 2];
        load_f32(elem, bytes, &mut floats[..elem.values()]);
        values = floats.map(|x| Number::Float(x.into()));
    } else {
        values[0] = integer(elem, bytes);
    }
    values.into_iter().take(elem.values())
}

fn integer(elem: Elem, bytes: &[u8]) -> Number {
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let (unused, raw) = (64 - 8 * bytes.len() as u32, u64::from_le_bytes(wide));
    if elem.is_signed_int() { Number::Signed((raw << unused) as i64 >> unused) } else { Number::Unsigned(raw) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_buffer() {
        let bytes: Vec<u8> = [1.5f32, -2.0, f32::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        let d = digest(Elem::F32, &bytes);
        assert_eq!((d.min, d.max, d.nans, d.first.len()), (Some(Number::Float(-2.0)), Some(Number::Float(1.5)), 1, 3));
        // FNV-1a of "a", from its authors' table.
        assert_eq!(digest(Elem::U8, b"a").hash, "af63dc4c8601ec8c");
        assert_eq!(digest(Elem::I8, &[0xff]).min, Some(Number::Signed(-1)));
    }

    /// The minimum and maximum found value by value: of equal values, the first.
    fn one_by_one(elem: Elem, bytes: &[u8]) -> (Option<Number>, Option<Number>, usize) {
        let below = |a: Number, b: Number| match (a, b) {
            (Number::Signed(a), Number::Signed(b)) => a < b,
            (Number::Unsigned(a), Number::Unsigned(b)) => a < b,
            (Number::Float(a), Number::Float(b)) => a < b,
            _ => panic!("numbers of one type"),
        };
        let (mut min, mut max, mut nans) = (None::<Number>, None::<Number>, 0);
        for value in bytes.chunks_exact(elem.bytes()).flat_map(|element| numbers(elem, element)) {
            if matches!(value, Number::Float(x) if x.is_nan()) {
                nans += 1;
                continue;
            }
            min = Some(min.filter(|m| !below(value, *m)).unwrap_or(value));
            max = Some(max.filter(|m| !below(*m, value)).unwrap_or(value));
        }
        (min, max, nans)
    }

    #[test]
    fn ranges_of_all_types_are_those_of_their_numbers() {
        let mut state = 1u64;
        let mut byte = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 56) as u8
        };
        for elem in Elem::ALL {
            for length in [0, 1, 2, 3, 7, 8, 16, 33, 500, 2048, 4100] {
                let random: Vec<u8> = (0..length).map(|_| byte()).collect();
                // Zeros of both signs, and no value below or above them.
                let zeros: Vec<u8> = (0..length).map(|at| if at % 8 == 7 { byte() & 0x80 } else { 0 }).collect();
                for bytes in [random, zeros, vec![0xff; length], vec![0x80; length]] {
                    let d = digest(elem, &bytes);
                    let show = |x: (Option<Number>, Option<Number>, usize)| format!("{x:?}");
                    assert_eq!(show((d.min, d.max, d.nans)), show(one_by_one(elem, &bytes)), "{elem} {length}");
                }
            }
        }
    }

    #[test]
    fn every_number_survives_as_json() {
        let json = |elem, bytes: &[u8]| serde_json::to_string(&digest(elem, bytes).first).unwrap();
        assert_eq!(json(Elem::I64, &i64::MIN.to_le_bytes()), "[-9223372036854775808]");
        assert_eq!(json(Elem::U64, &u64::MAX.to_le_bytes()), "[18446744073709551615]");
        let floats: Vec<u8> =
            [f32::INFINITY, f32::NEG_INFINITY, f32::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(json(Elem::F32, &floats), "[\"inf\",\"-inf\",\"nan\"]");
        // Neighbouring integers that round to the same f64.
        let two: Vec<u8> = [i64::MAX, i64::MAX - 1].iter().flat_map(|x| x.to_le_bytes()).collect();
        let d = digest(Elem::I64, &two);
        assert_eq!((d.min, d.max), (Some(Number::Signed(i64::MAX - 1)), Some(Number::Signed(i64::MAX))));
    }
}
