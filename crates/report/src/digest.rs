//! A short look at a buffer.

use serde::Serialize;
use slipring_tile::{Elem, load_f32};

/// A short look at a buffer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Digest {
    /// Smallest and largest number, NaN left out; `None` for an empty buffer.
    pub min: Option<f64>,
    #[allow(missing_docs)]
    pub max: Option<f64>,
    /// NaNs.
    pub nans: usize,
    /// The first elements.
    pub first: Vec<f64>,
    /// FNV-1a, 64 bits, of all bytes: equal buffers have equal hashes on every host.
    pub hash: String,
}

/// Elements that are shown.
const SHOWN: usize = 6;

/// Looks at a buffer of elements of a type. Bytes behind the last whole element count for the hash only.
pub fn digest(elem: Elem, bytes: &[u8]) -> Digest {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let (mut min, mut max, mut nans, mut first) = (None::<f64>, None::<f64>, 0, Vec::new());
    for element in bytes.chunks_exact(elem.bytes()) {
        for value in numbers(elem, element) {
            if first.len() < SHOWN {
                first.push(value);
            }
            if value.is_nan() {
                nans += 1;
                continue;
            }
            min = Some(min.map_or(value, |m| m.min(value)));
            max = Some(max.map_or(value, |m| m.max(value)));
        }
    }
    Digest { min, max, nans, first, hash: format!("{hash:016x}") }
}

/// The values of one element: two of a packed type.
fn numbers(elem: Elem, bytes: &[u8]) -> impl Iterator<Item = f64> {
    let mut values = [0f64; 2];
    if elem.is_float() {
        let mut floats = [0f32; 2];
        load_f32(elem, bytes, &mut floats[..elem.values()]);
        values = floats.map(f64::from);
    } else {
        values[0] = integer(elem, bytes);
    }
    values.into_iter().take(elem.values())
}

fn integer(elem: Elem, bytes: &[u8]) -> f64 {
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let (unused, raw) = (64 - 8 * bytes.len() as u32, u64::from_le_bytes(wide));
    if elem.is_signed_int() { ((raw << unused) as i64 >> unused) as f64 } else { raw as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_buffer() {
        let bytes: Vec<u8> = [1.5f32, -2.0, f32::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        let d = digest(Elem::F32, &bytes);
        assert_eq!((d.min, d.max, d.nans, d.first.len()), (Some(-2.0), Some(1.5), 1, 3));
        // FNV-1a of "a", from its authors' table.
        assert_eq!(digest(Elem::U8, b"a").hash, "af63dc4c8601ec8c");
        assert_eq!(digest(Elem::I8, &[0xff]).min, Some(-1.0));
    }
}
