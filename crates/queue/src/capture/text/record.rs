//! Records in the text form: prefetch commands by their fields, and their relayed contents.

use std::ops::Range;

use super::TextError;
use super::values::{Line, Token, bytes, field_value, integer};
use crate::layout::{L1_ALIGN, PCIE_ALIGN};
use crate::wire::{
    CommandInfo, Dispatch, Field, Inline, LargeSub, MulticastSub, Packed, PagedPackedSub, Prefetch, RingbufferSub,
    UnicastSub, WritePacked,
};

/// Whether a word names a prefetch command.
pub(super) fn is_prefetch(name: &str) -> bool {
    Prefetch::TABLE.iter().any(|info| info.name == name)
}

/// The size limit is reached.
struct Full;

/// A record being parsed.
pub(super) struct Record {
    pub slot: Option<u16>,
    pub span: Range<usize>,
    bytes: Vec<u8>,
    relay: Option<Relay>,
    /// The first byte that a line represents, and the line.
    lines: Vec<(usize, Range<usize>)>,
}

/// A prefetch command with its relayed data.
struct Relay {
    command: Command,
    payload: Vec<u8>,
    inner: Option<Command>,
    padding: Option<Vec<u8>>,
    /// Whether the last dispatch command could not be read: lines that belong to it are not judged.
    lost: bool,
}

/// A command being parsed: header bytes and the following bytes.
struct Command {
    info: &'static CommandInfo,
    header: Vec<u8>,
    given: Vec<&'static str>,
    list: Vec<u8>,
    listed: u64,
    data: Vec<u8>,
    /// Whether a field of its header is wrong: what belongs to it is not judged by that header.
    wrong: bool,
}

impl Record {
    pub fn new(span: Range<usize>) -> Record {
        Record { slot: None, span, bytes: Vec::new(), relay: None, lines: Vec::new() }
    }

    /// A record of one dispatch command.
    pub fn send(&mut self, line: &Line<'_>, name: &Token<'_>, fields: &[Token<'_>]) -> Result<(), TextError> {
        let info = Prefetch::TABLE.iter().find(|info| info.id == RELAY_INLINE);
        let info = info.ok_or_else(|| TextError::new(name.span.clone(), "there is no RELAY_INLINE"))?;
        let (inner, read) = Command::read(Dispatch::TABLE, name, fields);
        self.lines.push((0, line.span.clone()));
        self.relay = Some(Relay::new(Command::new(info), inner));
        read
    }

    /// A line within the record. `most`: maximum number of bytes it may represent.
    pub fn line(&mut self, line: &Line<'_>, most: usize) -> Result<(), TextError> {
        let (first, rest) = line.split();
        let full = |_| TextError::full(line.span.clone());
        match first.text {
            ">" => {
                let Some(relay) = &mut self.relay else {
                    return Err(TextError::new(first.span.clone(), "no command precedes this").hint(
                        "name the prefetch command that relays it, such as RELAY_INLINE, or write `send` instead of a record",
                    ));
                };
                let Some((what, rest)) = rest.split_first() else {
                    return Err(TextError::new(first.span.clone(), "a dispatch command is missing here"));
                };
                if relay.is_new() {
                    self.lines.push((self.bytes.len() + relay.command.header.len(), line.span.clone()));
                }
                relay.inside(what, rest, most)
            }
            "sub" => match &mut self.relay {
                Some(relay) => relay.command.sub(first, rest),
                None => Err(TextError::new(first.span.clone(), "no command precedes this")),
            },
            "padding" => match &mut self.relay {
                Some(relay) if relay.padding.is_some() => {
                    Err(TextError::new(first.span.clone(), "the padding of this command is given twice"))
                }
                Some(relay) => {
                    relay.padding = Some(bytes(rest, most)?);
                    Ok(())
                }
                None => Err(TextError::new(first.span.clone(), "no command precedes this")),
            },
            "bytes" => {
                self.end_relay(most).map_err(full)?;
                self.lines.push((self.bytes.len(), line.span.clone()));
                self.bytes.extend(bytes(rest, most)?);
                Ok(())
            }
            _ => {
                self.end_relay(most).map_err(full)?;
                self.lines.push((self.bytes.len(), line.span.clone()));
                let (command, read) = Command::read(Prefetch::TABLE, first, rest);
                self.relay = command.map(|command| Relay { lost: false, ..Relay::new(command, None) });
                read
            }
        }
    }

    /// Ends the current command, if its padding fits.
    fn end_relay(&mut self, most: usize) -> Result<(), Full> {
        match self.relay.take() {
            Some(relay) if relay.padding_bytes() > most => Err(Full),
            Some(relay) => {
                self.bytes.extend(relay.finish());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Number of bytes so far, including the current command.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.relay.as_ref().map_or(0, Relay::size)
    }

    /// Its bytes, and the lines they come from.
    pub fn finish(mut self) -> (Vec<u8>, Vec<(usize, Range<usize>)>) {
        if let Some(relay) = self.relay.take() {
            self.bytes.extend(relay.finish());
        }
        (self.bytes, self.lines)
    }
}

const RELAY_INLINE: u8 = Prefetch::RelayInline(Inline { dispatcher_type: 0, length: 0, stride: 0 }).id();

impl Relay {
    /// A prefetch command, and the dispatch command that it relays, if that could be read.
    fn new(command: Command, inner: Option<Command>) -> Relay {
        Relay { command, payload: Vec::new(), lost: inner.is_none(), inner, padding: None }
    }

    /// Whether nothing follows its header yet.
    fn is_new(&self) -> bool {
        self.inner.is_none() && self.payload.is_empty()
    }

    /// The part after `>`.
    fn inside(&mut self, what: &Token<'_>, rest: &[Token<'_>], most: usize) -> Result<(), TextError> {
        match (what.text, &mut self.inner) {
            ("bytes", _) => {
                self.end_inner();
                self.payload.extend(bytes(rest, most)?);
            }
            ("sub", Some(inner)) => inner.sub(what, rest)?,
            ("words", Some(inner)) => {
                for token in rest {
                    inner.list.extend((token.fits(integer(token.text), u64::from(u32::MAX))? as u32).to_le_bytes());
                    inner.listed += 1;
                }
            }
            ("data", Some(inner)) => inner.data.extend(bytes(rest, most)?),
            ("sub" | "words" | "data", None) if self.lost => {}
            ("sub" | "words" | "data", None) => {
                return Err(TextError::new(what.span.clone(), "no dispatch command precedes this"));
            }
            _ => {
                self.end_inner();
                let (inner, read) = Command::read(Dispatch::TABLE, what, rest);
                self.lost = inner.is_none();
                self.inner = inner;
                return read;
            }
        }
        Ok(())
    }

    /// Number of bytes so far.
    fn size(&self) -> usize {
        let of = |command: &Command| command.header.len() + command.list.len() + command.data.len();
        of(&self.command) + self.payload.len() + self.inner.as_ref().map_or(0, of)
    }

    /// Maximum number of padding bytes required by its stride.
    fn padding_bytes(&self) -> usize {
        let stride = self.command.get("stride").unwrap_or(0) as usize;
        stride.saturating_sub(self.size()).min(MOST_PADDING)
    }

    fn end_inner(&mut self) {
        if let Some(inner) = self.inner.take() {
            self.payload.extend(inner.finish_dispatch());
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.end_inner();
        let command = &mut self.command;
        let length = command.header.len() + command.list.len() + self.payload.len();
        command.derive("count", command.listed);
        command.derive("length", self.payload.len() as u64);
        command.derive("stride", length.next_multiple_of(PCIE_ALIGN as usize) as u64);
        let stride = command.get("stride").unwrap_or(u64::from(PCIE_ALIGN)) as usize;
        let mut out = std::mem::take(&mut command.header);
        out.append(&mut command.list);
        out.append(&mut self.payload);
        match self.padding {
            Some(padding) => out.extend(padding),
            None => out.resize(stride.clamp(out.len(), out.len() + MOST_PADDING), 0),
        }
        out
    }
}

/// Maximum number of padding bytes of a command.
const MOST_PADDING: usize = 1 << 20;

impl Command {
    fn new(info: &'static CommandInfo) -> Command {
        let mut header = vec![0; info.header_bytes];
        header[0] = info.id;
        Command { info, header, given: Vec::new(), list: Vec::new(), listed: 0, data: Vec::new(), wrong: false }
    }

    /// A command by name, with its fields. One with a wrong field is a command, too: it has the lines that follow.
    fn read(
        table: &'static [CommandInfo],
        name: &Token<'_>,
        fields: &[Token<'_>],
    ) -> (Option<Command>, Result<(), TextError>) {
        let Some(info) = table.iter().find(|info| info.name == name.text) else {
            let names: Vec<&str> = table.iter().map(|info| info.name).collect();
            let message = format!("`{}` is not a command here", name.text);
            let error = TextError::new(name.span.clone(), message).hint(format!("commands: {}", names.join(", ")));
            return (None, Err(error));
        };
        let mut command = Command::new(info);
        let read = set_all(&mut command.header, info.fields, fields).map(|given| command.given = given);
        command.wrong = read.is_err();
        (Some(command), read)
    }

    /// An element of the list after the header.
    fn sub(&mut self, what: &Token<'_>, fields: &[Token<'_>]) -> Result<(), TextError> {
        if self.wrong {
            return Ok(());
        }
        let multicast = self.get("flags").is_some_and(|flags| flags & u64::from(WritePacked::MCAST) != 0);
        let (size, known) = match self.info.name {
            "WRITE_PACKED" if multicast => (MulticastSub::SIZE, MulticastSub::FIELDS),
            "WRITE_PACKED" => (UnicastSub::SIZE, UnicastSub::FIELDS),
            "WRITE_PACKED_LARGE" => (LargeSub::SIZE, LargeSub::FIELDS),
            "RELAY_PAGED_PACKED" => (PagedPackedSub::SIZE, PagedPackedSub::FIELDS),
            "RELAY_RINGBUFFER" => (RingbufferSub::SIZE, RingbufferSub::FIELDS),
            name => return Err(TextError::new(what.span.clone(), format!("{name} has no sub-commands"))),
        };
        let mut sub = vec![0; size];
        set_all(&mut sub, known, fields)?;
        self.list.append(&mut sub);
        self.listed += 1;
        Ok(())
    }

    fn field(&self, name: &str) -> Option<&'static Field> {
        self.info.fields.iter().find(|field| field.name == name)
    }

    fn get(&self, name: &str) -> Option<u64> {
        let field = self.field(name)?;
        let raw = &self.header[field.offset..field.offset + field.bytes];
        Some(raw.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// Sets a field that the text does not give. A value that does not fit is truncated, as a host's own packing would
    /// do.
    fn derive(&mut self, name: &'static str, value: u64) {
        if let Some(field) = self.field(name).filter(|_| !self.given.contains(&name)) {
            self.header[field.offset..field.offset + field.bytes].copy_from_slice(&value.to_le_bytes()[..field.bytes]);
        }
    }

    /// The bytes of a dispatch command; counts and lengths are derived from the list and data if they are not given.
    fn finish_dispatch(mut self) -> Vec<u8> {
        let (listed, data) = (self.listed, self.data.len() as u64);
        for name in ["count", "num_words", "offset_count"] {
            self.derive(name, listed);
        }
        let header = if self.info.name == "WRITE_LINEAR_H_HOST" { self.header.len() as u64 } else { 0 };
        self.derive("length", header + data);
        let shared = self.get("flags").is_some_and(|flags| flags & u64::from(WritePacked::NO_STRIDE) != 0);
        if self.info.name == "WRITE_PACKED" {
            self.derive("size", if shared { data } else { data.checked_div(listed).unwrap_or(0) });
        }
        let mut out = self.header;
        out.append(&mut self.list);
        if !self.data.is_empty() {
            out.resize(out.len().next_multiple_of(L1_ALIGN as usize), 0);
            out.append(&mut self.data);
        }
        out
    }
}

/// Sets each `name=value` in the bytes of a structure, and returns the fields' names.
fn set_all(bytes: &mut [u8], fields: &[Field], tokens: &[Token<'_>]) -> Result<Vec<&'static str>, TextError> {
    let mut given = Vec::with_capacity(tokens.len());
    for token in tokens {
        let name = set(bytes, fields, token)?;
        if given.contains(&name) {
            return Err(TextError::new(token.span.clone(), format!("`{name}` is given twice")));
        }
        given.push(name);
    }
    Ok(given)
}

/// Sets `name=value` in the bytes of a structure, and returns the field's name.
fn set(bytes: &mut [u8], fields: &[Field], token: &Token<'_>) -> Result<&'static str, TextError> {
    let wrong = |message: String| TextError::new(token.span.clone(), message);
    let Some((name, text)) = token.text.split_once('=') else {
        return Err(wrong(format!("`{}` is not a field", token.text)).hint("fields are written `name=value`"));
    };
    let Some(field) = fields.iter().find(|field| field.name == name) else {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let hint = if names.is_empty() { "it has no fields".into() } else { format!("fields: {}", names.join(", ")) };
        return Err(wrong(format!("there is no field `{name}`")).hint(hint));
    };
    let most = if field.bytes == 8 { u64::MAX } else { (1 << (8 * field.bytes)) - 1 };
    let value = token.fits(field_value(name, text), most)?;
    bytes[field.offset..field.offset + field.bytes].copy_from_slice(&value.to_le_bytes()[..field.bytes]);
    Ok(field.name)
}
