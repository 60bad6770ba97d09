//! Timelines as tracks of slices with arrows between them: the common input of all timeline writers, whatever the
//! source of the events.

mod chart;
mod chrome;
mod form;
mod perfetto;

pub use form::TraceForm;
use std::collections::BTreeMap;
use std::sync::Arc;

use slipring_finding::Line;

pub use chart::chart;
pub use chrome::chrome;
pub use perfetto::{perfetto, schema};

/// A timeline. Times are cycles of one clock.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// Cycles per microsecond.
    pub clock_mhz: u32,
    /// The groups of the tracks, each after its parent.
    pub groups: Vec<Group>,
    /// Tracks, one per row.
    pub tracks: Vec<Track>,
    /// Counters.
    pub counters: Vec<Counter>,
    /// Arrows. Both ends are slices of `tracks`, and none points backwards in time.
    pub flows: Vec<Flow>,
}

/// A group of tracks: a cluster, one of its cores, the workers of a board.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its parent group.
    pub parent: Option<usize>,
}

/// A row of a timeline: a pipe, a scalar unit, a core of a queue.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Track {
    /// Its name.
    pub name: String,
    /// Index in [`Trace::groups`].
    pub group: usize,
    /// Its slices in order of time. A slice begins after the previous one has ended, or is nested in it.
    pub slices: Vec<Slice>,
}

/// The kind of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum SliceKind {
    /// Work, a command.
    Work,
    /// A step of synchronisation: a signal is sent or taken.
    Sync,
    /// A stall.
    Stall,
}

impl SliceKind {
    /// Its category in a trace.
    pub const fn name(self) -> &'static str {
        match self {
            SliceKind::Work => "work",
            SliceKind::Sync => "sync",
            SliceKind::Stall => "stall",
        }
    }
}

/// A stretch of a track.
#[derive(Clone, PartialEq, Debug)]
pub struct Slice {
    /// Its name.
    pub name: Arc<str>,
    /// Its kind.
    pub kind: SliceKind,
    /// First cycle.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Facts shown with it.
    pub args: Vec<(&'static str, Value)>,
}

impl Slice {
    /// Its cycles.
    pub fn cycles(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// The source line that it comes from.
    pub fn line(&self) -> Option<Line> {
        let file = self.args.iter().find_map(|(own, value)| match value {
            Value::Text(file) if *own == "file" => Some(file.clone()),
            _ => None,
        });
        self.fact("line").map(|number| Line { file, number: number as u32 })
    }

    /// The numeric fact of this name.
    pub fn fact(&self, name: &str) -> Option<u64> {
        self.args.iter().find_map(|(own, value)| match value {
            Value::Number(number) if *own == name => Some(*number),
            _ => None,
        })
    }
}

/// A fact of a slice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A string.
    Text(Arc<str>),
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text.into())
    }
}

/// One end of an arrow: indices of the track and of the slice.
pub type End = (usize, usize);

/// An arrow from a slice to one that could not begin before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The label: `flag`, `tile`, `slot`, `command` …
    pub what: &'static str,
    /// Where it begins.
    pub from: End,
    /// Where it ends.
    pub to: End,
}

/// A counter: a quantity over time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// Index in [`Trace::groups`].
    pub group: usize,
    /// True if it counts bytes.
    pub bytes: bool,
    /// Cycle and value, ascending.
    pub samples: Vec<(u64, u64)>,
}

/// The beginning or the end of a slice, as writers need it.
enum Edge<'a> {
    Begin(End, &'a Slice),
    End,
}

impl Trace {
    /// The slice at the end of an arrow.
    pub fn slice(&self, (track, slice): End) -> Option<&Slice> {
        self.tracks.get(track)?.slices.get(slice)
    }

    /// The last cycle of any slice.
    pub fn end(&self) -> u64 {
        self.tracks.iter().flat_map(|track| &track.slices).map(|slice| slice.end).max().unwrap_or(0)
    }

    /// The full name of a group: the names of its parents, then its own.
    pub fn path(&self, group: usize) -> String {
        let Some(own) = self.groups.get(group) else { return String::new() };
        match own.parent.filter(|parent| *parent < group) {
            Some(parent) => format!("{} {}", self.path(parent), own.name),
            None => own.name.clone(),
        }
    }

    /// Adds the slices and arrows of another timeline: `row` maps one of its tracks to a track of this one, if any, and
    /// `moved` one of its cycles to a cycle of this one. Returns the new positions of its slices.
    pub fn take_in(
        &mut self,
        other: &Trace,
        mut row: impl FnMut(&mut Trace, usize) -> Option<usize>,
        moved: impl Fn(u64) -> u64,
    ) -> BTreeMap<End, End> {
        let mut ends: BTreeMap<End, End> = BTreeMap::new();
        for (there, track) in other.tracks.iter().enumerate() {
            let Some(here) = row(self, there) else { continue };
            let slices = &mut self.tracks[here].slices;
            for (number, slice) in track.slices.iter().enumerate() {
                ends.insert((there, number), (here, slices.len()));
                slices.push(Slice { start: moved(slice.start), end: moved(slice.end), ..slice.clone() });
            }
        }
        let flow = |flow: &Flow| Some(Flow { what: flow.what, from: *ends.get(&flow.from)?, to: *ends.get(&flow.to)? });
        self.flows.extend(other.flows.iter().filter_map(flow));
        ends
    }

    /// Adds a counter of another timeline; its samples are appended if the group already has a counter of that name.
    pub fn take_in_counter(&mut self, counter: &Counter, group: usize, moved: impl Fn(u64) -> u64) {
        let samples = counter.samples.iter().map(|(at, value)| (moved(*at), *value));
        match self.counters.iter_mut().find(|own| own.group == group && own.name == counter.name) {
            Some(known) => known.samples.extend(samples),
            None => self.counters.push(Counter { group, samples: samples.collect(), ..counter.clone() }),
        }
    }

    /// The beginnings and ends of a track's slices, in the order in which a reader sees them as nested.
    fn edges(&self, track: usize) -> Vec<(u64, Edge<'_>)> {
        let mut edges = Vec::new();
        let mut open: Vec<u64> = Vec::new();
        for (at, slice) in self.tracks[track].slices.iter().enumerate() {
            while let Some(end) = open.pop_if(|end| *end <= slice.start) {
                edges.push((end, Edge::End));
            }
            edges.push((slice.start, Edge::Begin((track, at), slice)));
            open.push(slice.end.max(slice.start));
        }
        while let Some(end) = open.pop() {
            edges.push((end, Edge::End));
        }
        edges
    }

    /// For each slice with arrows, in order: the slice, the index of the arrow, and whether it begins there.
    fn flow_ends(&self) -> Vec<(End, u64, bool)> {
        let each = self.flows.iter().enumerate();
        let mut ends: Vec<(End, u64, bool)> =
            each.flat_map(|(at, flow)| [(flow.from, at as u64 + 1, true), (flow.to, at as u64 + 1, false)]).collect();
        ends.sort_unstable();
        ends
    }
}

/// The arrows of one slice.
fn arrows_of(ends: &[(End, u64, bool)], end: End) -> &[(End, u64, bool)] {
    let first = ends.partition_point(|(other, ..)| *other < end);
    let count = ends[first..].partition_point(|(other, ..)| *other == end);
    &ends[first..first + count]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two groups with a track each, an arrow between them, a nested slice, and a counter.
    pub(crate) fn sample() -> Trace {
        let slice = |name: &str, kind, start, end| Slice {
            name: name.into(),
            kind,
            start,
            end,
            args: vec![("line", Value::from(7)), ("tile", Value::from("acc"))],
        };
        let outer = slice("command", SliceKind::Work, 0, 10);
        let inner = slice("wait", SliceKind::Stall, 4, 10);
        let next = slice("next", SliceKind::Work, 10, 12);
        Trace {
            clock_mhz: 1000,
            groups: vec![
                Group { name: "cluster 0".into(), parent: None },
                Group { name: "AIC".into(), parent: Some(0) },
                Group { name: "AIV0".into(), parent: Some(0) },
            ],
            tracks: vec![
                Track { name: "M".into(), group: 1, slices: vec![outer, inner, next] },
                Track { name: "V".into(), group: 2, slices: vec![slice("add", SliceKind::Work, 11, 20)] },
            ],
            counters: vec![Counter { name: "ring".into(), group: 0, bytes: false, samples: vec![(0, 0), (12, 1)] }],
            flows: vec![Flow { what: "flag", from: (0, 2), to: (1, 0) }],
        }
    }

    #[test]
    fn slices_begin_and_end_as_nested_ones() {
        let trace = sample();
        let edges: Vec<(u64, Option<&str>)> = trace
            .edges(0)
            .iter()
            .map(|(at, edge)| match edge {
                Edge::Begin(_, slice) => (*at, Some(&*slice.name)),
                Edge::End => (*at, None),
            })
            .collect();
        let expected =
            [(0, Some("command")), (4, Some("wait")), (10, None), (10, None), (10, Some("next")), (12, None)];
        assert_eq!(edges, expected);
        assert_eq!(trace.path(2), "cluster 0 AIV0");
    }
}
