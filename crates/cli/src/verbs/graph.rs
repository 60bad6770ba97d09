//! `slipring graph`: the tasks of a whole program and their dependencies.

use clap::Args;
use slipring::{Error, ProgramOptions};
use slipring_tasks::draw;

use super::exit::Exit;
use super::kernel::KernelArgs;
use super::output::{fail, json, out, refused, report_all, write_file};
use super::written::divide;

// Arguments of `graph`.
#[derive(Args)]
pub(super) struct GraphArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Draw the graph as an SVG file, or to standard output with `-`
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub svg: Option<String>,
    /// Print the graph as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Shows the graph.
pub(super) fn graph(args: &GraphArgs) -> Exit {
    match start(args) {
        Ok(exit) => exit,
        Err(error) => refused(&error, args.json),
    }
}

fn start(args: &GraphArgs) -> Result<Exit, Error> {
    let subject = args.kernel.subject()?;
    let Some(program) = args.kernel.program_of(&subject)? else {
        // Errors of the file come first.
        args.kernel.kernel_of(&subject)?;
        let message = "the file has kernels but no program (a function of type Orchestration, or a `@pl.jit` that starts several kernels); if it has several programs, select one with `--func`";
        return Err(Error::Arguments(message.into()));
    };
    // The contents of tensors may determine which tasks there are.
    let program = match program.is_open() {
        true => {
            let (bound, _) = divide(args.kernel.program_arguments(&program)?);
            program.followed(&bound, &ProgramOptions::from(&args.kernel.request()?))?.unwrap_or(program)
        }
        false => program,
    };
    let report = program.report();
    report_all(&report);
    let line = |task: usize| program.line(task);
    if args.json {
        json(&program.graph_facts(report.facts()));
    } else if let Some(path) = &args.svg {
        let picture = draw::svg(program.graph(), program.name(), &line, &[]);
        if picture.is_empty() {
            return Ok(fail("a graph with a cycle cannot be drawn"));
        }
        if let Err(message) = write_file(path, &[picture.as_bytes()]) {
            return Ok(fail(message));
        }
    } else {
        out(&format!("{}: {}", program.name(), draw::text(program.graph(), &line)));
    }
    Ok(if report.errors() > 0 { Exit::Findings } else { Exit::Clean })
}
