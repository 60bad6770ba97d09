//! Buffers with generated contents.

use std::collections::TryReserveError;

use rayon::prelude::*;
use slipring_tile::{Elem, fill, store_f64};

use super::number::Number;

/// The contents of a generated buffer. Every value is representable in the element type.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub(super) enum Fill {
    Zeros,
    Value(Number),
    Iota,
    /// Values from `lo` up to but excluding `hi`.
    Random {
        seed: u64,
        lo: f64,
        hi: f64,
    },
}

/// Elements that one thread fills at a time.
const PART: usize = 1 << 16;

/// Elements that one thread fills before others have woken up and found more to do.
const FEW: usize = 1 << 19;

/// The bytes of `count` elements.
///
/// # Errors
/// If out of memory.
pub(super) fn fill(kind: Fill, elem: Elem, count: usize) -> Result<Vec<u8>, TryReserveError> {
    let mut bytes = slipring_program::zeroed(count * elem.bytes())?;
    let Some(kind) = kind.of(elem) else { return Ok(bytes) };
    let part = PART * elem.bytes();
    match count > FEW {
        true => bytes.par_chunks_mut(part).enumerate().for_each(|(at, bytes)| fill::fill(kind, elem, at * PART, bytes)),
        false => fill::fill(kind, elem, 0, &mut bytes),
    }
    Ok(bytes)
}

impl Fill {
    /// The contents for an element type; `None` for zeros.
    fn of(self, elem: Elem) -> Option<fill::Fill> {
        Some(match self {
            Fill::Zeros => return None,
            Fill::Value(value) if elem.is_float() => fill::Fill::Float(value.float()),
            Fill::Value(value) => fill::Fill::Bits(value.integer() as u64),
            Fill::Iota => fill::Fill::Iota,
            Fill::Random { seed, lo, hi } => fill::Fill::Random { seed, lo, hi },
        })
    }
}

/// Bits of a float scalar as stored in registers, rounded to its type.
pub fn float_bits(elem: Elem, value: f64) -> u64 {
    let mut wide = [0u8; 8];
    store_f64(elem, &[value], &mut wide[..elem.bytes()]);
    u64::from_le_bytes(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_the_whole_is() {
        let kinds = [Fill::Iota, Fill::Random { seed: 5, lo: -3.0, hi: 9.0 }, Fill::Value(Number::Integer(7))];
        for (kind, elem) in kinds.into_iter().flat_map(|kind| Elem::ALL.map(|elem| (kind, elem))) {
            let count = FEW + 77;
            let mut whole = vec![0; count * elem.bytes()];
            fill::fill(kind.of(elem).unwrap(), elem, 0, &mut whole);
            assert!(super::fill(kind, elem, count).unwrap() == whole, "{kind:?} of {elem}");
        }
    }

    #[test]
    fn integers_wrap_nothing_in_range() {
        let bytes = fill(Fill::Random { seed: 1, lo: -8.0, hi: 8.0 }, Elem::I8, 1000).unwrap();
        assert!(bytes.iter().all(|b| (-8..8).contains(&(*b as i8))));
        let bytes = fill(Fill::Random { seed: 1, lo: 254.0, hi: 256.0 }, Elem::U8, 1000).unwrap();
        assert!(bytes.iter().all(|b| *b >= 254) && bytes.contains(&255) && bytes.contains(&254));
        assert_eq!(fill(Fill::Iota, Elem::I16, 3).unwrap(), [0, 0, 1, 0, 2, 0]);
        assert_eq!(fill(Fill::Value(Number::Float(1.5)), Elem::F16, 1).unwrap(), [0x00, 0x3e]);
        let odd = (1i128 << 53) + 1;
        assert_eq!(fill(Fill::Value(Number::Integer(odd)), Elem::I64, 1).unwrap(), (odd as i64).to_le_bytes());
    }
}
