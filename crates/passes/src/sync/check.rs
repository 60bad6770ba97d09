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
//! | barrier of p | known(p) gains all steps of p |
//! | barrier of all | every set is everything |
//! | paths that join | intersection; flags must agree |
//! | loop | from the entry until nothing changes |
//!
//! Nothing is shared with the code that places flags.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::Flow;
use slipring_machine::Pipe;

use super::tree::{Flag, Work};

/// A step of a function.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Work, by its number.
    Work(usize),
    /// A set.
    Set(Flag),
    /// A wait.
    Wait(Flag),
    /// A barrier of one pipe, or of all.
    Barrier(Option<Pipe>),
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
    Group(Flow, Vec<Vec<Numbered>>),
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
}

struct Checker<'w> {
    works: &'w [Work],
    unordered: &'w [Pipe],
    /// Step number of each execution place of work.
    work_steps: Vec<(usize, usize)>,
    steps_of: Vec<Bits>,
    waits_of: BTreeMap<Flag, Vec<usize>>,
    count: usize,
    problems: BTreeSet<Problem>,
}

/// Checks the steps of a function. `unordered` are the pipes whose own work may overlap without a barrier.
pub fn check(steps: &[Step], works: &[Work], unordered: &[Pipe]) -> Vec<Problem> {
    let mut checker = Checker {
        works,
        unordered,
        work_steps: Vec::new(),
        steps_of: Vec::new(),
        waits_of: BTreeMap::new(),
        count: 0,
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
    let mut state = State { known: vec![Bits::full(checker.count); Pipe::COUNT], signals: BTreeMap::new() };
    checker.run(&numbered, &mut state, true);
    for flag in state.signals.keys() {
        checker.problems.insert(Problem::LeftSet(*flag));
    }
    checker.problems.into_iter().collect()
}

impl Checker<'_> {
    fn number(&mut self, steps: &[Step], pipes: &mut Vec<Option<Pipe>>) -> Vec<Numbered> {
        let mut list = Vec::new();
        for step in steps {
            let pipe = match step {
                Step::Work(work) => {
                    self.work_steps.push((pipes.len(), *work));
                    Some(self.works[*work].pipe)
                }
                Step::Wait(flag) => {
                    self.waits_of.entry(*flag).or_default().push(pipes.len());
                    Some(flag.to)
                }
                Step::Set(_) | Step::Barrier(_) => None,
                Step::Group(flow, regions) => {
                    let regions = regions.iter().map(|r| self.number(r, pipes)).collect();
                    list.push(Numbered::Group(*flow, regions));
                    continue;
                }
            };
            list.push(Numbered::Step(pipes.len(), step.clone()));
            pipes.push(pipe);
        }
        list
    }

    fn run(&mut self, steps: &[Numbered], state: &mut State, report: bool) {
        for step in steps {
            match step {
                Numbered::Step(number, step) => self.step(*number, step, state, report),
                Numbered::Group(flow, regions) => self.group(*flow, regions, state, report),
            }
        }
    }

    fn problem(&mut self, report: bool, problem: Problem) {
        if report {
            self.problems.insert(problem);
        }
    }

    fn step(&mut self, number: usize, step: &Step, state: &mut State, report: bool) {
        match step {
            Step::Work(work) => {
                let (this, pipe) = (&self.works[*work], self.works[*work].pipe);
                if report {
                    for (other, other_work) in &self.work_steps {
                        let that = &self.works[*other_work];
                        let ordered = that.pipe == pipe && !self.unordered.contains(&pipe);
                        if !ordered && !state.known[pipe.index()].has(*other) && this.conflicts(that) {
                            self.problems.insert(Problem::Race(*other_work, *work));
                        }
                    }
                }
                self.executed(number, state);
            }
            Step::Set(flag) => {
                let known = &state.known[flag.from.index()];
                let clear = !state.signals.contains_key(flag);
                let waits = self.waits_of.get(flag);
                if !clear || waits.is_some_and(|w| w.iter().any(|w| !known.has(*w))) {
                    self.problem(report, Problem::SetTwice(*flag));
                }
                let mut signal = state.known[flag.from.index()].clone();
                signal.union(&self.steps_of[flag.from.index()]);
                state.signals.insert(*flag, signal);
            }
            Step::Wait(flag) => {
                match state.signals.remove(flag) {
                    None => self.problem(report, Problem::NeverSet(*flag)),
                    Some(signal) if flag.to == Pipe::S => state.known.iter_mut().for_each(|k| k.union(&signal)),
                    Some(signal) => state.known[flag.to.index()].union(&signal),
                }
                self.executed(number, state);
            }
            Step::Barrier(None) => state.known.iter_mut().for_each(|k| *k = Bits::full(self.count)),
            Step::Barrier(Some(pipe)) => state.known[pipe.index()].union(&self.steps_of[pipe.index()]),
            Step::Group(..) => {}
        }
    }

    /// A step has been issued once more: nobody knows yet that it is complete.
    fn executed(&self, number: usize, state: &mut State) {
        state.known.iter_mut().for_each(|k| k.remove(number));
        state.signals.values_mut().for_each(|s| s.remove(number));
    }

    fn group(&mut self, flow: Flow, regions: &[Vec<Numbered>], state: &mut State, report: bool) {
        match flow {
            Flow::Once => regions.iter().for_each(|region| self.run(region, state, report)),
            Flow::OneOf => {
                let entry = state.clone();
                // Whether one of them must run is not known: none may.
                for region in regions {
                    let mut path = entry.clone();
                    self.run(region, &mut path, report);
                    self.join(state, &path, report);
                }
            }
            Flow::Repeat => {
                loop {
                    let mut path = state.clone();
                    regions.iter().for_each(|region| self.run(region, &mut path, false));
                    let before = state.clone();
                    self.join(state, &path, false);
                    if *state == before {
                        break;
                    }
                }
                let mut path = state.clone();
                let mut left = None;
                for region in regions {
                    self.run(region, &mut path, report);
                    left.get_or_insert_with(|| path.clone());
                }
                self.join(&mut state.clone(), &path, report);
                // A loop with a condition ends after its first region, which computes it.
                if let (true, Some(left)) = (regions.len() > 1, left) {
                    *state = left;
                }
            }
        }
    }

    fn join(&mut self, state: &mut State, path: &State, report: bool) {
        state.known.iter_mut().zip(&path.known).for_each(|(a, b)| a.intersect(b));
        let flags: BTreeSet<Flag> = state.signals.keys().chain(path.signals.keys()).copied().collect();
        for flag in flags {
            match (state.signals.get_mut(&flag), path.signals.get(&flag)) {
                (Some(a), Some(b)) => a.intersect(b),
                _ => {
                    state.signals.remove(&flag);
                    self.problem(report, Problem::Unbalanced(flag));
                }
            }
        }
    }
}
