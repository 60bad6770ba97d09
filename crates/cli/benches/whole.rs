//! Whole programs, side by side with numpy, with `memcpy`, and with themselves unchecked.
//!
//! `cargo bench -p slipring-cli --bench whole` prints the table of `docs/performance.md` (`scripts/performance` puts it there). Every
//! figure is processor time of the process, unless a row says that it is time on the clock: the least of several rounds, in which
//! all rows take turns, so that a machine that is busy for a while is so for all of them. The yardstick needs a Python with numpy: `PYTHON=…/python3 cargo bench …`, pinned to
//! one thread; without one its columns stay empty. Checks are on unless a row says otherwise. `ROUNDS=9` runs more rounds.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use slipring::args::{Defaults, bound};
use slipring::{
    Bound, CompileRequest, ExecuteOptions, Prepared, Program, ProgramOptions, check, choose_platform, execute, load,
    load_file, prepare,
};
use slipring_check::{Checker, Tools};
use slipring_ir::Source;
use slipring_machine::Platform;
use slipring_sim::ExecutionMode;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Time that has passed, where the system does not tell whose.
#[cfg(not(unix))]
fn processor(_: bool) -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Processor time so far: of this process, or of the children that have ended.
#[cfg(unix)]
fn processor(children: bool) -> Duration {
    // SAFETY: the call fills in the structure that it is given, for which zeros are a value.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(if children { libc::RUSAGE_CHILDREN } else { libc::RUSAGE_SELF }, &mut usage);
        usage
    };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Seconds of processor time that some work takes, the mean of `times`.
fn seconds(times: u32, children: bool, mut work: impl FnMut()) -> f64 {
    let start = processor(children);
    (0..times).for_each(|_| work());
    (processor(children) - start).as_secs_f64() / f64::from(times)
}

struct Ready {
    prepared: Prepared,
    platform: Platform,
    values: Vec<Bound<'static>>,
}

/// A program of the repository, read, checked and decoded, with some words of its text replaced.
fn ready(file: &str, edits: &[(&str, &str)]) -> Ready {
    let text = std::fs::read_to_string(root().join(file)).expect("the program is part of the repository");
    let text = edits.iter().fold(text, |text, (from, to)| text.replace(from, to));
    let args = text.lines().find_map(|l| l.strip_prefix("// args:")).expect("an args line").split_whitespace();
    let args: Vec<String> = args.map(str::to_string).collect();
    let (module, mut diags) = load(Source::new(file, text.as_str()));
    let platform = choose_platform(Some("a5"), &module).expect("a built-in platform");
    let prepared = prepare(module, None, &platform, &mut diags);
    let prepared = prepared.unwrap_or_else(|| panic!("{}", diags.render(&Source::new(file, text.as_str()), false)));
    let values = bound(&args, &prepared.decoded.program.params, &Defaults::default()).expect("the arguments fit");
    Ready { prepared, platform, values }
}

/// Seconds of a run, from arguments in memory to results in memory.
fn run(ready: &Ready, times: u32, checked: bool) -> f64 {
    let options = ExecuteOptions { blocks: 1, mode: ExecutionMode::Pipes, gm_slack: 0, ..ExecuteOptions::default() };
    let Ready { prepared, platform, values } = ready;
    seconds(times, false, || {
        let complete = if checked {
            let mut checker = Checker::new(Tools::default());
            execute(&prepared.decoded, platform, values, options, &mut checker).result.complete
        } else {
            execute(&prepared.decoded, platform, values, options, &mut ()).result.complete
        };
        assert!(complete, "the run did not complete");
    })
}

/// Compiles a kernel of the kernel language: read, checked, through all passes, decoded.
fn compile(file: &str) {
    let text = std::fs::read_to_string(root().join(file)).expect("the kernel is part of the repository");
    let loaded = load_file(Source::new(file, text.as_str()));
    let (module, mut diags) = (loaded.module, loaded.diags);
    let platform = choose_platform(Some("a5"), &module).expect("a built-in platform");
    check(&module, &platform, &mut diags);
    assert!(!diags.has_errors() && prepare(module, None, &platform, &mut diags).is_some());
}

/// Runs a whole program on the arguments of its file, from its text to its results.
fn whole_program(file: &str) {
    let program = Program::open(root().join(file), &CompileRequest::default()).ok().flatten().expect("a program");
    let args = program.arguments(&[], 0).expect("the arguments fit");
    let run = program.run(args, &ProgramOptions::default()).expect("it runs");
    assert!(run.is_complete() && run.findings().messages().is_empty());
}

/// Seconds on the clock of a process that launches a product on 24 clusters.
fn launched(threads: &str) -> f64 {
    let start = std::time::Instant::now();
    process(&["run", "benches/programs/product.pto", "--blocks", "24", "--arch", "a2a3", "--threads", threads]);
    start.elapsed().as_secs_f64()
}

/// Runs the command line.
fn process(args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slipring"));
    let ran = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).current_dir(root()).status();
    assert!(ran.is_ok_and(|status| status.success()), "{args:?}");
}

/// The most memory that the command line holds at a time, in MB.
#[cfg(target_os = "linux")]
fn memory(args: &[&str]) -> Option<f64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slipring"));
    let child = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).current_dir(root()).spawn().ok()?;
    let mut status = 0;
    // SAFETY: the child is this process's own and nobody else waits for it; the call fills in the structure that it is given, for
    // which zeros are a value.
    let (ended, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage), usage)
    };
    assert!(ended > 0 && status == 0, "{args:?}");
    Some(usage.ru_maxrss as f64 * 1024.0 / 1e6)
}

/// Nothing where the system does not tell it of one process.
#[cfg(not(target_os = "linux"))]
fn memory(_: &[&str]) -> Option<f64> {
    None
}

/// So many straight ops on tiles.
fn straight(ops: usize) -> PathBuf {
    let (view, part) = ("!pto.tensor_view<16x64xf32>", "!pto.partition_tensor_view<16x64xf32>");
    let tile = "!pto.tile_buf<vec, 16x64xf32>";
    let mut text = "module attributes {pto.target_arch = \"a5\"} {\n  func.func @straight(%src: !pto.ptr<f32>, %dst: !pto.ptr<f32>) {\n".to_string();
    for (name, number) in [("c0", 0), ("c1", 1), ("c16", 16), ("c64", 64)] {
        text += &format!("    %{name} = arith.constant {number} : index\n");
    }
    for (whole, own, ptr) in [("from", "in", "src"), ("to", "out", "dst")] {
        text += &format!(
            "    %{whole} = pto.make_tensor_view %{ptr}, shape = [%c16, %c64], strides = [%c64, %c1] : {view}\n    %{own} = \
             pto.partition_view %{whole}, offsets = [%c0, %c0], sizes = [%c16, %c64] : {view} -> {part}\n"
        );
    }
    for name in ["a", "b", "c"] {
        text += &format!("    %{name} = pto.alloc_tile : {tile}\n");
    }
    for _ in 0..ops / 4 {
        for to in ["a", "b"] {
            text += &format!("    pto.tload ins(%in : {part}) outs(%{to} : {tile})\n");
        }
        text += &format!("    pto.tadd ins(%a, %b : {tile}, {tile}) outs(%c : {tile})\n");
        text += &format!("    pto.tstore ins(%c : {tile}) outs(%out : {part})\n");
    }
    text += "    return\n  }\n}\n";
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("straight.pto");
    std::fs::write(&path, text).expect("a file");
    path
}

/// Seconds that numpy takes for a piece of Python that leaves them in `t`; `None` without numpy.
fn numpy(code: &str) -> Option<f64> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let script = format!(
        "import numpy as np, time\ndef best(f, n):\n  r = []\n  for _ in range(n):\n    s = time.process_time(); f(); \
         r.append(time.process_time() - s)\n  return min(r)\n{code}\nprint(t)"
    );
    let mut command = Command::new(python);
    for threads in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(threads, "1");
    }
    let out = command.args(["-c", &script]).output().ok()?;
    String::from_utf8(out.stdout).ok()?.trim().parse().ok()
}

const PRODUCT: &str = "a = np.random.rand(1024, 1024).astype(np.float16); b = a.copy()\n\
    t = best(lambda: a.astype(np.float32) @ b.astype(np.float32), 10)";

const SGEMM: &str = "a = np.random.rand(1024, 1024).astype(np.float32); b = a.copy()\nt = best(lambda: a @ b, 10)";

const ATTENTION: &str = "q = np.random.rand(128, 128).astype(np.float16); k = np.random.rand(128, 1024).astype(np.float16)\n\
    v = np.random.rand(1024, 128).astype(np.float16)\n\
    def f():\n  s = q.astype(np.float32) @ k.astype(np.float32)\n  p = np.exp(s - s.max(axis=1, keepdims=True))\n  \
    return (p.astype(np.float16).astype(np.float32) @ v.astype(np.float32)) / p.sum(axis=1, keepdims=True)\n\
    t = best(f, 30)";

/// What `dma_strided.pto` moves, in GiB.
const DMA_GIB: f64 = (2 * 2000 * 256 * 256) as f64 / (1u64 << 30) as f64;

/// The rows of `dma_strided.pto` by `memcpy`, there and back.
fn copied_rows() -> f64 {
    let (src, mut ub, mut dst) = (vec![1u8; 256 * 512], vec![0u8; 256 * 288], vec![0u8; 256 * 512]);
    seconds(1, false, || {
        for _ in 0..2000 {
            for (to, from) in ub.chunks_mut(288).zip(src.chunks(512)) {
                to[..256].copy_from_slice(&from[..256]);
            }
            std::hint::black_box(&mut ub);
            for (to, from) in dst.chunks_mut(512).zip(ub.chunks(288)) {
                to[..256].copy_from_slice(&from[..256]);
            }
            std::hint::black_box(&mut dst);
        }
    })
}

/// What a row is put beside, and how long that takes; `None` where the machine has no such thing.
type Beside = (&'static str, Box<dyn FnMut() -> Option<f64>>);

/// A row: what is measured, in which unit, beside what, and what is aimed at.
struct Row {
    name: &'static str,
    unit: &'static str,
    /// How many of the unit are a second.
    scale: f64,
    own: Box<dyn FnMut() -> f64>,
    beside: Option<Beside>,
    aim: &'static str,
}

/// A run and the same without checks.
fn against_unchecked(
    name: &'static str,
    unit: &'static str,
    scale: f64,
    times: u32,
    of: fn() -> Ready,
    aim: &'static str,
) -> Row {
    let (checked, plain) = (of(), of());
    Row {
        name,
        unit,
        scale,
        own: Box::new(move || run(&checked, times, true)),
        beside: Some(("unchecked", Box::new(move || Some(run(&plain, times, false))))),
        aim,
    }
}

fn against_numpy(name: &'static str, times: u32, ready: Ready, code: &'static str, aim: &'static str) -> Row {
    Row {
        name,
        unit: "ms",
        scale: 1e3,
        own: Box::new(move || run(&ready, times, true)),
        beside: Some(("numpy", Box::new(move || numpy(code)))),
        aim,
    }
}

fn alone(
    name: &'static str,
    unit: &'static str,
    scale: f64,
    own: impl FnMut() -> f64 + 'static,
    aim: &'static str,
) -> Row {
    Row { name, unit, scale, own: Box::new(own), beside: None, aim }
}

/// The time of a whole process, beside that of its run from arguments in memory to results in memory.
fn whole_against_run(name: &'static str, times: u32, file: &'static str, aim: &'static str) -> Row {
    let inside = ready(file, &[]);
    Row {
        name,
        unit: "ms",
        scale: 1e3,
        own: Box::new(move || seconds(times, true, || process(&["run", file, "--arch", "a5"]))),
        beside: Some(("the run in it", Box::new(move || Some(run(&inside, times, true))))),
        aim,
    }
}

/// A file of the repository with words of its text replaced, where a process finds it.
fn edited(file: &str, name: &str, edits: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(root().join(file)).expect("the program is part of the repository");
    let text = edits.iter().fold(text, |text, (from, to)| text.replace(from, to));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("a path of text").to_string()
}

/// A process on 10⁶ tiles through a ring, beside the same on 10⁴: how much it depends on how many there are.
fn independent_of_count(name: &'static str, words: &'static [&'static str], aim: &'static str) -> Row {
    let few = edited(RING_FILE, "ring_few.pto", &[("1000000", "10000")]);
    let of = move |file: &str| {
        let args: Vec<&str> = words.iter().copied().chain([file, "--arch", "a5"]).collect();
        seconds(5, true, || process(&args))
    };
    Row {
        name,
        unit: "ms",
        scale: 1e3,
        own: Box::new(move || of(RING_FILE)),
        beside: Some(("10⁴ tiles", Box::new(move || Some(of(&few))))),
        aim,
    }
}

/// The most memory of a process.
fn memory_of(name: &'static str, args: &'static [&'static str], aim: &'static str) -> Row {
    alone(name, "MB", 1.0, || memory(args).unwrap_or(f64::INFINITY), aim)
}

/// 100,000 sums of rows.
fn row_sums(arch: &'static str, name: &'static str, aim: &'static str) -> Row {
    Row {
        name,
        unit: "s",
        scale: 1.0,
        own: Box::new(|| seconds(1, true, || process(&["run", "benches/programs/row_sums.pto", "--arch", arch]))),
        beside: Some(("numpy", Box::new(|| numpy(ROW_SUMS)))),
        aim,
    }
}

const ROW_SUMS: &str = "a = np.random.rand(64, 256).astype(np.float32)\n\
    t = 1e5 * best(lambda: [a.sum(axis=1) for _ in range(1000)], 3) / 1000";

/// Three tasks a step and two more: so many milliseconds a task.
fn tasks(steps: u32) -> f64 {
    let steps_set = format!("STEPS={steps}");
    let all = seconds(1, true, || process(&["run", "benches/programs/many_tasks.py", "--set", &steps_set]));
    all / f64::from(3 * steps + 2)
}

const PRODUCT_FILE: &str = "benches/programs/matmul_1024.pto";
const ATTENTION_FILE: &str = "benches/programs/attention.pto";
const RING_FILE: &str = "benches/programs/ring_million.pto";

const MANY_BLOCKS: [&str; 8] =
    ["run", "benches/programs/attention_rows.py", "--set", "BLOCKS=4096", "--set", "KEYS=256", "--blocks", "4096"];

fn rows() -> Vec<Row> {
    let (small, straight) = ("examples/matmul_to_vector.pto", straight(16_000));
    let straight = straight.to_str().expect("a path of text").to_string();
    let i8 = ready(PRODUCT_FILE, &[("f16", "i8"), ("f32", "i32")]);
    vec![
        against_numpy("f16 product 1024³", 4, ready(PRODUCT_FILE, &[]), PRODUCT, "≤ 1.2"),
        against_unchecked("f16 product 1024³", "ms", 1e3, 4, || ready(PRODUCT_FILE, &[]), "≤ 1.2"),
        against_numpy("i8 product 1024³ (numpy: f32)", 4, i8, SGEMM, "≤ 0.6"),
        against_numpy("attention 128×128×1024 through rings", 20, ready(ATTENTION_FILE, &[]), ATTENTION, "≤ 1.0"),
        against_unchecked(
            "attention 128×128×1024 through rings",
            "ms",
            1e3,
            20,
            || ready(ATTENTION_FILE, &[]),
            "≤ 1.15",
        ),
        against_unchecked(
            "10⁵ tiles of 1 KiB through a ring",
            "µs a tile",
            10.0,
            1,
            || ready(RING_FILE, &[("1000000", "100000")]),
            "0.2, unchecked 0.1",
        ),
        against_unchecked(
            "10⁵ tiles of one Cube and two Vector cores",
            "µs a tile",
            10.0,
            1,
            || ready(RING_FILE, &[("1000000", "100000"), ("split = 0", "split = 1"), ("<vec, 16x", "<vec, 8x")]),
            "0.4",
        ),
        against_unchecked(
            "a vector instruction, 64 lanes of f32",
            "ns",
            1e3,
            1,
            || ready("benches/programs/vector_million.pto", &[]),
            "8 unchecked",
        ),
        against_unchecked(
            "strided DMA, rows of 256 bytes",
            "ms/GiB",
            1e3 / DMA_GIB,
            1,
            || ready("benches/programs/dma_strided.pto", &[]),
            "≤ 1.2",
        ),
        Row {
            name: "strided DMA, rows of 256 bytes",
            unit: "ms/GiB",
            scale: 1e3 / DMA_GIB,
            own: {
                let dma = ready("benches/programs/dma_strided.pto", &[]);
                Box::new(move || run(&dma, 1, true))
            },
            beside: Some(("memcpy", Box::new(|| Some(copied_rows())))),
            aim: "",
        },
        Row {
            name: "launch of 24 blocks, product 1536³, process on two threads, by the clock",
            unit: "ms",
            scale: 1e3,
            own: Box::new(|| launched("2")),
            beside: Some(("on one", Box::new(|| Some(launched("1"))))),
            aim: "≤ 0.53",
        },
        whole_against_run("f16 product 1024³, whole process", 4, PRODUCT_FILE, "≤ 1.5"),
        memory_of("f16 product 1024³, memory", &["run", PRODUCT_FILE, "--arch", "a5"], "60"),
        whole_against_run("attention 128×128×1024, whole process", 10, ATTENTION_FILE, "4 ms"),
        memory_of("attention of 4,096 blocks, 256 keys, memory", &MANY_BLOCKS, "1000"),
        row_sums("a5", "100,000 sums of the rows of 64×256 f32, a5", "0.45"),
        row_sums("a2a3", "100,000 sums of the rows of 64×256 f32, a2a3", "0.60"),
        independent_of_count("10⁶ tiles through a ring, times only", &["run", "--time-only"], "1.0"),
        independent_of_count("10⁶ tiles through a ring, `prove`", &["prove"], "1.0"),
        Row {
            name: "a task of a program of 10⁴ tasks, text to results",
            unit: "ms",
            scale: 1e3,
            own: Box::new(|| tasks(3333)),
            beside: Some(("of 10³", Box::new(|| Some(tasks(333))))),
            aim: "≤ 1.1",
        },
        alone("small kernel, whole process", "ms", 1e3, move || seconds(20, true, || process(&["run", small])), "3"),
        alone(
            "attention step, `kernel.py` to a program",
            "ms",
            1e3,
            || seconds(50, false, || compile("examples/lang/5_attention_step.py")),
            "0.6",
        ),
        alone(
            "`build` of 16,000 straight ops, whole process",
            "ms",
            1e3,
            move || seconds(1, true, || process(&["build", &straight])),
            "60",
        ),
        alone(
            "decoder layer, 188 tasks, text to results",
            "s",
            1.0,
            || seconds(1, false, || whole_program("benches/programs/decoder_layer.py")),
            "",
        ),
    ]
}

fn main() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut rows = rows();
    let mut best = vec![(f64::INFINITY, f64::INFINITY); rows.len()];
    for round in 0..rounds {
        for (row, best) in rows.iter_mut().zip(&mut best) {
            best.0 = best.0.min((row.own)());
            if let Some((_, beside)) = &mut row.beside {
                best.1 = best.1.min(beside().unwrap_or(f64::INFINITY));
            }
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    println!("| work | slipring | beside | ratio | aim |\n|---|---|---|---|---|");
    for (Row { name, unit, scale, beside, aim, .. }, (own, other)) in rows.iter().zip(best) {
        let (beside, ratio) = match beside {
            Some((what, _)) if other.is_finite() => {
                (format!("{what} {:.2}", other * scale), format!("{:.2}", own / other))
            }
            Some((what, _)) => (format!("{what} -"), "-".into()),
            None => (String::new(), String::new()),
        };
        println!("| {name} | {:.2} {unit} | {beside} | {ratio} | {aim} |", own * scale);
    }
}
