//! Single elements of memory, and memrefs, from text to bytes.

use crate::common;

use common::{Arg, f32s, finding, kernel, matrix, part, run, to_f32s};

#[test]
fn elements_of_global_memory_and_tiles() {
    let body = matrix("a", "f32", 4, 8)
        + &format!(
            r"
  %x = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
  pto.tload ins(%a_w : {0}) outs(%x : !pto.tile_buf<vec, 4x8xf32>)
  %p = pto.addptr %a, %c3 : !pto.ptr<f32> -> !pto.ptr<f32>
  %e = pto.load_scalar %p[%c2] : !pto.ptr<f32> -> f32
  pto.tsetval ins(%c9, %e : index, f32) outs(%x : !pto.tile_buf<vec, 4x8xf32>)
  %f = pto.tgetval ins(%x, %c31 : !pto.tile_buf<vec, 4x8xf32>, index) outs : f32
  pto.tstore ins(%x : !pto.tile_buf<vec, 4x8xf32>) outs(%a_w : {0})
  pto.store_scalar %f, %a[%n] : !pto.ptr<f32>, f32",
            part("f32", &[4, 8])
        );
    let source = kernel("%a: !pto.ptr<f32>, %n: index", &body);
    let a: Vec<f32> = (0..32).map(|i| i as f32 * 1.5).collect();
    let args = |n: u64| vec![Arg::Buffer(f32s(a.clone())), Arg::Scalar(n)];
    let mut expected = a.clone();
    (expected[9], expected[1]) = (a[5], a[31]);
    assert_eq!(to_f32s(&run("a5", &source, args(1))[0]), expected);
    assert_eq!(finding("a5", &source, args(32)).0, "memory-bounds");
    assert_eq!(finding("a5", &source, args(u64::MAX)).0, "memory-bounds");
}

#[test]
fn narrow_integers_keep_their_sign() {
    let body = r"
  %x = pto.load_scalar %a[%c0] : !pto.ptr<i8> -> i8
  %y = arith.extsi %x : i8 to i32
  pto.store_scalar %y, %b[%c0] : !pto.ptr<i32>, i32";
    let source = kernel("%a: !pto.ptr<i8>, %b: !pto.ptr<i32>", body);
    let gm = run("a5", &source, vec![Arg::Buffer(vec![0xfe]), Arg::Buffer(vec![0; 4])]);
    assert_eq!(gm[1], (-2i32).to_le_bytes());
}

#[test]
fn memrefs_are_views_and_tiles() {
    let gm = "memref<2x4x8xf32, #pto.address_space<gm>>";
    let ub = "memref<2x4x8xf32, #pto.address_space<vec>>";
    let flat = "memref<64xf32, #pto.address_space<gm>>";
    let body = format!(
        r"
  %x = memref.alloc() : {ub}
  pto.tload ins(%a : {gm}) outs(%x : {ub})
  %e = memref.load %x[%c1, %c2, %c3] : {ub}
  memref.store %e, %x[%c0, %c0, %c0] : {ub}
  pto.tstore ins(%x : {ub}) outs(%b : {gm})
  %c = memref.reinterpret_cast %b to offset: [8], sizes: [%c4, 2], strides: [2, 1] : {gm} to memref<?x2xf32, strided<[2, 1], offset: 8>, #pto.address_space<gm>>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 4x2xf32>
  pto.tload ins(%c : memref<?x2xf32, strided<[2, 1], offset: 8>, #pto.address_space<gm>>) outs(%t : !pto.tile_buf<vec, 4x2xf32>)
  %d = memref.reinterpret_cast %f to offset: [%n], sizes: [4, 2], strides: [2, 1] : {flat} to memref<4x2xf32, strided<[2, 1], offset: ?>, #pto.address_space<gm>>
  pto.tstore ins(%t : !pto.tile_buf<vec, 4x2xf32>) outs(%d : memref<4x2xf32, strided<[2, 1], offset: ?>, #pto.address_space<gm>>)
  memref.dealloc %x : {ub}"
    );
    let source = kernel(&format!("%a: {gm}, %b: {gm}, %f: {flat}, %n: index"), &body);
    let a: Vec<f32> = (0..64).map(|i| i as f32 + 0.5).collect();
    let args = [f32s(a.clone()), vec![0; 256], vec![0; 256]].map(Arg::Buffer);
    let gm = run("a5", &source, args.into_iter().chain([Arg::Scalar(16)]).collect());
    let mut expected = a.clone();
    expected[0] = a[32 + 2 * 8 + 3];
    assert_eq!(to_f32s(&gm[1]), expected);
    assert_eq!(to_f32s(&gm[2])[16..24], a[8..16]);
}
