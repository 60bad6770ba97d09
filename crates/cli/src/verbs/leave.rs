//! Export of a kernel to a board: it is run here, and built for a tool.

use slipring::{BuildOptions, BuiltProgram, Diagnostic, Error, Opened, Report};
use slipring_artefact::Launched;

use super::exit::Exit;
use super::kernel::KernelArgs;
use super::output::report_one;
use super::written::{divide, written_by_run_only};

/// Writes messages to standard error, except those already written: a text is read once for the run and once for the
/// build.
pub(super) fn tell(messages: &Report, said: &mut Vec<Diagnostic>) {
    for message in messages.messages() {
        if !said.iter().any(|known| known.repeats(message)) {
            report_one(message, messages.source());
            said.push(message.clone());
        }
    }
}

/// Runs a kernel, builds it for a tool, and passes both on.
pub(super) fn leave(
    args: &KernelArgs,
    target: &str,
    then: impl FnOnce(&Launched<'_>, &BuiltProgram, Vec<Diagnostic>) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let target = slipring::find_target(target).map_err(Error::Arguments)?;
    let subject = args.subject()?;
    let kernel = args.kernel_of(&subject)?;
    let mut said: Vec<Diagnostic> = Vec::new();
    tell(&kernel.compile()?, &mut said);
    let bound = args.arguments(&kernel)?;
    let options = args.options()?;
    let (tensors, files) = divide(bound.clone());
    written_by_run_only(&files)?;
    let run = kernel.run_with(tensors, &options)?;
    tell(run.findings(), &mut said);
    if !run.is_complete() {
        return Err(Error::Incomplete(run.findings().clone()));
    }
    let loaded = subject.loaded().clone();
    let platform = args.platform.choose(&loaded.module)?;
    let opened = Opened { module: loaded.module, platform, diags: loaded.diags, kernels: loaded.kernels };
    let asked = BuildOptions { target: Some(target), insert_sync: args.insert_sync, ..BuildOptions::default() };
    let built = slipring::build(opened, asked, |_, _, _| {});
    tell(&Report::new(built.module.source.clone(), built.diags.list.clone()), &mut said);
    if built.diags.has_errors() {
        return Ok(Exit::BadInput);
    }
    then(&Launched { kernel: &kernel, args: &bound, run: &run, options: &options }, &built, said)
}
