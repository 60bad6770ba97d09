//! `slipring run`: run a kernel.

use std::io::IsTerminal;

use clap::Args;
use serde::Serialize;
use slipring::args::{Arg, OutFile};
use slipring::report::{
    CheckFacts, RunFacts, Trace, TraceForm, chart, lines_text, path_text, stats_text, summary_text,
};
use slipring::{
    Advice, BoardOptions, Delay, Diagnostic, Error, Expected, Held, Kernel, MOST_BLOCKS, MOST_DEVICES, MOST_LAUNCHES,
    MOST_SLACK, Parameter, Run, RunOptions, Source, Subject, Tensor, Timing, VerifyOutcome, advice_text, files, tools,
};

use slipring_queue::capture::Capture;

use super::kernel::KernelArgs;
use super::output::{RefusedFacts, fail, json, note, out, report_all, write_file};
use super::progress::Progress;
use super::queue::board_named;
use super::{Exit, device, program};

/// Cells of a drawn timeline, and rows of a core.
const CHART: usize = 80;
const ROWS: usize = 8;

/// Parts of the critical path that are shown.
const PARTS: usize = 12;

// Arguments of `run`.
#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) kernel: KernelArgs,
    /// Number of clusters for the tasks of a program. Defaults to all of the platform
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_BLOCKS)))]
    pub(super) clusters: Option<u32>,
    /// Number of devices for a multi-device program (`pld.world_size()`). Defaults to 2
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DEVICES)))]
    pub(super) devices: Option<u32>,
    /// Seed that decides which of several ready tasks starts; 0 takes the one submitted first
    #[arg(long, value_name = "N")]
    pub(super) order: Option<u64>,
    /// Zeroed bytes after each buffer in global memory, as a device allocator leaves them; accessing them is not a
    /// finding
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MOST_SLACK))]
    pub(super) gm_slack: u64,
    /// Durations of operations: `platform`, `random:SEED` (each step and signal takes from 1 to 131072 cycles),
    /// `slow:AIV0` or `slow:AIC.FIX` (that core or pipe is slow, everything else fast). A kernel that is clean for all
    /// schedules gives the same bytes
    #[arg(long, value_name = "T", default_value = "platform")]
    pub(super) timing: Timing,
    /// Delayed operations, one per line: `delay AIV0.MTE3 work 4 by 1200`, as written by `slipring prove`
    #[arg(long, value_name = "FILE", conflicts_with = "device")]
    pub(super) schedule: Option<String>,
    /// Launch this many times, each time with the given arguments, on the device as the previous launch left it (local
    /// memories, and signals if the platform keeps them). Reports the last launch, or the first one with a finding
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_LAUNCHES)))]
    pub(super) launches: u32,
    /// Only count cycles: compute nothing, and do not look for races or uninitialised bytes. For launches too large to
    /// run
    #[arg(long, conflicts_with_all = ["verify", "check", "device"])]
    pub(super) time_only: bool,
    /// Also run the source sequentially, op by op, and compare every buffer
    #[arg(long)]
    pub(super) verify: bool,
    /// Expected contents of a buffer after the run, once per buffer: `out=@golden.npy,rtol=1e-3,atol=1e-5`, or
    /// `out=zeros:f32[64x64]`. Without tolerances values must be equal. Reports how many differ, where, and by how much
    #[arg(long, value_name = "E", conflicts_with = "time_only")]
    pub(super) expect: Vec<String>,
    /// Checks to run: all, none, or a list of memory, sync, init, race
    #[arg(long, value_name = "TOOLS", default_value = "all")]
    pub(super) check: String,
    /// Precondition on the scalar arguments, such as `n % 8 == 0, valid_row <= 32`. A launch that violates it is a
    /// finding. May be repeated; assumptions of the kernel itself are added
    #[arg(long, value_name = "CONDITIONS", conflicts_with = "device")]
    assume: Vec<String>,
    /// Treat uninitialised bytes in the results as errors, not warnings
    #[arg(long)]
    pub(super) strict: bool,
    /// Launch through the command queue of a board (p100, p150, or a board file `my.toml`), one block per worker
    #[arg(long, value_name = "BOARD", conflicts_with_all = ["verify", "check", "strict", "stats", "timing", "launches"])]
    pub(super) device: Option<String>,
    /// Seed for the delays of the board, to reach other interleavings
    #[arg(long, value_name = "N", requires = "device")]
    pub(super) delays: Option<u64>,
    /// Write what the host queues to this file, as a stream for `slipring queue`. `queue run --kernels` runs it again
    #[arg(long, value_name = "FILE", requires = "device", value_parser = a_file)]
    pub(super) record: Option<String>,
    /// Write a timeline of all pipes and scalar units, in Perfetto's binary format if the name ends in `.pftrace`, else
    /// in Chrome's JSON
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<String>,
    /// Also print the timeline as text
    #[arg(long, conflicts_with = "device")]
    pub(super) timeline: bool,
    /// Also print cycles, stalls and bytes by source line, and the critical path
    #[arg(long, conflicts_with = "device")]
    pub(super) lines: bool,
    /// Also print what would make it faster: forecasts (from further runs), and edits of the source that were tried
    #[arg(long, conflicts_with = "device")]
    pub(super) advice: bool,
    /// Also print tables by op and by ring, and when each push, pop and free used which tag
    #[arg(long)]
    pub(super) stats: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Also write all diagnostics to this file, as a SARIF log
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<String>,
}

/// The name of a file for what standard output has no room for.
pub(super) fn a_file(name: &str) -> Result<String, String> {
    match name {
        "-" => Err("this is not written to standard output; name a file".into()),
        name => Ok(name.to_string()),
    }
}

/// Writes the stream that a board was sent.
pub(super) fn write_stream(file: Option<&str>, stream: Option<&Capture>) -> Result<(), String> {
    match (file, stream) {
        (Some(file), Some(stream)) => write_file(file, &[&stream.to_bytes()]),
        _ => Ok(()),
    }
}

/// Runs a kernel and reports.
pub(super) fn run(args: &RunArgs) -> Exit {
    match start(args) {
        Ok(exit) => exit,
        Err(error) => refused(&error, args.json),
    }
}

/// Says why nothing was run, also as an object.
pub(super) fn refused(error: &Error, as_json: bool) -> Exit {
    let (message, findings) = match error.report() {
        Some(messages) => {
            report_all(messages);
            (None, messages.facts())
        }
        None => {
            fail(error);
            (Some(error.to_string()), Vec::new())
        }
    };
    if as_json {
        json(&RefusedFacts { complete: false, error: message, findings });
    }
    Exit::BadInput
}

fn start(args: &RunArgs) -> Result<Exit, Error> {
    one_output(args.json, args.trace.as_deref()).map_err(Error::Arguments)?;
    let subject = args.kernel.subject()?;
    if let Some(program) = args.kernel.program_of(&subject)? {
        if !args.assume.is_empty() {
            return Err(Error::Arguments(slipring::assumed_of_program("--assume")));
        }
        return program::run(args, &program);
    }
    if args.clusters.is_some() || args.order.is_some() || args.devices.is_some() {
        let message =
            "`--clusters`, `--devices` and `--order` are for whole programs, and this is a kernel: it takes `--blocks`";
        return Err(Error::Arguments(message.into()));
    }
    if args.device.is_some() && !args.expect.is_empty() {
        return Err(Error::Arguments(
            "`--expect` is not for a kernel with `--device`: a whole program takes it".into(),
        ));
    }
    let kernel = args.kernel.kernel_of(&subject)?;
    report_all(&kernel.compile()?);
    let bound = args.kernel.arguments(&kernel)?;
    let mut options = args.kernel.options();
    options.gm_slack = args.gm_slack;
    options.timing = args.timing;
    options.delays = args.schedule.as_deref().map_or(Ok(Vec::new()), read_schedule)?;
    options.launches = args.launches;
    options.strict = args.strict;
    options.assume.clone_from(&args.assume);
    options.time_only = args.time_only;
    options.trace = args.stats || args.json;
    options.record = args.trace.is_some() || args.timeline || args.lines || args.advice;
    match &args.device {
        None => {
            options.tools = tools(&args.check).map_err(Error::Arguments)?;
            launch(args, (&subject, &kernel), bound, &options)
        }
        Some(board) => {
            let board = board_named(board).map_err(Error::Arguments)?;
            device::run(
                &kernel,
                bound,
                BoardOptions { board, delays: args.delays, record: args.record.is_some() },
                &options,
                args,
            )
        }
    }
}

/// Reads the works that take longer.
pub(super) fn read_schedule(path: &str) -> Result<Vec<Delay>, Error> {
    let text = super::read_text(path).map_err(Error::File)?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    lines.map(|line| line.parse().map_err(|error| Error::Arguments(format!("{path}: {error}")))).collect()
}

/// What is passed, and where it is written afterwards.
pub(super) fn divide(mut bound: Vec<Arg>) -> (Vec<Tensor<'static>>, Vec<Option<OutFile>>) {
    let files = bound.iter_mut().map(|arg| arg.out.take()).collect();
    (bound.into_iter().map(Tensor::from).collect(), files)
}

/// Refuses arguments that ask to be written back, for verbs that write none.
pub(super) fn written_by_run_only(files: &[Option<OutFile>]) -> Result<(), Error> {
    match files.iter().flatten().next() {
        Some(_) => Err(Error::Arguments("`:out` is only available in `slipring run`".into())),
        None => Ok(()),
    }
}

fn launch(
    args: &RunArgs,
    (subject, kernel): (&Subject, &Kernel),
    bound: Vec<Arg>,
    options: &RunOptions,
) -> Result<Exit, Error> {
    let (tensors, files) = divide(bound);
    if args.time_only && files.iter().any(Option::is_some) {
        return Err(Error::Arguments("`--time-only` computes nothing that could be written to a file".into()));
    }
    let expected = expectations(&args.expect)?;
    let params = if expected.is_empty() { Vec::new() } else { kernel.parameters()? };
    // A name that is wrong costs no run.
    for one in &expected {
        one.place(&held(&params, |_| None))?;
    }
    let progress = std::io::stderr().is_terminal().then(|| Progress::start(&options.control));
    let run = kernel.run_with(tensors, options)?;
    drop(progress);
    let found = !run.is_complete() || !run.findings().messages().is_empty();
    if found && args.launches > 1 {
        note(format!("this is launch {} of {}", run.launch(), args.launches));
    }
    let mut facts = if args.json { run.facts() } else { run.facts_changed() };
    let mut messages = run.findings().clone();
    let mut unsupported = false;
    if args.verify {
        let comparison = run.compare();
        // What was asked for and could not be done is not clean.
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
    let advice = if args.advice { advised(&args.kernel, subject.source(), &run, options)? } else { None };
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

/// A run, and what would make it faster.
#[derive(Serialize)]
struct Advised<'a> {
    #[serde(flatten)]
    facts: &'a RunFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<Advice>,
}

/// What would make a run faster, with edits of its source; `None` where that was not recorded, or the run did not complete.
pub(super) fn advised(
    args: &KernelArgs,
    source: &Source,
    run: &Run<'_>,
    options: &RunOptions,
) -> Result<Option<Advice>, Error> {
    let Some(mut advice) = run.advice()? else { return Ok(None) };
    let tune = args.tuned(source, options)?;
    tune.advise(&mut advice, run.record().map_or(0, |record| record.happenings.len()))?;
    Ok(Some(advice))
}

/// What buffers should hold.
///
/// # Errors
/// If one cannot be read.
pub(super) fn expectations(texts: &[String]) -> Result<Vec<Expected>, Error> {
    texts.iter().map(|text| Expected::read(text)).collect()
}

/// The buffers among parameters, with what a run left in each position's.
fn held<'a>(params: &'a [Parameter], left: impl Fn(usize) -> Option<&'a [u8]>) -> Vec<Held<'a>> {
    let buffers = params.iter().enumerate().filter(|(_, param)| param.is_buffer);
    buffers
        .filter_map(|(at, param)| {
            Some(Held { name: &param.name, elem: param.elem?, shape: param.shape.as_deref(), left: left(at) })
        })
        .collect()
}

/// Holds buffers against what they should hold: a row of the checks for each, and errors.
///
/// # Errors
/// If there is no such buffer.
pub(super) fn against(
    expected: &[Expected],
    buffers: &[Held<'_>],
    checks: &mut Vec<CheckFacts>,
) -> Result<Vec<Diagnostic>, Error> {
    let mut errors = Vec::new();
    for one in expected {
        let (row, error) = one.compare(&buffers[one.place(buffers)?]);
        checks.push(row);
        errors.extend(error);
    }
    Ok(errors)
}

/// A timeline as text.
pub(super) fn timeline_text(trace: &Trace) -> String {
    format!("\ntimeline (# busy throughout, . some of the time)\n{}", chart(trace, CHART, ROWS))
}

/// Writes a timeline where one is wanted.
pub(super) fn write_trace(file: Option<&str>, trace: Option<&Trace>) -> Result<(), String> {
    match (file, trace) {
        (Some(file), Some(trace)) => write_file(file, &[&TraceForm::of(file).write(trace)]),
        _ => Ok(()),
    }
}

/// Both of them cannot have standard output.
///
/// # Errors
/// If both want it.
pub(super) fn one_output(as_json: bool, file: Option<&str>) -> Result<(), String> {
    match as_json && file == Some("-") {
        true => Err("--json and --trace both write to standard output; name a file for the trace".into()),
        false => Ok(()),
    }
}

/// Writes the buffers that are wanted back. A run that stopped writes nothing.
pub(super) fn write_outputs(files: &[Option<OutFile>], after: &[Option<&[u8]>], complete: bool) -> Result<(), String> {
    for (file, data) in files.iter().zip(after) {
        let (Some(file), Some(data)) = (file, data) else { continue };
        if !complete {
            note(format!("`{}` is left unchanged: the run did not complete", files::shown(&file.path)));
            continue;
        }
        let header = file.npy.as_ref().map_or(&[][..], |npy| npy.header.as_slice());
        files::write(&file.path, &[header, data])
            .map_err(|error| format!("cannot write `{}`: {error}", files::shown(&file.path)))?;
    }
    Ok(())
}
