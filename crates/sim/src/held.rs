//! Work that later work of its own pipe overtakes, on pipes that overlap their own work in some memory, as specified by
//! a schedule.
//!
//! The pipe takes its work in order and with its usual durations; only the reads and writes of held work happen later.
//! Held work is executed after the work that the schedule names, or before anything that must come after it: a signal
//! or a barrier of its pipe, the end of its core's pipes, and work that touches the same bytes of a memory in which the
//! pipe keeps its order.

use slipring_machine::{Pipe, Platform};
use slipring_program::{Access, Env, Extent, SiteRef};
use slipring_tile::Space;

/// A work item that was timed but not executed.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub core: usize,
    pub pipe: Pipe,
    /// The work of the pipe that it is delayed past.
    pub past: u32,
    pub id: u32,
    pub args: Box<[u64]>,
    pub access: Access,
    pub env: Env,
    pub site: SiteRef,
}

/// True if two ranges may overlap.
fn meet(a: &Extent, b: &Extent) -> bool {
    let owner = a.space == b.space && (a.space == Space::Gm || a.core == b.core);
    owner && a.start < b.end() && b.start < a.end()
}

/// True if a pipe keeps two of its work items in order: they share bytes of a memory where it does, and one writes
/// them.
pub(crate) fn in_order(platform: &Platform, pipe: Pipe, one: &Access, other: &Access) -> bool {
    let shared = |a: &[Extent], b: &[Extent]| {
        a.iter().any(|a| !platform.overlaps(pipe, a.space) && b.iter().any(|b| meet(a, b)))
    };
    shared(&one.writes, &other.writes) || shared(&one.writes, &other.reads) || shared(&one.reads, &other.writes)
}
