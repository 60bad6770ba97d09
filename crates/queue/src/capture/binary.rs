//! The binary form: a short header, then each entry with its slot.

use thiserror::Error;

use super::{Act, ActKind, Capture, Entry, TextError};
use crate::layout::Layout;
use crate::wire::{PrefetchCommand, Rect, WireError, Xy};

/// First bytes of a binary capture; the last is the version of the format.
const MAGIC: &[u8] = b"SLIPCQ\0";
/// Versions: records alone; with fields of the memory map; with times and the host's takes and loads; with all host
/// actions; with two queues.
const VERSIONS: std::ops::RangeInclusive<u8> = 1..=5;

/// The version of a binary capture that begins with these bytes.
pub(super) fn version(bytes: &[u8]) -> Option<u8> {
    bytes.strip_prefix(MAGIC)?.first().copied().filter(|version| VERSIONS.contains(version))
}

/// Item kinds from version 3.
const RECORD: u16 = 0;
const WAIT: u16 = 1;
const TAKE: u16 = 2;
const LOAD: u16 = 3;
/// From version 4.
const STORE: u16 = 4;
const POLL: u16 = 5;
const PIN: u16 = 6;
const UNPIN: u16 = 7;
const PAUSE: u16 = 8;
/// From version 5: what follows goes to the other one of two queues.
const QUEUE: u16 = 9;
/// Represents host memory in place of column and row.
const HOST: u16 = 0xFFFF;

/// A location that no board has.
const NOWHERE: Xy = Xy::new(255, 255);

/// An entry's flag: the host waits until everything before it has run.
const WAITS: u16 = 1;

/// Why bytes are not a capture.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CaptureError {
    /// Nothing.
    #[error("the stream is empty")]
    Empty,
    /// Neither form.
    #[error("neither a capture (it starts with `SLIPCQ`, 0 and a version from 1 to 5) nor text")]
    Unknown,
    /// The file ends prematurely.
    #[error("{what} at {offset:#x} takes {needs} bytes, and the file has {has} more")]
    Truncated {
        /// The item being read.
        what: &'static str,
        /// Its start.
        offset: usize,
        /// Number of bytes required.
        needs: usize,
        /// Number of bytes available.
        has: usize,
    },
    /// A name is not UTF-8.
    #[error("the board's name, or that of a field of its memory map, is not UTF-8")]
    Name,
    /// An unknown field of the memory map, or one with an invalid value.
    #[error("{0}")]
    Layout(String),
    /// An issue region does not consist of consecutive commands.
    #[error("no command: {0}")]
    Wire(#[from] WireError),
    /// An item of an unknown kind.
    #[error("the item at {offset:#x} is of kind {kind}, and version {version} has kinds 0 to {last}")]
    Item {
        /// Its start.
        offset: usize,
        /// Its kind.
        kind: u16,
        /// The version of the file.
        version: u8,
        /// The last kind in this version.
        last: u16,
    },
    /// An invalid queue.
    #[error("the item at {offset:#x} names queue {queue}, and there are queues 0 and 1")]
    Queue {
        /// Its start.
        offset: usize,
        /// Its number.
        queue: u16,
    },
    /// Bits of a record's flags that have no meaning.
    #[error("the flags of the record at {offset:#x} are {flags:#x}, and only {known:#x} is known")]
    Flags {
        /// Its start.
        offset: usize,
        /// Its flags.
        flags: u16,
        /// The bits with a meaning.
        known: u16,
    },
    /// Actions that no host can perform.
    #[error("{}", .0.first().map_or(String::new(), |error| error.message.clone()))]
    Act(Vec<TextError>),
    /// A text with errors.
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
        let version = version(reader.take("the header", MAGIC.len() + 1)?).ok_or(CaptureError::Unknown)?;
        let length = usize::from(reader.u16("the length of the board's name")?);
        let name = reader.take("the board's name", length)?;
        let board = std::str::from_utf8(name).map_err(|_| CaptureError::Name)?.to_string();
        let (mut layout, mut map) = (Vec::new(), Layout::default());
        for _ in 0..if version > 1 { reader.u16("the number of fields of the memory map")? } else { 0 } {
            let length = usize::from(reader.u16("the length of a field's name")?);
            let name = reader.take("a field's name", length)?;
            let name = std::str::from_utf8(name).map_err(|_| CaptureError::Name)?.to_string();
            let value = reader.u64("a field's value")?;
            map.set(&name, value).map_err(CaptureError::Layout)?;
            layout.push((name, value));
        }
        map.check().map_err(CaptureError::Layout)?;
        let (mut entries, mut acts, mut queue) = (Vec::new(), Vec::new(), 0);
        while reader.at < bytes.len() {
            let offset = reader.at;
            let (kind, cycle) = match version {
                3.. => (reader.u16("an item's kind")?, reader.u64("an item's time")?),
                _ => (RECORD, 0),
            };
            let last = [LOAD, PAUSE, QUEUE][usize::from(version.clamp(3, 5) - 3)];
            if kind > last {
                return Err(CaptureError::Item { offset, kind, version, last });
            }
            if kind == QUEUE {
                queue = reader.u16("a queue's number")?;
                if queue > 1 {
                    return Err(CaptureError::Queue { offset, queue });
                }
                continue;
            }
            let kind = match kind {
                RECORD => None,
                kind => Some(reader.act(kind)?),
            };
            if let Some(kind) = kind {
                acts.push(Act { cycle, queue: queue as u8, ..Act::new(entries.len(), kind) });
                continue;
            }
            let slot = reader.u16("an entry's slot")?;
            let flags = reader.u16("an entry's flags")?;
            if flags & !WAITS != 0 {
                return Err(CaptureError::Flags { offset, flags, known: WAITS });
            }
            let waits = flags & WAITS != 0;
            let length = reader.u32("an entry's length")?;
            let bytes = reader.take("an entry", length as usize)?.to_vec();
            entries.push(Entry { slot, bytes, queue: queue as u8, waits, cycle, ..Entry::default() });
        }
        Ok(Capture { board, layout, two_queues: version > 4, entries, acts, dumps: Vec::new() })
    }

    /// Writes the binary form. A board's name of more than 65,535 bytes is truncated.
    pub fn to_bytes(&self) -> Vec<u8> {
        let fields = &self.layout[..self.layout.len().min(usize::from(u16::MAX))];
        let timed = self.two_queues || !self.acts.is_empty() || self.entries.iter().any(|entry| entry.cycle > 0);
        let version = match timed {
            true if self.two_queues => 5,
            true if self.acts.iter().any(|act| act.kind.item() > LOAD) => 4,
            true => 3,
            false => 1 + u8::from(!fields.is_empty()),
        };
        let mut out = [MAGIC, &[version]].concat();
        let name = &self.board.as_bytes()[..self.board.floor_char_boundary(usize::from(u16::MAX))];
        out.extend((name.len() as u16).to_le_bytes());
        out.extend(name);
        if version > 1 {
            out.extend((fields.len() as u16).to_le_bytes());
        }
        for (name, value) in fields {
            let name = &name.as_bytes()[..name.floor_char_boundary(usize::from(u16::MAX))];
            out.extend((name.len() as u16).to_le_bytes());
            out.extend(name);
            out.extend(value.to_le_bytes());
        }
        let mut queue = 0;
        for (index, entry) in self.entries.iter().enumerate() {
            self.acts_before(index).for_each(|(_, act)| act.write(&mut queue, &mut out));
            goes_to(entry.queue, &mut queue, &mut out);
            if timed {
                out.extend(RECORD.to_le_bytes());
                out.extend(entry.cycle.to_le_bytes());
            }
            out.extend(entry.slot.to_le_bytes());
            out.extend((if entry.waits { WAITS } else { 0 }).to_le_bytes());
            out.extend((entry.bytes.len() as u32).to_le_bytes());
            out.extend(&entry.bytes);
        }
        self.acts_before(self.entries.len()).for_each(|(_, act)| act.write(&mut queue, &mut out));
        out
    }
}

impl ActKind {
    /// The item kind.
    fn item(&self) -> u16 {
        match self {
            ActKind::Wait => WAIT,
            ActKind::Take => TAKE,
            ActKind::Load { .. } => LOAD,
            ActKind::Store { .. } => STORE,
            ActKind::Poll { .. } => POLL,
            ActKind::Pin { .. } => PIN,
            ActKind::Unpin { .. } => UNPIN,
            ActKind::Pause { .. } => PAUSE,
        }
    }
}

impl Act {
    fn write(&self, queue: &mut u8, out: &mut Vec<u8>) {
        goes_to(self.queue, queue, out);
        out.extend(self.kind.item().to_le_bytes());
        out.extend(self.cycle.to_le_bytes());
        let place = |out: &mut Vec<u8>, tile: Option<Xy>| {
            let [x, y] = tile.map_or([HOST; 2], |tile| [tile.x.into(), tile.y.into()]);
            out.extend(x.to_le_bytes());
            out.extend(y.to_le_bytes());
        };
        let data = |out: &mut Vec<u8>, addr: u64, bytes: &[u8]| {
            out.extend(addr.to_le_bytes());
            out.extend((bytes.len() as u32).to_le_bytes());
            out.extend(bytes);
        };
        match &self.kind {
            ActKind::Wait | ActKind::Take => {}
            ActKind::Load { tile, addr, bytes } => {
                place(out, *tile);
                out.extend(addr.to_le_bytes());
                out.extend(bytes.to_le_bytes());
            }
            ActKind::Store { tiles, addr, bytes } => {
                place(out, tiles.map(|tiles| tiles.low));
                place(out, tiles.map(|tiles| tiles.high));
                data(out, *addr, bytes);
            }
            ActKind::Poll { tile, addr, bytes } => {
                place(out, Some(*tile));
                data(out, *addr, bytes);
            }
            ActKind::Pin { addr, bytes } => [addr, bytes].iter().for_each(|value| out.extend(value.to_le_bytes())),
            ActKind::Unpin { addr: value } | ActKind::Pause { cycles: value } => out.extend(value.to_le_bytes()),
        }
    }
}

/// Switches to another queue, if what follows belongs to it.
fn goes_to(queue: u8, last: &mut u8, out: &mut Vec<u8>) {
    if std::mem::replace(last, queue) != queue {
        out.extend(QUEUE.to_le_bytes());
        out.extend(0u64.to_le_bytes());
        out.extend(u16::from(queue).to_le_bytes());
    }
}

/// The entries in the bytes of an issue region, each prefetch command being one: a dump has no slots.
///
/// # Errors
/// [`CaptureError::Wire`] if there is no command. Trailing zeros are skipped.
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

    /// A host action of a known kind.
    fn act(&mut self, kind: u16) -> Result<ActKind, CaptureError> {
        Ok(match kind {
            WAIT => ActKind::Wait,
            TAKE => ActKind::Take,
            LOAD => {
                let tile = self.place()?;
                ActKind::Load { tile, addr: self.u64("a load's address")?, bytes: self.u32("a load's bytes")? }
            }
            STORE => {
                let (low, high) = (self.place()?, self.place()?);
                let tiles = low.zip(high).map(|(low, high)| Rect::new(low, high));
                let (addr, bytes) = self.data()?;
                ActKind::Store { tiles, addr, bytes }
            }
            POLL => {
                let tile = self.place()?.unwrap_or(NOWHERE);
                let (addr, bytes) = self.data()?;
                ActKind::Poll { tile, addr, bytes }
            }
            PIN => ActKind::Pin { addr: self.u64("where memory is pinned")?, bytes: self.u64("how much is pinned")? },
            UNPIN => ActKind::Unpin { addr: self.u64("where memory was pinned")? },
            _ => ActKind::Pause { cycles: self.u64("how long the host pauses")? },
        })
    }

    /// A tile; `None`: host memory.
    fn place(&mut self) -> Result<Option<Xy>, CaptureError> {
        let [x, y] = [self.u16("a column")?, self.u16("a row")?];
        Ok(((x, y) != (HOST, HOST)).then(|| Xy::new(x.min(255) as u8, y.min(255) as u8)))
    }

    /// An address, and bytes preceded by their number.
    fn data(&mut self) -> Result<(u64, Vec<u8>), CaptureError> {
        let (addr, length) = (self.u64("an address")?, self.u32("a number of bytes")?);
        Ok((addr, self.take("bytes", length as usize)?.to_vec()))
    }

    fn u16(&mut self, what: &'static str) -> Result<u16, CaptureError> {
        Ok(self.take(what, 2)?.iter().rev().fold(0, |value, byte| value << 8 | u16::from(*byte)))
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, CaptureError> {
        Ok(u64::from(self.u32(what)?) | u64::from(self.u32(what)?) << 32)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, CaptureError> {
        Ok(self.take(what, 4)?.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }
}
