//! The critical path: the last cycle of a run traced back through its causes to the first.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use slipring_finding::Line;
use slipring_machine::{Pipe, Role};
use slipring_sim::{Agent, Stall};

use super::{Doing, Happening, Record};
use crate::line::write_line_or_null;
use crate::table::Table;

/// The kind of a segment of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SegmentKind {
    /// Work runs.
    Work,
    /// A scalar unit executes instructions.
    Scalar,
    /// A signal is sent, travels or is taken.
    Signal,
    /// A wait whose signal came from outside of the run.
    Wait,
}

/// A segment of the critical path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its kind.
    pub kind: SegmentKind,
    /// The agent; for a signal, the sender.
    pub agent: Agent,
    /// Index in [`Record::happenings`]; `None` for scalar instructions.
    pub happening: Option<u32>,
    /// First cycle.
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

/// A part of the path: all segments with the same agent, op and line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PathPart {
    pub kind: SegmentKind,
    pub core: String,
    pub pipe: String,
    /// The op, or the object that is signalled; empty for scalar instructions.
    pub what: String,
    /// Line of the source; `None` where it comes from none.
    #[serde(flatten, serialize_with = "write_line_or_null")]
    pub line: Option<Line>,
    pub count: u64,
    pub cycles: u64,
}

/// The critical path of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct PathFacts {
    /// Its length in cycles, which equals that of the run.
    pub cycles: u64,
    /// By agent, op and line, longest first.
    pub parts: Vec<PathPart>,
}

impl PathFacts {
    /// Cycles of one kind.
    pub fn of(&self, kind: SegmentKind) -> u64 {
        self.parts.iter().filter(|part| part.kind == kind).map(|part| part.cycles).sum()
    }
}

impl Record {
    /// The critical path in order of time: its segments cover the run from the first cycle to the last without gaps.
    pub fn path(&self) -> Vec<Segment> {
        let mut walk = Walk { record: self, agents: self.agents().collect(), path: Vec::new() };
        walk.run();
        walk.path.reverse();
        walk.path
    }

    /// The path by agent, op and line. `line` maps an instruction to its source line.
    pub fn path_facts(&self, line: impl Fn(u32) -> Option<Line>, object: impl Fn(u32) -> String) -> PathFacts {
        let mut parts: BTreeMap<Key, (usize, PathPart)> = BTreeMap::new();
        for segment in self.path() {
            let happening = segment.happening.map(|at| &self.happenings[at as usize]);
            let what = match happening.map(|happening| happening.doing) {
                Some(Doing::Work { name, .. }) => name.to_string(),
                Some(Doing::Set { sync, .. } | Doing::Take { sync } | Doing::Stall(Stall::Wait(sync))) => object(sync),
                Some(Doing::Barrier) => "barrier".into(),
                Some(Doing::Stall(_)) | None => String::new(),
            };
            let line = happening.and_then(|happening| line(happening.site));
            let agent = segment.agent;
            let key = (segment.kind, agent.role, agent.pipe, what.clone(), line.clone());
            let next = parts.len();
            let (_, part) = parts.entry(key).or_insert_with(|| {
                let (core, pipe) = (agent.role.name().into(), agent.pipe.name().into());
                (next, PathPart { kind: segment.kind, core, pipe, what, line, count: 0, cycles: 0 })
            });
            part.count += 1;
            part.cycles += segment.end - segment.start;
        }
        let mut parts: Vec<(usize, PathPart)> = parts.into_values().collect();
        parts.sort_by_key(|(at, part)| (std::cmp::Reverse(part.cycles), *at));
        PathFacts { cycles: self.cycles, parts: parts.into_iter().map(|(_, part)| part).collect() }
    }
}

/// The grouping key of the path's parts.
type Key = (SegmentKind, Role, Pipe, String, Option<Line>);

struct Walk<'a> {
    record: &'a Record,
    agents: Vec<(Agent, std::ops::Range<usize>)>,
    /// From the last segment to the first.
    path: Vec<Segment>,
}

/// Where the walk continues: at a happening that is entirely on the path, or at an agent's activity before a cycle.
enum Next {
    Happening(usize),
    Before(Agent, u64),
    Over,
}

impl Walk<'_> {
    fn run(&mut self) {
        let mut next = self.last();
        // Each happening is on the path at most once, so a longer path would contain a cycle.
        for _ in 0..4 * self.record.happenings.len() + 4 * self.record.blocks.len() + 4 {
            next = match next {
                Next::Happening(at) => self.happening(at),
                Next::Before(agent, cycle) => self.before(agent, cycle),
                Next::Over => return,
            };
        }
    }

    /// The happening with which the run ends.
    fn last(&mut self) -> Next {
        let end = self.record.cycles;
        let ends = |own: &Happening| (own.end, own.cycles() > 0);
        let latest = (0..self.record.happenings.len()).rev().max_by_key(|at| ends(&self.record.happenings[*at]));
        let core = self.record.core_ends.iter().find(|(_, at)| *at == end);
        match (latest, core) {
            (Some(at), None) => {
                // A synchronisation step that took longer than the platform states.
                let own = self.record.happenings[at];
                self.add(SegmentKind::Signal, own.agent, Some(at), own.end, end);
                Next::Happening(at)
            }
            (Some(at), _) if self.record.happenings[at].end == end => Next::Happening(at),
            (_, Some((agent, _))) => Next::Before(*agent, end),
            (None, None) => Next::Over,
        }
    }

    fn add(&mut self, kind: SegmentKind, agent: Agent, happening: Option<usize>, start: u64, end: u64) {
        if end > start {
            let happening = happening.map(|at| at as u32);
            self.path.push(Segment { kind, agent, happening, start, end });
        }
    }

    /// Adds a happening to the path, from its end.
    fn happening(&mut self, at: usize) -> Next {
        let own = self.record.happenings[at];
        let kind = match own.doing {
            Doing::Work { .. } => SegmentKind::Work,
            Doing::Set { .. } | Doing::Take { .. } | Doing::Barrier => SegmentKind::Signal,
            Doing::Stall(stall) => return self.stall(at, stall),
        };
        self.add(kind, own.agent, Some(at), own.start, own.end);
        if let (Doing::Take { .. }, Some(cause)) = (own.doing, own.cause)
            && self.previous(at).is_some_and(|before| {
                let before = &self.record.happenings[before];
                matches!(before.doing, Doing::Stall(Stall::Wait(_))) && before.end == own.start
            })
        {
            let sent = self.record.happenings[cause as usize];
            self.add(SegmentKind::Signal, sent.agent, Some(cause as usize), sent.start, own.start);
            return self.reached(cause as usize);
        }
        self.reached(at)
    }

    /// Adds what ended a stall in place of the stall itself.
    fn stall(&mut self, at: usize, stall: Stall) -> Next {
        let own = self.record.happenings[at];
        let pipe = match stall {
            Stall::QueueFull(pipe) => Some(pipe),
            Stall::Drain => Pipe::ALL.into_iter().find(|pipe| self.ended_at(own.agent, *pipe, own.end).is_some()),
            Stall::Wait(_) | Stall::Signal => None,
        };
        match pipe.and_then(|pipe| self.ended_at(own.agent, pipe, own.end)) {
            Some(done) => Next::Happening(done),
            None => {
                self.add(SegmentKind::Wait, own.agent, Some(at), own.start, own.end);
                self.reached(at)
            }
        }
    }

    /// The happening of another pipe of the same core that ended at a cycle and had a duration.
    fn ended_at(&self, agent: Agent, pipe: Pipe, cycle: u64) -> Option<usize> {
        if pipe == Pipe::S {
            return None;
        }
        let range = self.range(Agent { pipe, ..agent })?;
        let list = &self.record.happenings[range.clone()];
        let past = list.partition_point(|own| own.end <= cycle);
        let last = past.checked_sub(1)?;
        (list[last].end == cycle && list[last].cycles() > 0).then_some(range.start + last)
    }

    fn range(&self, agent: Agent) -> Option<std::ops::Range<usize>> {
        let at = self.agents.binary_search_by_key(&agent.index(), |(own, _)| own.index()).ok()?;
        Some(self.agents[at].1.clone())
    }

    /// The agent's previous happening.
    fn previous(&self, at: usize) -> Option<usize> {
        let own = &self.record.happenings[at];
        let before = at.checked_sub(1)?;
        (self.record.happenings[before].agent == own.agent).then_some(before)
    }

    /// Continues from the beginning of a happening.
    fn reached(&mut self, at: usize) -> Next {
        let own = self.record.happenings[at];
        if own.agent.pipe == Pipe::S {
            return match self.previous(at) {
                Some(before) => self.gap(before, own.agent, own.start),
                None => self.beginning(own.agent, own.start),
            };
        }
        match self.previous(at) {
            // The pipe was busy until then.
            Some(before) if self.record.happenings[before].end >= own.start || own.issued < own.start => {
                let end = self.record.happenings[before].end;
                self.add(SegmentKind::Signal, own.agent, Some(before), end, own.start);
                Next::Happening(before)
            }
            // The pipe was idle: the scalar unit issued this only then.
            _ => Next::Before(own.agent.scalar(), own.start),
        }
    }

    fn floor(&self, agent: Agent) -> u64 {
        self.record.blocks.iter().find(|block| block.block == agent.block).map_or(0, |block| block.start)
    }

    /// Adds the scalar instructions since the last happening.
    fn gap(&mut self, before: usize, agent: Agent, until: u64) -> Next {
        let end = self.record.happenings[before].end;
        self.add(SegmentKind::Scalar, agent, None, end, until);
        Next::Happening(before)
    }

    /// The activity of a scalar unit before a cycle.
    fn before(&mut self, agent: Agent, cycle: u64) -> Next {
        let range = self.range(agent).unwrap_or(0..0);
        let list = &self.record.happenings[range.clone()];
        let past = list.partition_point(|own| own.end <= cycle);
        match past.checked_sub(1).filter(|at| list[*at].agent == agent) {
            Some(at) => self.gap(range.start + at, agent, cycle),
            None => self.beginning(agent, cycle),
        }
    }

    /// Continues from the first happening of a scalar unit in a block: the block began when another block on its
    /// cluster ended.
    fn beginning(&mut self, agent: Agent, until: u64) -> Next {
        let start = self.floor(agent);
        self.add(SegmentKind::Scalar, agent, None, start, until);
        let earlier =
            self.record.blocks.iter().find(|block| block.cluster == agent.cluster && block.end == Some(start));
        let Some(earlier) = earlier.filter(|_| start > 0) else { return Next::Over };
        let of = |own: Agent| own.cluster == agent.cluster && own.block == earlier.block;
        let ended =
            |(at, own): (usize, &Happening)| (own.end == start && own.cycles() > 0 && of(own.agent)).then_some(at);
        if let Some(at) = self.record.happenings.iter().enumerate().find_map(ended) {
            return Next::Happening(at);
        }
        let core = self.record.core_ends.iter().find(|(own, end)| *end == start && of(*own));
        core.map_or(Next::Over, |(own, _)| Next::Before(*own, start))
    }
}

/// The path as a table: the longest parts, and the sum of the rest.
pub fn path_text(path: &PathFacts, most: usize) -> String {
    let mut text = format!("\ncritical path: {} cycles\n", path.cycles);
    let share = |cycles: u64| format!("{:.0}", 100.0 * cycles as f64 / path.cycles.max(1) as f64);
    let mut table = Table::new(2, &["core", "pipe", "cycles", "%", "count", "line", "what"]).left(&[6]);
    for part in path.parts.iter().take(most) {
        let what = match part.kind {
            SegmentKind::Work => part.what.clone(),
            SegmentKind::Scalar => "scalar instructions".into(),
            SegmentKind::Signal => format!("signal: {}", part.what),
            SegmentKind::Wait => format!("waits: {}", part.what),
        };
        table.row(vec![
            part.core.clone(),
            part.pipe.clone(),
            part.cycles.to_string(),
            share(part.cycles),
            part.count.to_string(),
            part.line.as_ref().map_or(String::new(), |line| line.to_string()),
            what,
        ]);
    }
    text += &table.render();
    let rest: u64 = path.parts.iter().skip(most).map(|part| part.cycles).sum();
    if rest > 0 {
        let _ = writeln!(text, "  and {rest} cycles in {} more parts", path.parts.len() - most);
    }
    text
}
