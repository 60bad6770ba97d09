//! Arguments of `slipring run`.

use clap::Args;
use slipring::{
    BoardOptions, Error, MOST_BLOCKS, MOST_DEVICES, MOST_LAUNCHES, MOST_SLACK, ProgramOptions, RunOptions, Timing,
    tools,
};

use super::super::board::board_named;
use super::super::input::read_schedule;
use super::super::kernel::KernelArgs;
use super::super::written::a_file;

// Arguments of `run`.
#[derive(Args)]
pub(in crate::verbs) struct RunArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Number of clusters for the tasks of a program. Defaults to all of the platform
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_BLOCKS)))]
    pub clusters: Option<u32>,
    /// Number of devices for a multi-device program (`pld.world_size()`). Defaults to 2
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DEVICES)))]
    pub devices: Option<u32>,
    /// Seed that decides which of several ready tasks starts; 0 takes the one submitted first
    #[arg(long, value_name = "N")]
    pub order: Option<u64>,
    /// Zeroed bytes after each buffer in global memory, as a device allocator leaves them; accessing them is not a
    /// finding
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MOST_SLACK))]
    pub gm_slack: u64,
    /// Durations of operations: `platform`, `random:SEED` (each step and signal takes from 1 to 131072 cycles),
    /// `slow:AIV0` or `slow:AIC.FIX` (that core or pipe is slow, everything else fast). A kernel that is clean for all
    /// schedules gives the same bytes
    #[arg(long, value_name = "T", default_value = "platform")]
    pub timing: Timing,
    /// Delayed operations, one per line: `delay AIV0.MTE3 work 4 by 1200`, as written by `slipring prove`
    #[arg(long, value_name = "FILE", conflicts_with = "device")]
    pub schedule: Option<String>,
    /// Launch this many times, each time with the given arguments, on the device as the previous launch left it (local
    /// memories, and signals if the platform keeps them). Reports the last launch, or the first one with a finding
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_LAUNCHES)))]
    pub launches: u32,
    /// Only count cycles: compute nothing, and do not look for races or uninitialised bytes. For launches too large to
    /// run
    #[arg(long, conflicts_with_all = ["verify", "check", "device"])]
    pub time_only: bool,
    /// Also run the source sequentially, op by op, and compare every buffer
    #[arg(long)]
    pub verify: bool,
    /// Expected contents of a buffer after the run, once per buffer: `out=@golden.npy,rtol=1e-3,atol=1e-5`, or
    /// `out=zeros:f32[64x64]`. Without tolerances values must be equal. Reports how many differ, where, and by how much
    #[arg(long, value_name = "E", conflicts_with = "time_only")]
    pub expect: Vec<String>,
    /// Checks to run: all, none, or a list of memory, sync, init, race
    #[arg(long, value_name = "TOOLS", default_value = "all")]
    pub check: String,
    /// Precondition on the scalar arguments, such as `n % 8 == 0, valid_row <= 32`. A launch that violates it is a
    /// finding. May be repeated; assumptions of the kernel itself are added
    #[arg(long, value_name = "CONDITIONS", conflicts_with = "device")]
    pub assume: Vec<String>,
    /// Treat uninitialised bytes in the results as errors, not warnings
    #[arg(long)]
    pub strict: bool,
    /// Launch through the command queue of a board (p100, p150, or a board file `my.toml`), one block per worker
    #[arg(long, value_name = "BOARD", conflicts_with_all = ["verify", "check", "strict", "stats", "timing", "launches"])]
    pub device: Option<String>,
    /// Seed for the delays of the board, to reach other interleavings
    #[arg(long, value_name = "N", requires = "device")]
    pub delays: Option<u64>,
    /// Write what the host queues to this file, as a stream for `slipring queue`. `queue run --kernels` runs it again
    #[arg(long, value_name = "FILE", requires = "device", value_parser = a_file)]
    pub record: Option<String>,
    /// Write a timeline of all pipes and scalar units, in Perfetto's binary format if the name ends in `.pftrace`, else
    /// in Chrome's JSON
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Also print the timeline as text
    #[arg(long, conflicts_with = "device")]
    pub timeline: bool,
    /// Also print cycles, stalls and bytes by source line, and the critical path
    #[arg(long, conflicts_with = "device")]
    pub lines: bool,
    /// Also print what would make it faster: forecasts (from further runs), and edits of the source that were tried
    #[arg(long, conflicts_with = "device")]
    pub advice: bool,
    /// Also print tables by op and by ring, and when each push, pop and free used which tag
    #[arg(long)]
    pub stats: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Also write all diagnostics to this file, as a SARIF log
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<String>,
}

impl RunArgs {
    /// How a kernel is run.
    ///
    /// # Errors
    /// A schedule that cannot be read, or a tool that there is not.
    pub fn options(&self) -> Result<RunOptions, Error> {
        let mut options = self.kernel.options();
        options.gm_slack = self.gm_slack;
        options.timing = self.timing;
        options.delays = self.schedule.as_deref().map_or(Ok(Vec::new()), read_schedule)?;
        options.launches = self.launches;
        options.strict = self.strict;
        options.assume.clone_from(&self.assume);
        options.time_only = self.time_only;
        options.trace = self.stats || self.json;
        options.record = self.trace.is_some() || self.timeline || self.lines || self.advice;
        options.tools = tools(&self.check).map_err(Error::Arguments)?;
        Ok(options)
    }

    /// The same for a whole program.
    ///
    /// # Errors
    /// Those of [`RunArgs::options`].
    pub fn program_options(&self) -> Result<ProgramOptions, Error> {
        let run = self.options()?;
        let mut options = ProgramOptions::from(&run);
        (options.clusters, options.devices, options.record) = (self.clusters, self.devices, run.record);
        Ok(options)
    }

    /// The board that it runs through, if it does.
    ///
    /// # Errors
    /// If there is no such board.
    pub fn board(&self) -> Result<Option<BoardOptions>, Error> {
        let board = self.device.as_deref().map(board_named).transpose().map_err(Error::Arguments)?;
        Ok(board.map(|board| BoardOptions { board, delays: self.delays, record: self.record.is_some() }))
    }
}
