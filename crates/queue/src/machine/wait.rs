//! What the queue's cores wait for.

use std::fmt;

use super::world::World;
use crate::wire::Wait as WaitCommand;

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

impl Wait {
    /// Whether it is over.
    pub(crate) fn is_over(self, world: &World) -> bool {
        let prefetch = |addr| world.memory.word(world.chip.prefetch(), addr);
        let dispatch = |addr| world.memory.word(world.chip.dispatch(), addr);
        let layout = &world.layout;
        match self {
            Wait::Until { cycle, .. } => world.now >= cycle,
            Wait::Slot { addr } => world.slot(addr) != 0,
            Wait::Credits { subordinate, pages, taken } => {
                let granted = prefetch(layout.sem(u32::from(subordinate)));
                pages.wrapping_sub(credits(granted, taken)) as i32 <= 0
            }
            Wait::Notified { count } => prefetch(layout.sem(2)) == count,
            Wait::CreditsHome { taken } => credits(prefetch(layout.sem(0)), taken) == layout.dispatch.cb_pages,
            Wait::Pages { seen, .. } => dispatch(layout.sem(0)) != seen,
            Wait::Memory { addr, count } => dispatch(addr).wrapping_sub(count) as i32 >= 0,
            Wait::Stream { stream, count } => stream_reached(world.stream(stream), count),
            Wait::Completion { pages } => world.completion_free() >= pages * (crate::layout::COMPLETION_PAGE >> 4),
            Wait::Acknowledgements { .. } | Wait::Idle | Wait::Lost => false,
            Wait::SubordinatePage { consumed, .. } => dispatch(layout.sem(1)) != consumed,
            Wait::GoPermit { addr, sent } => dispatch(addr).wrapping_sub(sent) as i32 > 0,
        }
    }

    /// What it waits for, in a timeline; `None` for its own work.
    pub(crate) const fn reason(self) -> Option<&'static str> {
        match self {
            Wait::Until { .. } | Wait::Idle | Wait::Lost => None,
            Wait::Slot { .. } => Some("waits for the host"),
            Wait::Credits { .. } => Some("waits for page credits"),
            Wait::Notified { .. } => Some("waits for the dispatcher's notice"),
            Wait::CreditsHome { .. } => Some("waits for all credits to come home"),
            Wait::Pages { .. } | Wait::SubordinatePage { .. } => Some("waits for a page"),
            Wait::Memory { .. } => Some("waits for a word of memory"),
            Wait::Stream { .. } => Some("waits for workers"),
            Wait::Completion { .. } => Some("waits for room in the completion ring"),
            Wait::Acknowledgements { .. } => Some("waits for acknowledgements"),
            Wait::GoPermit { .. } => Some("waits for leave to send a go signal"),
        }
    }

    /// What it waits for, with the present numbers.
    pub(crate) fn describe(self, world: &World) -> String {
        let layout = &world.layout;
        let prefetch = |addr| world.memory.word(world.chip.prefetch(), addr);
        let dispatch = |addr| world.memory.word(world.chip.dispatch(), addr);
        match self {
            Wait::Until { cycle, what } => format!("works until cycle {cycle} ({what})"),
            Wait::Slot { addr } => {
                let slot = (addr - layout.prefetch.q_base) / 2;
                format!("waits for the host to fill slot {slot} of {}", layout.prefetch.q_entries)
            }
            Wait::Credits { subordinate, pages, taken } => {
                let (whose, all) = match subordinate {
                    false => ("the dispatcher's", layout.dispatch.cb_pages),
                    true => ("the subordinate's", layout.dispatch.s_cb_pages),
                };
                let have = credits(prefetch(layout.sem(u32::from(subordinate))), taken);
                format!("waits for {pages} of {whose} pages, with {have} of {all} credits free")
            }
            Wait::Notified { count } => {
                let word = prefetch(layout.sem(2));
                format!("waits in STALL for notice {count}, with semaphore 2 at {word}")
            }
            Wait::CreditsHome { taken } => {
                let (have, all) = (credits(prefetch(layout.sem(0)), taken), layout.dispatch.cb_pages);
                format!("waits for all credits to come home before it ends, with {have} of {all}")
            }
            Wait::Pages { seen, inside } => {
                let what = if inside { "the rest of its command, in " } else { "" };
                format!("waits for {what}a page after the {seen} that were produced")
            }
            Wait::Memory { addr, count } => {
                let flag = WaitCommand::MEMORY;
                format!("waits (flag {flag}) for the word at {addr:#x} to reach {count}; it is {}", dispatch(addr))
            }
            Wait::Stream { stream, count } => {
                format!("waits for stream {stream} to reach {count}; it is {}", world.stream(stream))
            }
            Wait::Completion { pages } => {
                let free = world.completion_free() / (crate::layout::COMPLETION_PAGE >> 4);
                format!("waits for {pages} pages of the completion ring, with {free} free")
            }
            Wait::Acknowledgements { missing } => {
                format!("waits for {missing} acknowledgements that will never come")
            }
            Wait::SubordinatePage { consumed, inside } => {
                let what = if inside { "the rest of its command, in " } else { "" };
                format!("waits for {what}a page after the {consumed} it consumed")
            }
            Wait::GoPermit { addr, sent } => {
                format!(
                    "waits for leave to send go signal {}; the semaphore at {addr:#x} is {}",
                    sent + 1,
                    dispatch(addr)
                )
            }
            Wait::Idle => "idles: nothing is sent to it in this configuration".to_string(),
            Wait::Lost => "is lost: it ran into code that is none".to_string(),
        }
    }
}
