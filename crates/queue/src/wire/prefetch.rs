//! Commands of the prefetcher.

use super::packed::{commands, packed};

packed! {
    /// Relays bytes from any tile.
    RelayLinear 32 {
        /// Bytes to relay.
        length: u64 @ 3,
        /// Word of the tile to read from.
        noc_xy: u32 @ 11,
        /// Address in that tile.
        addr: u64 @ 15,
    }
    /// The same for a prefetcher that stands on the host's chip.
    RelayLinearH 32 {
        /// Word of the tile to read from.
        noc_xy: u32 @ 4,
        /// Address in that tile.
        addr: u64 @ 8,
        /// Bytes to relay.
        length: u32 @ 16,
    }
    /// Relays pages that are interleaved over banks.
    RelayPaged 16 {
        /// First page.
        start_page: u8 @ 1,
        /// Bit 15: DRAM, else L1. Bits 14..0: bytes to leave out at the end, a multiple of 32.
        is_dram_and_length_adjust: u16 @ 2,
        /// Address of page 0 in every bank.
        base_addr: u32 @ 4,
        /// Bytes of a page.
        page_size: u32 @ 8,
        /// How many pages.
        pages: u32 @ 12,
    }
    /// Relays runs of DRAM pages, each described by a [`PagedPackedSub`].
    RelayPagedPacked 16 {
        /// How many runs, 35 at most.
        count: u16 @ 2,
        /// Sum of the lengths in bytes.
        total_length: u32 @ 4,
        /// Bytes to the next command.
        stride: u32 @ 8,
    }
    /// A run of pages.
    PagedPackedSub 12 {
        /// First page.
        start_page: u16 @ 0,
        /// Logarithm of the page's bytes.
        log_page_size: u16 @ 2,
        /// Address of page 0 in every bank.
        base_addr: u32 @ 4,
        /// Bytes of the run.
        length: u32 @ 8,
    }
    /// Relays the bytes after the header.
    Inline 16 {
        /// 0: the dispatcher; 1: its subordinate.
        dispatcher_type: u8 @ 1,
        /// Bytes to relay.
        length: u32 @ 4,
        /// Bytes to the next command, header included.
        stride: u32 @ 8,
    }
    /// Runs commands from pages in DRAM.
    ExecBuf 16 {
        /// Address of page 0 in every bank.
        base_addr: u32 @ 4,
        /// Logarithm of the page's bytes.
        log_page_size: u32 @ 8,
        /// How many pages.
        pages: u32 @ 12,
    }
    /// Carries a key and bytes for debugging.
    Debug 16 {
        /// Key.
        key: u16 @ 2,
        /// Bytes that follow.
        size: u32 @ 4,
        /// Bytes to the next command.
        stride: u32 @ 8,
    }
    /// Reads DRAM pages into the ring buffer.
    PagedToRingbuffer 16 {
        /// Bit 0: start at the ring buffer's first byte.
        flags: u8 @ 1,
        /// Logarithm of the page's bytes.
        log2_page_size: u8 @ 2,
        /// First page.
        start_page: u8 @ 3,
        /// Bytes by which the write pointer moves.
        wp_offset_update: u32 @ 4,
        /// Address of page 0 in every bank.
        base_addr: u32 @ 8,
        /// Bytes to read.
        length: u32 @ 12,
    }
    /// Sets where offsets into the ring buffer count from, or its write pointer.
    SetRingbufferOffset 16 {
        /// Bytes.
        offset: u32 @ 1,
        /// Not 0: the write pointer is set.
        update_wp: u8 @ 8,
    }
    /// Relays parts of the ring buffer, each described by a [`RingbufferSub`].
    RelayRingbuffer 16 {
        /// How many parts, 52 at most.
        count: u16 @ 2,
        /// Bytes to the next command.
        stride: u32 @ 4,
    }
    /// A part of the ring buffer.
    RingbufferSub 8 {
        /// First byte, from the offset that was set.
        start: u32 @ 0,
        /// Bytes.
        length: u32 @ 4,
    }
    /// A command without fields.
    Bare 16 {}
}

commands! {
    /// A command of the prefetcher, without the sub-commands and bytes after its header.
    Prefetch, "prefetch":
    /// Relays bytes from any tile.
    1 RELAY_LINEAR RelayLinear(RelayLinear) runs,
    /// The same for a prefetcher on the host's chip; the combined kernel has no case for it.
    2 RELAY_LINEAR_H RelayLinearH(RelayLinearH) undefined,
    /// Relays pages that are interleaved over banks.
    3 RELAY_PAGED RelayPaged(RelayPaged) runs,
    /// Relays runs of DRAM pages.
    4 RELAY_PAGED_PACKED RelayPagedPacked(RelayPagedPacked) runs,
    /// Relays the bytes after the header and hands their pages to the dispatcher.
    5 RELAY_INLINE RelayInline(Inline) runs,
    /// The same without handing over the page: what comes next goes on in it.
    6 RELAY_INLINE_NOFLUSH RelayInlineNoflush(Inline) runs,
    /// Goes on with commands from DRAM.
    7 EXEC_BUF ExecBuf(ExecBuf) runs,
    /// Relays inline, then goes on with commands from the host.
    8 EXEC_BUF_END ExecBufEnd(Inline) runs,
    /// Waits until the dispatcher has notified as often as there were stalls.
    9 STALL Stall(Bare) runs,
    /// For debugging; removed from the kernel.
    10 DEBUG Debug(Debug) undefined,
    /// Ends the kernel when all credits have come home.
    11 TERMINATE Terminate(Bare) runs,
    /// Reads pages into the ring buffer.
    12 PAGED_TO_RINGBUFFER PagedToRingbuffer(PagedToRingbuffer) runs,
    /// Sets the ring buffer's offset or write pointer.
    13 SET_RINGBUFFER_OFFSET SetRingbufferOffset(SetRingbufferOffset) runs,
    /// Relays parts of the ring buffer.
    14 RELAY_RINGBUFFER RelayRingbuffer(RelayRingbuffer) runs,
}

/// Bytes to the next command for those that have no stride of their own: the alignment of PCIe.
pub const FIXED_STRIDE: u32 = 64;

impl Prefetch {
    /// Bytes to the next command. The device trusts it.
    pub const fn stride(&self) -> u32 {
        match self {
            Prefetch::RelayInline(c) | Prefetch::RelayInlineNoflush(c) | Prefetch::ExecBufEnd(c) => c.stride,
            Prefetch::RelayPagedPacked(c) => c.stride,
            Prefetch::RelayRingbuffer(c) => c.stride,
            Prefetch::Debug(c) => c.stride,
            _ => FIXED_STRIDE,
        }
    }

    /// The bytes that it relays from after its own header.
    pub const fn inline(&self) -> Option<&Inline> {
        match self {
            Prefetch::RelayInline(c) | Prefetch::RelayInlineNoflush(c) | Prefetch::ExecBufEnd(c) => Some(c),
            _ => None,
        }
    }
}

impl RelayPaged {
    /// Whether the pages lie in DRAM, else in the workers' L1.
    pub const fn is_dram(&self) -> bool {
        self.is_dram_and_length_adjust & 0x8000 != 0
    }

    /// Bytes that are left out at the end of the last page.
    pub const fn length_adjust(&self) -> u32 {
        (self.is_dram_and_length_adjust & 0x7FFF) as u32
    }
}

impl PagedToRingbuffer {
    /// Flag: start at the ring buffer's first byte.
    pub const RESET_TO_START: u8 = 1;
}
