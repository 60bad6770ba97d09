//! `slipring run`: run a kernel.

use std::io::IsTerminal;
use std::sync::Arc;

use clap::Args;
use slipring::args::{Arg, Value};
use slipring::{
    ExecuteOptions, Execution, Order, Prepared, VerifyOutcome, execute_again, execute_timed, message_facts, prepare,
    slot_buffers, to_diagnostics, verify,
};
use slipring_check::{CheckReport, Checker, Tools};
use slipring_ir::{Diags, Severity, Source};
use slipring_machine::Platform;
use slipring_queue::board;
use slipring_report::{RingTrace, RunFacts, stats_text, summary_text};
use slipring_sim::{Mode, Timing};

use super::kernel::KernelArgs;
use super::output::{RefusedFacts, fail, json, note, out, report, report_one};
use super::progress::Progress;
use super::{Exit, Opened, device, judge, open_kernel};

/// The most room behind a buffer, in bytes.
const MOST_SLACK: u64 = 1 << 30;

/// The most launches one after another.
const MOST_LAUNCHES: i64 = 1000;

/// Arguments of `run`.
#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    kernel: KernelArgs,
    /// Zeroed bytes behind every buffer in global memory, as a device allocator leaves them: touching them is no finding
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MOST_SLACK))]
    gm_slack: u64,
    /// How long things take: `platform`, `random:SEED` (each step and signal anything from 1 to 131072 cycles), `slow:AIV0` or
    /// `slow:AIC.FIX` (that core, that pipe slow, all else fast). What is clean over all schedules gives the same bytes
    #[arg(long, value_name = "T", default_value = "platform")]
    timing: Timing,
    /// Launch so many times, each time with the arguments as given, on a device as the launch before left it: signals where the
    /// platform keeps them, and local memories. The report is the last launch's, or the first one's with a finding
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_LAUNCHES))]
    launches: u32,
    /// Also run the sequential meaning of the source and compare every buffer
    #[arg(long)]
    verify: bool,
    /// Which tools watch the run: all, none, or a list of memory, sync, init, race
    #[arg(long, value_name = "TOOLS", default_value = "all")]
    check: String,
    /// Bytes in the results that nobody has written are an error, not a warning
    #[arg(long)]
    strict: bool,
    /// Send the program through the command queue of a board, p100 or p150, with a block on each worker
    #[arg(long, value_name = "BOARD", conflicts_with_all = ["verify", "check", "strict", "stats", "timing", "launches"])]
    device: Option<String>,
    /// Choose the delays of the board by this number, to reach other interleavings
    #[arg(long, value_name = "N", requires = "device")]
    delays: Option<u64>,
    /// Also tables by op and by ring, and which tag each push, pop and free used when
    #[arg(long)]
    stats: bool,
    /// The same facts as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Why nothing was run.
enum Refused {
    /// Something that has no place in the text.
    Message(String),
    /// What is wrong with the text has been said in messages about it.
    Text(Diags, Arc<Source>),
}

/// Runs a kernel and reports.
pub(super) fn run(args: &RunArgs) -> Exit {
    let refused = match start(args) {
        Ok(exit) => return exit,
        Err(refused) => refused,
    };
    let (error, findings) = match refused {
        Refused::Message(message) => {
            fail(&message);
            (Some(message), Vec::new())
        }
        Refused::Text(diags, source) => {
            report(&diags, &source);
            (None, diags.list.iter().map(|d| message_facts(d, &source)).collect())
        }
    };
    if args.json {
        json(&RefusedFacts { complete: false, error, findings });
    }
    Exit::BadInput
}

fn start(args: &RunArgs) -> Result<Exit, Refused> {
    let Opened { module, platform, mut diags, kernels } =
        open_kernel(&args.kernel.file, &args.kernel.platform, args.kernel.func.as_deref()).map_err(Refused::Message)?;
    let source = module.source.clone();
    let prepared =
        if diags.has_errors() { None } else { prepare(module, args.kernel.func.as_deref(), &platform, &mut diags) };
    let Some(prepared) = prepared else { return Err(Refused::Text(diags, source)) };
    report(&diags, &source);
    let bound = args.kernel.arguments(&prepared, &source, &kernels).map_err(Refused::Message)?;
    let blocks = args.kernel.blocks(&source, &kernels).map_err(Refused::Message)?;
    match &args.device {
        None => launch(args, &prepared, &platform, &source, bound, blocks),
        Some(board) => {
            let board = board::built_in(board).map_err(|error| Refused::Message(error.to_string()))?;
            let order = Order { board, blocks, delays: args.delays, gm_slack: args.gm_slack };
            device::run(args.kernel.func.as_deref(), &prepared, &platform, bound, order, args.json)
        }
    }
    .map_err(Refused::Message)
}

/// What is passed, taken out of the arguments: buffers may be large.
pub(super) fn take_values(bound: &mut [Arg]) -> Vec<Value> {
    bound.iter_mut().map(|arg| std::mem::replace(&mut arg.value, Value::Scalar(0))).collect()
}

fn launch(
    args: &RunArgs,
    prepared: &Prepared,
    platform: &Platform,
    source: &Source,
    mut bound: Vec<Arg>,
    blocks: u32,
) -> Result<Exit, String> {
    let values = take_values(&mut bound);
    let tools = judge::tools(&args.check, slot_buffers(prepared, &values))?;
    let options = ExecuteOptions {
        blocks,
        mode: Mode::Pipes,
        gm_slack: args.gm_slack as usize,
        limits: args.kernel.limits.of_run(),
    };
    let (execution, trace, judged) = launches(args, prepared, platform, &values, options, &tools);

    let result = &execution.result;
    let program = &prepared.decoded.program;
    let mut facts = RunFacts::new(program, platform, blocks, &result.stats, &trace, result.complete);
    let mut messages = to_diagnostics(&judged.findings, program);
    let line = |site: u32| {
        let span = program.sites.get(site as usize)?.span;
        (span.1 > span.0).then(|| source.line_column(span.0).0)
    };
    facts.checks = judge::check_facts(&judged, result.complete, line);
    facts.printed = result.output.lines.clone();
    let mut unsupported = false;
    if args.verify {
        let mut diags = Diags::default();
        let outcome = if result.complete {
            verify(prepared, platform, &values, options, &execution, &mut diags)
        } else {
            VerifyOutcome::NotChecked("the run did not come to its end".into())
        };
        // What was asked for and could not be done is not clean.
        unsupported = result.complete && matches!(outcome, VerifyOutcome::NotChecked(_));
        messages.extend(diags.list);
        facts.checks.push(judge::verify_facts(&outcome, &bound, &mut messages));
    }
    let after: Vec<_> = (0..values.len()).map(|index| execution.buffer(&values, index)).collect();
    facts.buffers = judge::buffers(program, &values, &bound, &after, result.memory.shadow.as_deref());
    facts.findings = messages.iter().map(|m| message_facts(m, source)).collect();
    messages.iter().for_each(|m| report_one(m, source));
    let written = write_outputs(&bound, &after, result.complete);
    facts.error = written.as_ref().err().cloned();
    if args.json {
        json(&facts);
    } else {
        out(&summary_text(&facts));
        if args.stats {
            out(&stats_text(&facts));
        }
    }
    let found = messages.iter().any(|m| m.severity == Severity::Error);
    unsupported |= messages.iter().any(|m| matches!(m.code, "unsupported" | "memory-limit"));
    Ok(match (written, unsupported, found) {
        (Err(message), ..) => fail(message),
        (_, true, _) => Exit::BadInput,
        (_, _, true) => Exit::Findings,
        _ => Exit::Clean,
    })
}

/// Launches as often as it is asked for, or up to the first finding: the last launch and what is said of it.
fn launches(
    args: &RunArgs,
    prepared: &Prepared,
    platform: &Platform,
    values: &[Value],
    options: ExecuteOptions,
    tools: &Tools,
) -> (Execution, RingTrace, CheckReport) {
    let mut earlier: Option<Execution> = None;
    let mut number = 1;
    loop {
        let trace = (args.stats || args.json).then(RingTrace::default);
        let checker = Checker::new(tools.clone());
        let progress = std::io::stderr().is_terminal().then(|| Progress::start(options.blocks));
        let mut watching = (trace, checker, progress);
        let execution = match &earlier {
            None => execute_timed(&prepared.decoded, platform, values, options, args.timing, &mut watching),
            Some(before) => {
                let state = (args.timing, &before.result);
                execute_again(&prepared.decoded, platform, values, options, state, &mut watching)
            }
        };
        let (trace, checker, progress) = watching;
        drop(progress);
        let mut judged = checker.report(&execution.result);
        if args.strict {
            judged.make_strict();
        }
        let found = !execution.result.complete || !judged.findings.is_empty();
        if found && args.launches > 1 {
            note(format!("this is launch {number} of {}", args.launches));
        }
        if found || number == args.launches {
            return (execution, trace.unwrap_or_default(), judged);
        }
        earlier = Some(execution);
        number += 1;
    }
}

/// Writes the buffers that are wanted back. A run that stopped writes nothing.
pub(super) fn write_outputs(bound: &[Arg], after: &[Option<&[u8]>], complete: bool) -> Result<(), String> {
    for (arg, data) in bound.iter().zip(after) {
        let (Some(file), Some(data)) = (&arg.out, data) else { continue };
        if !complete {
            note(format!("`{}` is left as it was: the run did not come to its end", file.path.display()));
            continue;
        }
        let header = file.npy.as_ref().map_or(&[][..], |npy| npy.header.as_slice());
        slipring::files::write(&file.path, &[header, data])
            .map_err(|error| format!("cannot write `{}`: {error}", file.path.display()))?;
    }
    Ok(())
}
