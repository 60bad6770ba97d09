//! The actual errors of a program, found by trying many legal timings, without any of the checkers.
//!
//! A program is wrong if under some timing it does not end, leaves bytes that differ from the sequential semantics of
//! the program from which it was made, loses a signal or leaves one behind, or if two op instances that touch the same
//! bytes, at least one of them writing, change their order between timings. This code uses no vector clocks, epochs or
//! shadows.
//!
//! A program with correct bytes may still break the rule that a slot of a ring is not used after its free
//! ([`crate::soundness::rule`]).

use std::collections::BTreeMap;

use slipring::{Bound, ExecuteOptions, execute_timed};
use slipring_machine::{Pipe, Platform};
use slipring_op::Decoded;
use slipring_program::{Extent, SiteRef};
use slipring_sim::{Agent, ExecutionMode, Observer, Timing, WorkRun};
use slipring_tile::Space;

use crate::soundness::rule;

/// An op instance of a run: when it ran and what it touched.
pub struct Span {
    pub start: u64,
    pub end: u64,
    pub reads: Vec<Extent>,
    pub writes: Vec<Extent>,
    combines: bool,
    cluster: u32,
    /// The ring that it fills.
    pub fills: Option<u32>,
}

/// The events of a run: op instances and signals.
#[derive(Default)]
pub struct Record {
    pub works: BTreeMap<(Agent, usize), Span>,
    counts: BTreeMap<Agent, usize>,
    /// Per object and cluster, signals sent minus signals taken.
    signals: BTreeMap<(u32, u32), i64>,
    lost: bool,
    /// When each signal was sent, by block and object.
    pub given: BTreeMap<(u32, u32), Vec<u64>>,
}

impl Observer for Record {
    fn start(&mut self, at: u64, run: &WorkRun<'_>) {
        let number = self.counts.entry(run.agent).or_insert(0);
        *number += 1;
        let span = Span {
            start: at,
            end: at + run.cycles,
            reads: run.access.reads.clone(),
            writes: run.access.writes.clone(),
            combines: run.access.update.is_some(),
            cluster: run.agent.cluster,
            fills: run.work.fills,
        };
        self.works.insert((run.agent, *number), span);
    }

    fn set(&mut self, at: u64, agent: Agent, sync: u32, lost: bool, _: SiteRef) {
        self.lost |= lost;
        self.given.entry((agent.block, sync)).or_default().push(at);
        *self.signals.entry((agent.cluster, sync)).or_insert(0) += 1;
    }

    fn wait(&mut self, _: u64, agent: Agent, sync: u32, _: SiteRef) {
        *self.signals.entry((agent.cluster, sync)).or_insert(0) -= 1;
    }
}

/// Whether two byte ranges share a byte, run by run.
pub fn touch(a: &Extent, b: &Extent, one_cluster: bool) -> bool {
    let same = a.space == b.space && (a.space == Space::Gm || (a.core == b.core && one_cluster));
    if !same || a.end() <= b.start || b.end() <= a.start {
        return false;
    }
    let rows = |e: &Extent| -> Vec<(u64, u64)> {
        (0..u64::from(e.rows))
            .map(|r| (e.start + r * e.stride, e.start + r * e.stride + u64::from(e.row_bytes)))
            .collect()
    };
    let (a, b) = (rows(a), rows(b));
    a.iter().any(|x| b.iter().any(|y| x.0 < y.1 && y.0 < x.1))
}

/// Pairs of op instances of different pipes that touch the same bytes, at least one writing.
fn conflicts(record: &Record) -> Vec<[(Agent, usize); 2]> {
    let list: Vec<_> = record.works.iter().collect();
    let mut pairs = Vec::new();
    for (at, (one, a)) in list.iter().enumerate() {
        for (two, b) in &list[at + 1..] {
            if one.0 == two.0 || (a.combines && b.combines) {
                continue;
            }
            let hit =
                |x: &[Extent], y: &[Extent]| x.iter().any(|x| y.iter().any(|y| touch(x, y, a.cluster == b.cluster)));
            if hit(&a.writes, &b.writes) || hit(&a.writes, &b.reads) || hit(&a.reads, &b.writes) {
                pairs.push([**one, **two]);
            }
        }
    }
    pairs
}

/// How to try a program.
pub struct Trial<'a> {
    pub decoded: &'a Decoded,
    pub platform: &'a Platform,
    pub values: &'a [Bound<'static>],
    pub blocks: u32,
    /// The expected final contents of each buffer; `None` is not compared.
    pub wanted: &'a [Option<Vec<u8>>],
    pub timings: u64,
}

/// The platform's own durations, each pipe in turn far slower than all others, and random ones.
fn timings(trial: &Trial<'_>) -> Vec<Timing> {
    let mut list = vec![Timing::Platform];
    for core in &trial.decoded.program.cores {
        let mut pipes: Vec<Pipe> = core.works.iter().map(|work| work.pipe).collect();
        pipes.push(Pipe::S);
        pipes.sort_by_key(|pipe| pipe.index());
        pipes.dedup();
        list.extend(pipes.into_iter().map(|pipe| Timing::Slow { role: core.role, pipe: Some(pipe) }));
    }
    list.extend((1..trial.timings).map(|seed| Timing::Random { seed }));
    list
}

/// The error of a program.
pub enum Wrong {
    /// Wrong bytes, endings or orders.
    Seen(String),
    /// All results are correct, but a rule is broken.
    Rule(String),
}

/// The error of a program, if one was observed.
pub fn wrong(trial: &Trial<'_>) -> Option<Wrong> {
    let mut rule = None;
    let seen = refuted(trial, &mut rule);
    seen.map(Wrong::Seen).or(rule.map(Wrong::Rule))
}

fn refuted(trial: &Trial<'_>, rule: &mut Option<String>) -> Option<String> {
    let mut order: BTreeMap<[(Agent, usize); 2], bool> = BTreeMap::new();
    for timing in timings(trial) {
        let seed = format!("{timing:?}");
        let mut record = Record::default();
        let options = ExecuteOptions {
            blocks: trial.blocks,
            mode: ExecutionMode::Pipes,
            gm_slack: 0,
            ..ExecuteOptions::default()
        };
        let run = execute_timed(trial.decoded, trial.platform, trial.values, options, timing, &mut record);
        let stopped = run.result.findings.iter().find(|f| ["deadlock", "step-limit"].contains(&f.code));
        if let Some(stop) = stopped {
            return Some(format!("{} under timing {seed}", stop.code));
        }
        if record.lost || run.result.findings.iter().any(|f| f.code == "flag-overflow") {
            return Some(format!("a signal is lost under timing {seed}"));
        }
        if !run.result.complete {
            return Some(format!("it stops under timing {seed}: {}", run.result.findings[0].code));
        }
        for (index, wanted) in trial.wanted.iter().enumerate() {
            if let Some(wanted) = wanted
                && run.buffer(trial.values, index) != Some(wanted.as_slice())
            {
                return Some(format!("other bytes in buffer {index} under timing {seed}"));
            }
        }
        if let Some(((_, sync), count)) = record.signals.iter().find(|(_, count)| **count != 0)
            && run.result.findings.iter().any(|f| f.severity == slipring_program::Severity::Error)
        {
            return Some(format!("object {sync} keeps {count} signals"));
        }
        if rule.is_none() {
            *rule = rule::broken(&trial.decoded.program, &record).map(|what| format!("{what} under timing {seed}"));
        }
        for pair in conflicts(&record) {
            let (a, b) = (&record.works[&pair[0]], &record.works[&pair[1]]);
            if a.start < b.end && b.start < a.end {
                return Some(format!("{} and {} overlap under timing {seed}", pair[0].0, pair[1].0));
            }
            let first = a.end <= b.start;
            if *order.entry(pair).or_insert(first) != first {
                return Some(format!("{} and {} change places under timing {seed}", pair[0].0, pair[1].0));
            }
        }
    }
    None
}
