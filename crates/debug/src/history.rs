//! The events of a run in order of time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipring_ir::Line;
use slipring_machine::Pipe;
use slipring_report::{Doing, End, Happening, Slice, SliceKind, Trace};
use slipring_sim::{Agent, Stall};

use super::lives::{Life, lives};
use slipring_session::Run;

/// All events of cores and pipes, in the order in which they began.
pub struct History {
    run: Run<'static>,
    trace: Trace,
    order: Vec<End>,
    /// For each track, the happening of its first slice.
    first: Vec<usize>,
    /// The event of each happening.
    events: Vec<usize>,
    /// Arrows sorted by their ends: the event at the end, the event at the start.
    taken: Vec<(usize, usize)>,
    /// The same arrows as pairs of start and end.
    sent: Vec<(usize, usize)>,
    lives: Vec<Life>,
    /// For each ring of each cluster, the indices of its entries in `lives`.
    ways: BTreeMap<(u32, u32), Vec<usize>>,
    /// The label of each event: index in `names`, and line, or 0 for none.
    labels: Vec<(u32, u32)>,
    end: u64,
    /// Names of events, without duplicates.
    names: Vec<Arc<str>>,
}

impl History {
    /// The history of a run that recorded its events.
    pub fn new(run: Run<'static>) -> History {
        let (trace, ends) = run.timetable().unwrap_or_default();
        let mut order: Vec<End> = ends.clone();
        order.sort_by_key(|end| {
            let slice = &trace.tracks[end.0].slices[end.1];
            (slice.start, slice.end, *end)
        });
        let mut first = vec![usize::MAX; trace.tracks.len()];
        for (at, (row, _)) in ends.iter().enumerate() {
            first[*row] = first[*row].min(at);
        }
        let mut events = vec![0; ends.len()];
        for (event, (row, at)) in order.iter().enumerate() {
            events[first[*row] + at] = event;
        }
        let mut history = History {
            run,
            trace,
            order,
            first,
            events,
            taken: Vec::new(),
            sent: Vec::new(),
            lives: Vec::new(),
            ways: BTreeMap::new(),
            labels: Vec::new(),
            names: Vec::new(),
            end: 0,
        };
        let of = |(row, at): End| history.events[history.first[row] + at];
        history.taken = history.trace.flows.iter().map(|flow| (of(flow.to), of(flow.from))).collect();
        history.sent = history.taken.iter().map(|(to, from)| (*from, *to)).collect();
        history.taken.sort_unstable();
        history.sent.sort_unstable();
        let program = &history.run.compiled.prepared.decoded.program;
        history.lives = lives(program, (0..history.count()).map(|event| history.happening(event)));
        for (at, life) in history.lives.iter().enumerate() {
            history.ways.entry((life.cluster, life.ring)).or_default().push(at);
        }
        history.end = history.order.iter().map(|end| history.at(*end).end).max().unwrap_or(0);
        history.label();
        history
    }

    /// Builds names and lines of events, each name once: a run of a million events must be searched quickly.
    fn label(&mut self) {
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        let mut names = Vec::new();
        let labels = (0..self.order.len()).map(|event| {
            let slice = self.at(self.order[event]);
            let name = *known.entry(&*slice.name).or_insert_with(|| {
                names.push(slice.name.clone());
                names.len() as u32 - 1
            });
            (name, self.run.compiled.prepared.row(self.happening(event).site).unwrap_or(0) as u32)
        });
        let labels = labels.collect();
        (self.labels, self.names) = (labels, names);
    }

    /// For each name, whether it contains `part`; indexed by [`History::name`].
    pub fn names_with(&self, part: &str) -> Vec<bool> {
        self.names.iter().map(|name| name.contains(part)).collect()
    }

    /// The index of an event's name.
    pub fn name(&self, event: usize) -> usize {
        self.labels[event].0 as usize
    }

    /// The run.
    pub fn run(&self) -> &Run<'static> {
        &self.run
    }

    /// Cores and pipes: the index of each, and its name.
    pub fn rows(&self) -> Vec<(usize, String)> {
        let rows = (0..self.first.len()).filter(|row| self.first[*row] != usize::MAX);
        rows.map(|row| (row, self.track(row))).collect()
    }

    /// The index of the core or pipe of an event.
    pub fn row_of(&self, event: usize) -> usize {
        self.order[event].0
    }

    /// Number of events.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// An event.
    pub fn slice(&self, event: usize) -> &Slice {
        self.at(self.order[event])
    }

    /// An event as the recorder stored it.
    pub fn happening(&self, event: usize) -> &Happening {
        let (row, at) = self.order[event];
        let record = self.run.record().expect("a history needs a recorded run");
        &record.happenings[self.first[row] + at]
    }

    /// The events of an agent, in order.
    pub fn events_of(&self, agent: Agent) -> impl Iterator<Item = usize> {
        let happenings = self.run.record().map_or(&[][..], |record| &record.happenings);
        let first = happenings.partition_point(|own| own.agent.index() < agent.index());
        let last = happenings.partition_point(|own| own.agent.index() <= agent.index());
        self.events[first..last].iter().copied()
    }

    fn at(&self, (row, at): End) -> &Slice {
        &self.trace.tracks[row].slices[at]
    }

    /// The agent of an event: `AIV0.MTE2`, prefixed by the cluster if there are several.
    pub fn who(&self, event: usize) -> String {
        self.track(self.order[event].0)
    }

    fn track(&self, row: usize) -> String {
        let track = &self.trace.tracks[row];
        let group = &self.trace.groups[track.group];
        let clusters = self.trace.groups.iter().filter(|group| group.parent.is_none()).count();
        let cluster =
            group.parent.filter(|_| clusters > 1).map(|parent| format!("{}.", self.trace.groups[parent].name));
        format!("{}{}.{}", cluster.unwrap_or_default(), group.name, track.name)
    }

    /// The line of the text for an event, from 1.
    pub fn row(&self, event: usize) -> Option<usize> {
        Some(self.labels[event].1 as usize).filter(|row| *row > 0)
    }

    /// The line for an event, in its own file.
    pub fn line(&self, event: usize) -> Option<Line> {
        self.row(event).map(|row| self.run.compiled.prepared.written.source.shown_line(row))
    }

    /// The number of events that have begun at a cycle.
    pub fn begun(&self, cycle: u64) -> usize {
        self.order.partition_point(|end| self.at(*end).start <= cycle)
    }

    /// The last cycle of the run.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The activity of each core and pipe at a cycle; for a stall, also who ends it.
    pub fn doing(&self, cycle: u64) -> Vec<(String, &Slice, Option<String>)> {
        let mut list = Vec::new();
        for (row, track) in self.trace.tracks.iter().enumerate().filter(|(row, _)| self.first[*row] != usize::MAX) {
            let upto = track.slices.partition_point(|slice| slice.start <= cycle);
            // A slice begins after the previous one has ended, so earlier ones are over. Overtaken work may end later.
            let near = track.slices[..upto].iter().enumerate().rev().take(NEAR);
            if let Some((at, slice)) = near.into_iter().find(|(_, slice)| slice.end > cycle) {
                list.push((self.track(row), slice, self.ended_by(self.events[self.first[row] + at])));
            }
        }
        list
    }

    /// Who ends a wait: the sender of the arrow to the next event of the row.
    fn ended_by(&self, event: usize) -> Option<String> {
        if self.slice(event).kind != SliceKind::Stall {
            return None;
        }
        let (row, at) = self.order[event];
        let next = self.trace.tracks[row].slices.get(at + 1).map(|_| self.events[self.first[row] + at + 1])?;
        let from = self.sender(next)?;
        let sent = self.slice(from);
        let line = sent.fact("line").map_or(String::new(), |line| format!(" of line {line}"));
        Some(format!("{} ends it at cycle {}: {}{line}", self.who(from), sent.start, sent.name))
    }

    /// The event that sent the signal that an event took.
    pub fn sender(&self, event: usize) -> Option<usize> {
        let at = self.taken.partition_point(|(to, _)| *to < event);
        self.taken.get(at).filter(|(to, _)| *to == event).map(|(_, from)| *from)
    }

    /// The event that took the signal that an event sent.
    pub fn taker(&self, event: usize) -> Option<usize> {
        let at = self.sent.partition_point(|(from, _)| *from < event);
        self.sent.get(at).filter(|(from, _)| *from == event).map(|(_, to)| *to)
    }

    /// The first signal that the pipe of an op instance sends after it and before the pipe's next op instance.
    pub fn signal_of(&self, event: usize) -> Option<usize> {
        let (row, at) = self.order[event];
        let behind = (at + 1..self.trace.tracks[row].slices.len()).map(|at| self.events[self.first[row] + at]);
        let mut own = behind.take_while(|next| !matches!(self.happening(*next).doing, Doing::Work { .. }));
        own.find(|next| matches!(self.happening(*next).doing, Doing::Set { .. }))
    }

    /// The level of each ring at a cycle.
    pub fn rings(&self, cycle: u64) -> Vec<String> {
        let rings = self.trace.counters.iter().filter(|counter| counter.name.starts_with("ring "));
        let level = |samples: &[(u64, u64)]| {
            let upto = samples.partition_point(|(at, _)| *at <= cycle);
            upto.checked_sub(1).map_or(0, |at| samples[at].1)
        };
        rings.map(|counter| format!("{}: {}", counter.name, level(&counter.samples))).collect()
    }

    /// The lives of all tiles in rings.
    pub fn lives(&self) -> &[Life] {
        &self.lives
    }

    /// Indices in [`History::lives`] for a ring of a cluster, in the order in which the lives begin.
    pub fn lives_of(&self, cluster: u32, ring: u32) -> &[usize] {
        self.ways.get(&(cluster, ring)).map_or(&[], Vec::as_slice)
    }

    /// The number of an event among the op instances of its pipe in its block, from 1; `None` if it is not an op
    /// instance.
    pub fn work_number(&self, event: usize) -> Option<u32> {
        let own = self.happening(event);
        if !matches!(own.doing, Doing::Work { .. }) {
            return None;
        }
        let works = self.events_of(own.agent).filter(|other| {
            let other = self.happening(*other);
            other.agent.block == own.agent.block && matches!(other.doing, Doing::Work { .. })
        });
        let number = works.take_while(|other| *other != event).count() + 1;
        u32::try_from(number).ok()
    }

    /// The event of this op instance.
    pub fn work(&self, agent: Agent, number: u32) -> Option<usize> {
        let works = self.events_of(agent).filter(|event| {
            let own = self.happening(*event);
            own.agent.block == agent.block && matches!(own.doing, Doing::Work { .. })
        });
        works.into_iter().nth((number as usize).checked_sub(1)?)
    }

    /// Whether an event sends or takes a signal whose name contains `name`.
    pub fn is_signal(&self, event: usize, name: &str) -> bool {
        let slice = self.slice(event);
        slice.kind == SliceKind::Sync && slice.name.contains(name)
    }

    /// Whether an event is a wait of one of these cores and pipes, given by index.
    pub fn is_wait_of(&self, event: usize, rows: &BTreeSet<usize>) -> bool {
        rows.contains(&self.row_of(event)) && matches!(self.happening(event).doing, Doing::Stall(_))
    }

    /// The signals of each object up to a cycle, by cluster: the numbers sent and taken in the block that runs at that
    /// cycle.
    pub fn signals(&self, cycle: u64) -> Vec<(u32, u32, u64, u64)> {
        let Some(record) = self.run.record() else { return Vec::new() };
        let now: Vec<(u32, u32)> = record
            .blocks
            .iter()
            .rev()
            .filter(|block| block.start <= cycle)
            .map(|block| (block.cluster, block.block))
            .collect();
        let mut counts = std::collections::BTreeMap::<(u32, u32), (u64, u64)>::new();
        for own in &record.happenings {
            let current = now.iter().find(|(cluster, _)| *cluster == own.agent.cluster);
            if current.is_none_or(|(_, block)| *block != own.agent.block) {
                continue;
            }
            match own.doing {
                Doing::Set { sync, lost: false } if own.start <= cycle => {
                    counts.entry((own.agent.cluster, sync)).or_default().0 += 1;
                }
                Doing::Take { sync } if own.end <= cycle => {
                    counts.entry((own.agent.cluster, sync)).or_default().1 += 1;
                }
                _ => {}
            }
        }
        counts.into_iter().map(|((cluster, sync), (sent, taken))| (cluster, sync, sent, taken)).collect()
    }

    /// The number of queued steps of each pipe at a cycle: enqueued, but not yet begun.
    pub fn queues(&self, cycle: u64) -> Vec<(String, usize)> {
        let mut list = Vec::new();
        for (row, name) in self.rows() {
            let happenings = self.run.record().map_or(&[][..], |record| &record.happenings);
            let own = &happenings[self.first[row]..][..self.trace.tracks[row].slices.len()];
            let begun = own.partition_point(|step| step.start <= cycle);
            let queued = own[begun..].iter().filter(|step| step.agent.pipe != Pipe::S);
            let queued = queued.filter(|step| !matches!(step.doing, Doing::Stall(_)));
            // Steps issued later are further back.
            let count = queued.take_while(|step| step.issued <= cycle).count();
            if count > 0 {
                list.push((name, count));
            }
        }
        list
    }

    /// The object of a wait.
    pub fn waits_for(&self, event: usize) -> Option<u32> {
        match self.happening(event).doing {
            Doing::Stall(Stall::Wait(sync)) => Some(sync),
            _ => None,
        }
    }
}

/// Number of slices of a pipe that may still be running although later ones have begun.
const NEAR: usize = 64;

/// Whether the name of a core or pipe denotes `who` or a part of it: `cluster 1.AIV0.V` is part of `AIV0`.
pub fn is_of(name: &str, who: &str) -> bool {
    let (name, who) = (name.to_ascii_lowercase(), who.to_ascii_lowercase());
    let (name, who): (Vec<&str>, Vec<&str>) = (name.split('.').collect(), who.split('.').collect());
    name.windows(who.len()).any(|part| part == who)
}
