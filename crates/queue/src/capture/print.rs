//! The text form of a capture: the output of `slipring queue decode`, which [`parse`](super::parse) reads again.

use std::fmt::Write;

use super::{Act, ActKind, Capture};
use crate::wire::{
    Dispatch, DispatchCommand, Field, PCIE_XY, Packed, Prefetch, PrefetchCommand, Rect, RelaySubs, Subs, WireError, Xy,
};

/// Text of a capture. Parsing it gives the same slots and bytes.
pub fn print(capture: &Capture) -> String {
    let mut out = format!("board {}\n", capture.board);
    for (name, value) in &capture.layout {
        let _ = writeln!(out, "layout {name} {value:#x}");
    }
    if capture.two_queues {
        out += "queues 2\n";
    }
    let (mut issue, mut command, mut queue) = (0u64, 0, 0);
    for (index, entry) in capture.entries.iter().enumerate() {
        acts(capture, index, &mut queue, &mut out);
        goes_to(entry.queue, &mut queue, &mut out);
        let _ = write!(out, "\n{}record", if entry.waits { "wait\n" } else { "" });
        let size = entry.bytes.len();
        if usize::from(entry.slot) != size / 16 || !size.is_multiple_of(16) {
            let _ = write!(out, " slot={:#06x}", entry.slot);
        }
        let _ = writeln!(out, "  # {index}: stream +{issue:#x}, {size} bytes{}", at_cycle(entry.cycle));
        issue += size as u64;
        let mut at = 0;
        while at < entry.bytes.len() {
            match PrefetchCommand::decode(&entry.bytes[at..]) {
                Ok((relay, stride)) if stride > 0 && relay.encode() == entry.bytes[at..at + stride] => {
                    relayed(&relay, at, &mut command, &mut out);
                    at += stride;
                }
                other => {
                    let why = match other {
                        Ok(_) => "has bytes where no field is".to_string(),
                        Err(error) => error.shifted(at as u64).to_string(),
                    };
                    let _ = writeln!(out, "  bytes {}  # +{at:#x}: {why}", hex(&entry.bytes[at..]));
                    break;
                }
            }
        }
    }
    acts(capture, capture.entries.len(), &mut queue, &mut out);
    for dump in &capture.dumps {
        let _ = writeln!(out, "\ndump {} {:#x} {}", dump.tile, dump.addr, dump.bytes);
    }
    out
}

/// The host actions after this many records have been queued.
fn acts(capture: &Capture, records: usize, queue: &mut u8, out: &mut String) {
    for (_, Act { kind, cycle, queue: own, .. }) in capture.acts_before(records) {
        goes_to(*own, queue, out);
        let places = |tiles: &Option<Rect>| match tiles {
            None => "pcie".to_string(),
            Some(tiles) if tiles.low == tiles.high => tiles.low.to_string(),
            Some(tiles) => tiles.to_string(),
        };
        let _ = match kind {
            ActKind::Wait => write!(out, "\nwait"),
            ActKind::Take => write!(out, "\ntake"),
            ActKind::Load { tile: Some(tile), addr, bytes } => write!(out, "\nload {tile} {addr:#x} {bytes}"),
            ActKind::Load { tile: None, addr, bytes } => write!(out, "\nload pcie {addr:#x} {bytes}"),
            ActKind::Store { tiles, addr, bytes } => {
                write!(out, "\nstore {} {addr:#x} {}", places(tiles), hex(bytes))
            }
            ActKind::Poll { tile, addr, bytes } => write!(out, "\npoll {tile} {addr:#x} {}", hex(bytes)),
            ActKind::Pin { addr, bytes } => write!(out, "\npin {addr:#x} {bytes}"),
            ActKind::Unpin { addr } => write!(out, "\nunpin {addr:#x}"),
            ActKind::Pause { cycles } => write!(out, "\npause {cycles}"),
        };
        let _ = writeln!(out, "{}", if *cycle > 0 { format!("  # cycle {cycle}") } else { String::new() });
    }
}

/// Switches to another queue, if what follows belongs to it.
fn goes_to(queue: u8, last: &mut u8, out: &mut String) {
    if std::mem::replace(last, queue) != queue {
        let _ = writeln!(out, "\nqueue {queue}");
    }
}

/// A time, as a comment.
fn at_cycle(cycle: u64) -> String {
    if cycle > 0 { format!(", cycle {cycle}") } else { String::new() }
}

/// A prefetch command and the data it relays.
fn relayed(relay: &PrefetchCommand, at: usize, command: &mut u64, out: &mut String) {
    let header = &relay.header;
    let _ = writeln!(out, "  {}{}  # +{at:#x}", header.name(), fields(&header.fields()));
    match &relay.subs {
        RelaySubs::None => {}
        RelaySubs::PagedPacked(list) => list.iter().for_each(|s| sub(s, "  ", out)),
        RelaySubs::Ringbuffer(list) => list.iter().for_each(|s| sub(s, "  ", out)),
    }
    if matches!(header, Prefetch::RelayInlineNoflush(_)) {
        // Its data continue in the next relay: at least the header can be shown.
        noflush(&relay.payload, command, out);
    } else if header.inline().is_some() {
        match whole(&relay.payload) {
            Ok(inner) => dispatched(&inner, *command, out),
            Err(why) => {
                let _ = writeln!(out, "  > bytes {}  # {why}", hex(&relay.payload));
            }
        }
        *command += 1;
    } else if !relay.payload.is_empty() {
        let _ = writeln!(out, "  > bytes {}", hex(&relay.payload));
    }
    if relay.padding.iter().any(|byte| *byte != 0) {
        let _ = writeln!(out, "  padding {}", hex(&relay.padding));
    }
}

/// A payload that consists of exactly one command.
fn whole(payload: &[u8]) -> Result<DispatchCommand, String> {
    let (inner, length) = DispatchCommand::decode(payload).map_err(|error: WireError| error.to_string())?;
    if length != payload.len() {
        return Err(format!("{} takes {length} bytes of {}", inner.header.name(), payload.len()));
    }
    if inner.encode() != payload {
        return Err(format!("{} has bytes where no field is", inner.header.name()));
    }
    Ok(inner)
}

fn noflush(payload: &[u8], command: &mut u64, out: &mut String) {
    let _ = match Dispatch::decode(payload) {
        Ok(header) => {
            *command += 1;
            writeln!(
                out,
                "  > bytes {}  # {}: {}{}",
                hex(payload),
                *command - 1,
                header.name(),
                fields(&header.fields())
            )
        }
        Err(_) => writeln!(out, "  > bytes {}", hex(payload)),
    };
}

fn dispatched(inner: &DispatchCommand, command: u64, out: &mut String) {
    let _ = writeln!(out, "  > {}{}  # {command}", inner.header.name(), fields(&inner.header.fields()));
    match &inner.subs {
        Subs::None => {}
        Subs::Unicast(list) => list.iter().for_each(|s| sub(s, "  > ", out)),
        Subs::Multicast(list) => list.iter().for_each(|s| sub(s, "  > ", out)),
        Subs::Large(list) => list.iter().for_each(|s| sub(s, "  > ", out)),
        Subs::Words(words) => {
            for line in words.chunks(8) {
                let words: Vec<String> = line.iter().map(|word| format!("{word:#x}")).collect();
                let _ = writeln!(out, "  > words {}", words.join(" "));
            }
        }
    }
    if !inner.data.is_empty() {
        let _ = writeln!(out, "  > data {}", hex(&inner.data));
    }
}

fn sub<T: Packed>(value: &T, indent: &str, out: &mut String) {
    let values: Vec<(Field, u64)> = T::FIELDS.iter().copied().zip(value.values()).collect();
    let _ = writeln!(out, "{indent}sub{}", fields(&values));
}

/// Nonzero fields. Location words are shown as locations.
fn fields(list: &[(Field, u64)]) -> String {
    let mut out = String::new();
    for (field, value) in list.iter().filter(|(_, value)| *value != 0) {
        let _ = match field.name {
            "noc_xy" => write!(out, " noc_xy={}", place(*value as u32)),
            name if name.contains("addr") || name.contains("flags") || name == "go_signal" => {
                write!(out, " {name}={value:#x}")
            }
            name => write!(out, " {name}={value}"),
        };
    }
    out
}

/// A word for a tile or a rectangle, in the text form.
fn place(word: u32) -> String {
    let (tile, rect) = (Xy::from_word(word), Rect::from_word(word));
    if word == PCIE_XY {
        "pcie".into()
    } else if tile.word() == word {
        tile.to_string()
    } else if rect.word() == word {
        rect.to_string()
    } else {
        format!("{word:#x}")
    }
}

/// Bytes in hexadecimal; long runs of one byte as `00*96`.
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len().min(1 << 16) + 8);
    let mut joined = false;
    for run in bytes.chunk_by(|a, b| a == b) {
        if run.len() >= 8 {
            let _ = write!(out, "{}{:02x}*{}", if out.is_empty() { "" } else { " " }, run[0], run.len());
            joined = false;
            continue;
        }
        if !joined && !out.is_empty() {
            out.push(' ');
        }
        joined = true;
        run.iter().for_each(|byte| {
            let _ = write!(out, "{byte:02x}");
        });
    }
    out
}
