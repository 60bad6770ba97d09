//! The number of times that the loops of a kernel are lowered. The counts are global to the process, so this is the
//! only test of its binary.

use std::path::Path;
use std::sync::Arc;

use slipring_ir::{Severity, Source};
use slipring_lang::{compile, counts};

/// The number of times that loops of a text were lowered, the number of rollbacks, and the error codes.
fn effort(text: String) -> (u64, u64, Vec<&'static str>) {
    let before = counts();
    let (_, diags) = compile(Arc::new(Source::new("effort.py", text)));
    let after = counts();
    let codes = diags.list.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect();
    (after.loops - before.loops, after.rollbacks - before.rollbacks, codes)
}

/// A kernel with a loop that rotates this many names: all are initialised with `first` except one, which is initialised
/// with `last`. The last one continues with `next`, or with the first one.
fn rotation(names: usize, (first, last, next): (&str, &str, Option<&str>), trips: &str) -> String {
    let own: Vec<String> = (0..names).map(|at| format!("a{at}")).collect();
    let mut text = String::from(
        "import slipring.language as pl\n\n\n@pl.incore\ndef f(x: pl.Tensor[[16, 64], pl.FP32], \
         y: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):\n",
    );
    for (at, name) in own.iter().enumerate() {
        text += &format!("    {name} = {}\n", if at + 1 == names { last } else { first });
    }
    let mut after = own.clone();
    after.rotate_left(1);
    if let Some(next) = next {
        after[names - 1] = next.into();
    }
    text += &format!("    for i in pl.range({trips}):\n        {} = {}\n", own.join(", "), after.join(", "));
    // A value that is read after the loop is carried.
    let read = if first.starts_with('x') { "pl.store(pl.load(a0, [0, 0], [2, 64]), [0, 0], out)" } else { "" };
    text + "    " + if read.is_empty() { "pl.write(out, [0, 0], a0)" } else { read } + "\n"
}

#[test]
fn loops_are_lowered_again_once_for_any_number_of_names() {
    // Windows of one tensor: one lowering to see that one of them moves, and one in which all do.
    let windows = ("x[0:2, 0:64]", "x[2:4, 0:64]", None);
    for names in [2, 3, 8, 40, 200] {
        assert_eq!(effort(rotation(names, windows, "n")), (2, 1, vec![]), "{names} windows");
    }
    // Numbers that become floats one after another.
    for names in [2, 3, 8, 40, 200] {
        assert_eq!(effort(rotation(names, ("0", "0", Some("0.5")), "n")), (2, 1, vec![]), "{names} numbers");
    }
    // Tensors: iterations are combined until each name has its own tensor again; the remaining ones follow
    // individually.
    let tensors = ("x", "y", None);
    assert_eq!(effort(rotation(2, tensors, "64")), (2, 1, vec![]));
    assert_eq!(effort(rotation(3, tensors, "64")), (3, 2, vec![]));
    assert_eq!(effort(rotation(4, tensors, "64")), (2, 1, vec![]));
    for names in [5, 40] {
        assert_eq!(effort(rotation(names, tensors, "64")), (1, 1, vec![]), "{names} tensors");
        assert_eq!(effort(rotation(names, tensors, "100")), (1, 1, vec!["carry"]), "{names} tensors");
        assert_eq!(effort(rotation(names, tensors, "n")), (1, 1, vec!["carry"]), "{names} tensors");
    }
    // Code that does not need this is lowered once.
    for example in ["3_matmul_softmax.py", "5_attention_step.py", "6_attention.py"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lang").join(example);
        let (_, rollbacks, codes) = effort(std::fs::read_to_string(&path).expect("an example"));
        assert_eq!((rollbacks, codes), (0, vec![]), "{example}");
    }
}
