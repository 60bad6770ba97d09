//! Relays of data in DRAM, L1 or any other memory, through the two halves of the scratch buffer: one is filled while
//! the other is relayed.

use super::ring::Origin;
use crate::machine::{Core, Port, Stop, page_address};
use crate::prefetch::prefetcher::Prefetcher;
use crate::sanitize::Hazard;
use crate::wire::{Packed, PagedPackedSub, RelayLinear, RelayPaged, RelayPagedPacked};

/// Maximum number of parts of a packed relay.
const MAX_SUBS: usize = 35;

/// Pages that are read one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pages {
    pub dram: bool,
    pub base: u32,
    pub page: u32,
    pub index: u32,
    /// Bytes of the page already read.
    pub offset: u32,
    pub left: u64,
}

impl Pages {
    /// Starts to read up to `limit` bytes to an address, whole pages if they fit; returns the number of bytes.
    pub fn read(&mut self, core: &Core, to: u32, limit: u32) -> Result<u32, Stop> {
        let mut world = core.world();
        let mut done = 0;
        while self.left > 0 {
            let rest = u64::from(self.page - self.offset).min(self.left) as u32;
            let bytes = rest.min(limit - done);
            if u64::from(to) + u64::from(done) >= u64::from(core.layout.l1_bytes) {
                // Data read beyond the core's own memory is lost, and was reported.
                (done, self.left) = (limit, 0);
                break;
            }
            if bytes == 0 || (bytes < rest && done > 0 && self.page <= limit) {
                break;
            }
            let (xy, addr) = page_address(&world.chip, self.dram, 0, self.base, self.page, self.index);
            world.read(Port::Prefetch, xy, addr.saturating_add(self.offset.into()), to + done, bytes)?;
            (done, self.left) = (done + bytes, self.left - u64::from(bytes));
            self.offset += bytes;
            if self.offset == self.page {
                (self.offset, self.index) = (0, self.index.wrapping_add(1));
            }
        }
        Ok(done)
    }
}

/// The source of a relay.
enum Reader<'a> {
    Linear { xy: u32, addr: u64, left: u64 },
    Runs(&'a mut [Pages]),
}

impl Reader<'_> {
    /// Starts to read the next up to `limit` bytes to an address; returns the number of bytes.
    fn read(&mut self, core: &Core, to: u32, limit: u32) -> Result<u32, Stop> {
        match self {
            Reader::Linear { xy, addr, left } => {
                let bytes = u64::from(limit).min(*left) as u32;
                if bytes > 0 {
                    core.world().read(Port::Prefetch, *xy, *addr, to, bytes)?;
                }
                (*addr, *left) = (addr.wrapping_add(bytes.into()), *left - u64::from(bytes));
                Ok(bytes)
            }
            Reader::Runs(runs) => {
                let mut done = 0;
                for run in runs.iter_mut().filter(|run| run.left > 0) {
                    done += run.read(core, to + done, limit - done)?;
                    if run.left > 0 {
                        break;
                    }
                }
                Ok(done)
            }
        }
    }
}

impl Prefetcher {
    /// RELAY_LINEAR.
    pub(super) async fn relay_linear(&mut self, c: RelayLinear) -> Result<(), Stop> {
        self.relay(Reader::Linear { xy: c.noc_xy, addr: c.addr, left: c.length }, 0).await
    }

    /// RELAY_PAGED.
    pub(super) async fn relay_paged(&mut self, c: RelayPaged) -> Result<(), Stop> {
        let mut pages = [Pages {
            dram: c.is_dram(),
            base: c.base_addr,
            page: c.page_size,
            index: c.start_page.into(),
            offset: 0,
            left: u64::from(c.page_size) * u64::from(c.pages),
        }];
        self.relay(Reader::Runs(&mut pages), c.length_adjust()).await
    }

    /// RELAY_PAGED_PACKED.
    pub(super) async fn relay_paged_packed(&mut self, c: RelayPagedPacked, at: u32) -> Result<(), Stop> {
        let count = usize::from(c.count);
        if count > MAX_SUBS {
            self.core.flag(Hazard::PackedLengthMismatch, || format!("{count} parts; the cache holds {MAX_SUBS}"))?;
        }
        let mut list = vec![0; count * PagedPackedSub::SIZE];
        self.list(at, RelayPagedPacked::SIZE, &mut list).await?;
        let (mut runs, mut sum) = (Vec::with_capacity(count), 0u64);
        for bytes in list.chunks_exact(PagedPackedSub::SIZE) {
            let Ok(sub) = PagedPackedSub::read(bytes) else { return Err(Stop) };
            let page = 1u32.checked_shl(sub.log_page_size.into()).unwrap_or(0).max(64);
            let index = sub.start_page.into();
            runs.push(Pages { dram: true, base: sub.base_addr, page, index, offset: 0, left: sub.length.into() });
            sum += u64::from(sub.length);
        }
        if sum != u64::from(c.total_length) {
            self.core.flag(Hazard::PackedLengthMismatch, || {
                format!("the parts have {sum} bytes together; the command says {}", c.total_length)
            })?;
        }
        self.relay(Reader::Runs(&mut runs), 0).await
    }

    /// Copies the list after a command's header.
    pub(super) async fn list(&mut self, at: u32, header: usize, out: &mut [u8]) -> Result<(), Stop> {
        if let Some(trace) = &mut self.trace {
            return trace.copy(&self.core, header as u32, out).await;
        }
        let stride = self.core.look().ledger.stride;
        self.fetch.check_inside(&self.core, at, header as u32, out.len() as u32, stride)?;
        let from = at.saturating_add(header as u32);
        if u64::from(from) + out.len() as u64 > u64::from(self.core.layout.l1_bytes) {
            return Err(self.core.lose(Hazard::L1Outside, || format!("a list at {from:#x} leaves L1")));
        }
        let world = self.core.look();
        out.copy_from_slice(world.memory.l1(world.chip.prefetch(), from, out.len()));
        Ok(())
    }

    /// Reads into one half while the other is relayed; the last `adjust` bytes are omitted.
    async fn relay(&mut self, mut reader: Reader<'_>, adjust: u32) -> Result<(), Stop> {
        let area = &self.core.layout.prefetch;
        let (half, mut now, mut other) = (area.scratch_half, area.scratch_base, area.scratch_base + area.scratch_half);
        let wait = self.core.look().until_sent(Port::Prefetch);
        self.core.wait(wait).await;
        let mut bytes = reader.read(&self.core, now, half)?;
        loop {
            let wait = self.core.look().until_read(Port::Prefetch);
            self.core.wait(wait).await;
            let next = reader.read(&self.core, other, half)?;
            if next == 0 {
                break;
            }
            self.write_pages(now, bytes, false).await?;
            let wait = self.core.look().until_sent(Port::Prefetch);
            self.core.wait(wait).await;
            (now, other, bytes) = (other, now, next);
        }
        if bytes <= adjust {
            return Err(self.core.lose(Hazard::LengthAdjustUnderflow, || {
                format!("{adjust} of the last round's {bytes} bytes are to be left out, so that none remain")
            }));
        }
        self.write_pages(now, bytes - adjust, true).await
    }

    /// Writes bytes after the previously relayed ones, and hands over the pages that this fills; the last write of a
    /// command also the page in which it ends.
    pub(super) async fn write_pages(&mut self, from: u32, bytes: u32, last: bool) -> Result<(), Stop> {
        let page = self.ring.page();
        // A pointer at the start of a page has all of it: the page was acquired when the pointer reached it.
        let residual = page - (self.ring.ptr & (page - 1));
        let round = page - u32::from(last);
        let pages = bytes.wrapping_sub(residual).wrapping_add(round) / page;
        if pages > 0 || !last {
            self.ring.acquire(&self.core, pages).await;
        }
        let command = self.core.look().ledger.at[self.core.actor as usize];
        self.ring.write(&self.core, from, bytes, Origin { record: command.record, at: None });
        if last {
            self.ring.round_up();
        }
        let wait = self.core.look().until_sent(Port::Prefetch);
        self.core.wait(wait).await;
        self.ring.release(&self.core, pages + u32::from(last));
        Ok(())
    }
}
