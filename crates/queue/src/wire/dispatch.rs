//! Commands of the dispatcher and of its subordinate.

use super::packed::{commands, packed};

packed! {
    /// Writes bytes to one place, or to a rectangle of tiles.
    WriteLinear 32 {
        /// Tiles of the rectangle; 0: one tile.
        num_mcast_dests: u8 @ 1,
        /// Which write offset is added to the address.
        write_offset_index: u8 @ 2,
        /// Word of the tile or rectangle.
        noc_xy: u32 @ 4,
        /// Address there.
        addr: u64 @ 8,
        /// Bytes that follow.
        length: u64 @ 16,
    }
    /// Writes a record into the host's completion ring.
    WriteHost 16 {
        /// Not 0: an event.
        is_event: u8 @ 1,
        /// Bytes, this header included.
        length: u64 @ 8,
    }
    /// Writes pages that are interleaved over banks.
    WritePaged 16 {
        /// Not 0: DRAM, else L1.
        is_dram: u8 @ 1,
        /// First page.
        start_page: u16 @ 2,
        /// Address of page 0 in every bank.
        base_addr: u32 @ 4,
        /// Bytes of a page.
        page_size: u32 @ 8,
        /// How many pages follow.
        pages: u32 @ 12,
    }
    /// Writes a packet of equal size to the same address of many tiles.
    WritePacked 16 {
        /// Bit 0: multicast; bit 1: one packet for all; bits 7..4: what it is, for information.
        flags: u8 @ 1,
        /// How many destinations.
        count: u16 @ 2,
        /// Which write offset is added to the address.
        write_offset_index: u16 @ 4,
        /// Bytes of a packet.
        size: u16 @ 6,
        /// Address in every destination.
        addr: u32 @ 8,
    }
    /// A destination of a packed write.
    UnicastSub 4 {
        /// Word of the tile.
        noc_xy: u32 @ 0,
    }
    /// A rectangle of destinations of a packed write.
    MulticastSub 8 {
        /// Word of the rectangle.
        noc_xy: u32 @ 0,
        /// Tiles that acknowledge.
        num_mcast_dests: u32 @ 4,
    }
    /// Writes packets of any size to rectangles, each described by a [`LargeSub`].
    WritePackedLarge 16 {
        /// What it is, for information.
        kind: u8 @ 1,
        /// How many destinations, 35 at most.
        count: u16 @ 2,
        /// Each packet's bytes are padded to a multiple of this power of two.
        alignment: u16 @ 4,
        /// Which write offset is added to the addresses.
        write_offset_index: u16 @ 6,
    }
    /// A rectangle of destinations of a large packed write.
    LargeSub 12 {
        /// Word of the rectangle, also for one tile.
        noc_xy: u32 @ 0,
        /// Address in every tile of it.
        addr: u32 @ 4,
        /// Bytes, less one.
        length_minus1: u16 @ 8,
        /// Tiles that acknowledge.
        num_mcast_dests: u8 @ 10,
        /// Bit 0: the path is given up after it.
        flags: u8 @ 11,
    }
    /// Waits for what its flags say, in the order of the constants below.
    Wait 16 {
        /// What for.
        flags: u8 @ 1,
        /// Stream.
        stream: u16 @ 2,
        /// Address in the dispatch core's memory.
        addr: u32 @ 4,
        /// Count that is waited for.
        count: u32 @ 8,
    }
    /// Carries a key and bytes for debugging.
    DispatchDebug 16 {
        /// Key.
        key: u16 @ 2,
        /// Bytes that follow.
        size: u32 @ 4,
        /// Bytes to the next command.
        stride: u32 @ 8,
    }
    /// Lets time pass.
    Delay 16 {
        /// How long.
        delay: u32 @ 4,
    }
    /// Sets the offsets that writes add to their addresses; words follow.
    SetWriteOffset 16 {
        /// How many, 4 at most.
        offset_count: u8 @ 1,
        /// The program's id on the host, for information.
        program_host_id: u16 @ 2,
    }
    /// Sends a go word to workers when enough of them are done.
    SendGoSignal 16 {
        /// The word.
        go_signal: u32 @ 1,
        /// Which go message of the whole grid; 255: none.
        multicast_go_offset: u8 @ 5,
        /// How many tiles of the list get it one by one.
        num_unicast_txns: u8 @ 6,
        /// Where in the list they start.
        noc_data_start_index: u8 @ 7,
        /// Count that is waited for first.
        wait_count: u32 @ 8,
        /// Stream that counts.
        wait_stream: u32 @ 12,
    }
    /// Tells the subordinate that workers may be sent go signals.
    NotifySubordinate 16 {
        /// Not 0: after a barrier.
        wait: u8 @ 1,
        /// A bit for each of its semaphores.
        index_bitmask: u16 @ 2,
    }
    /// How many worker semaphores the subordinate has.
    SetNumWorkerSems 16 {
        /// How many.
        num: u32 @ 4,
    }
    /// Sets the list of tiles for go signals; words follow.
    SetGoSignalNocData 16 {
        /// How many, 256 at most.
        num_words: u32 @ 4,
    }
    /// Writes the wall clock, 8 bytes, to a place.
    Timestamp 16 {
        /// Word of the tile.
        noc_xy: u32 @ 4,
        /// Address there.
        addr: u32 @ 8,
    }
    /// A command without fields.
    BareDispatch 16 {}
}

commands! {
    /// A command of the dispatcher, without the sub-commands and bytes after its header.
    Dispatch, "dispatch":
    /// Writes bytes to one place, or to a rectangle of tiles.
    1 WRITE_LINEAR WriteLinear(WriteLinear) runs,
    /// The same for a dispatcher on the host's chip; the combined kernel treats both alike.
    2 WRITE_LINEAR_H WriteLinearH(WriteLinear) runs,
    /// Writes a record into the host's completion ring.
    3 WRITE_LINEAR_H_HOST WriteHost(WriteHost) runs,
    /// Writes pages that are interleaved over banks.
    4 WRITE_PAGED WritePaged(WritePaged) runs,
    /// Writes a packet of equal size to many tiles.
    5 WRITE_PACKED WritePacked(WritePacked) runs,
    /// Writes packets of any size to rectangles.
    6 WRITE_PACKED_LARGE WritePackedLarge(WritePackedLarge) runs,
    /// Waits.
    7 WAIT Wait(Wait) runs,
    /// Not in the kernel.
    8 SINK Sink(BareDispatch) undefined,
    /// For debugging; not in the kernel.
    9 DEBUG Debug(DispatchDebug) undefined,
    /// Not in the kernel.
    10 DELAY Delay(Delay) undefined,
    /// Skipped.
    11 EXEC_BUF_END ExecBufEnd(BareDispatch) runs,
    /// Sets the offsets that writes add to their addresses.
    12 SET_WRITE_OFFSET SetWriteOffset(SetWriteOffset) runs,
    /// Ends the kernel.
    13 TERMINATE Terminate(BareDispatch) runs,
    /// Sends a go word to workers.
    14 SEND_GO_SIGNAL SendGoSignal(SendGoSignal) runs,
    /// Tells the subordinate that go signals may be sent.
    15 NOTIFY_SUBORDINATE_GO_SIGNAL NotifySubordinate(NotifySubordinate) runs,
    /// For the subordinate; the dispatcher skips it.
    16 SET_NUM_WORKER_SEMS SetNumWorkerSems(SetNumWorkerSems) runs,
    /// Sets the list of tiles for go signals.
    17 SET_GO_SIGNAL_NOC_DATA SetGoSignalNocData(SetGoSignalNocData) runs,
    /// Writes the wall clock to a place.
    18 TIMESTAMP Timestamp(Timestamp) runs,
}

impl WritePacked {
    /// Flag: destinations are rectangles, [`MulticastSub`]s.
    pub const MCAST: u8 = 1;
    /// Flag: one packet for all destinations.
    pub const NO_STRIDE: u8 = 2;
    /// Most destinations that the dispatcher's local copy of the list holds.
    pub const MAX_UNICAST: u16 = 118;
    /// Most rectangles that it holds.
    pub const MAX_MULTICAST: u16 = 59;
    /// Most bytes of a packet.
    pub const MAX_SIZE: u16 = 4096;

    /// Whether destinations are rectangles.
    pub const fn is_multicast(&self) -> bool {
        self.flags & Self::MCAST != 0
    }

    /// Whether all destinations get one packet.
    pub const fn is_shared(&self) -> bool {
        self.flags & Self::NO_STRIDE != 0
    }

    /// Bytes of a destination in the list.
    pub const fn sub_bytes(&self) -> usize {
        if self.is_multicast() { 8 } else { 4 }
    }

    /// Bytes from one packet to the next.
    pub const fn packet_stride(&self) -> u32 {
        (self.size as u32).next_multiple_of(16)
    }
}

impl WritePackedLarge {
    /// Most destinations that the dispatcher's local copy of the list holds.
    pub const MAX_SUBS: u16 = 35;
    /// `kind`: circular buffers, semaphores, common arguments.
    pub const CBS_SEMS_CRTAS: u8 = 1;
    /// `kind`: program binaries.
    pub const PROGRAM_BINARIES: u8 = 2;
}

impl LargeSub {
    /// Flag: the multicast path is given up after this packet.
    pub const UNLINK: u8 = 1;

    /// Bytes of the packet, 1..65536.
    pub const fn length(&self) -> u32 {
        self.length_minus1 as u32 + 1
    }

    /// Whether the path is given up after it.
    pub const fn is_unlinked(&self) -> bool {
        self.flags & Self::UNLINK != 0
    }
}

impl Wait {
    /// Flag: all writes acknowledged.
    pub const BARRIER: u8 = 0x01;
    /// Flag: afterwards the prefetcher is notified.
    pub const NOTIFY_PREFETCH: u8 = 0x02;
    /// Flag: the word at `addr` has reached `count`.
    pub const MEMORY: u8 = 0x04;
    /// Flag: the stream has reached `count`.
    pub const STREAM: u8 = 0x08;
    /// Flag: afterwards what the stream holds is subtracted from it.
    pub const CLEAR_STREAM: u8 = 0x10;

    /// Whether a flag is set.
    pub const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

impl SendGoSignal {
    /// `multicast_go_offset` of a signal that goes to listed tiles only.
    pub const NO_MULTICAST: u8 = 0xFF;
}

/// Most words of the list of tiles for go signals.
pub const MAX_GO_WORDS: u32 = 256;
/// How many write offsets there are.
pub const WRITE_OFFSETS: u8 = 4;
