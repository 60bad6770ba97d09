//! Proof: what holds of a kernel for all schedules, all contents of its buffers, all trip counts and launch after launch.
//!
//! The argument, condition by condition, is `docs/proof.md`. One run with every check decides all schedules where each signal has one
//! sender and one receiver; the same run decides all contents where no loaded number decides anything; a launch that leaves the
//! device as it found it decides all later ones.

mod arguments;
mod budget;
mod choices;
mod combinations;
mod counts;
mod endings;
mod expression;
mod family;
mod fix;
mod given;
mod hunt;
mod launches;
mod proof;
mod sync_check;
mod text;
mod wide;

use slipring_ir::{Kind, Line};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use slipring_check::{CheckReport, Tools};
use slipring_program::Unwritten;
use slipring_sim::{ExecutionMode, Timing};

use slipring_session::answers::{clean_if, first_error};
use slipring_session::assume::{self, Assumed};
use slipring_session::compiled::Compiled;
use slipring_session::places::{Places, beginning, results};
use slipring_session::run::{Seen, once};
use slipring_session::tensor::Bound;
use slipring_session::{Error, ExecuteOptions, Execution, Report, RunOptions};

use budget::Budget;
pub use fix::{Fix, OfText, PathFix, mend_paths, mend_words};
use given::Assumptions;
pub use hunt::Witness;
use proof::{ALL, Fails};
pub use proof::{Judgement, Proof, ProofScope};
pub use sync_check::{Against, KernelSync, SyncChecked, SyncFacts};

/// How a kernel is proved.
#[derive(Clone, Debug)]
pub struct ProveOptions {
    /// Blocks, limits, slack and the cancellation token; the rest of them a proof decides itself.
    pub run: RunOptions,
    /// Schedules of random durations that are tried for what a finding does to the results, or where one run does not decide.
    pub timings: u32,
    /// Whether edits are looked for that mend what is found.
    pub fix: bool,
}

impl Default for ProveOptions {
    /// The kernel's own number of blocks, 16 schedules, and edits.
    fn default() -> ProveOptions {
        ProveOptions { run: RunOptions::default(), timings: 16, fix: true }
    }
}

/// A kernel, its arguments, and how they are run.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub compiled: &'a Arc<Compiled>,
    pub bound: &'a [Bound<'a>],
    pub options: ExecuteOptions,
    pub asked: RunOptions,
    pub budget: Budget,
    pub assumed: Assumed,
    /// How many launches a run is, each on the device as the one before has left it.
    pub launches: u32,
    /// The outputs, which a launch is to write.
    pub results: Vec<Unwritten>,
    /// What is known so far, in words; empty before the first run is over.
    pub known: Rc<RefCell<String>>,
}

impl Subject<'_> {
    /// The same with other arguments.
    pub fn with<'b>(&'b self, bound: &'b [Bound<'b>]) -> Subject<'b> {
        let (asked, budget, assumed) = (self.asked.clone(), self.budget.clone(), self.assumed.clone());
        let (compiled, options, launches) = (self.compiled, self.options, self.launches);
        let (results, known) = (self.results.clone(), self.known.clone());
        Subject { compiled, bound, options, asked, budget, assumed, launches, results, known }
    }

    /// The scalar arguments as numbers, by parameter.
    pub fn numbers(&self) -> Vec<Option<i128>> {
        assume::as_numbers(self.bound)
    }

    /// How many blocks run at the same time.
    pub fn places(&self) -> u32 {
        slipring_sim::places(&self.compiled.prepared.decoded.program, &self.compiled.platform)
    }

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
        self.run_as(self.asked.clone().timing(timing), tools, earlier)
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
        let options = ExecuteOptions { limits: self.budget.of_run(asked.limits), ..self.options };
        let mut number = 0;
        let mut before: Option<Execution> = None;
        loop {
            let earlier = before.as_ref().or(earlier);
            let (execution, Seen { .. }, judged) = once(self.compiled, self.bound, &options, &asked, tools, earlier);
            self.budget.spend_as_it_stands(&execution.result);
            if execution.result.findings.iter().any(|finding| finding.kind == Kind::Cancelled) {
                return Err(Error::Cancelled);
            }
            number += 1;
            if number >= self.launches || !execution.result.complete || !judged.findings.is_empty() {
                return Ok((execution, judged));
            }
            before = Some(execution);
        }
    }

    /// Tells whoever waits what is known and what is done now.
    pub fn tell(&self, stage: impl Into<String>) {
        let known = self.known.borrow();
        let so_far = if known.is_empty() { String::new() } else { format!("{known}; now ") };
        self.asked.control.tell(so_far + &stage.into());
    }

    /// The line of the text that a place is in.
    pub fn line(&self, site: u32) -> Option<Line> {
        self.compiled.prepared.line(site)
    }
}

/// Proves what can be proved of a compiled kernel on these arguments. `again` compiles the same kernel from another text; it gives
/// nothing where that has errors.
///
/// # Errors
/// If the run is cancelled, or the arguments are assumed never to be passed. What is wrong with the kernel is a judgement.
pub fn prove_kernel(
    compiled: &Arc<Compiled>,
    bound: &[Bound<'_>],
    blocks: u32,
    options: &ProveOptions,
    again: &dyn Fn(String) -> Option<Arc<Compiled>>,
) -> Result<Proof, Error> {
    let mut proof = prove_with_answers(compiled, bound, blocks, options)?;
    if options.fix {
        proof.fix = fix::mend(compiled, again, (bound, blocks), options, &proof)?;
        proof.name_fix();
    }
    Ok(proof)
}

/// Proves it as the platform answers what no source decides, and where it leans on that, as it could as well.
fn prove_with_answers(
    compiled: &Arc<Compiled>,
    bound: &[Bound<'_>],
    blocks: u32,
    asked: &ProveOptions,
) -> Result<Proof, Error> {
    let mut proof = prove(compiled, bound, blocks, asked)?;
    (proof.scope.assumes, proof.scope.clean_if) = (proof.given.assumes.clone(), proof.given.clean_if.clone());
    let quick = ProveOptions { timings: 0, fix: false, ..asked.clone() };
    for question in proof.given.questions.clone() {
        let other = prove(&Arc::new(compiled.with_reading(question)), bound, blocks, &quick)?;
        let clean = [&proof, &other].map(|proof| matches!(proof.judgement, Judgement::Proved | Judgement::Doubtful));
        let instead = first_error(&other.findings).or_else(|| other.reasons.first().cloned());
        proof.scope.clean_if.extend(clean_if(question, clean, instead));
    }
    if matches!(proof.judgement, Judgement::Proved | Judgement::Doubtful) {
        proof.scope.assumes.extend(of_memory(compiled, bound));
    }
    Ok(proof)
}

/// How the arguments of a proof lie in memory: it speaks of no launch where they lie otherwise.
fn of_memory(compiled: &Compiled, bound: &[Bound<'_>]) -> Option<String> {
    let places = Places::new(bound);
    let params = &compiled.prepared.decoded.program.params;
    let names = |buffer: usize| {
        let own = (0..bound.len()).filter(|at| places.get(*at).is_some_and(|place| place.buffer == buffer));
        own.map(|at| format!("`{}`", params[at].name)).collect::<Vec<_>>().join(" and ")
    };
    let shared: Vec<String> = (0..places.sizes.len()).filter(|buffer| places.is_shared(*buffer)).map(names).collect();
    match (&shared[..], places.sizes.len()) {
        ([], 0 | 1) => None,
        ([], _) => Some("arguments do not overlap in memory".into()),
        (shared, _) => {
            Some(format!("of the arguments only {} overlap in memory, as they were passed", shared.join(", ")))
        }
    }
}

fn prove(compiled: &Arc<Compiled>, bound: &[Bound<'_>], blocks: u32, asked: &ProveOptions) -> Result<Proof, Error> {
    let (prepared, platform) = (&compiled.prepared, &compiled.platform);
    let mut asked_run = asked.run.quiet();
    asked_run.stop_endless = true;
    let options = ExecuteOptions {
        blocks,
        mode: ExecutionMode::Pipes,
        gm_slack: asked.run.gm_slack as usize,
        limits: asked.run.limits,
    };
    let assumed = Assumed::of_kernel(prepared, &asked.run.assume).map_err(Error::Arguments)?;
    let budget = Budget::new(asked.run.limits);
    let results = results(prepared, &compiled.kernels, bound, &compiled.said);
    let subject = Subject {
        compiled,
        bound,
        options,
        asked: asked_run,
        budget,
        assumed,
        launches: 1,
        results,
        known: Rc::default(),
    };
    if let Some(broken) = subject.assumed.broken(&subject.numbers()) {
        return Err(Error::Arguments(format!("the arguments do not satisfy `{broken}`, which is assumed")));
    }
    let tools = beginning(prepared, &compiled.kernels, bound, Tools::default());
    let mut proof = Proof {
        kernel: prepared.decoded.program.name.clone(),
        platform: platform.name.clone(),
        blocks,
        judgement: Judgement::Proved,
        scope: ProofScope::default(),
        reasons: Vec::new(),
        explored: Vec::new(),
        witness: None,
        fix: None,
        findings: Report::new(prepared.written.source.clone(), Vec::new()),
        given: Assumptions::default(),
        spent: 0,
        fails: Fails::default(),
    };
    proof.decide(&subject, &tools, asked)?;
    proof.endings(&subject);
    proof.withhold(&subject);
    proof.everywhere(&subject);
    proof.name_empty();
    if slipring_op::function::is_recorded(&subject.compiled.prepared.written) {
        proof.given.assumes.push(slipring_session::answers::RECORDED.into());
    }
    if !subject.assumed.is_empty() {
        proof.given.assumes.push(format!("the arguments satisfy {}", subject.assumed));
    }
    proof.spent = subject.budget.spent();
    Ok(proof)
}

impl Proof {
    /// What one run has shown, for whoever waits for the rest.
    fn so_far(&self) -> String {
        match (self.judgement, first_error(&self.findings)) {
            (Judgement::Violated, Some(error)) => format!("violated with these arguments ({error})"),
            (Judgement::Proved | Judgement::Doubtful, None) if self.scope.schedules == ALL => {
                "one launch with these arguments is clean in all schedules".into()
            }
            (_, Some(error)) => format!("a run with these arguments finds {error}"),
            (_, None) => "a run with these arguments finds nothing".into(),
        }
    }

    fn decide(&mut self, subject: &Subject<'_>, tools: &Tools, asked: &ProveOptions) -> Result<(), Error> {
        subject.tell("loops of the text, with fewer iterations");
        if self.bounds(subject, tools)? {
            return Ok(());
        }
        subject.tell("one run with all checks");
        // Of other launches it is no fault that they write less of buffers which are made for this one.
        let complete = Tools { results: subject.results.clone(), ..tools.clone() };
        let (execution, judged) = subject.run(Timing::Platform, &complete, None)?;
        self.explored.push("1 run with all checks".into());
        self.found(subject, &judged);
        self.judge(subject, &judged);
        let stopped = judged.findings.iter().any(budget::is_limit);
        *subject.known.borrow_mut() = self.so_far();
        if self.judgement == Judgement::Proved {
            self.launches(subject, tools, execution, &judged)?;
            if self.judgement != Judgement::Violated {
                self.arguments(subject, tools)?;
            }
            if self.judgement == Judgement::Violated {
                self.hunt_where_it_fails(subject, tools, asked.timings)?;
            }
        } else if self.judgement == Judgement::NotProved && stopped {
            self.scope.launches = "the first one".into();
        } else if self.chosen(subject, tools)? {
            self.launches(subject, tools, execution, &judged)?;
        } else {
            self.scope.launches = "the first one".into();
            if self.judgement == Judgement::Violated {
                self.smallest(subject, tools)?;
            }
            if !self.fails.arguments.is_empty() {
                self.hunt_where_it_fails(subject, tools, asked.timings)?;
            } else if self.judgement == Judgement::Violated || self.scope.schedules != ALL {
                self.hunt(subject, tools, (&execution, &judged), asked.timings)?;
            }
        }
        if self.judgement == Judgement::Violated {
            self.reasons.clear();
        }
        Ok(())
    }
}
