//! Points are (argument bits, result bits).

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
            let room = exact.abs() * 2f64.powi(-50);
            assert!(got == (exact - room) as f32 || got == (exact + room) as f32, "{x:e} {got:e}");
            differing += 1;
        }
        println!("{differing} arguments near a middle");
    }
}
