//! What is known of a state to which a run may come back.

use slipring_program::Inst;

use crate::held::Held;
use crate::launch::{ExecutionMode, Launch};
use crate::standing::Standing;
use crate::timing::Timing;

/// Turns of the engine before it looks for the first time.
const FIRST: u64 = 256;

/// A state of the run.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    pub(crate) at: u64,
    /// Of the engine, then of its observers where they were asked.
    pub(crate) engine: Standing,
    pub(crate) observers: Standing,
}

/// What is being looked for.
#[derive(Debug)]
pub(crate) enum Look {
    /// Nothing until this turn.
    Rest(u64),
    /// The state to which the engine may come back, until this turn.
    Back { mark: Box<Mark>, until: u64 },
    /// It came back once, its counts moved so far: whether it does so again, observers and all.
    Twice { mark: Box<Mark>, moved: Vec<u64>, until: u64, tries: u32 },
}

/// Looks for what comes back.
#[derive(Debug)]
pub(crate) struct Steady {
    /// Some runs are followed step by step.
    pub(crate) able: bool,
    pub(crate) look: Look,
    pub(crate) steps: u64,
    /// Turns until it is looked for again.
    pause: u64,
    /// Who is due in the state to which the run may come back.
    pub(crate) due: u32,
    /// Work since the engine came back, where it is kept.
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

    /// True if the state before the turn of an agent is to be looked at.
    #[inline]
    pub fn is_due(&mut self, agent: u32) -> bool {
        self.steps += 1;
        match &self.look {
            Look::Rest(until) => self.steps >= *until,
            Look::Back { until, .. } | Look::Twice { until, .. } => agent == self.due || self.steps >= *until,
        }
    }

    /// Work is carried out.
    #[inline]
    pub fn done(&mut self, done: impl FnOnce() -> Held) {
        if let Some(trace) = &mut self.trace {
            trace.push(done());
        }
    }

    /// Nothing is looked for until some turns have passed: few where something was found, else twice as many as before.
    pub(crate) fn rest(&mut self, found: bool) {
        self.trace = None;
        self.pause = if found { FIRST } else { self.pause.saturating_mul(2) };
        self.look = Look::Rest(self.steps.saturating_add(if self.able { self.pause } else { u64::MAX }));
    }
}
