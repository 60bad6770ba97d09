//! `slipring queue`: the host-to-device command queue.

mod allow;
mod decode;
mod diff;
mod lint;
mod live;
mod prove;
mod run;
mod stats;
mod stream;
mod work;

use clap::Subcommand;

use super::exit::Exit;

/// Verbs about command streams.
#[derive(Subcommand)]
pub(super) enum QueueVerb {
    /// Print a stream as text with offsets; the text can be read back
    Decode(decode::DecodeArgs),
    /// Check a stream without running it
    Lint(lint::LintArgs),
    /// Run a stream on a simulated board whose workers acknowledge launches, or run the kernels that they are sent
    Run(run::RunArgs),
    /// Prove a stream correct for all delays, or give a schedule that shows the error
    Prove(prove::ProveArgs),
    /// Show which actor waited for what during a run
    Stats(stats::StatsArgs),
    /// Compare two streams: bytes, order, and who waits for what
    Diff(diff::DiffArgs),
}

impl QueueVerb {
    /// The input file of the verb.
    pub fn input(&self) -> Option<&str> {
        match self {
            QueueVerb::Decode(args) => Some(&args.stream.file),
            QueueVerb::Lint(_) => None,
            QueueVerb::Run(args) => args.file.as_deref(),
            QueueVerb::Prove(_) | QueueVerb::Stats(_) | QueueVerb::Diff(_) => None,
        }
    }

    /// The output files of the verb, each with the option that names it.
    pub fn outputs(&self) -> Vec<(&'static str, &str)> {
        let named = match self {
            QueueVerb::Decode(args) => vec![("-o", &args.output)],
            QueueVerb::Lint(_) | QueueVerb::Prove(_) | QueueVerb::Stats(_) | QueueVerb::Diff(_) => Vec::new(),
            QueueVerb::Run(args) => vec![("--trace", &args.trace), ("--read-back", &args.read_back)],
        };
        named.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?))).collect()
    }

    /// Whether JSON was requested.
    pub fn as_json(&self) -> bool {
        match self {
            QueueVerb::Decode(_) => false,
            QueueVerb::Lint(args) => args.json,
            QueueVerb::Run(args) => args.json,
            QueueVerb::Prove(args) => args.json,
            QueueVerb::Stats(args) => args.json,
            QueueVerb::Diff(args) => args.json,
        }
    }
}

/// Runs a verb.
pub(super) fn queue(verb: &QueueVerb) -> Exit {
    match verb {
        QueueVerb::Decode(args) => decode::decode(args),
        QueueVerb::Lint(args) => lint::lint(args),
        QueueVerb::Run(args) => run::run(args),
        QueueVerb::Prove(args) => prove::prove(args),
        QueueVerb::Stats(args) => stats::stats(args),
        QueueVerb::Diff(args) => diff::diff(args),
    }
}
