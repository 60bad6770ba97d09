//! What was checked, what was found, and what the verdict covers.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use slipring_machine::interpretations::SCALAR_CACHE;
use slipring_machine::{Pipe, Question};
use slipring_program::{Choice, Decision, Finding, Kind, Memory, ParamKind, RingDecl, Severity, SiteRef, Unwritten};
use slipring_sim::{
    Again, Agent, ArgValue, CutPoint, ExecutionMode, Issued, Launch, Observer, RunResult, Standing, WorkRun,
};

use crate::alike::Equivalence;
use crate::places::Names;
use crate::queues::Queues;
use crate::rounds::Rounds;
use crate::scalar::ScalarMemory;
use crate::{Init, Race};

/// The observing tools that run. The engine's own two, *memory* and *sync*, always do.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Unordered conflicting accesses.
    pub race: bool,
    /// Reads of unwritten bytes.
    pub init: bool,
    /// Initially uninitialised buffers in global memory that are not results: see [`Init::scratch`].
    pub scratch: Vec<usize>,
    /// Initially uninitialised bytes of results: see [`Init::unwritten`].
    pub unwritten: Vec<Unwritten>,
    /// Bytes of results that a run must write: see [`Init::left_out`].
    pub results: Vec<Unwritten>,
}

impl Default for Tools {
    /// All tools; every buffer is initialised.
    fn default() -> Tools {
        Tools { race: true, init: true, scratch: Vec::new(), unwritten: Vec::new(), results: Vec::new() }
    }
}

/// All tools as one observer.
#[derive(Debug)]
pub struct Checker {
    /// Signals only, if races are not checked.
    race: Race,
    races: bool,
    init: Option<Init>,
    /// Decisions that depend on loaded data or scalar arguments, with the name of the op.
    decisions: Vec<(Decision, String)>,
    /// The op at each location.
    ops: Vec<Arc<str>>,
    /// Scalar arguments with their values.
    arguments: Vec<String>,
    /// The origins of compared data.
    alike: Equivalence,
    /// The arguments that share a memory.
    shared: Vec<String>,
    queues: Queues,
    scalar: ScalarMemory,
    sequential: bool,
    /// Deviations of the rings from the platform's tile library.
    against_library: Vec<&'static str>,
    /// Recorded if requested.
    rounds: Option<Rounds>,
}

/// The result of a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It observed the whole run.
    Checked {
        /// Number of errors found,
        findings: usize,
        /// and of warnings.
        warnings: usize,
    },
    /// It observed a run that stopped before its end.
    Partly {
        /// Number of errors found.
        findings: usize,
        /// The finding that stopped the run: its code.
        reason: String,
    },
    /// It observed the whole run, but another schedule may give a different result.
    NotShown {
        /// Number of errors found.
        findings: usize,
        /// Why the run does not cover the others.
        reason: String,
    },
    /// It did not observe the run.
    NotChecked {
        /// Why.
        reason: String,
    },
}

/// A tool and its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolVerdict {
    /// `memory`, `sync`, `race` or `init`.
    pub tool: &'static str,
    #[allow(missing_docs)]
    pub verdict: Verdict,
}

/// The schedules covered by the verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schedules {
    /// All, whatever the durations of cores and pipes.
    All,
    /// Only the one that was run.
    ThisOne {
        /// At least one reason.
        reasons: Vec<String>,
    },
}

/// The data covered by the verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    /// Any contents of the buffers: no access, no branch, no signal and no finding depends on them.
    AnyContents,
    /// These inputs only: loaded data decide something.
    TheseInputs {
        /// The decisions, in order of location.
        because: Vec<Because>,
    },
}

/// A location where loaded data decide something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Because {
    /// The location.
    pub site: SiteRef,
    /// The op's name.
    pub op: String,
    /// The kind of decision.
    pub choice: Choice,
}

/// The scope of the verdict, always for the given number of blocks and buffer sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    /// The schedules.
    pub schedules: Schedules,
    /// The data.
    pub values: Values,
    /// Scalar arguments that decide an access, a branch or a signal, with their values: `n = 20`.
    pub arguments: Vec<String>,
    /// Arguments that share a memory: `` `x` and `out` in one memory ``. All others have separate ones.
    pub shared: Vec<String>,
    /// Assumptions about the machine on which the verdict depends.
    pub assumes: Vec<String>,
    /// Undecided questions on which the verdict depends: it is clean assuming all of this.
    pub clean_if: Vec<String>,
}

/// The verdict on a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckReport {
    /// The tools in the order memory, sync, race, init.
    pub tools: Vec<ToolVerdict>,
    /// The scope of the verdict.
    pub scope: Scope,
    /// The engine's findings, then races, then uninitialised reads.
    pub findings: Vec<Finding>,
    /// Questions that no source decides and that the run depends on, with the platform's answers. The alternative
    /// answer may give the same verdict.
    pub questions: Vec<&'static Question>,
    /// Questions whose alternative answer was checked in the same run, each with the first error that it adds, if any.
    pub otherwise: Vec<(&'static Question, Option<Finding>)>,
}

impl Checker {
    /// A fresh checker.
    pub fn new(tools: Tools) -> Checker {
        let init = tools.scratch.iter().fold(Init::new(), |init, buffer| init.scratch(*buffer));
        let init = tools.unwritten.iter().fold(init, |init, bytes| init.unwritten(*bytes));
        let init = tools.results.iter().fold(init, |init, bytes| init.result(*bytes));
        Checker {
            race: if tools.race { Race::new() } else { Race::of_signals() },
            races: tools.race,
            init: tools.init.then_some(init),
            decisions: Vec::new(),
            ops: Vec::new(),
            arguments: Vec::new(),
            shared: Vec::new(),
            scalar: ScalarMemory::default(),
            alike: Equivalence::default(),
            queues: Queues::default(),
            sequential: false,
            against_library: Vec::new(),
            rounds: None,
        }
    }

    /// Also computes the results under alternative answers of questions that the run may depend on, where one run
    /// suffices: [`CheckReport::otherwise`].
    pub fn with_otherwise(self) -> Checker {
        Checker { race: self.race.with_otherwise(), ..self }
    }

    /// Declares buffers as not being results: uninitialised bytes may be stored there.
    pub fn leave_out(&mut self, buffers: &[usize]) {
        if let Some(init) = &mut self.init {
            init.leave_out(buffers);
        }
    }

    /// Also records the state at cut points.
    pub fn keeping_rounds(self) -> Checker {
        Checker { rounds: Some(Rounds::default()), ..self }
    }

    /// Also records the state at each cut point from a given one on.
    pub fn keeping_states(self, from: usize) -> Checker {
        Checker { race: self.race.with_blind(), rounds: Some(Rounds::keeping(from)), ..self }
    }

    /// Declares buffers of global memory whose signals others change, too: true for those.
    pub fn with_outside(self, buffers: Vec<bool>) -> Checker {
        Checker { race: self.race.with_outside(buffers), ..self }
    }

    /// The recorded data.
    pub fn rounds(&self) -> Option<&Rounds> {
        self.rounds.as_ref()
    }

    /// Buffers whose accesses would be unordered if all of them touched the same byte, if states are recorded.
    pub fn racing_anywhere(&self) -> std::collections::BTreeSet<usize> {
        self.race.racing_anywhere()
    }

    fn op(&self, site: SiteRef) -> String {
        self.ops.get(site as usize).map_or_else(String::new, ToString::to_string)
    }

    /// The verdict, once the run is over.
    pub fn report(&self, result: &RunResult) -> CheckReport {
        let engine = &result.findings;
        let count =
            |findings: &[Finding], severity: Severity| findings.iter().filter(|f| f.severity == severity).count();
        let errors = |findings: &[Finding]| count(findings, Severity::Error);
        let stop = (!result.complete).then(|| engine.first().map_or("stopped", |f| f.code).to_string());
        let verdict = |found: &[Finding]| match (errors(found), &stop) {
            (findings, None) => Verdict::Checked { findings, warnings: count(found, Severity::Warning) },
            (findings, Some(reason)) => Verdict::Partly { findings, reason: reason.clone() },
        };
        let observed = |findings: Option<&[Finding]>| match findings {
            None => Verdict::NotChecked { reason: "not asked for".into() },
            Some(_) if self.sequential => {
                Verdict::NotChecked { reason: "the operations were run one after another, without pipes".into() }
            }
            Some(findings) => verdict(findings),
        };
        let watched = self.race.findings();
        let sync = engine.iter().chain(watched).filter(|f| f.kind.is_of_sync());
        let sync = match verdict(&sync.cloned().collect::<Vec<_>>()) {
            Verdict::Checked { findings, .. } if self.race.signals_compete() => {
                Verdict::NotShown { findings, reason: "see the scope".into() }
            }
            verdict => verdict,
        };
        let between = watched.iter().filter(|f| !f.kind.is_of_sync()).cloned();
        let between: Vec<_> = between.chain(self.scalar.findings()).collect();
        let between = self.races.then_some(between);
        let unwritten = self.init.as_ref().map(|init| {
            let mut found = init.findings(&result.memory);
            // One cause is reported once: data that was read without being written is missing in the results as well.
            if result.complete && found.is_empty() {
                found = init.left_out(&result.memory);
            }
            found
        });
        let of_memory = |f: &&Finding| matches!(f.kind, Kind::OutOfBounds(_));
        let tools = vec![
            ToolVerdict {
                tool: "memory",
                verdict: verdict(&engine.iter().filter(of_memory).cloned().collect::<Vec<_>>()),
            },
            ToolVerdict { tool: "sync", verdict: sync },
            ToolVerdict { tool: "race", verdict: observed(between.as_deref()) },
            ToolVerdict { tool: "init", verdict: observed(unwritten.as_deref()) },
        ];
        let mut findings = engine.clone();
        findings.extend(watched.iter().chain(unwritten.as_deref().into_iter().flatten()).cloned());
        findings.extend(self.scalar.findings());
        let mut scope = self.scope(result);
        if self.queues.most() > 1 && errors(&findings) == 0 && result.complete {
            scope.clean_if.push(format!("issue queues hold {} steps", self.queues.most()));
        }
        let mut questions = self.race.questions().to_vec();
        questions.extend(self.scalar.leans().then_some(&SCALAR_CACHE));
        let otherwise = self.race.otherwise().map(|(question, found)| (question, found.cloned()));
        CheckReport { tools, scope, findings, questions, otherwise: otherwise.into_iter().collect() }
    }

    fn scope(&self, result: &RunResult) -> Scope {
        let mut reasons = Vec::new();
        if self.sequential {
            reasons.push("the operations were run one after another, without pipes".to_string());
        } else {
            if !self.races {
                reasons.push("races were not checked".to_string());
            }
            let is_race = |f: &Finding| matches!(f.kind, Kind::Race(_)) && f.severity == Severity::Error;
            if self.race.findings().iter().any(is_race) {
                reasons.push("there are races: the values read depend on the schedule".into());
            }
            reasons.extend(self.race.doubts().iter().cloned());
        }
        // Other stops happen in every schedule: the steps before them are the same.
        for (kind, reason) in
            [(Kind::StepLimit, "the run was abandoned"), (Kind::FlagOverflow, "a signal overflowed it")]
        {
            if result.findings.iter().any(|f| f.kind == kind) {
                reasons.push(reason.into());
            }
        }
        let schedules = if reasons.is_empty() { Schedules::All } else { Schedules::ThisOne { reasons } };
        let by_data = self.decisions.iter().filter(|(decision, _)| {
            decision.causes.data && !(decision.choice == Choice::Fault && self.alike.holds(decision.site))
        });
        let mut because: Vec<Because> = by_data
            .map(|(decision, op)| Because { site: decision.site, op: op.clone(), choice: decision.choice })
            .collect();
        // Facts about values that are known only after the run.
        let doubts = self.init.as_ref().map_or_else(BTreeSet::new, |init| init.doubts(&result.memory));
        because.extend(doubts.into_iter().map(|(site, choice)| Because { site, op: self.op(site), choice }));
        because.sort_by_key(|because| (because.site, because.choice));
        because.dedup();
        let values = if because.is_empty() { Values::AnyContents } else { Values::TheseInputs { because } };
        let leans = self.race.leans_on_pipes().then(|| "each pipe executes its operations in order".to_string());
        let mut assumes: Vec<String> = leans.into_iter().collect();
        assumes.extend(self.against_library.iter().map(ToString::to_string));
        let (arguments, shared) = (self.arguments.clone(), self.shared.clone());
        Scope { schedules, values, arguments, shared, assumes, clean_if: Vec::new() }
    }
}

impl CheckReport {
    /// The first location where buffer contents decided the findings about unwritten bytes, or whether there was a
    /// fault, which no analysis of the program could show.
    pub fn doubt(&self) -> Option<&Because> {
        match &self.scope.values {
            Values::AnyContents => None,
            Values::TheseInputs { because } => {
                because.iter().find(|because| matches!(because.choice, Choice::Unwritten | Choice::Fault))
            }
        }
    }

    /// Warnings about unwritten bytes in the results, or in what is printed.
    pub fn unwritten(&self) -> impl Iterator<Item = &Finding> {
        let own = |finding: &&Finding| finding.kind.is_of_init();
        self.findings.iter().filter(own).filter(|finding| finding.severity == Severity::Warning)
    }

    /// Turns warnings about unwritten results into errors.
    pub fn make_strict(&mut self) {
        let mut more = 0;
        for finding in self.findings.iter_mut().filter(|f| f.kind.is_of_init() && f.severity == Severity::Warning) {
            more += usize::from(finding.severity < Severity::Error);
            finding.severity = Severity::Error;
        }
        let init = self.tools.iter_mut().filter(|tool| tool.tool == "init");
        for tool in init {
            match &mut tool.verdict {
                Verdict::Checked { findings, warnings } => {
                    (*findings, *warnings) = (*findings + more, *warnings - more)
                }
                Verdict::Partly { findings, .. } => *findings += more,
                _ => {}
            }
        }
    }

    /// True if no finding is an error and no tool was stopped or saw only this schedule.
    pub fn is_free(&self) -> bool {
        let free = |tool: &ToolVerdict| matches!(tool.verdict, Verdict::Checked { .. } | Verdict::NotChecked { .. });
        self.tools.iter().all(free) && self.findings.iter().all(|f| f.severity < Severity::Error)
    }

    /// True if every tool observed the whole run and no finding is an error.
    pub fn is_clean(&self) -> bool {
        let whole = |tool: &ToolVerdict| matches!(tool.verdict, Verdict::Checked { .. });
        self.tools.iter().all(whole) && self.findings.iter().all(|f| f.severity < Severity::Error)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Checked { findings: 0, warnings: 1.. } => f.write_str("checked, warnings only"),
            Verdict::Checked { findings, .. } => write!(f, "checked, {}", found(*findings)),
            Verdict::Partly { findings, reason } => {
                write!(f, "checked until the stop ({reason}), {}", found(*findings))
            }
            Verdict::NotShown { findings, reason } => {
                write!(f, "checked for this schedule only ({reason}), {}", found(*findings))
            }
            Verdict::NotChecked { reason } => write!(f, "not checked ({reason})"),
        }
    }
}

fn found(findings: usize) -> String {
    match findings {
        0 => "no findings".into(),
        1 => "1 finding".into(),
        n => format!("{n} findings"),
    }
}

impl Scope {
    fn conditions(&self) -> String {
        match self.clean_if.is_empty() {
            true => String::new(),
            false => format!("; clean if {}", self.clean_if.join(", and if ")),
        }
    }

    /// As text; `line` maps a location to its source line.
    pub fn describe<L: fmt::Display>(&self, line: impl Fn(SiteRef) -> Option<L>) -> String {
        if let Schedules::ThisOne { reasons } = &self.schedules {
            return format!("this schedule only ({}){}", reasons.join("; "), self.conditions());
        }
        let mut text = "all schedules, ".to_string();
        match &self.values {
            Values::AnyContents => text += "any contents of the buffers",
            Values::TheseInputs { because } => {
                text += "these inputs";
                if let Some(first) = because.first() {
                    let at = line(first.site).map_or(String::new(), |line| format!(" (line {line})"));
                    let op = &first.op;
                    text += &format!(": loaded data decide {}", first.choice.describe(op, &at));
                }
                let mut places: Vec<SiteRef> = because.iter().map(|because| because.site).collect();
                places.sort_unstable();
                places.dedup();
                if places.len() > 1 {
                    text += &format!(", and {} more", places.len() - 1);
                }
            }
        }
        if !self.arguments.is_empty() {
            text += &format!("; for {}", self.arguments.join(", "));
        }
        if !self.shared.is_empty() {
            text += &format!("; with {}", self.shared.join(", "));
        }
        if !self.assumes.is_empty() {
            text += &format!("; given that {}", self.assumes.join(", that "));
        }
        text += &self.conditions();
        text
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|_| None::<u32>))
    }
}

/// An assumption about rings, where the platform's tile library behaves differently.
const UNDIVIDED: &str = "undivided tiles reach both Vector cores (`--interpretation undivided-to-first`)";
const FROM_ROWS: &str = "rows become blocks on their way into L1 (`--interpretation rows-to-l1`)";

/// The scalar arguments that decide something, with their values.
fn arguments(launch: &Launch<'_>, decisions: &[(Decision, String)]) -> Vec<String> {
    let deciding = decisions.iter().fold(0, |all, (decision, _)| all | decision.causes.params);
    let params = launch.program.params.iter().zip(&launch.args).enumerate();
    let named = params.filter(|(at, _)| deciding >> (*at).min(63) & 1 != 0);
    named
        .filter_map(|(_, (param, arg))| match (arg, param.kind) {
            (ArgValue::Scalar(value), ParamKind::Scalar(elem)) if !elem.is_float() => {
                Some(format!("{} = {}", param.name, *value as i64))
            }
            (ArgValue::Scalar(_), ParamKind::Scalar(_)) => Some(format!("this {}", param.name)),
            (ArgValue::Scalar(value), _) => Some(format!("{} = {}", param.name, *value != 0)),
            _ => None,
        })
        .collect()
}

impl Observer for Checker {
    fn begin(&mut self, launch: &Launch<'_>) {
        self.sequential = launch.mode == ExecutionMode::Sequential;
        self.ops = launch.program.sites.iter().map(|site| site.op.clone()).collect();
        let decisions = launch.program.decisions().into_iter();
        self.decisions = decisions.map(|decision| (decision, self.op(decision.site))).collect();
        self.arguments = arguments(launch, &self.decisions);
        self.shared = Names::new(launch).shared();
        self.scalar = ScalarMemory::new(launch.platform);
        let some = |does: fn(&RingDecl) -> bool| launch.program.rings.iter().any(does);
        let undivided = some(|ring| ring.undivided).then_some(UNDIVIDED);
        self.against_library = undivided.into_iter().chain(some(|ring| ring.from_rows).then_some(FROM_ROWS)).collect();
        (self.queues, self.alike) = (Queues::new(launch), Equivalence::new(launch));
        self.race.begin(launch);
        self.init.begin(launch);
    }

    fn arm(&mut self, memory: &mut Memory) {
        self.race.arm(memory);
        self.init.arm(memory);
    }

    fn block_start(&mut self, at: u64, block: u32, cluster: u32) {
        self.race.block_start(at, block, cluster);
        self.queues.restart(cluster);
        self.alike.restart(cluster);
    }

    fn issue(&mut self, at: u64, to: Agent, step: Issued, site: u32) {
        self.race.issue(at, to, step, site);
        if !self.sequential {
            self.queues.issue(to, step);
        }
    }

    fn hold(&mut self, to: Agent, sync: u32, later: &[(Pipe, u32)]) {
        self.race.hold(to, sync, later);
    }

    fn start(&mut self, at: u64, run: &WorkRun<'_>) {
        self.race.start(at, run);
        if run.access.signal.is_none() {
            self.scalar.start(run);
        }
        if let Some(rounds) = &mut self.rounds {
            rounds.start(run);
        }
    }

    fn end(&mut self, _: u64, run: &WorkRun<'_>) {
        self.alike.end(run);
    }

    fn meet(&mut self, _: u64, meeting: &CutPoint<'_>) {
        if let Some(rounds) = &mut self.rounds {
            rounds.meet(meeting, || self.race.marking(meeting, &self.queues));
        }
    }

    fn set(&mut self, at: u64, agent: Agent, sync: u32, lost: bool, site: u32) {
        self.race.set(at, agent, sync, lost, site);
        if agent.pipe == Pipe::S && !self.sequential {
            self.queues.set(agent, sync);
        }
    }

    fn wait(&mut self, at: u64, agent: Agent, sync: u32, site: u32) {
        self.race.wait(at, agent, sync, site);
    }

    fn awaited(&mut self, at: u64, agent: Agent, site: u32) {
        self.race.awaited(at, agent, site);
    }

    fn barrier(&mut self, at: u64, agent: Agent, site: u32) {
        self.race.barrier(at, agent, site);
    }

    fn stand(&mut self, standing: &mut Standing) -> bool {
        standing.same.push(self.queues.most());
        self.rounds.is_none()
            && self.alike.is_idle()
            && self.scalar.is_idle()
            && self.race.stand(&self.queues, standing)
    }

    fn repeat(&mut self, again: &mut Again<'_>) {
        self.race.repeat(again);
    }
}
