//! Constructors of flags and barriers, for passes.

use std::sync::LazyLock;

use slipring_ir::{Attr, Module, OpId, Span, ValueId};
use slipring_machine::Pipe;

use super::{BARRIER, SET_FLAG, WAIT_FLAG};
use crate::cross_core::{SYNC_SET, SYNC_WAIT};

/// Every pipe as an attribute, followed by the one for all pipes; flags share the strings.
static PIPES: LazyLock<Vec<Attr>> = LazyLock::new(|| {
    let names = Pipe::ALL.iter().map(|pipe| format!("PIPE_{}", pipe.name()));
    names.chain(["PIPE_ALL".to_string()]).map(|name| Attr::member("pipe", &name)).collect()
});

/// The first event ids as attributes.
static EVENTS: LazyLock<Vec<Attr>> = LazyLock::new(|| (0..16).map(new_event).collect());

fn new_event(id: u32) -> Attr {
    Attr::member("event", &format!("EVENT_ID{id}"))
}

/// A pipe as an attribute; `None` is all pipes.
fn pipe(pipe: Option<Pipe>) -> Attr {
    PIPES[pipe.map_or(Pipe::COUNT, Pipe::index)].clone()
}

fn flag([from, to]: [Pipe; 2], id: u32) -> [(&'static str, Attr); 3] {
    let event = EVENTS.get(id as usize).cloned().unwrap_or_else(|| new_event(id));
    [("src_pipe", pipe(Some(from))), ("dst_pipe", pipe(Some(to))), ("event_id", event)]
}

/// A signal from one pipe to another that is not in a block yet.
pub fn set_flag(module: &mut Module, pipes: [Pipe; 2], id: u32, span: Span) -> OpId {
    SET_FLAG.make(module, &[], flag(pipes, id), &[], span)
}

/// A wait for the signal from one pipe to another that is not in a block yet.
pub fn wait_flag(module: &mut Module, pipes: [Pipe; 2], id: u32, span: Span) -> OpId {
    WAIT_FLAG.make(module, &[], flag(pipes, id), &[], span)
}

/// A barrier of a pipe, or of all of them, that is not in a block yet.
pub fn barrier(module: &mut Module, of: Option<Pipe>, span: Span) -> OpId {
    BARRIER.make(module, &[], [("pipe", pipe(of))], &[], span)
}

/// A signal of a pipe to the other kind of core that is not in a block yet.
pub fn sync_set(module: &mut Module, from: Pipe, id: i64, span: Span) -> OpId {
    SYNC_SET.make(module, &[], [("pipe", pipe(Some(from))), ("event_id", Attr::int(id))], &[], span)
}

/// A wait of a pipe for a signal of the other kind of core that is not in a block yet.
pub fn sync_wait(module: &mut Module, held: Pipe, id: i64, span: Span) -> OpId {
    SYNC_WAIT.make(module, &[], [("pipe", pipe(Some(held))), ("event_id", Attr::int(id))], &[], span)
}

/// A signal to the other kind of core, with the semaphore id in a value, that is not in a block yet.
pub fn sync_set_by(module: &mut Module, from: Pipe, id: ValueId, span: Span) -> OpId {
    SYNC_SET.make(module, &[("event_id", &[id])], [("pipe", pipe(Some(from)))], &[], span)
}

/// A wait for a signal, with the semaphore id in a value, that is not in a block yet.
pub fn sync_wait_by(module: &mut Module, held: Pipe, id: ValueId, span: Span) -> OpId {
    SYNC_WAIT.make(module, &[("event_id", &[id])], [("pipe", pipe(Some(held)))], &[], span)
}
