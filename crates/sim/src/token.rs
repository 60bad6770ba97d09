//! Buffer tokens: `get_buf` and `rls_buf` (seed 004, Example 2; the manual's table of modes).
//!
//! The releases of a buffer are numbered in program order, as the scalar unit issues them. An acquire waits until all
//! releases issued before it are done, on whatever pipe; it does not wait for a pipe that holds the buffer and releases
//! it only later in the program. A release is done once the earlier work of its pipe is; a *deferred* one (mode 1) also
//! waits for the earlier releases of the buffer and for the work issued until then to the other pipes that hold it.
//! Everything waits only for what precedes it in the program, so tokens alone never deadlock, and the order of
//! ownership does not depend on time.
//!
//! Unit flags are tokens as well: a check is an acquire; publishing or clearing a tile is a release without a preceding
//! acquire.
//!
//! In the alternative interpretation of the platform (`token-locks`, `unit-flag-blocks`) an acquire waits for releases
//! after it in the program, too: the release by a pipe that holds the buffer, the clearing of a published tile, the
//! publication of an unpublished one. Who waits for whom does not depend on time then either, but pipes may wait for
//! each other.

use std::collections::BTreeSet;

use slipring_machine::Pipe;
use slipring_program::{SiteRef, SyncRole};

use crate::agent::AgentId;

/// A token of one cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Token {
    /// Releases issued: the number of the next one.
    pub(crate) issued: u32,
    /// The releases before this number are complete.
    pub(crate) done: u32,
    /// Later releases that are complete.
    early: BTreeSet<u32>,
    /// Cycle from which the last of the releases before `done` is visible.
    pub(crate) visible: u64,
    /// Acquires without a release, in program order.
    pub held: Vec<(Pipe, SiteRef)>,
    /// Acquires that wait until this many releases are complete.
    pub(crate) waiters: Vec<(AgentId, u32)>,
    /// Releases of each pipe: issued, and complete.
    pub(crate) by_pipe: [[u32; 2]; Pipe::COUNT],
    /// Later releases that acquires wait for in the alternative interpretation: the waiting pipe, in program order.
    pub(crate) later: Vec<(Pipe, Later)>,
    /// Cycle from which the last completed release is visible.
    pub(crate) last_seen: u64,
    /// Deferred releases that are not complete: number, and how many steps other pipes must have taken.
    pub(crate) deferred: Vec<(u32, Vec<(Pipe, u64)>)>,
}

/// Releases of other pipes, by their index among those of the pipe, from 1.
type Later = Vec<(Pipe, u32)>;

impl Token {
    /// A release is complete; others see it from a cycle on.
    pub(crate) fn complete(&mut self, pipe: Pipe, number: u32, seen: u64) {
        self.by_pipe[pipe.index()][1] += 1;
        self.last_seen = self.last_seen.max(seen);
        if number != self.done {
            self.early.insert(number);
            return;
        }
        self.done += 1;
        while self.early.remove(&self.done) {
            self.done += 1;
        }
        self.visible = seen;
    }

    /// Removes the acquires that need not wait any longer.
    pub(crate) fn ready(&mut self) -> Vec<AgentId> {
        let (ready, waiters): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiters)
            .into_iter()
            .partition(|(agent, goal)| *goal <= self.done && self.open_later(agent.pipe()).next().is_none());
        self.waiters = waiters;
        ready.iter().for_each(|(agent, _)| self.forget_later(agent.pipe()));
        ready.into_iter().map(|(agent, _)| agent).collect()
    }

    /// The later releases that the oldest acquire of a pipe still waits for.
    pub fn open_later(&self, pipe: Pipe) -> impl Iterator<Item = &(Pipe, u32)> {
        let own = self.later.iter().find(|(waits, _)| *waits == pipe);
        own.into_iter().flat_map(|(_, later)| later).filter(|(by, number)| self.by_pipe[by.index()][1] < *number)
    }

    /// The oldest acquire of a pipe is over.
    pub(crate) fn forget_later(&mut self, pipe: Pipe) {
        if let Some(at) = self.later.iter().position(|(waits, _)| *waits == pipe) {
            self.later.remove(at);
        }
    }

    /// The releases that an acquire of a pipe waits for in the alternative interpretation although they come only later
    /// in the program.
    pub(crate) fn behind(&self, pipe: Pipe, role: SyncRole) -> Later {
        let issued = |pipe: Pipe| self.by_pipe[pipe.index()][0];
        let mut later = Later::new();
        match role {
            SyncRole::Token { .. } => {
                for (holder, _) in self.held.iter().filter(|(holder, _)| *holder != pipe) {
                    match later.iter_mut().find(|(known, _)| known == holder) {
                        Some((_, number)) => *number += 1,
                        None => later.push((*holder, issued(*holder) + 1)),
                    }
                }
            }
            _ if pipe == Pipe::M => later.push((Pipe::Fix, issued(Pipe::M))),
            _ if pipe == Pipe::Fix => later.push((Pipe::M, issued(Pipe::Fix) + 1)),
            _ => {}
        }
        later.retain(|(by, number)| issued(*by) < *number);
        later
    }

    /// For a waiting deferred release: how many steps other pipes must have taken.
    pub fn goals(&self, number: u32) -> &[(Pipe, u64)] {
        self.deferred.iter().find(|(of, _)| *of == number).map_or(&[], |(_, goals)| goals)
    }
}
