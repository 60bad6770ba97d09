//! `slipring report`: a run as one page.

use clap::Args;
use slipring::Error;

use super::Exit;
use super::kernel::KernelArgs;
use super::output::{fail, note, report_all, write_file};
use super::run::{divide, refused};

/// Arguments of `report`.
#[derive(Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    kernel: KernelArgs,
    /// The page; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: String,
    /// Leave out what would make it faster, which takes a run for each forecast
    #[arg(long)]
    no_advice: bool,
}

/// Runs a kernel and writes the page.
pub(super) fn report(args: &ReportArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, false))
}

fn start(args: &ReportArgs) -> Result<Exit, Error> {
    let kernel = args.kernel.kernel()?;
    report_all(&kernel.compile()?);
    let (tensors, _) = divide(args.kernel.arguments(&kernel)?);
    let run = kernel.run_with(tensors, &args.kernel.options().record(true))?;
    report_all(run.findings());
    let advice = if args.no_advice { None } else { run.advice()? };
    let Some(page) = run.html(advice.as_ref()) else { return Ok(fail("internal error: the run was not recorded")) };
    if let Err(message) = page.and_then(|page| write_file(&args.output, &[page.as_bytes()])) {
        return Ok(fail(message));
    }
    if args.output != "-" {
        note(format!("the report is in `{}`", args.output));
    }
    let clean = run.verdict().is_clean();
    Ok(if run.findings().is_unsupported() {
        Exit::BadInput
    } else if clean {
        Exit::Clean
    } else {
        Exit::Findings
    })
}
