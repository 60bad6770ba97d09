//! Conversions, fills, padding, and rearrangement of elements.

use super::common::{Arg, f16s, f32s, kernel, matrix, part, run, to_f32s};
use super::kit::{DN, ND, NZ, after, fault, result, tile};

fn i16s(bytes: &[u8]) -> Vec<i16> {
    bytes.chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect()
}

fn i32s(x: impl IntoIterator<Item = i32>) -> Vec<u8> {
    x.into_iter().flat_map(i32::to_le_bytes).collect()
}

#[test]
fn rounding_modes() {
    let a = [2.5f32, -2.5, 3.5, 0.5, -0.5, 1.2, -1.2, f32::NAN];
    let modes: [(&str, [i32; 8]); 9] = [
        ("", [2, -2, 4, 0, 0, 1, -1, 0]),
        ("{rmode = #pto<round_mode CAST_RINT>}", [2, -2, 4, 0, 0, 1, -1, 0]),
        ("{rmode = #pto<round_mode RINT>}", [2, -2, 4, 0, 0, 1, -1, 0]),
        ("{rmode = #pto<round_mode ROUND>}", [3, -3, 4, 1, -1, 1, -1, 0]),
        ("{rmode = #pto<round_mode FLOOR>}", [2, -3, 3, 0, -1, 1, -2, 0]),
        ("{rmode = #pto<round_mode CEIL>}", [3, -2, 4, 1, 0, 2, -1, 0]),
        ("{rmode = #pto<round_mode TRUNC>}", [2, -2, 3, 0, 0, 1, -1, 0]),
        ("{rmode = #pto<round_mode ODD>}", [3, -3, 3, 1, -1, 1, -1, 0]),
        ("{rmode = #pto<round_mode NONE>}", [2, -2, 3, 0, 0, 1, -1, 0]),
    ];
    for (mode, expected) in modes {
        let tiles = [tile("a", "f32", 1, 8, f32s(a)), tile("d", "i32", 1, 8, vec![0; 32])];
        let op = format!("pto.tcvt ins(%a {mode} : !a) outs(%d : !d)");
        assert_eq!(result(&tiles, &op), i32s(expected), "{mode}");
        // f32 to f32: rounded to integral values, keeping NaN and the sign of zero.
        let tiles = [tile("a", "f32", 1, 8, f32s(a)), tile("d", "f32", 1, 8, vec![0; 32])];
        if !mode.contains("NONE") {
            let got = to_f32s(&result(&tiles, &op));
            assert_eq!(got[..7], expected.map(|x| x as f32)[..7], "{mode}");
            assert!(got[7].is_nan() && (got[4] != 0.0 || got[4].is_sign_negative()), "{mode}");
        }
    }
}

#[test]
fn saturation() {
    let a = [1e6f32, -1e6, 70000.0, -3.0];
    let convert = |attrs: &str, from: &'static str, data: Vec<u8>, to: &'static str, n: usize| {
        let tiles = [tile("a", from, 1, 4, data), tile("d", to, 1, 4, vec![0; n])];
        result(&tiles, &format!("pto.tcvt ins(%a {attrs} : !a) outs(%d : !d)"))
    };
    let on = "{rmode = #pto<round_mode TRUNC>, sat_mode = #pto<saturation_mode ON>}";
    let off = "{sat_mode = #pto<saturation_mode OFF>}";
    assert_eq!(i16s(&convert(on, "f32", f32s(a), "i16", 8)), [32767, -32768, 32767, -3]);
    // The low 16 bits of 1000000, -1000000, 70000; this is also the default, for all types.
    assert_eq!(i16s(&convert(off, "f32", f32s(a), "i16", 8)), [16960, -16960, 4464, -3]);
    assert_eq!(i16s(&convert("", "f32", f32s(a), "i16", 8)), [16960, -16960, 4464, -3]);
    assert_eq!(
        i16s(&convert("", "i32", i32s([1_000_000, -1_000_000, 70000, -3]), "i16", 8)),
        [16960, -16960, 4464, -3]
    );
    assert_eq!(convert("", "i32", i32s([300, -1, 77, 255]), "ui8", 4), [44, 255, 77, 255]);
    assert_eq!(convert("", "f16", f16s([300.0, -1.0, 77.0, 2.5]), "ui8", 4), [44, 255, 77, 2]);
    assert_eq!(convert("", "f32", f32s(a), "f16", 8), f16s([f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, -3.0]));
    assert_eq!(convert(on, "f32", f32s(a), "f16", 8), f16s([65504.0, -65504.0, 65504.0, -3.0]));
}

#[test]
fn conversion_of_layouts_and_parts() {
    let a: Vec<f32> = (0..32 * 32).map(|i| i as f32 * 0.125 - 60.0).collect();
    for (from, to) in [(ND, ND), (ND, DN), (NZ, ND), (DN, NZ)] {
        let tiles = [
            tile("a", "f32", 32, 32, f32s(a.clone())).laid(from).valid(30, 29),
            tile("t", "f32", 1, 64, vec![0; 256]),
            tile("d", "f16", 32, 32, f16s([1.0; 1024])).laid(to).valid(30, 29),
        ];
        let got = result(&tiles, "pto.tcvt ins(%a, %t : !a, !t) outs(%d : !d)");
        let expected = a.iter().enumerate().map(|(i, x)| if i / 32 < 30 && i % 32 < 29 { *x } else { 1.0 });
        assert_eq!(got, f16s(expected), "{from} {to}");
    }
    // Packing keeps low bits.
    let tiles =
        [tile("a", "i32", 1, 8, i32s([70000, -1, 258, 0, 65535, 65536, 7, -2])), tile("d", "f16", 1, 8, vec![0; 16])];
    let got = result(&tiles, "pto.tpack ins(%a : !a) outs(%d : !d)");
    assert_eq!(i16s(&got), [4464, -1, 258, 0, -1, 0, 7, -2]);
}

#[test]
fn fills() {
    let d = tile("d", "f16", 4, 16, f16s([1.0; 64])).valid(3, 9);
    let got = result(&[d], "%s = arith.constant 0.1 : f32\n  pto.texpands ins(%s : f32) outs(%d : !d)");
    assert_eq!(got, f16s((0..64).map(|i| if i / 16 < 3 && i % 16 < 9 { 0.1 } else { 1.0 })));

    let d = tile("d", "i16", 2, 16, vec![0; 64]).valid(2, 5);
    let op = |attrs: &str| format!("%s = arith.constant 7 : i16\n  pto.tci ins(%s {attrs} : i16) outs(%d : !d)");
    let got = i16s(&result(std::slice::from_ref(&d), &op("")));
    assert_eq!(got[..6], [7, 8, 9, 10, 11, 0]);
    assert_eq!(got[16..22], [12, 13, 14, 15, 16, 0]);
    let got = i16s(&result(std::slice::from_ref(&d), &op("{descending = true}")));
    assert_eq!((got[0], got[4], got[16], got[20]), (7, 3, 2, -2));

    for (upper, diagonal) in [(0, 0i64), (0, 2), (1, -1), (1, 1), (0, -2)] {
        let tiles = [tile("d", "f32", 4, 8, f32s([9.0; 32])).valid(4, 7)];
        let attrs = format!("{{upperOrLower = {upper} : i32}}");
        let op = format!("%s = arith.constant {diagonal} : i32\n  pto.ttri ins(%s {attrs} : i32) outs(%d : !d)");
        for (i, got) in to_f32s(&result(&tiles, &op)).into_iter().enumerate() {
            let (r, c) = ((i / 8) as i64, (i % 8) as i64);
            let one = if upper == 1 { c >= r + diagonal } else { c <= r + diagonal };
            let expected = if c < 7 { f32::from(u8::from(one)) } else { 9.0 };
            assert_eq!(got, expected, "{upper} {diagonal} {r} {c}");
        }
    }
}

#[test]
fn padding() {
    let a: Vec<f32> = (0..8 * 16).map(|i| i as f32).collect();
    let values = [(1, 0.0), (2, f32::INFINITY), (3, f32::NEG_INFINITY)];
    for (pad, value) in values {
        let expected =
            |rows: usize, cols: usize| {
                f32s((0..rows * cols).map(move |i| {
                    if i / cols < 5 && i % cols < 11 { (i / cols * 16 + i % cols) as f32 } else { value }
                }))
            };
        for (from, to) in [(ND, ND), (DN, ND), (ND, DN)] {
            let src = tile("a", "f32", 8, 16, f32s(a.clone())).laid(from).dynamic(5, 11);
            let dst = tile("d", "f32", 8, 16, f32s([9.0; 128])).laid(to).pad(pad);
            assert_eq!(result(&[src.clone(), dst], "pto.tfillpad ins(%a : !a) outs(%d : !d)"), expected(8, 16));
            let larger = tile("d", "f32", 16, 24, f32s([9.0; 384])).laid(to).pad(pad);
            assert_eq!(result(&[src, larger], "pto.tfillpad_expand ins(%a : !a) outs(%d : !d)"), expected(16, 24));
        }
        let same = tile("a", "f32", 8, 16, f32s(a.clone())).valid(5, 11).pad(pad);
        for op in ["tfillpad", "tfillpad_inplace"] {
            let got = after(std::slice::from_ref(&same), &format!("pto.{op} ins(%a : !a) outs(%a : !a)"));
            assert_eq!(got[0], expected(8, 16), "{op}");
        }
    }
}

#[test]
fn places() {
    let a: Vec<u8> = (0..32 * 48 * 2).map(|i| (i * 11 % 253) as u8).collect();
    for (from, to) in [(ND, ND), (DN, ND), (ND, NZ), (NZ, DN)] {
        let tiles = [
            tile("a", "f16", 32, 48, a.clone()).laid(from).valid(30, 45),
            tile("t", "f16", 32, 48, a.clone()),
            tile("d", "f16", 48, 32, vec![1; 3072]).laid(to).valid(44, 29),
        ];
        let got = result(&tiles, "pto.ttrans ins(%a, %t : !a, !t) outs(%d : !d)");
        for (i, got) in got.chunks(2).enumerate() {
            let (r, c) = (i / 32, i % 32);
            let at = 2 * (c * 48 + r);
            assert_eq!(got, if r < 44 && c < 29 { &a[at..at + 2] } else { &[1, 1] }, "{from} {to} {i}");
        }
    }
    let tiles = [
        tile("a", "i16", 2, 16, (0..64).collect()).valid(2, 3),
        tile("b", "i16", 2, 16, (100..164).collect()).valid(2, 4),
        tile("d", "i16", 2, 16, vec![0; 64]).valid(2, 7),
    ];
    let got = result(&tiles, "pto.tconcat ins(%a, %b : !a, !b) outs(%d : !d)");
    assert_eq!(got[..16], [0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105, 106, 107, 0, 0]);
    assert_eq!(got[32..48], [32, 33, 34, 35, 36, 37, 132, 133, 134, 135, 136, 137, 138, 139, 0, 0]);
    let tiles = [tile("a", "i16", 2, 16, vec![0; 64]).dynamic(2, 10), tile("d", "i16", 2, 16, vec![0; 64])];
    let message = fault(&tiles, "pto.tconcat ins(%a, %a : !a, !a) outs(%d : !d)");
    assert_eq!(message, "tile-valid: pto.tconcat: 10 and 10 columns do not fit into the 16 columns of `dst`");
}

#[test]
fn memrefs_and_tiles_of_the_cube_core() {
    let view = part("f32", &[16, 32]);
    let memref = "memref<16x32xf32, #pto.address_space<vec>>";
    let body = matrix("a", "f32", 16, 32)
        + &format!(
            r"
  %s = arith.constant 1.5 : f32
  %x = memref.alloc() : {memref}
  %y = memref.alloc() : {memref}
  pto.texpands ins(%s : f32) outs(%x : {memref})
  pto.tmuls ins(%x, %s : {memref}, f32) outs(%y : {memref})
  pto.tadd ins(%x, %y : {memref}, {memref}) outs(%x : {memref})
  pto.tstore ins(%x : {memref}) outs(%a_w : {view})"
        );
    let gm = run("a5", &kernel("%a: !pto.ptr<f32>", &body), vec![Arg::Buffer(vec![0; 2048])]);
    assert_eq!(to_f32s(&gm[0]), [3.75; 512]);

    // In L1: filled with 2, then zero outside 16 x 16; loaded as both factors of a product.
    let tile = |space: &str, layout: &str, valid: &str, pad: u8| {
        format!("!pto.tile_buf<loc={space}, dtype=f16, rows=32, cols=32, {valid}, {layout}, fractal=512, pad={pad}>")
    };
    let (whole, part_of) = ("v_row=32, v_col=32", "v_row=16, v_col=16");
    let types = [
        ("l1", tile("mat", NZ, whole, 1)),
        ("l1_part", tile("mat", NZ, part_of, 1)),
        ("left", tile("left", NZ, whole, 0)),
        ("right", tile("right", "blayout=row_major, slayout=col_major", whole, 0)),
        (
            "acc",
            "!pto.tile_buf<loc=acc, dtype=f32, rows=32, cols=32, v_row=32, v_col=32, blayout=col_major, slayout=row_major, fractal=1024, pad=0>".to_string(),
        ),
    ];
    let types: String = types.into_iter().map(|(name, ty)| format!("!{name} = {ty}\n")).collect();
    let view = part("f32", &[32, 32]);
    let body = matrix("a", "f32", 32, 32)
        + &format!(
            r"
  %s = arith.constant 2.0 : f16
  %m = pto.alloc_tile addr = %c0 : !l1
  %m_part = pto.alloc_tile addr = %c0 : !l1_part
  %left = pto.alloc_tile : !left
  %right = pto.alloc_tile : !right
  %acc = pto.alloc_tile : !acc
  pto.texpands ins(%s : f16) outs(%m : !l1)
  pto.tfillpad ins(%m_part : !l1_part) outs(%m_part : !l1_part)
  pto.tmov ins(%m : !l1) outs(%left : !left)
  pto.tmov ins(%m : !l1) outs(%right : !right)
  pto.tmatmul ins(%left, %right : !left, !right) outs(%acc : !acc)
  pto.tstore ins(%acc : !acc) outs(%a_w : {view})"
        );
    let gm = run("a5", &(types + &kernel("%a: !pto.ptr<f32>", &body)), vec![Arg::Buffer(vec![0; 4096])]);
    for (i, got) in to_f32s(&gm[0]).into_iter().enumerate() {
        assert_eq!(got, if i / 32 < 16 && i % 32 < 16 { 64.0 } else { 0.0 }, "{i}");
    }
}
