//! Reading the text form: a line a statement, all mistakes of a file in one go.

mod record;
mod steps;
mod values;

use std::ops::Range;

use thiserror::Error;

use super::{Capture, Dump, Entry};
use crate::board::{self, Board};
use crate::host::Lowering;
use crate::layout::Layout;
use record::Record;
use values::{Line, Token, integer, tiles};

/// A mistake in a text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct TextError {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

impl TextError {
    fn new(span: Range<usize>, message: impl Into<String>) -> TextError {
        TextError { span, message: message.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> TextError {
        self.hint = Some(hint.into());
        self
    }
}

/// What a text says, as far as it can be understood.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parsed {
    /// What was understood.
    pub capture: Capture,
    /// What was not.
    pub errors: Vec<TextError>,
}

impl Parsed {
    /// The capture, if nothing was wrong.
    ///
    /// # Errors
    /// All mistakes.
    pub fn into_result(self) -> Result<Capture, Vec<TextError>> {
        if self.errors.is_empty() { Ok(self.capture) } else { Err(self.errors) }
    }
}

/// Statements that stand for themselves, for messages.
const STATEMENTS: &str = "board, lowering, record, send, write, each, launch, timestamp, event, wait, dump";

/// Most bytes that a text may stand for: short texts can say long runs.
const MOST_BYTES: usize = 1 << 30;

/// Reads a text.
pub fn parse(text: &str) -> Parsed {
    let mut parser = Parser {
        out: Parsed::default(),
        board: None,
        lowering: Lowering::CAREFUL,
        layout: Layout::default(),
        record: None,
        events: 0,
        bytes: 0,
        waits: false,
    };
    let mut at = 0;
    for raw in text.split_inclusive('\n') {
        if let Some(line) = Line::new(raw, at)
            && let Err(error) = parser.statement(&line)
        {
            parser.out.errors.push(error);
        }
        at += raw.len();
    }
    if let Err(error) = parser.end_record() {
        parser.out.errors.push(error);
    }
    if parser.board.is_none() && parser.out.errors.is_empty() {
        parser.out.capture.board = "p100".into();
    }
    parser.out
}

struct Parser {
    out: Parsed,
    board: Option<Board>,
    lowering: Lowering,
    layout: Layout,
    record: Option<Record>,
    events: u32,
    bytes: usize,
    /// Whether the next entry waits for those before it.
    waits: bool,
}

impl Parser {
    fn statement(&mut self, line: &Line<'_>) -> Result<(), TextError> {
        let (first, rest) = line.split();
        let inside =
            first.text == ">" || matches!(first.text, "bytes" | "sub" | "padding") || record::is_prefetch(first.text);
        if inside {
            let Some(record) = &mut self.record else {
                return Err(
                    TextError::new(first.span.clone(), "this belongs into a record").hint("start one with `record`")
                );
            };
            record.span.end = line.span.end;
            return record.line(line);
        }
        let ended = self.end_record();
        self.top(line, first, rest)?;
        ended
    }

    fn top(&mut self, line: &Line<'_>, first: &Token<'_>, rest: &[Token<'_>]) -> Result<(), TextError> {
        match first.text {
            "board" => {
                let name = line.word(0, "a board")?;
                let chosen =
                    board::built_in(name.text).map_err(|e| TextError::new(name.span.clone(), e.to_string()))?;
                if self.board.as_ref().is_some_and(|b| b.name != chosen.name) || !self.out.capture.entries.is_empty() {
                    return Err(TextError::new(name.span.clone(), "the board is chosen once, before all records"));
                }
                self.out.capture.board = chosen.name.clone();
                self.board = Some(chosen);
            }
            "lowering" => {
                let name = line.word(0, "`careful` or `fixed-host`")?;
                self.lowering = match name.text {
                    "careful" => Lowering::CAREFUL,
                    "fixed-host" => Lowering::FIXED_HOST,
                    _ => return Err(TextError::new(name.span.clone(), "it is `careful` or `fixed-host`")),
                };
            }
            "record" => {
                let mut record = Record::new(line.span.clone());
                for token in rest {
                    match token.text.split_once('=') {
                        Some(("slot", value)) => record.slot = Some(token.fits(integer(value), 0xFFFF)? as u16),
                        _ => return Err(TextError::new(token.span.clone(), "a record takes `slot=…` only")),
                    }
                }
                self.record = Some(record);
            }
            "send" => {
                let mut record = Record::new(line.span.clone());
                let name = line.word(0, "a dispatch command")?;
                record.send(line, name, &rest[1..])?;
                self.record = Some(record);
            }
            "write" | "each" | "launch" | "timestamp" | "event" => self.step(line, first.text)?,
            "wait" => self.waits = true,
            "dump" => {
                let what = line.word(0, "tiles")?;
                let board = self.board()?;
                let tiles = tiles(what, &board)?;
                let addr = line.number(1, "an address", u64::MAX)?;
                let bytes = line.number(2, "a number of bytes", 0x1_0000)? as u32;
                self.out.capture.dumps.extend(tiles.into_iter().map(|tile| Dump { tile, addr, bytes }));
            }
            other => {
                let message = format!("`{other}` is no statement and no prefetch command");
                return Err(TextError::new(first.span.clone(), message).hint(format!(
                    "statements: {STATEMENTS}; dispatch commands stand behind `>` in a record, or behind `send`"
                )));
            }
        }
        Ok(())
    }

    /// The chosen board, or the default, which is then chosen.
    fn board(&mut self) -> Result<Board, TextError> {
        if self.board.is_none() {
            let board = board::built_in("p100").map_err(|e| TextError::new(0..0, e.to_string()))?;
            self.out.capture.board = board.name.clone();
            self.board = Some(board);
        }
        self.board.clone().ok_or_else(|| TextError::new(0..0, "no board"))
    }

    fn end_record(&mut self) -> Result<(), TextError> {
        match self.record.take() {
            Some(record) => {
                let (slot, span) = (record.slot, record.span.clone());
                let (bytes, lines) = record.finish();
                self.add(Entry { slot: slot.unwrap_or((bytes.len() / 16) as u16), bytes, span, lines, waits: false })
            }
            None => Ok(()),
        }
    }

    fn add(&mut self, mut entry: Entry) -> Result<(), TextError> {
        entry.waits = std::mem::take(&mut self.waits);
        self.bytes += entry.bytes.len();
        if self.bytes > MOST_BYTES {
            self.bytes -= entry.bytes.len();
            return Err(TextError::new(entry.span, format!("the text stands for more than {MOST_BYTES} bytes")));
        }
        self.out.capture.entries.push(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
