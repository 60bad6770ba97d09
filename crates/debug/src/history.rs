//! What happened in a run, in the order of time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipring_ir::Line;
use slipring_machine::Pipe;
use slipring_report::{Doing, End, Happening, Slice, SliceKind, Trace};
use slipring_sim::{Agent, Stall};

use super::lives::{Life, lives};
use slipring_session::Run;

/// All that cores and pipes did, in the order in which it began.
pub struct History {
    run: Run<'static>,
    trace: Trace,
    order: Vec<End>,
    /// For each track the happening of its first slice.
    first: Vec<usize>,
    /// The event of each happening.
    events: Vec<usize>,
    /// Arrows by their ends: the event that it leads to, the one that it comes from.
    taken: Vec<(usize, usize)>,
    /// The same the other way round.
    sent: Vec<(usize, usize)>,
    lives: Vec<Life>,
    /// Places there of those of each ring of each cluster.
    ways: BTreeMap<(u32, u32), Vec<usize>>,
    /// What each event is called: its place in `names`, and its line, 0 for none.
    labels: Vec<(u32, u32)>,
    end: u64,
    /// Names of events, each once.
    names: Vec<Arc<str>>,
}

impl History {
    /// Of a run that kept what happened.
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

    /// Names and lines of events, each name once: a run of a million events is searched for them.
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

    /// True for each name that has this in it, by its number in [`History::name`].
    pub fn names_with(&self, part: &str) -> Vec<bool> {
        self.names.iter().map(|name| name.contains(part)).collect()
    }

    /// The number of an event's name.
    pub fn name(&self, event: usize) -> usize {
        self.labels[event].0 as usize
    }

    /// The run.
    pub fn run(&self) -> &Run<'static> {
        &self.run
    }

    /// Cores and pipes: a number of each, and its name.
    pub fn rows(&self) -> Vec<(usize, String)> {
        let rows = (0..self.first.len()).filter(|row| self.first[*row] != usize::MAX);
        rows.map(|row| (row, self.track(row))).collect()
    }

    /// The number of the core or pipe whose event it is.
    pub fn row_of(&self, event: usize) -> usize {
        self.order[event].0
    }

    /// How many events there are.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// An event.
    pub fn slice(&self, event: usize) -> &Slice {
        self.at(self.order[event])
    }

    /// The same as the recorder has it.
    pub fn happening(&self, event: usize) -> &Happening {
        let (row, at) = self.order[event];
        let record = self.run.record().expect("a history needs a recorded run");
        &record.happenings[self.first[row] + at]
    }

    /// The events of an agent, in their order.
    pub fn events_of(&self, agent: Agent) -> impl Iterator<Item = usize> {
        let happenings = self.run.record().map_or(&[][..], |record| &record.happenings);
        let first = happenings.partition_point(|own| own.agent.index() < agent.index());
        let last = happenings.partition_point(|own| own.agent.index() <= agent.index());
        self.events[first..last].iter().copied()
    }

    fn at(&self, (row, at): End) -> &Slice {
        &self.trace.tracks[row].slices[at]
    }

    /// Whose event it is: `AIV0.MTE2`, after the cluster where there are several.
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

    /// The line of the text that it comes from, from 1.
    pub fn row(&self, event: usize) -> Option<usize> {
        Some(self.labels[event].1 as usize).filter(|row| *row > 0)
    }

    /// The same as a line of the file that it comes from.
    pub fn line(&self, event: usize) -> Option<Line> {
        self.row(event).map(|row| self.run.compiled.prepared.written.source.shown_line(row))
    }

    /// How many events have begun at a cycle.
    pub fn begun(&self, cycle: u64) -> usize {
        self.order.partition_point(|end| self.at(*end).start <= cycle)
    }

    /// The last cycle of all.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// What each core and pipe does at a cycle; for what stands still also who ends that.
    pub fn doing(&self, cycle: u64) -> Vec<(String, &Slice, Option<String>)> {
        let mut list = Vec::new();
        for (row, track) in self.trace.tracks.iter().enumerate().filter(|(row, _)| self.first[*row] != usize::MAX) {
            let upto = track.slices.partition_point(|slice| slice.start <= cycle);
            // A slice begins where the one before it has ended: what lies further back is over. Overtaken work may end later.
            let near = track.slices[..upto].iter().enumerate().rev().take(NEAR);
            if let Some((at, slice)) = near.into_iter().find(|(_, slice)| slice.end > cycle) {
                list.push((self.track(row), slice, self.ended_by(self.events[self.first[row] + at])));
            }
        }
        list
    }

    /// Who sends what ends a wait: the sender of the arrow to the next event of the row.
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

    /// What sent the signal that an event took.
    pub fn sender(&self, event: usize) -> Option<usize> {
        let at = self.taken.partition_point(|(to, _)| *to < event);
        self.taken.get(at).filter(|(to, _)| *to == event).map(|(_, from)| *from)
    }

    /// What took the signal that an event sent.
    pub fn taker(&self, event: usize) -> Option<usize> {
        let at = self.sent.partition_point(|(from, _)| *from < event);
        self.sent.get(at).filter(|(from, _)| *from == event).map(|(_, to)| *to)
    }

    /// The first signal that the pipe of some work sends after it and in front of its next work.
    pub fn signal_of(&self, event: usize) -> Option<usize> {
        let (row, at) = self.order[event];
        let behind = (at + 1..self.trace.tracks[row].slices.len()).map(|at| self.events[self.first[row] + at]);
        let mut own = behind.take_while(|next| !matches!(self.happening(*next).doing, Doing::Work { .. }));
        own.find(|next| matches!(self.happening(*next).doing, Doing::Set { .. }))
    }

    /// How full each ring is at a cycle.
    pub fn rings(&self, cycle: u64) -> Vec<String> {
        let rings = self.trace.counters.iter().filter(|counter| counter.name.starts_with("ring "));
        let level = |samples: &[(u64, u64)]| {
            let upto = samples.partition_point(|(at, _)| *at <= cycle);
            upto.checked_sub(1).map_or(0, |at| samples[at].1)
        };
        rings.map(|counter| format!("{}: {}", counter.name, level(&counter.samples))).collect()
    }

    /// The ways of tiles through rings.
    pub fn lives(&self) -> &[Life] {
        &self.lives
    }

    /// Places in [`History::lives`] of those of a ring of a cluster, in the order in which they begin.
    pub fn lives_of(&self, cluster: u32, ring: u32) -> &[usize] {
        self.ways.get(&(cluster, ring)).map_or(&[], Vec::as_slice)
    }

    /// The work that an event is: which of the works that its pipe does in its block, from 1; `None` for what is none.
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

    /// The event that is this work.
    pub fn work(&self, agent: Agent, number: u32) -> Option<usize> {
        let works = self.events_of(agent).filter(|event| {
            let own = self.happening(*event);
            own.agent.block == agent.block && matches!(own.doing, Doing::Work { .. })
        });
        works.into_iter().nth((number as usize).checked_sub(1)?)
    }

    /// True if an event sends or takes a signal whose name has this in it.
    pub fn is_signal(&self, event: usize, name: &str) -> bool {
        let slice = self.slice(event);
        slice.kind == SliceKind::Sync && slice.name.contains(name)
    }

    /// True if an event is a wait of one of these cores and pipes, by their numbers.
    pub fn is_wait_of(&self, event: usize, rows: &BTreeSet<usize>) -> bool {
        rows.contains(&self.row_of(event)) && matches!(self.happening(event).doing, Doing::Stall(_))
    }

    /// Signals of each object up to a cycle, by cluster: how many were sent and how many taken in the block that runs then.
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

    /// Steps that wait in the queue of each pipe at a cycle: put there, and not begun.
    pub fn queues(&self, cycle: u64) -> Vec<(String, usize)> {
        let mut list = Vec::new();
        for (row, name) in self.rows() {
            let happenings = self.run.record().map_or(&[][..], |record| &record.happenings);
            let own = &happenings[self.first[row]..][..self.trace.tracks[row].slices.len()];
            let begun = own.partition_point(|step| step.start <= cycle);
            let queued = own[begun..].iter().filter(|step| step.agent.pipe != Pipe::S);
            let queued = queued.filter(|step| !matches!(step.doing, Doing::Stall(_)));
            // What is issued later stands further back.
            let count = queued.take_while(|step| step.issued <= cycle).count();
            if count > 0 {
                list.push((name, count));
            }
        }
        list
    }

    /// The object that a wait is for.
    pub fn waits_for(&self, event: usize) -> Option<u32> {
        match self.happening(event).doing {
            Doing::Stall(Stall::Wait(sync)) => Some(sync),
            _ => None,
        }
    }
}

/// Slices of a pipe that may still go on although later ones have begun.
const NEAR: usize = 64;

/// True if the name of a core or pipe is that of `who` or of a part of it: `cluster 1.AIV0.V` is of `AIV0`.
pub fn is_of(name: &str, who: &str) -> bool {
    let (name, who) = (name.to_ascii_lowercase(), who.to_ascii_lowercase());
    let (name, who): (Vec<&str>, Vec<&str>) = (name.split('.').collect(), who.split('.').collect());
    name.windows(who.len()).any(|part| part == who)
}
