//! Captured streams: everything a host queued, as a file.
//!
//! There are two forms: a binary one, written by drivers ([`Capture::from_bytes`], [`Capture::to_bytes`]), and a text
//! one that can be read and written by hand ([`parse`], [`print()`]). `docs/queue.md` describes both.

mod act;
mod binary;
mod entry;
mod print;
mod text;

pub use act::{Act, ActKind};
pub use binary::{CaptureError, from_issue_region};
pub use entry::{Capture, Dump, Entry};
pub(crate) use entry::{fetched, stalls};
pub use print::{hex, print};
pub use text::{Parsed, TextError, parse, parse_for};

use crate::board::Board;
use crate::layout::Layout;

impl Capture {
    /// The entry of a record, by its index in its queue; `None` for the queue if there is only one.
    pub fn entry(&self, queue: Option<u8>, record: u64) -> Option<&Entry> {
        let mut own = self.entries.iter().filter(|entry| queue.is_none_or(|queue| entry.queue == queue));
        own.nth(usize::try_from(record).ok()?)
    }

    /// The host actions after this many records have been queued, with their indices among all actions.
    pub fn acts_before(&self, records: usize) -> impl Iterator<Item = (usize, &Act)> {
        let first = self.acts.partition_point(|act| act.before < records);
        self.acts.iter().enumerate().skip(first).take_while(move |(_, act)| act.before == records)
    }

    /// Whether it was read from a text, to which its entries' locations refer.
    pub fn is_from_text(&self) -> bool {
        self.entries.iter().any(|entry| !entry.span.is_empty())
    }

    /// Its memory map: the given one with the fields that it names. Unknown fields are ignored.
    pub fn layout_on(&self, base: &Layout) -> Layout {
        let mut layout = base.clone();
        for (name, value) in &self.layout {
            let _ = layout.set(name, *value);
        }
        layout
    }

    /// Parses either form, distinguished by the first bytes.
    ///
    /// # Errors
    /// [`CaptureError`]; for texts, with all errors.
    pub fn read(bytes: &[u8]) -> Result<Capture, CaptureError> {
        Capture::read_for(bytes, None)
    }

    /// As [`read`](Capture::read), for a board that replaces the named one.
    ///
    /// # Errors
    /// As [`read`](Capture::read).
    pub fn read_for(bytes: &[u8], board: Option<&Board>) -> Result<Capture, CaptureError> {
        if bytes.is_empty() {
            return Err(CaptureError::Empty);
        }
        if binary::version(bytes).is_some() {
            let capture = Capture::from_bytes(bytes)?;
            capture.check_acts(board)?;
            let named = board.map(|board| board.name.clone());
            return Ok(Capture { board: named.unwrap_or(capture.board), ..capture });
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => parse_for(text, board).into_result().map_err(CaptureError::Text),
            Err(_) => Err(CaptureError::Unknown),
        }
    }

    /// Whether a host can do what the capture says: the rules are those of the text form. Without a known board nothing
    /// is checked.
    fn check_acts(&self, board: Option<&Board>) -> Result<(), CaptureError> {
        let name = if self.board.is_empty() { "p100" } else { &self.board };
        let Some(board) = board.cloned().or_else(|| crate::board::built_in(name).ok()) else { return Ok(()) };
        let acts = self.acts.iter().map(|act| Act { before: 0, ..act.clone() }).collect();
        let (entries, dumps) = (Vec::new(), Vec::new());
        let (layout, two_queues) = (self.layout.clone(), self.two_queues);
        let alone = Capture { entries, dumps, acts, board: board.name.clone(), layout, two_queues };
        let wrong = parse_for(&print(&alone), Some(&board)).into_result().err();
        wrong.map_or(Ok(()), |errors| Err(CaptureError::Act(errors)))
    }
}
