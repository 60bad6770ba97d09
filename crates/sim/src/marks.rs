//! Knowledge about a state to which a run may return.

use slipring_program::Inst;

use crate::held::Held;
use crate::launch::{ExecutionMode, Launch};
use crate::standing::Standing;
use crate::timing::Timing;

/// Engine steps before it first looks for a repetition.
const FIRST: u64 = 256;

/// A state of the run.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    pub(crate) at: u64,
    /// State of the engine, followed by that of its observers if they were asked.
    pub(crate) engine: Standing,
    pub(crate) observers: Standing,
}

/// The current phase of the search.
#[derive(Debug)]
pub(crate) enum Look {
    /// Nothing until this step.
    Rest(u64),
    /// A state to which the engine may return, until this step.
    Back { mark: Box<Mark>, until: u64 },
    /// It recurred once, with its counters advanced by `moved`; the search checks whether it recurs again, observers
    /// included.
    Twice { mark: Box<Mark>, moved: Vec<u64>, until: u64, tries: u32 },
}

/// Detects repetitions.
#[derive(Debug)]
pub(crate) struct Steady {
    /// False for runs that are always stepped.
    pub(crate) able: bool,
    pub(crate) look: Look,
    pub(crate) steps: u64,
    /// Steps until the next search.
    pause: u64,
    /// The agent that is due in the state to which the run may return.
    pub(crate) due: u32,
    /// Work since the engine's state recurred, if it is recorded.
    pub(crate) trace: Option<Vec<Held>>,
    pub(crate) repeated: u64,
}

impl Steady {
    pub fn new(launch: &Launch<'_>) -> Steady {
        let program = launch.program;
        let unfit = |inst: &Inst| {
            matches!(inst, Inst::Meet { .. } | Inst::Poll { .. } | Inst::Acquire { .. } | Inst::Release { .. })
        };
        let able = !launch.step_by_step
            && launch.mode == ExecutionMode::Pipes
            && launch.timing == Timing::Platform
            && launch.clusters() == 1
            && launch.delays.is_empty()
            && launch.leave.is_none()
            && !launch.suppose.has_slack()
            && !program.cores.iter().flat_map(|core| &core.insts).any(unfit);
        let look = Look::Rest(if able { FIRST } else { u64::MAX });
        Steady { able, look, steps: 0, pause: FIRST, due: 0, trace: None, repeated: 0 }
    }

    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// True if the state before the step of an agent is to be examined.
    #[inline]
    pub fn is_due(&mut self, agent: u32) -> bool {
        self.steps += 1;
        match &self.look {
            Look::Rest(until) => self.steps >= *until,
            Look::Back { until, .. } | Look::Twice { until, .. } => agent == self.due || self.steps >= *until,
        }
    }

    /// Records executed work.
    #[inline]
    pub fn done(&mut self, done: impl FnOnce() -> Held) {
        if let Some(trace) = &mut self.trace {
            trace.push(done());
        }
    }

    /// Suspends the search for some steps: few if a repetition was found, otherwise twice as many as before.
    pub(crate) fn rest(&mut self, found: bool) {
        self.trace = None;
        self.pause = if found { FIRST } else { self.pause.saturating_mul(2) };
        self.look = Look::Rest(self.steps.saturating_add(if self.able { self.pause } else { u64::MAX }));
    }
}
