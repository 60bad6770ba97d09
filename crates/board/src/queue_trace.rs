//! Activity of a board's command queue as a timeline.

use std::collections::BTreeMap;

use slipring_queue::board::Board;
use slipring_queue::machine::{Actor, Span, SpanActor};
use slipring_report::{Counter, End, Flow, Group, Slice, SliceKind, Trace, Track, Value};

use crate::BlockRun;

/// Groups that always exist.
const HOST: usize = 0;
const QUEUE: usize = 1;
const WORKERS: usize = 2;

/// A timeline of a board, from the calls of its host to the pipes of its kernels. It has a track for the host, for each
/// core of the queue and for each worker that ran, and below a worker the pipes of its blocks, if `blocks` contains
/// them. Arrows lead from the host's calls to the prefetcher's commands, from there to the dispatcher's, from go
/// signals to workers and on to the first activity of each core of the block, and from the dispatcher to the host that
/// takes the completion. `counters` belong to the queue. Cycles are the board's.
pub fn queue_trace(spans: &[Span], blocks: &[BlockRun], board: &Board, counters: Vec<Counter>) -> Trace {
    let counters = counters.into_iter().map(|counter| Counter { group: QUEUE, ..counter }).collect();
    let group = |name: &str| Group { name: format!("{name} of {}", board.name), parent: None };
    let groups = vec![group("host"), group("queue"), group("workers")];
    let mut trace = Trace { clock_mhz: board.clock_mhz, groups, counters, ..Trace::default() };
    let mut rows: BTreeMap<SpanActor, usize> = BTreeMap::new();
    let usual = [SpanActor::Host].into_iter().chain(Actor::ALL.into_iter().map(SpanActor::Queue));
    let mut actors: Vec<SpanActor> = usual.chain(spans.iter().map(|span| span.actor)).collect();
    if spans.iter().any(|span| matches!(span.actor, SpanActor::Second(_))) {
        actors.extend(Actor::ALL.map(SpanActor::Second));
    }
    actors.sort();
    actors.dedup();
    let mut pipes: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for actor in actors {
        let (name, group) = match actor {
            SpanActor::Host => ("calls".to_string(), HOST),
            SpanActor::Queue(actor) => (actor.to_string(), QUEUE),
            SpanActor::Second(actor) => (format!("{actor} of queue 1"), QUEUE),
            SpanActor::Worker(tile) => {
                let own = blocks.iter().filter(|run| run.tile == tile);
                let own: Vec<&Trace> = own.filter_map(|run| run.timeline.as_deref()).collect();
                if own.is_empty() {
                    (tile.to_string(), WORKERS)
                } else {
                    let group = trace.groups.len();
                    trace.groups.push(Group { name: tile.to_string(), parent: Some(WORKERS) });
                    rows.insert(actor, trace.tracks.len());
                    trace.tracks.push(Track { name: "launches".into(), group, slices: Vec::new() });
                    own.iter().for_each(|timeline| add_pipes(&mut trace, &mut pipes, timeline, group));
                    continue;
                }
            }
        };
        rows.insert(actor, trace.tracks.len());
        trace.tracks.push(Track { name, group, slices: Vec::new() });
    }
    let mut ends: Vec<End> = Vec::with_capacity(spans.len());
    for span in spans {
        let row = rows[&span.actor];
        ends.push((row, trace.tracks[row].slices.len()));
        trace.tracks[row].slices.push(slice(span));
    }
    let arrow = |(at, span): (usize, &Span)| {
        let what = match span.actor {
            SpanActor::Host => "completion",
            SpanActor::Queue(Actor::Prefetch) | SpanActor::Second(Actor::Prefetch) => "record",
            SpanActor::Queue(_) | SpanActor::Second(_) => "command",
            SpanActor::Worker(_) => "go",
        };
        Some(Flow { what, from: ends[span.cause?], to: ends[at] })
    };
    trace.flows = spans.iter().enumerate().filter_map(arrow).collect();
    // A worker runs one block after the other.
    let runs: BTreeMap<_, &BlockRun> = blocks.iter().map(|run| ((run.tile, run.start), run)).collect();
    for (span, end) in spans.iter().zip(&ends) {
        if let SpanActor::Worker(tile) = span.actor
            && let Some(run) = runs.get(&(tile, span.start))
        {
            add_block(&mut trace, &pipes, run, *end);
        }
    }
    trace
}

/// Timelines of several boards combined, each below a group with its name. Boards share nothing, clocks included: each
/// counts from its own first cycle, in cycles of the first one's clock.
pub fn queue_traces<'a>(boards: impl IntoIterator<Item = (&'a str, &'a Trace)>) -> Trace {
    let mut all = Trace::default();
    for (name, own) in boards {
        if all.groups.is_empty() {
            all.clock_mhz = own.clock_mhz;
        }
        let clocks = (u128::from(all.clock_mhz), u128::from(own.clock_mhz.max(1)));
        let moved = |at: u64| (u128::from(at) * clocks.0 / clocks.1) as u64;
        let (top, first) = (all.groups.len(), all.groups.len() + 1);
        all.groups.push(Group { name: name.to_string(), parent: None });
        let groups = own.groups.iter();
        all.groups.extend(groups.map(|group| Group {
            name: group.name.clone(),
            parent: Some(group.parent.map_or(top, |parent| first + parent)),
        }));
        all.take_in(
            own,
            |all, at| {
                let track = &own.tracks[at];
                all.tracks.push(Track { group: first + track.group, slices: Vec::new(), ..track.clone() });
                Some(all.tracks.len() - 1)
            },
            moved,
        );
        own.counters.iter().for_each(|counter| all.take_in_counter(counter, first + counter.group, moved));
    }
    all
}

/// Rows for the pipes of a block that a worker ran.
fn add_pipes(trace: &mut Trace, pipes: &mut BTreeMap<(usize, String), usize>, own: &Trace, group: usize) {
    for (core, track) in own.tracks.iter().filter_map(|track| Some((core_of(own, track)?, track))) {
        let name = format!("{core} {}", track.name);
        pipes.entry((group, name.clone())).or_insert_with(|| {
            trace.tracks.push(Track { name, group, slices: Vec::new() });
            trace.tracks.len() - 1
        });
    }
}

/// The core that a track of a block belongs to; the track of the blocks themselves belongs to none.
fn core_of<'a>(own: &'a Trace, track: &Track) -> Option<&'a str> {
    let group = own.groups.get(track.group).filter(|group| group.parent.is_some())?;
    Some(&group.name)
}

/// The activity of a block, below the slice of its worker's launch. A cluster has a clock of its own: the board counts
/// its cycles.
fn add_block(trace: &mut Trace, pipes: &BTreeMap<(usize, String), usize>, run: &BlockRun, launch: End) {
    let (Some(own), group) = (run.timeline.as_deref(), trace.tracks[launch.0].group) else { return };
    let clocks = (u128::from(trace.clock_mhz), u128::from(own.clock_mhz.max(1)));
    let moved = |at: u64| run.start.saturating_add((u128::from(at) * clocks.0 / clocks.1) as u64);
    let row = |track: &Track| Some(*pipes.get(&(group, format!("{} {}", core_of(own, track)?, track.name)))?);
    let ends = trace.take_in(own, |_, at| row(&own.tracks[at]), moved);
    let block = ("block", Value::Number(run.block.into()));
    ends.values().for_each(|(row, at)| trace.tracks[*row].slices[*at].args.push(block.clone()));
    trace.tracks[launch.0].slices[launch.1].args.push(block);
    let mut first: BTreeMap<&str, (u64, End)> = BTreeMap::new();
    for (there, here) in &ends {
        let (Some(core), Some(slice)) = (core_of(own, &own.tracks[there.0]), trace.slice(*here)) else { continue };
        let begins = (slice.start, *here);
        first.entry(core).and_modify(|known| *known = begins.min(*known)).or_insert(begins);
    }
    let arrows = first.into_values().map(|(_, to)| Flow { what: "block", from: launch, to });
    trace.flows.extend(arrows);
    own.counters.iter().for_each(|counter| trace.take_in_counter(counter, group, moved));
}

fn slice(span: &Span) -> Slice {
    let what = if span.actor == SpanActor::Host { "call" } else { "command" };
    let mut args: Vec<(&'static str, Value)> = vec![(what, Value::Number(span.index))];
    args.extend(span.record.map(|record| ("record", Value::Number(record))));
    if span.waits {
        args.push(("reason", Value::from(span.name)));
    }
    let kind = if span.waits { SliceKind::Stall } else { SliceKind::Work };
    Slice { name: span.name.into(), kind, start: span.start, end: span.end.max(span.start), args }
}
