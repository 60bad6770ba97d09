//! The subordinate dispatcher, which sends go signals on its own so that the dispatcher need not wait for workers.
//!
//! In the fixed configuration it never receives a page and idles. Its page semaphore there is the dispatcher's own,
//! which makes it look at a page that nobody wrote; on silicon that ends in a harmless loop, and so it does here.

use crate::dispatch::send;
use crate::machine::{Core, Port, Stop, Wait};
use crate::sanitize::{Hazard, Page};
use crate::wire::{Dispatch, MAX_GO_WORDS};

/// Runs the kernel to its end.
pub(crate) async fn run(core: Core) -> Result<(), Stop> {
    let cb = core.layout.dispatch.clone();
    if !core.layout.distributed {
        core.wait(Wait::Idle).await;
        return Ok(());
    }
    let mut subordinate =
        Subordinate { at: cb.s_cb_base, consumed: 0, go_list: [0; MAX_GO_WORDS as usize], sent: [0; 16], core };
    while !subordinate.next().await? {}
    Ok(())
}

struct Subordinate {
    core: Core,
    at: u32,
    consumed: u32,
    go_list: [u32; MAX_GO_WORDS as usize],
    /// Go signals sent, by stream.
    sent: [u32; 16],
}

impl Subordinate {
    async fn next(&mut self) -> Result<bool, Stop> {
        let cb = self.core.layout.dispatch.clone();
        self.core.wait(Wait::SubordinatePage { consumed: self.consumed, inside: false }).await;
        let bytes: [u8; 16] = self.core.bytes(self.at)?;
        let header = Dispatch::decode(&bytes);
        {
            let name = header.as_ref().map_or("?", |header| header.name());
            let mut world = self.core.world();
            let page = world.ledger.s_pages[((self.at - cb.s_cb_base) >> cb.s_cb_log_page) as usize];
            world.command(self.core.actor, name, page.record, page.at);
        }
        self.core.work().await;
        let mut end = self.at.saturating_add(16);
        match header {
            Ok(Dispatch::SendGoSignal(c)) => {
                let index = (c.wait_stream.wrapping_sub(cb.first_stream) & 15) as usize;
                let addr = cb.sync_sems + 16 * index as u32;
                self.core.wait(Wait::GoPermit { addr, sent: self.sent[index] }).await;
                send(&self.core, Port::Subordinate, c, self.at, &self.go_list).await?;
                self.sent[index] = self.sent[index].wrapping_add(1);
            }
            Ok(Dispatch::Wait(c)) => {
                let stream = u32::from(c.stream);
                self.core.wait(Wait::Stream { stream, count: c.count }).await;
                // It sets the counter to 0, where the dispatcher subtracts: notices that arrive in between are lost.
                self.core.world().streams[stream as usize & 63] = 0;
            }
            Ok(Dispatch::SetGoSignalNocData(c)) => {
                if c.num_words > MAX_GO_WORDS {
                    self.core.flag(Hazard::GoListOverrun, || {
                        format!("{} words; the list has {MAX_GO_WORDS}", c.num_words)
                    })?;
                }
                let words = c.num_words.min(MAX_GO_WORDS);
                self.more_pages(end + 4 * words).await;
                for (i, word) in self.go_list[..words as usize].iter_mut().enumerate() {
                    let at = end + 4 * i as u32;
                    *word = self.core.word(if at >= cb.s_cb_end() { at - cb.s_cb_end() + cb.s_cb_base } else { at });
                }
                end += 4 * words;
            }
            Ok(Dispatch::SetNumWorkerSems(_)) => {}
            Ok(Dispatch::Terminate(_)) => return Ok(true),
            _ => {
                return Err(self.core.lose(Hazard::DispatchIllegal, || {
                    format!("the subordinate has no case for the command id {}", bytes[0])
                }));
            }
        }
        let pages = (end - self.at).div_ceil(cb.s_cb_page());
        self.release(pages);
        Ok(false)
    }

    /// Waits until the pages up to an address are available.
    async fn more_pages(&self, end: u32) {
        let cb = &self.core.layout.dispatch;
        for page in 1..(end - self.at).div_ceil(cb.s_cb_page()) {
            let consumed = self.consumed.wrapping_add(page);
            self.core.wait(Wait::SubordinatePage { consumed, inside: true }).await;
        }
    }

    fn release(&mut self, pages: u32) {
        let cb = self.core.layout.dispatch.clone();
        let mut world = self.core.world();
        for _ in 0..pages {
            world.ledger.s_pages[((self.at - cb.s_cb_base) >> cb.s_cb_log_page) as usize] = Page::default();
            self.at += cb.s_cb_page();
            if self.at >= cb.s_cb_end() {
                self.at = cb.s_cb_base;
            }
        }
        self.consumed = self.consumed.wrapping_add(pages);
        let (tile, addr) = (world.chip.prefetch(), self.core.layout.sem(1));
        world.add(Port::Subordinate, tile, addr, pages);
    }
}
