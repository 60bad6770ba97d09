//! Host actions other than queueing records, in the text form.

use std::ops::Range;

use super::values::{Line, bytes, places, tiles};
use super::{Act, ActKind, LEAST_ENTRY, Parser, TextError};
use crate::board::{Tile, cover};
use crate::capture::text::error::MOST_BYTES;
use crate::host::Settings;
use crate::layout::{HOST_REGION, HOST_REGIONS, LONGEST_POLL, REGISTERS};
use crate::wire::Xy;

/// Maximum number of cycles of one pause.
const LONGEST_PAUSE: u64 = 1 << 40;

impl Parser {
    /// A statement for a host action; loads from tiles are handled elsewhere.
    pub(super) fn host(&mut self, line: &Line<'_>, what: &str) -> Result<(), TextError> {
        match what {
            "store" => self.store(line),
            "poll" => self.poll(line),
            "pin" | "unpin" => self.pin(line, what == "pin"),
            "pause" => {
                let cycles = line.number(0, "a number of cycles", LONGEST_PAUSE)?;
                self.act(line, ActKind::Pause { cycles })
            }
            "load" => {
                let (addr, bytes) =
                    (line.number(1, "an address", u64::MAX)?, line.number(2, "a number of bytes", 0x1_0000)?);
                self.in_host(line, addr, bytes)?;
                self.act(line, ActKind::Load { tile: None, addr, bytes: bytes as u32 })
            }
            _ => self.act(line, ActKind::Take),
        }
    }

    /// Declares two queues, or selects one of them for what follows.
    pub(super) fn queues(&mut self, line: &Line<'_>, opens: bool) -> Result<(), TextError> {
        let number = line.number(0, if opens { "2" } else { "0 or 1" }, 2)?;
        let wrong = |message: &str| Err(TextError::new(line.span.clone(), message));
        if !opens {
            return match (&self.pair, number) {
                (Some(pair), 0 | 1) => {
                    let moved = HOST_REGION * u64::from(self.queue);
                    self.layout.sysmem.noc_base = self.layout.sysmem.noc_base - moved + HOST_REGION * number;
                    (self.queue, self.board) = (number as u8, Some(pair[number as usize].clone()));
                    Ok(())
                }
                (Some(_), _) => wrong("there are queues 0 and 1"),
                (None, _) => wrong("there is one queue; a stream of two says `queues 2` before all records"),
            };
        }
        if number != 2 || self.pair.is_some() || !self.out.capture.entries.is_empty() {
            return wrong("`queues 2` stands once, before all records");
        }
        let pair = self.board()?.pair().map_err(|why| TextError::new(line.span.clone(), why))?;
        self.out.capture.two_queues = true;
        self.pair = Some(pair);
        Ok(())
    }

    fn store(&mut self, line: &Line<'_>) -> Result<(), TextError> {
        let what = line.word(0, "tiles, or `pcie`")?;
        let addr = line.number(1, "an address", u64::MAX)?;
        let most = MOST_BYTES.saturating_sub(self.bytes);
        let data = bytes(line.rest(2), most)?;
        if what.text == "pcie" {
            self.in_host(line, addr, data.len() as u64)?;
            return self.act(line, ActKind::Store { tiles: None, addr, bytes: data });
        }
        let board = self.board()?;
        let places = match what.text {
            "workers" => cover(board.workers()),
            _ => places(what)?,
        };
        if data.len().saturating_mul(places.len()) > most {
            return Err(TextError::full(line.span.clone()));
        }
        for rect in places {
            let worker = |tile: &Xy| board.tile(*tile) == Tile::Worker;
            let tile = if rect.low == rect.high { Some(rect.low) } else { rect.tiles().find(worker) };
            let none = || TextError::new(what.span.clone(), format!("no worker is in {rect}"));
            let tile = tile.ok_or_else(none)?;
            self.in_tile(line, tile, addr, data.len() as u64)?;
            self.act(line, ActKind::Store { tiles: Some(rect), addr, bytes: data.clone() })?;
        }
        Ok(())
    }

    fn poll(&mut self, line: &Line<'_>) -> Result<(), TextError> {
        let board = self.board()?;
        let tiles = tiles(line.word(0, "tiles")?, &board, false)?;
        let addr = line.number(1, "an address", u64::MAX)?;
        let data = bytes(line.rest(2), MOST_BYTES.saturating_sub(self.bytes))?;
        if data.len() > LONGEST_POLL {
            let message = format!("{} bytes are more than a host polls at once, {LONGEST_POLL}", data.len());
            return Err(TextError::new(line.span.clone(), message));
        }
        for tile in tiles {
            self.in_tile(line, tile, addr, data.len() as u64)?;
            if addr >= REGISTERS {
                let message = "registers are not polled: a stream knows nothing of the processors behind them";
                return Err(TextError::new(line.span.clone(), message));
            }
            self.act(line, ActKind::Poll { tile, addr, bytes: data.clone() })?;
        }
        Ok(())
    }

    fn pin(&mut self, line: &Line<'_>, pins: bool) -> Result<(), TextError> {
        let addr = line.number(0, "an address as the device sees it", HOST_REGION * (HOST_REGIONS - 1))?;
        let wrong = |message: String| Err(TextError::new(line.span.clone(), message));
        let own = &self.layout.sysmem;
        if !addr.is_multiple_of(HOST_REGION) {
            return wrong(format!("memory is pinned at multiples of {HOST_REGION:#x}"));
        }
        let known = self.pinned.iter().position(|range| range.start == addr);
        if !pins {
            let Some(known) = known else {
                return wrong(format!("no `pin` of this stream has pinned memory at {addr:#x}"));
            };
            self.pinned.swap_remove(known);
            return self.act(line, ActKind::Unpin { addr });
        }
        let bytes = line.number(1, "a number of bytes", HOST_REGION)?;
        let least = if addr == own.noc_base { own.bytes.into() } else { 1 };
        if bytes < least {
            return wrong(format!("at least {least} bytes are pinned at {addr:#x}"));
        }
        if let Some(known) = known {
            self.pinned.swap_remove(known);
        }
        self.pinned.push(addr..addr + bytes);
        self.act(line, ActKind::Pin { addr, bytes })
    }

    /// Whether a tile has these bytes for a host, or a register.
    fn in_tile(&mut self, line: &Line<'_>, tile: Xy, addr: u64, bytes: u64) -> Result<(), TextError> {
        let board = self.board()?;
        let capacity = match board.tile(tile) {
            Tile::Worker if addr >= REGISTERS && bytes == 4 => u64::MAX,
            Tile::Worker => self.layout.l1_bytes.into(),
            Tile::Dram(_) => board.bank_bytes,
            Tile::Prefetch | Tile::Dispatch => {
                let message = format!("{tile} is a core of the queue, which the queue alone drives");
                return Err(TextError::new(line.span.clone(), message));
            }
            Tile::Pcie | Tile::Arc | Tile::Nothing => 0,
        };
        if bytes == 0 || addr.saturating_add(bytes) > capacity {
            let message = format!("{tile} of a {} has no {bytes} bytes at {addr:#x}", board.name);
            return Err(TextError::new(line.span.clone(), message));
        }
        Ok(())
    }

    /// Whether pinned memory has these bytes.
    fn in_host(&self, line: &Line<'_>, addr: u64, bytes: u64) -> Result<(), TextError> {
        let own = &self.layout.sysmem;
        let queue = own.noc_base..own.noc_base + u64::from(own.bytes);
        // Memory that the queue's host pins first, so that the queue's own memory is where the kernels expect it.
        let staging = 0..Settings::CAREFUL.staging_bytes.min(queue.start);
        let inside = |range: &Range<u64>| range.start <= addr && addr.saturating_add(bytes) <= range.end;
        let pinned = self.pinned.iter().any(inside);
        let first = !self.pinned.iter().any(|range| range.start == 0) && inside(&staging);
        if bytes > 0 && (pinned || first || inside(&queue)) {
            return Ok(());
        }
        let message = format!(
            "no pinned memory has {bytes} bytes at {addr:#x}; the queue's own is from {:#x} to {:#x}",
            queue.start, queue.end
        );
        Err(TextError::new(line.span.clone(), message).hint("other memory is pinned by `pin ADDR BYTES`"))
    }

    /// A host action at this point; a preceding `wait` comes first.
    pub(super) fn act(&mut self, line: &Line<'_>, kind: ActKind) -> Result<(), TextError> {
        let data = match &kind {
            ActKind::Store { bytes, .. } | ActKind::Poll { bytes, .. } => bytes.len(),
            _ => 0,
        };
        self.bytes += data.max(LEAST_ENTRY);
        if self.bytes > MOST_BYTES {
            return Err(TextError::full(line.span.clone()));
        }
        let capture = &mut self.out.capture;
        let before = capture.entries.len();
        let waits = std::mem::take(&mut self.waits).then_some(ActKind::Wait);
        capture.acts.extend(waits.into_iter().chain([kind]).map(|kind| {
            let (span, queue) = (line.span.clone(), self.queue);
            Act { span, queue, ..Act::new(before, kind) }
        }));
        Ok(())
    }
}
