//! The budget of a proof's runs, in steps rather than time, so that a proof gives the same result on every host.

use std::cell::Cell;
use std::rc::Rc;

use slipring_program::{Finding, Kind};
use slipring_sim::{Limits, RunResult};

/// Default number of steps for all runs of a proof together.
const ALL: u64 = 1 << 26;
/// Steps of one of many runs, such as one with a particular value of an argument: this number, or a multiple of those
/// of the first run.
const ONE: u64 = 1 << 23;
const TIMES: u64 = 16;

/// The remaining steps.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    all: u64,
    left: Rc<Cell<u64>>,
    /// The steps of the first run.
    first: Cell<Option<u64>>,
}

impl Budget {
    /// The budget of a proof with these limits from its caller.
    pub fn new(limits: Limits) -> Budget {
        let all = if limits.steps == Limits::default().steps { ALL } else { limits.steps };
        Budget { all, left: Rc::new(Cell::new(all)), first: Cell::new(None) }
    }

    /// The limits of a run of the unchanged program: for the first one, everything that is left.
    pub fn of_run(&self, limits: Limits) -> Limits {
        match self.first.get() {
            None => Limits { steps: self.left.get(), ..limits },
            Some(_) => self.one(limits),
        }
    }

    /// The limits of one of many runs.
    pub fn one(&self, limits: Limits) -> Limits {
        let most = self.first.get().map_or(ONE, |first| first.saturating_mul(TIMES).max(ONE));
        Limits { steps: self.left.get().min(most), ..limits }
    }

    /// Deducts a completed run.
    pub fn spend(&self, result: &RunResult) {
        self.left.set(self.left.get().saturating_sub(result.steps));
    }

    /// Deducts a completed run of the unchanged program.
    pub fn spend_as_it_stands(&self, result: &RunResult) {
        self.spend(result);
        if self.first.get().is_none() {
            self.first.set(Some(result.steps));
        }
    }

    /// Steps used.
    pub fn spent(&self) -> u64 {
        self.all - self.left.get()
    }

    /// Checks that steps are left.
    ///
    /// # Errors
    /// A message that none are.
    pub fn check(&self) -> Result<(), String> {
        match self.left.get() {
            0 => Err(format!("the {} steps of all runs together are used up (`--max-steps` allows more)", self.all)),
            _ => Ok(()),
        }
    }
}

/// True for a finding that only reports that a run was stopped: nothing is known then.
pub(super) fn is_limit(finding: &Finding) -> bool {
    finding.kind == Kind::StepLimit
}
