//! `slipring ring`: the occupancy of a kernel's rings, their waits, and the effect of other depths.

use std::ops::RangeInclusive;

use clap::Args;
use slipring::{DEEPEST, Error};

use super::exit::Exit;
use super::flags::{Flags, OfRings};
use super::kernel::KernelArgs;
use super::output::{json, out, refused, report_all};
use super::written::divide;

// Arguments of `ring`.
#[derive(Args)]
pub(super) struct RingArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    #[command(flatten)]
    flags: Flags<OfRings>,
    /// Also run the kernel with each depth from A to B, and compare: `--sweep 1..8`
    #[arg(long, value_name = "A..B", value_parser = depths)]
    sweep: Option<RangeInclusive<u32>>,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
}

fn depths(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |word: &str| word.trim().trim_start_matches('=').parse::<u32>().ok();
    match (number(first), number(last)) {
        (Some(first), Some(last)) if 1 <= first && first <= last && last <= DEEPEST => Ok(first..=last),
        _ => Err(format!("two numbers of slots from 1 to {DEEPEST}, such as 1..8")),
    }
}

/// Runs a kernel and reports on its rings.
pub(super) fn ring(args: &RingArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, args.json))
}

fn start(args: &RingArgs) -> Result<Exit, Error> {
    let kernel = args.kernel.kernel()?;
    report_all(&kernel.compile()?);
    let (tensors, _) = divide(args.kernel.arguments(&kernel)?);
    let request = args.kernel.request_with(&args.flags)?;
    let facts = kernel.rings(tensors, args.sweep.clone(), &request.run)?;
    report_all(&facts.messages);
    if args.json {
        json(&facts);
    } else {
        out(&facts.text());
    }
    Ok(if facts.messages.errors() > 0 { Exit::Findings } else { Exit::Clean })
}
