//! The prefetcher, in the variant for one chip: it fetches records from the host and relays the payloads of their
//! commands.
//!
//! | file | contents |
//! |---|---|
//! | `fetch` | slots, reads of host memory, the area where records land |
//! | `ring` | page credits, and writing into a dispatcher's ring of pages |
//! | `relay` | relays of inline payloads |
//! | `pages` | relays of data in DRAM or L1, through the scratch buffers |
//! | `ringbuffer` | the ring-buffer commands |
//! | `trace` | commands that come from DRAM: exec_buf |

mod fetch;
mod pages;
mod prefetcher;
mod relay;
mod ring;
mod ringbuffer;
mod trace;

use crate::machine::{Core, Port, Stop, Wait};
use crate::prefetch::prefetcher::{Prefetcher, Ringbuffer};
use crate::sanitize::Hazard;
use crate::wire::{Bare, Prefetch};
use fetch::Fetch;
use ring::RingWriter;

/// Runs the kernel to its end.
pub(crate) async fn run(core: Core) -> Result<(), Stop> {
    let before = core.look().pages_before;
    core.world().ledger.taken = before.wrapping_neg();
    let mut prefetcher = Prefetcher {
        fetch: Fetch::new(&core.layout),
        ring: RingWriter::new(&core.layout, false, before),
        s_ring: RingWriter::new(&core.layout, true, 0),
        trace: None,
        stalls: 0,
        appending: false,
        ringbuffer: Ringbuffer::new(&core.layout),
        core,
    };
    while !prefetcher.next().await? {}
    prefetcher.end().await
}

impl Prefetcher {
    /// Fetches and runs one command; returns whether it was the last.
    async fn next(&mut self) -> Result<bool, Stop> {
        self.fetch.advance(&self.core).await?;
        let at = self.fetch.cmd_ptr;
        let header = self.decode(at)?;
        if let Prefetch::ExecBuf(exec) = header {
            if !self.fetch.is_stalled() {
                self.core.flag(Hazard::ExecBufWithoutStall, || {
                    "EXEC_BUF came from a record whose slot had no stall flag".to_string()
                })?;
            }
            self.exec_buf(exec).await?;
            self.fetch.end_stall();
        } else if self.command(header, at).await? {
            self.core.world().ledger.left_unread = self.fetch.records_behind(at.saturating_add(header.stride()));
            return Ok(true);
        }
        self.fetch.step(&self.core, header.stride())?;
        Ok(false)
    }

    /// Runs one command whose header is at `at`; returns whether it ends the prefetcher: TERMINATE, or EXEC_BUF_END
    /// outside of an exec_buf.
    async fn command(&mut self, header: Prefetch, at: u32) -> Result<bool, Stop> {
        self.core.work().await;
        let appended = std::mem::replace(&mut self.appending, false);
        self.core.world().ledger.stride = header.stride();
        self.check_append(&header, appended)?;
        match header {
            Prefetch::RelayInline(inline) => self.relay_inline(inline, at).await?,
            Prefetch::RelayInlineNoflush(inline) => {
                self.relay_noflush(inline, at).await?;
                self.appending = true;
            }
            Prefetch::RelayLinear(linear) => self.relay_linear(linear).await?,
            Prefetch::RelayPaged(paged) => self.relay_paged(paged).await?,
            Prefetch::RelayPagedPacked(packed) => self.relay_paged_packed(packed, at).await?,
            Prefetch::ExecBufEnd(inline) => {
                self.relay_inline(inline, at).await?;
                return Ok(self.trace.is_none());
            }
            Prefetch::Stall(Bare {}) => self.stall().await?,
            Prefetch::PagedToRingbuffer(paged) => self.paged_to_ringbuffer(paged).await?,
            Prefetch::SetRingbufferOffset(set) => self.ringbuffer.set(set),
            Prefetch::RelayRingbuffer(relay) => self.relay_ringbuffer(relay, at).await?,
            Prefetch::Terminate(Bare {}) => return Ok(true),
            Prefetch::ExecBuf(_) | Prefetch::RelayLinearH(_) | Prefetch::Debug(_) => {
                return Err(self.illegal(header.id()));
            }
        }
        Ok(false)
    }

    /// Reads the header at an address of the command area and records the command.
    fn decode(&mut self, at: u32) -> Result<Prefetch, Stop> {
        let bytes: [u8; 32] = self.core.bytes(at)?;
        let place = match self.trace {
            None => self.fetch.place(at),
            // The record is that of the EXEC_BUF.
            Some(_) => (self.fetch.place(self.fetch.cmd_ptr).0, None),
        };
        let header = Prefetch::decode(&bytes);
        let name = header.as_ref().map_or("?", |header| header.name());
        self.core.world().command(self.core.actor, name, place.0, place.1);
        let header = header.map_err(|_| match place.1 {
            // Padding in place of a command.
            Some(at) if at > 0 && bytes[0] == 0 => self.core.lose(Hazard::RecordTrailing, || {
                format!("the bytes from +{at:#x} of the record belong to no command's stride and are taken for one")
            }),
            _ => self.illegal(bytes[0]),
        })?;
        if self.trace.is_none() {
            self.fetch.check_stride(&self.core, &header, at)?;
        }
        Ok(header)
    }

    fn illegal(&self, id: u8) -> Stop {
        self.core.lose(Hazard::PrefetchIllegal, || format!("this kernel has no case for the command id {id}"))
    }

    /// A relay that releases one page more than it acquires must follow one that acquired a page and kept it, and
    /// nothing else may.
    fn check_append(&mut self, header: &Prefetch, appended: bool) -> Result<(), Stop> {
        let appends = match header {
            Prefetch::RelayLinear(_)
            | Prefetch::RelayPaged(_)
            | Prefetch::RelayPagedPacked(_)
            | Prefetch::RelayRingbuffer(_) => true,
            // These relay nothing: an open page stays open.
            Prefetch::PagedToRingbuffer(_) | Prefetch::SetRingbufferOffset(_) => {
                self.appending = appended;
                return Ok(());
            }
            _ => false,
        };
        match (appended, appends) {
            (true, false) => self.core.flag(Hazard::NoflushDangling, || {
                format!("{} follows a RELAY_INLINE_NOFLUSH, whose page is then never handed over", header.name())
            }),
            (false, true) => self.core.flag(Hazard::RelayWithoutNoflush, || {
                format!("{} follows no RELAY_INLINE_NOFLUSH, and hands over a page that it did not take", header.name())
            }),
            _ => Ok(()),
        }
    }

    async fn stall(&mut self) -> Result<(), Stop> {
        self.stalls += 1;
        let layout = &self.core.layout;
        if layout.sem(2) >= layout.kernel_text() {
            self.core.flag(Hazard::StallSemaphoreIsCode, || {
                format!("STALL waits for semaphore 2 at {:#x}, which is kernel text", self.core.layout.sem(2))
            })?;
        }
        self.core.wait(Wait::Notified { count: self.stalls }).await;
        Ok(())
    }

    /// The actions of TERMINATE: waits until all credits have been returned and everything has arrived.
    async fn end(&mut self) -> Result<(), Stop> {
        self.core.wait(Wait::CreditsHome { taken: self.ring.taken() }).await;
        let wait = self.core.look().until_acknowledged(Port::Prefetch);
        self.core.wait(wait).await;
        Ok(())
    }
}
