use proptest::prelude::*;

use super::*;

const MODES: [RoundMode; 6] =
    [RoundMode::Rint, RoundMode::Round, RoundMode::Floor, RoundMode::Ceil, RoundMode::Trunc, RoundMode::Odd];
const NARROW: [Elem; 4] = [Elem::F16, Elem::BF16, Elem::F8E4M3, Elem::F8E5M2];
const INTS: [Elem; 8] = [Elem::I8, Elem::I16, Elem::I32, Elem::I64, Elem::U8, Elem::U16, Elem::U32, Elem::U64];

/// Exponent bits, mantissa bits, has infinities.
fn format(elem: Elem) -> (u32, u32, bool) {
    match elem {
        Elem::F32 => (8, 23, true),
        Elem::F16 => (5, 10, true),
        Elem::BF16 => (8, 7, true),
        Elem::F8E4M3 => (4, 3, false),
        Elem::F8E5M2 => (5, 2, true),
        _ => unreachable!(),
    }
}

/// The value of a code, by the definition of the format; `None` for NaN.
fn value(elem: Elem, code: u32) -> Option<f64> {
    let (e, m, inf) = format(elem);
    let sign = if code >> (e + m) & 1 == 1 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = ((code >> m) & ((1 << e) - 1), code & ((1 << m) - 1));
    let bias = (1i32 << (e - 1)) - 1;
    if exponent == (1 << e) - 1 {
        match (inf, mantissa) {
            (true, 0) => return Some(sign * f64::INFINITY),
            (true, _) => return None,
            (false, x) if x == (1 << m) - 1 => return None,
            _ => {}
        }
    }
    let fraction = mantissa as f64 / (1u32 << m) as f64;
    Some(
        sign * if exponent == 0 {
            fraction * 2f64.powi(1 - bias)
        } else {
            (1.0 + fraction) * 2f64.powi(exponent as i32 - bias)
        },
    )
}

/// The code `x` rounds to, found by search among all magnitudes of the format.
fn nearest_code(elem: Elem, x: f64, mode: RoundMode, saturate: bool) -> u32 {
    let (e, m, inf) = format(elem);
    let sign = (x.is_sign_negative() as u32) << (e + m);
    let max = (((1u32 << e) - 1) << m) + if inf { 0 } else { (1 << m) - 1 } - 1;
    let a = x.abs();
    let largest = value(elem, max).unwrap();
    let outward = match mode {
        RoundMode::Floor => x < 0.0,
        RoundMode::Ceil => x > 0.0,
        _ => false,
    };
    let overflow = sign | if saturate { max } else { max + 1 };
    if a.is_infinite() {
        return overflow;
    }
    if a > largest {
        // The next value, were there one more exponent.
        let next = largest + (largest - value(elem, max - 1).unwrap());
        let over = match mode {
            RoundMode::Rint | RoundMode::Round => {
                let middle = (largest + next) / 2.0;
                a > middle || (a == middle && (max & 1 == 1 || mode == RoundMode::Round))
            }
            RoundMode::Odd => false,
            _ => outward,
        };
        return if over { overflow } else { sign | max };
    }
    let (mut low, mut high) = (0, max);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if value(elem, middle).unwrap() <= a {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let below = value(elem, low).unwrap();
    if below == a {
        return sign | low;
    }
    let above = value(elem, low + 1).unwrap();
    let up = match mode {
        RoundMode::Rint | RoundMode::Round => {
            let (down_distance, up_distance) = (a - below, above - a);
            up_distance < down_distance || (up_distance == down_distance && (low & 1 == 1 || mode == RoundMode::Round))
        }
        RoundMode::Trunc => false,
        RoundMode::Odd => low & 1 == 0,
        _ => outward,
    };
    sign | (low + up as u32)
}

fn range(elem: Elem) -> (i128, i128) {
    let bits = 8 * elem.bytes() as u32;
    if elem.is_signed_int() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn wrap(x: i128, elem: Elem) -> i128 {
    let (low, high) = range(elem);
    (x - low).rem_euclid(high - low + 1) + low
}

fn integer(x: f64, elem: Elem, mode: RoundMode, saturate: bool) -> i128 {
    if x.is_nan() {
        return 0;
    }
    let floor = x.floor();
    let rest = x - floor;
    let rounded = match mode {
        _ if rest == 0.0 || x.is_infinite() => x,
        RoundMode::Floor => floor,
        RoundMode::Ceil => floor + 1.0,
        RoundMode::Trunc => floor + (x < 0.0) as u8 as f64,
        RoundMode::Odd => floor + (floor % 2.0 == 0.0) as u8 as f64,
        RoundMode::Rint => floor + (rest > 0.5 || rest == 0.5 && floor % 2.0 != 0.0) as u8 as f64,
        RoundMode::Round => floor + (rest > 0.5 || rest == 0.5 && x > 0.0) as u8 as f64,
    };
    let (low, high) = range(elem);
    let exact = rounded as i128;
    if saturate || elem.bytes() == 8 {
        exact.clamp(low, high)
    } else {
        wrap(exact.clamp(i64::MIN as i128, i64::MAX as i128), elem)
    }
}

fn code_at(bytes: &[u8], elem: Elem, i: usize) -> u64 {
    let mut wide = [0; 8];
    wide[..elem.bytes()].copy_from_slice(&bytes[i * elem.bytes()..][..elem.bytes()]);
    u64::from_le_bytes(wide)
}

fn run(src_elem: Elem, src: &[u8], dst: Elem, mode: RoundMode, saturate: bool) -> Vec<u8> {
    let mut out = vec![0; src.len() / src_elem.bytes() * dst.bytes()];
    convert(src_elem, src, dst, &mut out, mode, saturate);
    out
}

/// Compares one conversion of `src` with the definitions above.
fn check(src_elem: Elem, src: &[u8], dst: Elem, mode: RoundMode, saturate: bool) {
    let out = run(src_elem, src, dst, mode, saturate);
    for i in 0..src.len() / src_elem.bytes() {
        let code = code_at(src, src_elem, i);
        let got = code_at(&out, dst, i);
        let label = || format!("{src_elem} {code:#x} -> {dst} {mode:?} saturate {saturate}: got {got:#x}");
        let int = wrap(code as i128, src_elem_or(src_elem));
        let x = if src_elem.is_float() { value(src_elem, code as u32) } else { Some(int as f64) };
        if dst.is_float() {
            match x {
                None => assert!(value(dst, got as u32).is_none(), "{}", label()),
                Some(x) => {
                    assert_eq!(got, nearest_code(dst, x, mode, saturate && dst != Elem::F32) as u64, "{}", label());
                }
            }
        } else {
            let want = if src_elem.is_float() {
                integer(x.unwrap_or(f64::NAN), dst, mode, saturate)
            } else if saturate {
                int.clamp(range(dst).0, range(dst).1)
            } else {
                wrap(int, dst)
            };
            assert_eq!(wrap(got as i128, dst), want, "{}", label());
        }
    }
}

fn src_elem_or(elem: Elem) -> Elem {
    if elem.is_float() { Elem::U64 } else { elem }
}

#[test]
fn every_16_bit_source_to_every_type() {
    let codes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for src in [Elem::F16, Elem::BF16, Elem::I16, Elem::U16] {
        for dst in Elem::ALL.into_iter().filter(|d| *d != src) {
            for mode in MODES {
                if !src.is_float() && !dst.is_float() && mode != RoundMode::Rint {
                    continue;
                }
                check(src, &codes, dst, mode, false);
                check(src, &codes, dst, mode, true);
            }
        }
    }
}

#[test]
fn every_8_bit_source_to_every_type() {
    let codes: Vec<u8> = (0..=u8::MAX).collect();
    for src in [Elem::F8E4M3, Elem::F8E5M2, Elem::I8, Elem::U8] {
        for dst in Elem::ALL.into_iter().filter(|d| *d != src) {
            for mode in MODES {
                check(src, &codes, dst, mode, false);
                check(src, &codes, dst, mode, true);
            }
        }
    }
}

#[test]
fn nan_keeps_sign_and_payload() {
    let nan = 0xffa1_2345u32.to_le_bytes();
    assert_eq!(run(Elem::F32, &nan, Elem::F16, RoundMode::Rint, true), 0xff09u16.to_le_bytes());
    assert_eq!(run(Elem::F32, &nan, Elem::F16, RoundMode::Odd, false), 0xff09u16.to_le_bytes());
    assert_eq!(run(Elem::F32, &nan, Elem::BF16, RoundMode::Rint, false), 0xffe1u16.to_le_bytes());
    assert_eq!(run(Elem::F32, &nan, Elem::F8E4M3, RoundMode::Rint, true), [0xff]);
}

#[test]
fn none_is_nearest_even_and_round_integral_rounds() {
    assert_eq!(RoundMode::None, RoundMode::default());
    let expect = [(2.5, [2.0, 3.0, 2.0, 3.0, 2.0, 3.0]), (-1.25, [-1.0, -1.0, -2.0, -1.0, -1.0, -1.0])];
    for (x, want) in expect {
        assert_eq!(MODES.map(|m| round_integral(x, m)), want);
    }
}

/// `f32` bits with ties and extremes of the narrow formats made likely.
fn float_bits() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (any::<u32>(), 8u32..24).prop_map(|(x, s)| x >> s << s),
        (any::<u32>(), 8u32..24, 0u32..3).prop_map(|(x, s, d)| (x >> s << s).wrapping_add(d).wrapping_sub(1)),
        (any::<bool>(), 100u32..150, any::<u32>(), 12u32..23)
            .prop_map(|(neg, e, m, s)| (neg as u32) << 31 | e << 23 | ((m & 0x7f_ffff) >> s << s)),
    ]
}

fn int_bits() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64, 0u32..64).prop_map(|(x, s, t)| (x >> s) >> t << t)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn from_f32(bits in float_bits(), mode in 0usize..6, saturate: bool) {
        for dst in NARROW.into_iter().chain(INTS) {
            check(Elem::F32, &bits.to_le_bytes(), dst, MODES[mode], saturate);
        }
    }

    #[test]
    fn from_wide_ints(x in int_bits(), negate: bool, mode in 0usize..6, saturate: bool) {
        let x = if negate { x.wrapping_neg() } else { x };
        for src in [Elem::I32, Elem::U32, Elem::I64, Elem::U64] {
            for dst in Elem::ALL.into_iter().filter(|d| *d != src) {
                // The oracle computes in f64: keep to what f64 holds for float targets.
                let exact = if negate { x & !0x7ff } else { x & 0x1f_ffff_ffff_ffff };
                let kept = if dst.is_float() { exact } else { x };
                check(src, &kept.to_le_bytes()[..src.bytes()], dst, MODES[mode], saturate);
            }
        }
    }
}
