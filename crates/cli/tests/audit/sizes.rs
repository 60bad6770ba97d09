//! Whatever numbers an effect or a text is given, including sizes, offsets, strides, depths and addresses at the limits
//! of their types and beyond all memories, the outcome is a result, a finding or an error. Programs of the examples and
//! file tests run again with the operands of one op instance replaced, or with numbers in their text replaced. Overflow
//! checks are enabled in tests, so wrapping address arithmetic panics; named limits bound memory and time.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRng, TestRunner};
use slipring::{ExecuteOptions, Prepared, check, choose_platform, execute, load_file, prepare};
use slipring_check::{Checker, Tools};
use slipring_ir::Source;
use slipring_machine::Platform;
use slipring_program::Operand;
use slipring_sim::Limits;

use crate::audit::{arguments, option, runs, said, walk};
use crate::here::root;

/// One in this many files is part of a slice.
const SLICES: usize = 8;
/// Number of programs with changed operands per program.
const EACH: u32 = 24;
/// Number of changed texts per file.
const TEXTS: u32 = 6;

/// Numbers at the limits of the types of sizes and addresses.
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

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => select(&NUMBERS[..]),
        2 => (select(&NUMBERS[..]), -3i64..=3).prop_map(|(number, by)| number.wrapping_add_signed(by)),
        1 => any::<u64>(),
    ]
}

/// Tests a property on a fixed number of values, the same each time; failures are minimised.
fn always<S: Strategy>(cases: u32, values: &S, property: impl Fn(S::Value)) -> Result<(), String> {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config.clone(), TestRng::deterministic_rng(config.rng_algorithm));
    let ended = runner.run(values, |value| {
        property(value);
        Ok(())
    });
    ended.map_err(|error| error.to_string())
}

/// The files of the slice, with the text and the arguments of each command line that runs it.
fn slice() -> Vec<(PathBuf, String, Vec<String>)> {
    let root = root();
    let mut files = walk::files(&root.join("tests/files"), &["pto", "py"]);
    files.extend(walk::files(&root.join("examples"), &["pto", "py"]));
    let number = crate::here::slice();
    let of_slice = files.into_iter().enumerate().filter(|(at, _)| number.is_none_or(|n| at % SLICES == n % SLICES));
    let lines = of_slice.flat_map(|(_, file)| {
        let text = std::fs::read_to_string(&file).unwrap();
        let words = |line: String| line.split_whitespace().map(str::to_string).collect();
        runs(&file, &text).into_iter().map(move |line| (file.clone(), text.clone(), words(line))).collect::<Vec<_>>()
    });
    lines.collect()
}

/// A program with its arguments.
struct Ready {
    prepared: Prepared,
    platform: Platform,
    values: Vec<slipring::Bound<'static>>,
}

impl Ready {
    /// The program of a command line; `None` if it does not run.
    fn of(file: &Path, text: &str, words: &[String]) -> Option<Ready> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let loaded = load_file(Source::new(file.display().to_string(), text.to_string()));
        let mut diags = loaded.diags;
        let platform = choose_platform(option(&words, "--arch").first().map(String::as_str), &loaded.module).ok()?;
        if !diags.has_errors() {
            check(&loaded.module, &platform, &mut diags);
        }
        if diags.has_errors() {
            return None;
        }
        let function = option(&words, "--func");
        let prepared = prepare(loaded.module, function.first().map(String::as_str), &platform, &mut diags)?;
        let params = &prepared.kernel.params;
        let values = arguments(&said(text, &words), &loaded.kernels, params, file.parent()?)?;
        Some(Ready { prepared, platform, values })
    }

    fn run(&self) {
        let limits = Limits { steps: 1 << 16, ..Limits::default() };
        let options = ExecuteOptions { limits, ..ExecuteOptions::default() };
        let mut checker = Checker::new(Tools::default());
        let execution = execute(&self.prepared.decoded, &self.platform, &self.values, options, &mut checker);
        checker.report(&execution.result);
    }
}

#[test]
fn no_number_makes_an_effect_panic() {
    let mut tried = 0;
    for (file, text, words) in slice() {
        let Some(ready) = Ready::of(&file, &text, &words) else { continue };
        let works = |ready: &Ready| {
            let cores = ready.prepared.decoded.program.cores.iter().enumerate();
            cores.flat_map(|(core, has)| (0..has.works.len()).map(move |work| (core, work))).collect::<Vec<_>>()
        };
        let works = works(&ready);
        if works.is_empty() {
            continue;
        }
        tried += 1;
        let ready = RefCell::new(ready);
        let values = (any::<Index>(), vec((any::<Index>(), number()), 1..4));
        let ended = always(EACH, &values, |(at, changes)| {
            let (core, work) = *at.get(&works);
            let before = ready.borrow().prepared.decoded.program.cores[core].works[work].args.clone();
            {
                let args = &mut ready.borrow_mut().prepared.decoded.program.cores[core].works[work].args;
                for (operand, number) in changes.iter().filter(|_| !before.is_empty()) {
                    let operand = operand.index(args.len());
                    args[operand] = Operand::Imm(*number);
                }
            }
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ready.borrow().run()));
            let cores = &mut ready.borrow_mut().prepared.decoded.program.cores;
            let args = std::mem::replace(&mut cores[core].works[work].args, before);
            assert!(ended.is_ok(), "`{}` with {args:?}", cores[core].works[work].name);
        });
        assert!(ended.is_ok(), "{}: {ended:?}", file.display());
    }
    assert!(tried > 10, "{tried} programs");
}

/// The integers in a text that are not part of a name, a type or a comment.
fn numbers_of(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or(line);
        let bytes = code.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let alone = |byte: Option<&u8>| byte.is_none_or(|b| !b.is_ascii_alphanumeric() && !b"_%.".contains(b));
            if end > at && alone(at.checked_sub(1).map(|before| &bytes[before])) && alone(bytes.get(end)) {
                found.push(start + at..start + end);
            }
            at = end.max(at + 1);
        }
        start += line.len();
    }
    found
}

#[test]
fn no_number_of_a_text_makes_anything_panic() {
    let mut ran = 0;
    for (file, text, words) in slice().into_iter().filter(|(file, ..)| file.extension().is_some_and(|e| e == "pto")) {
        let places = numbers_of(&text);
        if places.is_empty() {
            continue;
        }
        let values = vec((any::<Index>(), number(), any::<bool>()), 1..4);
        let ended = always(TEXTS, &values, |changes| {
            let mut changed = text.clone();
            let mut changes: Vec<_> =
                changes.iter().map(|(at, number, signed)| (at.get(&places), number, signed)).collect();
            changes.sort_by_key(|(place, ..)| std::cmp::Reverse(place.start));
            changes.dedup_by_key(|(place, ..)| place.start);
            for (place, number, signed) in changes {
                let number = if *signed { (*number as i64).to_string() } else { number.to_string() };
                changed.replace_range(place.clone(), &number);
            }
            let run = || Ready::of(&file, &changed, &words).map(|ready| ready.run()).is_some();
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            assert!(ended.is_ok(), "{changed}");
        });
        assert!(ended.is_ok(), "{}: {}", file.display(), ended.unwrap_err());
        ran += 1;
    }
    assert!(ran > 10, "{ran} files");
}

/// The memory of a platform may be larger than the largest possible tile.
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
