//! The binary form: a short header, then each entry with its slot.

use thiserror::Error;

use super::{Capture, Entry, TextError};
use crate::layout::Layout;
use crate::wire::{PrefetchCommand, WireError};

/// First bytes of a binary capture; the last is the form's version.
pub(super) const MAGIC: &[u8] = b"SLIPCQ\0\x01";
/// The same of one that names fields of the memory map.
pub(super) const MAGIC_2: &[u8] = b"SLIPCQ\0\x02";

/// An entry's flag: the host waits until everything before it has run.
const WAITS: u16 = 1;

/// Why bytes are no capture.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CaptureError {
    /// Neither form.
    #[error("neither a capture (it starts with `SLIPCQ`, 0 and the version 1 or 2) nor text")]
    Unknown,
    /// The file ends inside something.
    #[error("{what} at {offset:#x} takes {needs} bytes, and the file has {has} more")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Where it starts.
        offset: usize,
        /// Bytes that it takes.
        needs: usize,
        /// Bytes that there are.
        has: usize,
    },
    /// A name is not UTF-8.
    #[error("the board's name, or that of a field of its memory map, is not UTF-8")]
    Name,
    /// A field of the memory map that layouts do not have, or whose value does not fit.
    #[error("{0}")]
    Layout(String),
    /// An issue region does not hold commands one after the other.
    #[error("no command: {0}")]
    Wire(#[from] WireError),
    /// A text with mistakes.
    #[error("{}", .0.first().map_or(String::new(), |error| error.message.clone()))]
    Text(Vec<TextError>),
}

impl Capture {
    /// Reads the binary form.
    ///
    /// # Errors
    /// [`CaptureError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Capture, CaptureError> {
        let mut reader = Reader { bytes, at: 0 };
        let magic = reader.take("the header", MAGIC.len())?;
        if magic != MAGIC && magic != MAGIC_2 {
            return Err(CaptureError::Unknown);
        }
        let length = usize::from(reader.u16("the length of the board's name")?);
        let name = reader.take("the board's name", length)?;
        let board = std::str::from_utf8(name).map_err(|_| CaptureError::Name)?.to_string();
        let (mut layout, mut map) = (Vec::new(), Layout::default());
        for _ in 0..if magic == MAGIC_2 { reader.u16("the number of fields of the memory map")? } else { 0 } {
            let length = usize::from(reader.u16("the length of a field's name")?);
            let name = reader.take("a field's name", length)?;
            let name = std::str::from_utf8(name).map_err(|_| CaptureError::Name)?.to_string();
            let value = u64::from(reader.u32("a field's value")?) | u64::from(reader.u32("a field's value")?) << 32;
            map.set(&name, value).map_err(CaptureError::Layout)?;
            layout.push((name, value));
        }
        map.check().map_err(CaptureError::Layout)?;
        let mut entries = Vec::new();
        while reader.at < bytes.len() {
            let slot = reader.u16("an entry's slot")?;
            let waits = reader.u16("an entry's flags")? & WAITS != 0;
            let length = reader.u32("an entry's length")?;
            let bytes = reader.take("an entry", length as usize)?.to_vec();
            entries.push(Entry { slot, bytes, waits, ..Entry::default() });
        }
        Ok(Capture { board, layout, entries, dumps: Vec::new() })
    }

    /// Writes the binary form. A board's name of more than 65,535 bytes is cut.
    pub fn to_bytes(&self) -> Vec<u8> {
        let fields = &self.layout[..self.layout.len().min(usize::from(u16::MAX))];
        let mut out = if fields.is_empty() { MAGIC } else { MAGIC_2 }.to_vec();
        let name = &self.board.as_bytes()[..self.board.floor_char_boundary(usize::from(u16::MAX))];
        out.extend((name.len() as u16).to_le_bytes());
        out.extend(name);
        if !fields.is_empty() {
            out.extend((fields.len() as u16).to_le_bytes());
        }
        for (name, value) in fields {
            let name = &name.as_bytes()[..name.floor_char_boundary(usize::from(u16::MAX))];
            out.extend((name.len() as u16).to_le_bytes());
            out.extend(name);
            out.extend(value.to_le_bytes());
        }
        for entry in &self.entries {
            out.extend(entry.slot.to_le_bytes());
            out.extend((if entry.waits { WAITS } else { 0 }).to_le_bytes());
            out.extend((entry.bytes.len() as u32).to_le_bytes());
            out.extend(&entry.bytes);
        }
        out
    }
}

/// Entries of the bytes of an issue region, each prefetch command one: a dump has no slots.
///
/// # Errors
/// [`CaptureError::Wire`] where there is no command. Zeroes up to the end are none, and no error.
pub fn from_issue_region(bytes: &[u8]) -> Result<Vec<Entry>, CaptureError> {
    let mut entries = Vec::new();
    let mut at = 0;
    while bytes[at..].iter().any(|byte| *byte != 0) {
        let (_, stride) = PrefetchCommand::decode(&bytes[at..]).map_err(|error| error.shifted(at as u64))?;
        entries.push(Entry::new(bytes[at..at + stride].to_vec()));
        at += stride;
    }
    Ok(entries)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, what: &'static str, needs: usize) -> Result<&'a [u8], CaptureError> {
        let rest = &self.bytes[self.at..];
        let taken =
            rest.get(..needs).ok_or(CaptureError::Truncated { what, offset: self.at, needs, has: rest.len() })?;
        self.at += needs;
        Ok(taken)
    }

    fn u16(&mut self, what: &'static str) -> Result<u16, CaptureError> {
        Ok(self.take(what, 2)?.iter().rev().fold(0, |value, byte| value << 8 | u16::from(*byte)))
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, CaptureError> {
        Ok(self.take(what, 4)?.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }
}
