//! A kernel run through the command queue of a board, with its report.

use std::sync::Arc;

use serde::Serialize;
use slipring_ir::{Diagnostic, Kind, Severity};
use slipring_program::Program;
use slipring_queue::board::Board;
use slipring_queue::capture::Capture;
use slipring_queue::machine::Actor;
use slipring_report::{
    BufferFacts, CheckFacts, CheckStatus, MessageFacts, Trace, buffers_text, checks_text, printed_text,
};
use slipring_session::error::add_new;
use slipring_session::places::Places;
use slipring_session::run::start;
use slipring_session::tensor::Bound;
use slipring_session::verify::left_otherwise;
use slipring_session::{Compiled, Error, Report, RunOptions, Verdict, facts, to_diagnostics};

use crate::queue_message::of_finding;
use crate::{BlockRun, DeviceRun, Order, queue_trace, run_on_device};

/// The report of a run through a command queue.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct BoardFacts {
    /// An error outside of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub kernel: String,
    pub platform: String,
    pub device: String,
    pub blocks: u32,
    pub cores: Vec<String>,
    /// Flags between the pipes of a core: `inserted` by the compiler, `by hand`, or `none`.
    pub flags: String,
    pub complete: bool,
    pub checks: Vec<CheckFacts>,
    pub queue: QueueFacts,
    /// Cycles of the slowest block, on the platform's clock.
    pub block_cycles: u64,
    /// Number of blocks that were run again because others wrote the same elements.
    pub ran_again: usize,
    pub buffers: Vec<BufferFacts>,
    pub printed: Vec<String>,
    pub findings: Vec<MessageFacts>,
}

/// Figures of the queue, in cycles of the board.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct QueueFacts {
    pub records: u64,
    pub prefetch_commands: u64,
    pub dispatch_commands: u64,
    pub launches: u64,
    pub image_bytes: usize,
    pub bytes_written: u64,
    pub bytes_read: u64,
    pub cycles: u64,
    pub launch_cycles: u64,
    pub microseconds: f64,
}

/// The board that a kernel is launched on.
#[derive(Clone, Debug)]
pub struct BoardOptions {
    /// The board.
    pub board: Board,
    /// Seed of its delays; `None`: usual durations.
    pub delays: Option<u64>,
    /// Whether the stream queued by the host is recorded.
    pub record: bool,
}

/// A run through the command queue of a board.
#[derive(Debug)]
pub struct BoardRun {
    run: DeviceRun,
    findings: Report,
    /// The report, as in `slipring run --device --json`.
    pub facts: BoardFacts,
    description: String,
    trace: Option<Trace>,
}

/// Runs a kernel through the command queue of a board, with a block on each worker. `function` is its name if the text
/// has several. The options `gm_slack` and `record` apply and, for its blocks, the limits.
///
/// # Errors
/// If the queue cannot be driven, or the run is cancelled.
pub fn run_on_board(
    compiled: &Arc<Compiled>,
    function: Option<&str>,
    bound: &[Bound<'_>],
    blocks: u32,
    board: BoardOptions,
    options: &RunOptions,
) -> Result<BoardRun, Error> {
    let (prepared, platform) = (&compiled.prepared, &compiled.platform);
    let names: Vec<&str> = prepared.decoded.program.params.iter().map(|param| param.name.as_str()).collect();
    Places::new(bound).refuse_shared(&names, "each buffer has DRAM of its own on a board")?;
    let order = Order {
        board: board.board,
        blocks,
        delays: board.delays,
        gm_slack: options.gm_slack,
        limits: options.limits,
        trace: options.record,
        record: board.record,
    };
    let run = run_on_device(&prepared.text(), function, platform, bound, &order);
    let run = run.map_err(Error::Unsupported)?;
    // The workers' accesses are checked in a run of the same launch without the queue.
    let quiet = options.quiet();
    let direct = start(compiled, bound.to_vec(), blocks, &quiet)?;
    if direct.is_complete() && waits_for_others(&run.runs) {
        return Err(waiting());
    }
    let program = &prepared.decoded.program;
    let mut messages = direct.findings().messages().to_vec();
    add_new(&mut messages, of_blocks(&run.runs, program));
    messages.extend(run.findings.iter().map(|finding| of_finding(finding, &Capture::default())));
    let mut after: Vec<Option<&[u8]>> = run.buffers.iter().map(Option::as_deref).collect();
    after.resize(bound.len(), None);
    let otherwise = (run.complete && direct.is_complete()).then(|| {
        program.params.iter().enumerate().find_map(|(index, param)| {
            let (board, without) = (after.get(index).copied().flatten()?, direct.left(index)?);
            let (element, count) = left_otherwise(prepared, index, board, without)?;
            Some(other_bytes(&param.name, element, count))
        })
    });
    let differs = otherwise.as_ref().map(Option::is_some);
    messages.extend(otherwise.flatten());
    let findings = Report::new(prepared.written.source.clone(), messages);
    let facts = BoardFacts {
        error: None,
        kernel: program.name.clone(),
        platform: platform.name.clone(),
        device: order.board.name.clone(),
        blocks: order.blocks,
        cores: program.cores.iter().map(|core| core.role.name().to_string()).collect(),
        flags: prepared.flags.word().into(),
        complete: run.complete,
        checks: checks(&run, &order, &direct.verdict(), differs),
        queue: queue_facts(&run, &order),
        block_cycles: run.runs.iter().map(|block| block.cycles).max().unwrap_or(0),
        ran_again: run.runs.iter().filter(|block| block.again).count(),
        buffers: facts::buffers(program, bound, &after, None, true),
        printed: run.runs.iter().flat_map(|block| block.printed.iter().cloned()).collect(),
        findings: findings.facts(),
    };
    let trace = order.trace.then(|| queue_trace(&run.spans, &run.runs, &order.board, Vec::new()));
    Ok(BoardRun { run, findings, facts, description: order.board.description.clone(), trace })
}

impl BoardRun {
    /// The resulting contents of the buffer that was passed at a position; `None` for scalars, and if the run stopped.
    pub fn left(&self, index: usize) -> Option<&[u8]> {
        self.run.buffers.get(index)?.as_deref()
    }

    /// The findings.
    pub fn findings(&self) -> &Report {
        &self.findings
    }

    /// Whether every block completed and all buffers were read back.
    pub fn is_complete(&self) -> bool {
        self.run.complete
    }

    /// A timeline of the queue and the workers, in cycles of the board; `None` if it was not recorded.
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    /// The stream queued by the host; `None` if it was not recorded. Images and buffers are included in its bytes.
    pub fn recorded(&self) -> Option<&Capture> {
        self.run.recorded.as_ref()
    }

    /// The report in the format of the command line.
    pub fn text(&self) -> String {
        summary(&self.facts, &self.description)
    }
}

/// The engine's findings in the blocks; those found in several are reported once.
fn of_blocks(runs: &[BlockRun], program: &Program) -> Vec<Diagnostic> {
    let mut list: Vec<(u32, usize, Diagnostic)> = Vec::new();
    for run in runs {
        for message in to_diagnostics(&run.findings, program) {
            match list.iter_mut().find(|(_, _, known)| known.says_the_same(&message)) {
                Some((_, count, _)) => *count += 1,
                None => list.push((run.block, 1, message)),
            }
        }
    }
    let note = |(block, count, mut message): (u32, usize, Diagnostic)| {
        message.notes.push(match count {
            1 => format!("in block {block}"),
            _ => format!("in {count} blocks, block {block} first"),
        });
        message
    };
    list.into_iter().map(note).collect()
}

/// Whether a block did not complete because it waits for something that only another block could do: each runs alone on
/// a board.
pub fn waits_for_others(runs: &[BlockRun]) -> bool {
    let stuck = |block: &BlockRun| block.findings.iter().any(|finding| matches!(finding.kind, Kind::Deadlock(_)));
    runs.iter().any(|block| !block.complete && stuck(block))
}

/// Why a launch whose blocks wait for each other is not sent to a board.
pub fn waiting() -> Error {
    Error::Unsupported(
        "blocks of a launch wait for each other, and a worker of a board runs its block alone: run it without `--device`".into(),
    )
}

/// The results on a board differ from those of the run without its queue.
pub fn other_bytes(name: &str, element: usize, count: usize) -> Diagnostic {
    let elements = if count == 1 { "1 element".to_string() } else { format!("{count} elements") };
    let message = format!(
        "the board has left something else in {elements} of `{name}` than the run without the queue, first in element {element}"
    );
    let help =
        "what is left must not depend on which block is first: look for what blocks or tasks do to the same elements";
    Diagnostic::nowhere(Kind::Other("board-differs"), Severity::Error, message).help(help)
}

fn checks(run: &DeviceRun, order: &Order, direct: &Verdict, differs: Option<bool>) -> Vec<CheckFacts> {
    let findings: usize = run.runs.iter().map(|block| block.findings.len()).sum();
    let whole = run.complete && run.runs.len() == order.blocks as usize;
    let verdict = |findings: usize| CheckStatus::of(findings, whole);
    let engine = "memory and synchronisation in each block";
    let mut all = vec![
        CheckFacts::new("queue", verdict(run.findings.len()), "the hazards of driving the queue", run.findings.len()),
        CheckFacts::new("blocks", verdict(findings), engine, findings),
    ];
    // If both runs completed.
    if let Some(differs) = differs {
        let (verdict, detail) = match differs {
            false => (CheckStatus::Clean, "the same bytes as without the queue"),
            true => (CheckStatus::Findings, "other bytes than without the queue"),
        };
        all.push(CheckFacts::new("bytes", verdict, detail, usize::from(differs)));
    }
    let observers = direct.checks.iter().filter(|row| matches!(row.tool.as_str(), "race" | "init"));
    all.extend(
        observers
            .map(|row| CheckFacts { detail: format!("{}; in a run without the queue", row.detail), ..row.clone() }),
    );
    all.push(CheckFacts::new("scope", CheckStatus::Scope, "these delays only; each block alone on its cluster", 0));
    all
}

fn queue_facts(run: &DeviceRun, order: &Order) -> QueueFacts {
    let status = &run.status;
    QueueFacts {
        records: status.announced,
        prefetch_commands: status.commands[Actor::Prefetch as usize],
        dispatch_commands: status.commands[Actor::Dispatch as usize],
        launches: status.launches,
        image_bytes: run.image_bytes,
        bytes_written: run.bytes[0],
        bytes_read: run.bytes[1],
        cycles: status.cycle,
        launch_cycles: run.launch.end.saturating_sub(run.launch.start),
        microseconds: status.cycle as f64 / f64::from(order.board.clock_mhz.max(1)),
    }
}

fn summary(facts: &BoardFacts, description: &str) -> String {
    let queue = &facts.queue;
    let blocks = if facts.blocks == 1 { "1 block".to_string() } else { format!("{} blocks", facts.blocks) };
    let end = if facts.complete { "" } else { ", when the run stopped" };
    let again = match facts.ran_again {
        0 => String::new(),
        n => format!("  {n} of the blocks ran again, because others wrote the same elements meanwhile\n"),
    };
    format!(
        "{} on {}, {blocks}, {}, through the command queue of a {} ({})\n{}\n\
         queue: {} cycles of the board ({:.1} us){end}\n  \
         {} records, {} prefetch and {} dispatch commands, {} launches of workers in {} cycles\n  \
         {} bytes to DRAM, an image of {} bytes, {} bytes back; the slowest block took {} cycles of {}\n{again}{}{}",
        facts.kernel,
        facts.platform,
        facts.cores.join(" + "),
        facts.device,
        description,
        checks_text(&facts.checks),
        queue.cycles,
        queue.microseconds,
        queue.records,
        queue.prefetch_commands,
        queue.dispatch_commands,
        queue.launches,
        queue.launch_cycles,
        queue.bytes_written,
        queue.image_bytes,
        queue.bytes_read,
        facts.block_cycles,
        facts.platform,
        printed_text(&facts.printed),
        buffers_text(&facts.buffers),
    )
}
