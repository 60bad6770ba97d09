//! Payloads sent by the dispatchers: writes that workers need before they start, and the go signals that start them.

use super::chip::{Chip, Tile, TileId};
use super::memory::Location;
use super::noc::Port;
use super::world::{Stop, World};
use crate::interleave::Interleave;
use crate::layout::HOST_ADDRESS;
use crate::sanitize::Hazard;
use crate::wire::{PCIE_XY, Rect, Xy};

/// The location of page `index` of interleaved pages: the tile's word and the address there. A network has its own port
/// to each bank; the firmware's table of L1 banks lists all Tensix tiles row by row, including the queue's own cores.
pub(crate) fn page_address(chip: &Chip, dram: bool, noc: u8, base: u32, page: u32, index: u32) -> (u32, u64) {
    let memories = if dram { Interleave::dram(chip.banks()) } else { Interleave::l1(chip.tensix() as u32) };
    let (bank, behind) = memories.page(page.into(), index.into());
    let xy = match dram {
        true => chip.bank_port(bank, noc),
        false => chip.xy(bank as TileId),
    };
    (xy.word(), behind.saturating_add(base.into()))
}

impl World {
    fn check_target(&mut self, port: Port, tile: TileId, addr: u64, bytes: u32) -> Result<(), Stop> {
        let actor = port.actor();
        if self.chip.dispatches_for_another(tile) && self.layout.is_event(addr, bytes.into()) {
            return Ok(());
        }
        if self.chip.is_queue_core(tile) {
            let xy = self.chip.xy(tile);
            self.flag(actor, Hazard::QueueCoreWritten, || {
                format!("{bytes} bytes go to {addr:#x} of {xy}, a core of the queue")
            })?;
        }
        let firmware = u64::from(self.layout.worker.firmware)..u64::from(self.layout.kernel_config_base);
        if addr < firmware.end && addr.saturating_add(bytes.into()) > firmware.start {
            let xy = self.chip.xy(tile);
            self.flag(actor, Hazard::FirmwareOverwritten, || {
                format!("{bytes} bytes at {addr:#x} of {xy} overwrite its firmware")
            })?;
        }
        Ok(())
    }

    /// A dispatcher's write to one location.
    pub fn dispatch_write(&mut self, port: Port, from: u32, xy: u32, addr: u64, bytes: u32) -> Result<(), Stop> {
        if let (Tile::Tensix(tile), 0) = (self.chip.at(Xy::from_word(xy)), xy >> 24) {
            self.check_target(port, tile, addr, bytes)?;
            let epoch = self.nius[port as usize].epoch;
            self.payloads[tile as usize].unicast = epoch;
        }
        self.check_host_target(port, xy, addr, bytes)?;
        self.write(port, from, xy, addr, bytes)
    }

    /// A dispatched write to host memory must not hit the queue's own.
    fn check_host_target(&mut self, port: Port, xy: u32, addr: u64, bytes: u32) -> Result<(), Stop> {
        let own = self.layout.sysmem.own();
        let start = addr & HOST_ADDRESS;
        if xy != PCIE_XY || start >= own.end || start.saturating_add(bytes.into()) <= own.start {
            return Ok(());
        }
        self.flag(port.actor(), Hazard::QueueMemoryWritten, || {
            format!(
                "{bytes} bytes go to {start:#x} of host memory; {:#x}..{:#x} is the queue's own",
                own.start, own.end
            )
        })
    }

    /// A dispatcher's write to a rectangle.
    pub fn dispatch_multicast(
        &mut self,
        port: Port,
        from: u32,
        xy: u32,
        addr: u64,
        bytes: u32,
        announced: u32,
    ) -> Result<(), Stop> {
        let rect = Rect::from_word(xy);
        if let Tile::Tensix(tile) = self.chip.at(rect.low) {
            // Queue cores among the targets are detected when the tiles are counted.
            if !self.chip.is_queue_core(tile) {
                self.check_target(port, tile, addr, bytes)?;
            }
        }
        self.multicast(port, from, xy, addr, bytes, announced)
    }

    /// A go word for one worker.
    pub fn go_write(&mut self, port: Port, from: u32, xy: u32) -> Result<(), Stop> {
        let addr = self.layout.worker.go.into();
        if let Tile::Tensix(tile) = self.chip.at(Xy::from_word(xy)) {
            self.check_target(port, tile, addr, 4)?;
            self.go_leaves(port.actor(), tile);
            if let Some(unordered) = self.check_go(port, tile, false) {
                self.workers.overtaken(tile);
                self.flag(port.actor(), Hazard::GoBeforePayload, || unordered)?;
            }
        }
        match self.quirks.inline_go {
            true => self.inline_write(port, from, xy, addr),
            false => self.write(port, from, xy, addr, 4),
        }
    }

    /// A go word for all workers, through the rectangles that cover them.
    pub fn go_multicast(&mut self, port: Port, from: u32, addr: u32) -> Result<(), Stop> {
        for i in 0..self.chip.workers().len() {
            let tile = self.chip.workers()[i];
            self.go_leaves(port.actor(), tile);
            if let Some(unordered) = self.check_go(port, tile, true) {
                self.workers.overtaken(tile);
                self.flag(port.actor(), Hazard::GoBeforePayload, || unordered)?;
            }
        }
        for i in 0..self.go_rects.len() {
            let rect = self.go_rects[i];
            self.multicast(port, from, rect.word(), addr.into(), 4, rect.area())?;
        }
        Ok(())
    }

    /// Bytes of a DRAM bank or of host memory as a location, for tests and tools.
    pub fn place_of(&self, xy: Xy, addr: u64, bytes: u64) -> Option<Location> {
        match self.chip.at(xy) {
            Tile::Tensix(id) if addr.saturating_add(bytes) <= u64::from(self.layout.l1_bytes) => {
                Some(Location::L1(id, addr as u32))
            }
            Tile::Dram(bank) if addr.saturating_add(bytes) <= self.memory.bank_bytes => {
                Some(Location::Dram(bank, addr))
            }
            _ => None,
        }
    }
}
