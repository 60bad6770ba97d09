//! Reductions. The order of evaluation ([`Order`]) is part of their definition and follows the tile library of each
//! platform.
//!
//! Sums and products of floats are rounded to the element type where the library does so. Integers wrap; `Max` and
//! `Min` are [`math::maximum`] and [`math::minimum`] (NaN if any element is NaN). The order has no effect on any of
//! these.

use multiversion::multiversion;

use crate::lane::with_int;
use crate::lanes::{narrow, widen};
use crate::{Binary, Elem, Native, binary, math};

/// The operation of a reduction.
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

/// The order in which floats are added and multiplied. A part is 256 bytes of elements: 64 of `f32`, 128 of 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// The order of a register-based unit (A5). A row is processed in parts. A sum begins with 0 and takes the sum of
    /// one part after the other, which is a tree over neighbours, in `f32` and rounded to the element type. A product
    /// has as many lanes as a part: lane `j` is 1, multiplied by element `j` of each part; then the upper half of the
    /// lanes is multiplied into the lower half, until one is left. A column starts with the first row, then combines
    /// rows in pairs (second and third, fourth and fifth, …) before combining them with the result, and takes the last
    /// row alone if their number is even.
    Registers,
    /// The order of a memory-based unit (A2/A3). To sum a row, parts 2i and 2i + 1 are added; a remaining whole part
    /// and a partial one are added to the first; then neighbouring parts, the last of an odd number being added to the
    /// one before, until one is left: a tree over neighbours, in `f32` and rounded. A product has 32 bytes of lanes,
    /// each 1, multiplied by its element of each 32 bytes; the lanes are then multiplied from the first to the last in
    /// `f32`. A column is combined row by row.
    Memory,
}

const LANES: usize = 64;
/// Bytes of a part of a row.
const PART: usize = 256;
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
    pub fn row(self, order: Order, elem: Elem, row: &[u8], out: &mut [u8]) {
        if elem.is_float() {
            let result = match (self, order) {
                (Reduce::Max | Reduce::Min, _) if row.is_empty() => math::NAN,
                (Reduce::Max, _) => float_row(elem, row, f32::NEG_INFINITY, math::maximum),
                (Reduce::Min, _) => float_row(elem, row, f32::INFINITY, math::minimum),
                (Reduce::Sum, Order::Registers) => sum_of_parts(elem, row),
                (Reduce::Sum, Order::Memory) => sum_in_pairs(elem, row),
                (Reduce::Prod, Order::Registers) => product_in_registers(elem, row),
                (Reduce::Prod, Order::Memory) => product_in_memory(elem, row),
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
}

/// A part of a row as `f32`, with zeros after it.
fn part_of(elem: Elem, part: &[u8]) -> [f32; PART] {
    let mut wide = [0; PART * 4];
    let n = part.len() / elem.bytes();
    widen(elem, part, &mut wide[..n * 4]);
    let mut lanes = [0.0; PART];
    for (lane, x) in lanes.iter_mut().zip(f32::split(&wide[..n * 4])) {
        *lane = f32::get(*x);
    }
    lanes
}

/// Rounds to `elem`.
fn rounded(elem: Elem, value: f32) -> f32 {
    if elem == Elem::F32 {
        return value;
    }
    let (mut short, mut wide) = ([0; 4], [0; 4]);
    narrow(elem, &value.to_le_bytes(), &mut short[..elem.bytes()]);
    widen(elem, &short[..elem.bytes()], &mut wide);
    f32::from_le_bytes(wide)
}

fn halved<const N: usize, const H: usize>(lanes: &[f32; N]) -> [f32; H] {
    std::array::from_fn(|i| lanes[2 * i] + lanes[2 * i + 1])
}

/// Neighbours are added until one sum is left.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
fn tree(lanes: &[f32; PART / 4]) -> f32 {
    let four: [f32; 4] = halved(&halved::<16, 8>(&halved::<32, 16>(&halved::<64, 32>(lanes))));
    (four[0] + four[1]) + (four[2] + four[3])
}

/// The sum of a part, as a tree over neighbours.
fn sum_of_part(elem: Elem, part: &[u8]) -> f32 {
    if elem == Elem::F32
        && let ([whole], []) = f32::split(part).as_chunks::<{ PART / 4 }>()
    {
        return tree(&whole.map(f32::get));
    }
    let lanes = part_of(elem, part);
    let [a, b, c, d] = std::array::from_fn(|i| tree(&std::array::from_fn(|j| lanes[i * (PART / 4) + j])));
    rounded(elem, (a + b) + (c + d))
}

fn sum_of_parts(elem: Elem, row: &[u8]) -> f32 {
    row.chunks(PART).fold(0.0, |sum, part| rounded(elem, sum + sum_of_part(elem, part)))
}

fn sum_in_pairs(elem: Elem, row: &[u8]) -> f32 {
    if row.len() <= PART {
        return sum_of_part(elem, row);
    }
    let (whole, rest) = row.as_chunks::<PART>();
    if elem == Elem::F32 {
        // Nothing is rounded in between, and the NaN of a sum is canonicalised at its end.
        let lanes = |part: &[u8; PART]| -> [f32; PART / 4] {
            let (lanes, _) = part.as_chunks::<4>();
            std::array::from_fn(|i| f32::from_le_bytes(lanes[i]))
        };
        let sums = whole.iter().map(lanes).collect();
        let add = |to: &mut [f32; PART / 4], what: &[f32; PART / 4]| to.iter_mut().zip(what).for_each(|(a, b)| *a += b);
        let add_rest = |to: &mut [f32; PART / 4]| {
            to.iter_mut().zip(f32::split(rest)).for_each(|(a, b)| *a += f32::get(*b));
        };
        return tree(&pairs(sums, add, add_rest));
    }
    let add = |to: &mut [u8; PART], what: &[u8]| _ = SUM.run_in_place(elem, &mut to[..what.len()], what);
    let sum = pairs(whole.to_vec(), |to, what| add(to, what), |to| add(to, rest));
    sum_of_part(elem, &sum)
}

/// The sum of parts, of which there is at least one, and of a remainder after them.
fn pairs<P: Copy>(mut sums: Vec<P>, add: impl Fn(&mut P, &P), add_rest: impl Fn(&mut P)) -> P {
    // If the number of whole parts is odd, the last is added to the first sum; in later rounds to the last one.
    let mut left = sums.len();
    let mut first = true;
    while left > 1 || first {
        for i in 0..left / 2 {
            let mut sum = sums[2 * i];
            add(&mut sum, &sums[2 * i + 1]);
            sums[i] = sum;
        }
        if left % 2 == 1 && left > 1 {
            let last = sums[left - 1];
            add(&mut sums[if first { 0 } else { left / 2 - 1 }], &last);
        }
        if first {
            add_rest(&mut sums[0]);
        }
        (left, first) = (left / 2, false);
    }
    sums[0]
}

/// Lanes of 1, each multiplied by its element of each `lanes.len()` bytes of the row.
fn lane_products(elem: Elem, row: &[u8], lanes: &mut [u8]) {
    let ones = [1f32.to_le_bytes(); PART];
    let n = lanes.len() / elem.bytes();
    narrow(elem, ones[..n].as_flattened(), lanes);
    for part in row.chunks(lanes.len()) {
        PROD.run_in_place(elem, &mut lanes[..part.len()], part);
    }
}

fn product_in_registers(elem: Elem, row: &[u8]) -> f32 {
    let mut lanes = [0; PART];
    lane_products(elem, row, &mut lanes);
    let mut half = PART / 2;
    while half >= elem.bytes() {
        let (first, second) = lanes.split_at_mut(half);
        PROD.run_in_place(elem, first, &second[..half]);
        half /= 2;
    }
    part_of(elem, &lanes[..elem.bytes()])[0]
}

fn product_in_memory(elem: Elem, row: &[u8]) -> f32 {
    let mut lanes = [0; 32];
    lane_products(elem, row, &mut lanes);
    rounded(elem, part_of(elem, &lanes)[..32 / elem.bytes()].iter().product())
}

/// The index of the largest (`Reduce::Max`) or smallest (`Reduce::Min`) element of a row, the first among equals (−0
/// and +0 are equal), and that of the first NaN if there is one. 0 if there are no elements. `None` for other
/// reductions.
pub fn arg(what: Reduce, elem: Elem, row: &[u8]) -> Option<usize> {
    if !matches!(what, Reduce::Max | Reduce::Min) {
        return None;
    }
    let mut best = [0; 8];
    what.row(Order::Registers, elem, row, &mut best);
    let size = elem.bytes();
    let mut nan = [0];
    crate::Compare::Ne.run(elem, &best[..size], &best[..size], &mut nan);
    let mut mask = [0; CHUNK];
    for (i, part) in row.chunks(CHUNK * size).enumerate() {
        let mask = &mut mask[..part.len() / size];
        let many: [u8; CHUNK * 8] = std::array::from_fn(|j| best[j % size]);
        // If there is a NaN it is the result, and it differs from everything but itself.
        let (mode, other) =
            if nan != [0] { (crate::Compare::Ne, part) } else { (crate::Compare::Eq, &many[..mask.len() * size]) };
        mode.run(elem, part, other, mask);
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

    fn round(elem: Elem, x: f32) -> f32 {
        let mut bytes = vec![0; elem.bytes()];
        crate::store_f32(elem, &[x], &mut bytes);
        load(elem, &bytes)[0]
    }

    /// Neighbours, then neighbours of those, absent ones being skipped; then rounded.
    fn tree_of(elem: Elem, values: &[f32]) -> f32 {
        let mut sums = values.to_vec();
        while sums.len() > 1 {
            sums = sums.chunks(2).map(|two| two.iter().copied().reduce(|a, b| a + b).unwrap()).collect();
        }
        round(elem, sums[0])
    }

    /// The order of a row by its definition.
    fn by_definition(what: Reduce, order: Order, elem: Elem, values: &[f32]) -> f32 {
        let part = 256 / elem.bytes();
        let lanes = |n: usize| -> Vec<f32> {
            let lane = |j| values.iter().skip(j).step_by(n).fold(1.0, |a: f32, b| round(elem, a * b));
            (0..n).map(lane).collect()
        };
        match (what, order) {
            (Reduce::Sum, Order::Registers) => {
                values.chunks(part).fold(0.0, |sum, part| round(elem, sum + tree_of(elem, part)))
            }
            (Reduce::Sum, Order::Memory) if values.len() <= part => tree_of(elem, values),
            (Reduce::Sum, Order::Memory) => {
                let add = |a: &[f32], b: &[f32]| -> Vec<f32> {
                    a.iter().enumerate().map(|(j, x)| b.get(j).map_or(*x, |y| round(elem, x + y))).collect()
                };
                let (whole, rest) = values.split_at(values.len() / part * part);
                let whole: Vec<Vec<f32>> = whole.chunks(part).map(<[f32]>::to_vec).collect();
                let mut sums: Vec<Vec<f32>> = whole.chunks_exact(2).map(|two| add(&two[0], &two[1])).collect();
                if whole.len() == 1 {
                    sums = whole;
                } else if whole.len() % 2 == 1 {
                    sums[0] = add(&sums[0], whole.last().unwrap());
                }
                sums[0] = add(&sums[0], rest);
                while sums.len() > 1 {
                    let last = (sums.len() % 2 == 1).then(|| sums.pop().unwrap());
                    sums = sums.chunks(2).map(|two| add(&two[0], &two[1])).collect();
                    if let (Some(last), Some(sum)) = (last, sums.last_mut()) {
                        *sum = add(sum, &last);
                    }
                }
                tree_of(elem, &sums[0])
            }
            (Reduce::Prod, Order::Registers) => {
                let mut lanes = lanes(part);
                while lanes.len() > 1 {
                    let half = lanes.len() / 2;
                    lanes = (0..half).map(|j| round(elem, lanes[j] * lanes[j + half])).collect();
                }
                lanes[0]
            }
            (Reduce::Prod, Order::Memory) => round(elem, lanes(32 / elem.bytes()).into_iter().product()),
            _ => values.iter().copied().reduce(function(what)).unwrap(),
        }
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
            for (what, order) in Reduce::ALL.into_iter().flat_map(|what| [(what, Order::Registers), (what, Order::Memory)]) {
                let mut got = vec![0; elem.bytes()];
                what.row(order, elem, &row, &mut got);
                let result = by_definition(what, order, elem, &load(elem, &row));
                let mut want = vec![0; elem.bytes()];
                crate::store_f32(elem, &[math::canonical(result)], &mut want);
                // Which zero comes out of zeros is told by `Max` and `Min` alone.
                let zero = matches!(what, Reduce::Sum) && load(elem, &got) == [0.0] && result == 0.0;
                prop_assert!(zero || got == want, "{:?} {:?}: {:?} {:?}", what, order, got, want);
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
                        what.row(Order::Memory, elem, &row, &mut got);
                        prop_assert_eq!(got, want.to_le_bytes());
                        if matches!(what, Reduce::Max | Reduce::Min) {
                            prop_assert_eq!(arg(what, elem, &row), x.iter().position(|x| *x == want));
                        }
                    }
                )*};
            }
            check!(i8 i16 i32 i64 u8 u16 u32 u64);
        }
    }

    #[test]
    fn first_of_equals_or_of_nan() {
        let row = |x: &[f32]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let nan = f32::NAN;
        for (x, max, min) in
            [(&[1.0, 3.0, 3.0, 0.5, 0.5][..], 1, 3), (&[-0.0, 0.0, -0.0], 0, 0), (&[9.0, nan, nan], 1, 1), (&[], 0, 0)]
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
            what.row(Order::Registers, Elem::F32, &[], &mut got);
            assert_eq!(got, want.to_le_bytes());
        }
    }
}
