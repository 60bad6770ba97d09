//! `slipring report`: a run as one page.

use clap::Args;
use slipring::{CompileRequest, Error, Program, ProgramOptions};

use super::exit::Exit;
use super::facts::facts;
use super::input::shown;
use super::kernel::KernelArgs;
use super::output::{fail, note, refused, report_all, write_file};
use super::written::divide;

// Arguments of `report`.
#[derive(Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Output file, or `-` for standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: String,
    /// Omit advice on speed, which needs one run per forecast
    #[arg(long)]
    no_advice: bool,
    /// Also compare with another run: output of `slipring run --json` (add `--lines` for lines and critical paths), or
    /// a kernel, which is run with the arguments its file gives
    #[arg(long, value_name = "RUN")]
    pub against: Option<String>,
}

/// Runs a kernel and writes the page.
pub(super) fn report(args: &ReportArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, false))
}

/// Writes the page.
fn write(args: &ReportArgs, page: Result<String, String>) -> Result<(), String> {
    page.and_then(|page| write_file(&args.output, &[page.as_bytes()]))?;
    if args.output != "-" {
        note(format!("the report is in `{}`", shown(&args.output)));
    }
    Ok(())
}

/// The page of a whole program.
fn whole(args: &ReportArgs, program: &Program) -> Result<Exit, Error> {
    let (tensors, _) = divide(args.kernel.program_arguments(program)?);
    let mut options = ProgramOptions::from(&args.kernel.request()?);
    let followed = program.followed(&tensors, &options)?;
    let program = followed.as_ref().unwrap_or(program);
    report_all(&program.compile()?);
    options.record = true;
    let run = program.run(tensors, &options)?;
    report_all(run.findings());
    let Some(page) = run.html() else { return Ok(fail("no task of the program ran; there is nothing to show")) };
    if let Err(message) = write(args, page) {
        return Ok(fail(message));
    }
    Ok(match (run.findings().is_unsupported(), run.findings().errors() > 0 || !run.is_complete()) {
        (true, _) => Exit::BadInput,
        (_, true) => Exit::Findings,
        _ => Exit::Clean,
    })
}

fn start(args: &ReportArgs) -> Result<Exit, Error> {
    let subject = args.kernel.subject()?;
    if let Some(program) = args.kernel.program_of(&subject)? {
        if args.against.is_some() {
            return Err(Error::Arguments("`--against` compares kernels, and this is a whole program".into()));
        }
        return whole(args, &program);
    }
    let asked = CompileRequest::default();
    let other = args.against.as_ref().map(|file| facts(file, &args.kernel.platform, &asked)).transpose()?;
    let kernel = args.kernel.kernel_of(&subject)?;
    report_all(&kernel.compile()?);
    let (tensors, _) = divide(args.kernel.arguments(&kernel)?);
    let run = kernel.run_with(tensors, &args.kernel.options()?.record(true))?;
    report_all(run.findings());
    let advice =
        if args.no_advice { None } else { args.kernel.advised(subject.source(), &run, &args.kernel.options()?)? };
    let Some(page) = run.html_against(advice.as_ref(), other.as_ref()) else {
        return Ok(fail("internal error: the run was not recorded"));
    };
    if let Err(message) = write(args, page) {
        return Ok(fail(message));
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
