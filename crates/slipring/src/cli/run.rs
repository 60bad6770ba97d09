//! `slipring run`: run a kernel.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use slipring::args::{Arg, Defaults, Value, bind, signature, write_whole};
use slipring::{
    ExecuteOptions, Execution, Prepared, VerifyOutcome, execute, message_facts, prepare, slot_buffers, to_diagnostics,
    verify,
};
use slipring_check::Checker;
use slipring_ir::{Diags, Severity, Source};
use slipring_machine::Platform;
use slipring_report::{MessageFacts, RingTrace, RunFacts, stats_text, summary_text};
use slipring_sim::Mode;

use super::output::{fail, note, out, report, report_one};
use super::progress::Progress;
use super::{Exit, Opened, PlatformArgs, judge, open};

/// The most blocks of a launch.
const MOST_BLOCKS: u32 = 4096;

/// The most room behind a buffer, in bytes.
const MOST_SLACK: u64 = 1 << 30;

/// Arguments of `run`.
#[derive(Args)]
pub(super) struct RunArgs {
    /// The file; `-` is standard input
    file: String,
    /// The kernel, where the file has several
    #[arg(long, value_name = "NAME")]
    func: Option<String>,
    #[command(flatten)]
    platform: PlatformArgs,
    /// Blocks of the launch: each runs on a cluster of its own. By default the file's `// blocks:` line, else 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_BLOCKS)))]
    blocks: Option<u32>,
    /// A kernel argument, once for each parameter in order: `@file`, `@file:out`, `zeros:BYTES`, `rand:f32[64x64],seed=1`,
    /// `iota:i32[64]`, `full:f32[64x64]=1.5`, `3:i32`, `1.5:f32`, `true`. By default those of the file's `// args:` line
    #[arg(long = "arg", value_name = "A", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Seed of `rand` arguments that have none of their own: each takes this plus its position
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Zeroed bytes behind every buffer in global memory, as a device allocator leaves them: touching them is no finding
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MOST_SLACK))]
    gm_slack: u64,
    /// Also run the sequential meaning of the source and compare every buffer
    #[arg(long)]
    verify: bool,
    /// Which tools watch the run: all, none, or a list of memory, sync, init, race
    #[arg(long, value_name = "TOOLS", default_value = "all")]
    check: String,
    /// Also tables by op and by ring, and which tag each push, pop and free used when
    #[arg(long)]
    stats: bool,
    /// The same facts as one JSON object
    #[arg(long)]
    json: bool,
}

/// Why nothing was run.
enum Refused {
    /// Something that has no place in the text.
    Message(String),
    /// What is wrong with the text has been said in messages about it.
    Text(Diags, Arc<Source>),
}

/// Bad input as JSON.
#[derive(Serialize)]
struct RefusedFacts {
    complete: bool,
    error: Option<String>,
    findings: Vec<MessageFacts>,
}

/// Runs a kernel and reports.
pub(super) fn run(args: &RunArgs) -> Exit {
    let refused = match start(args) {
        Ok(exit) => return exit,
        Err(refused) => refused,
    };
    let (error, findings) = match refused {
        Refused::Message(message) => {
            fail(&message);
            (Some(message), Vec::new())
        }
        Refused::Text(diags, source) => {
            report(&diags, &source);
            (None, diags.list.iter().map(|d| message_facts(d, &source)).collect())
        }
    };
    if args.json {
        json(&RefusedFacts { complete: false, error, findings });
    }
    Exit::BadInput
}

fn json(facts: &impl Serialize) {
    out(&(serde_json::to_string_pretty(facts).unwrap_or_default() + "\n"));
}

fn start(args: &RunArgs) -> Result<Exit, Refused> {
    let Opened { module, platform, mut diags } = open(&args.file, &args.platform).map_err(Refused::Message)?;
    let source = module.source.clone();
    let prepared = if diags.has_errors() { None } else { prepare(module, args.func.as_deref(), &platform, &mut diags) };
    let Some(prepared) = prepared else { return Err(Refused::Text(diags, source)) };
    report(&diags, &source);
    let bound = arguments(args, &prepared, &source).map_err(Refused::Message)?;
    let blocks = match (args.blocks, header(&source, "blocks")) {
        (Some(blocks), _) => blocks,
        (None, None) => 1,
        (None, Some(words)) => {
            let number = words.first().and_then(|w| w.parse().ok()).filter(|n| (1..=MOST_BLOCKS).contains(n));
            number.ok_or_else(|| Refused::Message(format!("`// blocks:` takes a number from 1 to {MOST_BLOCKS}")))?
        }
    };
    launch(args, &prepared, &platform, &source, &bound, blocks).map_err(Refused::Message)
}

/// The kernel's arguments: those of the command line, else those of the file, relative to its folder.
fn arguments(args: &RunArgs, prepared: &Prepared, source: &Source) -> Result<Vec<Arg>, String> {
    let program = &prepared.decoded.program;
    let own = args.args.is_empty();
    let texts = if own { header(source, "args").unwrap_or_default() } else { args.args.clone() };
    let folder = Path::new(&args.file).parent().filter(|_| own).map_or_else(PathBuf::new, Path::to_path_buf);
    bind(&texts, &program.params, &Defaults { seed: args.seed, folder }).map_err(|error| {
        let mut message = format!("{error}\nthe kernel is {}", signature(&program.name, &program.params));
        if own {
            message += "\npass `--arg` once for each parameter, or write an `// args: …` line into the file";
        }
        message
    })
}

/// Words of a `// name: …` line at the head of the file.
fn header(source: &Source, name: &str) -> Option<Vec<String>> {
    let line = source
        .text
        .lines()
        .map(str::trim)
        .take_while(|l| l.is_empty() || l.starts_with("//"))
        .find_map(|line| line.strip_prefix("//")?.trim().strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.split_whitespace().map(str::to_string).collect())
}

fn launch(
    args: &RunArgs,
    prepared: &Prepared,
    platform: &Platform,
    source: &Source,
    bound: &[Arg],
    blocks: u32,
) -> Result<Exit, String> {
    let values: Vec<Value> = bound.iter().map(|arg| arg.value.clone()).collect();
    let tools = judge::tools(&args.check, slot_buffers(prepared, &values))?;
    let options = ExecuteOptions { blocks, mode: Mode::Pipes, gm_slack: args.gm_slack as usize };
    let trace = (args.stats || args.json).then(RingTrace::default);
    let checker = (tools.race || tools.init).then(|| Checker::new(tools.clone()));
    let progress = std::io::stderr().is_terminal().then(|| Progress::start(blocks));
    let mut watching = (trace, checker, progress);
    let execution = execute(&prepared.decoded, platform, &values, options, &mut watching);
    let (trace, checker, progress) = watching;
    drop(progress);

    let result = &execution.result;
    let program = &prepared.decoded.program;
    let trace = trace.unwrap_or_default();
    let mut facts = RunFacts::new(program, platform, blocks, &result.stats, &trace, result.complete);
    let judged = checker.unwrap_or_else(|| Checker::new(tools)).report(result);
    let mut messages = to_diagnostics(&judged.findings, program);
    facts.checks = judge::check_facts(&judged, result.complete);
    facts.printed = result.output.lines.clone();
    let mut unsupported = false;
    if args.verify {
        let mut diags = Diags::default();
        let outcome = if result.complete {
            verify(prepared, platform, &values, options, &execution, &mut diags)
        } else {
            VerifyOutcome::NotChecked("the run did not come to its end".into())
        };
        // What was asked for and could not be done is not clean.
        unsupported = result.complete && matches!(outcome, VerifyOutcome::NotChecked(_));
        messages.extend(diags.list);
        facts.checks.push(judge::verify_facts(&outcome, bound, &mut messages));
    }
    facts.buffers = judge::buffers(program, &values, bound, &execution);
    facts.findings = messages.iter().map(|m| message_facts(m, source)).collect();
    messages.iter().for_each(|m| report_one(m, source));
    if args.json {
        json(&facts);
    } else {
        out(&summary_text(&facts));
        if args.stats {
            out(&stats_text(&facts));
        }
    }
    let written = write_outputs(bound, &values, &execution);
    let found = messages.iter().any(|m| m.severity == Severity::Error);
    unsupported |= messages.iter().any(|m| m.code == "unsupported");
    Ok(match (written, unsupported, found) {
        (Err(message), ..) => fail(message),
        (_, true, _) => Exit::BadInput,
        (_, _, true) => Exit::Findings,
        _ => Exit::Clean,
    })
}

/// Writes the buffers that are wanted back. A run that stopped writes nothing.
fn write_outputs(bound: &[Arg], values: &[Value], execution: &Execution) -> Result<(), String> {
    for (index, arg) in bound.iter().enumerate() {
        let (Some(file), Some(data)) = (&arg.out, execution.buffer(values, index)) else { continue };
        if !execution.result.complete {
            note(format!("`{}` is left as it was: the run did not come to its end", file.path.display()));
            continue;
        }
        let header = file.npy.as_ref().map_or(&[][..], |npy| npy.header.as_slice());
        write_whole(&file.path, &[header, data])
            .map_err(|error| format!("cannot write `{}`: {error}", file.path.display()))?;
    }
    Ok(())
}
