//! `slipring calibrate`: a platform file for a board, fitted to a profile recorded on it.

use clap::Args;
use slipring::Error;
use slipring_explore::Profile;
use slipring_machine::PlatformTable;

use super::exit::Exit;
use super::input::{read_bytes, read_text, shown};
use super::kernel::KernelArgs;
use super::output::{out, refused, report_all, write_file};
use super::written::{divide, written_by_run_only};

// Arguments of `calibrate`.
#[derive(Args)]
pub(super) struct CalibrateArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// What was recorded of the same launch: `trace.json` of the operator simulator, `PipeUtilization.csv` of the
    /// operator profiler, or `pmu.csv` of the public runtime
    #[arg(long, value_name = "PROFILE")]
    pub from: String,
    /// Where the platform file goes, for `--platform`; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: String,
}

/// Fits the figures of a platform to a profile.
pub(super) fn calibrate(args: &CalibrateArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, false))
}

fn start(args: &CalibrateArgs) -> Result<Exit, Error> {
    let subject = args.kernel.subject()?;
    let kernel = args.kernel.kernel_of(&subject)?;
    report_all(&kernel.compile()?);
    let (tensors, files) = divide(args.kernel.arguments(&kernel)?);
    written_by_run_only(&files)?;
    let bytes = read_bytes(&args.from).map_err(Error::File)?;
    let clock = kernel.compiled()?.platform.clock_mhz;
    let wrong = |error| Error::File(format!("`{}` is not a profile: {error}", shown(&args.from)));
    let profile = Profile::read(&bytes, clock).map_err(wrong)?;
    let table = match &args.kernel.platform.platform {
        Some(path) => PlatformTable::read(&read_text(path).map_err(Error::File)?),
        None => PlatformTable::built_in(kernel.platform_name()?),
    };
    let table = table.map_err(|error| Error::Platform(error.to_string()))?;
    let found = profile.calibrate(&kernel, &table, &tensors, &args.kernel.options()?)?;
    write_file(&args.output, &[found.text.as_bytes()]).map_err(Error::File)?;
    if args.output != "-" {
        out(&found.summary());
    }
    Ok(Exit::Clean)
}
