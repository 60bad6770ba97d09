//! Targets of writes.

use super::{Linter, Memory};
use crate::board::Tile;
use crate::layout::{HOST_ADDRESS, HOST_REGION, L1_ALIGN};
use crate::lint::linter::Area;
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::{PCIE_XY, Rect, Xy};

/// Registers of a tile.
const REGISTERS: std::ops::Range<u64> = 0xFFB0_0000..0x1_0000_0000;

/// Number of rectangles that are kept.
const MOST_AREAS: usize = 16;

impl Linter {
    /// A write to one tile, or to host memory.
    pub(super) fn unicast(&mut self, at: CommandRef, noc_xy: u32, addr: u64, bytes: u64) {
        self.aligned(at, (addr, 0));
        if noc_xy == PCIE_XY {
            self.writes_host(at, addr & HOST_ADDRESS, bytes);
            return self.host_memory(at, addr & HOST_ADDRESS, bytes);
        }
        let tile = Xy::from_word(noc_xy);
        if noc_xy != tile.word() {
            let message = format!("{noc_xy:#x} is not a word of one tile");
            self.find_in(at, Hazard::NocUnmapped, message);
            return;
        }
        match self.board.tile_of_word(tile) {
            Tile::Pcie => self.find_in(at, Hazard::PcieAddress, format!("{noc_xy:#x} lacks bit 24")),
            Tile::Nothing => {
                let message = format!("there is nothing at {tile} of a {}", self.board.name);
                self.find_in(at, Hazard::NocUnmapped, message);
            }
            Tile::Prefetch | Tile::Dispatch if self.is_event(tile, addr, bytes) => {}
            Tile::Prefetch | Tile::Dispatch => {
                self.find_in(at, Hazard::QueueCoreWritten, format!("{tile} runs the queue"))
            }
            Tile::Dram(bank) if addr.saturating_add(bytes) > self.board.bank_bytes => {
                let message = format!("{bytes} bytes at {addr:#x} leave DRAM bank {bank}");
                self.find_in(at, Hazard::NocUnmapped, message);
            }
            Tile::Dram(bank) => self.writes_part(at, (Memory::Bank(bank), addr, addr.saturating_add(bytes))),
            Tile::Arc => {}
            Tile::Worker => {
                self.memory(at, addr, bytes);
                self.writes_part(at, (Memory::Tile(tile), addr, addr.saturating_add(bytes)));
                self.written(at, tile);
            }
        }
    }

    /// Whether bytes of a tile are words for this queue's events in another queue's dispatch core.
    fn is_event(&self, tile: Xy, addr: u64, bytes: u64) -> bool {
        self.board.others.is_some_and(|[_, dispatch]| tile == dispatch) && self.layout.is_event(addr, bytes)
    }

    /// A write to one tile may send another queue an event.
    pub(super) fn event(&mut self, noc_xy: u32, addr: u64, bytes: u64, data: &[u8]) {
        if self.order.is_none() || !self.is_event(Xy::from_word(noc_xy), addr, bytes) {
            return;
        }
        match data.first_chunk() {
            Some(word) if bytes >= 4 && addr.is_multiple_of(4) => {
                let event = u32::from_le_bytes(*word);
                self.order.iter_mut().for_each(|order| order.sends(addr, event));
            }
            _ => self.not_ordered("an event for the other queue whose number is not in the stream"),
        }
    }

    /// A write to host memory. The queue's own is known; other pinned memory, such as a driver's staging, is known only
    /// to a run.
    fn host_memory(&mut self, at: CommandRef, addr: u64, bytes: u64) {
        let host = &self.layout.sysmem;
        let (own, end) = (host.own(), addr.saturating_add(bytes));
        let pinned = host.noc_base..host.noc_base + u64::from(host.bytes);
        if addr < own.end && end > own.start {
            let message = format!(
                "{bytes} bytes at {addr:#x} of host memory; {:#x}..{:#x} is the queue's own",
                own.start, own.end
            );
            self.find_in(at, Hazard::QueueMemoryWritten, message);
        } else if addr < pinned.end && end > pinned.end || (pinned.end..pinned.start + HOST_REGION).contains(&addr) {
            let message = format!(
                "{bytes} bytes at {addr:#x} of host memory; the queue's pinned memory ends at {:#x}",
                pinned.end
            );
            self.find_in(at, Hazard::PcieOutside, message);
        } else if addr < pinned.start || addr >= pinned.end {
            self.not_judged("writes to host memory outside of the queue's own buffer: what is pinned there");
        }
    }

    /// A write to a rectangle, with the announced number of acknowledgements.
    /// `to` is the address, and the position of the bytes in the command's data.
    pub(super) fn multicast(&mut self, at: CommandRef, noc_xy: u32, to: (u64, u64), bytes: u64, announced: u32) {
        self.aligned(at, to);
        let (addr, _) = to;
        self.memory(at, addr, bytes);
        let rect = Rect::from_word(noc_xy);
        if !rect.is_ordered() {
            let message = format!("{rect}: the corner in the upper half is not the larger one");
            self.find_in(at, Hazard::MulticastCorners, message);
            return;
        }
        let Area { workers, answers, other, .. } = self.area(rect);
        if let Some(other) = other {
            let message = format!("{} of the {} tiles of {rect} are workers; {other} is none", workers, rect.area());
            self.find_in(at, Hazard::MulticastTargets, message);
        }
        if announced != answers {
            let message =
                format!("{announced} acknowledgements are announced for {rect}, from which {answers} tiles answer");
            self.find_in(at, Hazard::MulticastCount, message);
        }
        self.writes_all(at, rect, addr, bytes);
        self.written_all(at, rect);
    }

    fn area(&mut self, rect: Rect) -> Area {
        if let Some(known) = self.areas.iter().find(|known| known.rect == rect) {
            return *known;
        }
        let area = Area {
            rect,
            workers: self.board.workers_in(rect),
            answers: rect.tiles().filter(|tile| self.board.is_tensix(*tile)).count() as u32,
            other: rect.tiles().find(|tile| self.board.tile(*tile) != Tile::Worker),
        };
        // A driver uses only a few.
        if self.areas.len() == MOST_AREAS {
            self.areas.remove(0);
        }
        self.areas.push(area);
        area
    }

    /// The data of a command begin at a multiple of the alignment; bytes at `source` of them go to `addr`.
    pub(super) fn aligned(&mut self, at: CommandRef, (addr, source): (u64, u64)) {
        let align = u64::from(L1_ALIGN);
        if addr % align != source % align {
            let past = match source % align {
                0 => "at".to_string(),
                past => format!("{past} bytes past"),
            };
            let message = format!("the data lies {past} a multiple of {L1_ALIGN}, and is written to {addr:#x}");
            self.find_in(at, Hazard::NocAlignment, message);
        }
    }

    /// Pages in DRAM or L1 from one address to another of one tile.
    pub(super) fn pages_of(&mut self, at: CommandRef, tile: Option<Xy>, start: u64, end: u64) {
        let bytes = end - start;
        match tile.map(|tile| (tile, self.board.tile(tile))) {
            None if end > self.board.bank_bytes => {
                self.find_in(at, Hazard::NocUnmapped, format!("pages up to {end:#x} leave their DRAM bank"));
            }
            None => {}
            Some((tile, Tile::Worker)) => {
                self.memory(at, start, bytes);
                self.written(at, tile);
            }
            Some((tile, _)) => {
                let text = format!("{tile} runs the queue, and is one of the tiles that pages in L1 go around");
                self.find_in(at, Hazard::QueueCoreWritten, text);
            }
        }
    }

    /// Bytes of a worker's L1 or registers.
    fn memory(&mut self, at: CommandRef, addr: u64, bytes: u64) {
        let (l1, end) = (u64::from(self.layout.l1_bytes), addr.saturating_add(bytes));
        let firmware = u64::from(self.layout.worker.firmware)..u64::from(self.layout.kernel_config_base);
        if !REGISTERS.contains(&addr) && end > l1 {
            self.find_in(at, Hazard::L1Outside, format!("{bytes} bytes at {addr:#x} leave the {l1} bytes of L1"));
        } else if addr < firmware.end && end > firmware.start {
            let message =
                format!("{bytes} bytes at {addr:#x} meet the firmware at {:#x}..{:#x}", firmware.start, firmware.end);
            self.find_in(at, Hazard::FirmwareOverwritten, message);
        } else if let Some((hazard, message)) = self.layout.worker.mailbox_mistake(addr, bytes) {
            self.find_in(at, hazard, message);
        }
    }
}
