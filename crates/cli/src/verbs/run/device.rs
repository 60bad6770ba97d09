//! `slipring run --device`: a kernel through the command queue of a board.

use slipring::{BoardOptions, Error, Kernel, RunOptions, Tensor};

use super::super::exit::Exit;
use super::super::output::{fail, json, out, report_all};
use super::super::written::{divide, write_outputs, write_stream, write_trace};
use super::args::RunArgs;

/// Runs a kernel through the queue and reports.
///
/// # Errors
/// Why nothing was run.
pub(super) fn run(
    kernel: &Kernel,
    bound: Vec<Tensor<'static>>,
    board: BoardOptions,
    options: &RunOptions,
    args: &RunArgs,
) -> Result<Exit, Error> {
    let (tensors, files) = divide(bound);
    let mut run = kernel.run_on_board(tensors, board, options)?;
    let after: Vec<_> = (0..files.len()).map(|index| run.left(index)).collect();
    let written = write_outputs(&files, &after, run.is_complete()).and_then(|()| {
        write_trace(args.trace.as_deref(), run.trace())?;
        write_stream(args.record.as_deref(), run.recorded())
    });
    run.facts.error = written.as_ref().err().cloned();
    report_all(run.findings());
    if args.json {
        json(&run.facts);
    } else {
        out(&run.text());
    }
    let found = run.findings().errors() > 0 || !run.is_complete();
    Ok(match written {
        Err(message) => fail(message),
        Ok(()) if run.findings().is_unsupported() => Exit::BadInput,
        Ok(()) if found => Exit::Findings,
        Ok(()) => Exit::Clean,
    })
}
