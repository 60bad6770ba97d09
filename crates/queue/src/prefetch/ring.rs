//! Writing into a dispatcher's ring of pages, against credits.

use crate::layout::Layout;
use crate::machine::{Core, Location, Port, Wait};
use crate::sanitize::RecordRef;

/// The origin of relayed bytes, for the sanitizer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub record: Option<RecordRef>,
    pub at: Option<u32>,
}

/// The writing end of a ring.
pub(super) struct RingWriter {
    subordinate: bool,
    base: u32,
    end: u32,
    log_page: u32,
    /// Position of the next byte; may be at the end.
    pub ptr: u32,
    /// Minus the pages acquired, wrapping.
    taken: u32,
}

impl RingWriter {
    /// The writing end of a ring that has used this many pages before.
    pub fn new(layout: &Layout, subordinate: bool, before: u32) -> RingWriter {
        let cb = &layout.dispatch;
        let (base, end, log_page) = match subordinate {
            false => (cb.cb_base, cb.cb_end(), cb.cb_log_page),
            true => (cb.s_cb_base, cb.s_cb_end(), cb.s_cb_log_page),
        };
        RingWriter { subordinate, base, end, log_page, ptr: base, taken: before.wrapping_neg() }
    }

    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// Bytes of a page.
    pub fn page(&self) -> u32 {
        1 << self.log_page
    }

    /// Number of pages needed for this many bytes from the start of one.
    pub fn pages(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.page())
    }

    /// Takes credits for pages, waiting for them.
    pub async fn acquire(&mut self, core: &Core, pages: u32) {
        let credits = Wait::Credits { subordinate: self.subordinate, pages, taken: self.taken };
        let (added, there) = {
            let world = core.look();
            let added = world.until_added(Port::Prefetch);
            (added, added.is_over(&world) && credits.is_over(&world))
        };
        // Mostly no wait is needed.
        if !there {
            core.wait(added).await;
            core.wait(credits).await;
        }
        self.taken = self.taken.wrapping_sub(pages);
        if !self.subordinate {
            let ledger = &mut core.world().ledger;
            ledger.acquired += u64::from(pages);
            ledger.taken = self.taken;
        }
    }

    /// Hands pages over.
    pub fn release(&mut self, core: &Core, pages: u32) {
        let mut world = core.world();
        let (tile, addr) = (world.chip.dispatch(), core.layout.sem(u32::from(self.subordinate)));
        world.add(Port::Prefetch, tile, addr, pages);
        if !self.subordinate {
            world.ledger.produced += u64::from(pages);
        }
    }

    /// Writes bytes of the prefetch core's L1 at the pointer, wrapping at the end of the ring if necessary.
    pub fn write(&mut self, core: &Core, mut from: u32, mut bytes: u32, origin: Origin) {
        let mut world = core.world();
        let dispatch = world.chip.dispatch();
        let mut done = 0;
        while bytes > 0 {
            if self.ptr == self.end {
                self.ptr = self.base;
            }
            let n = bytes.min(self.end - self.ptr);
            let pages = match self.subordinate {
                false => &mut world.ledger.pages,
                true => &mut world.ledger.s_pages,
            };
            let (mut at, stop) = (self.ptr, self.ptr + n);
            while at < stop {
                let index = (at - self.base) >> self.log_page;
                let start = at - self.base - (index << self.log_page);
                let next = (self.base + ((index + 1) << self.log_page)).min(stop);
                let page = &mut pages[index as usize];
                if start == 0 {
                    (page.record, page.at) = (origin.record, origin.at.map(|first| first + done + (at - self.ptr)));
                }
                page.filled = start + (next - at);
                at = next;
            }
            world.write_to(Port::Prefetch, from, Location::L1(dispatch, self.ptr), n);
            (self.ptr, from, bytes, done) = (stop, from + n, bytes - n, done + n);
        }
    }

    /// Moves the pointer to the start of the next page.
    pub fn round_up(&mut self) {
        self.ptr = self.base + (self.ptr - self.base).next_multiple_of(self.page());
    }
}
