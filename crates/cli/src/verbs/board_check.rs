//! `slipring board-check`: what leaves for a board, judged by others and read back.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use slipring::report::{CheckFacts, checks_text};
use slipring::{BuildOptions, BuiltProgram, Diagnostic, Error, Opened, Report};
use slipring_artefact::{Launched, LeavingTools};

use super::kernel::KernelArgs;
use super::output::{json, out, report_one};
use super::run::{divide, refused, written_by_run_only};
use super::{Exit, output};

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

// Tools of others.
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

/// What `--json` prints.
#[derive(Serialize)]
struct Facts<'a> {
    kernel: &'a str,
    platform: &'a str,
    checks: &'a [CheckFacts],
}

/// Writes messages to standard error, those that were not written before: a text is read for the run and to be built.
pub(super) fn tell(messages: &Report, said: &mut Vec<Diagnostic>) {
    for message in messages.messages() {
        if !said.iter().any(|known| known.repeats(message)) {
            report_one(message, messages.source());
            said.push(message.clone());
        }
    }
}

/// Judges what leaves.
pub(super) fn board_check(args: &BoardCheckArgs) -> Exit {
    start(args).unwrap_or_else(|error| refused(&error, args.json))
}

/// Runs a kernel, builds it for a tool, and goes on with both.
pub(super) fn leave(
    args: &KernelArgs,
    target: &str,
    then: impl FnOnce(&Launched<'_>, &BuiltProgram, Vec<Diagnostic>) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let target = slipring::find_target(target).map_err(Error::Arguments)?;
    let subject = args.subject()?;
    let kernel = args.kernel_of(&subject)?;
    let mut said: Vec<Diagnostic> = Vec::new();
    tell(&kernel.compile()?, &mut said);
    let bound = args.arguments(&kernel)?;
    let options = args.options();
    let (tensors, files) = divide(bound.clone());
    written_by_run_only(&files)?;
    let run = kernel.run_with(tensors, &options)?;
    tell(run.findings(), &mut said);
    if !run.is_complete() {
        return Err(Error::Incomplete(run.findings().clone()));
    }
    let loaded = subject.loaded().clone();
    let platform = args.platform.choose(&loaded.module).map_err(Error::Platform)?;
    let opened = Opened { module: loaded.module, platform, diags: loaded.diags, kernels: loaded.kernels };
    let asked = BuildOptions { target: Some(target), insert_sync: args.insert_sync, ..BuildOptions::default() };
    let built = slipring::build(opened, asked, |_, _, _| {});
    tell(&Report::new(built.module.source.clone(), built.diags.list.clone()), &mut said);
    if built.diags.has_errors() {
        return Ok(Exit::BadInput);
    }
    then(&Launched { kernel: &kernel, args: &bound, run: &run, options: &options }, &built, said)
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
    let mut checks = vec![CheckFacts {
        tool: "run here".into(),
        verdict: if here == 0 { "clean" } else { "findings" }.into(),
        detail: "what the others are compared with".into(),
        findings: here,
    }];
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
    let found = checks.iter().any(|check| check.verdict == "findings");
    if found {
        output::said_error();
    }
    Ok(match (leaving.unjudged, found) {
        (true, _) => output::fail("the output was not checked: a tool is missing or timed out (see its row)"),
        (_, true) => Exit::Findings,
        _ => match checks.iter().find(|check| check.verdict == "partly") {
            Some(check) => output::doubtful(&format!("{}: {}", check.tool, check.detail)),
            None => Exit::Clean,
        },
    })
}
