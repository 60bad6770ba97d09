//! Reductions, in an order that is part of their meaning.
//!
//! Along a row: 64 lanes; lane `j` combines elements `j`, `j + 64`, `j + 128`, … in this order; then the
//! lanes are halved: lane `j` combines with lane `j + 32`, then `+ 16`, `+ 8`, `+ 4`, `+ 2`, `+ 1`. Lanes without
//! elements do not take part. Down a column: row after row, the first row being the start.
//!
//! Floats narrower than `f32` are widened, combined in `f32`, and the result is rounded once. Integers wrap.
//! `Max` and `Min` are [`math::maximum`] and [`math::minimum`]: NaN only if all elements are.

use multiversion::multiversion;

use crate::lane::with_int;
use crate::lanes::{narrow, widen};
use crate::{Binary, Elem, Native, binary, math};

/// What a reduction combines its elements with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Reduce {
    Sum,
    Prod,
    Max,
    Min,
}

static SUM: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));
static PROD: Binary = binary!(float: |a, b| a * b, int: |a, b| a.wrapping_mul(b));
static MAX: Binary = binary!(float: |a, b| math::maximum(a, b), int: |a, b| a.max(b));
static MIN: Binary = binary!(float: |a, b| math::minimum(a, b), int: |a, b| a.min(b));

const LANES: usize = 64;
/// Elements widened at a time; a whole number of lanes.
const CHUNK: usize = 256;

impl Reduce {
    /// Every reduction, in declaration order.
    pub const ALL: [Reduce; 4] = [Reduce::Sum, Reduce::Prod, Reduce::Max, Reduce::Min];

    /// The combination of two elements.
    pub fn binary(self) -> &'static Binary {
        match self {
            Reduce::Sum => &SUM,
            Reduce::Prod => &PROD,
            Reduce::Max => &MAX,
            Reduce::Min => &MIN,
        }
    }

    /// Reduces the elements of `row` to one, written to `out`. Without elements `out` gets 0 for `Sum`, 1 for
    /// `Prod`, and NaN (of integers the smallest or largest value) for `Max` and `Min`.
    pub fn row(self, elem: Elem, row: &[u8], out: &mut [u8]) {
        if elem.is_float() {
            let result = match self {
                Reduce::Sum if row.len() < elem.bytes() => 0.0,
                // −0 is what changes no addend, not even −0.
                Reduce::Sum => float_row(elem, row, -0.0, |a, b| a + b),
                Reduce::Prod => float_row(elem, row, 1.0, |a, b| a * b),
                Reduce::Max => float_row(elem, row, math::NAN, math::maximum),
                Reduce::Min => float_row(elem, row, math::NAN, math::minimum),
            };
            narrow(elem, &math::canonical(result).to_le_bytes(), &mut out[..elem.bytes()]);
            return;
        }
        with_int!(elem, T => {
            let mut lanes = match self {
                Reduce::Sum => [0; LANES],
                Reduce::Prod => [1; LANES],
                Reduce::Max => [T::MIN; LANES],
                Reduce::Min => [T::MAX; LANES],
            };
            let result = match self {
                Reduce::Sum => finish(accumulate(row, &mut lanes, T::wrapping_add), T::wrapping_add),
                Reduce::Prod => finish(accumulate(row, &mut lanes, T::wrapping_mul), T::wrapping_mul),
                Reduce::Max => finish(accumulate(row, &mut lanes, T::max), T::max),
                Reduce::Min => finish(accumulate(row, &mut lanes, T::min), T::min),
            };
            out[..elem.bytes()].copy_from_slice(&result.put());
        }, else ())
    }

    /// The type columns are accumulated in: `f32` for every float, else `elem` itself.
    pub fn acc_elem(elem: Elem) -> Elem {
        if elem.is_float() { Elem::F32 } else { elem }
    }

    /// Starts accumulating down columns: `acc` (of [`Reduce::acc_elem`]) becomes the first row.
    pub fn begin(elem: Elem, row: &[u8], acc: &mut [u8]) {
        let n = (row.len() / elem.bytes()).min(acc.len() / Reduce::acc_elem(elem).bytes());
        widen(elem, &row[..n * elem.bytes()], &mut acc[..n * Reduce::acc_elem(elem).bytes()]);
    }

    /// Combines the columns so far with one more row.
    pub fn fold(self, elem: Elem, row: &[u8], acc: &mut [u8]) {
        let wide = Reduce::acc_elem(elem);
        let mut buffer = [0; CHUNK * 8];
        for (row, acc) in row.chunks(CHUNK * elem.bytes()).zip(acc.chunks_mut(CHUNK * wide.bytes())) {
            let n = (row.len() / elem.bytes()).min(acc.len() / wide.bytes());
            let buffer = &mut buffer[..n * wide.bytes()];
            widen(elem, &row[..n * elem.bytes()], buffer);
            self.binary().run_in_place(wide, &mut acc[..n * wide.bytes()], buffer);
        }
    }

    /// Rounds the accumulated columns to `elem`.
    pub fn end(elem: Elem, acc: &[u8], out: &mut [u8]) {
        let wide = Reduce::acc_elem(elem).bytes();
        let n = (acc.len() / wide).min(out.len() / elem.bytes());
        narrow(elem, &acc[..n * wide], &mut out[..n * elem.bytes()]);
    }
}

/// The place of the largest (`Reduce::Max`) or smallest (`Reduce::Min`) element of a row, the first of equals
/// (−0 and +0 are equal); NaN is passed over. 0 if there are only NaN or no elements. `None` for other reductions.
pub fn arg(what: Reduce, elem: Elem, row: &[u8]) -> Option<usize> {
    if !matches!(what, Reduce::Max | Reduce::Min) {
        return None;
    }
    let mut best = [0; 8];
    what.row(elem, row, &mut best);
    let size = elem.bytes();
    let mut mask = [0; CHUNK];
    for (i, part) in row.chunks(CHUNK * size).enumerate() {
        let mask = &mut mask[..part.len() / size];
        let many: [u8; CHUNK * 8] = std::array::from_fn(|j| best[j % size]);
        crate::Compare::Eq.run(elem, part, &many[..mask.len() * size], mask);
        if let Some(at) = mask.iter().position(|m| *m != 0) {
            return Some(i * CHUNK + at);
        }
    }
    Some(0)
}

fn float_row(elem: Elem, row: &[u8], neutral: f32, f: impl Fn(f32, f32) -> f32 + Copy) -> f32 {
    let mut lanes = [neutral; LANES];
    if elem == Elem::F32 {
        return finish(accumulate(row, &mut lanes, f), f);
    }
    let mut wide = [0; CHUNK * 4];
    for part in row.chunks(CHUNK * elem.bytes()) {
        let n = part.len() / elem.bytes();
        widen(elem, &part[..n * elem.bytes()], &mut wide[..n * 4]);
        accumulate(&wide[..n * 4], &mut lanes, f);
    }
    finish(&lanes, f)
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn accumulate<'a, T: Native, F: Fn(T, T) -> T>(row: &[u8], lanes: &'a mut [T; LANES], f: F) -> &'a [T; LANES] {
    let (whole, rest) = T::split(row).as_chunks::<LANES>();
    let mut sums = *lanes;
    for part in whole {
        for (sum, x) in sums.iter_mut().zip(part) {
            *sum = f(*sum, T::get(*x));
        }
    }
    for (sum, x) in sums.iter_mut().zip(rest) {
        *sum = f(*sum, T::get(*x));
    }
    *lanes = sums;
    lanes
}

fn finish<T: Native>(lanes: &[T; LANES], f: impl Fn(T, T) -> T) -> T {
    let mut lanes = *lanes;
    let mut half = LANES / 2;
    while half > 0 {
        for j in 0..half {
            lanes[j] = f(lanes[j], lanes[j + half]);
        }
        half /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The order of a row by its definition: absent lanes are skipped instead of neutral.
    fn by_definition(values: &[f32], f: fn(f32, f32) -> f32) -> Option<f32> {
        let mut lanes: Vec<Option<f32>> =
            (0..64).map(|j| values.iter().skip(j).step_by(64).copied().reduce(f)).collect();
        for half in [32, 16, 8, 4, 2, 1] {
            for j in 0..half {
                lanes[j] = match (lanes[j], lanes[j + half]) {
                    (Some(a), Some(b)) => Some(f(a, b)),
                    (a, b) => a.or(b),
                };
            }
        }
        lanes[0]
    }

    fn function(what: Reduce) -> fn(f32, f32) -> f32 {
        match what {
            Reduce::Sum => |a, b| a + b,
            Reduce::Prod => |a, b| a * b,
            Reduce::Max => math::maximum,
            Reduce::Min => math::minimum,
        }
    }

    fn load(elem: Elem, bytes: &[u8]) -> Vec<f32> {
        let mut values = vec![0.0; bytes.len() / elem.bytes()];
        crate::load_f32(elem, bytes, &mut values);
        values
    }

    fn floats() -> impl Strategy<Value = Elem> {
        prop::sample::select(vec![Elem::F32, Elem::F16, Elem::BF16, Elem::F8E4M3, Elem::F8E5M2])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn float_rows(elem in floats(), values in prop::collection::vec(-4f32..4.0, 1..700), wild in any::<[u32; 3]>()) {
            let mut values = values;
            for w in wild {
                if w & 1 == 0 {
                    let at = w as usize % values.len();
                    values[at] = [-0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN][(w >> 20) as usize % 5];
                }
            }
            let mut row = vec![0; values.len() * elem.bytes()];
            crate::store_f32(elem, &values, &mut row);
            for what in Reduce::ALL {
                let mut got = vec![0; elem.bytes()];
                what.row(elem, &row, &mut got);
                let exact = by_definition(&load(elem, &row), function(what)).unwrap();
                let mut want = vec![0; elem.bytes()];
                crate::store_f32(elem, &[math::canonical(exact)], &mut want);
                prop_assert_eq!(got, want);
            }
        }

        #[test]
        fn int_rows(values in prop::collection::vec(any::<i64>(), 1..300)) {
            macro_rules! check {
                ($($ty:ident)*) => {$(
                    let elem = <$ty as Native>::ELEM;
                    let x: Vec<$ty> = values.iter().map(|v| *v as $ty).collect();
                    let row: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
                    let folded = |f: fn($ty, $ty) -> $ty| x.iter().copied().reduce(f).unwrap();
                    let want = [
                        folded($ty::wrapping_add), folded($ty::wrapping_mul),
                        *x.iter().max().unwrap(), *x.iter().min().unwrap(),
                    ];
                    for (what, want) in Reduce::ALL.into_iter().zip(want) {
                        let mut got = [0; size_of::<$ty>()];
                        what.row(elem, &row, &mut got);
                        prop_assert_eq!(got, want.to_le_bytes());
                        if matches!(what, Reduce::Max | Reduce::Min) {
                            prop_assert_eq!(arg(what, elem, &row), x.iter().position(|x| *x == want));
                        }
                    }
                )*};
            }
            check!(i8 i16 i32 i64 u8 u16 u32 u64);
        }

        #[test]
        fn columns(elem in floats(), rows in 1usize..6, cols in 1usize..300, seed: u32) {
            let values: Vec<f32> = (0..rows * cols)
                .map(|i| ((i as u32).wrapping_mul(2_654_435_761) ^ seed) as f32 / 1e9 - 2.0)
                .collect();
            let mut bytes = vec![0; values.len() * elem.bytes()];
            crate::store_f32(elem, &values, &mut bytes);
            let values = load(elem, &bytes);
            for what in Reduce::ALL {
                let (mut acc, mut got) = (vec![0; cols * 4], vec![0; cols * elem.bytes()]);
                for (r, row) in bytes.chunks(cols * elem.bytes()).enumerate() {
                    if r == 0 { Reduce::begin(elem, row, &mut acc) } else { what.fold(elem, row, &mut acc) }
                }
                Reduce::end(elem, &acc, &mut got);
                let sums: Vec<f32> = (0..cols)
                    .map(|c| values.iter().skip(c).step_by(cols).copied().reduce(function(what)).unwrap())
                    .collect();
                let mut want = vec![0; got.len()];
                crate::store_f32(elem, &sums, &mut want);
                prop_assert_eq!(got, want);
            }
        }
    }

    #[test]
    fn first_of_equals_and_nan_passed_over() {
        let row = |x: &[f32]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let nan = f32::NAN;
        for (x, max, min) in
            [(&[nan, 1.0, 3.0, 3.0, 0.5, 0.5][..], 2, 4), (&[-0.0, 0.0, -0.0], 0, 0), (&[nan, nan], 0, 0), (&[], 0, 0)]
        {
            assert_eq!(arg(Reduce::Max, Elem::F32, &row(x)), Some(max));
            assert_eq!(arg(Reduce::Min, Elem::F32, &row(x)), Some(min));
        }
        assert_eq!(arg(Reduce::Sum, Elem::F32, &[]), None);
    }

    #[test]
    fn empty_rows() {
        let want = [0.0, 1.0, math::NAN, math::NAN];
        for (what, want) in Reduce::ALL.into_iter().zip(want) {
            let mut got = [9; 4];
            what.row(Elem::F32, &[], &mut got);
            assert_eq!(got, want.to_le_bytes());
        }
    }
}
