//! Kernels with every part of the language compile to modules that the verifier accepts; no modification of their text
//! makes the compiler panic or overflow its stack.

use slipring_dialects::Dialects;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use slipring_ir::{Diags, Module, Source};

fn compile(text: &str) -> (Module, Diags) {
    let (compiled, diags) = slipring_lang::compile(Arc::new(Source::new("kernel.py", text)));
    (compiled.module, diags)
}

/// Codes of the errors, in order.
fn codes(text: &str) -> Vec<&'static str> {
    compile(text).1.list.iter().filter(|d| d.severity == slipring_ir::Severity::Error).map(|d| d.code).collect()
}

fn kernels() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("kernels").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    assert!(paths.len() > 3);
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}

/// A kernel with one parameter and this body.
fn kernel(body: &str) -> String {
    let body = body.replace('\n', "\n    ");
    format!(
        "import slipring.language as pl\n\n@pl.jit\ndef k(a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):\n    {body}\n"
    )
}

#[test]
fn kernels_are_verified() {
    for text in kernels() {
        let (module, diags) = compile(&text);
        assert!(!diags.has_errors(), "{text}\n{}", diags.render(&module.source, false));
        for arch in ["a5", "a2a3"] {
            let platform = slipring_machine::built_in(arch).expect("a platform");
            let mut diags = Diags::default();
            slipring_op::verify(Dialects::get(), &module, &platform, &mut diags);
            assert!(!diags.has_errors(), "{arch}: {}", diags.render(&module.source, false));
        }
    }
}

#[test]
fn every_op_of_the_catalogue_becomes_a_declared_one() {
    let table = slipring_dialects::Dialects::get();
    let mut seen = std::collections::BTreeSet::new();
    for entry in slipring_lang::catalogue() {
        for op in [entry.op, entry.with_number].into_iter().flatten() {
            let name = op.schema.name;
            assert!(table.def(name) == Some(op), "{} becomes {name}, which is not in the table", entry.names[0]);
        }
        assert!(!entry.doc.is_empty(), "{} says nothing", entry.names[0]);
        for name in entry.names {
            assert!(seen.insert(*name), "{name} is declared twice");
        }
    }
}

/// Names of the public language's reference: each is compiled or rejected by name.
#[rustfmt::skip]
const PUBLIC: &[&str] = &[
    "add", "sub", "mul", "div", "part_add", "part_mul", "part_max", "part_min", "fmod", "fmods", "maximum", "minimum", "exp", "neg",
    "sin", "cos", "abs", "sqrt", "log", "recip", "rsqrt", "row_expand", "row_expand_add", "row_expand_sub", "row_expand_mul",
    "row_expand_div", "row_expand_max", "row_expand_min", "row_expand_expdif", "col_expand", "col_expand_add", "col_expand_sub",
    "col_expand_mul", "col_expand_div", "col_expand_max", "col_expand_min", "col_expand_expdif", "expands", "row_max", "row_sum",
    "row_min", "row_prod", "row_argmax", "row_argmin", "col_sum", "col_argmax", "col_argmin", "col_max", "col_min", "col_prod",
    "cast", "cmp", "and_", "ands", "or_", "ors", "xor", "xors", "not_", "shl", "shls", "shr", "shrs", "reshape",
    "reinterpret_view", "transpose", "concat", "slice", "assemble", "fillpad", "fillpad_expand", "set_validshape", "read", "write",
    "matmul", "matmul_acc", "batch_matmul", "gather_row", "scatter_update", "sort32", "mrgsort", "load", "store", "move", "alloc",
    "create", "create_tile", "extract", "full", "ci", "tri", "random", "transpose_view", "fillpad_inplace", "adds", "subs", "muls",
    "divs", "maximums", "minimums", "relu", "lrelu", "prelu", "addc", "subc", "addsc", "subsc", "rem", "rems", "sel", "sels",
    "cmps", "max", "min", "matmul_bias", "matmul_mx", "matmul_mx_acc", "matmul_mx_bias", "gemv", "gemv_acc", "gemv_bias",
    "batch_matmul_acc", "gather", "gatherb", "gather_mask", "gather_compare", "scatter", "scatter_mask", "mgather", "mscatter",
    "get_block_idx", "get_block_num", "get_subblock_idx", "aiv_shard", "aic_gather", "create_tensor", "create_l1", "dim", "view",
    "expand_clone", "paged_gather", "arange", "no_dep", "dump_tag", "tpush_to_aiv", "tpush_to_aic", "tpop_from_aic",
    "tpop_from_aiv", "tfree_to_aic", "tfree_to_aiv", "aic_initialize_pipe", "aiv_initialize_pipe", "reserve_buffer",
    "import_peer_buffer", "sync_src", "sync_dst", "bar_v", "bar_m", "bar_all", "sync_set", "sync_wait", "set_ffts", "syncall",
    "cacheinvalid", "fence", "available_cluster_count", "available_aiv_count", "task_dummy", "task_invalid", "array.create",
    "array.get_element", "array.update_element", "submit", "spmd_submit",
];

#[test]
fn every_public_op_is_known() {
    let known = |name: &str| slipring_lang::catalogue().any(|entry| entry.names.contains(&name));
    let unknown: Vec<_> = PUBLIC.iter().filter(|name| !known(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert_eq!(codes(&kernel("pl.sync_set(0)")), ["unsupported"]);
    assert_eq!(codes(&kernel("x = pl.nonsense(a)")), ["unknown-op"]);
}

#[test]
fn independent_errors_are_all_reported_and_only_they() {
    let body = "\
x = pl.load(a, [0, 0], [16, 65])
y = pl.add(x, 1.0)
z = pl.frobnicate(y)
w = pl.frobnicate(a)
u = pl.load(a, [0, 0], [16, 64])
for i in pl.range(4):
    q = pl.add(u, pl.load(a, [0, 0], [8, 64]))
    r = q + 1
    if i > 2:
        r = pl.exp(u, 3)
o[:] = r
for j in pl.unroll(8):
    p = u + nowhere
o[:] = p
o[:] = u";
    assert_eq!(codes(&kernel(body)), ["bounds", "unknown-op", "shapes", "argument", "undefined-name"]);
}

#[test]
fn what_cannot_be_compiled_is_said() {
    for (body, code) in [
        ("x = pl.set_validshape(pl.exp(a), 17, 64)", "bounds"),
        ("x = pl.load(a, [0, 0], [16, 64], valid_shape=[16, 65])", "bounds"),
        ("x: pl.Tile[[16, 32], pl.FP32] = pl.exp(a)", "annotation"),
        ("for i in pl.range(4, init_values=(1,)):\n    pass", "loop"),
        ("for i, (n,) in pl.range(4, init_values=(1,)):\n    m = n + 1", "yield"),
        ("for i in pl.range(4):\n    n = pl.yield_(1)", "yield"),
        ("TPUSH(pl.exp(a))", "no-pipe"),
        ("x = TPOP()", "no-pipe"),
        ("aiv_initialize_pipe(DIR_C2V, 4096)\nx = TPOP()", "pop-type"),
        ("return pl.exp(a)[0:4, :] if nothing else a", "undefined-name"),
        ("k(a, o)", "recursion"),
    ] {
        assert_eq!(codes(&kernel(body)), [code], "{body}");
    }
    let dynamic = "import slipring.language as pl\nM = pl.dynamic('M')\n@pl.jit\ndef k(a: pl.Tensor[[M, 4], pl.FP32]):\n    pass\n";
    assert_eq!(codes(dynamic), ["parameter"]);
    let bare = "import slipring.language as pl\n@pl.jit\ndef k(a: pl.Tensor):\n    b = a + 1\n    c = nothing\n";
    assert_eq!(codes(bare), ["parameter"]);
    let twice = "import slipring.language as pl\n@pl.jit\ndef k(a: pl.Tensor[[4, 8], pl.FP32]):\n    pass\n";
    assert_eq!(codes(&format!("{twice}{}", &twice[31..])), ["duplicate"]);
}

#[test]
fn deep_nesting_is_no_overflow() {
    let depth = 10_000;
    let parens = kernel(&format!("x = {}1{}", "(".repeat(depth), ")".repeat(depth)));
    let sum = kernel(&format!("x = 1{}", " + 1".repeat(depth)));
    let minus = kernel(&format!("x = {}1", "-".repeat(depth)));
    let calls = kernel(&format!("x = {}a{}", "pl.exp(".repeat(depth), ")".repeat(depth)));
    let members = kernel(&format!("x = a{}", ".b".repeat(depth)));
    let blocks =
        (0..500).map(|at| format!("{}if a:\n", " ".repeat(at))).collect::<String>() + &" ".repeat(500) + "pass";
    let otherwise = "if x:\n    pass\n".to_string() + &"elif x:\n    pass\n".repeat(depth);
    let functions = format!("{}1{}", "lambda: (".repeat(depth), ")".repeat(depth));
    for text in [parens, sum, minus, calls, members, kernel(&blocks), kernel(&otherwise), functions] {
        let _ = compile(&text);
    }
}

#[test]
fn huge_shapes_and_loops_are_errors() {
    let many = "4611686018427387904";
    for body in [
        format!("x = pl.full([{many}, {many}], pl.FP32, 0.0)"),
        "x = pl.full([2147483647, 2147483647], pl.FP32, 0.0)".into(),
        format!("x = pl.load(a, [0, 0], [{many}, 1])"),
        format!("x = pl.load(a, [{many}, {many}], [1, 1])"),
        format!("x = a[{many}:{many} + 4, :]"),
        format!("x = {many} * {many}"),
        "x = 2 ** 4000".into(),
        "x = 1 << 500".into(),
        "for i in pl.unroll(4000):\n    for j in pl.unroll(4000):\n        x = i * j".into(),
        "for i in pl.unroll(9223372036854775807):\n    x = i".into(),
        "for i in pl.unroll(-9223372036854775807, 9223372036854775807, 9223372036854775807):\n    x = i * 4".into(),
    ] {
        assert_eq!(codes(&kernel(&body)).len(), 1, "{body}");
    }
    let tensor =
        "import slipring.language as pl\n@pl.jit\ndef k(a: pl.Tensor[[2147483648, 2147483648], pl.FP32]):\n    pass\n";
    assert_eq!(codes(tensor), ["parameter"]);
}

/// A modification of a text.
#[derive(Clone, Debug)]
enum Change {
    Remove(prop::sample::Index),
    Repeat(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Replace(prop::sample::Index, &'static str),
}

const WORDS: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "65",
    "9223372036854775807",
    "0.5",
    "None",
    "True",
    "a",
    "b",
    "x",
    "acc",
    "lane",
    "pl",
    "pl.FP32",
    "pl.INT8",
    "pl.Mem.Mat",
    "pl.Mem.Acc",
    "[",
    "]",
    "(",
    ")",
    ":",
    ",",
    "=",
    "==",
    "for",
    "if",
    "return",
    "pl.matmul",
    "pl.add",
    "pl.aiv_shard",
    "pl.aic_gather",
    "TPOP",
    "TPUSH",
    "pl.exp",
    "pl.yield_",
    "*",
    "//",
    "%",
    "\"",
    "slots",
];

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        at().prop_map(Change::Remove),
        at().prop_map(Change::Repeat),
        (at(), at()).prop_map(|(a, b)| Change::Swap(a, b)),
        (at(), prop::sample::select(WORDS)).prop_map(|(a, word)| Change::Replace(a, word)),
    ]
}

/// Words, whitespace and single characters.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let class = |c: char| if c.is_alphanumeric() || c == '_' { 1 } else { 0 };
    for c in text.chars() {
        match pieces.last_mut() {
            Some(last) if class(c) == 1 && last.chars().all(|l| class(l) == 1) => last.push(c),
            _ => pieces.push(c.to_string()),
        }
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_kernels_do_not_panic(which in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..6)) {
        let kernels = kernels();
        let mut pieces = pieces(&kernels[which.index(kernels.len())]);
        for change in changes {
            if pieces.is_empty() {
                break;
            }
            let count = pieces.len();
            match change {
                Change::Remove(at) => {
                    pieces.remove(at.index(count));
                }
                Change::Repeat(at) => {
                    let piece = pieces[at.index(count)].clone();
                    pieces.insert(at.index(count), piece);
                }
                Change::Swap(a, b) => pieces.swap(a.index(count), b.index(count)),
                Change::Replace(at, word) => pieces[at.index(count)] = word.to_string(),
            }
        }
        let (module, diags) = compile(&pieces.concat());
        let rendered = diags.render(&module.source, false);
        // A failure has a message, and no value is used outside the scope of its block.
        prop_assert!(!diags.list.iter().any(|d| matches!(d.code, "internal" | "value-scope")), "{}", rendered);
        if !diags.has_errors() {
            let platform = slipring_machine::built_in("a5").expect("a platform");
            slipring_op::verify(Dialects::get(), &module, &platform, &mut Diags::default());
        }
    }
}
