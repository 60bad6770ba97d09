//! The prefetcher's state.

use crate::machine::Core;
use crate::prefetch::fetch::Fetch;
use crate::prefetch::ring::RingWriter;
use crate::wire::ExecBuf;

pub(crate) struct Prefetcher {
    pub(super) core: Core,
    pub(super) fetch: Fetch,
    /// To the dispatcher.
    pub(super) ring: RingWriter,
    /// To its subordinate.
    pub(super) s_ring: RingWriter,
    /// While commands come from DRAM.
    pub(super) trace: Option<Trace>,
    /// Number of STALLs so far.
    pub(super) stalls: u32,
    /// A NOFLUSH relay has begun a page that the next relay continues.
    pub(super) appending: bool,
    pub(super) ringbuffer: Ringbuffer,
}

/// Its pointers.
pub(super) struct Ringbuffer {
    pub(super) base: u32,
    pub(super) bytes: u32,
    pub(super) wp: u32,
    /// Base of the starts of parts.
    pub(super) offset: u32,
}

/// A trace being run. The command area is a ring of whole pages.
pub(super) struct Trace {
    pub(super) base: u32,
    pub(super) end: u32,
    pub(super) exec: ExecBuf,
    pub(super) page: u32,
    pub(super) pages_left: u32,
    /// The next byte to run.
    pub ptr: u32,
    /// Landed bytes starting at `ptr`.
    pub(super) valid: u32,
    /// Bytes after them in flight.
    pub(super) pending: u32,
    /// Bytes skipped since the current command's first.
    pub(super) passed: u32,
    pub(super) rounds: u32,
}
