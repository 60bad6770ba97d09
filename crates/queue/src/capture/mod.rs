//! Captured streams: what a host queued, as a file.
//!
//! Two forms: a binary one for what a driver logs ([`Capture::from_bytes`], [`Capture::to_bytes`]), and a text one to write and read by hand
//! ([`parse`], [`print()`]). `docs/queue.md` describes both.

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
    /// The entry of a record, by its number in its queue; `None` for the queue where there is one.
    pub fn entry(&self, queue: Option<u8>, record: u64) -> Option<&Entry> {
        let mut own = self.entries.iter().filter(|entry| queue.is_none_or(|queue| entry.queue == queue));
        own.nth(usize::try_from(record).ok()?)
    }

    /// What the host does when so many records are queued, with its place among all acts.
    pub fn acts_before(&self, records: usize) -> impl Iterator<Item = (usize, &Act)> {
        let first = self.acts.partition_point(|act| act.before < records);
        self.acts.iter().enumerate().skip(first).take_while(move |(_, act)| act.before == records)
    }

    /// Whether it was read from a text, whose places its entries name.
    pub fn is_from_text(&self) -> bool {
        self.entries.iter().any(|entry| !entry.span.is_empty())
    }

    /// The memory map that it is for: one with the fields that it names. Fields that no layout has are none.
    pub fn layout_on(&self, base: &Layout) -> Layout {
        let mut layout = base.clone();
        for (name, value) in &self.layout {
            let _ = layout.set(name, *value);
        }
        layout
    }

    /// Reads either form; the first bytes tell them apart.
    ///
    /// # Errors
    /// [`CaptureError`]; for texts, with all that is wrong.
    pub fn read(bytes: &[u8]) -> Result<Capture, CaptureError> {
        Capture::read_for(bytes, None)
    }

    /// The same for a board, in place of the one that is named.
    ///
    /// # Errors
    /// As [`read`](Capture::read).
    pub fn read_for(bytes: &[u8], board: Option<&Board>) -> Result<Capture, CaptureError> {
        if binary::version(bytes).is_some() {
            let capture = Capture::from_bytes(bytes)?;
            let named = board.map(|board| board.name.clone());
            return Ok(Capture { board: named.unwrap_or(capture.board), ..capture });
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => parse_for(text, board).into_result().map_err(CaptureError::Text),
            Err(_) => Err(CaptureError::Unknown),
        }
    }
}
