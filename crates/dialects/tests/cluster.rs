//! The sequential semantics of kernels for the whole cluster, compared with naive code.

use crate::common;

use common::{Arg, f32s, kernel, matrix, part, run, run_on, to_f32s, window};
use slipring_ir::Diags;
use slipring_machine::built_in;
use slipring_op::{Decoding, decode, select_kernel};

const TYPES: &str = r"
!l1 = !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>
!l0a = !pto.tile_buf<left, 32x32xf32, blayout=col_major, slayout=row_major>
!l0b = !pto.tile_buf<right, 32x32xf32, blayout=row_major, slayout=col_major>
!l0c = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!v = !pto.tile_buf<vec, 32x32xf32>
!upper = !pto.tile_buf<vec, 16x32xf32>
!left_half = !pto.tile_buf<vec, 32x16xf32>
!open = !pto.tile_buf<vec, 16x32xf32, valid=?x?>
";

/// Loads `%<name>` into L1 as `%<name>1`, and into L0A and L0B as `%<name>a` and `%<name>b`.
fn operand(name: &str) -> String {
    let view = part("f32", &[32, 32]);
    matrix(name, "f32", 32, 32)
        + &format!(
            r"
  %{name}1 = pto.alloc_tile : !l1
  %{name}a = pto.alloc_tile : !l0a
  %{name}b = pto.alloc_tile : !l0b
  pto.tload ins(%{name}_w : {view}) outs(%{name}1 : !l1)
  pto.tmov ins(%{name}1 : !l1) outs(%{name}a : !l0a)
  pto.tmov ins(%{name}1 : !l1) outs(%{name}b : !l0b)
"
        )
}

fn numbers(seed: usize) -> Vec<f32> {
    (0..1024).map(|i| ((i * 7 + seed * 13 + i / 11) % 9) as f32 - 4.0).collect()
}

fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    (0..1024).map(|at| (0..32).map(|l| a[at / 32 * 32 + l] * b[l * 32 + at % 32]).sum()).collect()
}

fn parameters(names: &str) -> String {
    names.split(' ').map(|n| format!("%{n}: !pto.ptr<f32>")).collect::<Vec<_>>().join(", ")
}

/// Runs a kernel on `%a`, `%b` and a result `%c` of 32 x 32 zeros, on both platforms, and returns the result.
fn result_of(body: &str, inputs: [Vec<f32>; 2]) -> Vec<f32> {
    let text = TYPES.to_string() + &kernel(&parameters("a b c"), body);
    let [a5, older] = ["a5", "a2a3"].map(|platform| {
        let [a, b] = inputs.clone();
        let args = [f32s(a), f32s(b), vec![0; 4096]].map(Arg::Buffer);
        to_f32s(&run(platform, &text, args.into())[2])
    });
    assert_eq!(a5, older);
    a5
}

#[test]
fn a_product_is_sharded_scaled_gathered_and_multiplied_again() {
    for (split, half) in [(0, "!v"), (1, "!upper"), (2, "!left_half")] {
        let body = operand("a")
            + &operand("b")
            + &matrix("c", "f32", 32, 32)
            + &format!(
                r"
  %scale = arith.constant 0.5 : f32
  %acc = pto.alloc_tile : !l0c
  %p = pto.alloc_tile : !l1
  %pa = pto.alloc_tile : !l0a
  pto.tmatmul ins(%aa, %bb : !l0a, !l0b) outs(%acc : !l0c)
  pto.split_aiv %lane {{
    %h = pto.alloc_tile : {half}
    pto.aiv_shard ins(%acc : !l0c) outs(%h : {half}) {{split = {split}}}
    pto.tmuls ins(%h, %scale : {half}, f32) outs(%h : {half})
    pto.aic_gather ins(%h : {half}) outs(%p : !l1) {{split = {split}}}
  }} {{split = {split}}}
  pto.tmov ins(%p : !l1) outs(%pa : !l0a)
  pto.tmatmul ins(%pa, %bb : !l0a, !l0b) outs(%acc : !l0c)
  pto.tstore ins(%acc : !l0c) outs(%c_w : {})
",
                part("f32", &[32, 32])
            );
        let (a, b) = (numbers(1), numbers(2));
        let halved: Vec<f32> = product(&a, &b).iter().map(|x| x * 0.5).collect();
        let expected = product(&halved, &b);
        assert_eq!(result_of(&body, [a, b]), expected, "split {split}");
    }
}

/// Each lane accumulates sums in its own tile over a loop with a region, and writes them in a second region.
#[test]
fn tiles_live_across_regions_on_each_lane() {
    let rows = window("c", "f32", &[32, 32], &[32, 1], &[0, 0], &[16, 32], "").replace("[%c0, %c0]", "[%row, %c0]");
    let body = operand("a")
        + &operand("b")
        + &format!(
            r"
  %zero = arith.constant 0.0 : f32
  %acc = pto.alloc_tile : !l0c
  %sum = pto.alloc_tile : !upper
  pto.texpands ins(%zero : f32) outs(%sum : !upper)
  scf.for %i = %c0 to %c3 step %c1 {{
    pto.tmatmul ins(%aa, %bb : !l0a, !l0b) outs(%acc : !l0c)
    pto.split_aiv %lane {{
      %h = pto.alloc_tile : !upper
      pto.aiv_shard ins(%acc : !l0c) outs(%h : !upper) {{split = 1}}
      %n = arith.addi %lane, %i : index
      %n32 = arith.index_cast %n : index to i32
      %nf = arith.sitofp %n32 : i32 to f32
      pto.tmuls ins(%h, %nf : !upper, f32) outs(%h : !upper)
      pto.tadd ins(%sum, %h : !upper, !upper) outs(%sum : !upper)
    }} {{split = 1}}
  }}
  pto.split_aiv %lane {{
    %row = arith.muli %lane, %c16 : index
{rows}
    pto.tstore ins(%sum : !upper) outs(%c_w : {})
  }} {{split = 1}}
",
            part("f32", &[16, 32])
        );
    let (a, b) = (numbers(3), numbers(4));
    let p = product(&a, &b);
    // Sums of lane + i for i = 0, 1, 2.
    let expected: Vec<f32> = p.iter().enumerate().map(|(at, x)| x * if at < 512 { 3.0 } else { 6.0 }).collect();
    assert_eq!(result_of(&body, [a, b]), expected);
}

/// A region without a split: each lane processes every second row block, selected by its index.
#[test]
fn lanes_take_tasks_of_their_own() {
    let window =
        |name| window(name, "f32", &[32, 32], &[32, 1], &[0, 0], &[16, 32], "").replace("[%c0, %c0]", "[%row, %c0]");
    let (from, to, view) = (window("a"), window("c"), part("f32", &[16, 32]));
    let body = format!(
        r"
  pto.split_aiv %lane {{
    %me = pto.get_subblock_idx
    %all = pto.get_subblock_num
    %index = arith.index_cast %me : i64 to index
    %row = arith.muli %index, %c16 : index
{from}{to}
    %t = pto.alloc_tile : !upper
    pto.tload ins(%a_w : {view}) outs(%t : !upper)
    %f32 = arith.index_cast %all : i64 to i32
    %f = arith.sitofp %f32 : i32 to f32
    pto.tmuls ins(%t, %f : !upper, f32) outs(%t : !upper)
    pto.tstore ins(%t : !upper) outs(%c_w : {view})
  }} {{split = 0}}
"
    );
    let a = numbers(5);
    assert_eq!(result_of(&body, [a.clone(), a.clone()]), a.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
}

/// Valid shapes that the lanes set differently remain separate until the next region.
#[test]
fn each_lane_has_its_own_valid_shape() {
    let rows = window("c", "f32", &[32, 32], &[32, 1], &[0, 0], &[16, 32], "")
        .replace("[%c0, %c0]", "[%row, %c0]")
        .replace("16x32xf32>\n", "?x32xf32>\n")
        .replace("sizes = [%c16", "sizes = [%rows");
    let body = operand("a")
        + &operand("b")
        + &format!(
            r"
  %acc = pto.alloc_tile : !l0c
  %h = pto.alloc_tile : !open
  %whole = pto.alloc_tile : !upper
  pto.tmatmul ins(%aa, %bb : !l0a, !l0b) outs(%acc : !l0c)
  pto.split_aiv %lane {{
    pto.aiv_shard ins(%acc : !l0c) outs(%h : !open) {{split = 1}}
    %less = arith.muli %lane, %c8 : index
    %valid = arith.subi %c16, %less : index
    pto.set_validshape %h, %valid, %c32 : !open
  }} {{split = 1}}
  pto.split_aiv %lane {{
    %row = arith.muli %lane, %c16 : index
    %less = arith.muli %lane, %c8 : index
    %rows = arith.subi %c16, %less : index
{rows}
    pto.tstore ins(%h : !open) outs(%c_w : !pto.partition_tensor_view<?x32xf32>)
  }} {{split = 1}}
"
        );
    let (a, b) = (numbers(6), numbers(7));
    let mut expected = product(&a, &b);
    expected[24 * 32..].fill(0.0);
    assert_eq!(result_of(&body, [a, b]), expected);
}

/// Without regions, everything runs on AIV0, and full tiles cross between cores.
#[test]
fn whole_tiles_cross_where_there_is_no_region() {
    let body = operand("a")
        + &operand("b")
        + &matrix("c", "f32", 32, 32)
        + &format!(
            r"
  %two = arith.constant 2.0 : f32
  %acc = pto.alloc_tile : !l0c
  %t = pto.alloc_tile : !v
  %p = pto.alloc_tile : !l1
  %pa = pto.alloc_tile : !l0a
  pto.tmatmul ins(%aa, %bb : !l0a, !l0b) outs(%acc : !l0c)
  pto.tcross ins(%acc : !l0c) outs(%t : !v)
  pto.tmuls ins(%t, %two : !v, f32) outs(%t : !v)
  pto.tcross ins(%t : !v) outs(%p : !l1)
  pto.tmov ins(%p : !l1) outs(%pa : !l0a)
  pto.tmatmul ins(%pa, %bb : !l0a, !l0b) outs(%acc : !l0c)
  pto.tstore ins(%acc : !l0c) outs(%c_w : {})
",
            part("f32", &[32, 32])
        );
    let (a, b) = (numbers(8), numbers(9));
    let doubled: Vec<f32> = product(&a, &b).iter().map(|x| 2.0 * x).collect();
    let expected = product(&doubled, &b);
    assert_eq!(result_of(&body, [a, b]), expected);
}

/// A region that gathers full tiles, in a loop; `value` computes the number with which each lane fills its tile.
fn gathers_whole(value: &str) -> String {
    let body = operand("a")
        + &matrix("c", "f32", 32, 32)
        + &format!(
            r"
  %p = pto.alloc_tile : !l1
  %pb = pto.alloc_tile : !l0b
  %acc = pto.alloc_tile : !l0c
  pto.split_aiv %lane {{
    %t = pto.alloc_tile : !v
    scf.for %i = %c0 to %c3 step %c1 {{
      {value}
      %n32 = arith.index_cast %n : index to i32
      %f = arith.sitofp %n32 : i32 to f32
      pto.texpands ins(%f : f32) outs(%t : !v)
      pto.aic_gather ins(%t : !v) outs(%p : !l1) {{split = 0}}
    }}
  }} {{split = 0}}
  pto.tmov ins(%p : !l1) outs(%pb : !l0b)
  pto.tmatmul ins(%aa, %pb : !l0a, !l0b) outs(%acc : !l0c)
  pto.tstore ins(%acc : !l0c) outs(%c_w : {})
",
            part("f32", &[32, 32])
        );
    TYPES.to_string() + &kernel(&parameters("a c"), &body)
}

#[test]
fn whole_gathers_must_be_the_same_on_both_lanes() {
    let a = numbers(10);
    let args = || [f32s(a.clone()), vec![0; 4096]].map(Arg::Buffer).into();
    let equal = gathers_whole("%n = arith.addi %i, %c1 : index");
    let expected: Vec<f32> = product(&a, &[3.0; 1024]);
    assert_eq!(to_f32s(&run("a5", &equal, args())[1]), expected);
    let unequal = gathers_whole("%n = arith.addi %i, %lane : index");
    let result = run_on(&built_in("a5").unwrap(), &unequal, Decoding::Reference, args());
    assert!(!result.complete);
    let finding = &result.findings[0];
    assert_eq!(finding.code, "gather-unequal");
    assert!(finding.message.contains("row 0, column 0"), "{}", finding.message);
    assert_eq!(finding.secondary.len(), 1, "{finding:?}");
}

#[test]
fn no_single_core_runs_such_a_kernel() {
    let text = gathers_whole("%n = arith.addi %i, %c1 : index");
    let platform = built_in("a5").unwrap();
    let module = common::parse(&text, &platform);
    let mut diags = Diags::default();
    let kernel = select_kernel(&module, None, &mut diags).unwrap();
    assert!(kernel.mixed && kernel.lanes() == 2);
    assert!(decode(&module, &kernel, &platform, Decoding::Device, &mut diags).is_err());
    assert_eq!(diags.list[0].code, "mixed-kernel");
}

#[test]
fn a_vector_function_may_ask_for_both_vector_cores() {
    let platform = built_in("a5").unwrap();
    let lanes = |attrs: &str| {
        let text = format!(
            "func.func @k() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>{attrs}}} {{\n  \
             %t = pto.alloc_tile addr = %z : !pto.tile_buf<vec, 8x8xf32>\n  return\n}}"
        )
        .replace("  %t", "  %z = arith.constant 0 : i64\n  %t");
        let module = common::parse(&text, &platform);
        select_kernel(&module, None, &mut Diags::default()).unwrap().lanes()
    };
    assert_eq!(lanes(""), 1);
    assert_eq!(lanes(", dual_aiv_dispatch = true"), 2);
    assert_eq!(lanes(", dual_aiv_dispatch = false"), 1);
}
