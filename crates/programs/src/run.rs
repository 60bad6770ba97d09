//! Scheduling of all tasks in time; findings; the sequential semantics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use slipring_ir::{Diagnostic, Kind, Severity, Span};
use slipring_lang::Strided;
use slipring_lang::tasks::TaskCall;
use slipring_machine::Platform;
use slipring_report::{CheckFacts, CheckStatus};
use slipring_sim::{ExecutionMode, Stats, places};
use slipring_tasks::ends;
use slipring_tasks::signals::{self, Event, Parts, SignalStep};
use slipring_tasks::{Bytes, Graph, Plan, Ran, Runs, Touched, plan, touched};
use slipring_tile::Elem;

use super::beside::{self, Beside, Came, FirstValues, Job};
use super::facts::{self, ProgramFacts};
use super::footprint::Signalled;
use super::lost::{Meaningless, is_left_out};
use super::task::Outcome;
use super::values::holds;
use super::{HostFunctions, Program, ProgramOptions, host};
use slipring_session::{Compiled, Error, Report, options::timing_fits};

use crate::footprint;
use crate::task::Kept;

/// A run of a whole program, with the resulting contents of its tensors.
#[derive(Debug)]
pub struct ProgramRun<'p> {
    pub(super) program: &'p Program,
    /// Contents of the parameters before; `None` for scalars.
    pub(super) before: Vec<Option<Vec<u8>>>,
    /// Contents of all tensors afterwards.
    pub(super) tensors: Vec<Vec<u8>>,
    pub(super) plan: Plan,
    findings: Report,
    /// The complete report.
    pub(super) facts: ProgramFacts,
    pub(super) platform: Platform,
    options: ProgramOptions,
    summed: Vec<bool>,
    /// The record of each task, if requested.
    pub(super) kept: Option<Vec<Kept>>,
    /// Recorded host function calls.
    called: host::Called,
    /// Which launch it was, from 1.
    pub(super) launch: u32,
}

/// The combined results of the kernels in a run.
#[derive(Default)]
struct Seen {
    messages: Vec<(Diagnostic, Vec<usize>)>,
    by_data: bool,
    schedule: bool,
    stopped: Option<String>,
    stats: BTreeMap<usize, facts::Work>,
    printed: Vec<String>,
    skipped: Vec<usize>,
    /// Why the verdict covers this order only although all tasks completed.
    other_order: Option<String>,
    /// Tasks wait for each other while they run: with another number of clusters they may wait for one that cannot
    /// start.
    signals: bool,
}

impl Seen {
    fn add(&mut self, task: usize, kernel: usize, outcome: &Outcome) {
        self.by_data |= outcome.by_data;
        self.schedule |= !outcome.all_schedules;
        for message in &outcome.messages {
            match self.messages.iter_mut().find(|(known, _)| known.repeats(message)) {
                Some((_, tasks)) => tasks.push(task),
                None => self.messages.push((message.clone(), vec![task])),
            }
        }
        self.printed.extend(outcome.result.output.lines.iter().cloned());
        self.stats.entry(kernel).or_default().add(&outcome.result.stats);
    }

    fn list(&self, graph: &Graph) -> Vec<Diagnostic> {
        let note = |(message, tasks): &(Diagnostic, Vec<usize>)| {
            let first = graph.name(tasks[0]);
            message.clone().note(match tasks.len() {
                1 => format!("in task {first}"),
                n => format!("in {n} tasks, {first} first"),
            })
        };
        self.messages.iter().map(note).collect()
    }
}

/// Turns a warning about an unwritten result into an error.
fn make_strict(message: &mut Diagnostic) {
    if message.kind.is_of_init() && message.severity == Severity::Warning {
        message.severity = Severity::Error;
    }
}

/// Cycles of each block.
fn durations(stats: &Stats) -> Vec<u64> {
    stats.blocks.iter().map(|block| block.end.unwrap_or(stats.cycles).saturating_sub(block.start)).collect()
}

/// The cycles of each cluster's share, if there are more blocks than clusters and several of them run on one
/// concurrently.
fn on_clusters(blocks: Vec<u64>, each: u32, clusters: u32) -> Vec<u64> {
    if each < 2 || blocks.len() <= clusters as usize {
        return blocks;
    }
    blocks.chunks(each as usize).map(|share| share.iter().copied().max().unwrap_or(0)).collect()
}

/// Runs the tasks of a plan.
struct Runner<'r> {
    program: &'r Program,
    platform: &'r Platform,
    compiled: &'r [Arc<Compiled>],
    options: &'r ProgramOptions,
    beside: Beside,
    footprints: touched::Footprints,
    /// Tasks with steps on signals.
    parts: BTreeMap<usize, Parts>,
    seen: Seen,
    refused: Option<String>,
    kept: Vec<Kept>,
    called: host::Called,
}

impl Runs for Runner<'_> {
    fn start(&mut self, task: usize, at: u64) -> Ran {
        let (program, graph) = (self.program, self.program.graph());
        let call: &TaskCall = &program.orchestration.calls[task];
        if let Some(act) = &call.act {
            match host::act((task, act), &mut self.beside.tensors, &self.options.host, &mut self.called) {
                Ok(true) => {
                    self.footprints[task].extend(act.touched());
                    if let Some(nothing) = &mut self.beside.nothing {
                        nothing.after(task, &self.footprints[task], None);
                    }
                }
                Ok(false) => self
                    .seen
                    .messages
                    .push((host::not_run(&graph.tasks[task].name, graph.tasks[task].span), vec![task])),
                Err(why) => {
                    self.refused = Some(why);
                    return Ran::Stopped;
                }
            }
            return Ran::Over(Vec::new());
        }
        let Some(kernel) = call.kernel else { return Ran::Over(Vec::new()) };
        if let Some(predicate) = &call.predicate {
            let elem = graph.tensors[predicate.tensor].elem;
            self.seen.by_data = true;
            let size = elem.bytes() as u64;
            let bytes = Bytes::range(predicate.offset, predicate.offset + size);
            if let Some(nothing) = &mut self.beside.nothing {
                nothing.decides(task, predicate.tensor, &bytes);
            }
            self.footprints[task].insert(predicate.tensor, Touched { reads: bytes, ..Touched::default() });
            if !holds(predicate, elem, &self.beside.tensors[predicate.tensor]) {
                self.seen.skipped.push(task);
                return Ran::Over(Vec::new());
            }
        }
        let job = Job {
            graph,
            compiled: &self.compiled[kernel],
            platform: self.platform,
            call,
            blocks: (graph.tasks[task].blocks, ExecutionMode::Pipes),
            options: self.options,
        };
        let came = self.beside.start(task, at, &job);
        self.came(task, came)
    }

    fn resume(&mut self, task: usize) -> Option<Ran> {
        let came = self.beside.resume(task)?;
        Some(self.came(task, came))
    }
}

impl Runner<'_> {
    fn came(&mut self, task: usize, came: Result<Came, String>) -> Ran {
        match came {
            Ok(Came::Waits) => Ran::Waits,
            Ok(Came::Over(outcome)) => self.over(task, *outcome),
            Err(why) => {
                self.refused = Some(format!("{}: {why}", self.program.graph().name(task)));
                Ran::Stopped
            }
        }
    }

    fn over(&mut self, task: usize, mut outcome: Outcome) -> Ran {
        let kernel = self.program.orchestration.calls[task].kernel.unwrap_or(0);
        self.seen.add(task, kernel, &outcome);
        if let Some((record, buffers)) = outcome.record.take() {
            self.kept.push(Kept { task, kernel, record, buffers, stats: outcome.result.stats.clone() });
        }
        if let Some(nothing) = &mut self.beside.nothing {
            nothing.after(task, &outcome.touched, outcome.left.as_ref());
        }
        for (tensor, touched) in std::mem::take(&mut outcome.touched) {
            let own = self.footprints[task].entry(tensor).or_default();
            let reads = own.reads.and(&touched.reads);
            *own = Touched { reads, ..touched };
        }
        if !outcome.parts.is_empty() {
            self.seen.signals = true;
            let sites = &self.compiled[kernel].prepared.decoded.program.sites;
            let event = |own: &Signalled| {
                let span = sites.get(own.site as usize).map_or((0, 0), |site| site.span);
                let step = match footprint::step(own.what) {
                    Ok(change) => SignalStep::Change(own.place, change),
                    Err(wanted) => SignalStep::Wait(own.place, wanted),
                };
                Event { step, span: Span::new(span.0, span.1), at: own.at, waited: own.waited, by: own.by }
            };
            let events = outcome.steps.iter().map(event).collect();
            self.parts.insert(task, Parts { touched: std::mem::take(&mut outcome.parts), events });
        }
        match outcome.result.complete {
            true => {
                let own = &self.compiled[kernel].prepared.decoded.program;
                let each = places(own, self.platform) / self.platform.clusters.max(1);
                Ran::Over(on_clusters(durations(&outcome.result.stats), each, self.platform.clusters))
            }
            false => {
                self.seen.stopped = Some(self.program.graph().name(task));
                Ran::Stopped
            }
        }
    }

    /// Ends tasks that wait for something that will not happen.
    fn give_up(&mut self) {
        if self.seen.stopped.is_some() || self.refused.is_some() {
            // Their waits are a consequence of that.
            return;
        }
        for task in self.beside.waiting() {
            match self.beside.give_up(task, self.program.graph()) {
                Ok(Some(outcome)) => drop(self.over(task, *outcome)),
                Ok(None) => {}
                Err(why) => self.refused = Some(format!("{}: {why}", self.program.graph().name(task))),
            }
        }
    }
}

impl Program {
    /// Runs the tasks once, for these tensor contents; `None` for scalars.
    pub(super) fn run_on(
        &self,
        before: Vec<Option<Vec<u8>>>,
        options: &ProgramOptions,
    ) -> Result<ProgramRun<'_>, Error> {
        options.within_bounds()?;
        let graph = self.graph();
        if let Some(open) = self.orchestration.open.as_ref().filter(|open| open.why.is_none()) {
            let message = format!("the tasks depend on {}: follow the program for its arguments first", open.what);
            return Err(Error::Unsupported(message));
        }
        let platform = self.with_clusters(options.clusters)?;
        timing_fits(options.timing, &platform)?;
        let clusters = platform.clusters;
        let stuck = touched::deadlocks(graph);
        let compiled = self.compiled()?;
        let windows = options.windows.as_deref();
        let first = FirstValues::new(self, windows);
        let mut beside = Beside::new(self.tensors(&before, windows)?, first.clone());
        beside.nothing = options.tools.init.then(|| self.nothing_at_first());
        let mut runner = Runner {
            program: self,
            platform: &platform,
            compiled,
            options,
            beside,
            footprints: vec![BTreeMap::new(); graph.tasks.len()],
            parts: BTreeMap::new(),
            seen: Seen::default(),
            refused: None,
            kept: Vec::new(),
            called: std::mem::take(&mut *self.called.lock().unwrap_or_else(PoisonError::into_inner)),
        };
        let mut plan = match stuck.is_empty() {
            // A task without a kernel takes no time.
            true => plan(graph, clusters, options.order, &mut runner),
            false => Plan { busy: vec![0; clusters as usize], ..Plan::default() },
        };
        runner.give_up();
        let parts = std::mem::take(&mut runner.parts);
        let parts = beside::all_parts(graph, parts, &runner.footprints, &first);
        signals::lengthen(&mut plan, parts.as_ref());
        let lost = runner.beside.nothing.take().map_or_else(Vec::new, Meaningless::found);
        let Runner { beside, footprints, mut seen, refused, kept, called, .. } = runner;
        if let Some(why) = refused {
            return Err(Error::Unsupported(why));
        }
        if options.control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let ended = parts.as_ref().filter(|_| plan.complete);
        seen.other_order = ended.and_then(|own| ends::in_another_order(graph, own, clusters));
        if options.strict {
            seen.messages.iter_mut().for_each(|(message, _)| make_strict(message));
        }
        let mut messages = stuck.clone();
        messages.extend(seen.list(graph));
        messages.extend(self.ends_early());
        let mut between = Vec::new();
        if let (Ok(order), true) = (graph.order(), stuck.is_empty()) {
            between = touched::judge(graph, &order, &footprints, parts.as_ref(), &lost);
            if options.tools.init {
                between.extend(self.left_out(&footprints));
            }
        }
        if !plan.complete || self.orchestration.open.is_some() {
            // The accesses of a task that did not run are unknown.
            between.retain(|message| {
                !matches!(message.kind, Kind::NeedlessEdge | Kind::TaskUnwritten) && !is_left_out(message)
            });
        }
        if options.strict {
            between.iter_mut().for_each(make_strict);
        }
        let races = between.iter().filter(|message| message.severity == Severity::Error).count();
        messages.extend(between);
        let summed = touched::summed(graph, &footprints);
        let findings = Report::new(self.input.source().clone(), messages);
        let mut run = ProgramRun {
            program: self,
            before,
            tensors: beside.into_tensors(),
            plan,
            findings,
            facts: ProgramFacts::default(),
            platform,
            options: options.clone(),
            summed,
            kept: options.record.then_some(kept),
            called,
            launch: 1,
        };
        run.facts =
            facts::facts(self, &run.platform, &run.plan, (clusters, options.order), (&seen.stats, &seen.skipped));
        run.facts.printed = seen.printed.clone();
        run.facts.checks = run.checks(&seen, stuck.len(), races);
        run.facts.buffers = self.buffer_facts(&run.tensors, &run.before);
        run.facts.findings = run.findings.facts();
        Ok(run)
    }
}

impl ProgramRun<'_> {
    /// Whether every task completed.
    pub fn is_complete(&self) -> bool {
        self.plan.complete && self.program.orchestration.open.is_none()
    }

    /// The findings, with their source locations.
    pub fn findings(&self) -> &Report {
        &self.findings
    }

    /// The complete report, as in `slipring run --json`.
    pub fn facts(&self) -> &ProgramFacts {
        &self.facts
    }

    /// The times at which tasks ran.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The resulting contents of the tensor that was passed at a position; `None` for scalars.
    pub fn left(&self, index: usize) -> Option<&[u8]> {
        let tensor = (*self.program.orchestration.tensor_of.get(index)?)?;
        Some(&self.tensors[tensor])
    }

    /// The resulting contents of the windows that devices share, in the order in which the program creates them, each
    /// with the parts of all its devices: use them as [`ProgramOptions::windows`] of the next run if devices keep them.
    pub fn windows(&self) -> impl Iterator<Item = &[u8]> {
        self.program.windows().map(|tensor| self.tensors[tensor].as_slice())
    }

    /// The tensors that the program returns, in order: the position of the parameter it is, or `None` for one that the
    /// program created; element type; extents in elements, outermost first; bytes. If it returns a part of the tensor,
    /// the part is the last item.
    pub fn returned(&self) -> impl Iterator<Item = (Option<usize>, Elem, &[u64], &[u8], Option<Strided>)> {
        let own = &self.program.orchestration;
        own.returned.iter().map(|piece| {
            let tensor = piece.tensor;
            let (passed, facts) = (own.tensor_of.iter().position(|of| *of == Some(tensor)), &own.graph.tensors[tensor]);
            let whole = piece.offset == 0 && piece.shape == facts.shape;
            // A window that devices share is returned with the parts of all of them.
            let part = (!whole && piece.elem == facts.elem).then(|| Strided {
                first: piece.offset / piece.elem.bytes() as u64,
                shape: piece.shape.clone(),
                strides: piece.strides.clone(),
            });
            (passed, facts.elem, &facts.shape[..], &self.tensors[tensor][..], part)
        })
    }

    /// How many arguments were passed.
    pub fn arguments(&self) -> usize {
        self.before.len()
    }

    fn checks(&self, seen: &Seen, stuck: usize, between: usize) -> Vec<CheckFacts> {
        let whole = self.is_complete();
        let verdict = |findings: usize| CheckStatus::of(findings, whole);
        let errors = |messages: &[(Diagnostic, Vec<usize>)]| {
            messages.iter().filter(|(m, _)| m.severity == Severity::Error).count()
        };
        let inside = errors(&seen.messages);
        let scope = if !whole {
            let why = seen.stopped.as_ref().map_or("the program stopped".to_string(), |task| format!("{task} stopped"));
            format!("this order only ({why})")
        } else if self.findings.messages().iter().any(|message| message.kind == Kind::TaskRace) {
            "this order only (tasks race)".to_string()
        } else if let Some(why) = &seen.other_order {
            format!("this order only ({why})")
        } else if seen.schedule {
            "all orders of the tasks; inside a kernel for this schedule only".to_string()
        } else {
            let data = if self.program.orchestration.by_answers {
                "for these inputs and this number of clusters: the set of tasks depends on numbers that the orchestration asks for"
            } else if seen.signals && seen.by_data {
                "on this number of clusters, these inputs: the accesses of a task depend on loaded data"
            } else if seen.signals {
                "on this number of clusters, any contents of the tensors except the signals"
            } else if seen.by_data {
                "on any number of clusters, these inputs: the accesses of a task depend on loaded data"
            } else {
                "on any number of clusters, any contents of the tensors"
            };
            let own = &self.program.orchestration;
            let numbers = own.params.iter().zip(&own.numbers).filter(|(param, _)| param.shape.is_none());
            let numbers: Vec<String> =
                numbers.filter_map(|(param, number)| Some(format!("{} = {}", param.name, number.as_ref()?))).collect();
            let numbers = if numbers.is_empty() { String::new() } else { format!("; for {}", numbers.join(", ")) };
            let devices = own.devices.map_or(String::new(), |devices| match devices {
                1 => " on 1 device".to_string(),
                n => format!(" on {n} devices"),
            });
            format!("all orders of the tasks{devices} {data}{numbers}")
        };
        let tasks = match (stuck, verdict(between)) {
            (0, CheckStatus::Clean) if self.findings.messages().iter().any(is_left_out) => CheckStatus::Warnings,
            (0, verdict) => verdict,
            _ => CheckStatus::Findings,
        };
        vec![
            CheckFacts::new(
                "kernels",
                match (stuck, verdict(inside)) {
                    (0, CheckStatus::Clean) if seen.messages.iter().any(|(message, _)| message.kind.is_of_init()) => {
                        CheckStatus::Warnings
                    }
                    (0, verdict) => verdict,
                    _ => CheckStatus::Partly,
                },
                "memory, synchronisation, races and uninitialised bytes inside each task",
                inside,
            ),
            CheckFacts::new(
                "tasks",
                tasks,
                "tasks that access the same bytes without an order, directions, waits that never end, outputs left out",
                stuck + between,
            ),
            CheckFacts::new("scope", CheckStatus::Scope, scope, 0),
        ]
    }

    /// Runs the sequential semantics of the program on the same arguments, its tasks one after the other in the order
    /// of the text, each kernel op by op, and compares the tensors that are passed and returned.
    ///
    /// # Errors
    /// Why it cannot be compared.
    pub fn compare(&self) -> Result<(CheckFacts, Vec<Diagnostic>), Error> {
        let program = self.program;
        let fact = |verdict, detail: String, findings| CheckFacts::new("verify", verdict, detail, findings);
        if !self.is_complete() {
            return Ok((fact(CheckStatus::NotChecked, "the run did not complete".into(), 0), Vec::new()));
        }
        let windows = self.options.windows.as_deref();
        let mut beside = Beside::new(program.tensors(&self.before, windows)?, FirstValues::new(program, windows));
        let compiled = program.compiled()?;
        let graph = program.graph();
        let stopped = |task: usize, outcome: &Outcome| {
            let why = outcome.result.findings.first().map_or("", |finding| finding.message.as_str());
            let detail = format!("the sequential run of {} did not complete: {why}", graph.name(task));
            Ok((fact(CheckStatus::NotChecked, detail, 0), Vec::new()))
        };
        // The order of the text, except for tasks after one that waits for a later task.
        let before = graph.before();
        let mut over = vec![false; graph.tasks.len()];
        let mut left: BTreeSet<usize> = (0..over.len()).collect();
        while let Some(task) = left.iter().copied().find(|task| before[*task].iter().all(|other| over[*other])) {
            left.remove(&task);
            let call = &program.orchestration.calls[task];
            if let Some(act) = &call.act {
                // The result of a host function for these bytes is known; it is not called again.
                let none = HostFunctions::default();
                if host::act((task, act), &mut beside.tensors, &none, &mut self.called.clone()).is_err() {
                    let detail =
                        format!("the behaviour of {} with other bytes than the run's is unknown", graph.name(task));
                    return Ok((fact(CheckStatus::NotChecked, detail, 0), Vec::new()));
                }
            }
            let skipped = call.predicate.as_ref().is_some_and(|predicate| {
                !holds(predicate, graph.tensors[predicate.tensor].elem, &beside.tensors[predicate.tensor])
            });
            let Some(kernel) = call.kernel.filter(|_| !skipped) else {
                over[task] = true;
                continue;
            };
            let blocks = (graph.tasks[task].blocks, ExecutionMode::Sequential);
            let (platform, options) = (&self.platform, &self.options);
            let job = Job { graph, compiled: &compiled[kernel], platform, call, blocks, options };
            let mut came = vec![(task, beside.start(task, 0, &job))];
            while let Some((task, one)) = came.pop() {
                if let Came::Over(outcome) = one.map_err(Error::Unsupported)? {
                    if !outcome.result.complete {
                        return stopped(task, &outcome);
                    }
                    over[task] = true;
                }
                came.extend(beside.waiting().into_iter().find_map(|task| Some((task, beside.resume(task)?))));
            }
        }
        if let Some(task) = beside.waiting().first()
            && let Some(outcome) = beside.give_up(*task, graph).map_err(Error::Unsupported)?
        {
            return stopped(*task, &outcome);
        }
        let tensors = beside.into_tensors();
        let mut compared: Vec<usize> = program.orchestration.tensor_of.iter().flatten().copied().collect();
        compared.extend(program.orchestration.returned.iter().map(|piece| piece.tensor));
        compared.sort_unstable();
        compared.dedup();
        let mut notes = Vec::new();
        let mut count = 0usize;
        for &tensor in &compared {
            let own = &graph.tensors[tensor];
            let size = own.elem.bytes();
            for (at, (a, b)) in self.tensors[tensor].chunks(size).zip(tensors[tensor].chunks(size)).enumerate() {
                if a != b
                    && !(self.summed[tensor] && own.elem.is_float() && slipring_session::verify::near(own.elem, a, b))
                {
                    count += 1;
                    if notes.len() < 8 {
                        let (run, wanted) =
                            (slipring_session::args::show(own.elem, a), slipring_session::args::show(own.elem, b));
                        notes.push(format!("{}[{at}]: {run} instead of {wanted}", own.name));
                    }
                }
            }
        }
        let names: Vec<&str> = compared.iter().map(|tensor| graph.tensors[*tensor].name.as_str()).collect();
        if count == 0 {
            return Ok((
                fact(CheckStatus::Clean, format!("same bytes as the sequential semantics: {}", names.join(", ")), 0),
                Vec::new(),
            ));
        }
        let differ = if count == 1 { "1 element differs".to_string() } else { format!("{count} elements differ") };
        let message = format!("{differ} from the sequential semantics of the program");
        let message = Diagnostic { notes, ..Diagnostic::nowhere("verify", Severity::Error, message) }
            .help("look for tasks that race, and for a wrong direction");
        Ok((fact(CheckStatus::Findings, format!("{differ} from the sequential semantics"), count), vec![message]))
    }
}
