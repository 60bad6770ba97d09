//! `slipring run`: run a kernel.

mod args;
mod chart;
mod device;
mod program;

use std::io::IsTerminal;

use serde::Serialize;
use slipring::{Advice, Error, Kernel, RunRequest, Subject, Tensor, VerifyOutcome, advice_text};
use slipring_report::{RunFacts, lines_text, path_text, stats_text, summary_text};

use super::exit::Exit;
use super::expected::{against, expectations, held};
use super::output::{fail, json, out, refused, report_all, which_launch};
use super::progress::Progress;
use super::written::{divide, one_output, write_outputs, write_trace};
pub(super) use args::RunArgs;
use chart::timeline_text;

/// Number of parts of the critical path that are shown.
const PARTS: usize = 12;

/// Runs a kernel and reports.
pub(super) fn run(args: &RunArgs) -> Exit {
    match start(args) {
        Ok(exit) => exit,
        Err(error) => refused(&error, args.json),
    }
}

fn start(args: &RunArgs) -> Result<Exit, Error> {
    one_output(args.json, args.trace.as_deref()).map_err(Error::Arguments)?;
    let subject = args.kernel.subject()?;
    let program = args.kernel.program_of(&subject)?;
    let request = args.request(program.is_some())?;
    if let Some(program) = program {
        return program::run(args, &request, &program);
    }
    if request.device.is_some() && !args.expect.is_empty() {
        return Err(Error::Arguments(
            "`--expect` is not for a kernel with `--device`: a whole program takes it".into(),
        ));
    }
    let kernel = args.kernel.kernel_of(&subject)?;
    report_all(&kernel.compile()?);
    let bound = args.kernel.arguments(&kernel)?;
    match args.board(&request)? {
        None => launch(args, (&subject, &kernel), bound, &request),
        Some(board) => device::run(&kernel, bound, board, &request.run, args),
    }
}

fn launch(
    args: &RunArgs,
    (subject, kernel): (&Subject, &Kernel),
    bound: Vec<Tensor<'static>>,
    request: &RunRequest,
) -> Result<Exit, Error> {
    let (tensors, files) = divide(bound);
    let options = &request.run;
    if options.time_only && files.iter().any(Option::is_some) {
        return Err(Error::Arguments("`--time-only` computes nothing that could be written to a file".into()));
    }
    let expected = expectations(&args.expect)?;
    let params = if expected.is_empty() { Vec::new() } else { kernel.parameters()? };
    // Check the names first: a wrong one should not cost a run.
    for one in &expected {
        one.place(&held(&params, |_| None))?;
    }
    let progress = std::io::stderr().is_terminal().then(|| Progress::start(&options.control));
    let run = kernel.run_with(tensors, options)?;
    drop(progress);
    which_launch(run.launch(), options.launches, run.has_findings());
    let mut facts = if args.json { run.facts() } else { run.facts_changed() };
    let mut messages = run.findings().clone();
    let mut unsupported = false;
    if request.verify {
        let comparison = run.compare();
        // A requested check that could not be done is not clean.
        unsupported = run.is_complete() && matches!(comparison.outcome, VerifyOutcome::NotChecked(_));
        facts.checks.push(comparison.facts);
        messages = messages.and(comparison.messages);
    }
    let buffers = held(&params, |at| run.left(at).filter(|_| run.is_complete()));
    messages = messages.and(against(&expected, &buffers, &mut facts.checks)?);
    facts.findings = run.said().and(messages.messages().to_vec()).facts();
    report_all(&messages);
    let after: Vec<_> = (0..run.arguments()).map(|index| run.left(index)).collect();
    let written = write_outputs(&files, &after, run.is_complete());
    let trace = run.trace();
    let written = written.and_then(|()| write_trace(args.trace.as_deref(), trace.as_ref()));
    facts.error = written.as_ref().err().cloned();
    if !args.lines {
        (facts.lines, facts.path) = (None, None);
    }
    let advice = if args.advice { args.kernel.advised(subject.source(), &run, options)? } else { None };
    if args.json {
        json(&Advised { facts: &facts, advice });
    } else {
        out(&summary_text(&facts));
        if args.stats {
            out(&stats_text(&facts));
        }
        if let Some(trace) = trace.filter(|_| args.timeline) {
            out(&timeline_text(&trace));
        }
        if let Some(advice) = advice {
            out(&advice_text(&advice));
        }
        if let (Some(lines), Some(path)) = (&facts.lines, &facts.path) {
            out(&lines_text(lines));
            out(&path_text(path, PARTS));
        }
    }
    unsupported |= messages.is_unsupported();
    Ok(match (written, unsupported, messages.errors() > 0) {
        (Err(message), ..) => fail(message),
        (_, true, _) => Exit::BadInput,
        (_, _, true) => Exit::Findings,
        _ => Exit::Clean,
    })
}

/// A run, and advice for a faster one.
#[derive(Serialize)]
struct Advised<'a> {
    #[serde(flatten)]
    facts: &'a RunFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<Advice>,
}
