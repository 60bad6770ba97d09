//! What the prefetcher knows.

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
    /// STALLs so far.
    pub(super) stalls: u32,
    /// A NOFLUSH relay has begun a page that the next relay goes on in.
    pub(super) appending: bool,
    pub(super) ringbuffer: Ringbuffer,
}

/// Its pointers.
pub(super) struct Ringbuffer {
    pub(super) base: u32,
    pub(super) bytes: u32,
    pub(super) wp: u32,
    /// Where starts of parts count from.
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
    /// Bytes from `ptr` on that have landed.
    pub(super) valid: u32,
    /// Bytes after them that are being read.
    pub(super) pending: u32,
    /// Bytes passed since the present command's first.
    pub(super) passed: u32,
    pub(super) rounds: u32,
}
