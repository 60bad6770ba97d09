//! Verbs of the command line.

mod asked;
mod board;
mod board_check;
mod build;
mod calibrate;
mod check;
mod compare;
mod cost;
mod dap;
mod debug;
mod exit;
mod expected;
mod explain;
mod facts;
mod flags;
mod graph;
mod input;
mod kernel;
mod last;
mod leave;
mod listed;
mod lsp;
mod opened;
mod ops;
mod opt;
mod output;
mod pages;
mod passes;
mod platform;
mod progress;
mod project;
mod prove;
mod queue;
mod report;
mod ring;
mod run;
mod shell;
mod standard;
mod sync_check;
mod test;
mod threads;
mod timeline;
mod trace;
mod tune;
mod watch;
mod written;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser, Subcommand};
use slipring::{Expected, files};

use exit::Exit;
use input::shown;

/// Write, check and run Cube/Vector tile kernels without the hardware.
///
/// Exit codes: 0 clean, 1 findings, 2 bad input or something that cannot be run yet, 3 doubtful: a proof of a
/// kernel with warnings, a stream that is not decided, numbers of a board, or of another judge, that are nearly right.
///
/// `slipring` never executes the code of a file: of a `.py` file it reads the kernels, and evaluates what is around them as far as it
/// knows it. `python -m slipring` is the same command line with files executed by Python. `slipring trace` compiles a C++ kernel and runs it.
#[derive(Parser)]
#[command(name = "slipring", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Do not colour diagnostics. They are never coloured unless standard error is a terminal
    #[arg(long, global = true)]
    no_color: bool,
    /// Do not print the report, only diagnostics (on standard error). Data that was requested, such as `--json`, is
    /// still printed
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Print at the end how often files were parsed and lowered
    #[arg(long, global = true, hide = true)]
    counts: bool,
}

// The options of a verb are described once it is asked for; a doc comment of theirs would take the place of the verb's.
#[derive(Subcommand)]
#[command(defer = true)]
enum Verb {
    /// Run a kernel on a simulated device
    Run(run::RunArgs),
    /// Show the tasks of a program and the dependencies between them: as text, SVG or JSON
    Graph(graph::GraphArgs),
    /// Run a kernel and write an HTML page: timeline, source, rings, and what would make it faster
    Report(report::ReportArgs),
    /// Run a kernel over a grid of parameters, print the table, and check and verify the best point
    Tune(tune::TuneArgs),
    /// Compare two runs: what got faster, what got slower, which waits disappeared
    Compare(compare::CompareArgs),
    /// Compare a run with a profile of a board or of the vendor's simulator: cycles by pipe, and one timeline of both
    Timeline(timeline::TimelineArgs),
    /// Fit the costs of a platform file to a profile of a board
    Calibrate(calibrate::CalibrateArgs),
    /// Prove a kernel correct for all schedules, buffer contents, trip counts and repeated launches, or give a
    /// counterexample
    Prove(prove::ProveArgs),
    /// Show how full each ring is, who waits for whom, and what another depth would change
    Ring(ring::RingArgs),
    /// Parse and verify files, and report every error
    Check(check::CheckArgs),
    /// Check the synchronisation in `.pto` text emitted by any compiler: missing orders, wrong flags, superfluous flags
    SyncCheck(sync_check::SyncCheckArgs),
    /// Run the command lines in the comments of files, and compare the output with the expectations there
    Test(test::TestArgs),
    /// Compile a kernel and print the program
    Build(build::BuildArgs),
    /// Run selected passes and print what each one changes
    Opt(opt::OptArgs),
    /// Check a kernel on its way to a board: read the assembler's C++ back and run it here, and on the CPU back end of
    /// the public headers
    BoardCheck(board_check::BoardCheckArgs),
    /// Record a launch of a handwritten C++ kernel with this machine's compiler, as a kernel that all other commands accept
    Trace(trace::TraceArgs),
    /// List the ops, or print the reference page of one
    Ops(ops::OpsArgs),
    /// Explain a diagnostic: its cause, its fix, and the smallest program that triggers it
    Explain(explain::ExplainArgs),
    /// Show the cycles of a single op and how they are derived, or the model's error on a table of measurements
    Cost(cost::CostArgs),
    /// Start the debugger for editors (Debug Adapter Protocol)
    Dap(dap::DapArgs),
    /// Step through a run, forwards and backwards
    Debug(debug::DebugArgs),
    /// Check and run a file each time it is saved, and show what changed
    Watch(watch::WatchArgs),
    /// Start the language server for editors (LSP): diagnostics, hover, completion, rename, quick fixes
    Lsp(lsp::LspArgs),
    /// Print a completion script for a shell
    Completions(shell::CompletionArgs),
    /// Print a manual page in the format of `man`
    Man(shell::ManArgs),
    /// Decode, check and run streams of the host-to-device command queue
    #[command(subcommand)]
    Queue(queue::QueueVerb),
}

/// Runs the verb of a command line, whose first word is the name of the program.
pub fn command_line(words: &[OsString]) -> u8 {
    last::words();
    output::begin();
    let (exit, as_json) = match Cli::try_parse_from(words) {
        Ok(cli) => {
            let exit = verb(&cli);
            if cli.counts {
                let slipring_lang::Counts { parsed, lowered, .. } = slipring_lang::counts();
                output::note(format!("parsed {parsed}, lowered {lowered}"));
            }
            (exit, cli.verb.as_json())
        }
        // Help and version were requested, so they are not errors.
        Err(text) if !text.use_stderr() => {
            output::out(&text.render().to_string());
            (Exit::Clean, false)
        }
        Err(error) => {
            let as_json = words.iter().skip(1).any(|word| word == "--json");
            (output::usage(&error), as_json)
        }
    };
    output::finish(exit, as_json) as u8
}

/// Why the test line of a file may not be this command line; `None` if it may, or if it is not a command line.
fn refused_to_files(words: &[OsString]) -> Option<String> {
    let verb = Cli::try_parse_from(words).ok()?.verb;
    let name = words.get(1)?.to_string_lossy();
    let reason = match &verb {
        Verb::Trace(_) | Verb::BoardCheck(_) => "it runs other programs",
        Verb::Dap(_) | Verb::Debug(_) | Verb::Lsp(_) | Verb::Watch(_) => "it runs until its user stops it",
        Verb::Test(_) => "it would run test lines again",
        Verb::Check(args) if args.in_place => "it changes files",
        _ => {
            let (option, _) = verb.outputs().into_iter().find(|(_, file)| file != Path::new("/dev/null"))?;
            return Some(format!("a test line cannot write files, as `{option}` does"));
        }
    };
    Some(format!("a test line cannot run `slipring {name}`: {reason}"))
}

/// Runs a verb. A panic, which is a bug in slipring, is an error like others.
fn verb(cli: &Cli) -> Exit {
    last::as_json(cli.verb.as_json());
    if cli.quiet {
        output::quiet();
    }
    if cli.no_color {
        output::no_color();
    }
    if let Err(message) = files::will_write(cli.verb.outputs()) {
        return output::fail(message);
    }
    // Checked before any output is written: no output, not even the log of messages, may overwrite an input.
    for input in cli.verb.inputs() {
        if let Err(error) = files::not_written(Path::new(input)) {
            return output::fail(format!("cannot read `{}`: {error}", shown(input)));
        }
    }
    match cli.verb.sarif() {
        // The log would be mixed with other lines there.
        Some("-") => return output::fail("`--sarif` needs the name of a file: standard output holds the report"),
        Some(file) => output::log_to(file),
        None => {}
    }
    if let Err(message) = threads::make(cli.verb.kernel().and_then(kernel::KernelArgs::threads)) {
        return output::fail(message);
    }
    let run = || match &cli.verb {
        Verb::Run(args) => run::run(args),
        Verb::Graph(args) => graph::graph(args),
        Verb::Report(args) => report::report(args),
        Verb::Tune(args) => tune::tune(args),
        Verb::Compare(args) => compare::compare(args),
        Verb::Timeline(args) => timeline::timeline(args),
        Verb::Calibrate(args) => calibrate::calibrate(args),
        Verb::Prove(args) => prove::prove(args),
        Verb::Ring(args) => ring::ring(args),
        Verb::Check(args) => check::check(args),
        Verb::SyncCheck(args) => sync_check::sync_check(args),
        Verb::Test(args) => test::test(args, refused_to_files),
        Verb::Build(args) => build::build(args),
        Verb::Opt(args) => opt::opt(args),
        Verb::BoardCheck(args) => board_check::board_check(args),
        Verb::Trace(args) => trace::trace(args),
        Verb::Ops(args) => ops::ops(args),
        Verb::Explain(args) => explain::explain(args),
        Verb::Cost(args) => cost::run(args),
        Verb::Dap(args) => dap::dap(args),
        Verb::Debug(args) => debug::debug(args),
        Verb::Watch(args) => watch::watch(args),
        Verb::Lsp(args) => lsp::lsp(args),
        Verb::Completions(args) => shell::completions(args, Cli::command()),
        Verb::Man(args) => shell::man(args, Cli::command()),
        Verb::Queue(verb) => queue::queue(verb),
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
        .unwrap_or_else(|_| output::fail("internal error: slipring itself failed; please report the input"))
}

impl Verb {
    /// The kernel of the verb, and how it is launched.
    fn kernel(&self) -> Option<&kernel::KernelArgs> {
        match self {
            Verb::Run(args) => Some(&args.kernel),
            Verb::Graph(args) => Some(&args.kernel),
            Verb::Report(args) => Some(&args.kernel),
            Verb::Tune(args) => Some(&args.kernel),
            Verb::Prove(args) => Some(&args.kernel),
            Verb::Ring(args) => Some(&args.kernel),
            Verb::Timeline(args) => Some(&args.kernel),
            Verb::Calibrate(args) => Some(&args.kernel),
            Verb::Debug(args) => Some(&args.kernel),
            Verb::BoardCheck(args) => Some(&args.kernel),
            _ => None,
        }
    }

    /// The input files of the verb.
    fn inputs(&self) -> Vec<&str> {
        let mut list: Vec<&str> = self.kernel().into_iter().flat_map(kernel::KernelArgs::read).collect();
        match self {
            Verb::Run(args) => {
                list.extend(args.flags.text("schedule"));
                list.extend(args.expect.iter().filter_map(|text| Expected::file(text)));
            }
            Verb::Report(args) => list.extend(args.against.as_deref()),
            Verb::Timeline(args) => list.push(&args.against),
            Verb::Calibrate(args) => list.push(&args.from),
            Verb::Debug(args) => list.extend(args.flags.text("schedule")),
            Verb::Check(args) => {
                // Files that are fixed in place are outputs.
                list.extend(args.files.iter().filter(|_| !args.in_place).map(String::as_str));
                list.extend(args.platform.platform.as_deref());
            }
            Verb::SyncCheck(args) => {
                list.push(&args.file);
                list.extend(args.against.as_deref());
                list.extend(args.platform.platform.as_deref());
            }
            Verb::Build(args) => {
                list.extend(args.file.as_deref());
                list.extend(args.platform.platform.as_deref());
            }
            Verb::Opt(args) => {
                list.extend(args.file.as_deref());
                list.extend(args.platform.platform.as_deref());
            }
            Verb::Trace(args) => {
                list.push(&args.file);
                list.extend(args.platform.platform.as_deref());
            }
            Verb::Queue(verb) => list.extend(verb.input()),
            // The other verbs write nothing beyond what the kernel's launch says.
            _ => {}
        }
        list.iter().map(|file| if *file == "-" { "/dev/stdin" } else { file }).collect()
    }

    /// The output files of the verb, each with the option that names it.
    fn outputs(&self) -> Vec<(String, PathBuf)> {
        let mut list: Vec<(&str, Option<&Path>)> = match self {
            Verb::Run(args) => {
                vec![("--trace", path(&args.trace)), ("--record", path(&args.record)), ("--sarif", path(&args.sarif))]
            }
            Verb::Graph(args) => vec![("--svg", path(&args.svg))],
            Verb::Report(args) => vec![("-o", Some(Path::new(&args.output)))],
            Verb::Timeline(args) => vec![("--trace", path(&args.trace))],
            Verb::Calibrate(args) => vec![("-o", Some(Path::new(&args.output)))],
            Verb::Tune(args) => {
                vec![("--plot", path(&args.plot)), ("--resume", args.resume.as_deref()), ("--patch", path(&args.patch))]
            }
            Verb::Prove(args) => vec![("--schedule", path(&args.schedule)), ("--fix", path(&args.fix))],
            Verb::Check(args) => vec![("--sarif", path(&args.sarif)), ("--fix", path(&args.fix))],
            Verb::SyncCheck(args) => vec![("--sarif", path(&args.sarif))],
            Verb::Build(args) => vec![("-o", path(&args.output)), ("--memory-map", path(&args.memory_map))],
            Verb::Opt(args) => vec![("-o", path(&args.output))],
            Verb::Trace(args) => vec![("-o", path(&args.output))],
            Verb::Queue(verb) => {
                verb.outputs().into_iter().map(|(option, file)| (option, Some(Path::new(file)))).collect()
            }
            // The other verbs write to standard output only.
            _ => Vec::new(),
        };
        if let Verb::Run(args) = self {
            list.extend(args.kernel.written().map(|file| (files::ARGUMENT, Some(Path::new(file)))));
        }
        let named =
            list.into_iter().filter_map(|(option, file)| Some((option, file.filter(|f| *f != Path::new("-"))?)));
        named.map(|(option, file)| (option.to_string(), file.to_path_buf())).collect()
    }

    /// The file for the SARIF log, if one was requested.
    fn sarif(&self) -> Option<&str> {
        match self {
            Verb::Run(args) => args.sarif.as_deref(),
            Verb::Check(args) => args.sarif.as_deref(),
            Verb::SyncCheck(args) => args.sarif.as_deref(),
            _ => None,
        }
    }

    /// Whether JSON was requested.
    fn as_json(&self) -> bool {
        match self {
            Verb::Run(args) => args.json,
            Verb::Graph(args) => args.json,
            Verb::Prove(args) => args.json,
            Verb::Ring(args) => args.json,
            Verb::Tune(args) => args.json,
            Verb::Compare(args) => args.json,
            Verb::Timeline(args) => args.json,
            Verb::Check(args) => args.json,
            Verb::SyncCheck(args) => args.json,
            Verb::Cost(args) => args.json,
            Verb::BoardCheck(args) => args.json,
            Verb::Queue(verb) => verb.as_json(),
            // The other verbs have no JSON output.
            _ => false,
        }
    }
}

fn path(file: &Option<String>) -> Option<&Path> {
    file.as_ref().map(Path::new)
}
