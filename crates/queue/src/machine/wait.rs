//! Wait conditions of the queue's cores.

use super::world::World;
use crate::machine::actor::{Wait, credits, stream_reached};
use crate::wire::Wait as WaitCommand;

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

    /// The condition, for a timeline; `None` for its own work.
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

    /// The condition, with the current values.
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
