//! Matrix products and the exits of the accumulator, from text to bytes, compared with naive code.

use crate::common;

use common::{Arg, f16s, f32s, finding, kernel, matrix, part, run, run_on, to_f16s, to_f32s};
use slipring_machine::{Role, built_in};
use slipring_op::Decoding;
use slipring_program::Env;
use slipring_tile::Space;

fn numbers(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 5 + seed * 11 + i / 13) % 15) as f32 - 7.0).collect()
}

fn product(a: &[f32], b: &[f32], k: usize, n: usize) -> Vec<f32> {
    (0..a.len() / k * n).map(|at| (0..k).map(|l| a[at / n * k + l] * b[l * n + at % n]).sum()).collect()
}

const TYPES: &str = r"
!l1 = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
!l0a = !pto.tile_buf<left, 32x32xf16, blayout=col_major, slayout=row_major>
!l0b = !pto.tile_buf<right, 32x32xf16, blayout=row_major, slayout=col_major>
!l0c = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
";

/// Loads `%a` and `%b` (32 x 32 f16) and multiplies them into `%acc`.
fn multiply() -> String {
    let view = part("f16", &[32, 32]);
    matrix("a", "f16", 32, 32)
        + &matrix("b", "f16", 32, 32)
        + &format!(
            r"
  %a1 = pto.alloc_tile : !l1
  %b1 = pto.alloc_tile : !l1
  %left = pto.alloc_tile : !l0a
  %right = pto.alloc_tile : !l0b
  %acc = pto.alloc_tile : !l0c
  pto.tload ins(%a_w : {view}) outs(%a1 : !l1)
  pto.tload ins(%b_w : {view}) outs(%b1 : !l1)
  pto.tmov ins(%a1 : !l1) outs(%left : !l0a)
  pto.tmov ins(%b1 : !l1) outs(%right : !l0b)
  pto.tmatmul ins(%left, %right : !l0a, !l0b) outs(%acc : !l0c)
"
        )
}

fn operands() -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let (a, b) = (numbers(1024, 1), numbers(1024, 2));
    let c = product(&a, &b, 32, 32);
    (a, b, c)
}

/// Stores the product as `elem` with these attributes and an optional scale.
fn store(elem: &str, scale: bool, attrs: &str, out: Vec<u8>, scale_bits: u64) -> Vec<u8> {
    let (a, b, _) = operands();
    let scaled = if scale { (", %s", ", i64") } else { ("", "") };
    let body = multiply()
        + &matrix("c", elem, 32, 32)
        + &format!(
            "  pto.tstore ins(%acc{} : !l0c{}) outs(%c_w : {}) {attrs}",
            scaled.0,
            scaled.1,
            part(elem, &[32, 32])
        );
    let params = format!("%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<{elem}>, %s: i64");
    let args = vec![Arg::Buffer(f16s(a)), Arg::Buffer(f16s(b)), Arg::Buffer(out), Arg::Scalar(scale_bits)];
    run("a5", &(TYPES.to_string() + &kernel(&params, &body)), args).swap_remove(2)
}

#[test]
fn out_of_the_accumulator_with_conversion_relu_scale_and_addition() {
    let (_, _, c) = operands();
    assert_eq!(to_f32s(&store("f32", false, "", vec![0; 4096], 0)), c);
    assert_eq!(to_f16s(&store("f16", false, "", vec![0; 2048], 0)), c);
    let relu = store("f32", false, "{reluPreMode = #pto<relu_pre_mode normal_relu>}", vec![0; 4096], 0);
    assert_eq!(to_f32s(&relu), c.iter().map(|x| x.max(0.0)).collect::<Vec<_>>());
    let scaled = store("i8", true, "", vec![0; 1024], u64::from(0.25f32.to_bits()));
    let expected: Vec<u8> = c.iter().map(|x| (x * 0.25).round_ties_even().clamp(-128.0, 127.0) as i8 as u8).collect();
    assert_eq!(scaled, expected);
    let start: Vec<f32> = numbers(1024, 9);
    let added = store("f32", false, "{atomicType = #pto<atomic_type atomic_add>}", f32s(start.clone()), 0);
    assert_eq!(to_f32s(&added), start.iter().zip(&c).map(|(x, y)| x + y).collect::<Vec<_>>());
    let halves = store(
        "f16",
        false,
        "{atomicType = #pto<atomic_type atomic_add>, stPhase = #pto<st_phase final>}",
        f16s(start.clone()),
        0,
    );
    assert_eq!(to_f16s(&halves), start.iter().zip(&c).map(|(x, y)| x + y).collect::<Vec<_>>());
}

#[test]
fn bias_row_vectors_and_integers() {
    let body = multiply()
        + &matrix("r", "f32", 1, 32)
        + &matrix("c", "f32", 32, 32)
        + &format!(
            r"
  %r1 = pto.alloc_tile : !pto.tile_buf<mat, 1x32xf32>
  %bias = pto.alloc_tile : !pto.tile_buf<bias, 1x32xf32>
  pto.tload ins(%r_w : {0}) outs(%r1 : !pto.tile_buf<mat, 1x32xf32>)
  pto.tmov ins(%r1 : !pto.tile_buf<mat, 1x32xf32>) outs(%bias : !pto.tile_buf<bias, 1x32xf32>)
  pto.tmatmul.bias ins(%left, %right, %bias : !l0a, !l0b, !pto.tile_buf<bias, 1x32xf32>) outs(%acc : !l0c)
  pto.tmatmul.acc ins(%acc, %left, %right : !l0c, !l0a, !l0b) outs(%acc : !l0c)
  pto.tstore ins(%acc : !l0c) outs(%c_w : {1})",
            part("f32", &[1, 32]),
            part("f32", &[32, 32])
        );
    let params = "%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %r: !pto.ptr<f32>, %c: !pto.ptr<f32>";
    let (a, b, c) = operands();
    let r = numbers(32, 5);
    let args = [f16s(a), f16s(b), f32s(r.clone()), vec![0; 4096]].map(Arg::Buffer);
    let gm = run("a2a3", &(TYPES.to_string() + &kernel(params, &body)), args.into());
    let expected: Vec<f32> = c.iter().enumerate().map(|(i, x)| x + r[i % 32] + x).collect();
    assert_eq!(to_f32s(&gm[3]), expected);
}

#[test]
fn bytes_multiply_into_wrapping_integers() {
    let types = r"
!l1a = !pto.tile_buf<mat, 16x64xi8, blayout=col_major, slayout=row_major>
!l1b = !pto.tile_buf<mat, 64x32xi8, blayout=col_major, slayout=row_major>
!l0a = !pto.tile_buf<left, 16x64xi8, blayout=col_major, slayout=row_major>
!l0b = !pto.tile_buf<right, 64x32xi8, blayout=row_major, slayout=col_major>
!l0c = !pto.tile_buf<acc, 16x32xi32, blayout=col_major, slayout=row_major, fractal=1024>
";
    let body = matrix("a", "i8", 16, 64)
        + &matrix("b", "i8", 64, 32)
        + &matrix("c", "i32", 16, 32)
        + &format!(
            r"
  %a1 = pto.alloc_tile : !l1a
  %b1 = pto.alloc_tile : !l1b
  %left = pto.alloc_tile : !l0a
  %right = pto.alloc_tile : !l0b
  %acc = pto.alloc_tile : !l0c
  pto.tload ins(%a_w : {}) outs(%a1 : !l1a)
  pto.tload ins(%b_w : {}) outs(%b1 : !l1b)
  pto.textract ins(%a1, %c0, %c0 : !l1a, index, index) outs(%left : !l0a)
  pto.tmov ins(%b1 : !l1b) outs(%right : !l0b)
  pto.tmatmul ins(%left, %right : !l0a, !l0b) outs(%acc : !l0c)
  pto.tstore ins(%acc : !l0c) outs(%c_w : {})",
            part("i8", &[16, 64]),
            part("i8", &[64, 32]),
            part("i32", &[16, 32])
        );
    let source = types.to_string() + &kernel("%a: !pto.ptr<i8>, %b: !pto.ptr<i8>, %c: !pto.ptr<i32>", &body);
    let byte = |n: usize, seed: usize| -> Vec<u8> { (0..n).map(|i| (i * 37 + seed + i / 9) as u8).collect() };
    let (a, b) = (byte(1024, 1), byte(2048, 200));
    let gm = run("a5", &source, vec![Arg::Buffer(a.clone()), Arg::Buffer(b.clone()), Arg::Buffer(vec![0; 2048])]);
    let got: Vec<i32> = gm[2].chunks(4).map(|x| i32::from_le_bytes(x.try_into().unwrap())).collect();
    let at = |x: u8| i32::from(x as i8);
    let expected: Vec<i32> =
        (0..512).map(|i| (0..64).map(|l| at(a[i / 32 * 64 + l]) * at(b[l * 32 + i % 32])).sum()).collect();
    assert_eq!(got, expected);
}

#[test]
fn the_accumulator_reaches_one_vector_core_or_both() {
    let (a, b, c) = operands();
    for (mode, rows, cols) in
        [("single_mode_vec1", 32, 32), ("dual_mode_split_m", 16, 32), ("dual_mode_split_n", 32, 16)]
    {
        let tile = format!("!pto.tile_buf<vec, {rows}x{cols}xf32>");
        let body = multiply()
            + &format!(
                r"
  %zero = arith.constant 0 : i64
  %v = pto.alloc_tile addr = %zero : {tile}
  pto.tmov ins(%acc : !l0c) outs(%v : {tile}) {{accToVecMode = #pto.acc_to_vec_mode<{mode}>}}"
            );
        let source = TYPES.to_string() + &kernel("%a: !pto.ptr<f16>, %b: !pto.ptr<f16>", &body);
        let args = vec![Arg::Buffer(f16s(a.clone())), Arg::Buffer(f16s(b.clone()))];
        let result = run_on(&built_in("a5").unwrap(), &source, Decoding::Reference, args);
        assert!(result.findings.is_empty(), "{:?}", result.findings);
        for lane in 0..2 {
            let env = Env { block: 0, core: Role::Aic };
            let got = to_f32s(result.memory.bytes(env, Role::lane(lane), Space::Vec, 0, rows * cols * 4));
            let part = |i: usize| match mode {
                "dual_mode_split_m" => c[(lane * 16 + i / cols) * 32 + i % cols],
                "dual_mode_split_n" => c[i / cols * 32 + lane * 16 + i % cols],
                _ if lane == 1 => c[i],
                _ => 0.0,
            };
            assert_eq!(got, (0..rows * cols).map(part).collect::<Vec<_>>(), "{mode} {lane}");
        }
    }
}

#[test]
fn a_product_accumulates_from_another_accumulator() {
    let body = multiply()
        + &matrix("c", "f32", 32, 32)
        + &format!(
            r"
  %other = pto.alloc_tile : !l0c
  pto.tmatmul.acc ins(%acc, %left, %right : !l0c, !l0a, !l0b) outs(%other : !l0c)
  %m = pto.alloc_tile : !l1
  pto.tinsert ins(%other, %c0, %c0 : !l0c, index, index) outs(%m : !l1)
  pto.tstore ins(%other : !l0c) outs(%c_w : {})",
            part("f32", &[32, 32])
        );
    let (a, b, c) = operands();
    let args = [f16s(a), f16s(b), vec![0; 4096]].map(Arg::Buffer);
    let gm = run(
        "a5",
        &(TYPES.to_string() + &kernel("%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>", &body)),
        args.into(),
    );
    assert_eq!(to_f32s(&gm[2]), c.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
}

#[test]
fn valid_shapes_decide_the_extents_of_a_product() {
    let body = r"
  %left = pto.alloc_tile valid_row = %n valid_col = %c7 : !pto.tile_buf<left, 32x32xf16, valid=?x?, blayout=col_major, slayout=row_major>
  %right = pto.alloc_tile : !l0b
  %acc = pto.alloc_tile : !l0c
  pto.tmatmul ins(%left, %right : !pto.tile_buf<left, 32x32xf16, valid=?x?, blayout=col_major, slayout=row_major>, !l0b) outs(%acc : !l0c)";
    let source = TYPES.to_string() + &kernel("%n: index", body);
    assert!(run("a5", &source, vec![Arg::Scalar(3)]).is_empty());
    let (code, message) = finding("a5", &source, vec![Arg::Scalar(0)]);
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("matmul-extent", "pto.tmatmul: the product has m = 0, k = 7, n = 32")
    );
    assert_eq!(finding("a5", &source, vec![Arg::Scalar(33)]).0, "tile-valid");
}
