//! An independent check of flags: every dependence is covered on every path, and no flag is set twice or left set.
//!
//! It follows the steps of a function in program order and tracks, for each pipe, the set of steps known to be complete
//! in all executions so far, and for each flag that is set the knowledge its signal carries. A set is stored as its
//! complement, which is mostly a few runs of steps of one pipe:
//!
//! | step | effect |
//! |---|---|
//! | work x on pipe p | every conflicting step of another pipe (of p itself where p needs barriers) must be in known(p); then x is removed from every set |
//! | work in which the library uses f | f must be clear |
//! | set f on p | f must be clear and its last wait in known(p); signal(f) = known(p) and all steps of p |
//! | wait f on p | f must be set; known(p) gains signal(f); for the scalar unit every pipe gains it |
//! | wait of q for p by a computed flag | known(q) gains known(p) and all steps of p |
//! | release of buffer b by p | released(b) gains known(p) and all steps of p |
//! | get of buffer b by p | known(p) gains released(b) |
//! | barrier of p | known(p) gains all steps of p |
//! | barrier of all | every set becomes the full set |
//! | call | its work in unknown order, and a set and a wait of each of its flags that carry no knowledge |
//! | paths that join | intersection; flags must agree |
//! | loop | the state at its head holds at the entry and after each iteration |
//! | end | no flag may be set |
//!
//! Sets only shrink where paths join, so the function is walked until no loop head changes, and problems are reported
//! only then. Synchronisation in a branch or a loop counts afterwards only if the paths without it know as much: no
//! region is assumed to run, except the first of a loop with several, which computes its condition.
//!
//! The only code shared with the placement of flags is the description of work and conflicts ([`super::index`], which
//! tests compare with [`Work::conflicts`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use slipring_ir::Flow;
use slipring_machine::Pipe;
use slipring_tile::Space;

use super::index::Conflicts;
use super::runs::Runs;
use super::tree::{Flag, flags_inside};
use crate::analysis::touch::Work;

/// A step of a function.
#[derive(Clone, PartialEq, Debug)]
pub enum SyncStep {
    /// Work, by its index.
    Work(usize),
    /// A set.
    Set(Flag),
    /// A wait.
    Wait(Flag),
    /// A wait of the second pipe for the first, by a flag whose id is computed: assumed to be the right one.
    Trust(Pipe, Pipe),
    /// A pipe gets a buffer, and waits for all earlier releases of it.
    Get(Pipe, i64),
    /// A pipe releases a buffer.
    Release(Pipe, i64),
    /// A barrier of one pipe, or of all.
    Barrier(Option<Pipe>),
    /// A call of a function that was checked separately: its work and the flags that it uses.
    Call(Vec<usize>, Vec<Flag>),
    /// Regions.
    Group(Flow, Vec<Vec<SyncStep>>),
}

/// A problem with the flags of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Problem {
    /// The second work item may run before the first, with which it conflicts, is complete.
    Race(usize, usize),
    /// A flag is set while it may still be set.
    SetTwice(Flag),
    /// A flag is waited for that nobody has set.
    NeverSet(Flag),
    /// A flag is set on one path and not on another where they join.
    Unbalanced(Flag),
    /// A flag is left set.
    LeftSet(Flag),
    /// A flag is set while the tile library uses it inside this work.
    Inside(Flag, usize),
}

/// Steps with numbered loops and waits.
enum Numbered {
    Work(usize),
    Set(Flag),
    /// With its index among the waits of the pipe.
    Wait(Flag, u32),
    Barrier(Option<Pipe>),
    Trust(Pipe, Pipe),
    Get(Pipe, i64),
    Release(Pipe, i64),
    /// Work and waits of a call.
    Call(Vec<usize>, Vec<(Flag, u32)>),
    Group(Flow, Vec<Vec<Numbered>>),
    /// A loop and its number.
    Loop(usize, Vec<Vec<Numbered>>),
}

/// A set of steps, stored as its complement: for each lane of the index the ranks of its work, then for each pipe the
/// numbers of its waits.
type Unknown = Vec<Runs>;

#[derive(Clone, PartialEq)]
struct State {
    /// The steps that each pipe does not know to be complete.
    unknown: Vec<Unknown>,
    /// For each flag that is set, the steps of which its signal carries no knowledge.
    signals: BTreeMap<Flag, Unknown>,
    /// For each buffer, the steps that a pipe which gets it does not know to be complete in all executions so far.
    released: BTreeMap<i64, Unknown>,
}

struct Checker<'w> {
    works: &'w [Work],
    conflicts: &'w Conflicts<'w>,
    overlapping: &'w [(Pipe, Space)],
    /// The pipe of each lane, then of each list of waits.
    pipes: Vec<Pipe>,
    /// Numbers of the waits for each flag.
    waits_of: BTreeMap<Flag, Vec<u32>>,
    /// Number of waits of each pipe.
    waits: [u32; Pipe::COUNT],
    /// The state at the head of each loop, as far as it was followed.
    heads: Vec<Option<State>>,
    changed: bool,
    /// True once a fixed point is reached.
    report: bool,
    problems: BTreeSet<Problem>,
}

/// Checks the steps of a function. `overlapping` lists the memories in which a pipe's own work may overlap without a
/// barrier. If several work items of a pipe race with one, only one is reported.
pub fn check(
    steps: &[SyncStep],
    works: &[Work],
    conflicts: &Conflicts<'_>,
    overlapping: &[(Pipe, Space)],
) -> Vec<Problem> {
    let mut checker = Checker {
        works,
        conflicts,
        overlapping,
        pipes: conflicts.lanes().map(|(_, (pipe, _))| pipe).chain(Pipe::ALL).collect(),
        waits_of: BTreeMap::new(),
        waits: [0; Pipe::COUNT],
        heads: Vec::new(),
        changed: true,
        report: false,
        problems: BTreeSet::new(),
    };
    let numbered = checker.number(steps);
    let everything = vec![Runs::default(); checker.pipes.len()];
    let released = buffers(steps).into_iter().map(|id| (id, everything.clone())).collect();
    let begin = State { unknown: vec![everything; Pipe::COUNT], signals: BTreeMap::new(), released };
    while checker.changed {
        checker.changed = false;
        checker.run(&numbered, &mut begin.clone());
    }
    checker.report = true;
    let mut state = begin;
    checker.run(&numbered, &mut state);
    for flag in state.signals.keys() {
        checker.problems.insert(Problem::LeftSet(*flag));
    }
    checker.problems.into_iter().collect()
}

/// The buffers that steps get or release.
fn buffers(steps: &[SyncStep]) -> BTreeSet<i64> {
    let of = |step: &SyncStep| match step {
        SyncStep::Get(_, id) | SyncStep::Release(_, id) => BTreeSet::from([*id]),
        SyncStep::Group(_, regions) => regions.iter().flat_map(|region| buffers(region)).collect(),
        _ => BTreeSet::new(),
    };
    steps.iter().flat_map(of).collect()
}

impl Checker<'_> {
    fn number(&mut self, steps: &[SyncStep]) -> Vec<Numbered> {
        let number = |step: &SyncStep| match step {
            SyncStep::Work(work) => Numbered::Work(*work),
            SyncStep::Wait(flag) => Numbered::Wait(*flag, self.number_wait(*flag)),
            SyncStep::Set(flag) => Numbered::Set(*flag),
            SyncStep::Barrier(pipe) => Numbered::Barrier(*pipe),
            SyncStep::Trust(from, to) => Numbered::Trust(*from, *to),
            SyncStep::Get(pipe, id) => Numbered::Get(*pipe, *id),
            SyncStep::Release(pipe, id) => Numbered::Release(*pipe, *id),
            SyncStep::Call(works, flags) => {
                Numbered::Call(works.clone(), flags.iter().map(|flag| (*flag, self.number_wait(*flag))).collect())
            }
            SyncStep::Group(flow, regions) => {
                let regions = regions.iter().map(|r| self.number(r)).collect();
                if *flow == Flow::Repeat {
                    self.heads.push(None);
                    Numbered::Loop(self.heads.len() - 1, regions)
                } else {
                    Numbered::Group(*flow, regions)
                }
            }
        };
        steps.iter().map(number).collect()
    }

    fn number_wait(&mut self, flag: Flag) -> u32 {
        let count = &mut self.waits[flag.to.index()];
        self.waits_of.entry(flag).or_default().push(*count);
        *count += 1;
        *count - 1
    }

    /// The index of a pipe's waits in a set.
    fn list_of_waits(&self, pipe: Pipe) -> usize {
        self.pipes.len() - Pipe::COUNT + pipe.index()
    }

    fn run(&mut self, steps: &[Numbered], state: &mut State) {
        for step in steps {
            match step {
                Numbered::Work(work) => {
                    self.races(*work, state);
                    let works = self.works;
                    for flag in flags_inside(&works[*work]).filter(|flag| state.signals.contains_key(flag)) {
                        self.problem(Problem::Inside(flag, *work));
                    }
                    self.worked(*work, state);
                }
                Numbered::Set(flag) => {
                    self.may_set(*flag, state);
                    let signal = self.done(flag.from, state);
                    state.signals.insert(*flag, signal);
                }
                Numbered::Wait(flag, number) => {
                    match state.signals.remove(flag) {
                        None => self.problem(Problem::NeverSet(*flag)),
                        Some(signal) => learn(flag.to, &signal, state),
                    }
                    executed(self.list_of_waits(flag.to), *number, state);
                }
                Numbered::Trust(from, to) => {
                    let signal = self.done(*from, state);
                    learn(*to, &signal, state);
                }
                Numbered::Release(pipe, id) => {
                    let signal = self.done(*pipe, state);
                    state.released.get_mut(id).into_iter().for_each(|released| add(released, &signal));
                }
                Numbered::Get(pipe, id) => {
                    if let Some(released) = state.released.get(id) {
                        add(&mut state.unknown[pipe.index()], released);
                    }
                }
                Numbered::Barrier(None) => state.unknown.iter_mut().flatten().for_each(Runs::clear),
                Numbered::Barrier(Some(pipe)) => self.all_of(*pipe, &mut state.unknown[pipe.index()]),
                Numbered::Call(works, flags) => self.call(works, flags, state),
                Numbered::Group(flow, regions) => self.group(*flow, regions, state),
                Numbered::Loop(number, regions) => self.repeat(*number, regions, state),
            }
        }
    }

    fn problem(&mut self, problem: Problem) {
        if self.report {
            self.problems.insert(problem);
        }
    }

    /// Marks all steps of a pipe as known.
    fn all_of(&self, pipe: Pipe, unknown: &mut Unknown) {
        let own = self.pipes.iter().zip(unknown).filter(|(of, _)| **of == pipe);
        own.for_each(|(_, runs)| runs.clear());
    }

    /// The steps not known to be complete once the earlier work of a pipe is.
    fn done(&self, pipe: Pipe, state: &State) -> Unknown {
        let mut unknown = state.unknown[pipe.index()].clone();
        self.all_of(pipe, &mut unknown);
        unknown
    }

    /// Searches for conflicting work that the pipe of this work does not know to be complete.
    fn races(&mut self, work: usize, state: &State) {
        if !self.report {
            return;
        }
        let pipe = self.works[work].pipe;
        for (lane, (of, _)) in self.conflicts.lanes() {
            let clash = |ranks| match of == pipe {
                true => self.conflicts.last_overlap(work, lane, ranks, self.overlapping),
                false => self.conflicts.last(work, lane, ranks),
            };
            if let Some(rank) = state.unknown[pipe.index()][lane].iter().rev().find_map(clash) {
                self.problems.insert(Problem::Race(self.conflicts.work(lane, rank), work));
            }
        }
    }

    /// A flag may be set once the setting pipe knows that the previous signal was consumed.
    fn may_set(&mut self, flag: Flag, state: &State) {
        let open = &state.unknown[flag.from.index()][self.list_of_waits(flag.to)];
        let waits = self.waits_of.get(&flag).map_or(&[][..], Vec::as_slice);
        let not_taken = |run: Range<u32>| {
            waits.get(waits.partition_point(|wait| *wait < run.start)).is_some_and(|wait| *wait < run.end)
        };
        if state.signals.contains_key(&flag) || open.iter().any(not_taken) {
            self.problem(Problem::SetTwice(flag));
        }
    }

    fn call(&mut self, works: &[usize], flags: &[(Flag, u32)], state: &mut State) {
        works.iter().for_each(|work| self.races(*work, state));
        flags.iter().for_each(|(flag, _)| self.may_set(*flag, state));
        works.iter().for_each(|work| self.worked(*work, state));
        flags.iter().for_each(|(flag, number)| executed(self.list_of_waits(flag.to), *number, state));
    }

    fn worked(&self, work: usize, state: &mut State) {
        let (lane, rank) = self.conflicts.place(work);
        executed(lane, rank, state);
    }

    fn group(&mut self, flow: Flow, regions: &[Vec<Numbered>], state: &mut State) {
        let entry = state.clone();
        for region in regions {
            if flow == Flow::Once {
                self.run(region, state);
            } else {
                // It is not known whether any of them runs: perhaps none does.
                let mut path = entry.clone();
                self.run(region, &mut path);
                self.join(state, &path);
            }
        }
    }

    fn repeat(&mut self, number: usize, regions: &[Vec<Numbered>], state: &mut State) {
        let mut head = state.clone();
        if let Some(before) = self.heads[number].take() {
            self.join(&mut head, &before);
        }
        let mut path = head.clone();
        let mut left = None;
        for region in regions {
            self.run(region, &mut path);
            left.get_or_insert_with(|| path.clone());
        }
        let entry = head.clone();
        self.join(&mut head, &path);
        self.changed |= head != entry;
        // A loop with a condition ends after its first region, which computes it.
        *state = left.filter(|_| regions.len() > 1).unwrap_or_else(|| head.clone());
        self.heads[number] = Some(head);
    }

    fn join(&mut self, state: &mut State, path: &State) {
        let join = |a: &mut Unknown, b: &Unknown| a.iter_mut().zip(b).for_each(|(a, b)| a.unite(b));
        state.unknown.iter_mut().zip(&path.unknown).for_each(|(a, b)| join(a, b));
        state.released.values_mut().zip(path.released.values()).for_each(|(a, b)| join(a, b));
        let flags: BTreeSet<Flag> = state.signals.keys().chain(path.signals.keys()).copied().collect();
        for flag in flags {
            match (state.signals.get_mut(&flag), path.signals.get(&flag)) {
                (Some(a), Some(b)) => join(a, b),
                _ => {
                    state.signals.remove(&flag);
                    self.problem(Problem::Unbalanced(flag));
                }
            }
        }
    }
}

/// A step has been issued once more: nobody knows yet that it is complete.
fn executed(list: usize, number: u32, state: &mut State) {
    state.unknown.iter_mut().for_each(|unknown| unknown[list].insert(number));
    state.signals.values_mut().chain(state.released.values_mut()).for_each(|unknown| unknown[list].insert(number));
}

/// A pipe gains the knowledge that a signal carries. Whatever the scalar unit has waited for is complete before
/// anything that it issues later.
fn learn(to: Pipe, signal: &Unknown, state: &mut State) {
    match to {
        Pipe::S => state.unknown.iter_mut().for_each(|unknown| add(unknown, signal)),
        to => add(&mut state.unknown[to.index()], signal),
    }
}

/// Adds the second set to the first.
fn add(unknown: &mut Unknown, known: &Unknown) {
    unknown.iter_mut().zip(known).for_each(|(a, b)| a.intersect(b));
}
