//! `slipring prove`: proofs for all schedules, all contents and all trip counts.

use clap::Args;
use slipring::{Error, Judgement, ProveOptions};

use super::exit::Exit;
use super::flags::{Flags, OfProof};
use super::kernel::KernelArgs;
use super::output::{doubtful, fail, json, note, out, refused, report_all, write_file};
use super::progress::Stages;
use super::written::divide;

/// Maximum number of schedules with random durations.
const MOST_TIMINGS: i64 = 100_000;

// Arguments of `prove`.
#[derive(Args)]
pub(super) struct ProveArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Number of random schedules to try if a finding needs a witness or one run does not decide; 0 tries none
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=MOST_TIMINGS))]
    timings: u32,
    #[command(flatten)]
    flags: Flags<OfProof>,
    /// Write the schedule of the counterexample to this file, for `slipring run --schedule`
    #[arg(long, value_name = "OUT")]
    pub schedule: Option<String>,
    /// Write the file, with edits that fix what was found, to OUT
    #[arg(long, value_name = "OUT")]
    pub fix: Option<String>,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Proves a kernel and reports.
pub(super) fn prove(args: &ProveArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, args.json))
}

fn start(args: &ProveArgs) -> Result<Exit, Error> {
    let request = args.kernel.request_with(&args.flags)?;
    let options = request.run;
    let watching = Stages::start(&options.control);
    options.control.tell("reading the text".into());
    let subject = args.kernel.subject()?;
    if args.kernel.program_of(&subject)?.is_some() {
        let message = "`prove` is for kernels, and this is a whole program: `slipring run` checks its tasks";
        return Err(Error::Unsupported(message.into()));
    }
    let kernel = args.kernel.kernel_of(&subject)?;
    report_all(&kernel.compile()?);
    let (tensors, _) = divide(args.kernel.arguments(&kernel)?);
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
            None => note("there are no edits to write"),
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
                fail("another schedule gives a different result: see the witness");
            }
            Exit::Findings
        }
        Judgement::NotProved => fail(format!("not proved: {}", proof.reasons.join("; "))),
    })
}
