//! Elementwise operations on contiguous elements, declared once for all types.
//!
//! ```
//! use slipring_tile::{Arg, Binary, Elem, Unary, binary, math, unary};
//!
//! static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));
//! static EXP: Unary = unary!(float: |a| math::exp(a));
//! static ABS: Unary = unary!(float: |a| a.abs(), signed: |a| a.wrapping_abs());
//!
//! let (a, mut out) = ([1u8, 255], [0; 2]);
//! assert!(ADD.run(Elem::U8, &a, &[1, 1], &mut out) && out == [2, 0]);
//! assert!(ADD.run_args(Elem::I8, [Arg::Slice(&a), Arg::Scalar(&[2])], &mut out) && out == [3, 1]);
//! assert!(!ABS.supports(Elem::U8) && !EXP.run(Elem::I8, &a, &mut out));
//! ```
//!
//! A `float` closure computes in `f32` and serves every float type: narrower ones are widened (exactly) and
//! the result is rounded once, to the nearest even. Its NaN results become the canonical NaN. An `int`
//! closure is compiled for each integer type, or `signed` and `unsigned` ones for their half. Closures should be
//! branch-free, so that the loops vectorise. Where an operation has steps that the hardware rounds to the element's type one by
//! one, a `half` closure serves `f16` instead and rounds them with [`math::half`](crate::math::half). They may use `mul_add` where they mean it: it is fused on every host.

use multiversion::multiversion;

use crate::{Elem, Native, convert};

/// Computes as many elements as the shortest slice holds.
#[doc(hidden)]
pub type Kernel<const N: usize> = fn([&[u8]; N], &mut [u8]);

/// An elementwise operation of `N` operands of one type; made by [`unary!`](crate::unary),
/// [`binary!`](crate::binary) and [`ternary!`](crate::ternary).
#[derive(Clone, Copy, Debug)]
pub struct PerElement<const N: usize> {
    #[doc(hidden)]
    pub float: Option<Kernel<N>>,
    /// For `f16` instead of `float`; it also computes in `f32`.
    #[doc(hidden)]
    pub half: Option<Kernel<N>>,
    /// For `i8`, `i16`, `i32`, `i64`.
    #[doc(hidden)]
    pub signed: [Option<Kernel<N>>; 4],
    /// For `ui8`, `ui16`, `ui32`, `ui64`.
    #[doc(hidden)]
    pub unsigned: [Option<Kernel<N>>; 4],
}

/// An elementwise operation of one operand.
pub type Unary = PerElement<1>;
/// An elementwise operation of two operands.
pub type Binary = PerElement<2>;
/// An elementwise operation of three operands.
pub type Ternary = PerElement<3>;

/// An operand, as little-endian bytes of the operation's type.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// One element for each element of the result.
    Slice(&'a [u8]),
    /// One element used for all.
    Scalar(&'a [u8]),
}

/// Elements processed at a time where operands need preparing.
const CHUNK: usize = 256;

impl<const N: usize> PerElement<N> {
    /// An operation that supports no type.
    #[doc(hidden)]
    pub const NONE: PerElement<N> = PerElement { float: None, half: None, signed: [None; 4], unsigned: [None; 4] };

    /// Whether the operation exists for `elem`.
    pub fn supports(&self, elem: Elem) -> bool {
        self.kernel(elem).is_some()
    }

    fn kernel(&self, elem: Elem) -> Option<Kernel<N>> {
        let size = elem.bytes().trailing_zeros() as usize;
        match elem {
            _ if elem.values() > 1 => None,
            Elem::F16 if self.half.is_some() => self.half,
            _ if elem.is_float() => self.float,
            _ if elem.is_signed_int() => self.signed[size],
            _ => self.unsigned[size],
        }
    }

    /// The kernel for slices of `elem` that need no preparation, all as long as the result; `None` where they need it:
    /// use [`PerElement::run_args`] then.
    pub fn direct(&self, elem: Elem) -> Option<Kernel<N>> {
        self.kernel(elem).filter(|_| elem == Elem::F32 || !elem.is_float())
    }

    /// Computes as many elements as `out` and every slice hold. False, and nothing written, if the type is not
    /// supported or a scalar is not one element long.
    pub fn run_args(&self, elem: Elem, args: [Arg; N], out: &mut [u8]) -> bool {
        let Some(kernel) = self.kernel(elem) else { return false };
        let size = elem.bytes();
        let mut bytes = out.len();
        for arg in args {
            match arg {
                Arg::Slice(slice) => bytes = bytes.min(slice.len()),
                Arg::Scalar(scalar) if scalar.len() != size => return false,
                Arg::Scalar(_) => {}
            }
        }
        let out = &mut out[..bytes / size * size];
        let wide = if elem.is_float() { Elem::F32 } else { elem };
        if wide == elem && args.iter().all(|a| matches!(a, Arg::Slice(_))) {
            kernel(args.map(|a| if let Arg::Slice(a) = a { a } else { &[] }), out);
            return true;
        }
        // Operands in the type of the kernel; scalars are filled in once.
        let mut buffers = [[0; CHUNK * 8]; N];
        let widths = wide.bytes();
        for (buffer, arg) in buffers.iter_mut().zip(args) {
            if let Arg::Scalar(scalar) = arg {
                widen(elem, scalar, &mut buffer[..widths]);
                let (first, rest) = buffer.split_at_mut(widths);
                rest.chunks_exact_mut(widths).for_each(|e| e.copy_from_slice(first));
            }
        }
        let mut result = [0; CHUNK * 8];
        for (i, out) in out.chunks_mut(CHUNK * size).enumerate() {
            let (at, n) = (i * CHUNK * size, out.len() / size * widths);
            for (buffer, arg) in buffers.iter_mut().zip(args) {
                if let Arg::Slice(slice) = arg {
                    widen(elem, &slice[at..][..out.len()], &mut buffer[..n]);
                }
            }
            let operands = std::array::from_fn(|i| &buffers[i][..n]);
            if wide == elem {
                kernel(operands, out);
            } else {
                kernel(operands, &mut result[..n]);
                narrow(elem, &result[..n], out);
            }
        }
        true
    }
}

/// Elements of `elem` (not packed) as the bytes of the type its kernels compute in.
pub(crate) fn widen(elem: Elem, src: &[u8], dst: &mut [u8]) {
    if elem == Elem::F32 || !elem.is_float() {
        return dst.copy_from_slice(src);
    }
    let mut floats = [0.0; CHUNK];
    for (src, dst) in src.chunks(CHUNK * elem.bytes()).zip(dst.chunks_mut(CHUNK * 4)) {
        let floats = &mut floats[..dst.len() / 4];
        convert::load_f32(elem, src, floats);
        convert::store_f32(Elem::F32, floats, dst);
    }
}

/// The reverse of [`widen`], each element rounded once.
pub(crate) fn narrow(elem: Elem, src: &[u8], dst: &mut [u8]) {
    if elem == Elem::F32 || !elem.is_float() {
        return dst.copy_from_slice(src);
    }
    let mut floats = [0.0; CHUNK];
    for (src, dst) in src.chunks(CHUNK * 4).zip(dst.chunks_mut(CHUNK * elem.bytes())) {
        let floats = &mut floats[..src.len() / 4];
        convert::load_f32(Elem::F32, src, floats);
        convert::store_f32(elem, floats, dst);
    }
}

impl Unary {
    /// `out[i] = op(a[i])`; see [`PerElement::run_args`].
    pub fn run(&self, elem: Elem, a: &[u8], out: &mut [u8]) -> bool {
        self.run_args(elem, [Arg::Slice(a)], out)
    }
}

impl Binary {
    /// `out[i] = op(a[i], b[i])`; see [`PerElement::run_args`].
    pub fn run(&self, elem: Elem, a: &[u8], b: &[u8], out: &mut [u8]) -> bool {
        self.run_args(elem, [Arg::Slice(a), Arg::Slice(b)], out)
    }

    /// `out[i] = op(a[i], scalar)`; see [`PerElement::run_args`].
    pub fn run_scalar(&self, elem: Elem, a: &[u8], scalar: &[u8], out: &mut [u8]) -> bool {
        self.run_args(elem, [Arg::Slice(a), Arg::Scalar(scalar)], out)
    }

    /// `acc[i] = op(acc[i], b[i])`; see [`PerElement::run_args`].
    pub fn run_in_place(&self, elem: Elem, acc: &mut [u8], b: &[u8]) -> bool {
        if !self.supports(elem) {
            return false;
        }
        let mut old = [0; CHUNK * 8];
        let bytes = CHUNK * elem.bytes();
        for (acc, b) in acc.chunks_mut(bytes).zip(b.chunks(bytes)) {
            let old = &mut old[..acc.len()];
            old.copy_from_slice(acc);
            self.run(elem, old, b, acc);
        }
        true
    }
}

impl Ternary {
    /// `out[i] = op(a[i], b[i], c[i])`; see [`PerElement::run_args`].
    pub fn run(&self, elem: Elem, a: &[u8], b: &[u8], c: &[u8], out: &mut [u8]) -> bool {
        self.run_args(elem, [Arg::Slice(a), Arg::Slice(b), Arg::Slice(c)], out)
    }
}

/// The loops that the macros instantiate.
#[doc(hidden)]
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn loop1<T: Native, F: Fn(T) -> T>([a]: [&[u8]; 1], out: &mut [u8], f: F) {
    for (o, a) in T::split_mut(out).iter_mut().zip(T::split(a)) {
        *o = f(T::get(*a)).put();
    }
}

#[doc(hidden)]
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn loop2<T: Native, F: Fn(T, T) -> T>([a, b]: [&[u8]; 2], out: &mut [u8], f: F) {
    for ((o, a), b) in T::split_mut(out).iter_mut().zip(T::split(a)).zip(T::split(b)) {
        *o = f(T::get(*a), T::get(*b)).put();
    }
}

#[doc(hidden)]
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma", "aarch64+neon"))]
pub fn loop3<T: Native, F: Fn(T, T, T) -> T>([a, b, c]: [&[u8]; 3], out: &mut [u8], f: F) {
    for (((o, a), b), c) in T::split_mut(out).iter_mut().zip(T::split(a)).zip(T::split(b)).zip(T::split(c)) {
        *o = f(T::get(*a), T::get(*b), T::get(*c)).put();
    }
}

/// Declares a [`Unary`](crate::Unary) from any of `float: |a| …`, `int: |a| …` (or `signed:`, `unsigned:`).
#[macro_export]
macro_rules! unary {
    ($($kind:ident: |$a:ident| $body:expr),+ $(,)?) => {
        $crate::lanes!(loop1; $($kind: |$a| $body),+)
    };
}

/// Declares a [`Binary`](crate::Binary) from any of `float: |a, b| …`, `int: |a, b| …` (or `signed:`, `unsigned:`).
#[macro_export]
macro_rules! binary {
    ($($kind:ident: |$a:ident, $b:ident| $body:expr),+ $(,)?) => {
        $crate::lanes!(loop2; $($kind: |$a, $b| $body),+)
    };
}

/// Declares a [`Ternary`](crate::Ternary) from any of `float: |a, b, c| …`, `int: …` (or `signed:`, `unsigned:`).
#[macro_export]
macro_rules! ternary {
    ($($kind:ident: |$a:ident, $b:ident, $c:ident| $body:expr),+ $(,)?) => {
        $crate::lanes!(loop3; $($kind: |$a, $b, $c| $body),+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! lanes {
    ($loop:ident; $($kind:ident: |$($a:ident),+| $body:expr),+) => {{
        let mut op = $crate::lanes::PerElement::NONE;
        $($crate::lanes!(@$kind op, $loop, [$($a)+], $body);)+
        op
    }};
    (@float $op:ident, $loop:ident, [$($a:ident)+], $body:expr) => {
        $op.float = Some(|args, out| {
            $crate::lanes::$loop(args, out, |$($a: f32),+| -> f32 { $crate::math::canonical($body) })
        });
    };
    (@half $op:ident, $loop:ident, [$($a:ident)+], $body:expr) => {
        $op.half = Some(|args, out| {
            $crate::lanes::$loop(args, out, |$($a: f32),+| -> f32 { $crate::math::canonical($body) })
        });
    };
    (@signed $op:ident, $loop:ident, $args:tt, $body:expr) => {
        $op.signed = $crate::lanes!(@types $loop, $args, $body, i8 i16 i32 i64);
    };
    (@unsigned $op:ident, $loop:ident, $args:tt, $body:expr) => {
        $op.unsigned = $crate::lanes!(@types $loop, $args, $body, u8 u16 u32 u64);
    };
    (@int $op:ident, $loop:ident, $args:tt, $body:expr) => {
        $crate::lanes!(@signed $op, $loop, $args, $body);
        $crate::lanes!(@unsigned $op, $loop, $args, $body);
    };
    (@types $loop:ident, $args:tt, $body:expr, $($ty:ident)+) => {
        [$($crate::lanes!(@one $loop, $args, $body, $ty)),+]
    };
    (@one $loop:ident, [$($a:ident)+], $body:expr, $ty:ident) => {
        Some(|args, out| $crate::lanes::$loop(args, out, |$($a: $ty),+| -> $ty { $body }))
    };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math;

    static ADD: Binary = binary!(float: |a, b| a + b, int: |a, b| a.wrapping_add(b));
    static MAX: Binary = binary!(float: |a, b| math::maximum(a, b), int: |a, b| a.max(b));
    static MIN: Binary = binary!(float: |a, b| math::minimum(a, b), int: |a, b| a.min(b));
    static NEGATE: Unary = unary!(float: |a| -a, signed: |a| a.wrapping_neg());
    static SHIFT: Binary = binary!(signed: |a, b| a.wrapping_shr(b as u32), unsigned: |a, b| a.wrapping_shr(b as u32));
    static FUSED: Ternary =
        ternary!(float: |a, b, c| a.mul_add(b, c), int: |a, b, c| a.wrapping_mul(b).wrapping_add(c));

    fn one(elem: Elem, bytes: &[u8]) -> f32 {
        let mut x = [0.0];
        convert::load_f32(elem, bytes, &mut x);
        x[0]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn floats_are_computed_wide_and_rounded_once(
            elem in prop::sample::select(vec![Elem::F32, Elem::F16, Elem::BF16, Elem::F8E4M3, Elem::F8E5M2]),
            data in prop::collection::vec(any::<[u8; 12]>(), 0..700), scalar: bool,
        ) {
            let size = elem.bytes();
            let part = |i: usize| -> Vec<u8> { data.iter().flat_map(|d| d[4 * i..4 * i + size].to_vec()).collect() };
            let (a, b, c) = (part(0), part(1), part(2));
            let mut out = vec![0; a.len()];
            let constant = [0x35; 8];
            let last = if scalar { Arg::Scalar(&constant[..size]) } else { Arg::Slice(&c) };
            prop_assert!(FUSED.run_args(elem, [Arg::Slice(&a), Arg::Slice(&b), last], &mut out));
            for i in 0..data.len() {
                let at = i * size..(i + 1) * size;
                let z = if scalar { &constant[..size] } else { &c[at.clone()] };
                let (x, y, z) = (one(elem, &a[at.clone()]), one(elem, &b[at.clone()]), one(elem, z));
                let mut want = vec![0; size];
                convert::store_f32(elem, &[math::canonical(x.mul_add(y, z))], &mut want);
                prop_assert_eq!(&out[at], &want[..]);
            }
        }

        #[test]
        fn ints_are_native(a in any::<[i64; 9]>(), b in any::<[i64; 9]>()) {
            fn bytes<T: Native>(x: [T; 9]) -> Vec<u8> where T::Bytes: IntoIterator<Item = u8> {
                x.into_iter().flat_map(|x| x.put()).collect()
            }
            macro_rules! check {
                ($($ty:ident)*) => {$(
                    let (x, y) = (a.map(|a| a as $ty), b.map(|b| b as $ty));
                    let mut out = vec![0; 9 * size_of::<$ty>()];
                    let ops: [(&Binary, fn($ty, $ty) -> $ty); 3] = [
                        (&ADD, |a, b| a.wrapping_add(b)),
                        (&MAX, |a, b| if a > b { a } else { b }),
                        (&SHIFT, |a, b| a >> (b & ($ty::BITS as $ty - 1))),
                    ];
                    for (op, f) in ops {
                        prop_assert!(op.run(<$ty as Native>::ELEM, &bytes(x), &bytes(y), &mut out));
                        prop_assert_eq!(&out, &bytes(std::array::from_fn(|i| f(x[i], y[i]))));
                        let mut acc = bytes(x);
                        prop_assert!(op.run_in_place(<$ty as Native>::ELEM, &mut acc, &bytes(y)));
                        prop_assert_eq!(&acc, &out);
                        prop_assert!(op.run_scalar(<$ty as Native>::ELEM, &bytes(x), &y[0].put(), &mut out));
                        prop_assert_eq!(&out, &bytes(x.map(|x| f(x, y[0]))));
                    }
                )*};
            }
            check!(i8 i16 i32 i64 u8 u16 u32 u64);
        }
    }

    #[test]
    fn maximum_and_minimum_of_special_values() {
        let values = [f32::NAN, -f32::NAN, 0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY];
        for (a, b) in values.into_iter().flat_map(|a| values.map(|b| (a, b))) {
            // A total order of numbers with −0 below +0; NaN is what comes out.
            let (mut low, mut high) = if a.total_cmp(&b).is_le() { (a, b) } else { (b, a) };
            if a.is_nan() || b.is_nan() {
                (low, high) = (math::NAN, math::NAN);
            }
            for (op, want) in [(&MAX, high), (&MIN, low)] {
                let mut out = [0; 4];
                assert!(op.run(Elem::F32, &a.put(), &b.put(), &mut out));
                assert_eq!(out, want.put(), "{a} {b}");
            }
        }
    }

    #[test]
    fn unsupported_types_and_bad_scalars_are_refused() {
        let mut out = [9; 4];
        assert!(NEGATE.supports(Elem::F8E4M3) && NEGATE.supports(Elem::I64) && !NEGATE.supports(Elem::U16));
        assert!(!NEGATE.run(Elem::U32, &[1, 0, 0, 0], &mut out));
        assert!(!ADD.run_scalar(Elem::F32, &[0; 4], &[0; 2], &mut out));
        assert_eq!(out, [9; 4]);
        assert!(NEGATE.run(Elem::F32, &f32::NAN.put(), &mut out) && out == math::NAN.put());
    }
}
