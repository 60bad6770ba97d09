//! `slipring graph`: the tasks of a whole program and what orders them.

use clap::Args;
use serde::Serialize;
use slipring::tasks::{Why, draw, touched};
use slipring::{Error, Program};
use slipring_report::MessageFacts;

use super::Exit;
use super::kernel::KernelArgs;
use super::output::{fail, json, out, report_all, write_file};
use super::run::refused;

/// Arguments of `graph`.
#[derive(Args)]
pub(super) struct GraphArgs {
    #[command(flatten)]
    kernel: KernelArgs,
    /// Draw the graph into an SVG file; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    svg: Option<String>,
    /// The graph as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct GraphFacts {
    program: String,
    tensors: Vec<TensorFacts>,
    tasks: Vec<TaskFacts>,
    edges: Vec<EdgeFacts>,
    findings: Vec<MessageFacts>,
}

#[derive(Serialize)]
struct TensorFacts {
    name: String,
    elem: String,
    shape: Vec<u64>,
    origin: &'static str,
}

#[derive(Serialize)]
struct TaskFacts {
    name: String,
    turn: String,
    line: usize,
    blocks: u32,
    manual: bool,
    uses: Vec<UseFacts>,
}

#[derive(Serialize)]
struct UseFacts {
    tensor: usize,
    param: String,
    direction: &'static str,
    /// First byte and end of each range.
    bytes: Vec<(u64, u64)>,
    tracked: bool,
}

#[derive(Serialize)]
struct EdgeFacts {
    from: usize,
    to: usize,
    /// `declared`, `reads`, `writes` or `overwrites`.
    why: Vec<&'static str>,
    reason: String,
}

/// Shows the graph.
pub(super) fn graph(args: &GraphArgs) -> Exit {
    match start(args) {
        Ok(exit) => exit,
        Err(error) => refused(&error, args.json),
    }
}

fn start(args: &GraphArgs) -> Result<Exit, Error> {
    let bytes = args.kernel.bytes()?;
    let Some(program) = args.kernel.program_of(&bytes)? else {
        // What is wrong with the file comes first.
        args.kernel.kernel_of(bytes)?;
        let message = "the file has kernels and no whole program: a function of type Orchestration, or a `@pl.jit` that starts \
                       several kernels; where it has several, `--func` says which";
        return Err(Error::Arguments(message.into()));
    };
    let report = program.report();
    report_all(&report);
    let line = |task: usize| program.line(task);
    if args.json {
        json(&facts(&program, report.facts()));
    } else if let Some(path) = &args.svg {
        let picture = draw::svg(program.graph(), program.name(), &line, &[]);
        if picture.is_empty() {
            return Ok(fail("a graph with a cycle is not drawn"));
        }
        if let Err(message) = write_file(path, &[picture.as_bytes()]) {
            return Ok(fail(message));
        }
    } else {
        out(&format!("{}: {}", program.name(), draw::text(program.graph(), &line)));
    }
    Ok(if report.errors() > 0 { Exit::Findings } else { Exit::Clean })
}

fn facts(program: &Program, findings: Vec<MessageFacts>) -> GraphFacts {
    let graph = program.graph();
    let direction = |own| match own {
        slipring::tasks::Direction::In => "in",
        slipring::tasks::Direction::Out => "out",
        slipring::tasks::Direction::InOut => "inout",
    };
    let why = |why: &Why| match why {
        Why::Declared => "declared",
        Why::Reads { .. } => "reads",
        Why::Writes { .. } => "writes",
        Why::Overwrites { .. } => "overwrites",
    };
    GraphFacts {
        program: program.name().to_string(),
        tensors: graph
            .tensors
            .iter()
            .map(|own| TensorFacts {
                name: own.name.clone(),
                elem: own.elem.to_string(),
                shape: own.shape.clone(),
                origin: match own.origin {
                    slipring::tasks::Origin::Argument => "argument",
                    slipring::tasks::Origin::Created => "created",
                    slipring::tasks::Origin::Filled => "filled",
                },
            })
            .collect(),
        tasks: graph
            .tasks
            .iter()
            .enumerate()
            .map(|(at, own)| TaskFacts {
                name: own.name.clone(),
                turn: own.turn.clone(),
                line: program.line(at),
                blocks: own.blocks,
                manual: own.manual,
                uses: own
                    .uses
                    .iter()
                    .map(|own| UseFacts {
                        tensor: own.tensor,
                        param: own.param.clone(),
                        direction: direction(own.direction),
                        bytes: own.bytes.ranges().to_vec(),
                        tracked: own.tracked,
                    })
                    .collect(),
            })
            .collect(),
        edges: graph
            .edges
            .iter()
            .map(|edge| EdgeFacts {
                from: edge.from,
                to: edge.to,
                why: edge.why.iter().map(why).collect(),
                reason: touched::reasons(graph, &edge.why),
            })
            .collect(),
        findings,
    }
}
