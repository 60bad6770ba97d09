//! Facts about whole buffers: a hash, and the smallest and largest element.

use crate::{Elem, Native, load_f32};

/// FNV-1a, 64 bits, of all bytes: equal buffers have equal hashes on every host.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

/// The smallest and the largest element of a buffer.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Range {
    Signed(i64, i64),
    Unsigned(u64, u64),
    Float(f32, f32),
}

/// The smallest and the largest element of a buffer, NaNs left out, and the number of NaNs. `None` if there is no other
/// element. Bytes after the last whole element do not count. Of two zeros of different signs, the first is the end.
pub fn range(elem: Elem, bytes: &[u8]) -> (Option<Range>, usize) {
    let signed = |(low, high): (i64, i64)| Range::Signed(low, high);
    let unsigned = |(low, high): (u64, u64)| Range::Unsigned(low, high);
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

/// Values that are loaded at a time.
const CHUNK: usize = 256;
/// Of these, how many are held against as many others at once.
const WIDE: usize = 16;

fn float_range(elem: Elem, bytes: &[u8]) -> (Option<Range>, usize) {
    let (mut low, mut high, mut nans) = ([f32::INFINITY; WIDE], [f32::NEG_INFINITY; WIDE], 0);
    let mut count = 0;
    each_chunk(elem, bytes, |values| {
        count += values.len();
        nans += values.iter().map(|x| usize::from(x.is_nan())).sum::<usize>();
        let mut chunks = values.chunks_exact(WIDE);
        let mut hold = |values: &[f32]| {
            for ((low, high), x) in low.iter_mut().zip(&mut high).zip(values) {
                // False for what is not a number.
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
    // Of the two zeros, which are equal, the one that comes first.
    let mut zero = None;
    if low == 0.0 || high == 0.0 {
        each_chunk(elem, bytes, |values| zero = zero.or_else(|| values.iter().copied().find(|x| *x == 0.0)));
    }
    let exact = |x: f32| zero.filter(|_| x == 0.0).unwrap_or(x);
    (Some(Range::Float(exact(low), exact(high))), nans)
}

/// The values of a buffer of floats, some at a time.
fn each_chunk(elem: Elem, bytes: &[u8], mut f: impl FnMut(&[f32])) {
    let mut values = [0f32; CHUNK];
    for chunk in bytes.chunks(CHUNK / elem.values() * elem.bytes()) {
        let values = &mut values[..chunk.len() / elem.bytes() * elem.values()];
        load_f32(elem, chunk, values);
        f(values);
    }
}
