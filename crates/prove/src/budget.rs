//! How much the runs of a proof may take: in steps, so that a proof says the same on every host.

use std::cell::Cell;
use std::rc::Rc;

use slipring_program::{Finding, Kind};
use slipring_sim::{Limits, RunResult};

/// Steps of all runs of a proof together, where its caller does not say how many.
const ALL: u64 = 1 << 26;
/// Steps of one of many runs, such as that with a value of an argument: so many, or so many times those of the first run.
const ONE: u64 = 1 << 23;
const TIMES: u64 = 16;

/// The steps that are left.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    all: u64,
    left: Rc<Cell<u64>>,
    /// What the first run took.
    first: Cell<Option<u64>>,
}

impl Budget {
    /// The budget of a proof whose caller has these limits.
    pub fn new(limits: Limits) -> Budget {
        let all = if limits.steps == Limits::default().steps { ALL } else { limits.steps };
        Budget { all, left: Rc::new(Cell::new(all)), first: Cell::new(None) }
    }

    /// The limits of a run of the program as it stands: all that is left, for the first one.
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

    /// A run is over.
    pub fn spend(&self, result: &RunResult) {
        self.left.set(self.left.get().saturating_sub(result.steps));
    }

    /// A run of the program as it stands is over.
    pub fn spend_as_it_stands(&self, result: &RunResult) {
        self.spend(result);
        if self.first.get().is_none() {
            self.first.set(Some(result.steps));
        }
    }

    /// Steps that were taken.
    pub fn spent(&self) -> u64 {
        self.all - self.left.get()
    }

    /// That nothing is left, in words.
    ///
    /// # Errors
    /// If it is so.
    pub fn check(&self) -> Result<(), String> {
        match self.left.get() {
            0 => Err(format!("the {} steps of all runs together are used up (`--max-steps` allows more)", self.all)),
            _ => Ok(()),
        }
    }
}

/// True for a finding that only says that a run was given up: nothing is known then.
pub(super) fn is_limit(finding: &Finding) -> bool {
    finding.kind == Kind::StepLimit
}
