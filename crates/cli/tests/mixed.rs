//! Kernels for the whole cluster, after `build`: the output contains none of their ops, and gives the same bytes.

use std::path::PathBuf;

use slipring::{Bound, Prepared};
use slipring_ir::Module;
use slipring_ir::text::print;
use slipring_machine::{Platform, built_in};
use slipring_op::OpDef;

use crate::here::root;
use crate::ready::{Ready, args_of};
use crate::walk;

/// The files of the folder itself: those below it are wrong, or have pipes of their own.
fn files() -> Vec<PathBuf> {
    let folder = root().join("tests/files/mixed");
    let mut files = walk::files(&folder, &["pto"]);
    files.retain(|file| file.parent() == Some(&*folder));
    assert!(files.len() >= 10, "{} files", files.len());
    files
}

fn prepared(text: &str, platform: &Platform) -> Ready {
    Ready::of("test", text, platform).unwrap_or_else(|said| panic!("{said:?}\n{text}"))
}

/// The buffers after a run without findings.
fn run(ready: &Ready, values: &[Bound<'static>], blocks: u32) -> Vec<Option<Vec<u8>>> {
    let (done, report) = ready.checked(values, blocks);
    assert!(done.result.complete && report.findings.is_empty(), "{:?}", report.findings);
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
            let ready = prepared(&text, &platform);
            let Prepared { written, module, .. } = &ready.prepared;
            assert!(has_mixed_ops(written) && !has_mixed_ops(module), "{}", file.display());
            let built = print(module);
            let again = prepared(&built, &platform);
            assert_eq!(print(&again.prepared.module), built, "{} is built once", file.display());
            let values = args_of(&text).and_then(|words| ready.values(&words)).expect("arguments");
            assert_eq!(run(&again, &values, blocks), run(&ready, &values, blocks), "{} on {name}", file.display());
        }
    }
}

/// Where rings are in global memory, the memory for their slots is not passed as an argument, and every block has its
/// own.
#[test]
fn the_launch_allocates_the_slots() {
    let file = root().join("tests/files/mixed/carried_and_blocks.pto");
    let text = std::fs::read_to_string(file).expect("the file");
    let platform = built_in("a2a3").expect("a2a3");
    let kernel = prepared(&text, &platform).prepared;
    let params = &kernel.decoded.program.params;
    assert_eq!(params.iter().map(|p| p.is_passed()).collect::<Vec<_>>(), [true, true, true, false]);
    // Two slots for a tile of 32 × 32 f32.
    let kind = slipring_program::ParamKind::Scratch { bytes_per_block: 2 * 32 * 32 * 4 };
    assert_eq!(params[3].kind, kind);
    assert_eq!(slipring::args::signature("k", params), "k(%a: buffer of f32, %b: buffer of f32, %out: buffer of f32)");
}
