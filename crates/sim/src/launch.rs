//! A launch and its result.

use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_program::{Cancel, CoreProgram, Program};

use crate::delay::Delay;
use crate::suppose::Suppose;
use crate::timing::Timing;

/// What is passed for a kernel parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgValue {
    /// The address of byte 0 of a buffer: its index in [`Memory::gm`](slipring_program::Memory::gm).
    Buffer(usize),
    /// The address of a byte of a buffer: a part of it is passed.
    Part {
        /// Its index in [`Memory::gm`](slipring_program::Memory::gm).
        buffer: usize,
        /// Which byte.
        offset: u64,
    },
    /// A scalar, in the representation of registers.
    Scalar(u64),
}

/// How the cores are scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExecutionMode {
    /// As the hardware: pipes work on their own, everything takes its time.
    #[default]
    Pipes,
    /// The sequential semantics: every work completes before the scalar unit goes on, flags and barriers
    /// inside a core do nothing, a core runs until it must wait for another one, then the next core runs.
    Sequential,
}

/// When a run is given up: a budget for everything that all cores and blocks do together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Steps. A scalar instruction is one, of a vector function too; a vector instruction is 8; work on a pipe is one for
    /// each 4 cycles that it takes.
    pub steps: u64,
    /// Cycles.
    pub cycles: u64,
    /// Bytes that the program prints.
    pub output: u64,
    /// Bytes of buffers in global memory and of local memories, for whoever makes them: the engine takes what it is given.
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
    /// What runs on each block.
    pub program: &'a Program,
    /// The machine.
    pub platform: &'a Platform,
    /// How often the program runs, each time on a cluster of its own. More blocks than the platform has
    /// clusters run in waves: a block starts when a cluster becomes free.
    pub blocks: u32,
    /// Where these blocks stand in a launch that several machines share: the number of the first, and how many there are in all,
    /// which is what the program is told. By default the launch is whole.
    pub part: Option<(u32, u32)>,
    /// Kernel arguments in order of the parameters.
    pub args: Vec<ArgValue>,
    /// How the cores are scheduled.
    pub mode: ExecutionMode,
    /// When to give up.
    pub limits: Limits,
    /// How long things take.
    pub timing: Timing,
    /// Works that take longer than that.
    pub delays: Vec<Delay>,
    /// Whether work is carried out. Without, only its time is taken: memory keeps what it held, and a scalar that is read from
    /// where work would have written ends the run. What finds out what it touches by running runs all the same.
    pub values: bool,
    /// Signals that are there at the start, for the first block of each cluster, as [`RunResult::counters`](crate::RunResult::counters) has them; what is
    /// not listed starts with none.
    pub counters: Vec<u64>,
    /// Which cores leave their loops where all meet, meeting by meeting, whatever their numbers say: by their place in
    /// [`CutPoint::cores`](crate::CutPoint::cores). After the end of the list all leave. By default it is as their numbers say.
    pub leave: Option<Vec<Vec<usize>>>,
    /// Whether a loop that was found never to end stops the run at once, with `endless-loop`, and not only at the limit of steps.
    /// One that does nothing that others see stops it in any case.
    pub stop_endless: bool,
    /// What is otherwise, for forecasts; by default nothing.
    pub suppose: Suppose,
    /// Whether a loop whose state comes back is stepped through to its end all the same. What comes of a run is the same.
    pub step_by_step: bool,
    /// The cancellation token; by default nobody has it.
    pub cancel: Cancel,
}

impl<'a> Launch<'a> {
    /// A launch on pipes with the default limits.
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

    /// The same launch on a device where an earlier one has left these signals.
    pub fn counters(mut self, counters: Vec<u64>) -> Launch<'a> {
        self.counters = counters;
        self
    }

    /// The same launch, given up when the token is set: the finding is then `cancelled`.
    pub fn cancel(mut self, cancel: Cancel) -> Launch<'a> {
        self.cancel = cancel;
        self
    }

    /// The same blocks as a part of a larger launch: numbered from `first` on, of `of` in all.
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

    /// The pipes that the program of a core may use: all there are for one that does the work of every core.
    pub(crate) fn pipes_of(&self, core: &CoreProgram) -> Vec<Pipe> {
        if self.program.whole_cluster { Pipe::ALL.to_vec() } else { self.platform.pipes_of(core.role.kind()) }
    }

    /// Clusters that the launch uses: how many blocks' worth of local memories it needs. Each Vector core of a cluster is one by
    /// itself where a block needs no other core.
    pub fn clusters(&self) -> u32 {
        self.blocks.min(places(self.program, self.platform))
    }
}

/// How many blocks run at the same time: one on each cluster, or one on each Vector core where a block needs a single one.
pub fn places(program: &Program, platform: &Platform) -> u32 {
    const VECTOR_CORES: u32 = 2;
    match &program.cores[..] {
        [only] if only.role.kind() == CoreKind::Vector && !program.whole_cluster => {
            platform.clusters.saturating_mul(VECTOR_CORES)
        }
        _ => platform.clusters,
    }
}
