//! The reading end of the ring of pages: which pages may be read, and when they are returned.
//!
//! Pages are returned block by block, and a block only when the reader leaves the one after it: writes from a block
//! must have been sent by then, and checking that late is cheaper.

use crate::layout::Layout;
use crate::machine::{Core, Port, Stop, Wait, World};
use crate::sanitize::{Hazard, Page};

pub(super) struct Reader {
    base: u32,
    end: u32,
    log_page: u32,
    block_pages: u32,
    /// End of the bytes that are certain to be available.
    fence: u32,
    /// End of the current block.
    block_end: u32,
    /// Pages known to be produced, and those within the fence.
    upstream: u32,
    local: u32,
    /// Set if a block has been left and not returned yet: when its writes will have been sent.
    held: Option<u64>,
    /// A command has begun: the next pages contain the rest of it.
    pub inside: bool,
}

impl Reader {
    /// The reading end of a ring, of which this many pages were read before.
    pub fn new(layout: &Layout, before: u32) -> Reader {
        let cb = &layout.dispatch;
        Reader {
            base: cb.cb_base,
            end: cb.cb_end(),
            log_page: cb.cb_log_page,
            block_pages: cb.block_pages(),
            fence: cb.cb_base,
            block_end: cb.cb_base + (cb.block_pages() << cb.cb_log_page),
            upstream: before,
            local: before,
            held: None,
            inside: false,
        }
    }

    fn index(&self, at: u32) -> usize {
        // The end of the ring is its start.
        let at = if at >= self.end { self.base } else { at.max(self.base) };
        ((at - self.base) >> self.log_page) as usize
    }

    /// The sanitizer's record of the page at an address.
    pub fn page_of(&self, world: &World, at: u32) -> Page {
        world.ledger.pages[self.index(at)]
    }

    /// The start of the next page, or the same address if a page starts there.
    pub fn round_up(&self, at: u32) -> u32 {
        let page = 1 << self.log_page;
        self.base.wrapping_add(at.wrapping_sub(self.base).wrapping_add(page - 1) & !(page - 1))
    }

    /// Takes everything produced so far, up to the end of the block; waits if there is nothing.
    pub async fn acquire(&mut self, core: &Core) -> Result<(), Stop> {
        let sem = core.layout.sem(0);
        if self.local == self.upstream {
            core.wait(Wait::Pages { seen: self.upstream, inside: self.inside }).await;
            self.upstream = core.word(sem);
        }
        let left = (self.block_end - self.fence) >> self.log_page;
        let usable = self.upstream.wrapping_sub(self.local).min(left);
        let first = self.index(self.fence);
        self.local = self.local.wrapping_add(usable);
        self.fence += usable << self.log_page;
        let mut world = core.world();
        world.ledger.consumed += u64::from(usable);
        if let Some(stale) = (first..first + usable as usize).find(|page| world.ledger.pages[*page].filled == 0) {
            world.flag(core.actor, Hazard::StalePage, || {
                format!("page {stale} was handed over, and it was not written since it was released")
            })?;
        }
        Ok(())
    }

    /// Waits until there are bytes at a pointer and returns how many there are. Blocks that have been read are given
    /// back meanwhile. A pointer at the end of the ring moves to its start.
    pub async fn available(&mut self, core: &Core, ptr: &mut u32) -> Result<u32, Stop> {
        if self.fence == *ptr {
            if self.fence == self.block_end && self.leave_block(core).await {
                *ptr = self.base;
            }
            self.acquire(core).await?;
        }
        self.ahead(core, *ptr)
    }

    /// Number of bytes available from a pointer.
    pub fn ahead(&self, core: &Core, ptr: u32) -> Result<u32, Stop> {
        if ptr > self.fence {
            return Err(core.lose(Hazard::StalePage, || {
                format!(
                    "the dispatcher reads at {ptr:#x}, after the {:#x} up to which pages were handed over",
                    self.fence
                )
            }));
        }
        Ok(self.fence - ptr)
    }

    /// Number of available pages that are entirely after an address.
    pub fn pages_behind(&self, at: u32) -> u32 {
        self.fence.saturating_sub(self.round_up(at)) >> self.log_page
    }

    /// Whether the fence is at the end of its block.
    pub fn at_block_end(&self) -> bool {
        self.fence == self.block_end
    }

    /// Continues with the next block; returns whether that is the first of the ring.
    pub async fn leave_block(&mut self, core: &Core) -> bool {
        self.release_block(core).await;
        let wraps = self.block_end == self.end;
        if wraps {
            (self.fence, self.block_end) = (self.base, self.base);
        }
        self.block_end += self.block_pages << self.log_page;
        wraps
    }

    /// Returns the block before the one that is being left.
    async fn release_block(&mut self, core: &Core) {
        if let Some(sent) = self.held {
            core.wait(Wait::Until { cycle: sent, what: "writes out of a block of pages are being sent" }).await;
            let size = self.block_pages << self.log_page;
            // The block before the current one, modulo the ring.
            let start = self.block_end - size;
            let start = if start == self.base { self.end - size } else { start - size };
            self.give_back(core, start, self.block_pages);
        }
        self.held = Some(core.look().sent(Port::Dispatch));
    }

    fn give_back(&self, core: &Core, start: u32, pages: u32) {
        let mut world = core.world();
        let first = self.index(start);
        for page in &mut world.ledger.pages[first..first + pages as usize] {
            *page = Page::default();
        }
        world.ledger.returned += u64::from(pages);
        let (tile, addr) = (world.chip.prefetch(), core.layout.sem(0));
        world.add(Port::Credits, tile, addr, pages);
    }

    /// Returns everything.
    pub async fn release_all(&mut self, core: &Core) {
        let wait = core.look().until_sent(Port::Dispatch);
        core.wait(wait).await;
        let size = self.block_pages << self.log_page;
        let start = self.block_end - size;
        if self.held.is_some() {
            let before = if start == self.base { self.end - size } else { start - size };
            self.give_back(core, before, self.block_pages);
        }
        self.give_back(core, start, (self.fence - start) >> self.log_page);
    }

    /// A command must not use bytes that were not relayed: it uses those from `from` to `end`, which are within the
    /// fence.
    pub fn check_filled(&self, core: &Core, from: u32, end: u32) -> Result<(), Stop> {
        if from < self.base || end <= from || end > self.fence {
            return Ok(());
        }
        let page_of = |at: u32| (at - self.base) >> self.log_page;
        let mut world = core.world();
        for page in page_of(from)..=page_of(end - 1) {
            let used = (end - self.base - (page << self.log_page)).min(1 << self.log_page);
            let filled = world.ledger.pages[page as usize].filled;
            if used > filled {
                return world.flag(core.actor, Hazard::StalePage, || {
                    format!("the command takes {used} bytes of page {page}, and {filled} were written to it")
                });
            }
        }
        Ok(())
    }
}
