//! Who did what when.

use std::collections::BTreeMap;

use super::chip::TileId;
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

/// A stretch of work, waits inside it included, or one of these waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Whose.
    pub actor: SpanActor,
    /// The command, `kernel`, or what is waited for.
    pub name: &'static str,
    /// Whether it is a wait.
    pub waits: bool,
    /// Its number among the actor's commands; for a worker, the launch's host id.
    pub index: u64,
    /// The host record that it came from.
    pub record: Option<u64>,
    /// What brought it about, among all spans: the prefetcher's command that sent the dispatcher's, the go signal that started a
    /// worker.
    pub cause: Option<usize>,
    /// First cycle.
    pub start: u64,
    /// One past the last cycle.
    pub end: u64,
}

#[derive(Default)]
pub(crate) struct Trace {
    pub spans: Vec<Span>,
    open: [Option<usize>; 3],
    waiting: [Option<usize>; 3],
    /// The prefetcher's last command of each record.
    sent: BTreeMap<u64, usize>,
    /// The command whose go word is on its way to a worker, and the one that started it.
    gone: BTreeMap<TileId, usize>,
    started: BTreeMap<TileId, usize>,
}

impl Trace {
    /// The spans up to now: those that are still open end here.
    pub fn until(&self, now: u64) -> Vec<Span> {
        let mut spans = self.spans.clone();
        for open in self.open.iter().chain(&self.waiting).flatten() {
            spans[*open].end = now;
        }
        spans
    }
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
        if actor == Actor::Dispatch {
            self.judge_passed(record, at);
        }
        let index = self.ledger.commands[actor as usize];
        self.ledger.command(actor as usize, name, record, at);
        let now = self.now;
        self.close_span(actor);
        if let Some(trace) = &mut self.trace {
            let number = trace.spans.len();
            trace.open[actor as usize] = Some(number);
            let record = record.map(|record| record.index);
            let cause = match (actor, record) {
                (Actor::Prefetch, Some(record)) => {
                    trace.sent.insert(record, number);
                    None
                }
                (_, Some(record)) => trace.sent.get(&record).copied(),
                (_, None) => None,
            };
            let actor = SpanActor::Queue(actor);
            trace.spans.push(Span { actor, name, waits: false, index, record, cause, start: now, end: now });
        }
    }

    /// An actor waits; between commands, its span ends.
    pub fn waits(&mut self, actor: Actor, wait: Wait) {
        self.waits[actor as usize] = Some(wait);
        let between = matches!(wait, Wait::Slot { .. } | Wait::SubordinatePage { .. });
        if self.trace.is_some() && between {
            self.close_span(actor);
        }
        let (now, index) = (self.now, self.ledger.commands[actor as usize]);
        if let (Some(trace), Some(name)) = (&mut self.trace, wait.reason()) {
            trace.waiting[actor as usize] = Some(trace.spans.len());
            let actor = SpanActor::Queue(actor);
            trace.spans.push(Span { actor, name, waits: true, index, record: None, cause: None, start: now, end: now });
        }
    }

    /// What an actor waited for is there.
    pub fn goes_on(&mut self, actor: Actor) {
        self.waits[actor as usize] = None;
        let now = self.now;
        if let Some(trace) = &mut self.trace
            && let Some(waiting) = trace.waiting[actor as usize].take()
        {
            trace.spans[waiting].end = now;
        }
    }

    /// A go word for a worker leaves, sent by an actor's present command.
    pub fn go_leaves(&mut self, actor: Actor, tile: TileId) {
        self.workers.sent_go(tile, self.ledger.at[actor as usize]);
        if let Some(trace) = &mut self.trace
            && let Some(command) = trace.open[actor as usize]
        {
            trace.gone.insert(tile, command);
        }
    }

    /// A worker starts on the go word that came last.
    pub fn follows_go(&mut self, tile: TileId) {
        if let Some(trace) = &mut self.trace {
            match trace.gone.remove(&tile) {
                Some(command) => trace.started.insert(tile, command),
                None => trace.started.remove(&tile),
            };
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
    pub fn worker_span(&mut self, tile: TileId, index: u64, start: u64) {
        let end = self.now;
        let actor = SpanActor::Worker(self.chip.xy(tile));
        if let Some(trace) = &mut self.trace {
            let cause = trace.started.remove(&tile);
            trace.spans.push(Span { actor, name: "kernel", waits: false, index, record: None, cause, start, end });
        }
    }
}
