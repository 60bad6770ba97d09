//! Comparison of the values of two buffers: equal, within the tolerance relative to each value, only within the
//! tolerance relative to the largest value of the buffer, or wrong.

use slipring_tile::{Elem, load_f32};

/// The message for doubtful elements.
pub(crate) const DOUBTFUL: &str =
    "exceed the tolerance relative to their own value, but not relative to the largest value of the buffer";

/// The relative and the absolute tolerance of a type. A board has its own functions and its own order of operations, so
/// its results are not bit-identical.
pub(crate) fn tolerance(elem: Option<Elem>) -> (f64, f64) {
    match elem {
        Some(Elem::F32) => (1e-5, 1e-6),
        Some(Elem::F16) => (2e-3, 1e-4),
        Some(Elem::BF16) => (1e-2, 1e-3),
        Some(elem) if elem.is_float() => (1.25e-1, 1e-2),
        _ => (0.0, 0.0),
    }
}

/// The element-wise comparison of two buffers.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Closeness {
    /// Elements whose bytes differ.
    pub different: usize,
    /// Of these, floats that exceed the tolerance relative to their own value, but not relative to the largest value of
    /// the buffer. Sums in another order may be off by that much, but so may a small value that is wrong.
    pub doubtful: usize,
    /// Floats where one side is infinite or not a number.
    pub no_numbers: usize,
    /// Elements that are outside both tolerances.
    pub wrong: usize,
    /// The first element of the worst kind present; wrong elements and those that are infinite or NaN count as one
    /// kind.
    pub first: usize,
    /// The largest difference of a float, in units of its own tolerance.
    pub furthest: f64,
}

/// Compares a result with the expected contents. If the lengths differ, everything past the shorter end is wrong.
pub(crate) fn closeness(want: &[u8], have: &[u8], elem: Option<Elem>) -> Closeness {
    let bytes = elem.map_or(1, Elem::bytes).max(1);
    let (rtol, atol) = tolerance(elem);
    let floats = elem.filter(|elem| elem.is_float());
    let mut numbers = Numbers::default();
    let largest = floats.map_or(0.0, |elem| largest(elem, want));
    let mut all = Closeness::default();
    let mut worst = 0;
    for (at, (want, have)) in want.chunks(bytes).zip(have.chunks(bytes)).enumerate().filter(|(_, (a, b))| a != b) {
        all.different += 1;
        let grade = match floats {
            None => 3,
            Some(elem) => numbers
                .pairs(elem, want, have)
                .map(|(a, b)| {
                    if !a.is_finite() || !b.is_finite() {
                        return if a.is_nan() && b.is_nan() { 0 } else { 2 };
                    }
                    let off = (a - b).abs();
                    all.furthest = all.furthest.max(off / (atol + rtol * a.abs()));
                    match off {
                        off if off <= atol + rtol * a.abs() => 0,
                        off if off <= atol + rtol * largest => 1,
                        _ => 3,
                    }
                })
                .max()
                .unwrap_or(0),
        };
        match grade {
            0 => {}
            1 => all.doubtful += 1,
            2 => all.no_numbers += 1,
            _ => all.wrong += 1,
        }
        // Infinite and NaN rank as high as values outside the tolerance.
        let rank = grade.min(2);
        if all.different == 1 || rank > worst {
            (all.first, worst) = (at, rank);
        }
    }
    if want.len() != have.len() {
        let short = want.len().min(have.len()) / bytes;
        if all.wrong + all.no_numbers == 0 {
            all.first = short;
        }
        let missing = want.len().max(have.len()).div_ceil(bytes) - short;
        all.different += missing;
        all.wrong += missing;
    }
    all
}

/// The values of one element on both sides: two if the element type is packed.
#[derive(Default)]
struct Numbers {
    want: [f32; 2],
    have: [f32; 2],
}

impl Numbers {
    fn pairs(&mut self, elem: Elem, want: &[u8], have: &[u8]) -> impl Iterator<Item = (f64, f64)> + '_ {
        let count = elem.values();
        load_f32(elem, want, &mut self.want[..count]);
        load_f32(elem, have, &mut self.have[..count]);
        let wide = |(a, b): (&f32, &f32)| (f64::from(*a), f64::from(*b));
        self.want[..count].iter().zip(&self.have[..count]).map(wide)
    }
}

/// The largest magnitude of the finite values of a buffer.
fn largest(elem: Elem, bytes: &[u8]) -> f64 {
    let mut all = vec![0.0f32; bytes.len() / elem.bytes() * elem.values()];
    load_f32(elem, &bytes[..bytes.len() / elem.bytes() * elem.bytes()], &mut all);
    all.iter().filter(|n| n.is_finite()).fold(0.0, |most, n| most.max(f64::from(n.abs())))
}

/// The first element that differs, and the number of differing elements.
pub(crate) fn differences(a: &[u8], b: &[u8], elem: Option<Elem>) -> Option<(usize, usize)> {
    let bytes = elem.map_or(1, Elem::bytes);
    let mut wrong = a.chunks(bytes).zip(b.chunks(bytes)).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
    let first = wrong.next();
    match first {
        None if a.len() != b.len() => Some((a.len().min(b.len()) / bytes, 1)),
        None => None,
        Some(first) => Some((first, 1 + wrong.count())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Closeness, closeness};
    use slipring_tile::Elem;

    fn of(want: &[f32], have: &[f32]) -> Closeness {
        let bytes = |list: &[f32]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        closeness(&bytes(want), &bytes(have), Some(Elem::F32))
    }

    #[test]
    fn a_small_number_that_is_wrong_does_not_hide_behind_a_large_one() {
        let hidden = of(&[1000.0, 0.005], &[1000.0, 0.0]);
        assert_eq!((hidden.different, hidden.doubtful, hidden.wrong, hidden.first), (1, 1, 0, 1));
        let far = of(&[1000.0, 0.5, 2.0], &[1000.0, 0.0, 2.0]);
        assert_eq!((far.different, far.doubtful, far.wrong, far.first), (1, 0, 1, 1));
    }

    #[test]
    fn the_last_bits_are_close_and_what_is_no_number_is_counted_apart() {
        let close = of(&[1.0, 2.0], &[1.000_000_1, 2.0]);
        assert_eq!((close.different, close.doubtful, close.no_numbers, close.wrong), (1, 0, 0, 0));
        let inf = of(&[f32::INFINITY, 1.0], &[3.0, 1.0]);
        assert_eq!((inf.no_numbers, inf.wrong), (1, 0));
        assert_eq!(of(&[f32::INFINITY, 1.0, 5.0], &[3.0, 1.0, 9.0]).first, 0);
        assert_eq!(of(&[f32::NAN], &[-f32::NAN]).no_numbers, 0);
    }

    #[test]
    fn integers_are_equal_or_wrong_and_short_buffers_are_wrong() {
        assert_eq!(closeness(&[1, 2], &[1, 3], Some(Elem::I8)).wrong, 1);
        let short = closeness(&[1, 2, 3, 4], &[1, 2], Some(Elem::I16));
        assert_eq!((short.wrong, short.first), (1, 1));
        assert_eq!(of(&[1.0], &[1.0]), Closeness::default());
    }
}
