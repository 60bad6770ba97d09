//! `slipring timeline`: compares a run with a profile of a board, or of the vendor's simulator of one.

use clap::Args;
use slipring::Error;
use slipring_explore::Profile;

use super::exit::Exit;
use super::input::{read_bytes, shown};
use super::kernel::KernelArgs;
use super::output::{json, out, refused, report_all};
use super::written::{divide, one_output, write_trace, written_by_run_only};

// Arguments of `timeline`.
#[derive(Args)]
pub(super) struct TimelineArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// A profile of the same kernel: `trace.json` of the operator simulator, `PipeUtilization.csv` of the operator
    /// profiler, `chip_swimlane_records.json`, `merged_swimlane.json` or `pmu.csv` of the public runtime
    #[arg(long, value_name = "PROFILE")]
    pub against: String,
    /// Also write both timelines to one file, in Perfetto's binary format if the name ends in `.pftrace`, else in
    /// Chrome's JSON
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs a kernel and compares it with a profile.
pub(super) fn timeline(args: &TimelineArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, args.json))
}

fn start(args: &TimelineArgs) -> Result<Exit, Error> {
    one_output(args.json, args.trace.as_deref()).map_err(Error::Arguments)?;
    let subject = args.kernel.subject()?;
    let kernel = args.kernel.kernel_of(&subject)?;
    report_all(&kernel.compile()?);
    let (tensors, files) = divide(args.kernel.arguments(&kernel)?);
    written_by_run_only(&files)?;
    let bytes = read_bytes(&args.against).map_err(Error::File)?;
    let run = kernel.run_with(tensors, &args.kernel.options()?.record(true))?;
    report_all(run.findings());
    let trace = run.trace().ok_or_else(|| Error::Arguments("internal error: the run was not recorded".into()))?;
    let wrong = |error| Error::File(format!("`{}` is not a profile: {error}", shown(&args.against)));
    let profile = Profile::read(&bytes, trace.clock_mhz).map_err(wrong)?;
    if !run.is_complete() {
        return Err(Error::Incomplete(run.findings().clone()));
    }
    let beside = profile.beside(&run.facts());
    if args.json {
        json(&beside);
    } else {
        out(&beside.text());
    }
    if args.trace.is_some() {
        write_trace(args.trace.as_deref(), Some(&profile.trace_beside(&trace))).map_err(Error::File)?;
    }
    Ok(if run.findings().errors() > 0 { Exit::Findings } else { Exit::Clean })
}
