//! Spans of activity.

use std::collections::{BTreeMap, VecDeque};

use crate::machine::actor::Actor;
use crate::machine::chip::TileId;
use crate::wire::Xy;

/// The actor of a span.
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

/// A period of work, including waits within it, or one of these waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The actor.
    pub actor: SpanActor,
    /// The command, the host's call, `kernel`, or the awaited condition.
    pub name: &'static str,
    /// Whether it is a wait.
    pub waits: bool,
    /// Its index among the actor's commands or the host's spans; for a worker, the launch's host id.
    pub index: u64,
    /// The host record that it belongs to; for a call of the host, the last one that it queued.
    pub record: Option<u64>,
    /// The span that caused it, as an index among all spans: the host's call that queued the prefetcher's record, the
    /// prefetcher's command that sent the dispatcher's, the go signal that started a worker, the dispatcher's command
    /// whose record the host takes.
    pub cause: Option<usize>,
    /// First cycle.
    pub start: u64,
    /// End cycle (exclusive).
    pub end: u64,
}

#[derive(Default)]
pub(crate) struct Trace {
    pub spans: Vec<Span>,
    pub(crate) open: [Option<usize>; 3],
    pub(crate) waiting: [Option<usize>; 3],
    /// The prefetcher's last command of each record.
    pub(crate) sent: BTreeMap<u64, usize>,
    /// The command whose go word is in flight to a worker, and the one that started it.
    pub(crate) gone: BTreeMap<TileId, usize>,
    pub(crate) started: BTreeMap<TileId, usize>,
    /// Number of the host's spans so far, the last of them, and whether its call has not returned.
    pub(crate) calls: u64,
    pub(crate) call: Option<usize>,
    pub(crate) calling: bool,
    /// The call that queued each record.
    pub(crate) queued: BTreeMap<u64, usize>,
    /// For data sent to the completion ring: its end in pages, and the command.
    pub(crate) completed: VecDeque<(u64, usize)>,
}

impl Trace {
    /// The spans up to now: open ones end here.
    pub fn until(&self, now: u64) -> Vec<Span> {
        let mut spans = self.spans.clone();
        let call = self.call.filter(|_| self.calling);
        for open in self.open.iter().chain(&self.waiting).chain([&call]).flatten() {
            spans[*open].end = now;
        }
        spans
    }
}
