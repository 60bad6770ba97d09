//! An independent check of flags: that every dependence is covered on every path and no flag is set twice or left set.
//!
//! It follows the steps of a function in program order and keeps, for each pipe, the set of steps of which it knows that
//! all executions so far are complete, and for each flag that is set what its signal brings along:
//!
//! | step | effect |
//! |---|---|
//! | work x on pipe p | every conflicting step of another pipe (of p itself where p needs barriers) must be in known(p); then x leaves every set |
//! | set f on p | f must be clear and its last wait in known(p); signal(f) = known(p) and all steps of p |
//! | wait f on p | f must be set; known(p) gains signal(f); for the scalar unit every pipe gains it |
//! | wait of q for p by a computed flag | known(q) gains known(p) and all steps of p |
//! | release of buffer b by p | released(b) gains known(p) and all steps of p |
//! | get of buffer b by p | known(p) gains released(b) |
//! | barrier of p | known(p) gains all steps of p |
//! | barrier of all | every set is everything |
//! | call | as its work in no known order, and as a set and a wait of each of its flags that bring nothing along |
//! | paths that join | intersection; flags must agree |
//! | loop | what holds at its head holds at the entry and after each iteration |
//! | end | no flag may be set |
//!
//! Sets only shrink where paths join, so the function is followed again and again until no loop head changes, and
//! problems are looked for only then. What is done in a branch or a loop counts for what follows only if the paths without
//! it know as much: no region is taken to run, except the first of a loop with several, which computes its condition.
//!
//! Nothing is shared with the code that places flags but the description of work and of what conflicts.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::Flow;
use slipring_machine::Pipe;
use slipring_tile::Space;

use super::tree::Flag;
use crate::analysis::touch::Work;

/// A step of a function.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Work, by its number.
    Work(usize),
    /// A set.
    Set(Flag),
    /// A wait.
    Wait(Flag),
    /// A wait of the second pipe for the first by a flag whose number is computed: taken to be the right one.
    Trust(Pipe, Pipe),
    /// A pipe gets a buffer, and waits for all earlier releases of it.
    Get(Pipe, i64),
    /// A pipe releases a buffer.
    Release(Pipe, i64),
    /// A barrier of one pipe, or of all.
    Barrier(Option<Pipe>),
    /// A call of a function that was checked by itself: its work and the flags that it uses.
    Call(Vec<usize>, Vec<Flag>),
    /// Regions.
    Group(Flow, Vec<Vec<Step>>),
}

/// What is wrong with the flags of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Problem {
    /// The second work may run before the first, which it conflicts with, is complete.
    Race(usize, usize),
    /// A flag is set while it may still be set.
    SetTwice(Flag),
    /// A flag is waited for that nobody has set.
    NeverSet(Flag),
    /// A flag is set on one path and not on another where they join.
    Unbalanced(Flag),
    /// A flag is left set.
    LeftSet(Flag),
}

/// Numbered steps, so that sets of them are sets of bits.
enum Numbered {
    Step(usize, Step),
    /// Work and waits of a call.
    Call(Vec<(usize, usize)>, Vec<(usize, Flag)>),
    Group(Flow, Vec<Vec<Numbered>>),
    /// A loop and its number.
    Loop(usize, Vec<Vec<Numbered>>),
}

#[derive(Clone, PartialEq)]
struct Bits(Vec<u64>);

impl Bits {
    fn full(count: usize) -> Bits {
        Bits(vec![u64::MAX; count.div_ceil(64)])
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn insert(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn remove(&mut self, bit: usize) {
        self.0[bit / 64] &= !(1 << (bit % 64));
    }

    fn union(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn intersect(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
}

#[derive(Clone, PartialEq)]
struct State {
    known: Vec<Bits>,
    signals: BTreeMap<Flag, Bits>,
    /// For each buffer the steps of which a pipe that gets it knows that all executions so far are complete.
    released: BTreeMap<i64, Bits>,
}

struct Checker<'w> {
    works: &'w [Work],
    overlapping: &'w [(Pipe, Space)],
    /// Step number of each execution place of work.
    work_steps: Vec<(usize, usize)>,
    steps_of: Vec<Bits>,
    waits_of: BTreeMap<Flag, Vec<usize>>,
    count: usize,
    /// What holds at the head of each loop, as far as it was followed.
    heads: Vec<Option<State>>,
    changed: bool,
    /// True once nothing changes any more.
    report: bool,
    problems: BTreeSet<Problem>,
}

/// Checks the steps of a function. `overlapping` says in which memories a pipe's own work may overlap without a barrier.
pub fn check(steps: &[Step], works: &[Work], overlapping: &[(Pipe, Space)]) -> Vec<Problem> {
    let mut checker = Checker {
        works,
        overlapping,
        work_steps: Vec::new(),
        steps_of: Vec::new(),
        waits_of: BTreeMap::new(),
        count: 0,
        heads: Vec::new(),
        changed: true,
        report: false,
        problems: BTreeSet::new(),
    };
    let mut pipes = Vec::new();
    let numbered = checker.number(steps, &mut pipes);
    checker.count = pipes.len();
    checker.steps_of = vec![Bits(vec![0; checker.count.div_ceil(64)]); Pipe::COUNT];
    for (step, pipe) in pipes.iter().enumerate() {
        if let Some(pipe) = pipe {
            checker.steps_of[pipe.index()].insert(step);
        }
    }
    let released = buffers(steps).into_iter().map(|id| (id, Bits::full(checker.count))).collect();
    let begin = State { known: vec![Bits::full(checker.count); Pipe::COUNT], signals: BTreeMap::new(), released };
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
fn buffers(steps: &[Step]) -> BTreeSet<i64> {
    let of = |step: &Step| match step {
        Step::Get(_, id) | Step::Release(_, id) => BTreeSet::from([*id]),
        Step::Group(_, regions) => regions.iter().flat_map(|region| buffers(region)).collect(),
        _ => BTreeSet::new(),
    };
    steps.iter().flat_map(of).collect()
}

impl Checker<'_> {
    fn number(&mut self, steps: &[Step], pipes: &mut Vec<Option<Pipe>>) -> Vec<Numbered> {
        let mut list = Vec::new();
        for step in steps {
            let next = pipes.len();
            list.push(match step {
                Step::Work(work) => {
                    self.number_work(*work, pipes);
                    Numbered::Step(next, step.clone())
                }
                Step::Wait(flag) => {
                    self.number_wait(*flag, pipes);
                    Numbered::Step(next, step.clone())
                }
                Step::Set(_) | Step::Trust(..) | Step::Get(..) | Step::Release(..) | Step::Barrier(_) => {
                    pipes.push(None);
                    Numbered::Step(next, step.clone())
                }
                Step::Call(works, flags) => {
                    let works = works.iter().map(|work| (self.number_work(*work, pipes), *work)).collect();
                    Numbered::Call(works, flags.iter().map(|flag| (self.number_wait(*flag, pipes), *flag)).collect())
                }
                Step::Group(flow, regions) => {
                    let regions = regions.iter().map(|r| self.number(r, pipes)).collect();
                    if *flow == Flow::Repeat {
                        self.heads.push(None);
                        Numbered::Loop(self.heads.len() - 1, regions)
                    } else {
                        Numbered::Group(*flow, regions)
                    }
                }
            });
        }
        list
    }

    fn number_work(&mut self, work: usize, pipes: &mut Vec<Option<Pipe>>) -> usize {
        self.work_steps.push((pipes.len(), work));
        pipes.push(Some(self.works[work].pipe));
        pipes.len() - 1
    }

    fn number_wait(&mut self, flag: Flag, pipes: &mut Vec<Option<Pipe>>) -> usize {
        self.waits_of.entry(flag).or_default().push(pipes.len());
        pipes.push(Some(flag.to));
        pipes.len() - 1
    }

    fn run(&mut self, steps: &[Numbered], state: &mut State) {
        for step in steps {
            match step {
                Numbered::Step(number, step) => self.step(*number, step, state),
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

    fn step(&mut self, number: usize, step: &Step, state: &mut State) {
        match step {
            Step::Work(work) => {
                self.races(*work, state);
                self.executed(number, state);
            }
            Step::Set(flag) => {
                self.may_set(*flag, state);
                let signal = self.done(flag.from, state);
                state.signals.insert(*flag, signal);
            }
            Step::Wait(flag) => {
                match state.signals.remove(flag) {
                    None => self.problem(Problem::NeverSet(*flag)),
                    Some(signal) if flag.to == Pipe::S => state.known.iter_mut().for_each(|k| k.union(&signal)),
                    Some(signal) => state.known[flag.to.index()].union(&signal),
                }
                self.executed(number, state);
            }
            Step::Trust(from, to) => {
                let signal = self.done(*from, state);
                match to {
                    Pipe::S => state.known.iter_mut().for_each(|known| known.union(&signal)),
                    to => state.known[to.index()].union(&signal),
                }
            }
            Step::Release(pipe, id) => {
                let signal = self.done(*pipe, state);
                state.released.get_mut(id).into_iter().for_each(|released| released.union(&signal));
            }
            Step::Get(pipe, id) => {
                if let Some(released) = state.released.get(id) {
                    state.known[pipe.index()].union(released);
                }
            }
            Step::Barrier(None) => state.known.iter_mut().for_each(|k| *k = Bits::full(self.count)),
            Step::Barrier(Some(pipe)) => state.known[pipe.index()].union(&self.steps_of[pipe.index()]),
            Step::Call(..) | Step::Group(..) => {}
        }
    }

    /// What is complete once the earlier work of a pipe is.
    fn done(&self, pipe: Pipe, state: &State) -> Bits {
        let mut done = state.known[pipe.index()].clone();
        done.union(&self.steps_of[pipe.index()]);
        done
    }

    /// Looks for work that this work conflicts with and of which its pipe does not know that it is complete.
    fn races(&mut self, work: usize, state: &State) {
        if !self.report {
            return;
        }
        let (this, pipe) = (&self.works[work], self.works[work].pipe);
        for (other, other_work) in &self.work_steps {
            let that = &self.works[*other_work];
            let clash = || match that.pipe == pipe {
                true => this.overlaps(that, self.overlapping),
                false => this.conflicts(that),
            };
            if !state.known[pipe.index()].has(*other) && clash() {
                self.problems.insert(Problem::Race(*other_work, work));
            }
        }
    }

    /// A flag may be set once the pipe that sets it knows that the signal before was taken.
    fn may_set(&mut self, flag: Flag, state: &State) {
        let known = &state.known[flag.from.index()];
        let taken = self.waits_of.get(&flag).is_none_or(|waits| waits.iter().all(|w| known.has(*w)));
        if state.signals.contains_key(&flag) || !taken {
            self.problem(Problem::SetTwice(flag));
        }
    }

    fn call(&mut self, works: &[(usize, usize)], flags: &[(usize, Flag)], state: &mut State) {
        works.iter().for_each(|(_, work)| self.races(*work, state));
        flags.iter().for_each(|(_, flag)| self.may_set(*flag, state));
        let numbers = works.iter().map(|w| w.0).chain(flags.iter().map(|f| f.0));
        numbers.for_each(|number| self.executed(number, state));
    }

    /// A step has been issued once more: nobody knows yet that it is complete.
    fn executed(&self, number: usize, state: &mut State) {
        state.known.iter_mut().for_each(|k| k.remove(number));
        state.signals.values_mut().chain(state.released.values_mut()).for_each(|s| s.remove(number));
    }

    fn group(&mut self, flow: Flow, regions: &[Vec<Numbered>], state: &mut State) {
        let entry = state.clone();
        for region in regions {
            if flow == Flow::Once {
                self.run(region, state);
            } else {
                // Whether one of them must run is not known: none may.
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
        state.known.iter_mut().zip(&path.known).for_each(|(a, b)| a.intersect(b));
        state.released.values_mut().zip(path.released.values()).for_each(|(a, b)| a.intersect(b));
        let flags: BTreeSet<Flag> = state.signals.keys().chain(path.signals.keys()).copied().collect();
        for flag in flags {
            match (state.signals.get_mut(&flag), path.signals.get(&flag)) {
                (Some(a), Some(b)) => a.intersect(b),
                _ => {
                    state.signals.remove(&flag);
                    self.problem(Problem::Unbalanced(flag));
                }
            }
        }
    }
}
