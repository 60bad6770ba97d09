//! Memory that commands write and the prefetcher then reads: the prefetcher runs ahead of the dispatcher, and only a
//! STALL or the host holds it back.

use super::Linter;
use crate::board::Tile;
use crate::interleave::Interleave;
use crate::layout::HOST_ADDRESS;
use crate::lint::memory::{Bytes, Memory};
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::{PCIE_XY, Rect, Xy};

/// Pages distributed over the banks, or over all Tensix tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pages {
    pub dram: bool,
    pub base: u32,
    pub page: u64,
    pub first: u64,
    pub count: u64,
}

impl Linter {
    /// The parts of pages, by memory.
    fn parts(&self, pages: Pages) -> Vec<Bytes> {
        let memories: Vec<Memory> = match pages.dram {
            true => (0..self.board.banks.len() as u32).map(Memory::Bank).collect(),
            false => self.board.tensix().map(Memory::Tile).collect(),
        };
        let interleave = if pages.dram { Interleave::dram } else { Interleave::l1 }(memories.len() as u32);
        let count = interleave.memories();
        let end = pages.first.saturating_add(pages.count);
        let mut parts = Vec::new();
        for (number, memory) in memories.into_iter().enumerate() {
            // The first and the last page of this memory.
            let first = pages.first + (number as u64 + count - pages.first % count) % count;
            if first >= end || pages.page == 0 {
                continue;
            }
            let last = first + (end - 1 - first) / count * count;
            let at = |page: u64| u64::from(pages.base).saturating_add(interleave.page(pages.page, page).1);
            parts.push((memory, at(first), at(last).saturating_add(pages.page)));
        }
        parts
    }

    /// A command writes a range of host memory.
    pub(super) fn writes_host(&mut self, at: CommandRef, addr: u64, bytes: u64) {
        self.writes_part(at, (Memory::Host, addr, addr.saturating_add(bytes)));
    }

    /// A go message, which must come after earlier writes.
    pub(super) fn writes_go(&mut self, at: CommandRef, tile: Xy) {
        let go = u64::from(self.layout.worker.go);
        self.unread.add(Memory::Tile(tile), go, go + 4, self.unread.barriers, at);
    }

    /// A command writes a range.
    pub(super) fn writes_part(&mut self, at: CommandRef, part: Bytes) {
        if let Some(other) = self.unread.overtakes(&part).filter(|other| other.index != at.index) {
            let message =
                format!("it writes what {other} writes, in another channel: no barrier says which comes last");
            self.find_in(at, Hazard::WriteOvertakesWrite, message);
        }
        self.host_has_read(at, &part);
        if let Some(order) = &mut self.order {
            order.writes(part, at, self.record);
        }
        let (memory, start, end) = part;
        if let Memory::Bank(bank) = memory
            && !self.live
        {
            self.known.forget(bank, start, end);
        }
        self.unread.add(memory, start, end, self.unread.barriers, at);
    }

    /// A command writes bytes of all tiles of a rectangle.
    pub(super) fn writes_all(&mut self, at: CommandRef, rect: Rect, addr: u64, bytes: u64) {
        let end = addr.saturating_add(bytes);
        if !self.host_results.is_quiet() {
            rect.tiles().for_each(|tile| self.host_has_read(at, &(Memory::Tile(tile), addr, end)));
        }
        self.writes_part(at, (Memory::Tiles(rect.word()), addr, end));
    }

    /// A command writes pages.
    pub(super) fn writes_pages(&mut self, at: CommandRef, pages: Pages) {
        let parts = self.parts(pages);
        for (memory, start, end) in &parts {
            let tile = match memory {
                Memory::Tile(tile) => Some(*tile),
                _ => None,
            };
            let found = self.report.met.values().sum::<u64>();
            self.pages_of(at, tile, *start, *end);
            // Repeating it for further tiles adds no information.
            if self.report.met.values().sum::<u64>() > found {
                break;
            }
        }
        parts.into_iter().for_each(|part| self.writes_part(at, part));
    }

    pub(super) fn memory_of(&self, tile: Xy) -> Option<Memory> {
        match self.board.tile(tile) {
            Tile::Dram(bank) => Some(Memory::Bank(bank)),
            Tile::Worker => Some(Memory::Tile(tile)),
            _ => None,
        }
    }

    /// Why something does not answer for all bytes that the prefetcher reads, as the network resolves them. Pinned
    /// memory is known only to a run.
    fn unanswered(&self, noc_xy: u32, addr: u64, bytes: u64) -> Option<(Hazard, String)> {
        let (tile, end) = (Xy::from_word(noc_xy), addr.saturating_add(bytes));
        let host = noc_xy & (PCIE_XY & !0xFFF) != 0;
        match self.board.tile_of_word(tile) {
            Tile::Pcie if host => None,
            _ if host => {
                let message = format!("the word {noc_xy:#x} marks host memory, but {tile} is not the PCIe tile");
                Some((Hazard::PcieAddress, message))
            }
            Tile::Pcie => Some((Hazard::PcieAddress, format!("{noc_xy:#x} lacks bit 24"))),
            Tile::Worker | Tile::Prefetch | Tile::Dispatch if end > u64::from(self.layout.l1_bytes) => {
                let size = self.layout.l1_bytes;
                Some((Hazard::L1Outside, format!("{bytes} bytes at {addr:#x} of {tile} leave its {size:#x} bytes")))
            }
            Tile::Dram(bank) if end > self.board.bank_bytes => {
                Some((Hazard::NocUnmapped, format!("{bytes} bytes at {addr:#x} leave DRAM bank {bank}")))
            }
            Tile::Nothing | Tile::Arc => {
                Some((Hazard::NocUnmapped, format!("nothing answers for {bytes} bytes at {addr:#x} of {tile}")))
            }
            _ => None,
        }
    }

    /// The prefetcher reads bytes of one tile.
    pub(super) fn reads(&mut self, noc_xy: u32, addr: u64, bytes: u64) {
        if let Some((hazard, message)) = self.unanswered(noc_xy, addr, bytes) {
            return self.find(hazard, message);
        }
        let addr = if noc_xy == PCIE_XY { addr & HOST_ADDRESS } else { addr };
        let memory = match noc_xy {
            PCIE_XY => Some(Memory::Host),
            _ => self.memory_of(Xy::from_word(noc_xy)).filter(|_| noc_xy >> 12 == 0),
        };
        let queue = self.layout.sysmem.own();
        let what = match memory {
            Some(Memory::Host) if addr < queue.end && addr.saturating_add(bytes) > queue.start => Some(format!(
                "{bytes} bytes at {addr:#x} of host memory; {:#x}..{:#x} is the queue's own",
                queue.start, queue.end
            )),
            None if noc_xy >> 12 == 0 => self.queue_core(Xy::from_word(noc_xy)),
            _ => None,
        };
        if let Some(what) = what {
            return self.find(Hazard::RelayFromQueue, format!("it reads {what}"));
        }
        if let Some(memory) = memory {
            let modulo = if matches!(memory, Memory::Tile(_)) { 16 } else { 64 };
            self.congruent(addr, modulo);
            self.reads_parts(Hazard::RelayBeforeWrite, &[(memory, addr, addr.saturating_add(bytes))]);
        }
    }

    fn queue_core(&self, tile: Xy) -> Option<String> {
        matches!(self.board.tile(tile), Tile::Prefetch | Tile::Dispatch)
            .then(|| format!("the L1 of {tile}, which runs the queue"))
    }

    /// The read data land in scratch memory, which starts at a multiple of 64.
    fn congruent(&mut self, addr: u64, modulo: u64) {
        if !addr.is_multiple_of(modulo) {
            let message = format!("it reads from {addr:#x} to a multiple of 64: not congruent modulo {modulo}");
            self.find(Hazard::NocAlignment, message);
        }
    }

    /// The prefetcher reads pages.
    pub(super) fn reads_pages(&mut self, hazard: Hazard, pages: Pages) {
        let modulo = if pages.dram { 64 } else { 16 };
        self.congruent(pages.base.into(), modulo);
        if pages.count > 1 && !pages.page.is_multiple_of(modulo) {
            let text = format!(
                "pages of {} bytes land one after the other: the second is not congruent modulo {modulo}",
                pages.page
            );
            self.find(Hazard::NocAlignment, text);
        }
        let parts = self.parts(pages);
        let cores = parts.iter().filter_map(|(memory, ..)| match memory {
            Memory::Tile(tile) => self.queue_core(*tile),
            _ => None,
        });
        if let Some(core) = cores.into_iter().next() {
            let message = format!("it reads {core} and is one of the tiles that pages in L1 go around");
            self.find(Hazard::RelayFromQueue, message);
        }
        self.reads_parts(hazard, &parts);
    }

    fn reads_parts(&mut self, hazard: Hazard, parts: &[Bytes]) {
        if let (Some(order), Some(relay)) = (&mut self.order, self.relay) {
            parts.iter().for_each(|part| order.reads(*part, relay, self.record));
        }
        let write = self.unread.meets(parts);
        let go = self.results.reads(parts, self.record, self.relay);
        if let Some(write) = write {
            let message = format!("it reads what {write} writes, and the prefetcher waits for nothing in between");
            self.find(hazard, message);
        } else if let Some(go) = go {
            let message = format!(
                "it reads memory of a worker that {go} starts, and the prefetcher does not wait until the worker is done"
            );
            self.find(Hazard::RelayBeforeDone, message);
        } else {
            self.hold(hazard, parts);
        }
    }
}
