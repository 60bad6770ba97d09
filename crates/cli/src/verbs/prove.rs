//! `slipring prove`: what holds for all schedules, all contents, all trip counts.

use clap::Args;
use slipring::{Error, Judgement, ProveOptions};

use super::Exit;
use super::kernel::KernelArgs;
use super::output::{doubtful, fail, json, note, out, report_all, write_file};
use super::progress::Stages;
use super::run::{divide, refused};

/// Most schedules of random durations.
const MOST_TIMINGS: i64 = 100_000;

// Arguments of `prove`.
#[derive(Args)]
pub(super) struct ProveArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Schedules of random durations to try where something is wrong or one run does not decide; 0 tries none
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=MOST_TIMINGS))]
    timings: u32,
    /// What the scalar arguments of each launch satisfy, such as `n % 8 == 0, valid_row <= 32`: others are not spoken of. May be
    /// given several times; a function's own attribute `pto.assume` is added
    #[arg(long, value_name = "CONDITIONS")]
    assume: Vec<String>,
    /// Warnings about results, such as bytes in them that nobody has written, are errors
    #[arg(long)]
    strict: bool,
    /// Write the schedule of the witness, for `slipring run --schedule`
    #[arg(long, value_name = "OUT")]
    pub schedule: Option<String>,
    /// Write the text with the edits that mend what was found to a new file
    #[arg(long, value_name = "OUT")]
    pub fix: Option<String>,
    /// The same facts as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Proves a kernel and reports.
pub(super) fn prove(args: &ProveArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, args.json))
}

fn start(args: &ProveArgs) -> Result<Exit, Error> {
    let subject = args.kernel.subject()?;
    if args.kernel.program_of(&subject)?.is_some() {
        let message = "`prove` is for kernels, and this is a whole program: `slipring run` checks its tasks";
        return Err(Error::Unsupported(message.into()));
    }
    let kernel = args.kernel.kernel_of(&subject)?;
    report_all(&kernel.compile()?);
    let (tensors, _) = divide(args.kernel.arguments(&kernel)?);
    let mut options = args.kernel.options();
    options.strict = args.strict;
    options.assume.clone_from(&args.assume);
    let watching = Stages::start(&options.control);
    let proof = kernel.prove(tensors, &ProveOptions { run: options, timings: args.timings, fix: true })?;
    drop(watching);
    report_all(&proof.findings);
    if let Some(path) = &args.schedule {
        match proof.witness.as_ref().and_then(|witness| witness.schedule.as_ref()) {
            Some(schedule) => write_file(path, &[schedule.as_bytes()]).map_err(Error::File)?,
            None => note("there is no schedule to write"),
        }
    }
    if let Some(path) = &args.fix {
        match &proof.fix {
            Some(fix) => write_file(path, &[fix.text.as_bytes()]).map_err(Error::File)?,
            None => note("there is no edit to write"),
        }
    }
    if args.json {
        json(&proof);
    } else {
        out(&proof.to_string());
    }
    Ok(match proof.judgement {
        Judgement::Proved => Exit::Clean,
        Judgement::Doubtful => doubtful(&proof.reasons.join("; ")),
        Judgement::Violated => {
            if proof.findings.errors() == 0 {
                fail("another schedule comes to another end: the witness says which");
            }
            Exit::Findings
        }
        Judgement::NotProved => fail(format!("not proved: {}", proof.reasons.join("; "))),
    })
}
