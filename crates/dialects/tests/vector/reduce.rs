//! Reductions of rows and columns, and broadcasts of a value per row or column.

use super::common::{f16s, f32s, to_f16s, to_f32s};
use super::kit::{DN, ND, after, fault, result, tile};

fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 53 + seed * 29) % 97) as f32 * 0.21 - 8.3).collect()
}

fn u32s(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// The documented order of the A5 in parts of `n` elements: trees for sums, lanes for products; each step is rounded.
fn row_of(name: &str, row: &[f32], n: usize, f: Two, round: fn(f32) -> f32) -> f32 {
    let halves = |mut lanes: Vec<f32>, step: fn(f32) -> f32| {
        while lanes.len() > 1 {
            let half = lanes.len() / 2;
            lanes = (0..half).map(|j| step(f(lanes[j], lanes[j + half]))).collect();
        }
        lanes[0]
    };
    let neutral = if name == "sum" { 0.0 } else { 1.0 };
    match name {
        "sum" => row.chunks(n).fold(0.0, |sum, part| {
            let mut tree: Vec<f32> = part.iter().copied().chain(vec![neutral; n - part.len()]).collect();
            while tree.len() > 1 {
                tree = tree.chunks(2).map(|two| f(two[0], two[1])).collect();
            }
            round(sum + round(tree[0]))
        }),
        "prod" => {
            halves((0..n).map(|j| row.iter().skip(j).step_by(n).fold(1.0, |a, b| round(f(a, *b)))).collect(), round)
        }
        _ => row.iter().copied().reduce(f).unwrap(),
    }
}

fn column_of(column: &[f32], f: Two, round: fn(f32) -> f32) -> f32 {
    column[1..].chunks(2).fold(column[0], |sum, rows| round(f(sum, rows.iter().copied().reduce(f).map(round).unwrap())))
}

fn to_f16(x: f32) -> f32 {
    to_f16s(&f16s([x]))[0]
}

type Two = fn(f32, f32) -> f32;
const OPS: [(&str, Two); 4] = [("sum", |a, b| a + b), ("prod", |a, b| a * b), ("max", f32::max), ("min", f32::min)];

#[test]
fn rows() {
    let a = numbers(6 * 200, 1);
    for (name, f) in OPS {
        for (layout, dst) in [(ND, DN), (ND, ND)] {
            // A column of 8 stored by columns or, with 8 columns of which one is valid, by rows.
            let cols = if dst == DN { 1 } else { 8 };
            let tiles = [
                tile("a", "f32", 16, 200, f32s(a.iter().copied().chain([0.0; 2000]))).laid(layout).valid(6, 190),
                tile("t", "f32", 16, 200, f32s([0.0; 3200])),
                tile("d", "f32", 16, cols, f32s(vec![5.0; 16 * cols])).laid(dst).valid(6, 1),
            ];
            let got = to_f32s(&result(&tiles, &format!("pto.trow{name} ins(%a, %t : !a, !t) outs(%d : !d)")));
            for (i, got) in got.iter().enumerate() {
                let (r, c) = (i / cols, i % cols);
                let expected = if r < 6 && c == 0 { row_of(name, &a[r * 200..][..190], 64, f, |x| x) } else { 5.0 };
                assert_eq!(*got, expected, "{name} {layout} {dst} {i}");
            }
        }
        // Narrow floats: each step is rounded.
        let a16 = f16s(a.iter().map(|x| x * 0.1));
        let wide = to_f16s(&a16);
        let tiles = [tile("a", "f16", 6, 200, a16), tile("d", "f16", 6, 1, vec![0; 12]).laid(DN)];
        let got = result(&tiles, &format!("pto.trow{name} ins(%a : !a) outs(%d : !d)"));
        assert_eq!(got, f16s((0..6).map(|r| row_of(name, &wide[r * 200..][..200], 128, f, to_f16))), "{name} f16");
    }
}

#[test]
fn columns() {
    let a = numbers(16 * 300, 2);
    for (name, f) in OPS {
        let tiles = [
            tile("a", "f32", 16, 300, f32s(a.clone())).valid(13, 290),
            tile("d", "f32", 1, 300, f32s([5.0; 300])).valid(1, 290),
        ];
        let got = to_f32s(&result(&tiles, &format!("pto.tcol{name} ins(%a : !a) outs(%d : !d)")));
        for (c, got) in got.iter().enumerate() {
            let column: Vec<f32> = (0..13).map(|r| a[r * 300 + c]).collect();
            assert_eq!(*got, if c < 290 { column_of(&column, f, |x| x) } else { 5.0 }, "{name} {c}");
        }
        let a16 = f16s(a.iter().map(|x| x * 0.1));
        let wide = to_f16s(&a16);
        let tiles = [tile("a", "f16", 16, 300, a16), tile("d", "f16", 1, 300, vec![0; 600])];
        let got = result(&tiles, &format!("pto.tcol{name} ins(%a : !a) outs(%d : !d)"));
        let column = |c: usize| (0..16).map(|r| wide[r * 300 + c]).collect::<Vec<f32>>();
        let expected = (0..300).map(|c| column_of(&column(c), f, to_f16));
        assert_eq!(got, f16s(expected), "{name} f16");
    }
}

#[test]
fn sums_of_columns_in_pairs() {
    // 1 is lost when added to 2^24 unless two of them are added first, so the result shows the order.
    let big = 16_777_216.0f32;
    let op = |pairs: bool| format!("pto.tcolsum ins(%a, %t {{isBinary = {pairs}}} : !a, !t) outs(%d : !d)");
    let sum = |rows: &[f32], pairs: bool| {
        let n = rows.len();
        let data: Vec<f32> = rows.iter().flat_map(|x| [*x; 8]).collect();
        let tiles = [
            tile("a", "f32", n, 8, f32s(data.clone())),
            tile("t", "f32", n, 8, f32s(data)),
            tile("d", "f32", 1, 8, f32s([0.0; 8])),
        ];
        to_f32s(&result(&tiles, &op(pairs)))[3]
    };
    // (big + 1) + (1 + 1) and, the second and third first, (big + (1 + 1)) + 1 and (big + (0 + 1)) + 1.
    assert_eq!((sum(&[big, 1.0, 1.0, 1.0], true), sum(&[big, 1.0, 1.0, 1.0], false)), (big + 2.0, big + 2.0 + 1.0));
    assert_eq!((sum(&[big, 0.0, 1.0, 1.0], true), sum(&[big, 0.0, 1.0, 1.0], false)), (big + 2.0, big));
    // Five rows: (0, 1) and (2, 3), row 4 to the last of them, then both.
    assert_eq!(sum(&[1.0, 1.0, big, 0.0, 1.0], true), (1.0f32 + 1.0) + (big + 1.0));
    assert_eq!(sum(&[big, 0.0, 1.0, 0.0, 1.0], true), big + (1.0 + 1.0));
    // Six rows: three sums, of which the third is added to the sum of the first two.
    assert_eq!(sum(&[big, 0.0, 1.0, 1.0, 1.0, 0.0], true), (big + 2.0) + 1.0);
    assert_eq!(sum(&[7.0], true), 7.0);
}

#[test]
fn places_of_the_largest_and_smallest() {
    let nan = f32::NAN;
    #[rustfmt::skip]
    let a = [
        1.0, 5.0, 5.0, -2.0, nan, 0.0, -0.0, -2.0,
        nan, nan, nan, nan, nan, nan, nan, nan,
        0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0,
    ];
    let of = |name: &str, dst| {
        let tiles = [tile("a", "f32", 3, 8, f32s(a)), tile("t", "f32", 3, 8, vec![0; 96]), dst];
        u32s(&result(&tiles, &format!("pto.{name} ins(%a, %t : !a, !t) outs(%d : !d)")))
    };
    let column = || tile("d", "ui32", 3, 1, vec![0; 12]).laid(DN);
    // The first NaN if there are several.
    assert_eq!(of("trowargmax", column()), [4, 0, 0]);
    assert_eq!(of("trowargmin", column()), [4, 0, 0]);
    let row = || tile("d", "i32", 1, 8, vec![0; 32]);
    assert_eq!(of("tcolargmax", row()), [1, 1, 1, 1, 0, 1, 1, 1]);
    assert_eq!(of("tcolargmin", row()), [1, 1, 1, 1, 0, 1, 1, 1]);
}

#[test]
fn nothing_to_reduce() {
    let tiles = [tile("a", "f32", 4, 8, vec![0; 128]).dynamic(4, 0), tile("d", "f32", 4, 1, vec![0; 16]).laid(DN)];
    let message = fault(&tiles, "pto.trowsum ins(%a : !a) outs(%d : !d)");
    assert_eq!(
        message,
        "tile-valid: pto.trowsum: `src` has 4 x 0 valid elements, `dst` 4 x 1: there is nothing to reduce"
    );
    let tiles = [tile("a", "f32", 4, 8, vec![0; 128]).dynamic(3, 8), tile("d", "f32", 4, 1, vec![0; 16]).laid(DN)];
    let message = fault(&tiles, "pto.trowsum ins(%a : !a) outs(%d : !d)");
    assert_eq!(message, "tile-valid: pto.trowsum: `dst` has 4 x 1 valid elements, the results of `src` are 3 x 1");
}

const SPREAD: [(&str, Two); 7] = [
    ("add", |a, b| a + b),
    ("sub", |a, b| a - b),
    ("mul", |a, b| a * b),
    ("div", |a, b| a / b),
    ("max", f32::max),
    ("min", f32::min),
    ("expdif", |a, b| f64::from(a - b).exp() as f32),
];

#[test]
fn a_value_for_each_row() {
    let (a, b) = (numbers(16 * 40, 1), numbers(16 * 8, 5));
    for (name, f) in SPREAD {
        // One column stored by columns; one valid column stored by rows; a block of 8 values per row.
        for (cols, valid, layout) in [(1, 1, DN), (8, 8, ND)] {
            let value = |r: usize, c: usize| b[r * cols + c % valid];
            let tiles = [
                tile("a", "f32", 16, 40, f32s(a.clone())).valid(13, 37),
                tile("b", "f32", 16, cols, f32s(b[..16 * cols].to_vec())).laid(layout).dynamic(16, valid),
                tile("t", "f32", 16, 40, vec![0; 2560]),
                tile("d", "f32", 16, 40, f32s([9.0; 640])).valid(13, 37),
            ];
            let op = format!("pto.trowexpand{name} ins(%a, %b, %t : !a, !b, !t) outs(%d : !d)");
            let got = to_f32s(&result(&tiles, &op));
            for (i, got) in got.iter().enumerate() {
                let (r, c) = (i / 40, i % 40);
                let expected = if r < 13 && c < 37 { f(a[i], value(r, c)) } else { 9.0 };
                assert_eq!(*got, expected, "{name} {cols} {valid} {layout} {i}");
            }
        }
        // The first source may be the broadcast one.
        let tiles = [
            tile("a", "f32", 16, 40, f32s(a.clone())),
            tile("b", "f32", 16, 1, f32s(b[..16].to_vec())).laid(DN),
            tile("d", "f32", 16, 40, f32s([0.0; 640])),
        ];
        let got = to_f32s(&result(&tiles, &format!("pto.trowexpand{name} ins(%b, %a : !b, !a) outs(%d : !d)")));
        assert_eq!(got, a.iter().enumerate().map(|(i, a)| f(b[i / 40], *a)).collect::<Vec<_>>(), "{name}");
        // In place.
        let got = after(&tiles[..2], &format!("pto.trowexpand{name} ins(%a, %b : !a, !b) outs(%a : !a)"));
        assert_eq!(to_f32s(&got[0]), a.iter().enumerate().map(|(i, a)| f(*a, b[i / 40])).collect::<Vec<_>>(), "{name}");
    }
    let tiles = [tile("a", "f32", 4, 40, vec![0; 640]), tile("b", "f32", 4, 8, vec![0; 128]).valid(4, 5)];
    let message = fault(&tiles, "pto.trowexpandmul ins(%a, %b : !a, !b) outs(%a : !a)");
    assert_eq!(
        message,
        "tile-valid: pto.trowexpandmul: `src1` has 5 valid columns, `dst` 40: a value for each row has 1, 8 (32 bytes) or all of them"
    );
}

#[test]
fn a_value_for_each_column() {
    let (a, b) = (numbers(8 * 300, 1), numbers(300, 5));
    for (name, f) in SPREAD {
        let tiles = [
            tile("a", "f32", 8, 300, f32s(a.clone())).dynamic(8, 300),
            tile("b", "f32", 1, 300, f32s(b.clone())).dynamic(1, 300),
            tile("d", "f32", 8, 300, f32s([9.0; 2400])).valid(7, 299),
        ];
        let got = to_f32s(&result(&tiles, &format!("pto.tcolexpand{name} ins(%a, %b : !a, !b) outs(%d : !d)")));
        for (i, got) in got.iter().enumerate() {
            let inside = i / 300 < 7 && i % 300 < 299;
            assert_eq!(*got, if inside { f(a[i], b[i % 300]) } else { 9.0 }, "{name} {i}");
        }
    }
}

#[test]
fn a_column_or_a_row_repeated() {
    let a: Vec<u8> = (0..32 * 16).map(|i| (i * 7 % 251) as u8).collect();
    let tiles =
        [tile("a", "bf16", 16, 16, a.clone()).dynamic(16, 16), tile("d", "bf16", 16, 16, vec![1; 512]).valid(15, 14)];
    for (op, rows) in [("trowexpand", true), ("tcolexpand", false)] {
        let got = result(&tiles, &format!("pto.{op} ins(%a : !a) outs(%d : !d)"));
        for (i, got) in got.chunks(2).enumerate() {
            let (r, c) = (i / 16, i % 16);
            let from = if rows { r * 16 } else { c };
            let inside = r < 15 && c < 14;
            assert_eq!(got, if inside { &a[2 * from..2 * from + 2] } else { &[1, 1][..] }, "{op} {i}");
        }
    }
}
