//! `slipring queue stats`: the waits of a stream.

use clap::Args;
use serde::Serialize;
use slipring::{QueueSchedule, QueueStall, queue_block_findings, queue_stalls};
use slipring_queue::capture::Capture;
use slipring_queue::machine::{Config, Limits};
use slipring_queue::replay::{Replay, replay};
use slipring_queue::sanitize::AtError;

use super::super::exit::Exit;
use super::super::output::{fail, json_line, out};
use super::stream::{Stream, StreamArgs};
use super::work::WorkArgs;

/// How a stream is run to look at it.
#[derive(Args)]
pub(super) struct LookArgs {
    /// Seed for delays
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    work: WorkArgs,
    /// Give up after this many simulation steps without a new record
    #[arg(long, default_value_t = Limits::default().steps, value_name = "STEPS")]
    max_steps: u64,
}

/// A run with its statistics.
pub(super) struct Looked {
    pub stalls: Vec<QueueStall>,
    pub cycles: u64,
    pub complete: bool,
    /// The findings in one line, if there are any.
    pub found: Option<String>,
}

impl LookArgs {
    /// Runs a stream as silicon would, and records its waits.
    pub fn run(&self, capture: &Capture, stream: &Stream) -> Result<Looked, String> {
        let limits = Limits { steps: self.max_steps, ..Limits::default() };
        let config = Config { trace: true, limits, mode: AtError::Silicon, ..Config::new(stream.board.clone()) };
        let schedule = self.seed.map_or(QueueSchedule::Usual, QueueSchedule::Seed);
        let (worker, runs) = self.work.work()?.workers(&stream.board, false);
        let mut run: Replay = replay(capture, schedule.of(&config), worker, |_, _| {})?;
        let mut codes: Vec<&str> = run.findings.iter().map(|finding| finding.hazard.def().code).collect();
        let blocks = queue_block_findings(&runs.borrow());
        codes.extend(blocks.iter().map(|message| message.code));
        codes.dedup();
        let found = (!codes.is_empty()).then(|| codes.join(", "));
        let machine = run.queue.device();
        Ok(Looked {
            stalls: queue_stalls(&machine.spans()),
            cycles: machine.now_cycles(),
            complete: run.complete,
            found,
        })
    }
}

/// Arguments of `queue stats`.
#[derive(Args)]
pub(in crate::verbs) struct StatsArgs {
    #[command(flatten)]
    stream: StreamArgs,
    #[command(flatten)]
    look: LookArgs,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Stalls {
    file: String,
    board: String,
    complete: bool,
    cycles: u64,
    stalls: Vec<QueueStall>,
    /// Hazards that were found during the run.
    found: Option<String>,
}

/// Runs a stream and shows its waits: exit code 1 if not everything ran.
pub(super) fn stats(args: &StatsArgs) -> Exit {
    let stream = match args.stream.read() {
        Ok(stream) => stream,
        Err(error) => return error.report(),
    };
    let file = args.stream.file.clone();
    let looked = match args.look.run(&stream.capture, &stream) {
        Ok(looked) => looked,
        Err(message) => return fail(format!("{file}: {message}")),
    };
    let Looked { stalls, cycles, complete, found } = looked;
    if !complete {
        fail(format!("{file} did not complete: run `slipring queue run` for the reason"));
    }
    let exit = if complete { Exit::Clean } else { Exit::Findings };
    if args.json {
        json_line(&Stalls { file, board: stream.board.name, complete, cycles, stalls, found });
        return exit;
    }
    let end = if complete { "" } else { "; it did not complete" };
    out(&format!("{file} on a {}: {cycles} cycles{end}\n", stream.board.name));
    out(&format!(
        "{:<12} {:<42} {:>8} {:>12} {:>7} {:>12}  in command\n",
        "who", "waits for", "times", "cycles", "of all", "longest"
    ));
    for row in &stalls {
        let share = 100.0 * row.cycles as f64 / cycles.max(1) as f64;
        let cause = row.cause.trim_start_matches("waits for ");
        out(&format!(
            "{:<12} {:<42} {:>8} {:>12} {:>6.1}% {:>12}  {}\n",
            row.actor, cause, row.times, row.cycles, share, row.longest, row.command
        ));
    }
    if let Some(found) = found {
        out(&format!("also found: {found}; `slipring queue run` shows where\n"));
    }
    exit
}
