//! Large programs: compiled in time, or rejected by a named limit.

use std::fmt::Write;

use super::Folder;

#[test]
fn many_functions_have_a_limit() {
    let folder = Folder::new("many");
    let function = |at: usize| format!("func.func @f{at}(%p: !pto.ptr<f32>) {{\n  return\n}}\n");
    folder.write("many.pto", (0..20_000).map(function).collect::<String>());
    folder.write("most.pto", (0..10_000).map(function).collect::<String>());
    for verb in ["check", "build", "run"] {
        folder.call(&[verb, "many.pto"]).exits(2).says("error[too-many-functions]").says("this one has 20000");
    }
    folder.call(&["check", "most.pto"]).exits(0).says("10000 functions");
}

/// Each function calls the previous one twice: 2^60 calls in all.
#[test]
fn doubling_calls_end() {
    let folder = Folder::new("doubling");
    let call = |at: usize| format!("  func.call @f{}() : () -> ()\n", at - 1).repeat(2);
    let text = |depth: usize| {
        let each = (1..=depth).map(|at| format!("func.func @f{at}() {{\n{}  return\n}}\n", call(at)));
        format!("func.func @f0() {{\n  return\n}}\n{}", each.collect::<String>())
    };
    for depth in [24, 60] {
        let file = format!("doubling{depth}.pto");
        folder.write(&file, text(depth));
        folder.call(&["check", &file]).exits(2).says("calls when each is written out");
        folder.call(&["build", &file]).exits(2).says("calls when each is written out");
        folder.call(&["run", &file]).exits(2).says("calls when each is written out");
    }
}

#[test]
fn straight_work_has_a_limit() {
    let folder = Folder::new("straight");
    let tile = "!pto.tile_buf<vec, 16x16xf32>";
    let mut text = format!("func.func @s() {{\n  %t = pto.alloc_tile : {tile}\n");
    for _ in 0..140_000 {
        let _ = writeln!(text, "  pto.tadd ins(%t, %t : {tile}, {tile}) outs(%t : {tile})");
    }
    folder.write("straight.pto", text + "  return\n}\n");
    for verb in ["check", "build", "run"] {
        folder.call(&[verb, "straight.pto"]).exits(2).says("error[too-many-ops]").says("140000 ops on pipes");
    }
}

#[test]
fn a_long_product_does_not_fit() {
    let folder = Folder::new("product");
    let kernel = "\
import slipring.language as pl

@pl.incore
def f(
    a: pl.Tensor[[16, 16777216], pl.FP16],
    b: pl.Tensor[[16777216, 16], pl.FP16],
    o: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    pl.store(pl.matmul(a, b), [0, 0], o)
";
    folder.write("k.py", kernel);
    folder.call(&["build", "k.py"]).exits(2).says("error[memory-full]");
}
