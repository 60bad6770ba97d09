//! The locations of interleaved pages: one page to each memory in turn, each row of pages after the previous one.

use crate::layout::{DRAM_ALIGN, L1_ALIGN};

/// The memories over which pages are distributed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interleave {
    memories: u64,
    align: u64,
}

impl Interleave {
    /// Over this many DRAM banks.
    pub fn dram(banks: u32) -> Interleave {
        Interleave { memories: banks.max(1).into(), align: DRAM_ALIGN.into() }
    }

    /// Over the L1 of this many tiles.
    pub fn l1(tiles: u32) -> Interleave {
        Interleave { memories: tiles.max(1).into(), align: L1_ALIGN.into() }
    }

    /// Number of memories.
    pub fn memories(self) -> u64 {
        self.memories
    }

    /// Page `index` of pages of `page` bytes: the index of its memory, and its offset from the base address there.
    pub fn page(self, page: u64, index: u64) -> (u32, u64) {
        let row = (index / self.memories).saturating_mul(page.next_multiple_of(self.align));
        // Less than the number of memories, which has 32 bits.
        ((index % self.memories) as u32, row)
    }
}
