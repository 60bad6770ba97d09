//! `slipring queue run`: runs a stream on a simulated board.

use clap::Args;
use serde::Serialize;
use slipring::{
    QueueSchedule, QueueTrial, QueueWork, message_facts, queue_block_findings, queue_demo, queue_dumps, queue_findings,
    queue_trace, queue_trial,
};
use slipring_ir::{Diags, Source};
use slipring_queue::host::Completion;
use slipring_queue::machine::{Actor, Config, Delays, Limits};
use slipring_queue::replay::{Replay, replay};
use slipring_queue::sanitize::AtError;
use slipring_report::{MessageFacts, chart};

use super::super::board::board_named;
use super::super::exit::Exit;
use super::super::output::{errors, fail, json_line, out, report, told, write_file};
use super::super::written::{a_file, one_output, write_trace};
use super::allow::{AllowArgs, Allowed, allowed_facts, allowed_line};
use super::live::Live;
use super::stream::{Stream, StreamArgs, StreamError};
use super::work::WorkArgs;
use slipring::queue_finding as of_finding;

/// Arguments of `queue run`.
#[derive(Args)]
pub(in crate::verbs) struct RunArgs {
    /// A captured stream, as text or binary; `-` for standard input
    #[arg(required_unless_present = "demo", conflicts_with = "demo")]
    pub file: Option<String>,
    /// Launch a small program on a whole board, this many times
    #[arg(long, value_name = "LAUNCHES", num_args = 0..=1, default_missing_value = "8", conflicts_with = "kernels", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    demo: Option<u32>,
    /// The file holds the raw bytes of an issue region, without slots
    #[arg(long)]
    raw: bool,
    /// Board to use instead of the one the stream names: p100, p150, or a `.toml` file
    #[arg(long)]
    board: Option<String>,
    /// Seed for delays, to reach other interleavings; equal seeds give equal runs
    #[arg(long)]
    seed: Option<u64>,
    /// Make every delay of one kind as long as possible
    #[arg(long, value_name = "KIND", conflicts_with_all = ["seed", "seeds"], value_parser = Delays::KINDS)]
    late: Option<String>,
    /// Also run it with this many more seeds, from 1 on, and report whether they agree
    #[arg(long, value_name = "N", conflicts_with = "trace", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// Continue after errors as the silicon would, as far as that is known
    #[arg(long)]
    silicon: bool,
    #[command(flatten)]
    allow: AllowArgs,
    /// Give up after this many simulation steps without a new record
    #[arg(long, default_value_t = Limits::default().steps, value_name = "STEPS")]
    max_steps: u64,
    #[command(flatten)]
    work: WorkArgs,
    /// Write the bytes that come back to the host to this file, one record after the other, events left out
    #[arg(long, value_name = "FILE", value_parser = a_file)]
    pub read_back: Option<String>,
    /// Write a timeline of all actors, in Perfetto's binary format if the name ends in `.pftrace`, else in Chrome's
    /// JSON, and print it as a chart
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize, Default)]
struct Facts {
    file: String,
    board: String,
    complete: bool,
    records: usize,
    prefetch_commands: u64,
    dispatch_commands: u64,
    launches: u64,
    /// Whether workers ran the kernels that they were sent.
    kernels: bool,
    events: Vec<u32>,
    /// Records that are not events: their number, and their total size in bytes.
    read_backs: usize,
    read_back_bytes: usize,
    cycles: u64,
    allowed: Vec<Allowed>,
    findings: Vec<MessageFacts>,
    /// Differences under other seeds, if these were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    seeds: Option<Seeds>,
}

/// Runs with other seeds.
#[derive(Serialize)]
struct Seeds {
    tried: u64,
    /// Seeds with other findings or another outcome.
    differ: Vec<String>,
}

/// Runs a stream: exit code 1 if an error was found or not everything ran.
pub(super) fn run(args: &RunArgs) -> Exit {
    let file = args.file.clone().unwrap_or_else(|| "demo".into());
    let allowed = match args.allow.hazards() {
        Ok(hazards) => hazards,
        Err(message) => return fail(message),
    };
    if let Err(message) = one_output(args.json, args.trace.as_deref()) {
        return fail(message);
    }
    let stream = match stream(args, &file) {
        Ok(stream) => stream,
        Err(StreamError::Text(diags, source)) if args.json => {
            let findings = diags.list.iter().map(|d| message_facts(d, &source)).collect();
            told(&diags);
            json_line(&Facts { file, findings, ..Facts::default() });
            return Exit::BadInput;
        }
        Err(error) => return error.report(),
    };
    let config = Config {
        mode: if args.silicon { AtError::Silicon } else { AtError::Strict },
        trace: args.trace.is_some(),
        limits: Limits { steps: args.max_steps, ..Limits::default() },
        allowed,
        ..Config::new(stream.board.clone())
    };
    let late = args.late.as_deref().and_then(|kind| Delays::KINDS.into_iter().find(|name| *name == kind));
    let schedule = match (late, args.seed) {
        (Some(kind), _) => QueueSchedule::Late(kind),
        (None, Some(seed)) => QueueSchedule::Seed(seed),
        (None, None) => QueueSchedule::Usual,
    };
    let config = schedule.of(&config);
    let own = config.clone();
    let work = match args.work.work() {
        Ok(work) => work,
        Err(message) => return fail(message),
    };
    let (worker, runs) = work.workers(&stream.board, args.trace.is_some());
    let mut live = Live::new(stream.capture.entries.len());
    let replayed = replay(&stream.capture, config, worker, |machine, records| live.look(machine, records));
    let counters = live.finish();
    let mut replayed = match replayed {
        Ok(replayed) => replayed,
        Err(message) => return fail(format!("{file}: {message}")),
    };
    let seeds = match seeds(args.seeds, &work, schedule, &mut replayed, &stream, &own) {
        Ok(seeds) => seeds,
        Err(message) => return fail(format!("{file}: {message}")),
    };
    let list = queue_findings(&replayed, &stream.capture, &own);
    let mut list: Vec<_> = list.iter().map(|finding| of_finding(finding, &stream.capture)).collect();
    list.extend(queue_block_findings(&runs.borrow()));
    let diags = Diags { list };
    let spans = replayed.queue.device().spans();
    let trace = args.trace.as_ref().map(|_| queue_trace(&spans, &runs.borrow(), &stream.board, counters.to_vec()));
    if let Err(message) = write_trace(args.trace.as_deref(), trace.as_ref()) {
        return fail(message);
    }
    if let Some(file) = &args.read_back {
        let records = replayed.completions.iter().filter(|record| !record.is_event);
        let bytes: Vec<&[u8]> = records.map(|record| record.bytes.as_slice()).collect();
        if let Err(message) = write_file(file, &bytes) {
            return fail(message);
        }
    }
    let differ = seeds.as_ref().is_some_and(|seeds| !seeds.differ.is_empty());
    if differ {
        fail(format!("{file}: the findings depend on the delays"));
    }
    let kernels = args.work.kernels;
    let facts = Facts { seeds, kernels, ..facts(file, &mut replayed, &diags, &stream) };
    if args.json {
        told(&diags);
        json_line(&facts);
    } else {
        report(&diags, &stream.source);
        out(&summary(&facts, &stream));
        if let Some(trace) = &trace {
            out(&chart(trace, 72, 4));
        }
        match queue_dumps(&stream.capture, &mut replayed) {
            Ok(text) => out(&text),
            Err(message) => return fail(message),
        }
    }
    if errors(&diags) > 0 || !facts.complete || differ { Exit::Findings } else { Exit::Clean }
}

/// Runs the same stream with other seeds, and compares with the run that is shown.
fn seeds(
    tried: Option<u64>,
    work: &QueueWork,
    schedule: QueueSchedule,
    replayed: &mut Replay,
    stream: &Stream,
    config: &Config,
) -> Result<Option<Seeds>, String> {
    let Some(tried) = tried else { return Ok(None) };
    let shown = QueueTrial::of(schedule, replayed, &stream.capture, config);
    let mut differ = Vec::new();
    for seed in 1..=tried {
        let trial = queue_trial(&stream.capture, config, work, QueueSchedule::Seed(seed))?;
        differ.extend(shown.differs(&trial));
    }
    Ok(Some(Seeds { tried, differ }))
}

fn stream(args: &RunArgs, file: &str) -> Result<Stream, StreamError> {
    match args.demo {
        None => StreamArgs { file: file.into(), raw: args.raw, board: args.board.clone() }.read(),
        Some(launches) => {
            let name = args.board.as_deref().unwrap_or("p150");
            let board = board_named(name)?;
            let capture = queue_demo(&board, launches).map_err(|error| error.to_string())?;
            Ok(Stream { capture, source: Source::new("demo", ""), board })
        }
    }
}

fn facts(file: String, replayed: &mut Replay, diags: &Diags, stream: &Stream) -> Facts {
    let status = replayed.queue.device().status();
    Facts {
        file,
        board: stream.board.name.clone(),
        complete: replayed.complete,
        records: replayed.records,
        prefetch_commands: status.commands[Actor::Prefetch as usize],
        dispatch_commands: status.commands[Actor::Dispatch as usize],
        launches: status.launches,
        events: replayed.completions.iter().filter_map(Completion::event).collect(),
        read_backs: replayed.completions.iter().filter(|record| !record.is_event).count(),
        read_back_bytes: replayed.completions.iter().filter(|record| !record.is_event).map(|r| r.bytes.len()).sum(),
        cycles: status.cycle,
        allowed: allowed_facts(replayed.queue.device().allowed()),
        findings: diags.list.iter().map(|d| message_facts(d, &stream.source)).collect(),
        kernels: false,
        seeds: None,
    }
}

fn summary(facts: &Facts, stream: &Stream) -> String {
    let all = stream.capture.entries.len();
    let end = if facts.complete { "everything ran" } else { "it did not complete" };
    let last = facts.events.last().map_or(String::new(), |event| format!(", the last {event}"));
    let back = match facts.read_backs {
        0 => String::new(),
        records => format!("; {} bytes read back in {records} records", facts.read_back_bytes),
    };
    let seeds = match &facts.seeds {
        None => String::new(),
        Some(seeds) if seeds.differ.is_empty() => format!("{} more seeds: the same findings in all\n", seeds.tried),
        Some(seeds) => {
            let lines: String = seeds.differ.iter().map(|line| format!("  {line}\n")).collect();
            format!("{} of {} more seeds have different findings\n{lines}", seeds.differ.len(), seeds.tried)
        }
    };
    format!(
        "{} on a {} ({}): {end}\n  {} of {all} records, {} prefetch and {} dispatch commands, {} launches of workers, {} events{last}{back}\n  \
         {} cycles ({:.1} us); workers {}\n{seeds}{}\n",
        facts.file,
        facts.board,
        stream.board.description,
        facts.records,
        facts.prefetch_commands,
        facts.dispatch_commands,
        facts.launches,
        facts.events.len(),
        facts.cycles,
        facts.cycles as f64 / f64::from(stream.board.clock_mhz),
        if facts.kernels { "ran the kernels that they were sent" } else { "acknowledge launches and run no kernels" },
        allowed_line(&facts.allowed),
    )
}
