//! Where writes go.

use super::Linter;
use crate::board::Tile;
use crate::layout::L1_ALIGN;
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::{PCIE_XY, Rect, Xy};

/// Addresses from here on are registers of a tile.
const REGISTERS: u64 = 0xFFB0_0000;

impl Linter<'_> {
    /// A write to one tile, or to host memory.
    pub(super) fn unicast(&mut self, at: CommandRef, noc_xy: u32, addr: u64, bytes: u64) {
        self.aligned(at, addr);
        if noc_xy == PCIE_XY {
            let host = &self.layout.sysmem;
            let end = addr.saturating_add(bytes);
            if addr < host.noc_base || end > host.noc_base + u64::from(host.bytes) {
                let message = format!("{bytes} bytes at {addr:#x} of host memory are not in the queue's pinned memory");
                self.find_in(at, Hazard::PcieOutside, message);
            }
            return;
        }
        let tile = Xy::from_word(noc_xy);
        if noc_xy != tile.word() {
            let message = format!("{noc_xy:#x} is no word of one tile");
            self.find_in(at, Hazard::NocUnmapped, message);
            return;
        }
        match self.board.tile(tile) {
            Tile::Pcie => self.find_in(at, Hazard::PcieAddress, format!("{noc_xy:#x} lacks bit 24")),
            Tile::Nothing => {
                let message = format!("there is nothing at {tile} of a {}", self.board.name);
                self.find_in(at, Hazard::NocUnmapped, message);
            }
            Tile::Prefetch | Tile::Dispatch => {
                self.find_in(at, Hazard::QueueCoreWritten, format!("{tile} runs the queue"))
            }
            Tile::Dram(bank) if addr.saturating_add(bytes) > self.board.bank_bytes => {
                let message = format!("{bytes} bytes at {addr:#x} leave DRAM bank {bank}");
                self.find_in(at, Hazard::NocUnmapped, message);
            }
            Tile::Dram(_) | Tile::Arc => {}
            Tile::Worker => {
                self.memory(at, addr, bytes);
                self.written(at, tile, false);
            }
        }
    }

    /// A write to a rectangle, with the number of acknowledgements that is announced.
    pub(super) fn multicast(&mut self, at: CommandRef, noc_xy: u32, addr: u64, bytes: u64, announced: u32) {
        self.aligned(at, addr);
        self.memory(at, addr, bytes);
        let rect = Rect::from_word(noc_xy);
        if !rect.is_ordered() {
            let message = format!("{rect}: the corner in the upper half is not the larger one");
            self.find_in(at, Hazard::MulticastCorners, message);
            return;
        }
        let workers = self.board.workers_in(rect);
        if workers != rect.area() {
            let other = rect.tiles().find(|tile| self.board.tile(*tile) != Tile::Worker).unwrap_or(rect.low);
            let message = format!("{} of the {} tiles of {rect} are workers; {other} is none", workers, rect.area());
            self.find_in(at, Hazard::MulticastTargets, message);
        }
        // The queue's own cores answer as well.
        let answers = rect.tiles().filter(|tile| self.board.is_tensix(*tile)).count() as u32;
        if announced != answers {
            let message =
                format!("{announced} acknowledgements are announced for {rect}, from which {answers} tiles answer");
            self.find_in(at, Hazard::MulticastCount, message);
        }
        for tile in rect.tiles() {
            self.written(at, tile, true);
        }
    }

    fn aligned(&mut self, at: CommandRef, addr: u64) {
        if !addr.is_multiple_of(u64::from(L1_ALIGN)) {
            let message = format!("the data lies at a multiple of {L1_ALIGN}, and is written to {addr:#x}");
            self.find_in(at, Hazard::NocAlignment, message);
        }
    }

    /// Bytes of a worker's L1 or registers.
    fn memory(&mut self, at: CommandRef, addr: u64, bytes: u64) {
        let (l1, end) = (u64::from(self.layout.l1_bytes), addr.saturating_add(bytes));
        let firmware = u64::from(self.layout.worker.firmware)..u64::from(self.layout.kernel_config_base);
        if addr < REGISTERS && end > l1 {
            self.find_in(at, Hazard::L1Outside, format!("{bytes} bytes at {addr:#x} leave the {l1} bytes of L1"));
        } else if addr < firmware.end && end > firmware.start {
            let message =
                format!("{bytes} bytes at {addr:#x} meet the firmware at {:#x}..{:#x}", firmware.start, firmware.end);
            self.find_in(at, Hazard::FirmwareOverwritten, message);
        }
    }
}
