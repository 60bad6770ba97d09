//! `slipring board-check`: the code generated for a board, checked by external tools and read back.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use slipring::{BuiltProgram, Diagnostic, Error};
use slipring_artefact::{Launched, LeavingTools};
use slipring_report::{CheckFacts, CheckStatus, checks_text};

use super::exit::Exit;
use super::kernel::KernelArgs;
use super::leave::{leave, tell};
use super::output::{self, json, out, refused};

// Arguments of `board-check`.
#[derive(Args)]
pub(super) struct BoardCheckArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// The tool to print for
    #[arg(long = "for", value_name = "TARGET", default_value = "ptoas-0.27")]
    target: String,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Keep all files in this folder: text, C++, harness, inputs and outputs
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Print the results as one JSON object
    #[arg(long)]
    pub json: bool,
}

// External tools.
#[derive(Args)]
pub(super) struct ToolArgs {
    /// The assembler. Defaults to `ptoas` in $PTOAS_ROOT or on PATH
    #[arg(long, value_name = "BINARY")]
    pub ptoas: Option<PathBuf>,
    /// A checkout of pto-isa, whose headers have a CPU back end. Defaults to $PTO_ISA_ROOT
    #[arg(long, value_name = "DIR")]
    headers: Option<PathBuf>,
    /// A C++ compiler for this machine (clang 15, gcc 14, or newer). Defaults to $CXX, `clang++` or `g++`
    #[arg(long, value_name = "COMPILER")]
    cxx: Option<PathBuf>,
    /// Time limit for each external tool, in seconds
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

impl ToolArgs {
    pub fn tools(&self, keep: Option<PathBuf>) -> LeavingTools {
        LeavingTools {
            assembler: self.ptoas.clone(),
            headers: self.headers.clone(),
            compiler: self.cxx.clone(),
            keep,
            limit: Duration::from_secs(self.seconds),
        }
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct Facts<'a> {
    kernel: &'a str,
    platform: &'a str,
    checks: &'a [CheckFacts],
}

/// Checks the generated code.
pub(super) fn board_check(args: &BoardCheckArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, args.json))
}

fn start(args: &BoardCheckArgs) -> Result<Exit, Error> {
    leave(&args.kernel, &args.target, |launched, built, said| judge(args, launched, built, said))
}

fn judge(
    args: &BoardCheckArgs,
    launched: &Launched<'_>,
    built: &BuiltProgram,
    mut said: Vec<Diagnostic>,
) -> Result<Exit, Error> {
    let kernel = launched.kernel;
    let leaving = launched.judge(built, &args.tools.tools(args.keep.clone()))?;
    leaving.messages.iter().for_each(|messages| tell(messages, &mut said));
    let here = launched.run.findings().errors();
    let verdict = CheckStatus::of(here, true);
    let mut checks = vec![CheckFacts::new("run here", verdict, "what the others are compared with", here)];
    checks.extend(leaving.checks);
    if args.json {
        json(&Facts { kernel: kernel.name()?, platform: kernel.platform_name()?, checks: &checks });
    } else {
        out(&format!(
            "{} on {}, for {}\n{}",
            kernel.name()?,
            kernel.platform_name()?,
            args.target,
            checks_text(&checks)
        ));
    }
    let found = checks.iter().any(|check| check.verdict == CheckStatus::Findings);
    if found {
        output::said_error();
    }
    Ok(match (leaving.unjudged, found) {
        (true, _) => output::fail("the output was not checked: a tool is missing or timed out (see its row)"),
        (_, true) => Exit::Findings,
        _ => match checks.iter().find(|check| check.verdict == CheckStatus::Partly) {
            Some(check) => output::doubtful(&format!("{}: {}", check.tool, check.detail)),
            None => Exit::Clean,
        },
    })
}
