//! `slipring run` of a whole program.

use std::io::IsTerminal;

use slipring::{Error, Program, ProgramOptions, RunRequest};
use slipring_report::{CheckStatus, lines_text};

use super::super::exit::Exit;
use super::super::expected::{against, expectations};
use super::super::flags::kernels_only;
use super::super::output::{fail, json, out, report_all, which_launch};
use super::super::progress::Progress;
use super::super::written::{divide, write_outputs, write_stream, write_trace};
use super::args::RunArgs;
use super::chart::timeline_text;

/// Runs a whole program and reports.
///
/// # Errors
/// Why nothing was run.
pub(super) fn run(args: &RunArgs, request: &RunRequest, program: &Program) -> Result<Exit, Error> {
    kernels_only(&[
        (args.advice, "--advice", "run the kernel alone with `--func`"),
        (args.stats, "--stats", "run the kernel alone with `--func`; `--json` has all times"),
    ])?;
    let (bound, files) = divide(args.kernel.program_arguments(program)?);
    let options = ProgramOptions::from(request);
    let followed = program.followed(&bound, &options)?;
    let program = followed.as_ref().unwrap_or(program);
    let board = args.board(request)?;
    let said = program.compile()?;
    report_all(&said);
    let expected = expectations(&args.expect)?;
    for one in &expected {
        one.place(&program.buffers(|_| None))?;
    }
    let progress = std::io::stderr().is_terminal().then(|| Progress::start(&options.control));
    let run = program.run(bound.clone(), &options)?;
    let sent = board.map(|board| program.run_on_board(bound.clone(), &board, &options)).transpose()?;
    drop(progress);
    which_launch(run.launch(), options.launches, run.has_findings());
    let mut facts = run.facts().clone();
    let mut messages = run.findings().clone();
    let mut complete = run.is_complete();
    if let Some(sent) = &sent {
        messages = sent.join(&run, &mut facts)?;
        complete &= sent.complete;
    }
    // After a run on a board, compare the contents that came back from it.
    let left = |at: usize| match &sent {
        Some(sent) => sent.left(at),
        None => run.left(at),
    };
    let mut unsupported = false;
    if request.verify {
        let (row, more) = run.compare()?;
        unsupported = run.is_complete() && row.verdict == CheckStatus::NotChecked;
        facts.checks.push(row);
        messages = messages.and(more);
    }
    let buffers = program.buffers(|at| left(at).filter(|_| complete));
    messages = messages.and(against(&expected, &buffers, &mut facts.checks)?);
    facts.findings = said.and(messages.messages().to_vec()).facts();
    report_all(&messages);
    let after: Vec<_> = (0..run.arguments()).map(left).collect();
    let written = write_outputs(&files, &after, complete);
    let trace = match &sent {
        Some(sent) => sent.trace.clone(),
        None => run.trace(),
    };
    let written = written.and_then(|()| write_trace(args.trace.as_deref(), trace.as_ref()));
    let recorded = sent.as_ref().and_then(|sent| sent.recorded.as_ref());
    let written = written.and_then(|()| write_stream(args.record.as_deref(), recorded));
    facts.error = written.as_ref().err().cloned();
    facts.lines = run.lines().filter(|_| args.lines);
    if args.json {
        json(&facts);
    } else {
        out(&facts.text());
        if let Some(trace) = trace.filter(|_| args.timeline) {
            out(&timeline_text(&trace));
        }
        if let Some(lines) = &facts.lines {
            out(&lines_text(lines));
        }
    }
    unsupported |= messages.is_unsupported();
    Ok(match (written, unsupported, messages.errors() > 0 || !complete) {
        (Err(message), ..) => fail(message),
        (_, true, _) if messages.errors() == 0 => fail("the sequential semantics could not be compared"),
        (_, true, _) => Exit::BadInput,
        (_, _, true) => Exit::Findings,
        _ => Exit::Clean,
    })
}
