//! The queue's cores, and what they can wait for.

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
    /// All of them, in the order in which they act within a cycle.
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

/// What one of the queue's cores waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// A cycle, for something that is certain to happen: its own work, reads, sent or acknowledged writes.
    Until {
        /// The cycle.
        cycle: u64,
        /// What happens then.
        what: &'static str,
    },
    /// The host, to fill the next slot.
    Slot {
        /// Address of the slot.
        addr: u32,
    },
    /// Credits of pages: `pages` of them, given what `taken` (minus all that were acquired) leaves of those granted.
    Credits {
        /// Whether they are the subordinate's.
        subordinate: bool,
        /// Pages that are needed.
        pages: u32,
        /// Minus the pages acquired so far, wrapping.
        taken: u32,
    },
    /// A notice of the dispatcher for each STALL so far.
    Notified {
        /// How many.
        count: u32,
    },
    /// All credits, before the kernel ends.
    CreditsHome {
        /// Minus the pages acquired so far, wrapping.
        taken: u32,
    },
    /// A page that was not seen yet.
    Pages {
        /// Pages that were.
        seen: u32,
        /// Whether a command has begun, of which the page brings more.
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
        /// Which.
        stream: u32,
        /// The count.
        count: u32,
    },
    /// Room in the completion ring.
    Completion {
        /// Pages that are needed.
        pages: u32,
    },
    /// Acknowledgements that nobody will send.
    Acknowledgements {
        /// How many are missing.
        missing: u64,
    },
    /// A page for the subordinate.
    SubordinatePage {
        /// Pages that it has consumed.
        consumed: u32,
        /// Whether a command has begun, of which the page brings more.
        inside: bool,
    },
    /// The dispatcher's leave to send a go signal.
    GoPermit {
        /// Address of the semaphore.
        addr: u32,
        /// Signals sent so far.
        sent: u32,
    },
    /// Nothing: it has nothing to do in this configuration.
    Idle,
    /// Nothing: it ran into code that is none.
    Lost,
}

/// Whether a 17-bit stream counter has reached a count, as the firmware compares them: signed, modulo 2^17.
pub(crate) fn stream_reached(value: u32, count: u32) -> bool {
    (value.wrapping_sub(count) << 15) as i32 >= 0
}

/// How many credits of pages are there to take.
pub(crate) fn credits(granted: u32, taken: u32) -> u32 {
    granted.wrapping_add(taken)
}
