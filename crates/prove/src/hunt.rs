//! A quick search for a schedule that exposes a finding: random legal durations, and each core and pipe slowed down in
//! turn.

use std::collections::{BTreeMap, BTreeSet};

use slipring_check::{CheckReport, StaleUses, Tools, Verdict};
use slipring_machine::{Pipe, Role};
use slipring_program::{Finding, Kind, Miss, ParamKind, Severity, SiteRef};
use slipring_sim::{Agent, Delay, LONGEST, Late, Observer, Timing, WorkRun};

use super::{Judgement, Proof, budget};
use slipring_session::exec::{LaunchExtras, launch};
use slipring_session::{Bound, Error, Execution};

use crate::counts::SLACK;
use crate::judgement::ALL;
use crate::subject::Subject;
use crate::witness::Witness;

/// How much a schedule exposes, in descending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Shows {
    /// Other bytes in a buffer, or another outcome.
    Results,
    /// Other bytes in an on-chip memory.
    OnChip,
    /// The two accesses are exchanged, with the same bytes.
    Order,
}

/// The difference between the results of two runs: the first differing byte of the first buffer, or the outcome.
pub(super) fn difference(subject: &Subject<'_>, usual: &Execution, other: &Execution) -> Option<String> {
    if other.result.findings.iter().any(budget::is_limit) {
        return None;
    }
    let error = other.result.findings.iter().find(|finding| finding.severity == Severity::Error);
    if let Some(error) =
        error.filter(|error| usual.result.findings.iter().all(|known| !known.kind.is_like(&error.kind)))
    {
        return Some(format!("`{}`: {}", error.code, error.message));
    }
    if !usual.result.complete || !other.result.complete {
        return None;
    }
    let params = subject.compiled.prepared.decoded.program.params.iter().filter(|param| param.is_passed());
    for (index, param) in params.enumerate() {
        let ParamKind::Buffer { elem, .. } = param.kind else { continue };
        let (Some(a), Some(b)) = (usual.buffer(subject.bound, index), other.buffer(subject.bound, index)) else {
            continue;
        };
        if a != b
            && let Some(at) = a.iter().zip(b).position(|(a, b)| a != b)
        {
            let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
            let element = at / elem.bytes().max(1);
            return Some(format!("{differ} bytes of `{}` differ, from element {element} on", param.name));
        }
    }
    None
}

/// The difference in on-chip memories.
fn difference_on_chip(usual: &Execution, other: &Execution) -> Option<String> {
    if !usual.result.complete || !other.result.complete {
        return None;
    }
    let (cluster, core, space, count, first) = usual.result.memory.local_difference(&other.result.memory)?;
    let whose = if cluster == 0 { String::new() } else { format!(" on cluster {cluster}") };
    let name = space.name();
    Some(format!(
        "{count} bytes of `{name}` of {core}{whose} differ when it ends, from byte {first} on; no buffer does"
    ))
}

/// A work item of a run: its agent, its index among those of the pipe in the block, its location, and its start and
/// end.
#[derive(Clone, Copy)]
struct Placed {
    /// Its index among all.
    at: usize,
    agent: Agent,
    number: u32,
    site: SiteRef,
    start: u64,
    end: u64,
}

impl Placed {
    /// Its block, and its pipe there.
    fn lane(&self) -> (u32, usize) {
        (self.agent.block, self.agent.lane())
    }
}

/// The work items of a run.
#[derive(Default)]
struct Works {
    counts: BTreeMap<(u32, usize), u32>,
    list: Vec<Placed>,
    open: BTreeMap<(u32, usize), usize>,
    inner: Vec<Inner>,
}

/// Two unordered accesses of one work item: their locations, and the indices of the steps.
#[derive(Clone, Copy)]
struct Inner {
    /// The index of the work item.
    work: usize,
    sites: (SiteRef, SiteRef),
    steps: [u32; 2],
    /// Steps that it executed.
    all: u32,
}

impl Inner {
    /// Delays the first of the two past the second, or past everything that may precede it.
    fn late(&self) -> [Late; 2] {
        [self.steps[1], self.all.max(self.steps[1])].map(|past| Late::Step { step: self.steps[0], past })
    }
}

impl Observer for Works {
    fn start(&mut self, start: u64, run: &WorkRun<'_>) {
        let lane = (run.agent.block, run.agent.lane());
        let count = self.counts.entry(lane).or_insert(0);
        *count += 1;
        let work = self.list.len();
        self.open.insert(lane, work);
        // Steps too far on to be counted are 0.
        let counted = run.access.conflicts.iter().filter(|inner| inner.steps[0] > 0 && inner.steps[0] < inner.steps[1]);
        let all = run.access.steps;
        let inner = counted.map(|inner| Inner { work, sites: (inner.earlier, inner.later), steps: inner.steps, all });
        self.inner.extend(inner);
        self.list.push(Placed { at: work, agent: run.agent, number: *count, site: run.site, start, end: u64::MAX });
    }

    fn end(&mut self, end: u64, run: &WorkRun<'_>) {
        if let Some(at) = self.open.remove(&(run.agent.block, run.agent.lane())) {
            self.list[at].end = end;
        }
    }
}

impl Works {
    /// All work items of a run with these delays.
    fn of(subject: &Subject<'_>, delays: &[Delay]) -> Works {
        watched(subject, delays)
    }

    /// The corresponding work item of another run.
    fn again(&self, own: &Placed) -> Option<&Placed> {
        self.list.iter().find(|work| work.lane() == own.lane() && work.number == own.number)
    }
}

/// An observer's state after a run with these delays.
fn watched<O: Observer + Default>(subject: &Subject<'_>, delays: &[Delay]) -> O {
    let mut seen = O::default();
    let (compiled, cancel) = (subject.compiled, subject.asked.control.cancel_token());
    let how = LaunchExtras { cancel, delays, stop_endless: true, ..LaunchExtras::default() };
    let limits = subject.budget.of_run(subject.options.limits);
    let options = slipring_session::ExecuteOptions { limits, ..subject.options };
    let run = launch(&compiled.prepared.decoded, &compiled.platform, subject.bound, options, how, &mut seen);
    subject.budget.spend(&run.result);
    seen
}

/// Maximum number of work items that are delayed, one after the other, and of later work items of the same pipe that
/// each is delayed past.
const DELAYED: usize = 48;
const OVERTAKING: usize = 4;
/// Maximum number of step pairs of one work item that are exchanged.
const INNER: usize = 32;

/// The search for a schedule in which one work item named by a finding is delayed, by the minimum that exposes
/// something.
struct OneDelay<'a> {
    subject: &'a Subject<'a>,
    quiet: &'a Tools,
    usual: &'a Execution,
    works: Works,
    /// The locations of each finding.
    pairs: Vec<(SiteRef, SiteRef)>,
    /// For uses after a free: the free, and the use.
    stale: Vec<(SiteRef, SiteRef)>,
}

impl OneDelay<'_> {
    /// What a delay exposes.
    fn shown(&self, delay: Delay) -> Result<Option<(Shows, String)>, Error> {
        let mut asked = self.subject.asked.clone();
        asked.delays = vec![delay];
        let (other, _) = self.subject.run_as(asked, self.quiet, None)?;
        if let Some(text) = difference(self.subject, self.usual, &other) {
            return Ok(Some((Shows::Results, text)));
        }
        if let Some(text) = difference_on_chip(self.usual, &other) {
            return Ok(Some((Shows::OnChip, text)));
        }
        let order = self.changes_places(delay, other.result.overtaken > 0).or_else(|| self.uses_stale(&[delay]));
        Ok(order.map(|text| (Shows::Order, text)))
    }

    /// How a tile is used after its slot was freed, if so: according to the times of a run, whatever is written to the
    /// slot.
    fn uses_stale(&self, delays: &[Delay]) -> Option<String> {
        if self.stale.is_empty() {
            return None;
        }
        let seen: StaleUses = watched(self.subject, delays);
        let late = self.stale.iter().filter_map(|(free, used)| Some((seen.of(*free, *used)?, *free, *used)));
        let (cycles, free, used) = late.max_by_key(|(cycles, ..)| *cycles)?;
        let (free, used) = (self.name(free), self.name(used));
        Some(format!(
            "{used} uses the slot until {cycles} cycles after {free} gave it back; with these contents the bytes are the same"
        ))
    }

    /// How the delayed work and the other one of a finding are exchanged, if they are.
    fn changes_places(&self, delay: Delay, overtaken: bool) -> Option<String> {
        let one = *self.works.list.iter().find(|work| delay.is_of(work.agent) && work.number == delay.work)?;
        if let Late::Step { .. } = delay.late {
            let inner = self.inner_of(&one).find(|inner| inner.late()[0] == delay.late)?;
            let (first, second) = (self.name(inner.sites.0), self.name(inner.sites.1));
            return overtaken
                .then(|| format!("{second} overtakes {first}; with these contents the bytes are the same"));
        }
        let pair = |a, b| self.pairs.contains(&(a, b)) || self.pairs.contains(&(b, a));
        let other = |work: &&Placed| match delay.late {
            Late::By(_) => work.lane() != one.lane() && work.start >= one.start,
            Late::Past(later) => work.lane() == one.lane() && work.number == later,
            Late::Step { .. } => false,
        };
        let second = *self.works.list.iter().find(|work| pair(one.site, work.site) && other(work))?;
        let swapped = match delay.late {
            Late::By(_) => {
                let late = Works::of(self.subject, &[delay]);
                late.again(&second)?.start < late.again(&one)?.end
            }
            Late::Past(_) | Late::Step { .. } => overtaken,
        };
        let (first, second) = (self.name(one.site), self.name(second.site));
        let how = if matches!(delay.late, Late::By(_)) { "starts before" } else { "overtakes" };
        let is_over = if matches!(delay.late, Late::By(_)) { " is over" } else { "" };
        swapped.then(|| format!("{second} {how} {first}{is_over}; with these contents the bytes are the same"))
    }

    /// An op and its location.
    fn name(&self, site: SiteRef) -> String {
        let program = &self.subject.compiled.prepared.decoded.program;
        let op = program.sites.get(site as usize).map_or("?", |site| &*site.op);
        let line = self.subject.line(site).map_or(String::new(), |line| format!(" (line {line})"));
        format!("`{op}`{line}")
    }

    /// The pairs of a work item's own accesses that findings name.
    fn inner_of(&self, work: &Placed) -> impl Iterator<Item = &Inner> {
        let (all, at) = (&self.works.inner, work.at);
        let own = all.partition_point(|inner| inner.work < at)..all.partition_point(|inner| inner.work <= at);
        all[own].iter().filter(|inner| self.pairs.contains(&inner.sites))
    }

    /// The delays of a work item that are tried, the largest of each kind, each with the location of the delayed
    /// access.
    fn delays(&self, work: &Placed, named: &[Placed], sites: &BTreeSet<SiteRef>) -> Vec<(Delay, SiteRef)> {
        let (role, pipe, block) = (work.agent.role, work.agent.pipe, work.agent.block);
        let delay = |late| Delay { role, pipe, work: work.number, late, block };
        let inner = self.inner_of(work).take(INNER);
        let inner = inner.flat_map(|inner| inner.late().map(|late| (delay(late), inner.sites.0)));
        if !sites.contains(&work.site) {
            return inner.collect();
        }
        let later = named.iter().filter(|other| other.lane() == work.lane() && other.number > work.number);
        let overlaps = self.subject.compiled.platform.needs_barrier(pipe);
        let past = later.filter(|_| overlaps).take(OVERTAKING).map(|other| delay(Late::Past(other.number)));
        let whole = std::iter::once(delay(Late::By(LONGEST))).chain(past).map(|delay| (delay, work.site));
        inner.chain(whole).collect()
    }

    /// The minimum of a delay that exposes as much.
    fn least(&self, delay: Delay, shows: (Shows, String)) -> Result<(Delay, String), Error> {
        let (mut less, mut enough) = match delay.late {
            Late::By(cycles) => (0, cycles),
            Late::Past(_) => return Ok((delay, shows.1)),
            Late::Step { step, past } => (u64::from(step), u64::from(past)),
        };
        let by = |amount: u64| match delay.late {
            Late::Step { step, .. } => Delay { late: Late::Step { step, past: amount as u32 }, ..delay },
            _ => Delay { late: Late::By(amount), ..delay },
        };
        let (wanted, mut text) = shows;
        while enough - less > 1 {
            let middle = less + (enough - less) / 2;
            match self.shown(by(middle))? {
                Some((shows, shown)) if shows <= wanted => (enough, text) = (middle, shown),
                _ => less = middle,
            }
        }
        Ok((by(enough), text))
    }

    fn find(&self, sites: &BTreeSet<SiteRef>) -> Result<Option<(Shows, Witness)>, Error> {
        let is_named = |work: &&Placed| sites.contains(&work.site) || self.inner_of(work).next().is_some();
        let named = self.works.list.iter().filter(is_named).take(DELAYED);
        let named: Vec<Placed> = named.copied().collect();
        let mut best: Option<(Delay, (Shows, String), SiteRef)> = None;
        'works: for work in &named {
            for (delay, late) in self.delays(work, &named, sites) {
                if self.subject.budget.check().is_err() {
                    break 'works;
                }
                self.subject.tell("schedules that delay one work");
                let Some(shows) = self.shown(delay)? else { continue };
                if best.as_ref().is_none_or(|(_, known, _)| shows.0 < known.0) {
                    let all = shows.0 == Shows::Results;
                    best = Some((delay, shows, late));
                    if all {
                        break 'works;
                    }
                }
            }
        }
        let Some((delay, shows, site)) = best else { return Ok(None) };
        let level = shows.0;
        let (delay, shows) = self.least(delay, shows)?;
        let schedule = format!("{delay}  # {}\n", self.name(site));
        Ok(Some((level, Witness { replay: "--schedule FILE".into(), schedule: Some(schedule), shows })))
    }
}

/// A schedule in which one work item named by a finding is delayed.
fn one_delay(
    subject: &Subject<'_>,
    quiet: &Tools,
    usual: &Execution,
    judged: &CheckReport,
) -> Result<Option<(Shows, Witness)>, Error> {
    let errors = || judged.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let labels = errors().flat_map(|finding| finding.primary.iter().chain(&finding.secondary));
    let sites: BTreeSet<SiteRef> = labels.map(|label| label.site).collect();
    if sites.is_empty() {
        return Ok(None);
    }
    let pair = |finding: &Finding| Some((finding.secondary.first()?.site, finding.primary.as_ref()?.site));
    let pairs = errors().filter_map(pair).collect();
    let stale = errors().filter(|finding| finding.kind == Kind::UseAfterFree).filter_map(pair).collect();
    let hunt = OneDelay { subject, quiet, usual, works: Works::of(subject, &[]), pairs, stale };
    let found = hunt.find(&sites)?;
    if found.as_ref().is_some_and(|(shows, _)| *shows < Shows::Order) {
        return Ok(found);
    }
    // If the usual schedule exposes it, no other is needed.
    match hunt.uses_stale(&[]) {
        Some(shows) => Ok(Some((Shows::Order, Witness { replay: String::new(), schedule: None, shows }))),
        None => Ok(found),
    }
}

impl Proof {
    /// The search for the failing launch: with the smallest value, or after others.
    pub(super) fn hunt_where_it_fails(
        &mut self,
        subject: &Subject<'_>,
        tools: &Tools,
        timings: u32,
    ) -> Result<(), Error> {
        let mut bound = subject.bound.to_vec();
        for (at, value) in &self.fails.arguments {
            let Some(own) = bound.get_mut(*at as usize) else { return Ok(()) };
            *own = Bound::scalar(*value);
        }
        let mut there = Subject { launches: self.fails.launch.max(1), ..subject.with(&bound) };
        let (mut usual, mut judged) = there.run(Timing::Platform, tools, None)?;
        // The number was found with longer buffers, and the given ones end before what it finds.
        let beyond = |finding: &Finding| matches!(finding.kind, Kind::OutOfBounds(Miss::BeyondBuffer(_)));
        let known = self.findings.messages().iter().any(|message| matches!(message.kind, Kind::OutOfBounds(_)));
        if !known && judged.findings.iter().any(beyond) {
            there.options.gm_slack += SLACK;
            self.fails.slack = there.options.gm_slack;
            self.scope.counts += &format!(" (with {} bytes after each buffer)", self.fails.slack);
            (usual, judged) = there.run(Timing::Platform, tools, None)?;
        }
        self.hunt(&there, tools, (&usual, &judged), timings)?;
        self.name_launch(subject);
        Ok(())
    }

    /// Names the failing launch in the witness.
    fn name_launch(&mut self, subject: &Subject<'_>) {
        let Some(witness) = &mut self.witness else { return };
        let params = &subject.compiled.prepared.decoded.program.params;
        let argument = |(at, value): &(u32, u64)| {
            let param = params.get(*at as usize)?;
            let value = match param.kind {
                ParamKind::Bool => (*value != 0).to_string(),
                ParamKind::Scalar(elem) if elem.is_signed_int() => format!("{}:{elem}", *value as i64),
                ParamKind::Scalar(elem) => format!("{value}:{elem}"),
                _ => return None,
            };
            Some(format!("--arg {}={value}", param.name))
        };
        let mut words: Vec<String> = self.fails.arguments.iter().filter_map(argument).collect();
        if self.fails.slack > 0 {
            words.push(format!("--gm-slack {}", self.fails.slack));
        }
        if self.fails.launch > 1 {
            words.push(format!("--launches {}", self.fails.launch));
        }
        words.extend((!witness.replay.is_empty()).then(|| witness.replay.clone()));
        witness.replay = words.join(" ");
    }

    /// A finding that does not depend on the schedule has every one as its witness.
    pub(super) fn everywhere(&mut self, subject: &Subject<'_>) {
        if self.judgement != Judgement::Violated || self.witness.is_some() {
            return;
        }
        let mut errors = self.findings.messages().iter().filter(|message| message.severity == Severity::Error);
        let Some(error) = errors.find(|message| !message.kind.is_of_order()) else { return };
        let schedules = if self.scope.schedules == ALL { "in every schedule" } else { "in the usual schedule" };
        let shows = format!("`{}` {schedules}", error.code);
        self.witness = Some(Witness { replay: String::new(), schedule: None, shows });
        self.name_launch(subject);
    }

    /// Searches for a schedule in which a finding changes the results or, if one run is not decisive, in which
    /// something is found.
    pub(super) fn hunt(
        &mut self,
        subject: &Subject<'_>,
        tools: &Tools,
        (usual, judged): (&Execution, &CheckReport),
        timings: u32,
    ) -> Result<(), Error> {
        let undecided = self.judgement == Judgement::NotProved;
        let slow = Role::ALL.into_iter().flat_map(|role| {
            let whole = std::iter::once(Timing::Slow { role, pipe: None });
            whole.chain(Pipe::ALL.into_iter().map(move |pipe| Timing::Slow { role, pipe: Some(pipe) }))
        });
        let cores = &subject.compiled.prepared.decoded.program.cores;
        let has = |timing: &Timing| match timing {
            Timing::Slow { role, .. } => cores.iter().any(|core| core.role == *role),
            _ => true,
        };
        let random = (1..=u64::from(timings)).map(|seed| Timing::Random { seed });
        let schedules: Vec<Timing> = if timings == 0 { Vec::new() } else { random.chain(slow.filter(has)).collect() };
        let quiet = Tools { race: false, init: false, ..tools.clone() };
        let compete = judged.tools.iter().any(|tool| matches!(tool.verdict, Verdict::NotShown { .. }));
        if timings > 0
            && !undecided
            && let Some((shows, witness)) = one_delay(subject, &quiet, usual, judged)?
        {
            self.explored.push("schedules that delay one work".into());
            self.witness = Some(witness);
            if shows == Shows::Results {
                return Ok(());
            }
        }
        for (at, timing) in schedules.iter().enumerate() {
            if subject.budget.check().is_err() {
                self.explored.push(format!("{at} schedules with the same result"));
                return Ok(());
            }
            subject.tell(format!("schedule {} of {}", at + 1, schedules.len()));
            let (other, _) = subject.run(*timing, &quiet, None)?;
            let Some(shows) = difference(subject, usual, &other) else { continue };
            self.explored.push(format!("{} schedules", at + 1));
            self.witness = Some(Witness { replay: format!("--timing {timing}"), schedule: None, shows });
            if undecided && (compete || !other.result.complete) {
                self.judgement = Judgement::Violated;
            }
            return Ok(());
        }
        if !schedules.is_empty() {
            self.explored.push(format!("{} schedules with the same result", schedules.len()));
        }
        Ok(())
    }
}
