//! `slipring queue`: the host-to-device command queue.

mod decode;
mod diff;
mod lint;
mod live;
mod prove;
mod run;
mod stats;
mod work;

use clap::Subcommand;
use serde::Serialize;
use slipring::queue_board;
use slipring_ir::{Diags, Source};
use slipring_queue::board::{self, Board};
use slipring_queue::capture::{Capture, CaptureError, from_issue_region};
use slipring_queue::sanitize::Hazard;

use super::output::{fail, report};
use super::{Exit, read_at_most, shown};

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
    /// The file that the verb is asked to read.
    pub fn input(&self) -> Option<&str> {
        match self {
            QueueVerb::Decode(args) => Some(&args.stream.file),
            QueueVerb::Lint(_) => None,
            QueueVerb::Run(args) => args.file.as_deref(),
            QueueVerb::Prove(_) | QueueVerb::Stats(_) | QueueVerb::Diff(_) => None,
        }
    }

    /// The files that the verb is asked to write, each with the option that says so.
    pub fn outputs(&self) -> Vec<(&'static str, &str)> {
        let named = match self {
            QueueVerb::Decode(args) => vec![("-o", &args.output)],
            QueueVerb::Lint(_) | QueueVerb::Prove(_) | QueueVerb::Stats(_) | QueueVerb::Diff(_) => Vec::new(),
            QueueVerb::Run(args) => vec![("--trace", &args.trace), ("--read-back", &args.read_back)],
        };
        named.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?))).collect()
    }

    /// True if the verb was asked for its facts as JSON.
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

/// Where a stream comes from.
#[derive(clap::Args)]
pub(in crate::verbs) struct StreamArgs {
    /// A captured stream, as text or binary; `-` for standard input
    file: String,
    /// The file holds the raw bytes of an issue region, without slots
    #[arg(long)]
    raw: bool,
    /// Board to use instead of the one the stream names: p100, p150, or a `.toml` file
    #[arg(long)]
    board: Option<String>,
}

/// Which hazards are accepted.
#[derive(clap::Args)]
struct AllowArgs {
    /// Accept a hazard, by its code, such as go-before-payload. It is still counted and hides nothing else. May be
    /// repeated
    #[arg(long = "allow", value_name = "CODE")]
    codes: Vec<String>,
}

/// A hazard that was accepted, and how often it was met.
#[derive(Serialize)]
struct Allowed {
    code: &'static str,
    times: u64,
}

impl AllowArgs {
    /// The hazards.
    ///
    /// # Errors
    /// If a code is none.
    fn hazards(&self) -> Result<Vec<Hazard>, String> {
        let named = |code: &String| {
            Hazard::named(code).ok_or_else(|| {
                let codes: Vec<&str> = Hazard::ALL.iter().map(|hazard| hazard.def().code).collect();
                format!("there is no hazard `{code}`; there are: {}", codes.join(", "))
            })
        };
        self.codes.iter().map(named).collect()
    }
}

/// A line for the hazards that were accepted, if any were met.
fn allowed_line(allowed: &[Allowed]) -> String {
    let times = |allowed: &Allowed| format!("{} ({} times)", allowed.code, allowed.times);
    match allowed.is_empty() {
        true => String::new(),
        false => format!("allowed: {}\n", allowed.iter().map(times).collect::<Vec<_>>().join(", ")),
    }
}

/// Accepted hazards and how often they were met, as facts.
fn allowed_facts(met: Vec<(Hazard, u64)>) -> Vec<Allowed> {
    met.into_iter().map(|(hazard, times)| Allowed { code: hazard.def().code, times }).collect()
}

/// A stream that was read.
struct Stream {
    capture: Capture,
    /// Its text; empty for a binary stream.
    source: Source,
    board: Board,
}

impl StreamArgs {
    /// Reads the stream.
    ///
    /// # Errors
    /// Mistakes of a text as messages with places; else why there is no stream.
    fn read(&self) -> Result<Stream, StreamError> {
        let given = self.board.as_deref().map(board_named).transpose()?;
        let bytes = read_bytes(&self.file)?;
        let (file, shown) = (self.file.as_str(), shown(&self.file));
        let name = shown.as_str();
        let capture = if self.raw {
            from_issue_region(&bytes).map(|entries| Capture { entries, ..Capture::default() })
        } else {
            Capture::read_for(&bytes, given.as_ref())
        };
        let is_text =
            !self.raw && capture.as_ref().map_or_else(|e| matches!(e, CaptureError::Text(_)), |c| c.is_from_text());
        let text = if is_text { String::from_utf8(bytes).unwrap_or_default() } else { String::new() };
        let source = Source::new(file, text);
        let mut capture = match capture {
            Ok(capture) => capture,
            Err(CaptureError::Text(errors)) => {
                let list = errors.iter().map(slipring::queue_text_error).collect();
                return Err(StreamError::Text(Diags { list }, Box::new(source)));
            }
            Err(error) => return Err(format!("{name}: {error}").into()),
        };
        if capture.board.is_empty() {
            capture.board = "p100".into();
        }
        let board = match given {
            Some(board) => board,
            None => board::built_in(&capture.board).map_err(|error| format!("{name}: {error}"))?,
        };
        capture.board.clone_from(&board.name);
        Ok(Stream { capture, source, board })
    }
}

/// Why there is no stream.
enum StreamError {
    /// A text with mistakes.
    Text(Diags, Box<Source>),
    /// Anything else.
    Other(String),
}

impl From<String> for StreamError {
    fn from(message: String) -> StreamError {
        StreamError::Other(message)
    }
}

impl StreamError {
    /// Reports it.
    fn report(&self) -> Exit {
        match self {
            StreamError::Text(diags, source) => {
                report(diags, source);
                Exit::BadInput
            }
            StreamError::Other(message) => fail(message),
        }
    }
}

/// The board that an option names.
pub(super) fn board_named(name: &str) -> Result<Board, String> {
    queue_board(name, read_bytes)
}

fn read_bytes(path: &str) -> Result<Vec<u8>, String> {
    let bytes = read_at_most(path, slipring::files::MOST_STREAM)?;
    if bytes.is_empty() {
        return Err(format!("`{}` is empty", shown(path)));
    }
    Ok(bytes)
}
