//! The input stream of a verb.

use slipring_ir::{Diags, Source};
use slipring_queue::board::{self, Board};
use slipring_queue::capture::{Capture, CaptureError, from_issue_region};

use super::super::board::{board_named, read_whole};
use super::super::exit::Exit;
use super::super::input::shown;
use super::super::output::{fail, report};

/// Where a stream comes from.
#[derive(clap::Args)]
pub(in crate::verbs) struct StreamArgs {
    /// A captured stream, as text or binary; `-` for standard input
    pub file: String,
    /// The file holds the raw bytes of an issue region, without slots
    #[arg(long)]
    pub raw: bool,
    /// Board to use instead of the one the stream names: p100, p150, or a `.toml` file
    #[arg(long)]
    pub board: Option<String>,
}

/// A stream that was read.
pub(super) struct Stream {
    pub capture: Capture,
    /// Its text; empty for a binary stream.
    pub source: Source,
    pub board: Board,
}

impl StreamArgs {
    /// The file and the options, as on a command line.
    pub fn given(&self) -> String {
        let raw = if self.raw { " --raw" } else { "" };
        let board = self.board.as_ref().map_or_else(String::new, |board| format!(" --board {board}"));
        format!("{}{raw}{board}", self.file)
    }

    /// Reads the stream.
    ///
    /// # Errors
    ///
    /// Mistakes in a text as diagnostics; else why there is no stream.
    pub(in crate::verbs::queue) fn read(&self) -> Result<Stream, StreamError> {
        let given = self.board.as_deref().map(board_named).transpose()?;
        let bytes = read_whole(&self.file)?;
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
pub(super) enum StreamError {
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
    pub fn report(&self) -> Exit {
        match self {
            StreamError::Text(diags, source) => {
                report(diags, source);
                Exit::BadInput
            }
            StreamError::Other(message) => fail(message),
        }
    }
}
