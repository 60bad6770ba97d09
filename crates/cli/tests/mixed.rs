//! Kernels for the whole cluster, after `build`: the output contains none of their ops, and gives the same bytes.

use std::path::{Path, PathBuf};

use slipring::args::{Defaults, bound};
use slipring::{Bound, ExecuteOptions, Prepared, check, execute, load, prepare};
use slipring_check::{Checker, Tools};
use slipring_ir::{Module, Source};
use slipring_machine::{Platform, built_in};
use slipring_op::OpDef;
use slipring_sim::ExecutionMode;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/mixed");
    let entries = std::fs::read_dir(&folder).expect("the folder").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "pto")).collect();
    files.sort();
    assert!(files.len() >= 10, "{} files", files.len());
    files
}

fn prepared(text: &str, platform: &Platform) -> Prepared {
    let (module, mut diags) = load(Source::new("test", text));
    check(&module, platform, &mut diags);
    let prepared = (!diags.has_errors()).then(|| prepare(module, None, platform, &mut diags)).flatten();
    prepared.unwrap_or_else(|| panic!("{:?}\n{text}", diags.list))
}

fn arguments(text: &str, prepared: &Prepared) -> Vec<Bound<'static>> {
    let line = text.lines().find_map(|line| line.strip_prefix("// args:")).expect("an `// args:` line");
    let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
    bound(&words, &prepared.decoded.program.params, &Defaults::default()).expect("arguments")
}

/// The buffers after a run without findings.
fn run(prepared: &Prepared, platform: &Platform, values: &[Bound<'static>], blocks: u32) -> Vec<Option<Vec<u8>>> {
    let options = ExecuteOptions { blocks, mode: ExecutionMode::Pipes, gm_slack: 0, ..ExecuteOptions::default() };
    let mut checker = Checker::new(Tools { scratch: slipring::slot_buffers(prepared, values), ..Tools::default() });
    let done = execute(&prepared.decoded, platform, values, options, &mut checker);
    let found = checker.report(&done.result).findings;
    assert!(done.result.complete && found.is_empty(), "{found:?}");
    (0..values.len()).map(|at| done.buffer(values, at).map(<[u8]>::to_vec)).collect()
}

fn has_mixed_ops(module: &Module) -> bool {
    let def = |op| OpDef::of(module, op);
    module.walk(module.top).into_iter().any(|op| def(op).is_some_and(|def| def.mixed.is_some()))
}

#[test]
fn what_is_built_runs_to_the_same_bytes() {
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("the file");
        let blocks = if text.contains("--blocks 3") { 3 } else { 1 };
        for name in ["a5", "a2a3"] {
            let platform = built_in(name).expect("a platform");
            let written = prepared(&text, &platform);
            assert!(has_mixed_ops(&written.written) && !has_mixed_ops(&written.module), "{}", file.display());
            let built = slipring_ir::text::print(&written.module);
            let again = prepared(&built, &platform);
            assert_eq!(slipring_ir::text::print(&again.module), built, "{} is built once", file.display());
            let values = arguments(&text, &written);
            let wanted = run(&written, &platform, &values, blocks);
            assert_eq!(run(&again, &platform, &values, blocks), wanted, "{} on {name}", file.display());
        }
    }
}

/// Where rings are in global memory, the memory for their slots is not passed as an argument, and every block has its
/// own.
#[test]
fn the_launch_allocates_the_slots() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/mixed/carried_and_blocks.pto");
    let text = std::fs::read_to_string(file).expect("the file");
    let platform = built_in("a2a3").expect("a2a3");
    let kernel = prepared(&text, &platform);
    let params = &kernel.decoded.program.params;
    assert_eq!(params.iter().map(|p| p.is_passed()).collect::<Vec<_>>(), [true, true, true, false]);
    // Two slots for a tile of 32 × 32 f32.
    let kind = slipring_program::ParamKind::Scratch { bytes_per_block: 2 * 32 * 32 * 4 };
    assert_eq!(params[3].kind, kind);
    assert_eq!(slipring::args::signature("k", params), "k(%a: buffer of f32, %b: buffer of f32, %out: buffer of f32)");
}
