//! The subject of a proof: a kernel with its arguments, and how it is run.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use slipring_check::{CheckReport, Tools};
use slipring_ir::{Kind, Line};
use slipring_program::{Finding, SiteRef, Unwritten};
use slipring_session::assume::{self, Assumed};
use slipring_session::compiled::Compiled;
use slipring_session::run::{Seen, once};
use slipring_session::tensor::Bound;
use slipring_session::{Error, ExecuteOptions, Execution, RunOptions};
use slipring_sim::Timing;

use crate::budget::Budget;

/// Options of a proof.
#[derive(Clone, Debug)]
pub struct ProveOptions {
    /// Blocks, limits, slack and the cancellation token; the other options are determined by the proof.
    pub run: RunOptions,
    /// Number of schedules with random durations that are tried to expose a finding's effect on the results, or if one
    /// run is not decisive.
    pub timings: u32,
    /// Whether to search for edits that fix the findings.
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
    /// Number of launches in a run, each on the device as left by the previous one.
    pub launches: u32,
    /// The outputs that a launch must write.
    pub results: Vec<Unwritten>,
    /// The results so far, as text; empty before the first run has ended.
    pub known: Rc<RefCell<String>>,
}

impl Subject<'_> {
    /// This subject with other arguments.
    pub fn with<'b>(&'b self, bound: &'b [Bound<'b>]) -> Subject<'b> {
        let (asked, budget, assumed) = (self.asked.clone(), self.budget.clone(), self.assumed.clone());
        let (compiled, options, launches) = (self.compiled, self.options, self.launches);
        let (results, known) = (self.results.clone(), self.known.clone());
        Subject { compiled, bound, options, asked, budget, assumed, launches, results, known }
    }

    /// The scalar arguments as integers, by parameter.
    pub fn numbers(&self) -> Vec<Option<i128>> {
        assume::as_numbers(self.bound, &self.compiled.prepared.decoded.program.params)
    }

    /// Number of concurrent blocks.
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

    /// Runs it with other options.
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

    /// Reports the results so far and the current stage.
    pub fn tell(&self, stage: impl Into<String>) {
        let known = self.known.borrow();
        let so_far = if known.is_empty() { String::new() } else { format!("{known}; now ") };
        self.asked.control.tell(so_far + &stage.into());
    }

    /// The source line of a location.
    pub fn line(&self, site: u32) -> Option<Line> {
        self.compiled.prepared.line(site)
    }
}

/// Where a run was stopped, as text.
pub(crate) fn given_up(subject: &Subject<'_>, finding: &Finding) -> String {
    let sites = &subject.compiled.prepared.decoded.program.sites;
    let name = |site: SiteRef| {
        let line = subject.line(site).map_or(String::new(), |line| format!(" (line {line})"));
        sites.get(site as usize).map_or(String::new(), |own| format!("`{}`{line}", own.op))
    };
    let around = finding.secondary.first().map(|label| format!(", in {}", name(label.site)));
    let at = finding.primary.as_ref().map(|label| format!(" at {}", name(label.site)));
    format!("{}{}{}", finding.message, at.unwrap_or_default(), around.unwrap_or_default())
}
