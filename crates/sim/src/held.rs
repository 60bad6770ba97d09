//! Work that later work of its own pipe overtakes, on pipes that overlap their work in some memory: a schedule says which.
//!
//! The pipe takes its work in order and with its usual durations; only what a held work reads and writes it reads and writes later.
//! It is carried out after the work that the schedule names, or before what must come after it: a signal or a barrier of its
//! pipe, the end of its core's pipes, and work that touches the same bytes of a memory in which the pipe keeps its order.

use slipring_machine::{Pipe, Platform};
use slipring_program::{Access, Env, Extent, SiteRef};
use slipring_tile::Space;

/// A work that was timed and not carried out.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub core: usize,
    pub pipe: Pipe,
    /// The work of the pipe that it comes behind.
    pub past: u32,
    pub id: u32,
    pub args: Box<[u64]>,
    pub access: Access,
    pub env: Env,
    pub site: SiteRef,
}

/// True if some bytes of two ranges may be the same.
fn meet(a: &Extent, b: &Extent) -> bool {
    let owner = a.space == b.space && (a.space == Space::Gm || a.core == b.core);
    owner && a.start < b.end() && b.start < a.end()
}

/// True if a pipe keeps two of its works in order: they share bytes of a memory where it does, and one writes them.
pub(crate) fn in_order(platform: &Platform, pipe: Pipe, one: &Access, other: &Access) -> bool {
    let shared = |a: &[Extent], b: &[Extent]| {
        a.iter().any(|a| !platform.overlaps(pipe, a.space) && b.iter().any(|b| meet(a, b)))
    };
    shared(&one.writes, &other.writes) || shared(&one.writes, &other.reads) || shared(&one.reads, &other.writes)
}
