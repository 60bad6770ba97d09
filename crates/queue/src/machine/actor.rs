//! The queue's cores, and the conditions they can wait for.

use std::fmt;

/// One of the queue's three cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Actor {
    /// The prefetcher, on network 0.
    Prefetch,
    /// The dispatcher, on network 1.
    Dispatch,
    /// The dispatcher's subordinate, on the same tile and network.
    Subordinate,
}

impl Actor {
    /// All actors, in the order in which they act within a cycle.
    pub const ALL: [Actor; 3] = [Actor::Prefetch, Actor::Dispatch, Actor::Subordinate];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Actor::Prefetch => "prefetcher",
            Actor::Dispatch => "dispatcher",
            Actor::Subordinate => "subordinate",
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The wait condition of one of the queue's cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// A cycle at which something certain happens: its own work, reads, sent or acknowledged writes.
    Until {
        /// The cycle.
        cycle: u64,
        /// The event.
        what: &'static str,
    },
    /// The host, to fill the next slot.
    Slot {
        /// Address of the slot.
        addr: u32,
    },
    /// Page credits: `pages` of them, where `taken` (minus all acquired so far) plus those granted is the number
    /// available.
    Credits {
        /// Whether they are the subordinate's.
        subordinate: bool,
        /// Number of pages needed.
        pages: u32,
        /// Minus the pages acquired so far, wrapping.
        taken: u32,
    },
    /// A notification by the dispatcher for each STALL so far.
    Notified {
        /// Their number.
        count: u32,
    },
    /// All credits, before the kernel ends.
    CreditsHome {
        /// Minus the pages acquired so far, wrapping.
        taken: u32,
    },
    /// A page that was not seen yet.
    Pages {
        /// Number of pages seen.
        seen: u32,
        /// Whether a command has begun that continues in the page.
        inside: bool,
    },
    /// A word of the dispatch core's L1 to reach a count.
    Memory {
        /// Its address.
        addr: u32,
        /// The count.
        count: u32,
    },
    /// A stream to reach a count.
    Stream {
        /// The stream.
        stream: u32,
        /// The count.
        count: u32,
    },
    /// Capacity in the completion ring.
    Completion {
        /// Number of pages needed.
        pages: u32,
    },
    /// Acknowledgements that will never be sent.
    Acknowledgements {
        /// Number of missing ones.
        missing: u64,
    },
    /// A page for the subordinate.
    SubordinatePage {
        /// Number of pages that it has consumed.
        consumed: u32,
        /// Whether a command has begun that continues in the page.
        inside: bool,
    },
    /// The dispatcher's permission to send a go signal.
    GoPermit {
        /// Address of the semaphore.
        addr: u32,
        /// Number of signals sent so far.
        sent: u32,
    },
    /// Nothing: it has no role in this configuration.
    Idle,
    /// Nothing: it jumped to an address that holds no code.
    Lost,
}

/// Whether a 17-bit stream counter has reached a count, as the firmware compares them: signed, modulo 2^17.
pub(crate) fn stream_reached(value: u32, count: u32) -> bool {
    (value.wrapping_sub(count) << 15) as i32 >= 0
}

/// Number of page credits available.
pub(crate) fn credits(granted: u32, taken: u32) -> u32 {
    granted.wrapping_add(taken)
}
