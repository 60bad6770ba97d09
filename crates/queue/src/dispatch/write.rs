//! Writes to one address, to a rectangle, and to interleaved pages.

use super::Dispatcher;
use crate::machine::{Port, Stop, Tile, page_address};
use crate::sanitize::Hazard;
use crate::wire::{WriteLinear, WritePaged, Xy};

/// Maximum number of bytes written at once.
const BURST: u32 = 16384;

impl Dispatcher {
    /// WRITE_LINEAR.
    pub(super) async fn write_linear(&mut self, c: WriteLinear) -> Result<(), Stop> {
        let mut addr = c.addr.wrapping_add(self.write_offset(c.write_offset_index.into())?.into());
        let mut left = c.length;
        let multicast = c.num_mcast_dests > 0;
        self.check_mailboxes(c.noc_xy, multicast, addr, c.length)?;
        if multicast && self.core.look().multicast_in_flight(Port::Dispatch) {
            self.core.flag(Hazard::MulticastBackToBack, || {
                "WRITE_LINEAR multicasts while the multicast before it is not acknowledged".to_string()
            })?;
        }
        while left > 0 {
            let there = self.reader.available(&self.core, &mut self.cmd_ptr).await?;
            let bytes = u64::from(there.min(BURST)).min(left) as u32;
            self.reader.check_filled(&self.core, self.cmd_ptr, self.cmd_ptr + bytes)?;
            let mut world = self.core.world();
            match multicast {
                false => world.dispatch_write(Port::Dispatch, self.cmd_ptr, c.noc_xy, addr, bytes)?,
                true => {
                    let announced = c.num_mcast_dests.into();
                    world.dispatch_multicast(Port::Dispatch, self.cmd_ptr, c.noc_xy, addr, bytes, announced)?;
                }
            }
            self.cmd_ptr += bytes;
            self.end = self.cmd_ptr;
            (addr, left) = (addr.wrapping_add(bytes.into()), left - u64::from(bytes));
        }
        Ok(())
    }

    /// WRITE_PAGED.
    pub(super) async fn write_paged(&mut self, c: WritePaged) -> Result<(), Stop> {
        // The firmware uses 32-bit arithmetic.
        let mut left = c.pages.wrapping_mul(c.page_size);
        let (mut index, mut offset) = (u32::from(c.start_page), 0);
        while left > 0 {
            let there = self.reader.available(&self.core, &mut self.cmd_ptr).await?;
            let bytes = left.min(c.page_size - offset).min(there).min(BURST);
            self.reader.check_filled(&self.core, self.cmd_ptr, self.cmd_ptr + bytes)?;
            let mut world = self.core.world();
            let (xy, addr) = page_address(&world.chip, c.is_dram != 0, 1, c.base_addr, c.page_size, index);
            world.dispatch_write(Port::Dispatch, self.cmd_ptr, xy, addr.saturating_add(offset.into()), bytes)?;
            (self.cmd_ptr, left, offset) = (self.cmd_ptr + bytes, left - bytes, offset + bytes);
            self.end = self.cmd_ptr;
            if offset == c.page_size {
                (index, offset) = (index.wrapping_add(1), 0);
            }
        }
        Ok(())
    }

    /// Checks that a write of this size to tiles' L1 does not leave a mailbox half written.
    pub(super) fn check_mailboxes(&self, xy: u32, multicast: bool, addr: u64, bytes: u64) -> Result<(), Stop> {
        let mut world = self.core.world();
        let worker = |tile| matches!(world.chip.at(tile), Tile::Tensix(id) if !world.chip.is_queue_core(id));
        let hits = match multicast {
            false => xy >> 24 == 0 && worker(Xy::from_word(xy)),
            true => true,
        };
        match world.layout.worker.mailbox_mistake(addr, bytes).filter(|_| hits) {
            Some((hazard, message)) => world.flag(self.core.actor, hazard, || message),
            None => Ok(()),
        }
    }
}
