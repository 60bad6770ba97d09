//! A trace of all activity.

use super::chip::TileId;
use super::world::World;
use crate::machine::actor::{Actor, Wait};
use crate::machine::span::{Span, SpanActor, Trace};

/// The kind of a host's call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HostCall {
    /// It writes its pinned memory.
    Write,
    /// It stores through a window.
    Store,
    /// It reads pinned memory, through a window, or a register.
    Look,
    /// It sleeps.
    Sleep,
}

/// A host's span in which it sleeps.
const SLEEPS: &str = "waits for the board";

impl HostCall {
    const fn name(self) -> &'static str {
        match self {
            HostCall::Write => "write host memory",
            HostCall::Store => "store",
            HostCall::Look => "load",
            HostCall::Sleep => SLEEPS,
        }
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
                    trace.queued.get(&record).copied()
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
        self.set_wait(actor, Some(wait));
        if self.trace.is_none() {
            return;
        }
        let between = matches!(wait, Wait::Slot { .. } | Wait::SubordinatePage { .. });
        if between {
            self.close_span(actor);
        }
        let (now, index) = (self.now, self.ledger.commands[actor as usize]);
        if let (Some(trace), Some(name)) = (&mut self.trace, wait.reason()) {
            trace.waiting[actor as usize] = Some(trace.spans.len());
            let actor = SpanActor::Queue(actor);
            trace.spans.push(Span { actor, name, waits: true, index, record: None, cause: None, start: now, end: now });
        }
    }

    /// The wait condition of an actor holds.
    pub fn goes_on(&mut self, actor: Actor) {
        self.set_wait(actor, None);
        let now = self.now;
        if let Some(trace) = &mut self.trace
            && let Some(waiting) = trace.waiting[actor as usize].take()
        {
            trace.spans[waiting].end = now;
        }
    }

    /// The host calls. Polls and sleeps with nothing in between are one span, which counts as a wait once it sleeps.
    pub fn host_calls(&mut self, call: HostCall) {
        let now = self.now;
        let Some(trace) = &mut self.trace else { return };
        trace.calling = true;
        let polls = matches!(call, HostCall::Look | HostCall::Sleep);
        if polls && let Some(last) = trace.call.and_then(|last| trace.spans.get_mut(last)) {
            let polled = last.name == HostCall::Look.name() || last.name == SLEEPS;
            if polled && last.end == now {
                if call == HostCall::Sleep {
                    (last.name, last.waits) = (SLEEPS, true);
                }
                return;
            }
        }
        trace.call = Some(trace.spans.len());
        let (actor, waits, index) = (SpanActor::Host, call == HostCall::Sleep, trace.calls);
        trace.calls += 1;
        let name = call.name();
        trace.spans.push(Span { actor, name, waits, index, record: None, cause: None, start: now, end: now });
    }

    /// The host's call returns.
    pub fn host_returns(&mut self) {
        let now = self.now;
        if let Some(trace) = &mut self.trace
            && let Some(call) = trace.call
        {
            trace.calling = false;
            trace.spans[call].end = now;
        }
    }

    /// The host's current call, if it is in one.
    fn host_call(&mut self) -> Option<(&mut Trace, usize)> {
        let trace = self.trace.as_mut()?;
        let call = trace.call.filter(|_| trace.calling)?;
        Some((trace, call))
    }

    /// The host's call queues a record.
    pub fn host_queues(&mut self, record: u64) {
        if let Some((trace, call)) = self.host_call() {
            (trace.spans[call].name, trace.spans[call].record) = ("queue record", Some(record));
            trace.queued.insert(record, call);
        }
    }

    /// The host's call takes pages of the completion ring: the command that sent the first of them is the cause.
    pub fn host_takes(&mut self) {
        let drained = self.ledger.drained;
        let Some((trace, call)) = self.host_call() else { return };
        let cause = trace.completed.front().map(|(_, command)| *command);
        while trace.completed.pop_front_if(|(end, _)| *end <= drained).is_some() {}
        let record = cause.and_then(|cause| trace.spans[cause].record);
        let span = &mut trace.spans[call];
        (span.name, span.cause, span.record) = ("take completion", cause, record);
    }

    /// The host's call stores to a worker: possibly its go word.
    pub fn host_goes(&mut self, tile: TileId) {
        if let Some((trace, call)) = self.host_call() {
            trace.gone.insert(tile, call);
        }
    }

    /// The dispatcher's current command has sent pages to the completion ring.
    pub fn completion_leaves(&mut self) {
        let end = self.ledger.completed;
        if let Some(trace) = &mut self.trace
            && let Some(command) = trace.open[Actor::Dispatch as usize]
        {
            trace.completed.push_back((end, command));
        }
    }

    /// A go word for a worker leaves, sent by an actor's current command.
    pub fn go_leaves(&mut self, actor: Actor, tile: TileId) {
        self.workers.sent_go(tile, self.ledger.at[actor as usize]);
        if let Some(trace) = &mut self.trace
            && let Some(command) = trace.open[actor as usize]
        {
            trace.gone.insert(tile, command);
        }
    }

    /// A worker starts on the last go word that arrived.
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
