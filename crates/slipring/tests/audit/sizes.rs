//! Whatever numbers an effect is given, sizes, offsets, strides and addresses beyond all memories among them, it ends in results or in a
//! finding: programs of the examples and file tests run again with the operands of one work replaced. The tests check integers for
//! overflow, so that address arithmetic that wraps shows as a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use slipring::{ExecuteOptions, check, choose_platform, execute, load_file, prepare};
use slipring_check::{Checker, Tools};
use slipring_ir::Source;
use slipring_program::Operand;
use slipring_sim::Limits;

use crate::audit::{arguments, option, runs, said, walk};

/// Files of a slice: one in so many.
const SLICES: usize = 8;
/// Changed runs of one program.
const EACH: u64 = 24;

/// Numbers at the borders of the types that sizes and addresses have.
const NUMBERS: [u64; 28] = [
    0,
    1,
    2,
    7,
    16,
    31,
    32,
    33,
    255,
    256,
    4095,
    65535,
    65536,
    (1 << 24) - 1,
    1 << 24,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 40,
    1 << 48,
    1 << 61,
    1 << 62,
    i64::MAX as u64,
    1 << 63,
    -4096i64 as u64,
    -32i64 as u64,
    u64::MAX,
];

#[test]
fn no_number_makes_an_effect_panic() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = walk::files(&root.join("tests/files"), &["pto", "py"]);
    files.extend(walk::files(&root.join("examples"), &["pto", "py"]));
    let slice = std::env::var("SLIPRING_SLICE").unwrap_or_else(|_| "0".into());
    let number: Option<usize> = slice.parse().ok();
    let mut changed = 0;
    for (at, file) in files.iter().enumerate().filter(|(at, _)| number.is_none_or(|n| at % SLICES == n % SLICES)) {
        let text = std::fs::read_to_string(file).unwrap();
        for line in runs(file, &text) {
            let words: Vec<&str> = line.split_whitespace().collect();
            changed += u64::from(file_stands(at as u64, file, &text, &words).is_some());
        }
    }
    assert!(changed > 10, "{changed} programs");
}

/// Runs the program of a command line with operands replaced; `None` where it does not get so far.
fn file_stands(seed: u64, file: &Path, text: &str, words: &[&str]) -> Option<()> {
    let loaded = load_file(Source::new(file.display().to_string(), text.to_string()));
    let mut diags = loaded.diags;
    let platform = choose_platform(option(words, "--arch").first().map(String::as_str), &loaded.module).ok()?;
    if !diags.has_errors() {
        check(&loaded.module, &platform, &mut diags);
    }
    if diags.has_errors() {
        return None;
    }
    let function = option(words, "--func");
    let mut prepared = prepare(loaded.module, function.first().map(String::as_str), &platform, &mut diags)?;
    let values = arguments(&said(text, words), &loaded.kernels, &prepared.kernel.params, file.parent()?)?;
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit.max(1) as u64) as usize
    };
    let limits = Limits { steps: 1 << 16, ..Limits::default() };
    let options = ExecuteOptions { limits, ..ExecuteOptions::default() };
    for _ in 0..EACH {
        let cores = &mut prepared.decoded.program.cores;
        let core = below(cores.len());
        let works = &mut cores[core].works;
        if works.is_empty() {
            continue;
        }
        let work = below(works.len());
        let before = works[work].args.clone();
        for operand in &mut works[work].args {
            if below(3) == 0 {
                *operand = Operand::Imm(NUMBERS[below(NUMBERS.len())]);
            }
        }
        let (name, args) = (works[work].name, works[work].args.clone());
        let run = || {
            let mut checker = Checker::new(Tools::default());
            let execution = execute(&prepared.decoded, &platform, &values, options, &mut checker);
            checker.report(&execution.result);
        };
        let ended = catch_unwind(AssertUnwindSafe(run));
        assert!(ended.is_ok(), "{}: `{name}` with {args:?}", file.display());
        prepared.decoded.program.cores[core].works[work].args = before;
    }
    Some(())
}

/// The memory of a platform may be larger than the largest tile that a text can have.
#[test]
fn tiles_that_no_text_has_are_refused() {
    let text = "import slipring.language as pl


@pl.incore
def wide(x: pl.Tensor[[1, 33554432], pl.FP32], y: pl.Out[pl.Tensor[[1, 33554432], pl.FP32]]):
    t = pl.load(x, [0, 0], [1, 33554432])
    pl.store(t, [0, 0], y)
";
    let mut loaded = load_file(Source::new("wide.py", text));
    let platform = choose_platform(Some("a5"), &loaded.module).unwrap();
    check(&loaded.module, &platform, &mut loaded.diags);
    let codes: Vec<&str> = loaded.diags.list.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["type"], "{:?}", loaded.diags.list);
}
