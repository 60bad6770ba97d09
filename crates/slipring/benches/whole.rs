//! Whole programs, side by side with numpy and with the published figures of the public CPU simulator.
//!
//! `cargo bench -p slipring` prints a table. The yardstick needs a Python with numpy: `PYTHON=…/python3 cargo bench …`;
//! without one its column stays empty. Times are the best of several runs in one process, with the program read,
//! checked and decoded beforehand, except for (d), a whole process from text to result, (g), which is that preparation, and (h), from text to results.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use slipring::args::{Defaults, Value, bind};
use slipring::{
    Asked, ExecuteOptions, Prepared, Program, ProgramOptions, Tensor, check, choose_platform, execute, load, load_file,
    prepare,
};
use slipring_check::{Checker, Tools};
use slipring_ir::Source;
use slipring_machine::Platform;
use slipring_sim::Turns;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn ready(file: &str) -> (Prepared, Platform, Vec<Value>) {
    let text = std::fs::read_to_string(root().join(file)).expect("the program is part of the repository");
    let args = text.lines().find_map(|l| l.strip_prefix("// args:")).expect("an args line").split_whitespace();
    let args: Vec<String> = args.map(str::to_string).collect();
    let (module, mut diags) = load(Source::new(file, text.as_str()));
    let platform = choose_platform(Some("a5"), &module).expect("a built-in platform");
    let prepared = prepare(module, None, &platform, &mut diags);
    let prepared = prepared.unwrap_or_else(|| panic!("{}", diags.render(&Source::new(file, text.as_str()), false)));
    let bound = bind(&args, &prepared.decoded.program.params, &[], &Defaults::default()).expect("the arguments fit");
    (prepared, platform, bound.into_iter().map(|a| a.value).collect())
}

/// Best time of `times` runs; the clock runs from arguments in memory to results in memory.
fn best(times: usize, mut work: impl FnMut() -> bool) -> Duration {
    let one = || {
        let start = Instant::now();
        let fine = work();
        assert!(fine, "the run did not come to its end");
        start.elapsed()
    };
    std::iter::repeat_with(one).take(times).min().unwrap_or_default()
}

fn timed(file: &str, times: usize, check: bool) -> Duration {
    let (prepared, platform, values) = ready(file);
    let options = ExecuteOptions { blocks: 1, mode: Turns::Pipes, gm_slack: 0, ..ExecuteOptions::default() };
    best(times, || {
        if check {
            let mut checker = Checker::new(Tools::default());
            execute(&prepared.decoded, &platform, &values, options, &mut checker).result.complete
        } else {
            execute(&prepared.decoded, &platform, &values, options, &mut ()).result.complete
        }
    })
}

/// Compiles a kernel of the kernel language: read, checked, through all passes, decoded.
fn compiled(file: &str, times: usize) -> Duration {
    let text = std::fs::read_to_string(root().join(file)).expect("the kernel is part of the repository");
    best(times, || {
        let loaded = load_file(Source::new(file, text.as_str()));
        let (module, mut diags) = (loaded.module, loaded.diags);
        let platform = choose_platform(Some("a5"), &module).expect("a built-in platform");
        check(&module, &platform, &mut diags);
        !diags.has_errors() && prepare(module, None, &platform, &mut diags).is_some()
    })
}

/// Runs a whole program on the arguments of its file, from its text to its results, with every check on.
fn whole_program(file: &str, times: usize) -> Duration {
    best(times, || {
        let program = Program::open(root().join(file), &Asked::default()).ok().flatten();
        let run = |program: Program| {
            let args = program.arguments(&[], 0).expect("the arguments fit");
            let args: Vec<Tensor<'_>> = args.into_iter().map(Tensor::from).collect();
            let run = program.run(args, &ProgramOptions::default()).expect("it runs");
            run.is_complete() && run.findings().messages().is_empty()
        };
        program.is_some_and(run)
    })
}

/// Seconds that numpy takes for a piece of Python that leaves them in `t`; `None` without numpy.
fn numpy(code: &str) -> Option<f64> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let script = format!(
        "import numpy as np, time\ndef best(f, n):\n  r = []\n  for _ in range(n):\n    s = time.perf_counter(); f(); \
         r.append(time.perf_counter() - s)\n  return min(r)\n{code}\nprint(t)"
    );
    let out = Command::new(python).args(["-c", &script]).output().ok()?;
    String::from_utf8(out.stdout).ok()?.trim().parse().ok()
}

const NUMPY_MATMUL: &str = "a = np.random.rand(1024, 1024).astype(np.float16); b = a.copy()\n\
    t = best(lambda: a.astype(np.float32) @ b.astype(np.float32), 20)";

const NUMPY_ATTENTION: &str = "q = np.random.rand(128, 128).astype(np.float16); k = np.random.rand(128, 1024).astype(np.float16)\n\
    v = np.random.rand(1024, 128).astype(np.float16)\n\
    def f():\n  s = q.astype(np.float32) @ k.astype(np.float32)\n  p = np.exp(s - s.max(axis=1, keepdims=True))\n  \
    return (p.astype(np.float16).astype(np.float32) @ v.astype(np.float32)) / p.sum(axis=1, keepdims=True)\n\
    t = best(f, 50)";

/// What `dma_strided.pto` moves, in GiB.
const DMA_GIB: f64 = (2 * 2000 * 256 * 256) as f64 / (1u64 << 30) as f64;

/// The rows of `dma_strided.pto` by `memcpy`, there and back.
fn copied_rows() -> Duration {
    let (src, mut ub, mut dst) = (vec![1u8; 256 * 512], vec![0u8; 256 * 288], vec![0u8; 256 * 512]);
    best(5, || {
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
        true
    })
}

fn row(what: &str, ours: f64, unit: &str, scale: f64, numpy: Option<f64>, peer: &str, aim: &str) {
    let theirs = numpy.map_or("-".into(), |t| format!("{:.2}", t * scale));
    let ratio = numpy.map_or("-".into(), |t| format!("{:.1}x", ours / t));
    println!("{what:44} {:>9.2} {unit:8} {theirs:>8} {ratio:>7}  {peer:>16}  {aim}", ours * scale);
}

fn main() {
    println!(
        "{:44} {:>9} {:8} {:>8} {:>7}  {:>16}  aim",
        "program", "slipring", "", "numpy", "ratio", "public simulator"
    );
    let matmul = timed("benches/programs/matmul_1024.pto", 10, false).as_secs_f64();
    row("(a) f16 matmul 1024^3, tiles 128x64x256", matmul, "ms", 1e3, numpy(NUMPY_MATMUL), "554 ms", "<= 1.5x numpy");
    let attention = timed("benches/programs/attention.pto", 50, false).as_secs_f64();
    row(
        "(b) attention 128x128x1024 through rings",
        attention,
        "ms",
        1e3,
        numpy(NUMPY_ATTENTION),
        "21 ms",
        "<= 3x numpy",
    );
    let ring = timed("benches/programs/ring_million.pto", 5, false).as_secs_f64() / 1e6;
    row("(c) a 1 KiB tile through a ring", ring, "us", 1e6, None, "7 to 9 us", "<= 0.4 us");
    let checked = timed("benches/programs/ring_million.pto", 3, true).as_secs_f64() / 1e6;
    row("(c) the same with every check on", checked, "us", 1e6, None, "no such check", "");
    let example = root().join("examples/matmul_to_vector.pto");
    let process = best(20, || {
        let ran = Command::new(env!("CARGO_BIN_EXE_slipring")).arg("run").arg(&example).output();
        ran.is_ok_and(|ran| ran.status.success())
    });
    row(
        "(d) small kernel, whole process, checks on",
        process.as_secs_f64(),
        "ms",
        1e3,
        None,
        "3.4 to 9.8 s",
        "<= 30 ms",
    );
    let vector = timed("benches/programs/vector_million.pto", 5, false).as_secs_f64();
    row("(e) a vector instruction, 64 lanes of f32", vector / 1e6, "ns", 1e9, None, "-", "<= 20 ns");
    let checked = timed("benches/programs/vector_million.pto", 3, true).as_secs_f64();
    row("(e) the same with every check on", checked / 1e6, "ns", 1e9, None, "no such check", "");
    let (moved, copied) = (timed("benches/programs/dma_strided.pto", 5, false), copied_rows());
    let (moved, copied) = (moved.as_secs_f64() / DMA_GIB, copied.as_secs_f64() / DMA_GIB);
    row("(f) strided DMA, rows of 256 bytes (memcpy)", moved, "ms/GiB", 1e3, Some(copied), "-", "<= 2x memcpy");
    let step = compiled("examples/lang/5_attention_step.py", 20).as_secs_f64();
    row("(g) attention step, kernel.py to program", step, "ms", 1e3, None, "-", "<= 100 ms");
    let layer = whole_program("benches/programs/decoder_layer.py", 3).as_secs_f64();
    row("(h) decoder layer, 188 tasks, checks on", layer, "s", 1.0, None, "-", "seconds");
}
