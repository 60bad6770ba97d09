//! Relays of payloads that follow the header.

use super::RingWriter;
use super::ring::Origin;
use crate::machine::{Core, Port, Stop};
use crate::prefetch::prefetcher::Prefetcher;
use crate::sanitize::Hazard;
use crate::wire::{Inline, Packed};

const HEADER: u32 = Inline::SIZE as u32;

impl Prefetcher {
    /// RELAY_INLINE, and the relaying part of EXEC_BUF_END.
    pub(super) async fn relay_inline(&mut self, inline: Inline, at: u32) -> Result<(), Stop> {
        let subordinate = inline.dispatcher_type != 0;
        let ring = if subordinate { &self.s_ring } else { &self.ring };
        let pages = ring.pages(inline.length);
        if pages == 0 {
            return Ok(());
        }
        self.check_pages(subordinate, pages)?;
        let (core, ring) = self.ring_to(subordinate);
        ring.acquire(core, pages).await;
        self.payload(subordinate, inline.length, at).await?;
        let (core, ring) = self.ring_to(subordinate);
        ring.round_up();
        let wait = core.look().until_sent(Port::Prefetch);
        core.wait(wait).await;
        ring.release(core, pages);
        Ok(())
    }

    /// RELAY_INLINE_NOFLUSH: begins a page, which the next relay continues.
    pub(super) async fn relay_noflush(&mut self, inline: Inline, at: u32) -> Result<(), Stop> {
        self.ring.acquire(&self.core, 1).await;
        let page = self.ring.page();
        if inline.length > page {
            self.core.flag(Hazard::PackedTooLarge, || {
                format!("a NOFLUSH relay takes one page of {page} bytes and writes {}", inline.length)
            })?;
        }
        self.payload(false, inline.length, at).await
    }

    fn ring_to(&mut self, subordinate: bool) -> (&Core, &mut RingWriter) {
        (&self.core, if subordinate { &mut self.s_ring } else { &mut self.ring })
    }

    fn check_pages(&self, subordinate: bool, pages: u32) -> Result<(), Stop> {
        let cb = &self.core.layout.dispatch;
        if subordinate {
            return match self.core.layout.distributed {
                true => Ok(()),
                false => self.core.flag(Hazard::SubordinateNoCredits, || {
                    format!("a relay of {pages} pages goes to the subordinate, which grants none")
                }),
            };
        }
        let (certain, possible) = (cb.cb_pages - 2 * cb.block_pages() + 1, cb.cb_pages - cb.block_pages());
        let hazard = match pages {
            n if n <= certain => return Ok(()),
            n if n <= possible => Hazard::RelayTooManyPages,
            _ => Hazard::RelayNeverFits,
        };
        self.core.flag(hazard, || {
            format!("RELAY_INLINE takes {pages} pages at once; {certain} are free in time, {possible} can be")
        })
    }

    /// Writes the bytes after the header at `at` to a ring.
    async fn payload(&mut self, subordinate: bool, length: u32, at: u32) -> Result<(), Stop> {
        let command = self.core.look().ledger.at[self.core.actor as usize];
        let start = command.command.and_then(|c| c.at).map(|at| at + HEADER);
        let origin = Origin { record: command.record, at: start };
        let ring = if subordinate { &mut self.s_ring } else { &mut self.ring };
        let Some(trace) = &mut self.trace else {
            let stride = self.core.look().ledger.stride;
            self.fetch.check_inside(&self.core, at, HEADER, length, stride)?;
            let from = at.saturating_add(HEADER);
            if from.checked_add(length).is_none_or(|end| end > self.core.layout.l1_bytes) {
                return Err(self.core.lose(Hazard::L1Outside, || format!("a relay of {length} bytes leaves L1")));
            }
            ring.write(&self.core, from, length, origin);
            return Ok(());
        };
        trace.skip(&self.core, HEADER).await?;
        let mut left = length;
        while left > 0 {
            let (from, bytes) = trace.span(&self.core, left).await?;
            ring.write(&self.core, from, bytes, origin);
            trace.skip(&self.core, bytes).await?;
            left -= bytes;
        }
        Ok(())
    }
}
