//! Packed writes: one command, many targets.

use smallvec::SmallVec;

use super::Dispatcher;
use crate::machine::{Port, Stop};
use crate::sanitize::Hazard;
use crate::wire::{Dispatch, LargeSub, Packed, WritePacked, WritePackedLarge};

/// A target of a packed write: its word, and the tiles of its rectangle (0: one tile).
#[derive(Clone, Copy, Default)]
struct Target {
    xy: u32,
    dests: u32,
}

impl Dispatcher {
    /// WRITE_PACKED. The pointer stays before a shared packet.
    pub(super) async fn write_packed(&mut self, c: WritePacked, at: u32) -> Result<(), Stop> {
        let (size, count) = (u32::from(c.size), usize::from(c.count));
        let most = if c.is_multicast() { WritePacked::MAX_MULTICAST } else { WritePacked::MAX_UNICAST };
        if c.count > most {
            self.core
                .flag(Hazard::PackedTooMany, || format!("{count} targets; the dispatcher's cache holds {most}"))?;
        }
        let data_start = self.cmd_ptr.wrapping_sub(at) + (count * c.sub_bytes()) as u32;
        let page = self.core.layout.dispatch.cb_page();
        if c.size > WritePacked::MAX_SIZE || data_start > page {
            self.core.flag(Hazard::PackedTooLarge, || {
                format!("{size} bytes a target, and a list that ends at +{data_start:#x}; a page has {page}")
            })?;
        }
        let data_start = data_start.next_multiple_of(16);
        if c.is_shared() && data_start + size > page {
            self.core.flag(Hazard::NoStrideCrossesPage, || {
                format!("the shared packet ends at +{:#x}, after its page of {page} bytes", data_start + size)
            })?;
        }
        // The firmware copies all of them into its cache, whatever its capacity, and processes all.
        let targets = self.targets(c)?;
        self.cmd_ptr = at + data_start;
        let stride = if c.is_shared() { 0 } else { c.packet_stride() };
        let addr = c.addr.wrapping_add(self.write_offset(c.write_offset_index)?);
        let listed = |target: &Target| (target.xy, target.dests > 0, u64::from(addr), u64::from(size));
        self.core.world().judge_listed(&Dispatch::WritePacked(c), targets.iter().map(listed));
        for target in &targets {
            self.check_mailboxes(target.xy, target.dests > 0, addr.into(), size.into())?;
            let mut orphan = 0;
            while self.reader.ahead(&self.core, self.cmd_ptr)? < size {
                if self.reader.at_block_end() {
                    // The part before the boundary is sent first; the rest follows from the next block.
                    orphan = self.reader.ahead(&self.core, self.cmd_ptr)?;
                    self.packet(target, self.cmd_ptr, addr, orphan).await?;
                    if self.reader.leave_block(&self.core).await {
                        // Pointer plus orphan is the start of the ring: with a shared packet, the second target
                        // receives the bytes before it.
                        self.cmd_ptr = self.core.layout.dispatch.cb_base.wrapping_sub(orphan);
                    }
                }
                self.reader.acquire(&self.core).await?;
            }
            self.packet(target, self.cmd_ptr.wrapping_add(orphan), addr.wrapping_add(orphan), size - orphan).await?;
            self.cmd_ptr = self.cmd_ptr.wrapping_add(stride);
        }
        Ok(())
    }

    /// The list of a packed write.
    fn targets(&self, c: WritePacked) -> Result<SmallVec<[Target; 8]>, Stop> {
        let bytes = usize::from(c.count) * c.sub_bytes();
        let list = self.core.part(self.cmd_ptr, bytes)?;
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let target = |sub: &[u8]| match c.is_multicast() {
            true => Target { xy: word(sub), dests: word(&sub[4..]) },
            false => Target { xy: word(sub), dests: 0 },
        };
        Ok(list.chunks_exact(c.sub_bytes()).map(target).collect())
    }

    async fn packet(&mut self, target: &Target, from: u32, addr: u32, bytes: u32) -> Result<(), Stop> {
        if bytes == 0 {
            return Ok(());
        }
        self.end = from.saturating_add(bytes);
        self.reader.check_filled(&self.core, from, self.end)?;
        if target.dests == 0 {
            return self.core.world().dispatch_write(Port::Dispatch, from, target.xy, addr.into(), bytes);
        }
        self.barrier().await;
        self.core.world().dispatch_multicast(Port::Dispatch, from, target.xy, addr.into(), bytes, target.dests)
    }

    /// WRITE_PACKED_LARGE.
    pub(super) async fn write_packed_large(&mut self, c: WritePackedLarge, at: u32) -> Result<(), Stop> {
        let count = usize::from(c.count);
        if c.count > WritePackedLarge::MAX_SUBS {
            let most = WritePackedLarge::MAX_SUBS;
            self.core
                .flag(Hazard::PackedTooMany, || format!("{count} targets; the dispatcher's cache holds {most}"))?;
        }
        let mut subs = Vec::with_capacity(count);
        for i in 0..count {
            let bytes: [u8; LargeSub::SIZE] = self.core.bytes(self.cmd_ptr + (i * LargeSub::SIZE) as u32)?;
            subs.push(LargeSub::read(&bytes).map_err(|_| Stop)?);
        }
        self.cmd_ptr = at + (self.cmd_ptr - at + (count * LargeSub::SIZE) as u32).next_multiple_of(16);
        let offset = self.write_offset(c.write_offset_index)?;
        let alignment = u32::from(c.alignment).max(1);
        let listed = |sub: &LargeSub| (sub.noc_xy, true, sub.addr.wrapping_add(offset).into(), sub.length().into());
        self.core.world().judge_listed(&Dispatch::WritePackedLarge(c), subs.iter().map(listed));
        let mut new_run = true;
        for sub in &subs {
            let mut addr = sub.addr.wrapping_add(offset);
            self.check_mailboxes(sub.noc_xy, true, addr.into(), sub.length().into())?;
            let mut left = sub.length();
            while left > 0 {
                let bytes = self.reader.available(&self.core, &mut self.cmd_ptr).await?.min(left).min(16384);
                if std::mem::take(&mut new_run) {
                    self.barrier().await;
                }
                self.reader.check_filled(&self.core, self.cmd_ptr, self.cmd_ptr + bytes)?;
                let announced = sub.num_mcast_dests.into();
                let (from, to) = (self.cmd_ptr, addr.into());
                self.core.world().dispatch_multicast(Port::Dispatch, from, sub.noc_xy, to, bytes, announced)?;
                (self.cmd_ptr, addr, left) = (self.cmd_ptr + bytes, addr.wrapping_add(bytes), left - bytes);
                self.end = self.cmd_ptr;
            }
            new_run = sub.is_unlinked();
            self.pass(sub.length().next_multiple_of(alignment) - sub.length()).await?;
        }
        if count > 0 && !new_run {
            self.core.flag(Hazard::MulticastLinked, || {
                format!("part {} of {count}, the last, has no UNLINK flag", count - 1)
            })?;
        }
        Ok(())
    }

    /// Skips padding, which may extend into the next page.
    async fn pass(&mut self, mut bytes: u32) -> Result<(), Stop> {
        loop {
            let there = self.reader.ahead(&self.core, self.cmd_ptr)?;
            if bytes <= there {
                self.cmd_ptr += bytes;
                return Ok(());
            }
            (self.cmd_ptr, bytes) = (self.cmd_ptr + there, bytes - there);
            self.reader.available(&self.core, &mut self.cmd_ptr).await?;
        }
    }
}
