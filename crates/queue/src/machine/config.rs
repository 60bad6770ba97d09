//! Configuration of a machine.

use super::Delays;
use crate::board::Board;
use crate::layout::{COMPLETION_PAGE, Layout, PCIE_ALIGN, SYNC_SEMS};
use crate::sanitize::{AtError, Hazard};

/// Behaviour of firmware that differs from the modelled one, for those who write their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Quirks {
    /// Go words are sent from a register instead of from L1, which this hardware cannot do concurrently with other
    /// writes.
    pub inline_go: bool,
    /// A command buffer's upper address register is not restored after a write to host memory.
    pub keeps_upper_address: bool,
    /// The queue's kernels find their semaphores at the base given in their launch messages, not at that of the layout:
    /// for kernels without a compiled-in address. Both cores must name the same base.
    pub base_from_launch: bool,
}

/// Limits of a machine, so that every run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Steps of actors and arrivals since the host last queued a record: queueing a record resets the count.
    pub steps: u64,
    /// Bytes of DRAM in use, in chunks of 4 KiB.
    pub bytes: u64,
}

impl Default for Limits {
    /// 20 million steps, some ten seconds, and 2 GiB.
    fn default() -> Limits {
        Limits { steps: 20_000_000, bytes: 2 << 30 }
    }
}

/// A machine's parts and behaviour.
#[derive(Clone, Debug)]
pub struct Config {
    /// The board.
    pub board: Board,
    /// The memory map.
    pub layout: Layout,
    /// The behaviour at an error.
    pub mode: AtError,
    /// Seed of additional delays; `None`: nothing is later than necessary.
    pub seed: Option<u64>,
    /// The durations.
    pub delays: Delays,
    /// Differing firmware.
    pub quirks: Quirks,
    /// All times written by commands and workers are equal: this makes two runs comparable.
    pub still_clock: bool,
    /// Whether the board has two queues: the second one on the two tiles below those of the first, with its host memory
    /// after the first one's.
    pub two_queues: bool,
    /// Whether spans of all actors are recorded.
    pub trace: bool,
    /// Whether the stream queued by the host is recorded.
    pub record: bool,
    /// Initial value of the page counters, as if this many pages had been used: makes their wrap reachable.
    pub pages_before: u32,
    /// The limits.
    pub limits: Limits,
    /// Allowed hazards: they are only counted.
    pub allowed: Vec<Hazard>,
}

impl Config {
    /// A board in the fixed configuration, strict, without delays.
    pub fn new(board: Board) -> Config {
        let delays = Delays { clock_mhz: board.clock_mhz.into(), ..Delays::default() };
        Config {
            board,
            layout: Layout::default(),
            mode: AtError::Strict,
            seed: None,
            delays,
            quirks: Quirks::default(),
            still_clock: false,
            two_queues: false,
            trace: false,
            record: false,
            pages_before: 0,
            limits: Limits::default(),
            allowed: Vec::new(),
        }
    }

    /// Sets a seed for delays.
    pub fn with_seed(mut self, seed: u64) -> Config {
        self.seed = Some(seed);
        self
    }

    /// Sets the behaviour at an error.
    pub fn with_mode(mut self, mode: AtError) -> Config {
        self.mode = mode;
        self
    }

    /// Sets another memory map.
    pub fn with_layout(mut self, layout: Layout) -> Config {
        self.layout = layout;
        self
    }

    /// The error in the configuration, if any.
    pub(super) fn check(&self) -> Result<(), String> {
        self.layout.check()
    }
}

impl Layout {
    /// The error in the memory map, if any.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (layout, bytes) = (self, u64::from(self.l1_bytes));
        let (fetch, cb, host) = (&layout.prefetch, &layout.dispatch, &layout.sysmem);
        let regions = [
            ("prefetch_q", fetch.q_base, 2 * u64::from(fetch.q_entries)),
            ("the command area", fetch.cmddat_base, fetch.cmddat_bytes.into()),
            ("the scratch buffers", fetch.scratch_base, 2 * u64::from(fetch.scratch_half)),
            ("the ring buffer", fetch.scratch_base, fetch.ringbuffer_bytes.into()),
            ("the dispatcher's pages", cb.cb_base, u64::from(cb.cb_pages) << cb.cb_log_page.min(20)),
            ("the subordinate's pages", cb.s_cb_base, u64::from(cb.s_cb_pages) << cb.s_cb_log_page.min(20)),
            ("the subordinate's semaphores", cb.sync_sems, 16 * u64::from(SYNC_SEMS)),
            ("semaphores", layout.sem(0), 16 * 16),
            ("the launch messages", layout.worker.launch, 8 * 96),
            ("the go messages", layout.worker.go, 9 * 4),
            ("the go index", layout.worker.go_index, 4),
            ("the completion pointers", cb.completion_wr.max(cb.completion_rd), 4),
            ("the fetch pointers", fetch.q_rd_ptr.max(fetch.pcie_rd_ptr), 4),
        ];
        if let Some((what, start, _)) = regions.iter().find(|(_, start, size)| u64::from(*start) + size > bytes) {
            return Err(format!("{what}, from {start:#x} on, leave the {bytes:#x} bytes of L1"));
        }
        let rules = [
            (bytes <= 16 << 20, "a tile has at most 16 MiB of L1"),
            (fetch.q_entries > 0, "prefetch_q has no slots"),
            (
                fetch.cmddat_base.is_multiple_of(PCIE_ALIGN) && fetch.cmddat_bytes > 0,
                "the command area must start at a multiple of 64",
            ),
            (
                fetch.scratch_half > 0 && fetch.scratch_base.is_multiple_of(64),
                "a scratch half must start at a multiple of 64 and have bytes",
            ),
            (cb.cb_log_page >= 6 && cb.cb_log_page <= 20, "a page of the dispatcher has 64 bytes to 1 MiB"),
            (cb.s_cb_log_page >= 6 && cb.s_cb_log_page <= 20, "a page of the subordinate has 64 bytes to 1 MiB"),
            (
                cb.cb_blocks >= 2 && cb.cb_pages.is_multiple_of(cb.cb_blocks.max(1)) && cb.cb_pages >= cb.cb_blocks,
                "the dispatcher's pages must make two or more equal blocks",
            ),
            (cb.cb_base.is_multiple_of(1 << cb.cb_log_page.min(20)), "the dispatcher's pages must be aligned"),
            (
                cb.s_cb_pages > 0 && cb.s_cb_base.is_multiple_of(1 << cb.s_cb_log_page.min(20)),
                "the subordinate's pages must be aligned",
            ),
            (cb.first_stream + cb.streams <= 64, "there are 64 streams"),
            (
                host.issue.is_multiple_of(PCIE_ALIGN)
                    && host.issue_bytes.is_multiple_of(PCIE_ALIGN)
                    && host.issue_bytes > 0,
                "the issue region must be aligned to 64, and have bytes",
            ),
            (
                host.completion_bytes >= 2 * COMPLETION_PAGE && host.completion_bytes.is_multiple_of(COMPLETION_PAGE),
                "the completion region must have two or more whole pages",
            ),
            (host.completion.is_multiple_of(16), "the completion region must be aligned to 16"),
            (host.noc(host.bytes) < 1 << 32, "the pinned memory must lie below 4 GiB as the device sees it"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(format!("impossible layout: {rule}")),
            None => Ok(()),
        }
    }
}
