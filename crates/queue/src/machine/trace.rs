//! Who did what when.

use super::wait::{Actor, Wait};
use super::world::World;
use crate::wire::Xy;

/// Whose span it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum SpanActor {
    /// One of the queue's cores.
    Queue(Actor),
    /// A worker.
    Worker(Xy),
}

/// A stretch of work, waits inside it included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Whose.
    pub actor: SpanActor,
    /// The command, or `kernel`.
    pub name: &'static str,
    /// Its number among the actor's commands; for a worker, the launch's host id.
    pub index: u64,
    /// The host record that it came from.
    pub record: Option<u64>,
    /// First cycle.
    pub start: u64,
    /// One past the last cycle.
    pub end: u64,
}

#[derive(Default)]
pub(crate) struct Trace {
    pub spans: Vec<Span>,
    open: [Option<usize>; 3],
}

impl World {
    /// An actor starts a command.
    pub fn command(
        &mut self,
        actor: Actor,
        name: &'static str,
        record: Option<crate::sanitize::RecordRef>,
        at: Option<u32>,
    ) {
        let index = self.ledger.commands[actor as usize];
        self.ledger.command(actor as usize, name, record, at);
        let now = self.now;
        self.close_span(actor);
        if let Some(trace) = &mut self.trace {
            trace.open[actor as usize] = Some(trace.spans.len());
            let record = record.map(|record| record.index);
            trace.spans.push(Span { actor: SpanActor::Queue(actor), name, index, record, start: now, end: now });
        }
    }

    /// An actor waits; between commands, its span ends.
    pub fn waits(&mut self, actor: Actor, wait: Wait) {
        self.waits[actor as usize] = Some(wait);
        let between = matches!(wait, Wait::Slot { .. } | Wait::SubordinatePage { .. });
        if self.trace.is_some() && between {
            self.close_span(actor);
        }
    }

    /// An actor's command ends.
    pub fn close_span(&mut self, actor: Actor) {
        let now = self.now;
        if let Some(trace) = &mut self.trace
            && let Some(open) = trace.open[actor as usize].take()
        {
            trace.spans[open].end = now;
        }
    }

    /// A worker has run.
    pub fn worker_span(&mut self, tile: Xy, index: u64, start: u64) {
        let end = self.now;
        if let Some(trace) = &mut self.trace {
            let actor = SpanActor::Worker(tile);
            trace.spans.push(Span { actor, name: "kernel", index, record: None, start, end });
        }
    }
}
