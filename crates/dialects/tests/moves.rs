//! Views, tiles, moves and products from text to bytes, compared with naive code.

use crate::common;

use common::{Arg, f16s, f32s, finding, kernel, matrix, part, run, to_f16s, to_f32s, window};

/// Small integers, so that sums are exact in every order.
fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7 + seed * 13 + i / 11) % 17) as f32 - 8.0).collect()
}

fn product(a: &[f32], b: &[f32], m: usize, k: usize, n: usize) -> Vec<f32> {
    (0..m * n).map(|at| (0..k).map(|l| a[at / n * k + l] * b[l * n + at % n]).sum()).collect()
}

#[test]
fn a_product_from_global_memory_and_back() {
    let source = r"
!l1a = !pto.tile_buf<mat, 32x64xf16, blayout=col_major, slayout=row_major>
!l1b = !pto.tile_buf<mat, 64x48xf16, blayout=col_major, slayout=row_major>
!l0a = !pto.tile_buf<left, 32x64xf16, blayout=col_major, slayout=row_major>
!l0b = !pto.tile_buf<right, 64x48xf16, blayout=row_major, slayout=col_major>
!l0c = !pto.tile_buf<acc, 32x48xf32, blayout=col_major, slayout=row_major, fractal=1024>
func.func @product(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %av = pto.make_tensor_view %a, shape = [%c32, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf16>
  %bv = pto.make_tensor_view %b, shape = [%c64, %c48], strides = [%c48, %c1] : !pto.tensor_view<?x?xf16>
  %cv = pto.make_tensor_view %c, shape = [%c32, %c48], strides = [%c48, %c1] : !pto.tensor_view<?x?xf32>
  %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<32x64xf16>
  %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c64, %c48] : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<64x48xf16>
  %cp = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%c32, %c48] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x48xf32>
  %a1 = pto.alloc_tile : !l1a
  %b1 = pto.alloc_tile : !l1b
  %left = pto.alloc_tile : !l0a
  %right = pto.alloc_tile : !l0b
  %acc = pto.alloc_tile : !l0c
  pto.tload ins(%ap : !pto.partition_tensor_view<32x64xf16>) outs(%a1 : !l1a)
  pto.tload ins(%bp : !pto.partition_tensor_view<64x48xf16>) outs(%b1 : !l1b)
  pto.tmov ins(%a1 : !l1a) outs(%left : !l0a)
  pto.tmov ins(%b1 : !l1b) outs(%right : !l0b)
  pto.tmatmul ins(%left, %right : !l0a, !l0b) outs(%acc : !l0c)
  pto.tmatmul.acc ins(%acc, %left, %right : !l0c, !l0a, !l0b) outs(%acc : !l0c)
  pto.tstore ins(%acc : !l0c) outs(%cp : !pto.partition_tensor_view<32x48xf32>)
  return
}";
    let (a, b) = (numbers(32 * 64, 1), numbers(64 * 48, 2));
    let expected: Vec<f32> = product(&a, &b, 32, 64, 48).iter().map(|x| 2.0 * x).collect();
    for platform in ["a5", "a2a3"] {
        let args = [f16s(a.clone()), f16s(b.clone()), f32s([0.0; 32 * 48])];
        let gm = run(platform, source, args.map(Arg::Buffer).into());
        assert_eq!(to_f32s(&gm[2]), expected, "{platform}");
    }
}

/// The tests' shorthand for tile types.
const TYPES: &str = r"
!nd = !pto.tile_buf<vec, 16x32xf32>
!dn = !pto.tile_buf<vec, 16x32xf32, blayout=col_major>
!nz = !pto.tile_buf<vec, 16x32xf32, blayout=col_major, slayout=row_major>
";

fn text(params: &str, body: &str) -> String {
    TYPES.to_string() + &kernel(params, body)
}

#[test]
fn layouts_change_on_the_way_and_back() {
    let view = part("f32", &[16, 32]);
    let body = matrix("a", "f32", 16, 32)
        + &matrix("b", "f32", 16, 32)
        + &format!(
            r"
  %x = pto.alloc_tile : !nd
  %y = pto.alloc_tile : !nz
  %z = pto.alloc_tile : !dn
  pto.tload ins(%a_w : {view}) outs(%x : !nd)
  pto.tmov ins(%x : !nd) outs(%y : !nz)
  pto.tmov ins(%y : !nz) outs(%z : !dn)
  pto.tstore ins(%z : !dn) outs(%b_w : {view})"
        );
    let source = text("%a: !pto.ptr<f32>, %b: !pto.ptr<f32>", &body);
    let a = numbers(512, 3);
    let gm = run("a5", &source, vec![Arg::Buffer(f32s(a.clone())), Arg::Buffer(vec![0; 2048])]);
    assert_eq!(to_f32s(&gm[1]), a);
}

#[test]
fn windows_of_wider_and_transposed_tensors() {
    // Rows 2 to 17, columns 5 to 36 of a 20 x 40 tensor, into columns of b: a transposed copy of 32 x 16.
    let body = window("a", "f32", &[20, 40], &[40, 1], &[2, 5], &[16, 32], "")
        + &window("b", "f32", &[16, 32], &[1, 16], &[0, 0], &[16, 32], "{layout = #pto.layout<dn>}")
        + &format!(
            "  %x = pto.alloc_tile : !nd\n  pto.tload ins(%a_w : {0}) outs(%x : !nd)\n  pto.tstore ins(%x : !nd) outs(%b_w : {0})",
            part("f32", &[16, 32])
        );
    let source = text("%a: !pto.ptr<f32>, %b: !pto.ptr<f32>", &body);
    let a = numbers(800, 4);
    let gm = run("a5", &source, vec![Arg::Buffer(f32s(a.clone())), Arg::Buffer(vec![0; 2048])]);
    let expected: Vec<f32> = (0..512).map(|i| a[(2 + i % 16) * 40 + 5 + i / 16]).collect();
    assert_eq!(to_f32s(&gm[1]), expected);
}

#[test]
fn five_dimensions_fold_into_two() {
    // 4 x 16 x 16 of a 4 x 20 x 24 tensor: 64 rows.
    let sizes = [1, 1, 4, 16, 16];
    let strides = [1920, 1920, 480, 24, 1];
    let body = window("a", "f32", &[1, 1, 4, 20, 24], &strides, &[0, 0, 0, 1, 2], &sizes, "")
        + &matrix("b", "f32", 64, 16)
        + &format!(
            r"
  %x = pto.alloc_tile : !pto.tile_buf<vec, 64x16xf32>
  pto.tload ins(%a_w : {}) outs(%x : !pto.tile_buf<vec, 64x16xf32>)
  pto.tstore ins(%x : !pto.tile_buf<vec, 64x16xf32>) outs(%b_w : {})",
            part("f32", &sizes),
            part("f32", &[64, 16])
        );
    let source = text("%a: !pto.ptr<f32>, %b: !pto.ptr<f32>", &body);
    let a = numbers(1920, 5);
    let gm = run("a5", &source, vec![Arg::Buffer(f32s(a.clone())), Arg::Buffer(vec![0; 4096])]);
    let expected: Vec<f32> = (0..1024).map(|i| a[i / 256 * 480 + (1 + i / 16 % 16) * 24 + 2 + i % 16]).collect();
    assert_eq!(to_f32s(&gm[1]), expected);
}

#[test]
fn fractals_in_global_memory() {
    // A 32 x 32 f16 matrix stored as 2 column boxes of 2 row boxes, loaded as fractals, stored as rows.
    let sizes = [1, 2, 2, 16, 16];
    let body = window("a", "f16", &sizes, &[1024, 512, 256, 16, 1], &[0; 5], &sizes, "{layout = #pto.layout<nz>}")
        + &matrix("b", "f16", 32, 32)
        + &format!(
            r"
  %x = pto.alloc_tile : !pto.tile_buf<vec, 32x32xf16, blayout=col_major, slayout=row_major>
  pto.tload ins(%a_w : {}) outs(%x : !pto.tile_buf<vec, 32x32xf16, blayout=col_major, slayout=row_major>)
  pto.tstore ins(%x : !pto.tile_buf<vec, 32x32xf16, blayout=col_major, slayout=row_major>) outs(%b_w : {})",
            part("f16", &sizes),
            part("f16", &[32, 32])
        );
    let source = text("%a: !pto.ptr<f16>, %b: !pto.ptr<f16>", &body);
    let a = numbers(1024, 6);
    let gm = run("a5", &source, vec![Arg::Buffer(f16s(a.clone())), Arg::Buffer(vec![0; 2048])]);
    let expected: Vec<f32> = (0..1024)
        .map(|i| {
            let (row, col) = (i / 32, i % 32);
            a[col / 16 * 512 + row / 16 * 256 + row % 16 * 16 + col % 16]
        })
        .collect();
    assert_eq!(to_f16s(&gm[1]), expected);
}

#[test]
fn open_valid_shapes_clip_and_change() {
    let view = part("f32", &[16, 32]);
    let body = matrix("a", "f32", 16, 32)
        + &matrix("b", "f32", 16, 32)
        + &format!(
            r"
  %x = pto.alloc_tile valid_row = %n valid_col = %c30 : !pto.tile_buf<vec, 16x32xf32, valid=?x?, pad=3>
  pto.tload ins(%a_w : {view}) outs(%x : !pto.tile_buf<vec, 16x32xf32, valid=?x?, pad=3>)
  %one = arith.cmpi eq, %n, %c5 : index
  scf.if %one {{
    pto.set_validshape %x, %c4, %c32 : !pto.tile_buf<vec, 16x32xf32, valid=?x?, pad=3>
  }}
  pto.tstore ins(%x : !pto.tile_buf<vec, 16x32xf32, valid=?x?, pad=3>) outs(%b_w : {view})"
        );
    let source = text("%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: index", &body);
    let a = numbers(512, 7);
    let args = |n| vec![Arg::Buffer(f32s(a.clone())), Arg::Buffer(f32s([9.0; 512])), Arg::Scalar(n)];
    // 5 rows of 30 columns are loaded, padded to 32; then 4 rows of 32 columns are valid.
    let gm = run("a5", &source, args(5));
    let expected: Vec<f32> = (0..512)
        .map(|i| match (i / 32, i % 32) {
            (4.., _) => 9.0,
            (_, 30..) => f32::NEG_INFINITY,
            _ => a[i],
        })
        .collect();
    assert_eq!(to_f32s(&gm[1]), expected);
    let gm = run("a5", &source, args(3));
    assert_eq!(to_f32s(&gm[1])[32..62], a[32..62]);
    assert_eq!(to_f32s(&gm[1])[30..32], [9.0; 2]);
    assert_eq!(finding("a5", &source, args(17)).0, "tile-valid");
    assert_eq!(finding("a5", &source, args(u64::MAX)).0, "tile-valid");
}

#[test]
fn parts_of_tiles_share_their_bytes() {
    let body = matrix("a", "f32", 16, 32)
        + &matrix("b", "f32", 8, 16)
        + &format!(
            r"
  %x = pto.alloc_tile : !nd
  %y = pto.alloc_tile : !nz
  pto.tload ins(%a_w : {0}) outs(%x : !nd)
  pto.tmov ins(%x : !nd) outs(%y : !nz)
  %p = pto.subset %y[%c0, %n] sizes [16, 16] : !nz
  %q = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tmov ins(%p : !pto.tile_buf<vec, 16x16xf32, valid=16x?, blayout=col_major, slayout=row_major>) outs(%q : !pto.tile_buf<vec, 16x16xf32>)
  %r = pto.subset %q[%c4, %c0] sizes [8, 16] : !pto.tile_buf<vec, 16x16xf32>
  pto.tstore ins(%r : !pto.tile_buf<vec, 8x16xf32>) outs(%b_w : {1})",
            part("f32", &[16, 32]),
            part("f32", &[8, 16])
        );
    let source = text("%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: index", &body);
    let a = numbers(512, 8);
    let args = |n| vec![Arg::Buffer(f32s(a.clone())), Arg::Buffer(vec![0; 512]), Arg::Scalar(n)];
    let gm = run("a5", &source, args(16));
    let expected: Vec<f32> = (0..128).map(|i| a[(4 + i / 16) * 32 + 16 + i % 16]).collect();
    assert_eq!(to_f32s(&gm[1]), expected);
    assert_eq!(finding("a5", &source, args(3)).0, "trap");
}

#[test]
fn windows_are_taken_out_and_put_in() {
    let body = matrix("a", "f32", 16, 32)
        + &matrix("b", "f32", 16, 32)
        + &format!(
            r"
  %x = pto.alloc_tile : !nd
  %y = pto.alloc_tile : !nd
  %w = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  pto.tload ins(%a_w : {0}) outs(%x : !nd)
  pto.tload ins(%b_w : {0}) outs(%y : !nd)
  pto.textract ins(%x, %n, %c16 : !nd, index, index) outs(%w : !pto.tile_buf<vec, 8x8xf32>)
  pto.tinsert ins(%w, %c8, %c3 : !pto.tile_buf<vec, 8x8xf32>, index, index) outs(%y : !nd)
  pto.tstore ins(%y : !nd) outs(%b_w : {0})",
            part("f32", &[16, 32])
        );
    let source = text("%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: index", &body);
    let a = numbers(512, 9);
    let args = |n| vec![Arg::Buffer(f32s(a.clone())), Arg::Buffer(f32s([1.0; 512])), Arg::Scalar(n)];
    let gm = run("a5", &source, args(5));
    let expected: Vec<f32> = (0..512)
        .map(|i| match (i / 32, i % 32) {
            (row @ 8..16, col @ 3..11) => a[(row - 8 + 5) * 32 + col - 3 + 16],
            _ => 1.0,
        })
        .collect();
    assert_eq!(to_f32s(&gm[1]), expected);
    let (code, message) = finding("a5", &source, args(9));
    assert_eq!(code, "tile-window", "{message}");
}
