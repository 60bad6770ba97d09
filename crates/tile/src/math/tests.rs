//! Points are (argument bits, result bits).

use crate::convert::tests::nearest_code;
use crate::{Binary, Elem, RoundMode, Saturation, Ternary, Unary, binary, ternary, unary};

use super::points::{EXP, LN, RSQRT, SQRT};
use super::*;

type Function = fn(f32) -> f32;
type Wide = fn(f64) -> f64;

fn check(table: &[(u32, u32)], scalar: fn(f32) -> f32, slice: fn(&[f32], &mut [f32])) {
    let arguments: Vec<f32> = table.iter().map(|(x, _)| f32::from_bits(*x)).collect();
    let mut results = vec![0.0; arguments.len()];
    slice(&arguments, &mut results);
    for ((x, want), got) in table.iter().zip(results) {
        assert_eq!(got.to_bits(), *want, "{:e}", f32::from_bits(*x));
        assert_eq!(scalar(f32::from_bits(*x)).to_bits(), *want, "{:e}", f32::from_bits(*x));
    }
}

#[test]
fn correctly_rounded_points() {
    check(EXP, exp, exp_slice);
    check(LN, ln, ln_slice);
    check(SQRT, sqrt, sqrt_slice);
    check(RSQRT, rsqrt, rsqrt_slice);
}

#[test]
fn special_values() {
    let (inf, nan) = (f32::INFINITY, f32::from_bits(0xffc0_1234));
    let cases: &[(Function, f32, f32)] = &[
        (exp, -inf, 0.0),
        (exp, inf, inf),
        (exp, 0.0, 1.0),
        (exp, -0.0, 1.0),
        (exp, 1e30, inf),
        (exp, -1e30, 0.0),
        (exp, nan, NAN),
        (ln, 0.0, -inf),
        (ln, -0.0, -inf),
        (ln, 1.0, 0.0),
        (ln, inf, inf),
        (ln, -1.0, NAN),
        (ln, -inf, NAN),
        (ln, -1e-45, NAN),
        (ln, nan, NAN),
        (sqrt, -0.0, -0.0),
        (sqrt, -1.0, NAN),
        (sqrt, inf, inf),
        (sqrt, nan, NAN),
        (rsqrt, 0.0, inf),
        (rsqrt, -0.0, -inf),
        (rsqrt, inf, 0.0),
        (rsqrt, -1.0, NAN),
        (rsqrt, nan, NAN),
        (recip, 0.0, inf),
        (recip, -0.0, -inf),
        (recip, -inf, -0.0),
        (recip, nan, NAN),
    ];
    for (i, (f, x, want)) in cases.iter().enumerate() {
        assert_eq!(f(*x).to_bits(), want.to_bits(), "case {i}: {x}");
    }
}

/// Every argument of 16 bits, as vector ops compute it: in `f32`, then rounded to the type. The results are those of
/// one rounding of the function in `f64`, whose own error is far too small to matter to 11 bits, but for the few where
/// the first rounding lands on the middle between two f16.
#[test]
fn every_argument_of_16_bits_is_rounded_correctly_but_for_these() {
    let mut twice = Vec::new();
    let functions: [(&str, Unary, Wide); 5] = [
        ("exp", unary!(float: |a| exp(a)), f64::exp),
        ("ln", unary!(float: |a| ln(a)), f64::ln),
        ("sqrt", unary!(float: |a| sqrt(a)), f64::sqrt),
        ("rsqrt", unary!(float: |a| rsqrt(a)), |x| 1.0 / x.sqrt()),
        ("recip", unary!(float: |a| recip(a)), |x| 1.0 / x),
    ];
    let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for (elem, (name, function, wide)) in [Elem::F16, Elem::BF16].into_iter().flat_map(|e| functions.map(|f| (e, f))) {
        let (mut arguments, mut results) = (vec![0.0; 65536], vec![0; all.len()]);
        crate::load_f32(elem, &all, &mut arguments);
        assert!(function.run(elem, &all, &mut results));
        for (code, (x, got)) in arguments.iter().zip(results.as_chunks().0).enumerate() {
            let got = u16::from_le_bytes(*got) as u32;
            let nan = if elem == Elem::F16 { 0x7e00 } else { 0x7fc0 };
            let want = nearest_code(elem, wide(*x as f64), RoundMode::Rint, Saturation::Off).unwrap_or(nan);
            if got != want {
                assert!(got.abs_diff(want) == 1, "{name} of {x:e} in {elem}");
                twice.push((elem, name, code, got, want));
            }
        }
    }
    let (exp, ln) = ("exp", "ln");
    let known = [
        (Elem::F16, exp, 0x1f79, 0x3c08, 0x3c07),
        (Elem::F16, exp, 0x25cf, 0x3c18, 0x3c17),
        (Elem::F16, ln, 0x1d78, 0xc53c, 0xc53b),
    ];
    assert_eq!(twice, known);
}

/// Binary operations on 16 bits: all left operands against some right ones.
#[test]
fn arithmetic_of_16_bits_is_rounded_correctly() {
    type Wide2 = fn(f64, f64) -> f64;
    let operations: [(&str, Binary, Wide2); 4] = [
        ("add", binary!(float: |a, b| a + b), |a, b| a + b),
        ("sub", binary!(float: |a, b| a - b), |a, b| a - b),
        ("mul", binary!(float: |a, b| a * b), |a, b| a * b),
        ("div", binary!(float: |a, b| a / b), |a, b| a / b),
    ];
    let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let mut lefts = vec![0.0; 65536];
    for (elem, (name, operation, wide)) in [Elem::F16, Elem::BF16].into_iter().flat_map(|e| operations.map(|o| (e, o)))
    {
        crate::load_f32(elem, &all, &mut lefts);
        for right in (0..=u16::MAX).step_by(2677) {
            let (mut b, mut results) = ([0.0], vec![0; all.len()]);
            crate::load_f32(elem, &right.to_le_bytes(), &mut b);
            assert!(operation.run_scalar(elem, &all, &right.to_le_bytes(), &mut results));
            for (a, got) in lefts.iter().zip(results.as_chunks().0) {
                // Sums of bf16 may be too wide for f64; it then rounds far below what 8 bits see.
                let want = nearest_code(elem, wide(*a as f64, b[0] as f64), RoundMode::Rint, Saturation::Off);
                let got = u16::from_le_bytes(*got) as u32;
                let nan = if elem == Elem::F16 { 0x7e00 } else { 0x7fc0 };
                assert_eq!(got, want.unwrap_or(nan), "{name} {a:e} {b:?} in {elem}");
            }
        }
    }
}

/// A fused multiply-add of f16 is rounded to `f32` first, and so not always correctly: here the exact sum lies just
/// above the middle of 1 and the next f16, and the first rounding puts it there.
#[test]
fn multiply_add_of_f16_is_rounded_twice() {
    let fused: Ternary = ternary!(float: |a, b, c| a.mul_add(b, c));
    let (a, b, c) = (1193.0 / 1024.0, 1758.0 / 1024.0 / 4096.0, 1.0f32);
    let bytes = [a, b, c].map(|x| {
        let mut bytes = [0; 2];
        crate::store_f32(Elem::F16, &[x], &mut bytes);
        bytes
    });
    let mut got = [0; 2];
    assert!(fused.run(Elem::F16, &bytes[0], &bytes[1], &bytes[2], &mut got));
    let exact = a as f64 * b as f64 + c as f64;
    assert_eq!(nearest_code(Elem::F16, exact, RoundMode::Rint, Saturation::Off), Some(0x3c01));
    assert_eq!(u16::from_le_bytes(got), 0x3c00);
}

/// All arguments against the host's `f64` functions. A difference is allowed only where the exact result
/// is so near the middle of two `f32` that the two evaluations in `f64` may fall on either side.
#[test]
#[ignore = "takes minutes"]
fn every_argument() {
    let cases: [(Function, Wide); 3] = [(exp, f64::exp), (ln, f64::ln), (rsqrt, |x| 1.0 / x.sqrt())];
    for (f, wide) in cases {
        let mut differing = 0;
        for bits in 0..=u32::MAX {
            let x = f32::from_bits(bits);
            let (got, exact) = (f(x), wide(x as f64));
            if got.is_nan() && exact.is_nan() || got == exact as f32 {
                continue;
            }
            let tolerance = exact.abs() * 2f64.powi(-50);
            assert!(got == (exact - tolerance) as f32 || got == (exact + tolerance) as f32, "{x:e} {got:e}");
            differing += 1;
        }
        println!("{differing} arguments near a middle");
    }
}

/// Special cases are those of C's `pow` (C23, F.10.4.4).
#[test]
fn powers_have_their_special_cases() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let cases = [
        (nan, 0.0, 1.0),
        (1.0, nan, 1.0),
        (nan, 2.0, nan),
        (2.0, nan, nan),
        (-1.0, inf, 1.0),
        (-1.0, -inf, 1.0),
        (0.0, -3.0, inf),
        (-0.0, -3.0, -inf),
        (-0.0, -2.0, inf),
        (-0.0, 3.0, -0.0),
        (0.0, 0.5, 0.0),
        (-inf, 3.0, -inf),
        (-inf, 0.5, inf),
        (-inf, -3.0, -0.0),
        (inf, -1.0, 0.0),
        (0.5, inf, 0.0),
        (0.5, -inf, inf),
        (-2.0, 0.5, nan),
        (-2.0, 3.0, -8.0),
        (-2.0, 16_777_216.0, inf),
        (2.0, -149.0, f32::from_bits(1)),
        (2.0, -151.0, 0.0),
    ];
    for (x, y, want) in cases {
        let got = pow(x, y);
        assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{x} ^ {y} is {got}, not {want}");
    }
}

#[test]
fn powers_are_the_nearest_numbers() {
    let mut seed = 7u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / 16_777_216.0
    };
    for _ in 0..200_000 {
        let (x, y) = (next() * 40.0, next() * 60.0 - 30.0);
        let (got, exact) = (pow(x, y), (x as f64).powf(y as f64));
        let tolerance = exact * 2f64.powi(-44);
        assert!(got == (exact - tolerance) as f32 || got == (exact + tolerance) as f32, "{x:e} ^ {y:e} is {got:e}");
    }
}

/// Against values of a computation with 120 digits: the number, its sine and its cosine.
#[test]
fn sines_and_cosines_of_numbers_of_all_sizes() {
    let points: [(u32, u32, u32); 15] = [
        (0x3f00_0000, 0x3ef5_7744, 0x3f60_a940),
        (0x3f49_0fdb, 0x3f35_04f3, 0x3f35_04f3),
        (0xc000_0000, 0xbf68_c7b7, 0xbed5_1133),
        (0x4049_0fdb, 0xb3bb_bd2e, 0xbf80_0000),
        (0x42c8_0000, 0xbf01_a12e, 0x3f5c_c0ee),
        (0xc7c3_5000, 0xbd12_6d55, 0xbf7f_d61c),
        (0x4b18_9680, 0x3ed7_520a, 0xbf68_42df),
        (0x5f37_59df, 0x3ef8_d99a, 0xbf5f_ba7c),
        (0x6f2d_1234, 0x3f7f_25a9, 0xbda7_093b),
        (0x7e96_7699, 0x3f7d_39e2, 0x3e16_55cd),
        (0x7f7f_ffff, 0xbf05_99b3, 0x3f5a_5f96),
        (0xff7f_ffff, 0x3f05_99b3, 0x3f5a_5f96),
        (0x3f48_f5c2, 0x3f34_f27e, 0x3f35_1766),
        (0x1e3c_e508, 0x1e3c_e508, 0x3f80_0000),
        (0x56a8_d5f0, 0x3f14_beef, 0xbf50_5a30),
    ];
    for (x, sine, cosine) in points {
        let x = f32::from_bits(x);
        assert_eq!((sin(x).to_bits(), cos(x).to_bits()), (sine, cosine), "{x}");
    }
    assert_eq!((sin(-0.0).to_bits(), cos(0.0)), ((-0f32).to_bits(), 1.0));
    assert!(sin(f32::INFINITY).is_nan() && cos(f32::NAN).is_nan());
}
