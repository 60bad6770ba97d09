//! Where interleaved pages lie: one page to each memory in turn, rows of pages below each other.

use crate::layout::{DRAM_ALIGN, L1_ALIGN};

/// The memories that pages go to in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interleave {
    memories: u64,
    align: u64,
}

impl Interleave {
    /// Over so many DRAM banks.
    pub fn dram(banks: u32) -> Interleave {
        Interleave { memories: banks.max(1).into(), align: DRAM_ALIGN.into() }
    }

    /// Over the L1 of so many tiles.
    pub fn l1(tiles: u32) -> Interleave {
        Interleave { memories: tiles.max(1).into(), align: L1_ALIGN.into() }
    }

    /// How many memories there are.
    pub fn memories(self) -> u64 {
        self.memories
    }

    /// Page `index` of pages of `page` bytes: the number of its memory, and its bytes after the base address there.
    pub fn page(self, page: u64, index: u64) -> (u32, u64) {
        let row = (index / self.memories).saturating_mul(page.next_multiple_of(self.align));
        // Fewer than the memories, whose number has 32 bits.
        ((index % self.memories) as u32, row)
    }
}
