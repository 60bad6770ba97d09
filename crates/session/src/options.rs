//! Options of a kernel's run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use slipring_check::Tools;
use slipring_machine::{Pipe, Platform};
use slipring_program::Cancel;
use slipring_sim::{Delay, Launch, Limits, Observer, Standing, Timing, WorkRun};

use crate::Error;

/// Maximum number of consecutive launches.
pub const MOST_LAUNCHES: u32 = 1000;

/// Maximum number of slack bytes after a buffer.
pub const MOST_SLACK: u64 = 1 << 30;

/// Maximum number of devices of a whole program.
pub const MOST_DEVICES: u32 = 64;

/// Progress of a run and its cancellation, shared with another thread. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct Control {
    cancel: Cancel,
    seen: Arc<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    cycle: AtomicU64,
    blocks: AtomicU64,
    /// Blocks of the launch.
    all: AtomicU64,
    /// The current stage of a task that consists of several runs.
    stage: Mutex<String>,
}

impl Control {
    /// Ends the run within some milliseconds; it then has no results.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// True if the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The cycle that the run has reached.
    pub fn cycle(&self) -> u64 {
        self.seen.cycle.load(Ordering::Relaxed)
    }

    /// Completed blocks, and blocks of the launch.
    pub fn blocks(&self) -> [u64; 2] {
        [&self.seen.blocks, &self.seen.all].map(|number| number.load(Ordering::Relaxed))
    }

    /// The current stage, if there are several runs, as in a proof; otherwise empty.
    pub fn stage(&self) -> String {
        self.seen.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the current stage.
    #[doc(hidden)]
    pub fn tell(&self, stage: String) {
        *self.seen.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// The token that the engine checks.
    #[doc(hidden)]
    pub fn cancel_token(&self) -> Cancel {
        self.cancel.clone()
    }
}

impl Observer for Control {
    fn begin(&mut self, launch: &Launch<'_>) {
        self.seen.cycle.store(0, Ordering::Relaxed);
        self.seen.blocks.store(0, Ordering::Relaxed);
        self.seen.all.store(launch.blocks.into(), Ordering::Relaxed);
    }

    #[inline]
    fn end(&mut self, at: u64, _: &WorkRun<'_>) {
        self.seen.cycle.store(at, Ordering::Relaxed);
    }

    fn block_end(&mut self, _: u64, _: u32, _: u32) {
        self.seen.blocks.fetch_add(1, Ordering::Relaxed);
    }

    fn stand(&mut self, _: &mut Standing) -> bool {
        true
    }
}

/// How a kernel is run. All checks are on by default.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOptions {
    /// Blocks of the launch; by default those that the file or the kernel specifies, otherwise 1.
    pub blocks: Option<u32>,
    /// The limits of the run.
    pub limits: Limits,
    /// Zeroed bytes after every buffer that the kernel may touch.
    pub gm_slack: u64,
    /// The durations.
    pub timing: Timing,
    /// Delayed work: a schedule to replay.
    pub delays: Vec<Delay>,
    /// Determines times only: nothing is computed, no tool is active, and buffers keep the passed contents.
    pub time_only: bool,
    /// Number of consecutive launches on the same device, up to the first one with a finding; at least 1.
    pub launches: u32,
    /// Conditions that the scalar arguments of each launch satisfy, such as `n % 8 == 0`, besides those in the kernel:
    /// a launch that violates them is a finding, and no proof covers it.
    pub assume: Vec<String>,
    /// The active tools.
    pub tools: Tools,
    /// Whether unwritten bytes in the results are an error instead of a warning.
    pub strict: bool,
    /// Whether the times of each ring's tiles are recorded.
    pub trace: bool,
    /// Maximum number of events recorded for [`Run::timeline`](crate::Run::timeline); the others are only counted.
    pub events: usize,
    /// Whether everything that happens is recorded, for [`Run::trace`](crate::Run::trace),
    /// [`Run::lines`](crate::Run::lines) and [`Run::path`](crate::Run::path).
    pub record: bool,
    /// Whether a loop found to be infinite stops the run at once, with `endless-loop`, and not only at the step limit.
    pub stop_endless: bool,
    /// Progress and cancellation for another thread.
    pub control: Control,
}

impl Default for RunOptions {
    /// All tools, the kernel's own number of blocks, one launch, the engine's limits, up to 65536 events.
    fn default() -> RunOptions {
        RunOptions {
            blocks: None,
            limits: Limits::default(),
            gm_slack: 0,
            timing: Timing::Platform,
            delays: Vec::new(),
            time_only: false,
            launches: 1,
            assume: Vec::new(),
            tools: Tools::default(),
            strict: false,
            trace: true,
            events: 1 << 16,
            record: false,
            stop_endless: false,
            control: Control::default(),
        }
    }
}

impl RunOptions {
    /// The defaults.
    pub fn new() -> RunOptions {
        RunOptions::default()
    }

    /// Sets the number of blocks.
    pub fn blocks(mut self, blocks: u32) -> RunOptions {
        self.blocks = Some(blocks);
        self
    }

    /// Determines times only, without values.
    pub fn time_only(mut self) -> RunOptions {
        self.time_only = true;
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> RunOptions {
        self.limits = limits;
        self
    }

    /// Sets the active tools.
    pub fn tools(mut self, tools: Tools) -> RunOptions {
        self.tools = tools;
        self
    }

    /// Sets the durations.
    pub fn timing(mut self, timing: Timing) -> RunOptions {
        self.timing = timing;
        self
    }

    /// Sets whether everything that happens is recorded.
    pub fn record(mut self, record: bool) -> RunOptions {
        self.record = record;
        self
    }

    /// Sets whether unwritten bytes are errors.
    pub fn strict(mut self, strict: bool) -> RunOptions {
        self.strict = strict;
        self
    }

    /// The same options with values and without any recording.
    #[doc(hidden)]
    pub fn quiet(&self) -> RunOptions {
        RunOptions { trace: false, events: 0, record: false, time_only: false, ..self.clone() }
    }

    /// Sets the control through which the run is observed and cancelled.
    pub fn control(mut self, control: Control) -> RunOptions {
        self.control = control;
        self
    }
}

/// Checks that a core of the platform has the pipe that a timing makes slow.
///
/// # Errors
/// If it has none with that name: nothing would be slow.
pub fn timing_fits(timing: Timing, platform: &Platform) -> Result<(), Error> {
    let Timing::Slow { role, pipe: Some(pipe) } = timing else { return Ok(()) };
    let pipes = platform.pipes_of(role.kind());
    if pipes.contains(&pipe) {
        return Ok(());
    }
    let own: Vec<String> = pipes.iter().map(Pipe::to_string).collect();
    let own = own.join(", ");
    Err(Error::Arguments(format!("`--timing {timing}`: {role} of {} has no pipe {pipe}; it has {own}", platform.name)))
}
