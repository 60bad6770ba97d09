//! Summary of a buffer's contents.

use serde::{Serialize, Serializer};
use slipring_tile::{Elem, Native, load_f32};

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
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let first = bytes.chunks_exact(elem.bytes()).take(SHOWN).flat_map(|element| numbers(elem, element)).take(SHOWN);
    let (range, nans) = range(elem, bytes);
    let (min, max) = range.unzip();
    Digest { min, max, nans, first: first.collect(), hash: format!("{hash:016x}") }
}

/// The smallest and largest value of a buffer, ignoring NaN, and the number of NaNs.
fn range(elem: Elem, bytes: &[u8]) -> (Option<(Number, Number)>, usize) {
    let signed = |(low, high): (i64, i64)| (Number::Signed(low), Number::Signed(high));
    let unsigned = |(low, high): (u64, u64)| (Number::Unsigned(low), Number::Unsigned(high));
    let range = match (elem.is_float(), elem.is_signed_int(), elem.bytes()) {
        (true, ..) => return float_range(elem, bytes),
        (_, true, 1) => ends::<i8, i64>(bytes).map(signed),
        (_, true, 2) => ends::<i16, i64>(bytes).map(signed),
        (_, true, 4) => ends::<i32, i64>(bytes).map(signed),
        (_, true, _) => ends::<i64, i64>(bytes).map(signed),
        (_, _, 1) => ends::<u8, u64>(bytes).map(unsigned),
        (_, _, 2) => ends::<u16, u64>(bytes).map(unsigned),
        (_, _, 4) => ends::<u32, u64>(bytes).map(unsigned),
        (..) => ends::<u64, u64>(bytes).map(unsigned),
    };
    (range, 0)
}

/// Smallest and largest integer.
fn ends<T: Native + Ord + Into<W>, W>(bytes: &[u8]) -> Option<(W, W)> {
    let values = || T::split(bytes).iter().map(|value| T::get(*value));
    Some((values().min()?.into(), values().max()?.into()))
}

/// Number of values loaded at a time.
const CHUNK: usize = 256;
/// Number of values of a chunk that are compared at once.
const WIDE: usize = 16;

fn float_range(elem: Elem, bytes: &[u8]) -> (Option<(Number, Number)>, usize) {
    let (mut low, mut high, mut nans) = ([f32::INFINITY; WIDE], [f32::NEG_INFINITY; WIDE], 0);
    let mut count = 0;
    each_chunk(elem, bytes, |values| {
        count += values.len();
        nans += values.iter().map(|x| usize::from(x.is_nan())).sum::<usize>();
        let mut chunks = values.chunks_exact(WIDE);
        let mut hold = |values: &[f32]| {
            for ((low, high), x) in low.iter_mut().zip(&mut high).zip(values) {
                // The comparison is false for NaN.
                *low = if *x < *low { *x } else { *low };
                *high = if *x > *high { *x } else { *high };
            }
        };
        chunks.by_ref().for_each(&mut hold);
        hold(chunks.remainder());
    });
    if nans == count {
        return (None, nans);
    }
    let low = low.into_iter().fold(f32::INFINITY, |a, b| if b < a { b } else { a });
    let high = high.into_iter().fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
    // The two zeros compare equal: report the one that comes first.
    let mut zero = None;
    if low == 0.0 || high == 0.0 {
        each_chunk(elem, bytes, |values| zero = zero.or_else(|| values.iter().copied().find(|x| *x == 0.0)));
    }
    let number = |x: f32| Number::Float(zero.filter(|_| x == 0.0).unwrap_or(x).into());
    (Some((number(low), number(high))), nans)
}

/// Passes the values of a buffer of floats to `f`, a chunk at a time.
fn each_chunk(elem: Elem, bytes: &[u8], mut f: impl FnMut(&[f32])) {
    let mut values = [0f32; CHUNK];
    for chunk in bytes.chunks(CHUNK / elem.values() * elem.bytes()) {
        let values = &mut values[..chunk.len() / elem.bytes() * elem.values()];
        load_f32(elem, chunk, values);
        f(values);
    }
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
