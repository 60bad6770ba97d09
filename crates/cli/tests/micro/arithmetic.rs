//! Arithmetic, comparisons, reductions, conversions.

use crate::micro::kit::*;

const F32: Ty = Ty("f32", 4);
const I32: Ty = Ty("i32", 4);
const U32: Ty = Ty("ui32", 4);
const I16: Ty = Ty("i16", 2);
const U16: Ty = Ty("ui16", 2);
const I8: Ty = Ty("i8", 1);

/// f32 lanes: special cases and spread values.
fn floats(seed: u64) -> Vec<f32> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        1e-40,
        f32::MAX,
        0.5,
        2.5,
    ];
    let spread = noise(seed, 64).into_iter().map(|bits| (bits as i32 as f32) / 3e8);
    let mut lanes: Vec<f32> = spread.collect();
    for (i, edge) in edges.into_iter().enumerate() {
        lanes[(i * 5 + seed as usize * 7) % 64] = edge;
    }
    lanes
}

fn ints(seed: u64, ty: Ty) -> Vec<i64> {
    let bits = 8 * ty.1 as u32;
    let signed = !ty.0.starts_with('u');
    let wrap = |x: u64| match signed {
        true => (x << (64 - bits)) as i64 >> (64 - bits),
        false => (x << (64 - bits) >> (64 - bits)) as i64,
    };
    let mut lanes: Vec<i64> = noise(seed, ty.lanes()).into_iter().map(wrap).collect();
    for (i, edge) in [0, 1, u64::MAX, 1 << (bits - 1), (1 << (bits - 1)) - 1].into_iter().enumerate() {
        lanes[i * 3 + seed as usize] = wrap(edge);
    }
    lanes
}

fn int_bytes(lanes: &[i64], ty: Ty) -> Vec<u8> {
    lanes.iter().flat_map(|x| x.to_le_bytes()[..ty.1].to_vec()).collect()
}

fn f32_of(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// Bit-identical, except that all NaNs are equivalent.
fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn check_floats(op: &str, operands: &str, types: &str, more: &str, f: impl Fn(f32, f32) -> f32) {
    let (a, b) = (floats(1), floats(2));
    let (a_bytes, b_bytes) = (bytes(a.clone(), f32::to_le_bytes), bytes(b.clone(), f32::to_le_bytes));
    for count in [64, 37] {
        let text = load_reg("a", F32)
            + &load_reg("b", F32)
            + &mask(F32, count)
            + &format!("    %r = pto.{op} {operands} : {types} -> !pto.vreg<64xf32>\n")
            + &store_reg("r", F32, 0);
        let found = f32_of(&run(more, &text, &[&a_bytes, &b_bytes]));
        for i in 0..64 {
            let expected = if i < count { f(a[i], b[i]) } else { 0.0 };
            assert!(same(found[i], expected), "{op} lane {i}: {} {} gives {}, not {expected}", a[i], b[i], found[i]);
        }
    }
}

const TWO: &str = "!pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32>";
const ONE: &str = "!pto.vreg<64xf32>, !pto.mask<b32>";

/// NaN if either is NaN; otherwise the larger one.
fn larger(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else if a == b {
        if a.is_sign_negative() { b } else { a }
    } else if a > b {
        a
    } else {
        b
    }
}

#[test]
fn float_lanes() {
    check_floats("vadd", "%va, %vb, %m", TWO, "", |a, b| a + b);
    check_floats("vsub", "%va, %vb, %m", TWO, "", |a, b| a - b);
    check_floats("vmul", "%va, %vb, %m", TWO, "", |a, b| a * b);
    check_floats("vdiv", "%va, %vb, %m", TWO, "", |a, b| a / b);
    check_floats("vmax", "%va, %vb, %m", TWO, "", larger);
    check_floats("vmin", "%va, %vb, %m", TWO, "", |a, b| -larger(-a, -b));
    check_floats("vprelu", "%va, %vb, %m", TWO, "", |a, b| if a >= 0.0 { a } else { a * b });
    check_floats("vabs", "%va, %m", ONE, "", |a, _| f32::from_bits(a.to_bits() & 0x7fff_ffff));
    check_floats("vneg", "%va, %m", ONE, "", |a, _| -a);
    check_floats("vsqrt", "%va, %m", ONE, "", |a, _| (a as f64).sqrt() as f32);
    check_floats("vexp", "%va, %m", ONE, "", |a, _| (a as f64).exp() as f32);
    check_floats("vln", "%va, %m", ONE, "", |a, _| (a as f64).ln() as f32);
    check_floats("vrelu", "%va, %m", ONE, "", |a, _| if a <= 0.0 { 0.0 } else { a });
    let number = "  %k = arith.constant -1.5 : f32";
    let with = "!pto.vreg<64xf32>, f32, !pto.mask<b32>";
    check_floats("vadds", "%va, %k, %m", with, number, |a, _| a - 1.5);
    check_floats("vmuls", "%va, %k, %m", with, number, |a, _| a * -1.5);
    check_floats("vmaxs", "%va, %k, %m", with, number, |a, _| larger(a, -1.5));
    check_floats("vmins", "%va, %k, %m", with, number, |a, _| -larger(-a, 1.5));
    check_floats("vlrelu", "%va, %k, %m", with, number, |a, _| if a >= 0.0 { a } else { a * -1.5 });
    let axpy = "!pto.vreg<64xf32>, !pto.vreg<64xf32>, f32, !pto.mask<b32>";
    check_floats("vaxpy", "%va, %vb, %k, %m", axpy, number, |a, b| (-1.5f32).mul_add(a, b));
    let three = "!pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32>";
    check_floats("vmula", "%va, %va, %vb, %m", three, "", |a, b| a.mul_add(b, a));
    check_floats("vexpdif", "%va, %vb, %m, \"ODD\"", TWO, "", |a, b| ((a - b) as f64).exp() as f32);
    check_floats("vtrc", "%va, %m, \"R\"", ONE, "", |a, _| a.round_ties_even());
    check_floats("vtrc", "%va, %m, \"A\"", ONE, "", |a, _| a.round());
    check_floats("vtrc", "%va, %m, \"F\"", ONE, "", |a, _| a.floor());
    check_floats("vtrc", "%va, %m, \"C\"", ONE, "", |a, _| a.ceil());
    check_floats("vtrc", "%va, %m, \"Z\"", ONE, "", |a, _| a.trunc());
}

fn check_ints(op: &str, ty: Ty, second: &str, more: &str, f: impl Fn(i64, i64) -> i64) {
    let (a, b) = (ints(1, ty), ints(2, ty));
    let scalar = match second {
        "%vb" => ty.vreg(),
        "%count16" => "i16".into(),
        _ => format!("i{}", 8 * ty.1),
    };
    let (operands, types) = match second {
        "" => ("%va, %m".to_string(), format!("{}, !pto.mask<b{}>", ty.vreg(), ty.mask())),
        _ => (format!("%va, {second}, %m"), format!("{}, {scalar}, !pto.mask<b{}>", ty.vreg(), ty.mask())),
    };
    let count = ty.lanes() - 3;
    let text = load_reg("a", ty)
        + &load_reg("b", ty)
        + &mask(ty, count)
        + &format!("    %r = pto.{op} {operands} : {types} -> {}\n", ty.vreg())
        + &store_reg("r", ty, 0);
    let found = run(more, &text, &[&int_bytes(&a, ty), &int_bytes(&b, ty)]);
    let expected: Vec<i64> = (0..ty.lanes()).map(|i| if i < count { f(a[i], b[i]) } else { 0 }).collect();
    assert_eq!(found[..BYTES], int_bytes(&expected, ty), "{op} on {}", ty.0);
}

#[test]
fn integer_lanes() {
    for ty in [I8, I16, U16, I32, U32] {
        check_ints("vadd", ty, "%vb", "", |a, b| a.wrapping_add(b));
        check_ints("vsub", ty, "%vb", "", |a, b| a.wrapping_sub(b));
        check_ints("vmax", ty, "%vb", "", |a, b| a.max(b));
        check_ints("vmin", ty, "%vb", "", |a, b| a.min(b));
        check_ints("vand", ty, "%vb", "", |a, b| a & b);
        check_ints("vor", ty, "%vb", "", |a, b| a | b);
        check_ints("vxor", ty, "%vb", "", |a, b| a ^ b);
        check_ints("vnot", ty, "", "", |a, _| !a);
        let width = 8 * ty.1 as i64;
        check_ints("vshl", ty, "%vb", "", |a, b| a << (b & (width - 1)));
        check_ints("vshr", ty, "%vb", "", |a, b| a >> (b & (width - 1)));
        check_ints("vshls", ty, "%count16", "  %count16 = arith.constant 3 : i16", |a, _| a << 3);
        check_ints("vshrs", ty, "%count16", "  %count16 = arith.constant 3 : i16", |a, _| a >> 3);
        let k = format!("  %k = arith.constant 5 : i{width}");
        check_ints("vadds", ty, "%k", &k, |a, _| a.wrapping_add(5));
        check_ints("vmaxs", ty, "%k", &k, |a, _| a.max(5));
    }
    for ty in [I16, U16, I32, U32] {
        check_ints("vmul", ty, "%vb", "", |a, b| a.wrapping_mul(b));
    }
    check_ints("vabs", I16, "", "", |a, _| (a as i16).wrapping_abs() as i64);
    check_ints("vneg", I32, "", "", |a, _| a.wrapping_neg());
    check_ints("vrelu", I32, "", "", |a, _| a.max(0));
}

#[test]
fn carries_make_wider_numbers() {
    let (a, b) = (noise(5, 64), noise(6, 64));
    let low = |x: &[u64]| bytes(x.iter().map(|x| *x as u32), u32::to_le_bytes);
    let high = |x: &[u64]| bytes(x.iter().map(|x| (*x >> 32) as u32), u32::to_le_bytes);
    let v = "!pto.vreg<64xui32>";
    for (first, next, f) in
        [("vaddc", "vaddcs", u64::wrapping_add as fn(u64, u64) -> u64), ("vsubc", "vsubcs", u64::wrapping_sub)]
    {
        let text = ["a", "b", "c", "d"].map(|name| load_reg(name, U32)).concat()
            + &mask(U32, 64)
            + &format!("    %lo, %k = pto.{first} %va, %vc, %m : {v}, {v}, !pto.mask<b32> -> {v}, !pto.mask<b32>\n")
            + &format!(
                "    %hi, %l = pto.{next} %vb, %vd, %k, %m : {v}, {v}, !pto.mask<b32>, !pto.mask<b32> -> {v}, !pto.mask<b32>\n"
            )
            + &store_reg("lo", U32, 0)
            + &store_reg("hi", U32, 1);
        let found = run("", &text, &[&low(&a), &high(&a), &low(&b), &high(&b)]);
        let expected: Vec<u64> = a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect();
        assert_eq!(found[..256], low(&expected), "{first}");
        assert_eq!(found[256..512], high(&expected), "{next}");
    }
}

#[test]
fn whole_products() {
    for (ty, signed) in [(I32, true), (U32, false)] {
        let (a, b) = (ints(3, ty), ints(4, ty));
        let v = ty.vreg();
        let text = load_reg("a", ty)
            + &load_reg("b", ty)
            + &mask(ty, 64)
            + &format!("    %lo, %hi = pto.vmull %va, %vb, %m : {v}, {v}, !pto.mask<b32> -> {v}, {v}\n")
            + &store_reg("lo", ty, 0)
            + &store_reg("hi", ty, 1);
        let found = run("", &text, &[&int_bytes(&a, ty), &int_bytes(&b, ty)]);
        for i in 0..64 {
            let product = if signed { (a[i] * b[i]) as u64 } else { (a[i] as u64).wrapping_mul(b[i] as u64) };
            let word = |at: usize| u32::from_le_bytes(found[at..at + 4].try_into().unwrap());
            assert_eq!((word(4 * i), word(256 + 4 * i)), (product as u32, (product >> 32) as u32));
        }
    }
}

#[test]
fn comparisons() {
    let (mut a, b) = (floats(1), floats(2));
    a[20..40].copy_from_slice(&b[20..40]);
    let inputs = [bytes(a.clone(), f32::to_le_bytes), bytes(b.clone(), f32::to_le_bytes)];
    type Holds = fn(f32, f32) -> bool;
    let modes: [(&str, Holds); 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ];
    for (mode, holds) in modes {
        let text = load_reg("a", F32)
            + &load_reg("b", F32)
            + &mask(F32, 50)
            + &format!("    %p = pto.vcmp %va, %vb, %m, \"{mode}\" : {TWO} -> !pto.mask<b32>\n")
            + &format!(
                "    %q = pto.vcmps %va, %k, %m, \"{mode}\" : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.mask<b32>\n"
            )
            + &format!("    %r = pto.vsel %va, %vb, %p : {TWO} -> !pto.vreg<64xf32>\n")
            + &format!("    %s = pto.vsel %va, %vb, %q : {TWO} -> !pto.vreg<64xf32>\n")
            + &store_reg("r", F32, 0)
            + &store_reg("s", F32, 1);
        let found = f32_of(&run("  %k = arith.constant 1.0 : f32", &text, &[&inputs[0], &inputs[1]]));
        for i in 0..64 {
            let expected = |with: f32| if i < 50 && holds(a[i], with) { a[i] } else { b[i] };
            assert!(same(found[i], expected(b[i])), "vcmp {mode} lane {i}");
            assert!(same(found[64 + i], expected(1.0)), "vcmps {mode} lane {i}");
        }
    }
}

#[test]
fn reductions() {
    // Small multiples of 1/4: every order of the sum gives the same result.
    let a: Vec<f32> = noise(7, 64).iter().map(|x| (x % 64) as f32 / 4.0 - 8.0).collect();
    let count = 43;
    let text = load_reg("a", F32)
        + &mask(F32, count)
        + &["vcadd", "vcmax", "vcmin", "vcgadd", "vcgmax", "vcgmin", "vcpadd"]
            .iter()
            .enumerate()
            .map(|(i, op)| {
                format!("    %r{i} = pto.{op} %va, %m : {ONE} -> !pto.vreg<64xf32>\n")
                    + &store_reg(&format!("r{i}"), F32, i)
            })
            .collect::<String>();
    let found = run("", &text, &[&bytes(a.clone(), f32::to_le_bytes)]);
    let row = |i: usize| f32_of(&found[i * 256..][..256]);
    let active = &a[..count];
    let padded = |head: &[f32]| {
        let mut lanes = head.to_vec();
        lanes.resize(64, 0.0);
        lanes
    };
    let max = active.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let min = active.iter().copied().fold(f32::INFINITY, f32::min);
    let place = |of: f32| f32::from_bits(active.iter().position(|x| *x == of).unwrap() as u32);
    assert_eq!(row(0), padded(&[active.iter().sum()]));
    assert_eq!(row(1), padded(&[max, place(max)]));
    assert_eq!(row(2), padded(&[min, place(min)]));
    let groups = |f: &dyn Fn(&[f32]) -> f32| {
        let group = |g: usize| f(&active[(g * 8).min(count)..(g * 8 + 8).min(count)]);
        padded(&(0..8).map(group).collect::<Vec<_>>())
    };
    assert_eq!(row(3), groups(&|g| g.iter().sum()));
    assert_eq!(row(4), groups(&|g| g.iter().copied().fold(f32::NEG_INFINITY, f32::max)));
    assert_eq!(row(5), groups(&|g| g.iter().copied().fold(f32::INFINITY, f32::min)));
    let zeroed: Vec<f32> = (0..64).map(|i| if i < count { a[i] } else { 0.0 }).collect();
    assert_eq!(row(6), padded(&zeroed.chunks(2).map(|p| p[0] + p[1]).collect::<Vec<_>>()));
}

#[test]
fn narrow_sums_are_widened() {
    for (ty, to) in [(I8, I16), (I16, I32), (U16, U32)] {
        let a = ints(1, ty);
        let text = load_reg("a", ty)
            + &mask(ty, ty.lanes())
            + &format!("    %r = pto.vcadd %va, %m : {}, !pto.mask<b{}> -> {}\n", ty.vreg(), ty.mask(), to.vreg())
            + &store_reg("r", to, 0);
        let found = run("", &text, &[&int_bytes(&a, ty)]);
        let mut expected = vec![0; to.lanes()];
        expected[0] = a.iter().sum();
        assert_eq!(found[..256], int_bytes(&expected, to));
    }
}

#[test]
fn conversions_take_and_make_parts() {
    let a: Vec<f32> = floats(3).iter().map(|x| if x.is_finite() { x.clamp(-1e6, 1e6) } else { *x }).collect();
    let f16 = Ty("f16", 2);
    let cvt = |from: Ty, to: Ty, name: &str, attrs: &str, out: &str| {
        format!(
            "    %{out} = pto.vcvt %{name}, %m {attrs} : {}, !pto.mask<b{}> -> {}\n",
            from.vreg(),
            from.mask(),
            to.vreg()
        )
    };
    let text = load_reg("a", F32)
        + &mask(F32, 60)
        + &cvt(F32, f16, "va", "{rnd = \"R\", sat = \"SAT\", part = \"ODD\"}", "h")
        + &cvt(F32, I32, "va", "{rnd = \"F\", sat = \"SAT\"}", "i")
        + &cvt(F32, I16, "va", "{rnd = \"Z\", sat = \"SAT\", part = \"EVEN\"}", "s")
        + &store_reg("h", f16, 0)
        + &store_reg("i", I32, 1)
        + &store_reg("s", I16, 2);
    let found = run("", &text, &[&bytes(a.clone(), f32::to_le_bytes)]);
    for i in 0..64 {
        let x = if i < 60 { a[i] } else { 0.0 };
        let half = |at: usize| u16::from_le_bytes(found[at..at + 2].try_into().unwrap());
        // By the definition of f16: when it saturates, NaN becomes 0 and infinities become the largest number.
        let expected = if x.is_nan() { 0.0 } else { x.clamp(-65504.0, 65504.0) };
        let h = half(4 * i + 2);
        let (sign, exponent, fraction) = (h >> 15, i32::from(h >> 10 & 31), f64::from(h & 1023));
        let magnitude =
            if exponent == 0 { fraction * 2f64.powi(-24) } else { (1024.0 + fraction) * 2f64.powi(exponent - 25) };
        let ulp = 2f64.powi(exponent.max(1) - 25);
        assert!(
            (magnitude - f64::from(expected.abs())).abs() <= ulp / 2.0 && (sign == 1) == expected.is_sign_negative(),
            "{x} {h:x}"
        );
        assert_eq!(half(4 * i), 0, "the even lanes are left 0");
        let word = i32::from_le_bytes(found[256 + 4 * i..][..4].try_into().unwrap());
        assert_eq!(word, x.floor() as i32, "floor of {x}");
        assert_eq!(half(512 + 4 * i) as i16, x.trunc() as i16, "{x}");
        assert_eq!(half(512 + 4 * i + 2), 0);
    }
}
