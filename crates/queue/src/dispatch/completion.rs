//! Records for the host: the completion ring in its pinned memory.

use super::Dispatcher;
use crate::layout::{COMPLETION_PAGE, PCIE_NOC_BIT};
use crate::machine::{Port, Stop, Wait};
use crate::sanitize::Hazard;
use crate::wire::{PCIE_XY, Packed, WriteHost};

/// A page in units of 16 bytes.
const PAGE_UNITS: u32 = COMPLETION_PAGE >> 4;
const TOGGLE: u32 = 1 << 31;

impl Dispatcher {
    /// WRITE_LINEAR_H_HOST: a record, its own header included, goes to the host's ring.
    ///
    /// The pointer moves for each contiguous piece in the ring of pages, so the number of moves depends on timing, but
    /// the total number of pages does not.
    pub(super) async fn write_host(&mut self, c: WriteHost, at: u32) -> Result<(), Stop> {
        if c.length < WriteHost::SIZE as u64 {
            let message = || format!("a record of {} bytes; its header has {}", c.length, WriteHost::SIZE);
            // The pointer stays at the start of the page, and the same command is executed again.
            if c.length == 0 {
                return Err(self.core.lose(Hazard::CompletionHeader, message));
            }
            self.core.flag(Hazard::CompletionHeader, message)?;
        }
        self.cmd_ptr = at;
        let mut left = c.length;
        while left > 0 {
            let there = self.reader.available(&self.core, &mut self.cmd_ptr).await?;
            let bytes = u64::from(there).min(left) as u32;
            self.reader.check_filled(&self.core, self.cmd_ptr, self.cmd_ptr + bytes)?;
            let pages = bytes.div_ceil(COMPLETION_PAGE);
            self.core.wait(Wait::Completion { pages }).await;
            self.push(bytes, pages, left == u64::from(bytes)).await?;
            self.cmd_ptr += bytes;
            self.end = self.cmd_ptr;
            left -= u64::from(bytes);
        }
        Ok(())
    }

    async fn push(&mut self, bytes: u32, pages: u32, last: bool) -> Result<(), Stop> {
        let layout = self.core.layout.clone();
        let host = &layout.sysmem;
        let (ptr, toggle) = (self.completion & !TOGGLE, self.completion & TOGGLE);
        {
            let mut world = self.core.world();
            let capacity = u64::from(host.completion_end().saturating_sub(ptr)) << 4;
            let tail = u64::from(bytes).min(capacity) as u32;
            let addr = |unit: u32| u64::from(unit) << 4 | PCIE_NOC_BIT;
            world.write(Port::Dispatch, self.cmd_ptr, PCIE_XY, addr(ptr), tail)?;
            if tail < bytes {
                let first = addr(host.completion_first());
                world.write(Port::Dispatch, self.cmd_ptr + tail, PCIE_XY, first, bytes - tail)?;
            }
            let mut next = ptr + pages * PAGE_UNITS;
            let mut toggle = toggle;
            if next >= host.completion_end() {
                next = next - host.completion_end() + host.completion_first();
                toggle ^= TOGGLE;
            }
            self.completion = next | toggle;
            let tile = world.chip.dispatch();
            world.memory.set_word(tile, layout.dispatch.completion_wr, self.completion);
            // After the data, on the same path: the host never sees the pointer first.
            let to = host.noc(host.completion_wr) | PCIE_NOC_BIT;
            world.write(Port::Dispatch, layout.dispatch.completion_wr, PCIE_XY, to, 4)?;
            world.ledger.completed(pages.into(), last);
            world.completion_leaves();
        }
        let wait = self.core.look().until_sent(Port::Dispatch);
        self.core.wait(wait).await;
        Ok(())
    }
}
