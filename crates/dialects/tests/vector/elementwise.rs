//! Element-wise operations.

use super::common::{f16s, f32s, to_f16s, to_f32s};
use super::kit::{ND, ZN, fault, result, tile};

/// Numbers of both signs with fractions, none of them 0.
fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + seed * 101) % 63) as f32 * 0.37 - 11.4).collect()
}

type One = fn(f32) -> f32;
type Two = fn(f32, f32) -> f32;
/// Computed in f64, to be rounded to f32.
type Exact = fn(f64) -> f64;

/// Floor division in f64, which is exact for these operands.
fn floored(a: f32, b: f32) -> f32 {
    let r = f64::from(a) - (f64::from(a) / f64::from(b)).trunc() * f64::from(b);
    let r = if r != 0.0 && (r < 0.0) != (b < 0.0) { r + f64::from(b) } else { r };
    r as f32
}

#[test]
fn two_tiles() {
    let ops: [(&str, Two); 8] = [
        ("tadd", |a, b| a + b),
        ("tsub", |a, b| a - b),
        ("tmul", |a, b| a * b),
        ("tdiv", |a, b| a / b),
        ("tmax", f32::max),
        ("tmin", f32::min),
        ("tprelu", |a, b| if a > 0.0 { a } else { a * b }),
        ("tfmod", |a, b| (f64::from(a) % f64::from(b)) as f32),
    ];
    let (a, b) = (numbers(4 * 80, 1), numbers(4 * 80, 2));
    for (name, f) in ops {
        let op = format!("pto.{name} ins(%a, %b : !a, !b) outs(%d : !d)");
        let got = result(
            &[
                tile("a", "f32", 4, 80, f32s(a.clone())),
                tile("b", "f32", 4, 80, f32s(b.clone())),
                tile("d", "f32", 4, 80, f32s([0.0; 320])),
            ],
            &op,
        );
        let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect();
        assert_eq!(to_f32s(&got), expected, "{name}");
        // Narrow floats: computed in f32, rounded once.
        let (a16, b16) = (f16s(a.clone()), f16s(b.clone()));
        let expected = f16s(to_f16s(&a16).into_iter().zip(to_f16s(&b16)).map(|(a, b)| f(a, b)));
        let tiles = [tile("a", "f16", 4, 80, a16), tile("b", "f16", 4, 80, b16), tile("d", "f16", 4, 80, vec![0; 640])];
        assert_eq!(result(&tiles, &op), expected, "{name} f16");
    }
}

#[test]
fn special_values() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let a = [nan, 1.0, 0.0, -0.0, 1.0, -1.0, inf, 0.0];
    let b = [2.0, nan, -0.0, 0.0, 0.0, 0.0, inf, 0.0];
    let cases: [(&str, [f32; 8]); 6] = [
        ("tadd", [nan, nan, 0.0, 0.0, 1.0, -1.0, inf, 0.0]),
        ("tsub", [nan, nan, 0.0, -0.0, 1.0, -1.0, nan, 0.0]),
        ("tmul", [nan, nan, -0.0, -0.0, 0.0, -0.0, inf, 0.0]),
        ("tdiv", [nan, nan, nan, nan, inf, -inf, nan, nan]),
        ("tmax", [nan, nan, 0.0, 0.0, 1.0, 0.0, inf, 0.0]),
        ("tmin", [nan, nan, -0.0, -0.0, 0.0, -1.0, inf, 0.0]),
    ];
    for (name, expected) in cases {
        let tiles =
            [tile("a", "f32", 1, 8, f32s(a)), tile("b", "f32", 1, 8, f32s(b)), tile("d", "f32", 1, 8, f32s([7.0; 8]))];
        let got = result(&tiles, &format!("pto.{name} ins(%a, %b : !a, !b) outs(%d : !d)"));
        // Bits, so that the sign of zero and the NaN are compared.
        assert_eq!(got, f32s(expected), "{name}");
    }
}

#[test]
fn integers() {
    let a = [i32::MAX, i32::MIN, -7, 7, -7, 100];
    let b = [1, -1, 2, -2, 0, 33];
    let cases: [(&str, [i32; 6]); 13] = [
        ("tadd", [i32::MIN, i32::MAX, -5, 5, -7, 133]),
        ("tsub", [i32::MAX - 1, i32::MIN + 1, -9, 9, -7, 67]),
        ("tmul", [i32::MAX, i32::MIN, -14, -14, 0, 3300]),
        ("tdiv", [i32::MAX, i32::MIN, -3, -3, 0, 3]),
        ("tmax", [i32::MAX, -1, 2, 7, 0, 100]),
        ("tmin", [1, i32::MIN, -7, -2, -7, 33]),
        ("tfmod", [0, 0, -1, 1, -7, 1]),
        ("trem", [0, 0, 1, -1, -7, 1]),
        ("tand", [1, i32::MIN, -7 & 2, 7 & -2, 0, 100 & 33]),
        ("tor", [i32::MAX, -1, -7 | 2, 7 | -2, -7, 100 | 33]),
        ("txor", [i32::MAX ^ 1, i32::MAX, -7 ^ 2, 7 ^ -2, -7, 100 ^ 33]),
        ("tshl", [-2, 0, -28, 0, -7, 0]),
        ("tshr", [i32::MAX >> 1, -1, -2, 0, -7, 0]),
    ];
    let bytes = |x: [i32; 6]| x.into_iter().flat_map(i32::to_le_bytes).collect::<Vec<u8>>();
    for (name, expected) in cases {
        let [a, b, t, d] =
            [("a", a), ("b", b), ("t", [0; 6]), ("d", [9; 6])].map(|(n, x)| tile(n, "i32", 1, 6, bytes(x)));
        let tiles = [a, b, t, d];
        let tmp = matches!(name, "trem" | "txor");
        let ins = if tmp { "%a, %b, %t : !a, !b, !t" } else { "%a, %b : !a, !b" };
        assert_eq!(result(&tiles, &format!("pto.{name} ins({ins}) outs(%d : !d)")), bytes(expected), "{name}");
    }
    let tiles = [
        tile("a", "ui8", 1, 4, vec![200, 7, 255, 3]),
        tile("b", "ui8", 1, 4, vec![100, 0, 1, 8]),
        tile("d", "ui8", 1, 4, vec![0; 4]),
    ];
    assert_eq!(result(&tiles, "pto.tadd ins(%a, %b : !a, !b) outs(%d : !d)"), [44, 7, 0, 11]);
    assert_eq!(result(&tiles, "pto.tshr ins(%a, %b : !a, !b) outs(%d : !d)"), [0, 7, 127, 0]);
    assert_eq!(result(&tiles, "pto.tnot ins(%a : !a) outs(%d : !d)"), [55, 248, 0, 252]);
}

#[test]
fn remainders_of_both_signs() {
    let (a, b) =
        ([5.5f32, -5.5, 5.5, -5.5, 6.0, -6.0, 1.0, 1.0], [3.0f32, 3.0, -3.0, -3.0, 3.0, -3.0, 0.0, f32::INFINITY]);
    let d = tile("d", "f32", 1, 8, f32s([0.0; 8]));
    let t = tile("t", "f32", 1, 8, f32s([0.0; 8]));
    let tiles = [tile("a", "f32", 1, 8, f32s(a)), tile("b", "f32", 1, 8, f32s(b)), t, d];
    let rem = to_f32s(&result(&tiles, "pto.trem ins(%a, %b, %t : !a, !b, !t) outs(%d : !d)"));
    assert_eq!(rem[..6], [2.5, 0.5, -0.5, -2.5, 0.0, 0.0]);
    assert!(rem[6].is_nan() && rem[7] == 1.0);
    let fmod = to_f32s(&result(&tiles, "pto.tfmod ins(%a, %b : !a, !b) outs(%d : !d)"));
    assert_eq!(fmod[..6], [2.5, -2.5, 2.5, -2.5, 0.0, 0.0]);
    assert!(fmod[6].is_nan() && fmod[7] == 1.0);
    for (i, (a, b)) in a.iter().zip(b).take(6).enumerate() {
        assert_eq!(rem[i], floored(*a, b));
    }
}

#[test]
fn a_tile_and_a_number() {
    let a = numbers(3 * 70, 5);
    let ops: [(&str, &str, One); 11] = [
        ("tadds", "%a, %s : !a, f32", |a| a + 2.5),
        ("tsubs", "%a, %s : !a, f32", |a| a - 2.5),
        ("tmuls", "%a, %s : !a, f32", |a| a * 2.5),
        ("tdivs", "%a, %s : !a, f32", |a| a / 2.5),
        ("tdivs", "%s, %a : f32, !a", |a| 2.5 / a),
        ("tmaxs", "%a, %s : !a, f32", |a| a.max(2.5)),
        ("tmins", "%a, %s : !a, f32", |a| a.min(2.5)),
        ("trems", "%a, %s, %t : !a, f32, !t", |a| floored(a, 2.5)),
        ("tfmods", "%a, %s : !a, f32", |a| a % 2.5),
        ("tlrelu", "%a, %s : !a, f32", |a| if a > 0.0 { a } else { 2.5 * a }),
        ("taxpy", "%a, %s : !a, f32", |a| a.mul_add(2.5, 3.0)),
    ];
    for (name, ins, f) in ops {
        let op = format!("%s = arith.constant 2.5 : f32\n  pto.{name} ins({ins}) outs(%d : !d)");
        let t = tile("t", "f32", 3, 70, f32s([0.0; 210]));
        let tiles = [tile("a", "f32", 3, 70, f32s(a.clone())), t, tile("d", "f32", 3, 70, f32s([3.0; 210]))];
        assert_eq!(to_f32s(&result(&tiles, &op)), a.iter().map(|a| f(*a)).collect::<Vec<_>>(), "{name}");
        if !matches!(name, "taxpy") {
            // The number is converted to the type of the tile.
            let a16 = f16s(a.clone());
            let expected = f16s(to_f16s(&a16).into_iter().map(f));
            let [t, d] = ["t", "d"].map(|name| tile(name, "f16", 3, 70, f16s([3.0; 210])));
            assert_eq!(result(&[tile("a", "f16", 3, 70, a16), t, d], &op), expected, "{name} f16");
        }
    }
}

#[test]
fn whole_numbers_and_wider_destinations() {
    let tiles = [
        tile("a", "i16", 1, 4, [-3i16, 4, 300, -1].iter().flat_map(|x| x.to_le_bytes()).collect()),
        tile("t", "i16", 1, 4, vec![0; 8]),
        tile("d", "i16", 1, 4, vec![0; 8]),
    ];
    let i16s = |bytes: Vec<u8>| bytes.chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect::<Vec<_>>();
    let op = |name: &str, ty: &str, value: &str| {
        let tmp =
            if name == "txors" { ("%a, %s, %t", format!("!a, {ty}, !t")) } else { ("%a, %s", format!("!a, {ty}")) };
        format!("%s = arith.constant {value} : {ty}\n  pto.{name} ins({} : {}) outs(%d : !d)", tmp.0, tmp.1)
    };
    let cases: [(&str, &str, &str, [i16; 4]); 7] = [
        ("tands", "i32", "65535", [-3, 4, 300, -1]),
        ("tors", "i16", "1", [-3, 5, 301, -1]),
        ("txors", "i16", "-1", [2, -5, -301, 0]),
        ("tshls", "i32", "2", [-12, 16, 1200, -4]),
        ("tshrs", "i32", "1", [-2, 2, 150, -1]),
        ("tshrs", "i32", "16", [-1, 0, 0, -1]),
        ("tshls", "i32", "-1", [0, 0, 0, 0]),
    ];
    for (name, ty, value, expected) in cases {
        assert_eq!(i16s(result(&tiles, &op(name, ty, value))), expected, "{name} {value}");
    }
    // f16 scaled and added to f32: 0.1 of f16 is 0.0999755859375.
    let tiles = [tile("a", "f16", 1, 2, f16s([0.1, -2.0])), tile("d", "f32", 1, 2, f32s([1.0, 1.0]))];
    let op = "%s = arith.constant 3.0 : f16\n  pto.taxpy ins(%a, %s : !a, f16) outs(%d : !d)";
    assert_eq!(to_f32s(&result(&tiles, op)), [1.2999268, -5.0]);
}

#[test]
fn three_operands() {
    let (a, b, c) = (numbers(60, 1), numbers(60, 2), numbers(60, 3));
    let tiles = [
        tile("a", "f32", 1, 60, f32s(a.clone())),
        tile("b", "f32", 1, 60, f32s(b.clone())),
        tile("c", "f32", 1, 60, f32s(c.clone())),
        tile("d", "f32", 1, 60, f32s([0.0; 60])),
    ];
    let want = |f: fn(f32, f32, f32) -> f32| (0..60).map(|i| f(a[i], b[i], c[i])).collect::<Vec<_>>();
    let run = |op: &str| to_f32s(&result(&tiles, op));
    assert_eq!(run("pto.taddc ins(%a, %b, %c : !a, !b, !c) outs(%d : !d)"), want(|a, b, c| a + b + c));
    assert_eq!(run("pto.tsubc ins(%a, %b, %c : !a, !b, !c) outs(%d : !d)"), want(|a, b, c| a - b + c));
    let s = "%s = arith.constant 0.7 : f32\n  ";
    assert_eq!(run(&format!("{s}pto.taddsc ins(%a, %s, %b : !a, f32, !b) outs(%d : !d)")), want(|a, b, _| a + 0.7 + b));
    assert_eq!(run(&format!("{s}pto.tsubsc ins(%a, %s, %b : !a, f32, !b) outs(%d : !d)")), want(|a, b, _| a - 0.7 + b));
}

#[test]
fn one_tile() {
    let a: Vec<f32> = numbers(100, 9).into_iter().chain([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY]).collect();
    let ops: [(&str, Exact); 8] = [
        ("tabs", f64::abs),
        ("tneg", |a| -a),
        ("texp", f64::exp),
        ("tlog", |a| if a < 0.0 { f64::NAN } else { a.ln() }),
        ("tsqrt", |a| a.sqrt()),
        // The root is rounded to f32 before its reciprocal is taken.
        ("trsqrt", |a| f64::from(a.sqrt() as f32).recip()),
        ("trecip", f64::recip),
        ("trelu", |a| if a > 0.0 { a } else { 0.0 }),
    ];
    for (name, f) in ops {
        let tiles = [tile("a", "f32", 1, 104, f32s(a.clone())), tile("d", "f32", 1, 104, f32s([0.0; 104]))];
        let got = to_f32s(&result(&tiles, &format!("pto.{name} ins(%a : !a) outs(%d : !d)")));
        for (a, got) in a.iter().zip(got) {
            let expected = f(f64::from(*a)) as f32;
            let same = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
            assert!(same, "{name}({a}) = {got}, not {expected}");
        }
    }
    // With a scratch tile, and integers.
    let tiles = [
        tile("a", "f32", 1, 4, f32s([4.0, 16.0, 0.25, 1.0])),
        tile("t", "f32", 1, 4, f32s([0.0; 4])),
        tile("d", "f32", 1, 4, f32s([0.0; 4])),
    ];
    assert_eq!(to_f32s(&result(&tiles, "pto.trsqrt ins(%a, %t : !a, !t) outs(%d : !d)")), [0.5, 0.25, 2.0, 1.0]);
    let bytes = |x: [i32; 4]| x.into_iter().flat_map(i32::to_le_bytes).collect::<Vec<u8>>();
    let tiles = [tile("a", "i32", 1, 4, bytes([i32::MIN, -1, 0, 127])), tile("d", "i32", 1, 4, vec![0; 16])];
    for (name, expected) in
        [("tabs", [i32::MIN, 1, 0, 127]), ("tneg", [i32::MIN, 1, 0, -127]), ("trelu", [0, 0, 0, 127])]
    {
        assert_eq!(result(&tiles, &format!("pto.{name} ins(%a : !a) outs(%d : !d)")), bytes(expected), "{name}");
    }
}

#[test]
fn every_layout_with_parts_that_are_valid() {
    let (a, b) = (numbers(32 * 48, 1), numbers(32 * 48, 2));
    // The accepted layouts: by rows, without boxes or with boxes by columns.
    let layouts = [ND, ZN];
    for (la, lb, ld) in (0..8).map(|i| (layouts[i % 2], layouts[i / 2 % 2], layouts[i / 4])) {
        let tiles = [
            tile("a", "f32", 32, 48, f32s(a.clone())).laid(la).dynamic(20, 40),
            tile("b", "f32", 32, 48, f32s(b.clone())).laid(lb).dynamic(19, 37),
            tile("d", "f32", 32, 48, f32s([9.0; 32 * 48])).laid(ld).valid(19, 35),
        ];
        let got = to_f32s(&result(&tiles, "pto.tsub ins(%a, %b : !a, !b) outs(%d : !d)"));
        for (i, got) in got.iter().enumerate() {
            let inside = i / 48 < 19 && i % 48 < 35;
            assert_eq!(*got, if inside { a[i] - b[i] } else { 9.0 }, "{la} {lb} {ld} {i}");
        }
    }
}

#[test]
fn in_place_and_overlapping() {
    let a = numbers(8 * 64, 3);
    let only = [tile("a", "f32", 8, 64, f32s(a.clone())).valid(7, 60)];
    let got = to_f32s(&result(&only, "pto.tadd ins(%a, %a : !a, !a) outs(%a : !a)"));
    let twice = |i: usize, x: f32| if i / 64 < 7 && i % 64 < 60 { 2.0 * x } else { x };
    assert_eq!(got, a.iter().enumerate().map(|(i, x)| twice(i, *x)).collect::<Vec<_>>());
    // The destination is the source shifted by one row: sources are read before they are overwritten.
    let tiles = [tile("a", "f32", 8, 64, f32s(a.clone())).at(0), tile("d", "f32", 8, 64, f32s(a.clone())).at(256)];
    let got = to_f32s(&result(&tiles, "pto.tneg ins(%a : !a) outs(%d : !d)"));
    // Loading the second tile overwrote all but the first row of the first.
    let before: Vec<f32> = a[..64].iter().chain(&a[..7 * 64]).map(|x| -x).collect();
    assert_eq!(got, before);
}

#[test]
fn partial_sources() {
    let (a, b) = (numbers(4 * 16, 1), numbers(4 * 16, 2));
    let ops: [(&str, Two); 4] =
        [("tpartadd", |a, b| a + b), ("tpartmul", |a, b| a * b), ("tpartmax", f32::max), ("tpartmin", f32::min)];
    for (name, f) in ops {
        for smaller in 0..2 {
            let shapes = if smaller == 0 { [(2, 10), (4, 16)] } else { [(4, 16), (3, 16)] };
            let tiles = [
                tile("a", "f32", 4, 16, f32s(a.clone())).valid(shapes[0].0, shapes[0].1),
                tile("b", "f32", 4, 16, f32s(b.clone())).valid(shapes[1].0, shapes[1].1),
                tile("d", "f32", 4, 16, f32s([0.0; 64])),
            ];
            let got = to_f32s(&result(&tiles, &format!("pto.{name} ins(%a, %b : !a, !b) outs(%d : !d)")));
            for (i, got) in got.iter().enumerate() {
                let has = |shape: (usize, usize)| i / 16 < shape.0 && i % 16 < shape.1;
                let expected = match (has(shapes[0]), has(shapes[1])) {
                    (true, true) => f(a[i], b[i]),
                    (true, false) => a[i],
                    _ => b[i],
                };
                assert_eq!(*got, expected, "{name} {i}");
            }
        }
    }
    let tiles = [
        tile("a", "f32", 4, 16, f32s(a)).valid(2, 10),
        tile("b", "f32", 4, 16, f32s(b)).valid(4, 15),
        tile("d", "f32", 4, 16, f32s([0.0; 64])),
    ];
    let message = fault(&tiles, "pto.tpartadd ins(%a, %b : !a, !b) outs(%d : !d)");
    assert_eq!(message, "tile-valid: pto.tpartadd: `dst` has 4 x 16 valid elements, the sources 2 x 10 and 4 x 15");
}

#[test]
fn too_few_elements() {
    let t = |name, elem, n: usize| tile(name, elem, 4, 16, vec![0; n * 64]);
    let add = "pto.tadd ins(%a, %b : !a, !b) outs(%d : !d)";
    let short = [t("a", "f32", 4), t("b", "f32", 4).dynamic(4, 12), t("d", "f32", 4)];
    assert_eq!(
        fault(&short, add),
        "tile-valid: pto.tadd: `src1` needs 4 x 16 valid elements for `dst`, but has 4 x 12"
    );
}
