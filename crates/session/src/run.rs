//! A run and its outcome.

use std::fmt;
use std::sync::Arc;

use slipring_check::{CheckReport, Checker, Tools};
use slipring_ir::text::nearest;
use slipring_ir::{Diagnostic, Diags, Kind};
use slipring_machine::Backing;
use slipring_op::function::is_recorded;
use slipring_program::{Finding, ParamKind, Severity};
use slipring_report::{CheckFacts, CheckStatus, Record, Recorder, RingTrace, RunFacts, checks_text};
use slipring_sim::{Delay, ExecutionMode, Suppose, Timing, Unused};

use crate::answers::{RECORDED, clean_if, first_error, not_clean, tried_only};
use crate::assume::{Assumed, as_numbers};
use crate::compiled::Compiled;
use crate::exec::{LaunchExtras, launch, launch_kept, launch_on};
use crate::options::timing_fits;
use crate::places::{beginning, results};
use crate::tensor::{Bound, numbers};
use crate::timeline::Collect;
use crate::verify::verify_with;
use crate::words::in_words;
use crate::{Control, Element, Error, ExecuteOptions, Execution, Report, RunOptions, Timeline, VerifyOutcome, facts};

/// A run, with the resulting contents of the kernel's buffers.
#[derive(Debug)]
pub struct Run<'a> {
    /// The kernel.
    #[doc(hidden)]
    pub compiled: Arc<Compiled>,
    /// Its arguments.
    #[doc(hidden)]
    pub bound: Vec<Bound<'a>>,
    /// The options of the launch.
    #[doc(hidden)]
    pub options: ExecuteOptions,
    control: Control,
    /// The engine's result.
    #[doc(hidden)]
    pub execution: Execution,
    judged: CheckReport,
    findings: Report,
    /// The recorded data.
    #[doc(hidden)]
    pub seen: Seen,
    launch: u32,
    time_only: bool,
}

/// The recorded data of a run.
#[derive(Debug, Default)]
pub struct Seen {
    rings: RingTrace,
    timeline: Timeline,
    /// If requested.
    pub record: Option<Record>,
}

/// The results of the tools for a run.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// One for each tool, with the scope of the verdict.
    pub checks: Vec<CheckFacts>,
    /// Whether every block completed.
    pub complete: bool,
    /// Number of errors found.
    pub errors: usize,
}

impl Verdict {
    /// True if the run completed and nothing wrong was found. The single tools state what was checked, and for which
    /// schedules that holds.
    pub fn is_clean(&self) -> bool {
        self.complete && self.errors == 0
    }

    /// Clean, with findings, or stopped without one.
    pub fn status(&self) -> CheckStatus {
        CheckStatus::of(self.errors, self.complete)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&checks_text(&self.checks))
    }
}

/// The result of the comparison with the sequential semantics.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The outcome.
    pub outcome: VerifyOutcome,
    /// The messages about it.
    pub messages: Vec<Diagnostic>,
    /// The result as a row of [`Verdict::checks`].
    pub facts: CheckFacts,
}

/// Steps for which a run checks the alternative answer of a question; a proof checks it to the end.
const OTHERWISE_STEPS: u64 = 1 << 16;

/// The finding for a launch that is assumed never to happen.
fn not_assumed(condition: &str) -> Finding {
    let message = format!("the arguments do not satisfy `{condition}`, which is assumed");
    Finding::new(Kind::Other("assumption"), Severity::Error, message)
        .help("pass others, or assume less: what is proved holds for launches that satisfy what is assumed")
}

/// One warning for all lines of a schedule that had no effect.
fn not_met(unused: &[Unused]) -> Option<Finding> {
    let (first, others) = unused.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        1 => ", and so does another line".into(),
        n => format!(", and so do {n} other lines"),
    };
    let Delay { role, pipe, block, work, .. } = first.delay;
    let there = match first.steps {
        Some(steps) => format!("steps of work {work} of {role}.{pipe} in block {block} of this run: {steps}"),
        None => format!("works of {role}.{pipe} in block {block} of this run: {}", first.works),
    };
    let message = format!("`{}` of the schedule makes nothing late{others}: {there}", first.delay);
    let help = "a schedule is only valid for the program, platform and arguments that it was written for";
    Some(Finding::new(Kind::Other("schedule-unused"), Severity::Warning, message).help(help))
}

/// Whether a launch did not complete, or has findings; hints are not findings.
fn has_findings(execution: &Execution, findings: &Report) -> bool {
    !execution.result.complete || findings.has_findings()
}

/// Runs a compiled kernel on its arguments.
///
/// # Errors
/// If the run is cancelled.
pub fn start<'a>(
    compiled: &Arc<Compiled>,
    bound: Vec<Bound<'a>>,
    blocks: u32,
    asked: &RunOptions,
) -> Result<Run<'a>, Error> {
    timing_fits(asked.timing, &compiled.platform)?;
    let prepared = &compiled.prepared;
    let assumed = Assumed::of_kernel(prepared, &asked.assume).map_err(Error::Arguments)?;
    let none = Tools { race: false, init: false, ..Tools::default() };
    let mut tools =
        beginning(prepared, &compiled.kernels, &bound, if asked.time_only { none } else { asked.tools.clone() });
    // A warning of the compiler is enough, unless it has to be an error.
    let said = if asked.strict { &[][..] } else { &compiled.said };
    tools.results = results(prepared, &compiled.kernels, &bound, said);
    let options =
        ExecuteOptions { blocks, mode: ExecutionMode::Pipes, gm_slack: asked.gm_slack as usize, limits: asked.limits };
    let mut earlier: Option<Execution> = None;
    let mut number = 1;
    let report = |judged: &CheckReport| {
        let messages = in_words(&judged.findings, prepared, &bound);
        Report::new(prepared.written.source.clone(), messages)
    };
    let of_text = Report::new(prepared.written.source.clone(), compiled.found.clone());
    let (execution, seen, mut judged, findings) = loop {
        let (execution, seen, mut judged) = once(compiled, &bound, &options, asked, &tools, earlier.as_ref());
        judged.findings.extend(assumed.broken(&as_numbers(&bound, &prepared.decoded.program.params)).map(not_assumed));
        judged.findings.extend(not_met(&execution.result.unused));
        let findings = of_text.clone().and(report(&judged).messages().to_vec());
        if has_findings(&execution, &findings) || number >= asked.launches {
            break (execution, seen, judged, findings);
        }
        earlier = Some(execution);
        number += 1;
    };
    if execution.result.findings.iter().any(|finding| finding.kind == Kind::Cancelled) {
        return Err(Error::Cancelled);
    }
    if is_recorded(&prepared.written) {
        judged.scope.assumes.push(RECORDED.into());
    }
    for question in judged.questions.clone() {
        if let Some((_, found)) = judged.otherwise.iter().find(|(own, _)| *own == question) {
            // The report is that of the same run: the alternative answer can only add errors.
            let messages = Report::new(prepared.written.source.clone(), in_words(found.as_slice(), prepared, &bound));
            let clean = [judged.is_free(), judged.is_free() && found.is_none()];
            let condition = clean_if(question, clean, first_error(&messages));
            judged.scope.clean_if.extend(condition);
            continue;
        }
        let other = compiled.with_reading(question);
        let tried = otherwise(&other, &bound, &options, asked, &tools, earlier.as_ref());
        if asked.control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let condition = match tried {
            // If the verdict is not clean, there are no conditions to report.
            None => judged.is_free().then(|| tried_only(question, OTHERWISE_STEPS)),
            Some(instead) => {
                let clean = [judged.is_free(), instead.is_free()];
                clean_if(question, clean, not_clean(&instead, &report(&instead)))
            }
        };
        judged.scope.clean_if.extend(condition);
    }
    let control = asked.control.clone();
    let (compiled, launch, time_only) = (compiled.clone(), number, asked.time_only);
    Ok(Run { compiled, bound, options, control, execution, judged, findings, seen, launch, time_only })
}

/// The results of the tools with the alternative answer of a question; `None` if nothing is found within the steps.
fn otherwise(
    compiled: &Compiled,
    bound: &[Bound<'_>],
    options: &ExecuteOptions,
    asked: &RunOptions,
    tools: &Tools,
    earlier: Option<&Execution>,
) -> Option<CheckReport> {
    // With the platform's own durations, whatever was requested: how far it gets does not depend on them.
    let mut quiet = RunOptions { trace: false, events: 0, record: false, ..asked.clone() };
    (quiet.timing, quiet.delays) = (Timing::default(), Vec::default());
    let mut short = *options;
    short.limits.steps = short.limits.steps.min(OTHERWISE_STEPS);
    let (_, _, mut judged) = once(compiled, bound, &short, &quiet, tools, earlier);
    let of_limit = |finding: &Finding| finding.kind == Kind::StepLimit && short.limits.steps < options.limits.steps;
    let cut = judged.findings.iter().any(of_limit);
    judged.findings.retain(|finding| !of_limit(finding));
    let wrong = judged.findings.iter().any(|finding| finding.severity >= Severity::Error);
    (wrong || !cut).then_some(judged)
}

/// Runs it once; returns the recorded data and the results of the tools.
pub fn once(
    compiled: &Compiled,
    bound: &[Bound<'_>],
    options: &ExecuteOptions,
    asked: &RunOptions,
    tools: &Tools,
    earlier: Option<&Execution>,
) -> (Execution, Seen, CheckReport) {
    let (decoded, platform) = (&compiled.prepared.decoded, &compiled.platform);
    let trace = asked.trace.then(RingTrace::default);
    let collect = (asked.events > 0).then(|| Collect::new(asked.events));
    let recorder = asked.record.then(Recorder::default);
    let checker = Checker::new(tools.clone()).with_otherwise();
    let mut watching = (trace, checker, asked.control.clone(), (collect, recorder));
    let earlier = earlier.map(|before| &before.result);
    let how = LaunchExtras {
        timing: asked.timing,
        delays: &asked.delays,
        time_only: asked.time_only,
        earlier,
        stop_endless: asked.stop_endless,
        cancel: asked.control.cancel_token(),
        ..LaunchExtras::default()
    };
    let execution = launch(decoded, platform, bound, *options, how, &mut watching);
    let (trace, checker, _, (collect, recorder)) = watching;
    let mut judged = checker.report(&execution.result);
    if asked.strict {
        judged.make_strict();
    }
    let timeline = collect.map_or_else(Timeline::default, |collect| collect.finish(&decoded.program));
    let seen = Seen { rings: trace.unwrap_or_default(), timeline, record: recorder.map(Recorder::finish) };
    (execution, seen, judged)
}

impl Run<'_> {
    /// The contents of a buffer, by the name of its parameter, after the run.
    ///
    /// # Errors
    /// If the run did not complete, no buffer has that name, or its element type differs.
    pub fn get<T: Element>(&self, name: &str) -> Result<Vec<T>, Error> {
        let index = self.index(name)?;
        match self.compiled.prepared.decoded.program.params[index].kind {
            ParamKind::Buffer { elem, .. } if elem == T::ELEM => {}
            ParamKind::Buffer { elem, .. } => {
                let message = format!("`{name}` has elements of {elem}, not of {}", T::ELEM);
                return Err(Error::Arguments(message));
            }
            _ => {}
        }
        self.result(index).map(numbers)
    }

    /// The bytes of a buffer, by the name of its parameter, after the run.
    ///
    /// # Errors
    /// If the run did not complete, or no buffer has that name.
    pub fn bytes(&self, name: &str) -> Result<&[u8], Error> {
        self.result(self.index(name)?)
    }

    /// The bytes of the buffer that was passed at a position, after the run.
    ///
    /// # Errors
    /// If the run did not complete, or no buffer was passed there.
    pub fn result(&self, index: usize) -> Result<&[u8], Error> {
        if !self.is_complete() {
            return Err(Error::Incomplete(self.findings.clone()));
        }
        let what = if self.time_only { "was not computed: the run only counted cycles" } else { "is not a buffer" };
        self.left(index).ok_or_else(|| Error::Arguments(format!("argument {} {what}", index + 1)))
    }

    /// The contents of the buffer that was passed at a position, even if the run did not complete.
    pub fn left(&self, index: usize) -> Option<&[u8]> {
        // The passed contents are not a result.
        (!self.time_only).then(|| self.execution.buffer(&self.bound, index)).flatten()
    }

    /// How many arguments were passed.
    pub fn arguments(&self) -> usize {
        self.bound.len()
    }

    fn index(&self, name: &str) -> Result<usize, Error> {
        let params = self.compiled.prepared.decoded.program.params.iter().filter(|param| param.is_passed());
        let buffers = params.enumerate().filter(|(_, param)| matches!(param.kind, ParamKind::Buffer { .. }));
        let names: Vec<(usize, &str)> = buffers.map(|(at, param)| (at, param.name.as_str())).collect();
        let found = names.iter().find(|(_, own)| *own == name).map(|(at, _)| *at);
        found.ok_or_else(|| {
            let near = nearest(name, names.iter().map(|(_, name)| *name));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Error::Arguments(format!("the kernel has no buffer `{name}`{hint}"))
        })
    }

    /// Whether every block completed.
    pub fn is_complete(&self) -> bool {
        self.execution.result.complete
    }

    /// Diagnostics of the compilation that are not errors.
    pub fn said(&self) -> Report {
        Report::new(self.compiled.prepared.written.source.clone(), self.compiled.said.clone())
    }

    /// The findings of the tools, with their source locations.
    pub fn findings(&self) -> &Report {
        &self.findings
    }

    /// Whether the run did not complete, or has findings; hints are not findings.
    pub fn has_findings(&self) -> bool {
        has_findings(&self.execution, &self.findings)
    }

    /// What was checked, and the results.
    pub fn verdict(&self) -> Verdict {
        let complete = self.is_complete();
        let mut checks = facts::check_facts(&self.judged, complete, |site| self.compiled.prepared.line(site));
        let found = self.compiled.found.len();
        for memory in checks.iter_mut().filter(|check| check.tool == "memory" && found > 0) {
            memory.verdict = CheckStatus::Findings;
            memory.findings += found;
        }
        if self.time_only {
            let detail = "nothing was computed: the run only counted cycles";
            checks.insert(0, CheckFacts::new("values", CheckStatus::NotChecked, detail, 0));
        }
        Verdict { checks, complete, errors: self.findings.errors() }
    }

    /// Cycles of the launch.
    pub fn cycles(&self) -> u64 {
        self.execution.result.stats.cycles
    }

    /// The evidence behind the cycles: their error bounds, or that they are an estimate and why.
    pub fn backing(&self) -> Backing {
        self.execution.result.stats.backing()
    }

    /// The events of the run; empty if none were requested.
    pub fn timeline(&self) -> &Timeline {
        &self.seen.timeline
    }

    /// What the kernel printed, line by line.
    pub fn printed(&self) -> &[String] {
        &self.execution.result.output.lines
    }

    /// The index of this launch, from 1: the last one requested, or the first one with a finding.
    pub fn launch(&self) -> u32 {
        self.launch
    }

    /// The complete report of a run, as in `slipring run --json`.
    pub fn facts(&self) -> RunFacts {
        self.facts_with(true)
    }

    /// As [`Run::facts`], without unchanged buffers, which a summary does not show: large ones take a while to examine.
    pub fn facts_changed(&self) -> RunFacts {
        self.facts_with(false)
    }

    fn facts_with(&self, unchanged: bool) -> RunFacts {
        let prepared = &self.compiled.prepared;
        let (program, result) = (&prepared.decoded.program, &self.execution.result);
        let (platform, blocks) = (&self.compiled.platform, self.options.blocks);
        let mut all = RunFacts::new(program, platform, blocks, &result.stats, &self.seen.rings, result.complete);
        all.flags = prepared.flags.word().into();
        all.checks = self.verdict().checks;
        (all.lines, all.path) = (self.lines(), self.path());
        all.printed = result.output.lines.clone();
        let after: Vec<_> = (0..self.bound.len()).map(|index| self.left(index)).collect();
        if !self.time_only {
            all.buffers = facts::buffers(program, &self.bound, &after, result.memory.shadow.as_deref(), unchanged);
        }
        all.findings = self.said().and(self.findings.messages().to_vec()).facts();
        all
    }

    /// Runs the sequential semantics of the source on the same arguments and compares every buffer.
    ///
    /// # Errors
    /// `Different` if they differ or the sequential semantics has an error, `Incomplete` for a run that stopped,
    /// `Unsupported` if it cannot be compared.
    pub fn verify(&self) -> Result<Comparison, Error> {
        if !self.is_complete() {
            return Err(Error::Incomplete(self.findings.clone()));
        }
        let comparison = self.compare();
        if self.control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        match &comparison.outcome {
            VerifyOutcome::Same(_) => Ok(comparison),
            VerifyOutcome::NotChecked(why) => Err(Error::Unsupported(why.clone())),
            VerifyOutcome::Different(..) | VerifyOutcome::Faulty(_) => {
                let source = self.compiled.prepared.written.source.clone();
                Err(Error::Different(Report::new(source, comparison.messages)))
            }
        }
    }

    /// As [`Run::verify`], with every outcome as a value.
    pub fn compare(&self) -> Comparison {
        let mut diags = Diags::default();
        let outcome = if self.time_only {
            VerifyOutcome::NotChecked("nothing was computed: the run only counted cycles".into())
        } else if self.is_complete() {
            let (prepared, platform) = (&self.compiled.prepared, &self.compiled.platform);
            verify_with(
                prepared,
                platform,
                &self.bound,
                (self.options, self.control.cancel_token()),
                &self.execution,
                &mut diags,
            )
        } else {
            VerifyOutcome::NotChecked("the run did not complete".into())
        };
        let mut messages = diags.list;
        let facts = facts::verify_facts(&outcome, &self.bound, &mut messages);
        Comparison { outcome, messages, facts }
    }

    /// Repeats the launch with a hypothetical change, on the same inputs.
    ///
    /// # Errors
    /// If the run is cancelled.
    #[doc(hidden)]
    pub fn again(&self, suppose: &Suppose) -> Result<Execution, Error> {
        let how =
            LaunchExtras { suppose: suppose.clone(), cancel: self.control.cancel_token(), ..LaunchExtras::default() };
        let (decoded, platform) = (&self.compiled.prepared.decoded, &self.compiled.platform);
        let execution = launch(decoded, platform, &self.bound, self.options, how, &mut ());
        match self.control.is_cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(execution),
        }
    }

    /// Repeats the launch with other options.
    ///
    /// # Errors
    /// If the run is cancelled.
    #[doc(hidden)]
    pub fn rerun(&self, asked: &RunOptions) -> Result<Run<'static>, Error> {
        let bound = self.bound.iter().cloned().map(Bound::into_owned).collect();
        start(&self.compiled, bound, self.options.blocks, asked)
    }

    /// Repeats the launch with these options up to a cycle, with an observer; from a snapshot, if there is one.
    #[doc(hidden)]
    pub fn once_more<O: slipring_sim::Observer>(
        &self,
        asked: &RunOptions,
        cycles: u64,
        from: Option<&slipring_sim::Snapshot>,
        observer: &mut O,
    ) -> Execution {
        let (decoded, platform) = (&self.compiled.prepared.decoded, &self.compiled.platform);
        let (how, mut options) = (extras_of(asked), self.options);
        options.limits.cycles = cycles;
        match from {
            Some(from) => launch_on(decoded, platform, &self.bound, options, (how, from.clone()), observer),
            None => launch(decoded, platform, &self.bound, options, how, observer),
        }
    }

    /// Repeats the run with periodic snapshots for a keeper.
    #[doc(hidden)]
    pub fn keep(&self, asked: &RunOptions, keeper: &mut dyn slipring_sim::Keeper) {
        let (decoded, platform) = (&self.compiled.prepared.decoded, &self.compiled.platform);
        launch_kept(decoded, platform, &self.bound, self.options, extras_of(asked), keeper);
    }

    /// Completes a time-only run: its buffers have received their values, and this is its verdict, which contains no
    /// finding.
    #[doc(hidden)]
    pub fn computed(&mut self, judged: CheckReport) {
        (self.time_only, self.judged) = (false, judged);
    }

    /// The same run without borrowed inputs: they are copied.
    pub fn into_owned(self) -> Run<'static> {
        let bound = self.bound.into_iter().map(Bound::into_owned).collect();
        let Run { compiled, options, control, execution, judged, findings, seen, launch, time_only, .. } = self;
        Run { compiled, bound, options, control, execution, judged, findings, seen, launch, time_only }
    }

    /// The inputs as they were passed: bytes of buffers.
    pub fn input(&self, index: usize) -> Option<&[u8]> {
        self.bound.get(index).and_then(Bound::contents)
    }
}

/// The launch extras of a run with these options.
fn extras_of(asked: &RunOptions) -> LaunchExtras<'_> {
    LaunchExtras {
        timing: asked.timing,
        delays: &asked.delays,
        cancel: asked.control.cancel_token(),
        ..LaunchExtras::default()
    }
}
