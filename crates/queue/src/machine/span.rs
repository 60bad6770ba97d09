//! Who did what when.

use std::collections::{BTreeMap, VecDeque};

use crate::machine::actor::Actor;
use crate::machine::chip::TileId;
use crate::wire::Xy;

/// Whose span it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum SpanActor {
    /// The host.
    Host,
    /// One of the queue's cores.
    Queue(Actor),
    /// One of the second queue's cores.
    Second(Actor),
    /// A worker.
    Worker(Xy),
}

/// A stretch of work, waits inside it included, or one of these waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Whose.
    pub actor: SpanActor,
    /// The command, the host's call, `kernel`, or what is waited for.
    pub name: &'static str,
    /// Whether it is a wait.
    pub waits: bool,
    /// Its number among the actor's commands or the host's spans; for a worker, the launch's host id.
    pub index: u64,
    /// The host record that it came from; for a call of the host, the last one that it queued.
    pub record: Option<u64>,
    /// What brought it about, among all spans: the host's call that queued the prefetcher's record, the prefetcher's command that
    /// sent the dispatcher's, the go signal that started a worker, the dispatcher's command whose record the host takes.
    pub cause: Option<usize>,
    /// First cycle.
    pub start: u64,
    /// One past the last cycle.
    pub end: u64,
}

#[derive(Default)]
pub(crate) struct Trace {
    pub spans: Vec<Span>,
    pub(crate) open: [Option<usize>; 3],
    pub(crate) waiting: [Option<usize>; 3],
    /// The prefetcher's last command of each record.
    pub(crate) sent: BTreeMap<u64, usize>,
    /// The command whose go word is on its way to a worker, and the one that started it.
    pub(crate) gone: BTreeMap<TileId, usize>,
    pub(crate) started: BTreeMap<TileId, usize>,
    /// The host's spans so far, the last of them, and whether its call has not returned.
    pub(crate) calls: u64,
    pub(crate) call: Option<usize>,
    pub(crate) calling: bool,
    /// The call that queued each record.
    pub(crate) queued: BTreeMap<u64, usize>,
    /// Of what went to the completion ring: where it ends there in pages, and the command.
    pub(crate) completed: VecDeque<(u64, usize)>,
}

impl Trace {
    /// The spans up to now: those that are still open end here.
    pub fn until(&self, now: u64) -> Vec<Span> {
        let mut spans = self.spans.clone();
        let call = self.call.filter(|_| self.calling);
        for open in self.open.iter().chain(&self.waiting).chain([&call]).flatten() {
            spans[*open].end = now;
        }
        spans
    }
}
