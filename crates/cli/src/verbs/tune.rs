//! `slipring tune`: runs a kernel over a grid of values.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use slipring::Error;
use slipring_explore::{TuneProgress, Tuning, Vary};
use slipring_report::CheckStatus;

use super::exit::Exit;
use super::flags::{Flags, OfTune};
use super::kernel::KernelArgs;
use super::output::{fail, json, note, out, refused, write_file};

/// How long a grid may take before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Maximum number of points run in parallel.
const MOST_THREADS: i64 = 1024;

// Arguments of `tune`.
#[derive(Args)]
pub(super) struct TuneArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Parameter to vary. May be repeated: `TILE=32,64,128`, `slot_num=1..4`, `TILE=16..64..16`. A constant of the file
    /// or a parameter of a function that builds kernels; or, if the file has none of that name, `slot_num` (slots of
    /// each ring), `split` (how the compiler divides Vector work: UP_DOWN, LEFT_RIGHT, NONE), `blocks`, `arch`, and
    /// `clusters` of a program
    #[arg(long, value_name = "NAME=VALUES", required_unless_present = "auto", value_parser = |text: &str| text.parse::<Vary>())]
    vary: Vec<Vary>,
    /// Instead of a grid, try edits of the source (overlapped and unrolled loops, other tile sizes, earlier loads,
    /// deeper rings, removed barriers), keep those that give the same bytes without findings, and print them as a patch
    #[arg(long, conflicts_with_all = ["vary", "resume", "plot"])]
    auto: bool,
    // A required option that conflicts with a given one is not asked for.
    /// Also write the patch of `--auto` to this file
    #[arg(long, value_name = "FILE", requires = "auto", conflicts_with = "vary")]
    pub patch: Option<String>,
    /// Number of points to run in parallel; 0 means one per core
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=MOST_THREADS))]
    jobs: u32,
    /// Record each finished point in this file, and resume from it
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags<OfTune>,
    /// Also plot cycles against local memory (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<String>,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs a grid and reports.
pub(super) fn tune(args: &TuneArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, args.json))
}

fn start(args: &TuneArgs) -> Result<Exit, Error> {
    if args.json && args.plot.as_deref() == Some("-") {
        let message = "--json and --plot both write to standard output; name a file for the picture";
        return Err(Error::Arguments(message.into()));
    }
    if args.json && args.patch.as_deref() == Some("-") {
        let message = "--json and --patch both write to standard output; name a file for the patch";
        return Err(Error::Arguments(message.into()));
    }
    let mut tune = args.kernel.tune()?;
    let request = args.kernel.request_with(&args.flags)?;
    tune.run = request.run;
    tune.threads = args.jobs as usize;
    let began = Instant::now();
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template("{elapsed} {pos} of {len} points {wide_msg}") {
        bar.set_style(style);
    }
    let terminal = std::io::stderr().is_terminal();
    let show = |progress: &TuneProgress<'_>| {
        if terminal && bar.is_hidden() && began.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_length(progress.all as u64);
        bar.set_position(progress.done as u64);
        let best = progress.best.and_then(|best| best.cycles);
        bar.set_message(best.map_or(String::new(), |cycles| format!("best {cycles} cycles")));
    };
    if args.auto {
        let improved = tune.improve(|done, all| {
            if terminal && bar.is_hidden() && began.elapsed() >= PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let improved = improved?;
        if args.json {
            json(&improved);
        } else {
            out(&improved.text());
        }
        if let Some(file) = &args.patch
            && let Err(message) = write_file(file, &[improved.patch.as_bytes()])
        {
            return Ok(fail(message));
        }
        return Ok(Exit::Clean);
    }
    let tuning = tune.run(&args.vary, args.resume.clone(), show);
    bar.finish_and_clear();
    let tuning = tuning?;
    if args.json {
        json(&tuning);
    } else {
        out(&tuning.text());
    }
    if let Some(file) = &args.plot
        && let Err(message) = write_file(file, &[tuning.svg().as_bytes()])
    {
        return Ok(fail(message));
    }
    Ok(exit(&tuning))
}

fn exit(tuning: &Tuning) -> Exit {
    if tuning.best.is_some() {
        return Exit::Clean;
    }
    let count =
        |refused: bool| tuning.points.iter().filter(|point| (point.verdict == CheckStatus::Refused) == refused).count();
    match (count(true), count(false)) {
        (_, 0) => {
            let first = tuning.points.iter().find_map(|point| point.reason.as_deref());
            fail(format!("no point could run; the first one: {}", first.unwrap_or("refused")))
        }
        _ => {
            note("every point that runs has findings: `slipring run` with its values shows them");
            fail("no point is clean");
            Exit::Findings
        }
    }
}
