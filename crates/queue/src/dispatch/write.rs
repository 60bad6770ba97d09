//! Writes to one place, to a rectangle, and to interleaved pages.

use super::Dispatcher;
use crate::machine::{Port, Stop, page_address};
use crate::sanitize::Hazard;
use crate::wire::{WriteLinear, WritePaged};

/// Most bytes that are written at once.
const BURST: u32 = 16384;

impl Dispatcher {
    /// WRITE_LINEAR.
    pub(super) async fn write_linear(&mut self, c: WriteLinear) -> Result<(), Stop> {
        let mut addr = c.addr.wrapping_add(self.write_offset(c.write_offset_index.into())?.into());
        let mut left = c.length;
        let multicast = c.num_mcast_dests > 0;
        if multicast && self.core.look().multicast_in_flight(Port::Dispatch) {
            self.core.flag(Hazard::MulticastBackToBack, || {
                "WRITE_LINEAR multicasts while the multicast before it is not acknowledged".to_string()
            })?;
        }
        while left > 0 {
            let there = self.reader.available(&self.core, &mut self.cmd_ptr).await?;
            let bytes = u64::from(there.min(BURST)).min(left) as u32;
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
            (addr, left) = (addr + u64::from(bytes), left - u64::from(bytes));
        }
        Ok(())
    }

    /// WRITE_PAGED.
    pub(super) async fn write_paged(&mut self, c: WritePaged) -> Result<(), Stop> {
        let mut left = c.pages.wrapping_mul(c.page_size);
        let (mut index, mut offset) = (u32::from(c.start_page), 0);
        while left > 0 {
            let there = self.reader.available(&self.core, &mut self.cmd_ptr).await?;
            let bytes = left.min(c.page_size - offset).min(there).min(BURST);
            let mut world = self.core.world();
            let (xy, addr) = page_address(&world.chip, c.is_dram != 0, 1, c.base_addr, c.page_size, index);
            world.dispatch_write(Port::Dispatch, self.cmd_ptr, xy, addr + u64::from(offset), bytes)?;
            (self.cmd_ptr, left, offset) = (self.cmd_ptr + bytes, left - bytes, offset + bytes);
            self.end = self.cmd_ptr;
            if offset == c.page_size {
                (index, offset) = (index + 1, 0);
            }
        }
        Ok(())
    }
}
