//! A launch and its result.

use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_program::{Cancel, CoreProgram, Program};

use crate::delay::Delay;
use crate::suppose::Suppose;
use crate::timing::Timing;

/// The value passed for a kernel parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgValue {
    /// The address of byte 0 of a buffer: its index in [`Memory::gm`](slipring_program::Memory::gm).
    Buffer(usize),
    /// The address of a byte within a buffer: a part of the buffer is passed.
    Part {
        /// Its index in [`Memory::gm`](slipring_program::Memory::gm).
        buffer: usize,
        /// The byte offset.
        offset: u64,
    },
    /// A scalar, in the representation of registers.
    Scalar(u64),
}

/// How the cores are scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExecutionMode {
    /// Like the hardware: pipes run asynchronously, and everything takes time.
    #[default]
    Pipes,
    /// The sequential semantics: each work item completes before the scalar unit continues, flags and barriers inside a
    /// core do nothing, and a core runs until it must wait for another one, then the next core runs.
    Sequential,
}

/// Limits of a run: a budget for everything that all cores and blocks do together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Steps. A scalar instruction is one, also in a vector function; a vector instruction is 8; work on a pipe is one
    /// for every 4 cycles of its duration.
    pub steps: u64,
    /// Cycles.
    pub cycles: u64,
    /// Bytes that the program prints.
    pub output: u64,
    /// Bytes of buffers in global memory and of local memories, enforced by the code that allocates them: the engine
    /// uses the memory it is given.
    pub memory: u64,
}

impl Default for Limits {
    /// 2^31 steps (some seconds of an endless loop), 2^48 cycles (days of hardware time), 16 MiB of text, 8 GiB of memory.
    fn default() -> Limits {
        Limits { steps: 1 << 31, cycles: 1 << 48, output: 1 << 24, memory: 1 << 33 }
    }
}

/// A program with everything it needs to run, except memory.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The program that each block runs.
    pub program: &'a Program,
    /// The machine.
    pub platform: &'a Platform,
    /// How often the program runs, each time on a cluster of its own. More blocks than the platform has
    /// clusters run in waves: a block starts when a cluster becomes free.
    pub blocks: u32,
    /// The position of these blocks in a launch shared by several machines: the number of the first and the total,
    /// which the program sees. By default the launch is whole.
    pub part: Option<(u32, u32)>,
    /// Kernel arguments in order of the parameters.
    pub args: Vec<ArgValue>,
    /// How the cores are scheduled.
    pub mode: ExecutionMode,
    /// The limits.
    pub limits: Limits,
    /// The durations.
    pub timing: Timing,
    /// Delayed work.
    pub delays: Vec<Delay>,
    /// Whether work is executed. Otherwise only its time is determined: memory is unchanged, and a scalar read of data
    /// that work would have written ends the run. Work that discovers its accesses by running is always executed.
    pub values: bool,
    /// Initial signals for the first block of each cluster, as in [`RunResult::counters`](crate::RunResult::counters);
    /// objects that are not listed start with none.
    pub counters: Vec<u64>,
    /// The cores that leave their loops at each meeting point, regardless of their own values, by index in
    /// [`CutPoint::cores`](crate::CutPoint::cores). After the end of the list all leave. By default their values
    /// decide.
    pub leave: Option<Vec<Vec<usize>>>,
    /// Whether a loop found to be infinite stops the run at once, with `endless-loop`, and not only at the step limit.
    /// One without effects that others observe always stops it.
    pub stop_endless: bool,
    /// Hypothetical changes for forecasts (what-if); none by default.
    pub suppose: Suppose,
    /// Whether loops are stepped to their end even if their state repeats. The result of a run is the same.
    pub step_by_step: bool,
    /// The cancellation token; by default it is never set.
    pub cancel: Cancel,
}

impl<'a> Launch<'a> {
    /// A launch in pipe mode with the default limits.
    pub fn new(program: &'a Program, platform: &'a Platform, blocks: u32, args: Vec<ArgValue>) -> Launch<'a> {
        Launch {
            program,
            platform,
            blocks,
            part: None,
            args,
            mode: ExecutionMode::Pipes,
            limits: Limits::default(),
            timing: Timing::Platform,
            delays: Vec::new(),
            values: true,
            counters: Vec::new(),
            leave: None,
            stop_endless: false,
            suppose: Suppose::default(),
            step_by_step: false,
            cancel: Cancel::default(),
        }
    }

    /// The same launch in another mode.
    pub fn mode(mut self, mode: ExecutionMode) -> Launch<'a> {
        self.mode = mode;
        self
    }

    /// The same launch with other limits.
    pub fn limits(mut self, limits: Limits) -> Launch<'a> {
        self.limits = limits;
        self
    }

    /// The same launch with other durations.
    pub fn timing(mut self, timing: Timing) -> Launch<'a> {
        self.timing = timing;
        self
    }

    /// The same launch on a device where an earlier launch left these signals.
    pub fn counters(mut self, counters: Vec<u64>) -> Launch<'a> {
        self.counters = counters;
        self
    }

    /// The same launch, stopped when the token is set: the finding is then `cancelled`.
    pub fn cancel(mut self, cancel: Cancel) -> Launch<'a> {
        self.cancel = cancel;
        self
    }

    /// The same blocks as part of a larger launch: numbered from `first`, out of `of` in total.
    pub fn part(mut self, first: u32, of: u32) -> Launch<'a> {
        self.part = Some((first, of));
        self
    }

    /// The number of the first block.
    pub(crate) fn first_block(&self) -> u32 {
        self.part.map_or(0, |(first, _)| first)
    }

    /// Blocks of the whole launch.
    pub(crate) fn all_blocks(&self) -> u32 {
        self.part.map_or(self.blocks, |(_, of)| of)
    }

    /// The pipes that the program of a core may use: all of them for a program that represents the whole cluster.
    pub(crate) fn pipes_of(&self, core: &CoreProgram) -> Vec<Pipe> {
        if self.program.whole_cluster { Pipe::ALL.to_vec() } else { self.platform.pipes_of(core.role.kind()) }
    }

    /// Clusters that the launch uses, and thus the number of sets of local memories it needs. Each Vector core of a
    /// cluster counts by itself if a block needs no other core.
    pub fn clusters(&self) -> u32 {
        self.blocks.min(places(self.program, self.platform))
    }
}

/// The number of blocks that run concurrently: one on each cluster, or one on each Vector core if a block needs only a
/// single one.
pub fn places(program: &Program, platform: &Platform) -> u32 {
    const VECTOR_CORES: u32 = 2;
    match &program.cores[..] {
        [only] if only.role.kind() == CoreKind::Vector && !program.whole_cluster => {
            platform.clusters.saturating_mul(VECTOR_CORES)
        }
        _ => platform.clusters,
    }
}
