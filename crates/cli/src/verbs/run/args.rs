//! Arguments of `slipring run`.

use clap::Args;
use slipring::{BoardOptions, Error, RunRequest};

use super::super::board::board_named;
use super::super::flags::{Flags, OfRun};
use super::super::kernel::KernelArgs;
use super::super::written::a_file;

// Arguments of `run`.
#[derive(Args)]
pub(in crate::verbs) struct RunArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    #[command(flatten)]
    pub flags: Flags<OfRun>,
    /// Expected contents of a buffer after the run, once per buffer: `out=@golden.npy,rtol=1e-3,atol=1e-5`, or
    /// `out=zeros:f32[64x64]`. Without tolerances values must be equal. Reports how many differ, where, and by how much
    #[arg(long, value_name = "E", conflicts_with = "time_only")]
    pub expect: Vec<String>,
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
    /// The request for the run of a kernel or of a whole program.
    ///
    /// # Errors
    ///
    /// An option that has no effect on the run, and a schedule that cannot be read.
    pub fn request(&self, of_program: bool) -> Result<RunRequest, Error> {
        let mut request = self.kernel.request()?;
        let put = self.flags.put(&mut request);
        self.flags.fit(request.way(of_program))?;
        put?;
        request.run.trace = self.stats || self.json;
        request.run.record = self.trace.is_some() || self.timeline || self.lines || self.advice;
        request.on(request.way(of_program))?;
        Ok(request)
    }

    /// The board through which the kernel runs, if there is one.
    ///
    /// # Errors
    ///
    /// If there is no such board.
    pub fn board(&self, request: &RunRequest) -> Result<Option<BoardOptions>, Error> {
        let board = request.device.as_deref().map(board_named).transpose().map_err(Error::Arguments)?;
        Ok(board.map(|board| BoardOptions { board, delays: request.delays, record: self.record.is_some() }))
    }
}
