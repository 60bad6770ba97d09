//! Parsing of the text form: one statement per line; all errors of a file are reported in one pass.

mod error;
mod host;
mod record;
mod steps;
mod values;

use std::ops::Range;

use super::{Act, ActKind, Capture, Dump, Entry};
use crate::board::{self, Board, Tile};
use crate::capture::text::error::MOST_BYTES;
use crate::host::Lowering;
use crate::layout::Layout;
use crate::wire::Xy;
use record::Record;
use values::{Line, Token, integer, tiles};

pub use error::TextError;

/// The contents of a text, as far as it can be parsed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parsed {
    /// The parsed part.
    pub capture: Capture,
    /// The errors.
    pub errors: Vec<TextError>,
}

impl Parsed {
    /// The capture, if there were no errors.
    ///
    /// # Errors
    /// All errors.
    pub fn into_result(self) -> Result<Capture, Vec<TextError>> {
        if self.errors.is_empty() { Ok(self.capture) } else { Err(self.errors) }
    }
}

/// Names of statements, for messages.
const STATEMENTS: &str = "board, queues, queue, lowering, record, send, write, each, launch, timestamp, event, wait, take, load, store, poll, pin, unpin, pause, dump";
/// Maximum number of bytes of memory that a text may ask to show.
const MOST_DUMPED: u64 = 16 << 20;
/// Minimum size counted for an entry.
const LEAST_ENTRY: usize = 16;
/// Number of errors after which nothing more is read.
const MOST_ERRORS: usize = 100;

/// Parses a text.
pub fn parse(text: &str) -> Parsed {
    parse_for(text, None)
}

/// Parses a text for a board that replaces the named one.
pub fn parse_for(text: &str, board: Option<&Board>) -> Parsed {
    let mut out = Parsed::default();
    if let Some(board) = board {
        out.capture.board.clone_from(&board.name);
    }
    let mut parser = Parser {
        out,
        given: board.is_some(),
        board: board.cloned(),
        lowering: Lowering::CAREFUL,
        layout: Layout::default(),
        mapped: 0..0,
        record: None,
        lost: false,
        events: [0; 2],
        bytes: 0,
        dumped: 0,
        waits: false,
        pinned: Vec::new(),
        queue: 0,
        pair: None,
    };
    let mut at = 0;
    for raw in text.split_inclusive('\n') {
        let errors = &mut parser.out.errors;
        if errors.len() >= MOST_ERRORS {
            let message = format!("{MOST_ERRORS} mistakes; the rest is not read");
            errors.push(TextError::new(at..at + raw.trim_end().len(), message));
            return parser.out;
        }
        if let Some(line) = Line::new(raw, at)
            && let Err(error) = parser.statement(&line)
        {
            let full = error.full;
            parser.out.errors.push(error);
            if full {
                return parser.out;
            }
        }
        at += raw.len();
    }
    if let Err(error) = parser.end_record() {
        parser.out.errors.push(error);
    }
    if !parser.out.capture.layout.is_empty()
        && let Err(why) = parser.layout.check()
    {
        parser.out.errors.push(TextError::new(parser.mapped.clone(), why));
    }
    if parser.board.is_none() && parser.out.errors.is_empty() {
        parser.out.capture.board = "p100".into();
    }
    parser.out
}

struct Parser {
    out: Parsed,
    /// The board replaces the one named in the text.
    given: bool,
    board: Option<Board>,
    lowering: Lowering,
    layout: Layout,
    /// Location of the last memory map field.
    mapped: std::ops::Range<usize>,
    record: Option<Record>,
    /// Whether the last statement is unknown: it may have been the head of the lines that follow.
    lost: bool,
    /// Events of each queue so far.
    events: [u32; 2],
    bytes: usize,
    /// Bytes of memory requested so far.
    dumped: u64,
    /// Whether the next entry waits for those before it.
    waits: bool,
    /// Pinned host memory other than the queue's own, at the device's addresses.
    pinned: Vec<Range<u64>>,
    /// The current queue, and the board as each queue sees it.
    queue: u8,
    pair: Option<[Board; 2]>,
}

impl Parser {
    fn statement(&mut self, line: &Line<'_>) -> Result<(), TextError> {
        let first = line.first();
        let inside =
            first.text == ">" || matches!(first.text, "bytes" | "sub" | "padding") || record::is_prefetch(first.text);
        if inside {
            let Some(record) = &mut self.record else {
                if self.lost {
                    return Ok(());
                }
                return Err(
                    TextError::new(first.span.clone(), "this belongs into a record").hint("start one with `record`")
                );
            };
            record.span.end = line.span.end;
            let most = MOST_BYTES.saturating_sub(self.bytes + record.size());
            return record.line(line, most);
        }
        let ended = self.end_record();
        self.lost = false;
        self.top(line, first)?;
        line.ends()?;
        ended
    }

    fn top(&mut self, line: &Line<'_>, first: &Token<'_>) -> Result<(), TextError> {
        match first.text {
            "board" => {
                let name = line.word(0, "a board")?;
                let chosen =
                    board::built_in(name.text).map_err(|e| TextError::new(name.span.clone(), e.to_string()))?;
                if self.given {
                    return Ok(());
                }
                if self.pair.is_some() {
                    return Err(TextError::new(name.span.clone(), "the board is chosen before `queues`"));
                }
                if self.board.as_ref().is_some_and(|b| b.name != chosen.name) || !self.out.capture.entries.is_empty() {
                    return Err(TextError::new(name.span.clone(), "the board is chosen once, before all records"));
                }
                self.out.capture.board = chosen.name.clone();
                self.board = Some(chosen);
            }
            "layout" => {
                let name = line.word(0, "a field of the memory map")?;
                let value = line.number(1, "its value", u64::MAX)?;
                if !self.out.capture.entries.is_empty() || self.pair.is_some() {
                    let message = match self.pair {
                        None => "the memory map is chosen before all records",
                        Some(_) => "the memory map is chosen before `queues`",
                    };
                    return Err(TextError::new(name.span.clone(), message));
                }
                if self.out.capture.layout.iter().any(|(known, _)| known == name.text) {
                    return Err(TextError::new(name.span.clone(), format!("`{}` is chosen once", name.text)));
                }
                self.layout.set(name.text, value).map_err(|why| TextError::new(name.span.clone(), why))?;
                self.mapped = name.span.clone();
                self.out.capture.layout.push((name.text.to_string(), value));
            }
            "queues" | "queue" => self.queues(line, first.text == "queues")?,
            "lowering" => {
                let name = line.word(0, "`careful` or `fixed-host`")?;
                self.lowering = match name.text {
                    "careful" => Lowering::CAREFUL,
                    "fixed-host" => Lowering::FIXED_HOST,
                    _ => return Err(TextError::new(name.span.clone(), "it is `careful` or `fixed-host`")),
                };
            }
            "record" => {
                let record = self.record.insert(Record::new(line.span.clone()));
                for token in line.rest(0) {
                    match token.text.split_once('=') {
                        Some(("slot", _)) if record.slot.is_some() => {
                            return Err(TextError::new(token.span.clone(), "a record has one slot"));
                        }
                        Some(("slot", value)) => record.slot = Some(token.fits(integer(value), 0xFFFF)? as u16),
                        _ => return Err(TextError::new(token.span.clone(), "a record takes `slot=…` only")),
                    }
                }
            }
            "send" => {
                let mut record = Record::new(line.span.clone());
                let name = line.word(0, "a dispatch command")?;
                let read = record.send(line, name, line.rest(1));
                self.record = Some(record);
                read?;
            }
            "write" | "each" | "launch" | "timestamp" | "event" => self.step(line, first.text)?,
            "wait" => self.waits = true,
            "take" | "store" | "poll" | "pin" | "unpin" | "pause" => self.host(line, first.text)?,
            "load" if line.word(0, "tiles, or `pcie`")?.text == "pcie" => self.host(line, first.text)?,
            "dump" | "load" => {
                let what = line.word(0, "tiles")?;
                let board = self.board()?;
                let tiles = tiles(what, &board, false)?;
                let addr = line.number(1, "an address", u64::MAX)?;
                let bytes = line.number(2, "a number of bytes", 0x1_0000)? as u32;
                let capacity = |tile: &Xy| match board.tile(*tile) {
                    Tile::Worker | Tile::Prefetch | Tile::Dispatch => self.layout.l1_bytes.into(),
                    Tile::Dram(_) => board.bank_bytes,
                    Tile::Pcie | Tile::Arc | Tile::Nothing => 0,
                };
                if let Some(tile) = tiles.iter().find(|tile| addr.saturating_add(bytes.into()) > capacity(tile)) {
                    let message = format!("{tile} of a {} has no {bytes} bytes at {addr:#x}", board.name);
                    return Err(TextError::new(line.span.clone(), message));
                }
                self.dumped += u64::from(bytes) * tiles.len() as u64;
                if self.dumped > MOST_DUMPED {
                    let message = format!("up to here the file shows more than {MOST_DUMPED} bytes of memory");
                    return Err(TextError { full: true, ..TextError::new(line.span.clone(), message) });
                }
                if first.text == "load" {
                    let loads = tiles.into_iter().map(|tile| ActKind::Load { tile: Some(tile), addr, bytes });
                    return loads.into_iter().try_for_each(|load| self.act(line, load));
                }
                self.out.capture.dumps.extend(tiles.into_iter().map(|tile| Dump { tile, addr, bytes }));
            }
            other => {
                self.lost = true;
                let message = format!("`{other}` is neither a statement nor a prefetch command");
                return Err(TextError::new(first.span.clone(), message).hint(format!(
                    "statements: {STATEMENTS}; dispatch commands are written after `>` in a record, or after `send`"
                )));
            }
        }
        Ok(())
    }

    /// The chosen board, or the default, which then counts as chosen.
    fn board(&mut self) -> Result<Board, TextError> {
        if let Some(pair) = &self.pair {
            return Ok(pair[usize::from(self.queue)].clone());
        }
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
                self.add(Entry {
                    slot: slot.unwrap_or((bytes.len() / 16) as u16),
                    bytes,
                    span,
                    lines,
                    ..Entry::default()
                })
            }
            None => Ok(()),
        }
    }

    fn add(&mut self, mut entry: Entry) -> Result<(), TextError> {
        entry.queue = self.queue;
        entry.waits = std::mem::take(&mut self.waits);
        // Entries without bytes take memory too.
        self.bytes += entry.bytes.len().max(LEAST_ENTRY);
        if self.bytes > MOST_BYTES {
            return Err(TextError::full(entry.span));
        }
        self.out.capture.entries.push(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
