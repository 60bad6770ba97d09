//! Kernels read, and run to what their buffers hold.

use std::sync::Arc;

use proptest::prelude::*;
use slipring_check::{CheckReport, Checker, Tools};
use slipring_dialects::Dialects;
use slipring_ir::text::{parse, print};
use slipring_ir::{Diags, Module, Source};
use slipring_machine::Platform;
use slipring_op::{Decoding, decode, select_kernel, verify};
use slipring_program::{GmBuffer, Memory};
use slipring_sim::{ArgValue, ExecutionMode, Launch};

/// Reads a text that has no errors.
pub fn read(text: &str, platform: &Platform) -> Result<Module, TestCaseError> {
    let source = Arc::new(Source::new("random.pto", text));
    let (module, mut diags) = parse(source.clone(), &Dialects::get().registry);
    verify(Dialects::get(), &module, platform, &mut diags);
    prop_assert!(!diags.has_errors(), "{}\n{text}", diags.render(&source, false));
    Ok(module)
}

/// Runs a module with these buffers, then these scalars; gives back what the buffers hold. A reference runs op by op, and must come
/// to its end. On the device no tool may find anything; what was checked is given back, too.
pub fn run(
    module: &Module,
    platform: &Platform,
    mode: Decoding,
    buffers: impl IntoIterator<Item = Vec<u8>>,
    scalars: &[u64],
) -> Result<(Vec<Vec<u8>>, CheckReport), TestCaseError> {
    let mut diags = Diags::default();
    let decoded = select_kernel(module, None, &mut diags)
        .and_then(|kernel| decode(module, &kernel, platform, mode, &mut diags).ok());
    let Some(decoded) = decoded else {
        return Err(TestCaseError::fail(format!("{}\n{}", diags.render(&module.source, false), print(module))));
    };
    let mut memory = Memory::with_sizes(1, |space| decoded.local_bytes[space as usize] as usize);
    let named = |(at, data)| GmBuffer { name: format!("b{at}"), data };
    memory.gm = buffers.into_iter().enumerate().map(named).collect();
    let args = (0..memory.gm.len()).map(ArgValue::Buffer).chain(scalars.iter().copied().map(ArgValue::Scalar));
    let reference = mode == Decoding::Reference;
    let sim = if reference { ExecutionMode::Sequential } else { ExecutionMode::Pipes };
    let launch = Launch::new(&decoded.program, platform, 1, args.collect()).mode(sim);
    let mut checker = Checker::new(Tools::default());
    let result = slipring_sim::run(&launch, memory, &mut checker);
    let report = checker.report(&result);
    let right = if reference { result.complete } else { report.is_clean() };
    prop_assert!(right, "{:#?}\n{:#?}\n{}", result.findings, report.findings, print(module));
    Ok((result.memory.gm.into_iter().map(|buffer| buffer.data).collect(), report))
}
