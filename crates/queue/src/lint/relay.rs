//! Prefetch commands.

use super::reads::Pages;
use super::{Linter, Order};
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::{Dispatch, DispatchParts, Inline, Prefetch, RelayPaged, RelayParts, RelaySubs, WireError};

impl Linter {
    pub(super) fn relayed(&mut self, command: &RelayParts<'_>, stride: usize) {
        if !command.header.has_case() {
            self.find(Hazard::PrefetchIllegal, format!("this firmware has no case for {}", command.header.name()));
            return;
        }
        if stride < command.header.header_bytes() || !stride.is_multiple_of(16) {
            let message =
                format!("the next command would start {stride} bytes further, inside this one or out of step");
            self.find(Hazard::RecordTrailing, message);
        }
        match &command.header {
            Prefetch::RelayInline(c) | Prefetch::ExecBufEnd(c) => self.inline(c, command.payload),
            Prefetch::RelayInlineNoflush(_) => {
                self.dangling("another relay follows");
                self.noflush = Some((self.record, self.relay, command.payload.to_vec()));
            }
            Prefetch::RelayLinear(c) => {
                self.reads(c.noc_xy, c.addr, c.length);
                self.appended(Some(c.length));
            }
            Prefetch::RelayPaged(c) => self.paged(c),
            Prefetch::RelayPagedPacked(c) => {
                let RelaySubs::PagedPacked(subs) = &command.subs else { return };
                let sum: u64 = subs.iter().map(|sub| u64::from(sub.length)).sum();
                if sum != u64::from(c.total_length) {
                    let message = format!("the runs add up to {sum} bytes, the total says {}", c.total_length);
                    self.find(Hazard::PackedLengthMismatch, message);
                }
                self.at_most(subs.len(), 35);
                for sub in subs {
                    self.reads_run(sub.base_addr, sub.log_page_size.into(), sub.start_page.into(), sub.length);
                }
                self.appended(Some(u64::from(c.total_length)));
            }
            Prefetch::RelayRingbuffer(_) => {
                let RelaySubs::Ringbuffer(subs) = &command.subs else { return };
                self.ringbuffer();
                self.at_most(subs.len(), 52);
                self.appended(Some(subs.iter().map(|sub| u64::from(sub.length)).sum()));
            }
            Prefetch::PagedToRingbuffer(c) => {
                self.ringbuffer();
                self.reads_run(c.base_addr, c.log2_page_size.into(), c.start_page.into(), c.length);
            }
            Prefetch::SetRingbufferOffset(_) => self.ringbuffer(),
            Prefetch::Stall(_) if self.layout.sems < 3 => {
                let message = format!("its semaphore is {:#x}, where the kernel's text starts", self.layout.sem(2));
                self.find(Hazard::StallSemaphoreIsCode, message);
            }
            Prefetch::ExecBuf(c) => {
                self.dangling("a trace follows");
                let area = self.layout.prefetch.cmddat_bytes;
                let page = 1u64.checked_shl(c.log_page_size).unwrap_or(0);
                if page == 0 || !u64::from(area).is_multiple_of(page) {
                    let message = format!("pages of 2^{} bytes do not divide the area of {area}", c.log_page_size);
                    self.find(Hazard::ExecBufPageMisfit, message);
                }
                let pages = Pages { dram: true, base: c.base_addr, page, first: 0, count: c.pages.into() };
                let early = |lint: &Linter| lint.report.met.get(&Hazard::ExecBufBeforeWrite).copied();
                let before = early(self);
                self.reads_pages(Hazard::ExecBufBeforeWrite, pages);
                if !self.live {
                    // Data read too early may be anything.
                    self.known_trace(c, page, early(self) == before);
                }
            }
            Prefetch::Terminate(_) => {
                self.dangling("the prefetcher ends");
                self.prefetch_ended = Some("TERMINATE");
            }
            Prefetch::Stall(_) => {
                self.stalls += 1;
                if self.notices != self.stalls && !self.unknown {
                    let message = format!("it is STALL {}, and {} notices stand before it", self.stalls, self.notices);
                    self.find(Hazard::StallMiscounted, message);
                }
                self.unread.stall();
                self.order.iter_mut().for_each(Order::stalls);
                self.results.stall();
            }
            Prefetch::RelayLinearH(_) | Prefetch::Debug(_) => {}
        }
    }

    /// A run of pages of a power of two, from DRAM.
    fn reads_run(&mut self, base: u32, log_page: u32, first: u64, length: u32) {
        let page = 1u64.checked_shl(log_page).unwrap_or(1 << 32).clamp(64, 1 << 32);
        let count = u64::from(length).div_ceil(page);
        self.reads_pages(Hazard::RelayBeforeWrite, Pages { dram: true, base, page, first, count });
    }

    fn at_most(&mut self, count: usize, most: usize) {
        if count > most {
            self.find(Hazard::PackedLengthMismatch, format!("a list of {count}; the prefetcher's cache holds {most}"));
        }
    }

    fn ringbuffer(&mut self) {
        if self.layout.prefetch.ringbuffer_bytes == 0 {
            self.find(Hazard::RingBufferOverrun, "this configuration has no ring buffer");
        }
    }

    fn inline(&mut self, c: &Inline, payload: &[u8]) {
        if c.dispatcher_type != 0 {
            // The firmware takes everything but 0 for the subordinate.
            if !self.layout.distributed {
                self.find(Hazard::SubordinateNoCredits, "the subordinate starts with no pages to give");
            } else if c.dispatcher_type > 1 {
                let message =
                    format!("{} is not a dispatcher: 0 is the main one, 1 its subordinate", c.dispatcher_type);
                self.find(Hazard::ReservedBytes, message);
            }
            self.not_ordered("commands for the subordinate");
            self.launched_elsewhere();
            return;
        }
        self.dangling("a relay with a page of its own follows");
        self.acquire(u64::from(c.length).div_ceil(u64::from(self.layout.dispatch.cb_page())));
        if payload.is_empty() {
            return;
        }
        self.dispatched(payload);
    }

    /// A relay acquires its pages all at once. The dispatcher has consumed all earlier ones; it returns blocks late.
    fn acquire(&mut self, pages: u64) {
        let d = &self.layout.dispatch;
        let (all, block) = (u64::from(d.cb_pages), u64::from(d.block_pages()));
        let kept = if self.pages < block { self.pages } else { block + self.pages % block };
        let (free, always) = (all - kept, all - 2 * block + 1);
        if pages > free {
            let message = format!(
                "it takes {pages} pages at once; at most {free} of {all} ever come back here, {} pages into the stream",
                self.pages
            );
            self.find(Hazard::RelayNeverFits, message);
        } else if pages > always {
            let message = format!("it takes {pages} pages at once; only {always} of {all} are free at every phase");
            self.find(Hazard::RelayTooManyPages, message);
        }
        self.pages += pages;
    }

    fn paged(&mut self, c: &RelayPaged) {
        let (size, pages) = (u64::from(c.page_size), u64::from(c.pages));
        let total = size * pages;
        let (dram, base, first) = (c.is_dram(), c.base_addr, u64::from(c.start_page));
        self.reads_pages(Hazard::RelayBeforeWrite, Pages { dram, base, page: size, first, count: pages });
        let adjust = u64::from(c.length_adjust());
        let half = u64::from(self.layout.prefetch.scratch_half);
        let last = match half.checked_div(size) {
            None => 0,
            // Larger pages are split: their last piece is the remainder of one page.
            Some(0) => (size - 1) % half + 1,
            Some(each) => ((pages.max(1) - 1) % each + 1).min(pages) * size,
        };
        if adjust >= last {
            let message = format!("the last round reads {last} bytes, of which {adjust} are to be left out");
            self.find(Hazard::LengthAdjustUnderflow, message);
        }
        if !adjust.is_multiple_of(32) {
            self.find(Hazard::LengthAdjustUnderflow, format!("{adjust} bytes to leave out are no multiple of 32"));
        }
        self.appended(total.checked_sub(adjust));
    }

    /// A relay that continues the page left open by a relay without flush.
    fn appended(&mut self, amount: Option<u64>) {
        if amount == Some(0) {
            self.find(Hazard::LengthAdjustUnderflow, "there is nothing to relay");
        }
        let Some((_, opened, header)) = self.noflush.take() else {
            self.find(Hazard::RelayWithoutNoflush, "no RELAY_INLINE_NOFLUSH stands before it");
            return;
        };
        let Some(amount) = amount else { return };
        let whole = amount.saturating_add(header.len() as u64);
        let page = u64::from(self.layout.dispatch.cb_page());
        // These acquire their pages one scratch half at a time, so no single request is large.
        self.pages = self.pages.saturating_add(whole.div_ceil(page));
        self.not_judged("bytes that are relayed from memory");
        let command = match Dispatch::decode(&header) {
            // The data announced in the header come from elsewhere.
            Ok(command) if DispatchParts::of(command, &header).is_err() => command,
            _ => return self.dispatched(&header),
        };
        let at = self.next_command(command.name());
        self.behind_terminate(at);
        let extent = match command.extent(&header) {
            Ok(extent) => extent,
            Err(WireError::Truncated { .. }) => {
                self.not_ordered(format!("{}, whose list is relayed from memory", command.name()));
                let rectangles = match command {
                    Dispatch::WritePacked(c) => c.is_multicast(),
                    Dispatch::WritePackedLarge(_) => true,
                    _ => return,
                };
                // The firmware puts a barrier before packets to rectangles.
                if rectangles {
                    self.barrier();
                }
                if self.live {
                    // The dispatcher finds it at the position of the header.
                    let header = opened.and_then(|opened| opened.at).map(|at| at + 16);
                    self.writes_list(CommandRef { at: header, ..at }, command);
                }
                return;
            }
            Err(error) => return self.find_in(at, Hazard::CompletionHeader, error.to_string()),
        };
        if extent.end() > whole {
            let message = format!("it takes {} bytes, header included, and {whole} are relayed", extent.end());
            self.find_in(at, Hazard::StalePage, message);
        } else if extent.end() < whole {
            let message = format!("it takes {} bytes, header included, of the {whole} that are relayed", extent.end());
            self.find_in(at, Hazard::TrailingBytes, message);
            let next = extent.end().next_multiple_of(page);
            if next < whole {
                self.not_ordered(format!(
                    "the page at +{next:#x} of what is relayed, which the dispatcher takes for a command"
                ));
                self.unknown_commands();
            }
        }
        self.judge(&DispatchParts::bare(command), at);
    }
}
