//! What a board's command queue did when, as a timeline.

use std::collections::BTreeMap;

use slipring_queue::board::Board;
use slipring_queue::machine::{Actor, Span, SpanActor};
use slipring_report::{Counter, End, Flow, Group, Slice, SliceKind, Trace, Track, Value};

/// A timeline of a board: a track for each core of the queue and for each worker that ran, arrows from the prefetcher's commands to
/// the dispatcher's and from go signals to workers. `counters` belong to the queue. Cycles are the board's.
pub fn queue_trace(spans: &[Span], board: &Board, counters: Vec<Counter>) -> Trace {
    let mut rows: BTreeMap<SpanActor, usize> = BTreeMap::new();
    let mut tracks: Vec<Track> = Vec::new();
    let workers = spans.iter().map(|span| span.actor).filter(|actor| matches!(actor, SpanActor::Worker(_)));
    let mut actors: Vec<SpanActor> = Actor::ALL.into_iter().map(SpanActor::Queue).chain(workers).collect();
    actors.sort();
    actors.dedup();
    for actor in actors {
        let (name, group) = match actor {
            SpanActor::Queue(actor) => (actor.to_string(), 0),
            SpanActor::Worker(tile) => (tile.to_string(), 1),
        };
        rows.insert(actor, tracks.len());
        tracks.push(Track { name, group, slices: Vec::new() });
    }
    let mut ends: Vec<End> = Vec::with_capacity(spans.len());
    for span in spans {
        let row = rows[&span.actor];
        ends.push((row, tracks[row].slices.len()));
        tracks[row].slices.push(slice(span));
    }
    let arrow = |(at, span): (usize, &Span)| {
        let what = if matches!(span.actor, SpanActor::Worker(_)) { "go" } else { "command" };
        Some(Flow { what, from: ends[span.cause?], to: ends[at] })
    };
    let flows = spans.iter().enumerate().filter_map(arrow).collect();
    let group = |name: &str| Group { name: format!("{name} of {}", board.name), parent: None };
    Trace { clock_mhz: board.clock_mhz, groups: vec![group("queue"), group("workers")], tracks, counters, flows }
}

fn slice(span: &Span) -> Slice {
    let mut args: Vec<(&'static str, Value)> = vec![("command", Value::Number(span.index))];
    args.extend(span.record.map(|record| ("record", Value::Number(record))));
    if span.waits {
        args.push(("reason", Value::from(span.name)));
    }
    let kind = if span.waits { SliceKind::Stall } else { SliceKind::Work };
    Slice { name: span.name.into(), kind, start: span.start, end: span.end.max(span.start), args }
}
