//! `slipring run --device`: a kernel through the command queue of a board.

use serde::Serialize;
use slipring::args::Arg;
use slipring::{BlockRun, DeviceRun, Order, Prepared, message_facts, run_on_device, to_diagnostics};
use slipring_ir::{Diagnostic, Severity};
use slipring_machine::Platform;
use slipring_program::Program;
use slipring_queue::capture::Capture;
use slipring_queue::machine::Actor;
use slipring_report::{BufferFacts, CheckFacts, MessageFacts, buffers_text, checks_text, printed_text};

use super::output::{fail, json, out, report_one};
use super::queue::message::of_finding;
use super::run::{take_values, write_outputs};
use super::{Exit, judge};

#[derive(Serialize)]
struct Facts {
    /// What went wrong besides the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    kernel: String,
    platform: String,
    device: String,
    blocks: u32,
    cores: Vec<String>,
    complete: bool,
    checks: Vec<CheckFacts>,
    queue: QueueFacts,
    /// Cycles of the platform that the slowest block took.
    block_cycles: u64,
    /// Blocks that were run again because others wrote the same elements.
    ran_again: usize,
    buffers: Vec<BufferFacts>,
    printed: Vec<String>,
    findings: Vec<MessageFacts>,
}

/// Cycles are those of the board.
#[derive(Serialize)]
struct QueueFacts {
    records: u64,
    prefetch_commands: u64,
    dispatch_commands: u64,
    launches: u64,
    image_bytes: usize,
    bytes_written: u64,
    bytes_read: u64,
    cycles: u64,
    launch_cycles: u64,
    microseconds: f64,
}

/// Runs a kernel through the queue and reports.
///
/// # Errors
/// Why nothing was run.
pub(super) fn run(
    function: Option<&str>,
    prepared: &Prepared,
    platform: &Platform,
    mut bound: Vec<Arg>,
    order: Order,
    as_json: bool,
) -> Result<Exit, String> {
    let values = take_values(&mut bound);
    let source = &prepared.written.source;
    let run = run_on_device(&prepared.text(), function, platform, &values, &order)?;
    let program = &prepared.decoded.program;
    let mut messages = of_blocks(&run.runs, program);
    messages.extend(run.findings.iter().map(|finding| of_finding(finding, &Capture::default())));
    let mut after: Vec<Option<&[u8]>> = run.buffers.iter().map(Option::as_deref).collect();
    after.resize(values.len(), None);
    let written = write_outputs(&bound, &after, run.complete);
    let facts = Facts {
        error: written.as_ref().err().cloned(),
        kernel: program.name.clone(),
        platform: platform.name.clone(),
        device: order.board.name.clone(),
        blocks: order.blocks,
        cores: program.cores.iter().map(|core| core.role.name().to_string()).collect(),
        complete: run.complete,
        checks: checks(&run, &order),
        queue: queue_facts(&run, &order),
        block_cycles: run.runs.iter().map(|block| block.cycles).max().unwrap_or(0),
        ran_again: run.runs.iter().filter(|block| block.again).count(),
        buffers: judge::buffers(program, &values, &bound, &after, None),
        printed: run.runs.iter().flat_map(|block| block.printed.iter().cloned()).collect(),
        findings: messages.iter().map(|m| message_facts(m, source)).collect(),
    };
    messages.iter().for_each(|m| report_one(m, source));
    if as_json {
        json(&facts);
    } else {
        out(&summary(&facts, &order));
    }
    let found = messages.iter().any(|m| m.severity == Severity::Error) || !run.complete;
    Ok(match written {
        Err(message) => fail(message),
        Ok(()) if messages.iter().any(|m| m.code == "unsupported") => Exit::BadInput,
        Ok(()) if found => Exit::Findings,
        Ok(()) => Exit::Clean,
    })
}

/// What the engine found in the blocks; what it found in several is said once.
fn of_blocks(runs: &[BlockRun], program: &Program) -> Vec<Diagnostic> {
    let mut list: Vec<(u32, usize, Diagnostic)> = Vec::new();
    for run in runs {
        for message in to_diagnostics(&run.findings, program) {
            let same = |known: &Diagnostic| (known.code, &known.message) == (message.code, &message.message);
            match list.iter_mut().find(|(_, _, known)| same(known)) {
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

fn checks(run: &DeviceRun, order: &Order) -> Vec<CheckFacts> {
    let findings: usize = run.runs.iter().map(|block| block.findings.len()).sum();
    let whole = run.complete && run.runs.len() == order.blocks as usize;
    let verdict = |findings: usize| match (findings, whole) {
        (0, true) => "clean",
        (0, false) => "partly",
        _ => "findings",
    };
    let fact = |tool: &str, verdict: &str, detail: &str, findings| CheckFacts {
        tool: tool.into(),
        verdict: verdict.into(),
        detail: detail.into(),
        findings,
    };
    let engine = "memory and synchronisation in each block";
    let direct = "a run without `--device` checks it";
    vec![
        fact("queue", verdict(run.findings.len()), "the hazards of driving the queue", run.findings.len()),
        fact("blocks", verdict(findings), engine, findings),
        fact("race", "not checked", direct, 0),
        fact("init", "not checked", direct, 0),
        fact("scope", "", "these delays only; each block alone on its cluster", 0),
    ]
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

fn summary(facts: &Facts, order: &Order) -> String {
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
        order.board.description,
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
