//! How a kernel is run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use slipring_check::Tools;
use slipring_machine::{Pipe, Platform};
use slipring_program::Cancel;
use slipring_sim::{Delay, Launch, Limits, Observer, Standing, Timing, WorkRun};

use crate::Error;

/// The most launches one after another.
pub const MOST_LAUNCHES: u32 = 1000;

/// The most bytes after a buffer that belong to nothing.
pub const MOST_SLACK: u64 = 1 << 30;

/// The most devices of a whole program.
pub const MOST_DEVICES: u32 = 64;

/// What another thread sees of a run and does to it. Copies are the same one.
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
    /// What is done now, of a work of several runs.
    stage: Mutex<String>,
}

impl Control {
    /// Ends the run within some milliseconds: it then has no results.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// True if the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The cycle that the run has come to.
    pub fn cycle(&self) -> u64 {
        self.seen.cycle.load(Ordering::Relaxed)
    }

    /// Blocks that are over, and blocks of the launch.
    pub fn blocks(&self) -> [u64; 2] {
        [&self.seen.blocks, &self.seen.all].map(|number| number.load(Ordering::Relaxed))
    }

    /// What is done now, where there are several runs, such as a proof; empty elsewhere.
    pub fn stage(&self) -> String {
        self.seen.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells what is done now.
    #[doc(hidden)]
    pub fn tell(&self, stage: String) {
        *self.seen.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// What the engine asks.
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
    /// Blocks of the launch; by default those that the file or the kernel asks for, else 1.
    pub blocks: Option<u32>,
    /// When the run is given up.
    pub limits: Limits,
    /// Zeroed bytes after every buffer that the kernel may touch.
    pub gm_slack: u64,
    /// How long things take.
    pub timing: Timing,
    /// Works that take longer than that: a schedule to replay.
    pub delays: Vec<Delay>,
    /// Take times only: nothing is computed, no tool watches, and buffers keep what was passed.
    pub time_only: bool,
    /// Launches one after another on the same device, up to the first one with a finding; at least 1.
    pub launches: u32,
    /// What the scalar arguments of each launch satisfy, such as `n % 8 == 0`, besides what the kernel says itself: a launch that does
    /// not is a finding, and no proof speaks of it.
    pub assume: Vec<String>,
    /// Which tools watch.
    pub tools: Tools,
    /// Bytes in the results that nobody has written are an error, not a warning.
    pub strict: bool,
    /// Whether the times of each ring's tiles are kept.
    pub trace: bool,
    /// How many events are kept for [`Run::timeline`](crate::Run::timeline); the others are only counted.
    pub events: usize,
    /// Whether everything that happens is kept, for [`Run::trace`](crate::Run::trace), [`Run::lines`](crate::Run::lines) and
    /// [`Run::path`](crate::Run::path).
    pub record: bool,
    /// Whether a loop that was found never to end stops the run at once, with `endless-loop`, and not only at the limit of steps.
    pub stop_endless: bool,
    /// What another thread sees of the run and does to it.
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

    /// With so many blocks.
    pub fn blocks(mut self, blocks: u32) -> RunOptions {
        self.blocks = Some(blocks);
        self
    }

    /// Without values: only times are taken.
    pub fn time_only(mut self) -> RunOptions {
        self.time_only = true;
        self
    }

    /// With other limits.
    pub fn limits(mut self, limits: Limits) -> RunOptions {
        self.limits = limits;
        self
    }

    /// With these tools.
    pub fn tools(mut self, tools: Tools) -> RunOptions {
        self.tools = tools;
        self
    }

    /// With other durations.
    pub fn timing(mut self, timing: Timing) -> RunOptions {
        self.timing = timing;
        self
    }

    /// With everything kept that happens.
    pub fn record(mut self, record: bool) -> RunOptions {
        self.record = record;
        self
    }

    /// With bytes that nobody wrote as errors.
    pub fn strict(mut self, strict: bool) -> RunOptions {
        self.strict = strict;
        self
    }

    /// The same run with values and nothing kept of what happens in it.
    #[doc(hidden)]
    pub fn quiet(&self) -> RunOptions {
        RunOptions { trace: false, events: 0, record: false, time_only: false, ..self.clone() }
    }

    /// Seen and cancelled by whoever has this.
    pub fn control(mut self, control: Control) -> RunOptions {
        self.control = control;
        self
    }
}

/// Nothing, where the core of a platform has the pipe that a timing makes slow.
///
/// # Errors
/// If it has none of that name: nothing would be slow.
pub fn timing_fits(timing: Timing, platform: &Platform) -> Result<(), Error> {
    let Timing::Slow { role, pipe: Some(pipe) } = timing else { return Ok(()) };
    let pipes = platform.pipes_of(role.kind());
    if pipes.contains(&pipe) {
        return Ok(());
    }
    let own: Vec<String> = pipes.iter().map(Pipe::to_string).collect();
    let own = own.join(", ");
    Err(Error::Arguments(format!("`--timing {timing}`: {role} of {} has no pipe {pipe}, but {own}", platform.name)))
}
