//! `slipring queue prove`: whether the behaviour of a stream depends on its delays.

use clap::Args;
use serde::Serialize;
use slipring::{QueueProof, queue_prove};
use slipring_queue::machine::{Config, Limits};

use super::super::exit::Exit;
use super::super::output::{doubtful, fail, json_line, out};
use super::allow::AllowArgs;
use super::stream::StreamArgs;
use super::work::KERNEL_CYCLES;

/// Arguments of `queue prove`.
#[derive(Args)]
pub(in crate::verbs) struct ProveArgs {
    #[command(flatten)]
    stream: StreamArgs,
    #[command(flatten)]
    allow: AllowArgs,
    /// Number of random seeds to try, besides the usual delays and each kind of delay at its latest
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    seeds: u64,
    /// Duration of each launch on a worker, in cycles
    #[arg(long, default_value_t = KERNEL_CYCLES, value_name = "CYCLES")]
    kernel_cycles: u64,
    /// Give up after this many simulation steps without a new record
    #[arg(long, default_value_t = Limits::default().steps, value_name = "STEPS")]
    max_steps: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Proof {
    file: String,
    board: String,
    verdict: &'static str,
    schedules: usize,
    /// The command that reproduces the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<String>,
    /// Codes of the errors, or of the warnings.
    codes: Vec<&'static str>,
    /// Why no verdict for all delays was reached.
    undecided: Vec<String>,
    /// Codes that occurred and are allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed: Vec<&'static str>,
}

impl ProveArgs {
    /// The options for the machine, as on a command line of `queue run`.
    fn given(&self) -> String {
        let allow = self.allow.codes.iter().map(|code| format!(" --allow {code}"));
        let cycles = (self.kernel_cycles != KERNEL_CYCLES).then(|| format!(" --kernel-cycles {}", self.kernel_cycles));
        let steps = (self.max_steps != Limits::default().steps).then(|| format!(" --max-steps {}", self.max_steps));
        allow.chain(cycles).chain(steps).collect()
    }
}

/// Proves a stream: exit code 1 if a schedule shows an error, 3 if no verdict for all delays was reached.
pub(super) fn prove(args: &ProveArgs) -> Exit {
    let stream = match args.stream.read() {
        Ok(stream) => stream,
        Err(error) => return error.report(),
    };
    let allowed = match args.allow.hazards() {
        Ok(hazards) => hazards,
        Err(message) => return fail(message),
    };
    let file = args.stream.file.clone();
    let limits = Limits { steps: args.max_steps, ..Limits::default() };
    let config = Config { limits, allowed, ..Config::new(stream.board.clone()) };
    let (proof, schedules, warnings) = match queue_prove(&stream.capture, &config, args.kernel_cycles, args.seeds) {
        Ok(proved) => proved,
        Err(message) => return fail(format!("{file}: {message}")),
    };
    let (mut codes, mut replay, mut undecided, mut accepted) = (warnings, None, Vec::new(), Vec::new());
    let (verdict, text, exit) = match proof {
        QueueProof::Clean { allowed } => {
            let warned = match codes.is_empty() {
                true => String::new(),
                false => format!("; warnings of `slipring queue run`: {}", codes.join(", ")),
            };
            let (but, other) = match allowed.is_empty() {
                true => (String::new(), ""),
                false => (format!(" except for what is allowed ({})", allowed.join(", ")), " other"),
            };
            let text = format!(
                "{file}: clean for all delays{but}: all{other} conflicting accesses are ordered by barriers, waits or completions; {schedules} schedules agree{warned}\n"
            );
            accepted = allowed;
            ("clean", text, Exit::Clean)
        }
        QueueProof::Wrong { schedule, codes: wrong } => {
            codes = wrong;
            let command = format!("slipring queue run {}{}{}", args.stream.given(), schedule.options(), args.given());
            fail(format!("{file} is wrong with {schedule}: {}", codes.join(", ")));
            let text = format!("replay: {command}\n");
            replay = Some(command);
            ("wrong", text, Exit::Findings)
        }
        QueueProof::Undecided(why) => {
            let lines: String = why.iter().map(|why| format!("not judged: {why}\n")).collect();
            undecided = why;
            let tried = if schedules == 1 { "schedule" } else { "schedules" };
            let exit = doubtful(&format!("no finding in {schedules} {tried}; not decided for all delays"));
            ("undecided", lines, exit)
        }
    };
    match args.json {
        true => {
            let (board, allowed) = (stream.board.name, accepted);
            json_line(&Proof { file, board, verdict, schedules, replay, codes, undecided, allowed })
        }
        false => out(&text),
    }
    exit
}
