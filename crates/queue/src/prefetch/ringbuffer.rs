//! The ring buffer: DRAM pages that are read once and relayed in parts, as often as needed.

use super::pages::Pages;
use crate::layout::Layout;
use crate::machine::{Port, Stop};
use crate::prefetch::prefetcher::{Prefetcher, Ringbuffer};
use crate::sanitize::Hazard;
use crate::wire::{Packed, PagedToRingbuffer, RelayRingbuffer, RingbufferSub, SetRingbufferOffset};

/// Maximum number of parts of a relay.
const MAX_SUBS: usize = 52;

impl Ringbuffer {
    pub fn new(layout: &Layout) -> Ringbuffer {
        let area = &layout.prefetch;
        Ringbuffer { base: area.scratch_base, bytes: area.ringbuffer_bytes, wp: area.scratch_base, offset: 0 }
    }

    /// SET_RINGBUFFER_OFFSET.
    pub fn set(&mut self, c: SetRingbufferOffset) {
        match c.update_wp {
            0 => self.offset = c.offset,
            _ => self.wp = self.base.wrapping_add(c.offset),
        }
    }
}

impl Prefetcher {
    fn check_ringbuffer(&self, start: u32, bytes: u32, what: &str) -> Result<(), Stop> {
        let size = self.ringbuffer.bytes;
        if start.checked_add(bytes).is_some_and(|end| end <= size) {
            return Ok(());
        }
        self.core.flag(Hazard::RingBufferOverrun, || {
            format!("{what} {bytes} bytes from {start:#x} of a ring buffer of {size:#x} bytes")
        })
    }

    /// PAGED_TO_RINGBUFFER.
    pub(super) async fn paged_to_ringbuffer(&mut self, c: PagedToRingbuffer) -> Result<(), Stop> {
        let wait = self.core.look().until_sent(Port::Prefetch);
        self.core.wait(wait).await;
        if c.flags & PagedToRingbuffer::RESET_TO_START != 0 {
            self.ringbuffer.wp = self.ringbuffer.base;
        }
        let ring = &mut self.ringbuffer;
        ring.offset = ring.wp.wrapping_sub(ring.base);
        self.check_ringbuffer(self.ringbuffer.offset, c.length, "PAGED_TO_RINGBUFFER reads")?;
        let page = 1u32.checked_shl(c.log2_page_size.into()).unwrap_or(0).max(64);
        let mut pages =
            Pages { dram: true, base: c.base_addr, page, index: c.start_page.into(), offset: 0, left: c.length.into() };
        pages.read(&self.core, self.ringbuffer.wp, c.length)?;
        self.ringbuffer.wp = self.ringbuffer.wp.wrapping_add(c.wp_offset_update);
        Ok(())
    }

    /// RELAY_RINGBUFFER.
    pub(super) async fn relay_ringbuffer(&mut self, c: RelayRingbuffer, at: u32) -> Result<(), Stop> {
        let count = usize::from(c.count);
        if count > MAX_SUBS || count == 0 {
            self.core
                .flag(Hazard::PackedLengthMismatch, || format!("{count} parts; 1 to {MAX_SUBS} can be relayed"))?;
        }
        let wait = self.core.look().until_read(Port::Prefetch);
        self.core.wait(wait).await;
        let mut list = vec![0; count * RingbufferSub::SIZE];
        self.list(at, RelayRingbuffer::SIZE, &mut list).await?;
        for (i, bytes) in list.chunks_exact(RingbufferSub::SIZE).enumerate() {
            let Ok(sub) = RingbufferSub::read(bytes) else { return Err(Stop) };
            let start = self.ringbuffer.offset.wrapping_add(sub.start);
            self.check_ringbuffer(start, sub.length, "RELAY_RINGBUFFER relays")?;
            let from = self.ringbuffer.base.wrapping_add(start);
            let last = i + 1 == count;
            if last && sub.length == 0 {
                return Err(self.core.lose(Hazard::LengthAdjustUnderflow, || "the last part has no bytes".to_string()));
            }
            if from.checked_add(sub.length).is_none_or(|end| end > self.core.layout.l1_bytes) {
                return Err(self
                    .core
                    .lose(Hazard::L1Outside, || format!("{} bytes at {from:#x} leave L1", sub.length)));
            }
            self.write_pages(from, sub.length, last).await?;
        }
        // Nothing may be overwritten while it is still being relayed.
        let wait = self.core.look().until_sent(Port::Prefetch);
        self.core.wait(wait).await;
        Ok(())
    }
}
