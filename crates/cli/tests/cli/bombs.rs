//! Small files that request excessive resources: each command ends by itself, in bounded memory and time, with an exit
//! code and a message.

use std::fmt::Write;
use std::process::{Command, Stdio};

use super::{Called, Folder};

/// Address space of a process in KiB, and its CPU time in seconds.
const LIMITS: &str = "ulimit -v 400000; ulimit -t 20";

/// Runs the command line under limits that a runaway hits.
fn limited(folder: &Folder, words: &[&str]) -> Called {
    let script = format!("{LIMITS}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_slipring")]).args(words);
    Called::of(words, &command.current_dir(&folder.0).stdin(Stdio::null()).output().unwrap())
}

/// It ended with one of its own exit codes, and with a message if that is not 0.
fn judge(called: &Called) {
    let Called { words, exit, out, err } = called;
    assert!(matches!(exit, Some(0..=2)), "`{words}` ended with {exit:?}:\n{}", head(err));
    assert!(!err.contains("panicked") && !err.contains("internal error"), "`{words}`:\n{}", head(err));
    assert!(*exit == Some(0) || err.contains("error"), "`{words}` is silent:\n{}\n{}", head(out), head(err));
    // The message about a very long line is short.
    assert!(err.len() < 1 << 20, "`{words}` says {} bytes", err.len());
}

fn head(text: &str) -> String {
    text.chars().take(2000).collect()
}

fn function(body: &str) -> String {
    format!("func.func @k(%x: !pto.ptr<f32>) {{\n{body}  return\n}}\n")
}

/// Names that each refer to the previous one several times: `line` writes one of them.
fn doubling(count: usize, first: &str, line: impl Fn(usize) -> String) -> String {
    (1..=count).fold(first.to_string(), |text, at| text + &line(at) + "\n")
}

/// Texts of programs, by the kind of excess.
fn texts() -> Vec<(&'static str, String)> {
    let nested = |open: &str, close: &str| open.repeat(200_000) + &close.repeat(200_000);
    let with = |alias: String, use_it: &str| alias + &function(&format!("  \"a.b\"() {{z = {use_it}}} : () -> ()\n"));
    let regions = |count: usize| "\"a.b\"() ({\n".repeat(count) + &"}) : () -> ()\n".repeat(count);
    vec![
        ("attributes", with(doubling(60, "#a0 = 1\n", |n| format!("#a{n} = [#a{0}, #a{0}, #a{0}]", n - 1)), "#a60")),
        (
            "dictionaries",
            with(doubling(60, "#a0 = 1\n", |n| format!("#a{n} = {{x = #a{0}, y = #a{0}}}", n - 1)), "#a60"),
        ),
        ("types", with(doubling(60, "!a0 = i32\n", |n| format!("!a{n} = (!a{0}, !a{0}) -> !a{0}", n - 1)), "!a60")),
        ("deep names", with(doubling(50_000, "#a0 = 1\n", |n| format!("#a{n} = [#a{}]", n - 1)), "#a50000")),
        ("deep types", with(doubling(50_000, "!a0 = i32\n", |n| format!("!a{n} = (!a{}) -> i32", n - 1)), "!a50000")),
        ("used often", {
            let alias = format!("#a = [{}]\n", "1, ".repeat(4000) + "1");
            alias + &function(&"  \"a.b\"() {z = #a} : () -> ()\n".repeat(50_000))
        }),
        ("locations", {
            let each = |n: usize| format!("#l{n} = loc({})", format!("#l{}", n - 1).repeat(100));
            doubling(16, "#l0 = loc()\n", each) + &function("  \"a.b\"() : () -> () loc(#l16)\n")
        }),
        ("brackets", with(String::new(), &nested("[", "]"))),
        ("braces", with(String::new(), &nested("{a = ", "}"))),
        ("parentheses", with(String::new(), &nested("(", ")"))),
        ("memrefs", with(String::new(), &nested("memref<4x", ">"))),
        ("kept attributes", with(String::new(), &format!("dense{}", nested("<", ">")))),
        ("regions", function(&regions(100_000))),
        ("branches", {
            let open = "scf.if %c {\n".repeat(50_000);
            function(&("  %c = arith.constant true\n".to_string() + &open + &"}\n".repeat(50_000)))
        }),
        ("open brackets", "(".repeat(1_000_000)),
        ("a long line", format!("// {}\n{}", "x".repeat(8 << 20), function("  oops\n"))),
        ("a long name", format!("func.func @{0}() {{\n  call @{0}x() : () -> ()\n  return\n}}\n", "k".repeat(4 << 20))),
        ("a long word", function(&format!("  {}\n", "w".repeat(4 << 20)))),
        ("a long string", with(String::new(), &format!("\"{}\"", "s".repeat(8 << 20)))),
        ("a long number", with(String::new(), &"9".repeat(1 << 20))),
        ("parameters", {
            let list: Vec<String> = (0..50_000).map(|n| format!("%p{n}: !pto.ptr<f32>")).collect();
            format!("func.func @k({}) {{\n  return\n}}\n", list.join(", "))
        }),
        ("misspelt names", {
            let known: String = (0..5000).map(|n| format!("!type_of_number_{n} = i32\n")).collect();
            known + &function(&"  \"a.b\"() {z = !type_off_number_x} : () -> ()\n".repeat(500))
        }),
        ("arguments", format!("// args: {}\n{}", "zeros:f32[4] ".repeat(200_000), function(""))),
        ("large arguments", {
            let args = "iota:f32[1000000000] ".repeat(4);
            format!(
                "// args: {args}\nfunc.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>, %d: !pto.ptr<f32>) {{\n  return\n}}\n"
            )
        }),
        (
            "a large extent",
            function(
                "  %n = arith.constant 9223372036854775807 : index\n  %c1 = arith.constant 1 : index\n  \
             %v = pto.make_tensor_view %x, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>\n",
            ),
        ),
        ("a large tile", function("  %t = pto.alloc_tile : !pto.tile_buf<vec, 4294967295x4294967295xf32>\n")),
        ("nothing but bytes", "\u{1}\u{2}\u{fffd}".repeat(100_000)),
    ]
}

/// Kernels of the language, by the kind of excess.
fn kernels() -> Vec<(&'static str, String)> {
    let kernel = |body: &str| {
        format!(
            "import slipring.language as pl\n\n@pl.jit\ndef k(a: pl.Tensor[[64, 64], pl.FP32], \
             out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n{body}    return out\n"
        )
    };
    let loops = |heads: &[&str]| {
        let mut text = "    with pl.at(level=pl.Level.CORE_GROUP):\n".to_string();
        for (at, head) in heads.iter().enumerate() {
            let _ = writeln!(text, "{}for i{at} in {head}:", "    ".repeat(at + 2));
        }
        let _ = writeln!(text, "{}out[:, :] = a[:, :] + 1.0", "    ".repeat(heads.len() + 2));
        kernel(&text)
    };
    let value =
        |text: &str| format!("import slipring.language as pl\nV = {text}\n{}", kernel("    out[:, :] = a[:, :]\n"));
    let product = |rows: usize| {
        format!(
            "import slipring.language as pl\n\n@pl.jit\ndef k(a: pl.Tensor[[{rows}, 64], pl.BF16], b: pl.Tensor[[64, 64], pl.BF16], \
             c: pl.Tensor[[1, 64], pl.FP32], out: pl.Out[pl.Tensor[[{rows}, 64], pl.FP32]]):\n    \
             with pl.at(level=pl.Level.CORE_GROUP):\n        \
             x = pl.load(a, [0, 0], [{rows}, 64], target_memory=pl.Mem.Mat)\n        \
             y = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n        \
             z = pl.tile.move(pl.load(c, [0, 0], [1, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Bias)\n        \
             out = pl.store(pl.tile.matmul_bias(x, y, z), [0, 0], out)\n    return out\n"
        )
    };
    vec![
        ("pipelines", loops(&["pl.pipeline(32, stage=16)"; 3])),
        ("unrolled", loops(&["pl.unroll(1000)"; 4])),
        ("one long loop", loops(&["pl.unroll(10000000000)"])),
        ("loops in loops", loops(&["pl.range(1000000000)"; 12])),
        ("stages", loops(&["pl.pipeline(1000000000, stage=1000000000)"])),
        ("a product with a bias", product(1040)),
        ("a larger one", product(100_000)),
        ("imports", "import a0\n".to_string() + &(0..300_000).map(|n| format!("import m{n}\n")).collect::<String>()),
        ("a long string", value(&format!("\"{}\"", "s".repeat(8 << 20)))),
        ("statements", kernel(&"    out[:, :] = a[:, :] + 1.0\n".repeat(50_000))),
        ("parameters", {
            let list: Vec<String> = (0..5000).map(|n| format!("p{n}: pl.Tensor[[64, 64], pl.FP32]")).collect();
            format!("import slipring.language as pl\n\n@pl.jit\ndef k({}):\n    pass\n", list.join(", "))
        }),
        ("kernels", {
            let one = |n: usize| format!("@pl.incore\ndef k{n}(a: pl.Tensor[[64, 64], pl.FP32]):\n    pass\n\n");
            "import slipring.language as pl\n\n".to_string() + &(0..2000).map(one).collect::<String>()
        }),
        (
            "extents",
            kernel("    out[:, :] = pl.add(a, a)\n").replace("[64, 64]", "[4611686018427387904, 4611686018427387904]"),
        ),
        ("lists in lists", {
            let pairs: String = (1..200).map(|n| format!("a{n} = [a{}, a{}]\n", n - 1, n - 1)).collect();
            format!("a0 = 1\n{pairs}") + &value("len(str(a199))")
        }),
        ("copies of a list", {
            let kept = "LONG = list(range(60000))\nKEPT = []\nfor i in range(30000):\n    KEPT.append(LONG[1:])\n";
            kept.to_string() + &value("len(KEPT)")
        }),
        ("copies of a text", {
            let kept = "KEPT = []\nfor i in range(30000):\n    KEPT.append('a' * 60000 + str(i))\n";
            kept.to_string() + &value("len(KEPT)")
        }),
        ("names for a long list", {
            let names: String = (0..2000).map(|n| format!("    n{n} = LONG\n")).collect();
            let body = names + "    out[:, :] = a[:, :]\n";
            format!("import slipring.language as pl\nLONG = [0] * 60000\n{}", kernel(&body))
        }),
        ("brackets", value(&("(".repeat(100_000) + "1" + &")".repeat(100_000)))),
        ("functions in functions", value(&("lambda: ".repeat(100_000) + "1"))),
        ("patterns", format!("match 1:\n    case {}{}: pass\n", "[".repeat(100_000), "]".repeat(100_000))),
        ("a line of blanks", format!("{}import slipring.language as pl\n", " ".repeat(8 << 20))),
    ]
}

#[test]
fn texts_that_ask_for_much_end() {
    let folder = Folder::new("bombs");
    for (name, text) in texts() {
        let file = format!("{}.pto", name.replace(' ', "-"));
        folder.write(&file, text);
        judge(&limited(&folder, &["check", &file]));
        judge(&limited(&folder, &["run", &file]));
    }
}

#[test]
fn kernels_that_ask_for_much_end() {
    let folder = Folder::new("kernel-bombs");
    for (name, text) in kernels() {
        let file = format!("{}.py", name.replace(' ', "-"));
        folder.write(&file, text);
        judge(&limited(&folder, &["check", &file]));
        judge(&limited(&folder, &["run", &file, "--arch", "a5", "--max-steps", "1000000"]));
    }
}

#[test]
fn other_files_that_ask_for_much_end() {
    let folder = Folder::new("other-bombs");
    folder.write("deep.toml", format!("x = {}{}\n", "[".repeat(200_000), "]".repeat(200_000)));
    folder.write("long.toml", format!("name = \"{}\"\n", "n".repeat(8 << 20)));
    folder.write("deep.json", "[".repeat(1_000_000));
    folder.write("many.queue", "board p100\n".to_string() + &"event\n".repeat(300_000));
    folder.write("odd.queue", "board p100\n".to_string() + &"oops\n".repeat(300_000));
    let npy = |header: &str| [b"\x93NUMPY\x02\x00\xff\xff\xff\xff".as_slice(), header.as_bytes()].concat();
    folder.write("long.npy", npy("{'descr': '<f4'"));
    folder.write("delays", "delay AIV0.MTE3 work 4 by 1200\n".repeat(300_000));
    let calls: [&[&str]; 16] = [
        &["check", "/dev/zero"],
        &["run", "/dev/zero", "--lang", "py"],
        &["run", "add.pto", "--platform", "/dev/zero"],
        &["run", "add.pto", "--schedule", "/dev/zero"],
        &["run", "add.pto", "--arg", "@/dev/zero", "--arg", "zeros:1024", "--arg", "1.5:f32"],
        &["run", "add.pto", "--expect", "y=@/dev/zero"],
        &["queue", "run", "/dev/zero"],
        &["cost", "--points", "/dev/zero"],
        &["compare", "/dev/zero", "/dev/zero"],
        &["run", "add.pto", "--platform", "deep.toml"],
        &["run", "add.pto", "--platform", "long.toml"],
        &["compare", "deep.json", "deep.json"],
        &["timeline", "add.pto", "--against", "/dev/zero"],
        &["timeline", "add.pto", "--against", "deep.json"],
        &["queue", "lint", "odd.queue"],
        &["run", "add.pto", "--arg", "@long.npy", "--arg", "zeros:1024", "--arg", "1.5:f32"],
    ];
    for words in calls {
        judge(&limited(&folder, words).exits(2));
    }
    for words in [&["queue", "decode", "many.queue"][..], &["run", "add.pto", "--schedule", "delays"]] {
        judge(&limited(&folder, words));
    }
    let large =
        ["run", "add.pto", "--arg", "iota:f32[1000000000]", "--arg", "zeros:f32[1000000000]", "--arg", "1.5:f32"];
    limited(&folder, &large).exits(2);
    limited(&folder, &["run", "add.pto", "--max-memory", "2000"]).exits(2).says("error[memory-limit]");
}

/// With little memory, results are the same or there is an error: never a hang, never an abort.
#[test]
fn little_memory_and_no_threads_are_errors() {
    let folder = Folder::new("little");
    let kernel = "import slipring.language as pl\n\n@pl.jit\ndef k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], \
                  pl.FP32]]):\n    out[:] = pl.mul(a[:, :], 2.0)\n";
    folder.write("k.py", kernel);
    let program = "\n@pl.function(type=pl.FunctionType.Orchestration)\ndef main(a: pl.Tensor[[64, 64], pl.FP32], out: \
                   pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n    k(a, out)\n";
    folder.write("p.py", format!("{kernel}{program}"));
    // With less than the size of its own executable, the program is not even loaded.
    let own = std::fs::metadata(env!("CARGO_BIN_EXE_slipring")).unwrap().len() / 1024;
    for kib in [4_000, 8_000, 15_000, 25_000, 40_000, 80_000, 160_000].map(|more| own + more) {
        for words in [
            &["run", "add.pto", "--blocks", "4", "--json"][..],
            &["run", "add.pto", "--blocks", "4", "--threads", "64"],
            &["run", "k.py", "--verify"],
            &["run", "p.py"],
            &["check", "add.pto", "k.py"],
        ] {
            in_memory_of(&folder, kib, words);
        }
    }
    // Threads that start concurrently run out of memory at a different point each time.
    for kib in (own..own + 260_000).step_by(1777) {
        in_memory_of(&folder, kib, &["run", "add.pto", "--blocks", "4", "--threads", "64"]);
    }
}

/// Runs the command line in an address space of this many KiB, and checks how it ends.
fn in_memory_of(folder: &Folder, kib: u64, words: &[&str]) {
    let script = format!("ulimit -v {kib}; ulimit -t 60; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_slipring")]).args(words).current_dir(&folder.0);
    // The standard library's backtrace on running out of memory would need more of it.
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    let called = Called::of(words, &command.output().unwrap());
    // So little that the loader itself fails.
    if called.exit != Some(127) {
        judge(&called);
    }
}

/// The examples in an environment like a small container: one thread, little memory, the same results.
#[test]
fn examples_run_in_little_memory_on_one_thread() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let folder = Folder::new("small");
    let mut files: Vec<_> = ["", "/lang", "/pipes", "/sync"]
        .into_iter()
        .flat_map(|sub| std::fs::read_dir(format!("{examples}{sub}")).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "pto" || suffix == "py"))
        .collect();
    files.sort();
    assert!(files.len() > 30, "{}", files.len());
    for file in files {
        let file = file.to_str().unwrap();
        let free = folder.call(&["run", file]);
        let small = limited(&folder, &["run", file, "--threads", "1"]);
        assert_eq!((free.exit, free.out), (small.exit, small.out), "{file}\n{}", small.err);
    }
}
