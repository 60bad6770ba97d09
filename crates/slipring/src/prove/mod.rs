//! Proof: what holds of a kernel for all schedules, all contents of its buffers, all trip counts and launch after launch.
//!
//! The argument, condition by condition, is `docs/proof.md`. One run with every check decides all schedules where each signal has one
//! sender and one receiver; the same run decides all contents where no loaded number decides anything; a launch that leaves the
//! device as it found it decides all later ones.

mod counts;
mod family;
mod hunt;
mod text;

use std::sync::Arc;

use serde::Serialize;
use slipring_check::{CheckReport, Schedules, Tools, Values};
use slipring_program::{Inst, Operand, ParamKind};
use slipring_report::MessageFacts;
use slipring_sim::{Timing, Turns};

use crate::args::Passed;
use crate::kernel::Compiled;
use crate::run::{Seen, once};
use crate::tensor::Bound;
use crate::{Args, Error, ExecuteOptions, Execution, Kernel, Report, RunOptions, slot_buffers, to_diagnostics};

use counts::Counts;
use family::{Family, Number};
pub use hunt::Witness;

/// How a kernel is proved.
#[derive(Clone, Debug)]
pub struct ProveOptions {
    /// Blocks, limits, slack and the wish to end it; the rest of them a proof decides itself.
    pub run: RunOptions,
    /// Schedules of random durations that are tried for what a finding does to the results, or where one run does not decide.
    pub timings: u32,
}

impl Default for ProveOptions {
    /// The kernel's own number of blocks, 16 schedules.
    fn default() -> ProveOptions {
        ProveOptions { run: RunOptions::default(), timings: 16 }
    }
}

/// What is known of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Nothing that the checks look for happens, in all that the scope names.
    Proved,
    /// Something of it happens.
    Violated,
    /// Neither was shown: the reasons say what stands in the way.
    NotProved,
}

/// What a judgement covers, a line each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProofScope {
    /// Which schedules.
    pub schedules: String,
    /// Which contents of the buffers.
    pub values: String,
    /// Which trip counts and scalar arguments.
    pub counts: String,
    /// Which launches after each other.
    pub launches: String,
    /// What is taken for granted of the machine.
    pub assumes: Vec<String>,
}

/// A judgement with all that belongs to it.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Name of the kernel.
    pub kernel: String,
    /// Name of the platform.
    pub platform: String,
    /// Blocks of the launch.
    pub blocks: u32,
    /// What is known.
    pub judgement: Judgement,
    /// What that covers.
    pub scope: ProofScope,
    /// Why it is not proved; empty otherwise.
    pub reasons: Vec<String>,
    /// What was run.
    pub explored: Vec<String>,
    /// A schedule that shows something.
    pub witness: Option<Witness>,
    /// What was found.
    pub findings: Report,
}

/// The same as JSON.
#[derive(Serialize)]
struct ProofFacts<'a> {
    kernel: &'a str,
    platform: &'a str,
    blocks: u32,
    verdict: Judgement,
    scope: &'a ProofScope,
    reasons: &'a [String],
    explored: &'a [String],
    witness: Option<&'a Witness>,
    findings: Vec<MessageFacts>,
}

impl Serialize for Proof {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        ProofFacts {
            kernel: &self.kernel,
            platform: &self.platform,
            blocks: self.blocks,
            verdict: self.judgement,
            scope: &self.scope,
            reasons: &self.reasons,
            explored: &self.explored,
            witness: self.witness.as_ref(),
            findings: self.findings.facts(),
        }
        .serialize(to)
    }
}

/// A kernel, its arguments, and how they are run.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub compiled: &'a Arc<Compiled>,
    pub bound: &'a [Bound<'a>],
    pub options: ExecuteOptions,
    pub asked: RunOptions,
}

impl Subject<'_> {
    /// Runs it with these tools.
    ///
    /// # Errors
    /// If that is cancelled.
    pub fn run(
        &self,
        timing: Timing,
        tools: &Tools,
        earlier: Option<&Execution>,
    ) -> Result<(Execution, CheckReport), Error> {
        self.run_as(RunOptions { timing, ..self.asked.clone() }, tools, earlier)
    }

    /// The same with options of its own.
    ///
    /// # Errors
    /// If that is cancelled.
    pub fn run_as(
        &self,
        asked: RunOptions,
        tools: &Tools,
        earlier: Option<&Execution>,
    ) -> Result<(Execution, CheckReport), Error> {
        let (execution, Seen { .. }, judged) = once(self.compiled, self.bound, &self.options, &asked, tools, earlier);
        if execution.result.findings.iter().any(|finding| finding.code == "cancelled") {
            return Err(Error::Cancelled);
        }
        Ok((execution, judged))
    }

    /// The line of the text that a place is in.
    pub fn line(&self, site: u32) -> Option<usize> {
        let prepared = &self.compiled.prepared;
        let span = prepared.decoded.program.sites.get(site as usize)?.span;
        (span.1 > span.0).then(|| prepared.written.source.line_column(span.0).0)
    }
}

/// How a scope that covers all schedules says so.
const ALL: &str = "all";

/// A loop of the text of so many rounds is not run as it stands, where shorter ones show the same.
const LONG: i64 = 1024;

/// How a scope says that launches leave nothing.
const NOTHING_LEFT: &str = "any number: each leaves the signals as it found them";

/// That a number is the smallest with a finding.
fn smallest_text(name: &str, value: u64) -> String {
    let clean = match value {
        0 => String::new(),
        1 => "; 0 is clean".into(),
        value => format!("; 0 to {} are clean", value - 1),
    };
    format!("{name} = {value} is the smallest that fails{clean}")
}

/// Scalar parameters that decide something.
fn deciding(subject: &Subject<'_>) -> Vec<u32> {
    let program = &subject.compiled.prepared.decoded.program;
    let bits = program.decisions().iter().fold(0, |all, decision| all | decision.causes.params);
    (0..program.params.len() as u32).filter(|at| bits >> at.min(&63) & 1 != 0).collect()
}

/// Most launches after each other until the signals that are left come back.
const LAUNCHES: usize = 64;

impl Kernel {
    /// Proves what can be proved of the kernel on these arguments.
    ///
    /// # Errors
    /// If it has errors, the arguments do not fit, or the run is cancelled. What is wrong with the kernel is a judgement.
    pub fn prove<'a>(&self, args: impl Into<Args<'a>>, options: &ProveOptions) -> Result<Proof, Error> {
        let bound = self.bind(args.into())?;
        let blocks = self.blocks(&options.run)?;
        prove(self.compiled()?, &bound, blocks, options)
    }
}

fn prove(compiled: &Arc<Compiled>, bound: &[Bound<'_>], blocks: u32, asked: &ProveOptions) -> Result<Proof, Error> {
    let (prepared, platform) = (&compiled.prepared, &compiled.platform);
    let asked_run = RunOptions { trace: false, events: 0, record: false, time_only: false, ..asked.run.clone() };
    let options =
        ExecuteOptions { blocks, mode: Turns::Pipes, gm_slack: asked.run.gm_slack as usize, limits: asked.run.limits };
    let subject = Subject { compiled, bound, options, asked: asked_run };
    let tools = Tools { race: true, init: true, scratch: slot_buffers(prepared, bound) };
    let mut proof = Proof {
        kernel: prepared.decoded.program.name.clone(),
        platform: platform.name.clone(),
        blocks,
        judgement: Judgement::Proved,
        scope: ProofScope::default(),
        reasons: Vec::new(),
        explored: Vec::new(),
        witness: None,
        findings: Report::new(prepared.written.source.clone(), Vec::new()),
    };
    if proof.bounds(&subject, &tools)? {
        return Ok(proof);
    }
    let (execution, judged) = subject.run(Timing::Platform, &tools, None)?;
    proof.explored.push("1 run with all checks".into());
    proof.found(&subject, &judged);
    proof.judge(&subject, &judged);
    if proof.judgement == Judgement::Proved {
        proof.launches(&subject, &tools, execution, &judged)?;
        proof.arguments(&subject, &tools)?;
    } else {
        proof.scope.launches = "the first one".into();
        if proof.judgement == Judgement::Violated {
            proof.smallest(&subject, &tools)?;
        }
        if proof.judgement == Judgement::Violated || proof.scope.schedules != ALL {
            proof.hunt(&subject, &tools, &execution, &judged, asked.timings)?;
        }
    }
    if proof.judgement == Judgement::Violated {
        proof.reasons.clear();
    }
    Ok(proof)
}

impl Proof {
    /// Takes over what a run found.
    fn found(&mut self, subject: &Subject<'_>, judged: &CheckReport) {
        let prepared = &subject.compiled.prepared;
        let messages = to_diagnostics(&judged.findings, &prepared.decoded.program);
        self.findings = Report::new(prepared.written.source.clone(), messages);
    }

    /// Proves a kernel with a long loop of its text by launches with shorter ones; false if that does not succeed.
    fn bounds(&mut self, subject: &Subject<'_>, tools: &Tools) -> Result<bool, Error> {
        let program = &subject.compiled.prepared.decoded.program;
        let bound = |inst: &Inst| match inst {
            Inst::JumpIfGe { b: Operand::Imm(bound), .. } if *bound as i64 >= LONG => Some(*bound),
            _ => None,
        };
        let Some(bound) = program.cores.iter().flat_map(|core| &core.insts).filter_map(bound).max() else {
            return Ok(false);
        };
        if !deciding(subject).is_empty() || self.blocks > subject.compiled.platform.clusters {
            return Ok(false);
        }
        let mut family = Family::new(subject, Number::Bound(bound));
        let Counts::All { tried, period, family } = counts::all(&mut family, tools)? else { return Ok(false) };
        let sizes: Vec<u64> = subject.bound.iter().filter_map(Passed::contents).map(|data| data.len() as u64).collect();
        let Some(member) = family.of(bound, period) else { return Ok(false) };
        if !family.leaves_nothing() || !family.stays_inside(bound, period, &sizes) {
            return Ok(false);
        }
        self.found(subject, &member.judged);
        self.judge(subject, &member.judged);
        self.assume(family.assumes());
        self.explored.push(format!("{} shorter loops with all checks", tried + 1));
        self.scope.counts =
            format!("{bound} of the text: 0 to {tried} rounds were run, and each {period} more do what was seen");
        self.scope.launches = NOTHING_LEFT.into();
        Ok(true)
    }

    /// Looks for the smallest argument for which something is found.
    fn smallest(&mut self, subject: &Subject<'_>, tools: &Tools) -> Result<(), Error> {
        let [at] = deciding(subject)[..] else { return Ok(()) };
        let param = &subject.compiled.prepared.decoded.program.params[at as usize];
        let given = subject.bound.get(at as usize).and_then(Passed::bits).unwrap_or(0);
        if !matches!(param.kind, ParamKind::Scalar(elem) if !elem.is_float()) || given as i64 <= 0 {
            return Ok(());
        }
        let mut family = Family::new(subject, Number::Param(at));
        if let Counts::Fails(value, member) = counts::as_many_as_fit(&mut family, tools, given)? {
            self.scope.counts = smallest_text(&param.name, value);
            self.found(subject, &member.judged);
        }
        Ok(())
    }

    /// What one run with all checks says.
    fn judge(&mut self, subject: &Subject<'_>, judged: &CheckReport) {
        let scope = &judged.scope;
        let unsupported = self.findings.is_unsupported();
        if unsupported {
            self.reason("it cannot be run".into());
        } else if self.findings.errors() > 0 {
            self.judgement = Judgement::Violated;
        }
        self.scope.schedules = match &scope.schedules {
            Schedules::All => ALL.into(),
            Schedules::ThisOne { reasons } => {
                reasons.iter().for_each(|reason| self.reason(reason.clone()));
                "the one that was run".into()
            }
        };
        self.scope.values = match &scope.values {
            Values::AnyContents => "any contents of the buffers".into(),
            Values::TheseInputs { because } => {
                because.iter().for_each(|because| self.reason(text::decided(because, |site| subject.line(site))));
                "these inputs".into()
            }
        };
        self.scope.counts = match scope.arguments.as_slice() {
            [] => "those of the text: no argument decides one".into(),
            arguments => format!("those for {}", arguments.join(", ")),
        };
        self.scope.assumes.clone_from(&scope.assumes);
    }

    /// Other values of the arguments that decide something.
    fn arguments(&mut self, subject: &Subject<'_>, tools: &Tools) -> Result<(), Error> {
        let program = &subject.compiled.prepared.decoded.program;
        let deciding = deciding(subject);
        let waves = self.blocks > subject.compiled.platform.clusters;
        let mut lines = Vec::new();
        for at in &deciding {
            let param = &program.params[*at as usize];
            let name = &param.name;
            let other = format!("{name} may decide otherwise with another value");
            if self.judgement == Judgement::Violated {
                return Ok(());
            }
            match param.kind {
                ParamKind::Scalar(elem) if !elem.is_float() && !waves => {}
                _ => {
                    self.reason(other);
                    continue;
                }
            }
            let mut family = Family::new(subject, Number::Param(*at));
            let mut counts = counts::all(&mut family, tools)?;
            if let Counts::Open(_) = counts
                && let fit @ (Counts::UpTo(..) | Counts::Fails(..)) =
                    counts::as_many_as_fit(&mut family, tools, counts::MOST)?
            {
                counts = fit;
            }
            match counts {
                Counts::All { tried, period, family } => {
                    self.assume(family.assumes());
                    if !family.leaves_nothing() {
                        self.scope.launches = format!("{}; with this {name}", self.scope.launches);
                    }
                    self.explored.push(format!("{} values of {name}", tried + 1));
                    lines.push(format!(
                        "every {name} from 0 on, while numbers fit their types and buffers are large enough: 0 to {tried} were \
                         run, and each {period} more do what was seen"
                    ));
                }
                Counts::UpTo(last, assumes) => {
                    self.assume(assumes);
                    self.explored.push(format!("{} values of {name}", last + 1));
                    lines.push(format!("{name} from 0 to {last}, each of which was run: more than the buffers hold"));
                }
                Counts::Fails(value, member) => {
                    self.judgement = Judgement::Violated;
                    lines = vec![smallest_text(name, value)];
                    self.found(subject, &member.judged);
                }
                Counts::Open(why) => {
                    self.reason(format!("{other}: {why}"));
                }
            }
        }
        if deciding.len() > 1 && self.judgement == Judgement::Proved {
            self.reason(format!("{} arguments decide something, and each was varied alone", deciding.len()));
        }
        if !lines.is_empty() {
            self.scope.counts = lines.join("; ");
        }
        Ok(())
    }

    /// Adds what is taken for granted for other counts.
    fn assume(&mut self, assumes: Vec<String>) {
        let known = self.scope.assumes.clone();
        self.scope.assumes.extend(assumes.into_iter().filter(|assumption| !known.contains(assumption)));
    }

    /// Notes what stands in the way of a proof.
    fn reason(&mut self, reason: String) {
        if self.judgement == Judgement::Proved {
            self.judgement = Judgement::NotProved;
        }
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Launches again until the signals that are left are those of an earlier launch: from then on nothing is new.
    fn launches(
        &mut self,
        subject: &Subject<'_>,
        tools: &Tools,
        first: Execution,
        judged: &CheckReport,
    ) -> Result<(), Error> {
        let count = first.result.counters.len();
        let mut left = vec![vec![0; count], first.result.counters.clone()];
        let mut before = first;
        while !left[..left.len() - 1].contains(&left[left.len() - 1]) {
            if left.len() > LAUNCHES {
                self.scope.launches = format!("the first {LAUNCHES}");
                self.reason(format!("each of {LAUNCHES} launches leaves other signals than those before it"));
                return Ok(());
            }
            let (execution, next) = subject.run(Timing::Platform, tools, Some(&before))?;
            let number = left.len();
            if next.findings.iter().any(|finding| finding.severity == slipring_program::Severity::Error) {
                self.scope.launches = format!("launch {number}, each on the device as the one before has left it");
                self.judgement = Judgement::Violated;
                let program = &subject.compiled.prepared.decoded.program;
                self.findings = Report::new(self.findings.source_shared(), to_diagnostics(&next.findings, program));
                return Ok(());
            }
            if next.scope != judged.scope {
                self.reason(format!("launch {number} is decided otherwise: {}", next.scope));
            }
            left.push(execution.result.counters.clone());
            before = execution;
        }
        let runs = left.len() - 1;
        if runs > 1 {
            self.explored.push(format!("{runs} launches after each other"));
        }
        self.scope.launches = match left[left.len() - 1].iter().all(|count| *count == 0) {
            true => NOTHING_LEFT.into(),
            false => format!("any number: launch {runs} leaves the signals as an earlier one did"),
        };
        Ok(())
    }
}
