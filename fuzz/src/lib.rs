//! The fuzz targets: what they do with an input, and what several of them do.

pub mod targets;

use slipring::{Bound, ExecuteOptions, check, execute, load_file, prepare};
use slipring_ir::Source;
use slipring_sim::Limits;

/// Most bytes of a kernel's buffers together.
const MOST: u64 = 1 << 20;

/// Takes a file all the way: read, checked, compiled and run on both platforms, each of which may end in errors.
pub fn run(name: &str, text: &str) {
    for platform in ["a5", "a2a3"] {
        let platform = slipring_machine::built_in(platform).expect("a platform");
        let loaded = load_file(Source::new(name, text));
        let mut diags = loaded.diags;
        let source = loaded.module.source.clone();
        if !diags.has_errors() {
            check(&loaded.module, &platform, &mut diags);
        }
        let prepared = (!diags.has_errors()).then(|| prepare(loaded.module, None, &platform, &mut diags)).flatten();
        let _ = diags.render(&source, false);
        let Some(prepared) = prepared else {
            assert!(diags.has_errors(), "what is not prepared has an error");
            continue;
        };
        let Some(values) = arguments(&prepared.kernel.params) else { continue };
        let limits = Limits { steps: 100_000, memory: 1 << 28, output: 1 << 16, ..Limits::default() };
        execute(&prepared.decoded, &platform, &values, ExecuteOptions { limits, ..ExecuteOptions::default() }, &mut ());
    }
}

/// Zeros for every parameter; `None` if they ask for much.
fn arguments(params: &[slipring_program::Param]) -> Option<Vec<Bound<'static>>> {
    use slipring_program::ParamKind;
    let mut left = MOST;
    let passed = params.iter().filter(|param| param.is_passed());
    passed
        .map(|param| match &param.kind {
            ParamKind::Buffer { bytes, .. } => {
                let bytes = bytes.unwrap_or(4096);
                left = left.checked_sub(bytes)?;
                Some(Bound::buffer(vec![0; bytes as usize]))
            }
            _ => Some(Bound::scalar(1)),
        })
        .collect()
}
