//! Memory layout: the memories of the two queue cores, of the workers, and the pinned memory of the host.

/// The memory map shared by host and kernels. [`Layout::default`] is that of the fixed configuration.
///
/// All fields are in bytes, relative to the start of a core's L1, unless stated otherwise. Smaller rings make rare
/// wraps frequent; tests use other layouts for that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Start of a core's kernel configuration: arguments, semaphores, then kernel text.
    pub kernel_config_base: u32,
    /// Offset of semaphores from `kernel_config_base`, 16 bytes each.
    pub sem_offset: u32,
    /// Number of semaphores that a queue core's image really has; ids from there on alias kernel text.
    pub sems: u32,
    /// Bytes of every Tensix tile's L1.
    pub l1_bytes: u32,
    /// The prefetch core.
    pub prefetch: PrefetchLayout,
    /// The dispatch core.
    pub dispatch: DispatchLayout,
    /// The workers.
    pub worker: WorkerLayout,
    /// The host's pinned memory.
    pub sysmem: SysmemLayout,
    /// Whether go signals are sent by the subordinate. In the fixed configuration the dispatcher sends them.
    pub distributed: bool,
}

/// The prefetch core's L1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrefetchLayout {
    /// Address of the last consumed slot, a word that the device echoes.
    pub q_rd_ptr: u32,
    /// The device's next read address in host memory, a word that it echoes.
    pub pcie_rd_ptr: u32,
    /// First slot of `prefetch_q`.
    pub q_base: u32,
    /// Slots, 2 bytes each.
    pub q_entries: u32,
    /// Landing area of fetched commands, aligned to 64.
    pub cmddat_base: u32,
    /// Bytes of that area.
    pub cmddat_bytes: u32,
    /// Two halves of a buffer through which pages are relayed.
    pub scratch_base: u32,
    /// Bytes of one half.
    pub scratch_half: u32,
    /// Bytes of the ring buffer at `scratch_base`; 0 in the fixed configuration.
    pub ringbuffer_bytes: u32,
}

/// The dispatch core's L1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchLayout {
    /// Completion write pointer in 16-byte units, toggle in bit 31.
    pub completion_wr: u32,
    /// Completion read pointer, which the host writes.
    pub completion_rd: u32,
    /// Last event of each of two queues, 16 bytes apart.
    pub events: u32,
    /// Semaphores of the subordinate, 8 of 16 bytes.
    pub sync_sems: u32,
    /// Ring of pages from the prefetcher.
    pub cb_base: u32,
    /// Logarithm of its page size.
    pub cb_log_page: u32,
    /// Its pages.
    pub cb_pages: u32,
    /// Number of blocks in which it is returned.
    pub cb_blocks: u32,
    /// Ring of pages for the subordinate.
    pub s_cb_base: u32,
    /// Logarithm of its page size.
    pub s_cb_log_page: u32,
    /// Its pages.
    pub s_cb_pages: u32,
    /// Words of the list of tiles for go signals.
    pub go_words: u32,
    /// First stream that counts workers.
    pub first_stream: u32,
    /// Number of such streams.
    pub streams: u32,
}

/// A worker's L1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerLayout {
    /// Launch messages: 8 of 96 bytes.
    pub launch: u32,
    /// Go message; its last byte is the signal.
    pub go: u32,
    /// Index of the valid go message.
    pub go_index: u32,
    /// Control block of core timing, 128 bytes.
    pub timing: u32,
    /// First byte of the firmware, and the end of the mailboxes.
    pub firmware: u32,
}

/// The host's pinned memory, from its first byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SysmemLayout {
    /// The device's address of the first byte, below bit 60. It is compiled into the kernels.
    pub noc_base: u64,
    /// Completion write pointer and toggle, written by the dispatcher.
    pub completion_wr: u32,
    /// Completion read pointer and toggle, echoed by the host.
    pub completion_rd: u32,
    /// Issue region.
    pub issue: u32,
    /// Its bytes.
    pub issue_bytes: u32,
    /// Completion region, right after it.
    pub completion: u32,
    /// Its bytes, a multiple of [`COMPLETION_PAGE`].
    pub completion_bytes: u32,
    /// Timestamp slots of 16 bytes.
    pub timestamps: u32,
    /// Their number.
    pub timestamp_slots: u32,
    /// Core timing slots of 16 bytes: start and end.
    pub timing: u32,
    /// Their number.
    pub timing_slots: u32,
    /// Number of pinned bytes.
    pub bytes: u32,
}

/// The fields of a layout that are words, by name.
macro_rules! words {
    ($($group:ident { $($field:ident)* })* ; $($own:ident)*) => {
        impl Layout {
            /// Names of the fields that [`set`](Layout::set) accepts.
            pub const NAMES: &[&str] = &[
                $(stringify!($own),)* $($(concat!(stringify!($group), ".", stringify!($field)),)*)* "sysmem.noc_base", "distributed",
            ];

            fn word_mut(&mut self, name: &str) -> Option<&mut u32> {
                $(if name == stringify!($own) { return Some(&mut self.$own); })*
                $($(if name == concat!(stringify!($group), ".", stringify!($field)) {
                    return Some(&mut self.$group.$field);
                })*)*
                None
            }
        }
    };
}

words! {
    prefetch { q_rd_ptr pcie_rd_ptr q_base q_entries cmddat_base cmddat_bytes scratch_base scratch_half ringbuffer_bytes }
    dispatch {
        completion_wr completion_rd events sync_sems cb_base cb_log_page cb_pages cb_blocks s_cb_base s_cb_log_page s_cb_pages
        go_words first_stream streams
    }
    worker { launch go go_index timing firmware }
    sysmem {
        completion_wr completion_rd issue issue_bytes completion completion_bytes timestamps timestamp_slots timing timing_slots bytes
    };
    kernel_config_base sem_offset sems l1_bytes
}

impl Layout {
    /// The fields that differ from the fixed configuration, with their values.
    pub fn fields(&self) -> Vec<(String, u64)> {
        let value = |layout: &Layout, name: &str| match name {
            "sysmem.noc_base" => layout.sysmem.noc_base,
            "distributed" => layout.distributed.into(),
            _ => layout.clone().word_mut(name).map_or(0, |word| u64::from(*word)),
        };
        let usual = Layout::default();
        let names = Layout::NAMES.iter().filter(|name| value(self, name) != value(&usual, name));
        names.map(|name| ((*name).to_string(), value(self, name))).collect()
    }

    /// Sets a field by its name, such as `kernel_config_base` or `worker.go`.
    ///
    /// # Errors
    /// If there is no such field, or the value does not fit it.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), String> {
        if !Layout::NAMES.contains(&name) {
            return Err(format!("a layout has no field `{name}`; it has {}", Layout::NAMES.join(", ")));
        }
        let most = match name {
            "distributed" => 1,
            "sysmem.noc_base" => HOST_ADDRESS + 1,
            _ if name.starts_with("sysmem.") => HOST_REGION,
            _ => 16 << 20,
        };
        if value > most {
            return Err(format!("`{name}` is {value:#x}, and at most {most:#x}"));
        }
        match self.word_mut(name) {
            // No word may exceed a region of host memory, 30 bits.
            Some(word) => *word = value as u32,
            None if name == "distributed" => self.distributed = value != 0,
            None => self.sysmem.noc_base = value,
        }
        Ok(())
    }
}

/// Alignment of records in the issue region, and of PCIe reads.
pub const PCIE_ALIGN: u32 = 64;
/// Alignment of data in DRAM.
pub const DRAM_ALIGN: u32 = 64;
/// Alignment of data in L1.
pub const L1_ALIGN: u32 = 16;
/// Number of semaphores by which the dispatcher notifies its subordinate.
pub const SYNC_SEMS: u32 = 8;
/// Bytes of a page of the completion ring.
pub const COMPLETION_PAGE: u32 = 4096;
/// Bit of a NOC address that leads through PCIe to host memory.
pub const PCIE_NOC_BIT: u64 = 1 << 60;
/// Bits of a NOC address that give the host memory address; those above give the tile and its PCIe window.
pub const HOST_ADDRESS: u64 = (1 << 36) - 1;
/// Distance in bytes between pinned memories at the device's addresses: each has such a region of its own.
pub const HOST_REGION: u64 = 1 << 30;
/// Number of such regions.
pub const HOST_REGIONS: u64 = 16;
/// The first address of a tile that is not memory.
pub const REGISTERS: u64 = 0xFFB0_0000;
/// Maximum number of bytes that a stream's host polls at once.
pub const LONGEST_POLL: usize = 64;

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            kernel_config_base: 0x86B0,
            sem_offset: 16,
            sems: 2,
            l1_bytes: 0x18_0000,
            prefetch: PrefetchLayout {
                q_rd_ptr: 0x1_96C0,
                pcie_rd_ptr: 0x1_96C4,
                q_base: 0x1_9840,
                q_entries: 1534,
                cmddat_base: 0x1_A440,
                cmddat_bytes: 0x4_0000,
                scratch_base: 0x5_A440,
                scratch_half: 0x1_0000,
                ringbuffer_bytes: 0,
            },
            dispatch: DispatchLayout {
                completion_wr: 0x1_96D0,
                completion_rd: 0x1_96E0,
                events: 0x1_96F0,
                sync_sems: 0x1_9710,
                cb_base: 0x1_A000,
                cb_log_page: 12,
                cb_pages: 128,
                cb_blocks: 4,
                s_cb_base: 0x9_A000,
                s_cb_log_page: 8,
                s_cb_pages: 128,
                go_words: 256,
                first_stream: 48,
                streams: 8,
            },
            worker: WorkerLayout { launch: 0x70, go: 0x370, go_index: 0x3A0, timing: 0x9C0, firmware: 0x3840 },
            sysmem: SysmemLayout::new(64 << 20, 32 << 20),
            distributed: false,
        }
    }
}

impl Layout {
    /// Address of a semaphore.
    pub const fn sem(&self, id: u32) -> u32 {
        self.kernel_config_base + self.sem_offset + 16 * id
    }

    /// The part of the dispatch core's L1 to which the word at an address belongs, if it changes while the queue runs.
    /// Everything else stays as it was when the queue was started, since no command may write there.
    pub fn changing(&self, addr: u32) -> Option<&'static str> {
        let d = &self.dispatch;
        let subordinate = if self.distributed { d.s_cb_base..d.s_cb_end() } else { 0..0 };
        let parts = [
            ("the page ring", d.cb_base..d.cb_end()),
            ("the subordinate's page ring", subordinate),
            ("the semaphores", self.sem(0)..self.sem(16)),
            ("the subordinate's semaphores", d.sync_sems..d.sync_sems + 16 * SYNC_SEMS),
            ("the completion write pointer", d.completion_wr..d.completion_wr + 4),
            ("the completion read pointer", d.completion_rd..d.completion_rd + 4),
        ];
        parts.into_iter().find(|(_, part)| part.contains(&addr)).map(|(what, _)| what)
    }

    /// The memory map of a second queue: its kernels are built for the next region of host memory.
    pub fn second(&self) -> Layout {
        let mut layout = self.clone();
        layout.sysmem.noc_base += HOST_REGION;
        layout
    }

    /// Whether bytes of the dispatch core are the words for a queue's last event, of which it has two.
    pub fn is_event(&self, addr: u64, bytes: u64) -> bool {
        let into = addr.wrapping_sub(self.dispatch.events.into());
        bytes > 0 && into < 32 && (into % 16).saturating_add(bytes) <= 4
    }

    /// The start of a queue core's kernel text: right after its semaphores.
    pub const fn kernel_text(&self) -> u32 {
        self.sem(self.sems)
    }
}

impl PrefetchLayout {
    /// End of the slots.
    pub const fn q_end(&self) -> u32 {
        self.q_base + 2 * self.q_entries
    }

    /// End of the landing area of commands.
    pub const fn cmddat_end(&self) -> u32 {
        self.cmddat_base + self.cmddat_bytes
    }
}

impl DispatchLayout {
    /// Bytes of a page from the prefetcher.
    pub const fn cb_page(&self) -> u32 {
        1 << self.cb_log_page
    }

    /// End of the ring of pages from the prefetcher.
    pub const fn cb_end(&self) -> u32 {
        self.cb_base + (self.cb_pages << self.cb_log_page)
    }

    /// Pages of a block.
    pub const fn block_pages(&self) -> u32 {
        self.cb_pages / self.cb_blocks
    }

    /// Bytes of a page for the subordinate.
    pub const fn s_cb_page(&self) -> u32 {
        1 << self.s_cb_log_page
    }

    /// End of the ring of pages for the subordinate.
    pub const fn s_cb_end(&self) -> u32 {
        self.s_cb_base + (self.s_cb_pages << self.s_cb_log_page)
    }
}

impl SysmemLayout {
    /// Pinned memory with regions of these sizes, and 4096 slots of either kind of time.
    pub const fn new(issue_bytes: u32, completion_bytes: u32) -> SysmemLayout {
        let issue = 4 * PCIE_ALIGN;
        let completion = issue + issue_bytes;
        let timestamps = completion + completion_bytes;
        let (timestamp_slots, timing_slots) = (4096, 4096);
        let timing = timestamps + 16 * timestamp_slots;
        SysmemLayout {
            noc_base: 0x4000_0000,
            completion_wr: 2 * PCIE_ALIGN,
            completion_rd: 3 * PCIE_ALIGN,
            issue,
            issue_bytes,
            completion,
            completion_bytes,
            timestamps,
            timestamp_slots,
            timing,
            timing_slots,
            bytes: (timing + 16 * timing_slots).next_multiple_of(4096),
        }
    }

    /// The device's address of a byte of the pinned memory, below bit 60.
    pub const fn noc(&self, offset: u32) -> u64 {
        self.noc_base + offset as u64
    }

    /// The queue's own part of the pinned memory, at the device's addresses: pointers, records and completions. It is
    /// followed by slots that commands write.
    pub const fn own(&self) -> std::ops::Range<u64> {
        self.noc_base..self.noc(self.timestamps)
    }

    /// First byte of the completion region in the device's 16-byte units.
    pub const fn completion_first(&self) -> u32 {
        (self.noc(self.completion) >> 4) as u32
    }

    /// End of the completion region in the device's 16-byte units.
    pub const fn completion_end(&self) -> u32 {
        self.completion_first() + (self.completion_bytes >> 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_configuration_has_the_firmwares_addresses() {
        let all = Layout::default();
        assert_eq!(all.prefetch.q_end(), 0x1_A43C);
        assert_eq!(all.prefetch.cmddat_end(), all.prefetch.scratch_base);
        assert_eq!(all.dispatch.cb_end(), all.dispatch.s_cb_base);
        assert_eq!((all.sem(0), all.sem(1), all.kernel_text()), (0x86C0, 0x86D0, 0x86E0));
        let host = &all.sysmem;
        assert_eq!((host.completion, host.timestamps, host.timing), (0x400_0100, 0x600_0100, 0x601_0100));
        assert_eq!((host.completion_first(), host.completion_end()), (0x0440_0010, 0x0460_0010));
        assert_eq!(host.bytes, 0x602_1000);
    }
}
