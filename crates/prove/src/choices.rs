//! All choices: each loop and branch that an argument or loaded data decides may go either way.
//!
//! The cores are held at each such decision until nothing else can proceed, and every continuation is tried, until each
//! new state is equivalent to one from which every continuation has been tried. Then all outcomes have been covered,
//! whatever the choices and however often each loop runs. This over-approximates what can happen, so a finding here
//! refutes nothing; it only means that the proof fails.

use std::collections::{BTreeMap, BTreeSet};

use slipring_check::shift::{Distances, Follow, Shift};
use slipring_check::{ArgUse, Checker, CoreSnapshot, Marking, Moved, Rounds, Schedules, Tools};
use slipring_op::Decoded;
use slipring_program::{Causes, Choice, Decision, Inst, Kind, Operand, Reg, Severity};
use slipring_sim::At;

use super::expression::{NOT, expression};
use super::given::{Assumptions, nothing_written};
use super::{text, wide};
use slipring_session::exec::{LaunchExtras, launch};
use slipring_session::places::Places;
use slipring_session::{Error, ExecuteOptions};

use crate::subject::Subject;

/// The note on a finding that an output is left unwritten when every choice is followed: mutually exclusive choices are
/// included.
const WAYS: &str = "some paths through loops and branches (perhaps none that an argument takes)";

/// An operand of work: the core, the work, the operand's index.
type OperandAt = (slipring_machine::Role, u32, usize);

/// The cores that leave, at each cut point.
type Leave = Vec<Vec<usize>>;

/// The decisions based on each canonical expression: the core, whether it leaves there, and the difference of its
/// counter, if known.
type Meets = BTreeMap<String, BTreeSet<(usize, bool, Option<i64>)>>;

/// Maximum number of runs, of work items in all of them, and of bytes after each buffer.
const RUNS: usize = 200;
const WORKS: u64 = 20_000;
const SLACK: usize = 1 << 20;
/// Maximum number of cores that choose independently at one cut point.
const GROUPS: usize = 4;

/// The comparison operand of a branch, in place of a loop's bound.
const ONE: Operand = Operand::Imm(1);

/// The result.
pub(super) enum Choices {
    /// Nothing is found, for any choices.
    Clean {
        #[allow(missing_docs)]
        runs: usize,
        #[allow(missing_docs)]
        given: Assumptions,
    },
    /// Undecided, and why.
    Open(String),
}

/// A sequence of choices.
#[derive(Clone, Debug, Default)]
struct Way {
    leave: Leave,
    /// Number of cut points with known states, the last of them, and the decisions of arguments until then.
    known: usize,
    before: Option<usize>,
    decided: BTreeMap<String, bool>,
}

/// The condition that decides for a core.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Key {
    text: String,
    /// It leaves if the expression is false: two spellings of one condition have the same expression.
    negated: bool,
    /// Its value is the same at every evaluation.
    once: bool,
}

/// A state at a cut point.
struct Node {
    marking: Marking,
    /// Earlier decisions by arguments, which hold for the whole launch: whether the core left.
    decided: BTreeMap<String, bool>,
    /// An earlier equivalent state, and how its buffers are compared with that one's.
    like: Option<(usize, Vec<Moved>)>,
    /// The successors: the first byte of each buffer touched on the way, and the state; none at the end.
    next: Vec<(BTreeMap<usize, u64>, Option<usize>)>,
}

/// A program whose loops and branches may go either way.
struct Free<'a> {
    subject: &'a Subject<'a>,
    decoded: Decoded,
    nodes: Vec<Node>,
    args: BTreeMap<OperandAt, ArgUse>,
    /// Operands that data or arguments decide and that determine an access: they may point anywhere in their buffer.
    wide: BTreeSet<OperandAt>,
    /// Buffers that are written, and those whose accesses are not ordered at arbitrary addresses.
    written: BTreeSet<usize>,
    racing: BTreeSet<usize>,
    /// Buffers that are read.
    read: BTreeSet<usize>,
    buffers: usize,
    /// Unwritten bytes reached buffers.
    unwritten: bool,
    works: u64,
    given: Assumptions,
}

/// Tries every path through the loops and branches that arguments and data decide.
///
/// # Errors
/// If that is cancelled.
pub(super) fn all(subject: &Subject<'_>, tools: &Tools) -> Result<Choices, Error> {
    let mut free = match Free::new(subject) {
        Ok(free) => free,
        Err(why) => return Ok(Choices::Open(why)),
    };
    // The knowledge about buffers changes as runs are made: it then starts again.
    for _ in 0..4 {
        let known = (free.written.clone(), free.racing.clone(), free.read.clone());
        free.nodes.clear();
        match free.explore(tools)? {
            Choices::Clean { .. } if known != (free.written.clone(), free.racing.clone(), free.read.clone()) => {}
            Choices::Clean { .. } if !free.holds() => {
                return Ok(Choices::Open("the set of accesses does not recur for arbitrary trip counts".into()));
            }
            Choices::Clean { runs, mut given } => {
                return Ok(match free.widened(tools) {
                    Ok(assumes) => {
                        given.add(Assumptions { assumes, ..Assumptions::default() });
                        Choices::Clean { runs, given }
                    }
                    Err(why) => Choices::Open(why),
                });
            }
            other => return Ok(other),
        }
    }
    Ok(Choices::Open("nothing was shown for arbitrary trip counts".into()))
}

impl<'a> Free<'a> {
    /// # Errors
    /// A decision by an argument or data about anything but the control flow.
    fn new(subject: &'a Subject<'a>) -> Result<Free<'a>, String> {
        let decoded = &subject.compiled.prepared.decoded;
        let others = decoded.program.decisions().into_iter();
        let free = |decision: &Decision| match decision.choice {
            Choice::Control | Choice::Access => true,
            // The scope states that values fit their types.
            Choice::Fault => !decision.causes.data,
            _ => false,
        };
        let mut others = others.filter(|decision| !free(decision));
        let (wide, narrow) = wide::operands(&decoded.program);
        if let Some(other) = others.next().or(narrow) {
            return Err(wide::decided(subject, &other));
        }
        let mut program = decoded.program.clone();
        for (core, own) in program.cores.iter_mut().zip(&decoded.program.cores) {
            let flow = decoded.program.flow(own);
            for inst in &mut core.insts {
                let (a, b, to) = match *inst {
                    Inst::JumpIfGe { a, b, to } => (a, b, to),
                    Inst::JumpIfZero { a, to } => (a, ONE, to),
                    _ => continue,
                };
                if !flow.of(a).join(flow.of(b)).is_empty() {
                    *inst = Inst::Meet { a, b, to };
                }
            }
        }
        let decoded = Decoded { program, local_bytes: decoded.local_bytes };
        Ok(Free {
            subject,
            decoded,
            nodes: Vec::new(),
            wide,
            args: BTreeMap::new(),
            written: BTreeSet::new(),
            racing: BTreeSet::new(),
            read: BTreeSet::new(),
            buffers: 0,
            unwritten: false,
            works: 0,
            given: Assumptions::default(),
        })
    }

    fn explore(&mut self, tools: &Tools) -> Result<Choices, Error> {
        let mut open = vec![Way::default()];
        let mut runs = 0;
        while let Some(way) = open.pop() {
            if let Err(why) = self.subject.budget.check() {
                return Ok(Choices::Open(why));
            }
            runs += 1;
            self.subject.tell(format!("path {runs} through loops and branches"));
            if runs > RUNS || self.works > WORKS {
                let why = "the states of loops with arbitrary trip counts do not recur soon enough";
                return Ok(Choices::Open(why.into()));
            }
            if let Some(why) = self.run(&way, tools, &mut open)? {
                return Ok(Choices::Open(why));
            }
        }
        Ok(Choices::Clean { runs, given: self.given.clone() })
    }

    /// Runs with these choices, after which all cores leave; returns the obstacle, if any.
    fn run(&mut self, way: &Way, tools: &Tools, open: &mut Vec<Way>) -> Result<Option<String>, Error> {
        let leave = &way.leave;
        let subject = self.subject;
        let limits = subject.budget.one(subject.options.limits);
        let options = ExecuteOptions { gm_slack: subject.options.gm_slack + SLACK, limits, ..subject.options };
        let (cancel, leave_at) = (subject.asked.control.cancel_token(), Some(leave.clone()));
        let how = LaunchExtras { cancel, leave: leave_at, stop_endless: true, ..LaunchExtras::default() };
        let mut checker = Checker::new(tools.clone()).keeping_states(way.known);
        let execution = launch(&self.decoded, &subject.compiled.platform, subject.bound, options, how, &mut checker);
        let result = execution.result;
        if result.findings.iter().any(|finding| finding.kind == Kind::Cancelled) {
            return Err(Error::Cancelled);
        }
        subject.budget.spend(&result);
        let judged = checker.report(&result);
        if let Some(other) = self.contradicted(way, checker.rounds()) {
            open.push(other);
            return Ok(None);
        }
        self.racing.extend(checker.racing_anywhere());
        let rounds = checker.rounds().cloned().unwrap_or_default();
        (self.buffers, self.works) = (result.memory.gm.len(), self.works + rounds.works);
        if let Some(error) = judged.findings.iter().find(|finding| finding.severity == Severity::Error) {
            return Ok(Some(format!("for arbitrary trip counts and branches, `{}`: {}", error.code, error.message)));
        }
        if let Some(doubt) = judged.doubt() {
            return Ok(Some(text::decided(doubt, |site| self.subject.line(site))));
        }
        if self.iterates_once(&rounds.stands, leave) && !self.stays_inside(&rounds) {
            return Ok(Some("for arbitrary branches, an access is past the end of a buffer".into()));
        }
        if let Schedules::ThisOne { reasons } = &judged.scope.schedules {
            return Ok(Some(reasons.join("; ")));
        }
        if result.counters.iter().any(|count| *count > 0) {
            return Ok(Some("for arbitrary trip counts and branches, signals are left".into()));
        }
        self.unwritten |= judged.findings.iter().any(|finding| matches!(finding.kind, Kind::UninitialisedOutput(_)));
        let nothing = nothing_written(self.subject, &result, WAYS);
        self.given.add(Assumptions { nothing, ..Assumptions::of(&judged) });
        for (place, used) in &rounds.args {
            let known = self.args.entry(*place).or_default();
            known.buffers.extend(used.buffers.iter().copied());
            known.other |= used.other;
        }
        self.written.extend((0..self.buffers).filter(|buffer| rounds.writes(*buffer)));
        self.read.extend((0..self.buffers).filter(|buffer| rounds.reads(*buffer)));
        let first = |round: usize| {
            let touched = rounds.touched.get(round).into_iter().flatten();
            touched.map(|(buffer, touched)| (*buffer, touched.first)).collect::<BTreeMap<usize, u64>>()
        };
        let mut last = way.before;
        let mut decided = way.decided.clone();
        for (at, marking) in rounds.markings.iter().enumerate() {
            let meeting = way.known + at;
            let node = self.nodes.len();
            if let Some(last) = last {
                self.nodes[last].next.push((first(meeting), Some(node)));
            }
            let own = decided.clone();
            self.nodes.push(Node { marking: marking.clone(), decided: own, like: None, next: Vec::new() });
            let groups = self.groups(&marking.cores);
            if groups.len() > GROUPS {
                return Ok(Some("too many cores make independent choices".into()));
            }
            let like = (0..node).rev().find_map(|other| Some((other, self.like(other, node)?)));
            if like.is_some() {
                self.nodes[node].like = like;
                return Ok(None);
            }
            // All alternatives to the one taken here.
            let gone = |place: &usize| leave.get(meeting).is_none_or(|leaves| leaves.contains(place));
            for bits in 0..(1usize << groups.len()) {
                let leaves = |at: usize| bits >> at & 1 != 0;
                let mut others = decided.clone();
                let may = groups.iter().enumerate().all(|(at, (key, _))| match key {
                    Some(Key { text, negated, once: true }) => {
                        let holds = leaves(at) != *negated;
                        *others.entry(text.clone()).or_insert(holds) == holds
                    }
                    _ => true,
                });
                let here =
                    |(at, (_, places)): (usize, &(_, Vec<usize>))| places.iter().all(|place| gone(place) == leaves(at));
                if may && !groups.iter().enumerate().all(here) {
                    let who = groups.iter().enumerate().filter(|(at, _)| leaves(*at)).flat_map(|(_, (_, p))| p.clone());
                    let mut ways: Leave = leave.iter().take(meeting).cloned().collect();
                    ways.resize(meeting, (0..marking.cores.len()).collect());
                    ways.push(who.collect());
                    open.push(Way { leave: ways, known: meeting + 1, before: Some(node), decided: others });
                }
            }
            for (key, places) in &groups {
                if let Some(Key { text, negated, once: true }) = key {
                    decided.insert(text.clone(), places.iter().all(gone) != *negated);
                }
            }
            last = Some(node);
        }
        if rounds.markings.len() >= slipring_check::Rounds::MOST {
            return Ok(Some("there are too many rounds".into()));
        }
        if let Some(last) = last {
            self.nodes[last].next.push((first(way.known + rounds.markings.len()), None));
        }
        Ok(None)
    }

    /// True if no core enters a chosen loop more than once: an out-of-bounds access is then not caused by a loop that
    /// iterates too often.
    fn iterates_once(&self, stands: &[Vec<CoreSnapshot>], leave: &Leave) -> bool {
        let mut iterations: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (stands, leave) in stands.iter().zip(leave) {
            for (place, stand) in stands.iter().enumerate().filter(|(place, _)| !leave.contains(place)) {
                let inst = &self.decoded.program.cores[stand.position].insts[stand.pc];
                let is_loop = matches!(inst, Inst::Meet { b, .. } if *b != ONE);
                if stand.at == At::Meet && is_loop {
                    *iterations.entry((place, stand.pc)).or_default() += 1;
                }
            }
        }
        iterations.values().all(|iterations| *iterations <= 1)
    }

    fn stays_inside(&self, rounds: &Rounds) -> bool {
        let sizes = Places::new(self.subject.bound).sizes.into_iter().enumerate();
        let slack = self.subject.options.gm_slack;
        sizes.into_iter().all(|(buffer, size)| rounds.end(buffer) <= (size + slack) as u64)
    }

    /// The assumptions about accesses that may be anywhere in their buffers.
    ///
    /// # Errors
    /// Why their location matters.
    fn widened(&self, tools: &Tools) -> Result<Vec<String>, String> {
        // An access somewhere in an output that is also read may read bytes that were not written.
        let nothing = |buffer: &usize| {
            self.read.contains(buffer) && tools.unwritten.iter().any(|unwritten| unwritten.buffer == *buffer)
        };
        let mut somewhere = self.wide.iter().filter_map(|place| self.args.get(place)).flat_map(|used| &used.buffers);
        if (self.unwritten && !self.wide.is_empty()) || somewhere.any(nothing) {
            return Err("it is unknown which bytes are accessed, and some of them are uninitialised".into());
        }
        let places = self.wide.iter().filter_map(|place| Some((*place, self.args.get(place)?)));
        places.map(|(place, used)| wide::stays(self.subject, place, used, &self.racing, &tools.scratch)).collect()
    }

    /// The cores at a cut point, grouped by common conditions.
    fn groups(&self, stands: &[CoreSnapshot]) -> Vec<(Option<Key>, Vec<usize>)> {
        let mut groups: Vec<(Option<Key>, Vec<usize>)> = Vec::new();
        for (place, stand) in stands.iter().enumerate().filter(|(_, stand)| stand.at == At::Meet) {
            let key = self.key(stand);
            match groups.iter_mut().find(|(other, _)| key.is_some() && *other == key) {
                Some((_, members)) => members.push(place),
                None => groups.push((key, vec![place])),
            }
        }
        groups
    }

    /// The same cores in the same groups.
    fn same_groups(&self, one: &[CoreSnapshot], two: &[CoreSnapshot]) -> bool {
        let places = |stands: &[CoreSnapshot]| -> Vec<Vec<usize>> {
            self.groups(stands).into_iter().map(|(_, places)| places).collect()
        };
        places(one) == places(two)
    }

    /// The alternative choices, if all cores leave contrary to the choice and an argument has decided differently
    /// before.
    fn contradicted(&self, way: &Way, rounds: Option<&Rounds>) -> Option<Way> {
        let mut decided = way.decided.clone();
        let stands = &rounds?.stands;
        for (meeting, stands) in stands.iter().enumerate().skip(way.known) {
            let groups = self.groups(stands);
            let gone = |place: &usize| way.leave.get(meeting).is_none_or(|leaves| leaves.contains(place));
            let mut stay: Vec<usize> = Vec::new();
            for (key, places) in &groups {
                let Some(Key { text, negated, once: true }) = key else { continue };
                let holds = decided.entry(text.clone()).or_insert_with(|| places.iter().all(gone) != *negated);
                let leaves = *holds != *negated;
                if !leaves && places.iter().any(gone) {
                    stay.extend(places);
                }
            }
            if !stay.is_empty() {
                let mut leave = way.leave.clone();
                leave.resize(meeting, (0..stands.len()).collect());
                leave.push((0..stands.len()).filter(|place| !stay.contains(place)).collect());
                return Some(Way { leave, ..way.clone() });
            }
        }
        None
    }

    /// The condition that decides for a core: equal conditions have equal keys. `None` if it is unknown.
    fn key(&self, stand: &CoreSnapshot) -> Option<Key> {
        let core = &self.decoded.program.cores[stand.position];
        let Inst::Meet { a, b, .. } = core.insts[stand.pc] else { return None };
        let flow = self.decoded.program.flow(core);
        let of = |operand: Operand| {
            let causes = flow.of(operand);
            match operand {
                _ if causes.data => None,
                Operand::Imm(value) => Some(value.to_string()),
                Operand::Reg(Reg(reg)) if causes == Causes::default() => Some(stand.regs[reg as usize].to_string()),
                Operand::Reg(_) => expression(core, operand, 8),
            }
        };
        // It involves no counter.
        let once = expression(core, a, 8).is_some() && expression(core, b, 8).is_some();
        let text = format!("{} {}", of(a)?, of(b)?);
        Some(match text.strip_prefix(NOT).filter(|_| b == ONE) {
            Some(text) => Key { text: text.into(), negated: true, once },
            None => Key { text, negated: false, once },
        })
    }

    /// Whether an earlier state covers everything that follows a later one, up to the location of accesses to buffers.
    fn like(&self, earlier: usize, later: usize) -> Option<Vec<Moved>> {
        let (one, two) = (&self.nodes[earlier], &self.nodes[later]);
        if one.like.is_some() {
            return None;
        }
        let (a, b) = (&one.marking, &two.marking);
        let at = |marking: &Marking| -> Vec<(usize, usize, At)> {
            marking.cores.iter().map(|core| (core.position, core.pc, core.at)).collect()
        };
        // First without the buffers, which is quick.
        let none = vec![Moved::ReadOnly; self.buffers];
        if at(a) != at(b)
            || !self.same_groups(&a.cores, &b.cores)
            || one.decided != two.decided
            || !a.is_like(b, &none, &|_| false)
        {
            return None;
        }
        let mut distances = Distances::new();
        let mut meets = Meets::new();
        for (place, (stand, other)) in a.cores.iter().zip(&b.cores).enumerate() {
            let start = match stand.at {
                At::Meet => stand.pc,
                At::Wait(_) => stand.pc + 1,
                At::End => continue,
                At::Pipe => return None,
            };
            let core = &self.decoded.program.cores[stand.position];
            let flow = self.decoded.program.flow(core);
            let regs: Vec<(Shift, Option<i64>)> = (0..core.regs as usize)
                .map(|at| {
                    let (one, two) = (stand.regs[at] as i64, other.regs[at] as i64);
                    match flow.regs[at] {
                        causes if causes.data => (Shift::Data, None),
                        causes if causes.params != 0 => (Shift::Unknown, None),
                        _ => (Shift::By(two.wrapping_sub(one)), Some(one.min(two))),
                    }
                })
                .collect();
            let follow =
                Follow { core, param: None, bound: 0, into: false, free: true, args: &self.args, wide: &self.wide };
            follow.from(start, &regs, &mut distances).ok()?;
            for (pc, found) in follow.at_meets(start, &regs) {
                // Values that no loop counts are unchanged, and unknown ones are unique.
                let Inst::Meet { a, b, .. } = core.insts[pc] else { continue };
                let counts = flow.of(a).is_empty() && !flow.of(b).data;
                let Some(key) = expression(core, b, 8).filter(|_| counts) else { continue };
                meets.entry(key).or_default().extend(found.into_iter().map(|(left, by)| (place, left, by)));
            }
        }
        if !self.together(&a.cores, &meets) || distances.values().flatten().any(|by| *by < 0) {
            return None;
        }
        let first = self.first_of_all();
        let read = |buffer: usize| self.read.contains(&buffer);
        let anywhere: BTreeSet<usize> =
            self.wide.iter().filter_map(|place| self.args.get(place)).flat_map(|used| used.buffers.clone()).collect();
        let moved: Vec<Moved> = (0..self.buffers)
            .map(|buffer| {
                let apart = distances.get(&buffer).cloned().unwrap_or_default();
                Some(match (self.written.contains(&buffer), self.racing.contains(&buffer)) {
                    (false, _) => Moved::ReadOnly,
                    (true, false) if ![a, b].iter().any(|of| of.has_voids(buffer, read(buffer))) => Moved::InOrder,
                    (true, _) if anywhere.contains(&buffer) => return None,
                    (true, _) => match (apart.first().copied(), apart.len()) {
                        (None | Some(0), 0 | 1) => Moved::Stays,
                        (Some(by), 1) => {
                            let from = first[earlier].get(&buffer).copied().unwrap_or(u64::MAX / 2);
                            Moved::On { by: by as u64, from: [from, from.saturating_add(by as u64)] }
                        }
                        _ => return None,
                    },
                })
            })
            .collect::<Option<_>>()?;
        a.is_like(b, &moved, &read).then_some(moved)
    }

    /// Whether cores with a common condition keep it: the counters of their loops have equal differences.
    fn together(&self, stands: &[CoreSnapshot], meets: &Meets) -> bool {
        let one_group = self.groups(stands).len() == 1;
        meets.values().all(|found| {
            let cores: BTreeSet<usize> = found.iter().map(|(place, ..)| *place).collect();
            let by = |left: bool| -> BTreeSet<Option<i64>> {
                found.iter().filter(|(_, l, _)| *l == left).map(|(.., by)| *by).collect()
            };
            let known = |set: &BTreeSet<Option<i64>>| set.len() <= 1 && !set.contains(&None);
            let (before, behind) = (by(false), by(true));
            let same = before.is_empty() || behind.is_empty() || before == behind;
            cores.len() < 2 || (known(&before) && known(&behind) && (same || one_group))
        })
    }

    /// The first byte of each buffer touched after each state, as far as known.
    fn first_of_all(&self) -> Vec<BTreeMap<usize, u64>> {
        let mut all: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); self.nodes.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (at, node) in self.nodes.iter().enumerate().rev() {
                let mut found: Vec<(usize, u64)> = Vec::new();
                for (touched, next) in &node.next {
                    found.extend(touched.iter().map(|(buffer, first)| (*buffer, *first)));
                    found.extend(next.iter().flat_map(|next| all[*next].iter().map(|(b, f)| (*b, *f))));
                }
                if let Some((other, moved)) = &node.like {
                    let by = |buffer: usize| match moved.get(buffer) {
                        Some(Moved::On { by, .. }) => *by,
                        _ => 0,
                    };
                    found
                        .extend(all[*other].iter().map(|(buffer, first)| (*buffer, first.saturating_add(by(*buffer)))));
                }
                for (buffer, first) in found {
                    let known = all[at].entry(buffer).or_insert(u64::MAX);
                    changed |= first < *known;
                    *known = first.min(*known);
                }
            }
        }
        all
    }

    /// Whether the states treated as equivalent still are, given everything known in the end.
    fn holds(&self) -> bool {
        let later = (0..self.nodes.len()).filter(|at| self.nodes[*at].like.is_some());
        later.into_iter().all(|later| {
            let Some((earlier, _)) = self.nodes[later].like else { return false };
            self.like(earlier, later).is_some()
        })
    }
}
