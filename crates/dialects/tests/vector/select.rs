//! Comparisons, masks and selections.

use super::common::{f16s, f32s, to_f32s};
use super::kit::{fault, result, tile};

type Holds = fn(f32, f32) -> bool;

fn bits(mask: &[u8], row_bytes: usize, r: usize, c: usize) -> bool {
    mask[r * row_bytes + c / 8] >> (c % 8) & 1 == 1
}

#[test]
fn masks_of_all_comparisons() {
    let nan = f32::NAN;
    let a: Vec<f32> = (0..3 * 300).map(|i| if i % 41 == 0 { nan } else { (i * 7 % 5) as f32 - 2.0 }).collect();
    let b: Vec<f32> = (0..3 * 300).map(|i| if i % 5 == 0 { -0.0 } else { (i * 3 % 5) as f32 - 2.0 }).collect();
    let modes: [(&str, Holds); 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("less_equal", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("GE", |a, b| a >= b),
    ];
    for (mode, f) in modes {
        // 293 columns are 37 bytes, of which the last has 5 bits.
        let tiles = [
            tile("a", "f32", 3, 300, f32s(a.clone())).valid(3, 293),
            tile("b", "f32", 3, 300, f32s(b.clone())),
            tile("d", "i8", 3, 64, vec![0xff; 192]),
        ];
        let attr = format!("{{cmpMode = #pto<cmp {mode}>}}");
        let got = result(&tiles, &format!("pto.tcmp ins(%a, %b {attr} : !a, !b) outs(%d : !d)"));
        let op = format!("%s = arith.constant 1.0 : f32\n  pto.tcmps ins(%a, %s {attr} : !a, f32) outs(%d : !d)");
        let scalar = result(&[tiles[0].clone(), tiles[2].clone()], &op);
        for (r, c) in (0..3).flat_map(|r| (0..512).map(move |c| (r, c))) {
            let i = r * 300 + c;
            // Bits after the last column in its byte are 0; further bytes do not change.
            let expected = |f: bool| if c < 293 { f } else { c >= 296 };
            assert_eq!(bits(&got, 64, r, c), expected(c < 293 && f(a[i], b[i])), "{mode} {r} {c}");
            assert_eq!(bits(&scalar, 64, r, c), expected(c < 293 && f(a[i], 1.0)), "{mode} {r} {c}");
        }
    }
    // Wider mask elements hold the same bytes.
    let ints = |x: [i16; 4]| x.into_iter().flat_map(i16::to_le_bytes).collect::<Vec<_>>();
    let tiles = [tile("a", "i16", 1, 4, ints([3, -4, 5, 0])), tile("d", "ui32", 1, 8, vec![0; 32])];
    let op = "%s = arith.constant 0 : i16\n  pto.tcmps ins(%a, %s {cmpMode = #pto<cmp gt>} : !a, i16) outs(%d : !d)";
    assert_eq!(result(&tiles, op)[..2], [0b0101, 0]);
}

#[test]
fn choices() {
    let (a, b): (Vec<f32>, Vec<f32>) = (0..2 * 300).map(|i| (i as f32, -(i as f32))).unzip();
    let mask: Vec<u8> = (0..2 * 64).map(|i| (i * 37 % 256) as u8).collect();
    let tiles = [
        tile("m", "i8", 2, 64, mask.clone()),
        tile("a", "f32", 2, 300, f32s(a.clone())),
        tile("b", "f32", 2, 300, f32s(b.clone())),
        tile("t", "ui32", 1, 16, vec![0; 64]),
        tile("d", "f32", 2, 300, f32s([0.5; 600])).valid(2, 299),
    ];
    let got = to_f32s(&result(&tiles, "pto.tsel ins(%m, %a, %b, %t : !m, !a, !b, !t) outs(%d : !d)"));
    for (i, got) in got.iter().enumerate() {
        let chosen = if bits(&mask, 64, i / 300, i % 300) { a[i] } else { b[i] };
        assert_eq!(*got, if i % 300 < 299 { chosen } else { 0.5 }, "{i}");
    }
    // The number is converted; 7 of i32 is 7.0. The destination may be the source.
    let op = "%s = arith.constant 7 : i32\n  pto.tsels ins(%m, %a, %t, %s : !m, !a, !t, i32) outs(%a : !a)";
    let tiles = [
        tile("t", "f16", 1, 16, vec![0; 32]),
        tile("m", "i8", 1, 32, vec![0b0110; 32]),
        tile("a", "f16", 1, 8, f16s([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
    ];
    assert_eq!(result(&tiles, op), f16s([7.0, 2.0, 3.0, 7.0, 7.0, 7.0, 7.0, 7.0]));
}

#[test]
fn masks_that_do_not_fit() {
    let tiles = [tile("a", "f32", 2, 300, vec![0; 2400]), tile("d", "i8", 2, 32, vec![0; 64])];
    let message = fault(&tiles, "pto.tcmp ins(%a, %a : !a, !a) outs(%d : !d)");
    assert_eq!(
        message,
        "tile-valid: pto.tcmp: the mask `dst` has 2 valid rows of 32 bytes, but 2 rows of 38 bytes (300 bits) are needed"
    );
}
