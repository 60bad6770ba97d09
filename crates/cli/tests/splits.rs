//! The automatic split equals the explicit one: equivalent kernels compile to the same text.

use slipring::load_file;
use slipring_ir::{Diags, Module, Source};
use slipring_machine::built_in;
use slipring_passes::{PassContext, run_passes};

/// Products of a matrix, halved by rows (1) or columns (2): scaled, exponentials, stored.
fn kernel(explicit: bool, mode: &str) -> String {
    let (shape, window) = match mode {
        "UP_DOWN" => ("[32, 64]", "r : r + 32, :"),
        _ => ("[64, 32]", ":, r : r + 32"),
    };
    let head = "
import slipring.language as pl

@pl.jit
def scaled(
    a: pl.Tensor[[64, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    c: pl.Tensor[[64, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
";
    let body = if explicit {
        format!(
            "
    with pl.at(level=pl.Level.CORE_GROUP):
        s = pl.matmul(a, b)
        for lane in pl.split_aiv(2, mode=pl.SplitMode.{mode}):
            r = lane * 32
            x = pl.aiv_shard(s)
            y = pl.mul(x, 0.5)
            z = pl.load(c[{window}], [0, 0], {shape})
            e = pl.add(pl.exp(y), z)
            out[{window}] = e
"
        )
    } else {
        format!(
            "
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.{mode})]):
        s = pl.matmul(a, b)
        y = pl.mul(s, 0.5)
        z = pl.load(c, [0, 0], [64, 64])
        e = pl.add(pl.exp(y), z)
        out[:] = e
"
        )
    };
    format!("{head}{body}")
}

/// The text after all passes, without author-chosen names, line numbers, and the positions of constants.
fn compiled(text: &str, arch: &str) -> String {
    let platform = built_in(arch).unwrap();
    let loaded = load_file(Source::new("kernel.py", text));
    let (mut module, mut diags): (Module, Diags) = (loaded.module, loaded.diags);
    run_passes(&mut module, &PassContext::of(&platform), None, &mut diags, |_, _| {});
    assert!(diags.list.is_empty(), "{}", diags.render(&module.source, false));
    for op in module.walk(module.top) {
        module.op_mut(op).loc = None;
        for value in module.op(op).results.clone() {
            module.value_mut(value).name = None;
        }
    }
    for op in module.ops_named("arith.constant").collect::<Vec<_>>() {
        let value = module.op(op).results[0];
        let name: String = format!("{:?}", module.op(op).attrs).chars().filter(char::is_ascii_alphanumeric).collect();
        module.value_mut(value).name = Some(name.into());
    }
    let text = slipring_ir::text::print(&module);
    // The same constant may be created several times, which numbers its names.
    let plain =
        |line: &str| line.split("_").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit())).collect();
    text.lines().filter(|line| !line.contains("arith.constant")).map(plain).collect::<Vec<String>>().join("\n")
}

#[test]
fn equal_kernels_become_the_same_text() {
    for mode in ["UP_DOWN", "LEFT_RIGHT"] {
        for arch in ["a5", "a2a3"] {
            let (explicit, auto) = (compiled(&kernel(true, mode), arch), compiled(&kernel(false, mode), arch));
            assert!(explicit.contains("split = "), "{explicit}");
            let differ = explicit.lines().zip(auto.lines()).find(|(a, b)| a != b);
            assert!(explicit == auto, "{mode} on {arch}: {differ:#?}");
        }
    }
}
