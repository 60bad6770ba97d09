//! `slipring ring`: how full the rings of a kernel are, who waits for whom, and what another depth would do.

use clap::Args;
use serde::Serialize;
use slipring::args::Value;
use slipring::{ExecuteOptions, Prepared, execute, message_facts, prepare, slot_buffers, to_diagnostics};
use slipring_check::{Checker, Tools};
use slipring_dialects::Dialects;
use slipring_dialects::ring::set_slots;
use slipring_ir::{Diags, Module, Severity};
use slipring_machine::Platform;
use slipring_program::Program;
use slipring_report::{MessageFacts, Occupancy, OccupancyFacts, Table, occupancy_text};
use slipring_sim::Limits;
use slipring_tile::Space;

use super::kernel::KernelArgs;
use super::output::{RefusedFacts, fail, json, out, report, report_one};
use super::{Exit, Opened, open_kernel};

/// Arguments of `ring`.
#[derive(Args)]
pub(super) struct RingArgs {
    #[command(flatten)]
    kernel: KernelArgs,
    /// Also run the kernel with every depth from A to B, and compare: `--sweep 1..8`
    #[arg(long, value_name = "A..B", value_parser = depths)]
    sweep: Option<Depths>,
    /// The same facts as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Depths of a sweep, both ends included.
#[derive(Clone, Copy, Debug)]
struct Depths {
    first: u32,
    last: u32,
}

/// The deepest ring of a sweep.
const DEEPEST: u32 = 64;

fn depths(text: &str) -> Result<Depths, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |word: &str| word.trim().trim_start_matches('=').parse::<u32>().ok();
    match (number(first), number(last)) {
        (Some(first), Some(last)) if 1 <= first && first <= last && last <= DEEPEST => Ok(Depths { first, last }),
        _ => Err(format!("two numbers of slots from 1 to {DEEPEST}, such as 1..8")),
    }
}

/// One depth of a sweep.
#[derive(Serialize)]
struct Depth {
    slots: u32,
    /// `ok`, the codes of the findings, or why it was refused.
    outcome: String,
    cycles: Option<u64>,
    /// Bytes of all slots of a cluster.
    memory: Option<u64>,
    producer_wait: Option<u64>,
    consumer_wait: Option<u64>,
}

#[derive(Serialize)]
struct RingReport {
    kernel: String,
    platform: String,
    cycles: u64,
    rings: Vec<OccupancyFacts>,
    sweep: Vec<Depth>,
    findings: Vec<MessageFacts>,
}

/// Runs a kernel and reports on its rings.
pub(super) fn ring(args: &RingArgs) -> Exit {
    match start(args) {
        Ok(exit) => exit,
        Err(Some(message)) => fail(message),
        Err(None) => Exit::BadInput,
    }
}

/// `None` for an error that has been reported.
fn start(args: &RingArgs) -> Result<Exit, Option<String>> {
    let kernel = &args.kernel;
    let Opened { module, platform, mut diags, kernels } =
        open_kernel(&kernel.file, &kernel.platform, kernel.func.as_deref()).map_err(Some)?;
    let source = module.source.clone();
    let written = module.clone();
    let func = kernel.func.as_deref();
    let prepared = if diags.has_errors() { None } else { prepare(module, func, &platform, &mut diags) };
    report(&diags, &source);
    let Some(prepared) = prepared else {
        if args.json {
            let findings = diags.list.iter().map(|d| message_facts(d, &source)).collect();
            json(&RefusedFacts { complete: false, error: None, findings });
        }
        return Err(None);
    };
    let bound = kernel.arguments(&prepared, &source, &kernels).map_err(Some)?;
    let values: Vec<Value> = bound.into_iter().map(|arg| arg.value).collect();
    let blocks = kernel.blocks(&source, &kernels).map_err(Some)?;

    let limits = kernel.limits.of_run();
    let mut occupancy = Occupancy::default();
    let run = measure(&prepared, &platform, &values, (blocks, limits), &mut occupancy);
    run.messages.iter().for_each(|m| report_one(m, &source));
    let program = &prepared.decoded.program;
    let sweep = args.sweep.map_or(Vec::new(), |depths| {
        let base = program.rings.iter().map(|r| r.slots).max().unwrap_or(1);
        (depths.first..=depths.last)
            .map(|slots| depth(&written, func, &platform, &values, (blocks, limits), (slots, base)))
            .collect()
    });
    let facts = RingReport {
        kernel: program.name.clone(),
        platform: platform.name.clone(),
        cycles: run.cycles,
        rings: occupancy.facts(),
        sweep,
        findings: run.messages.iter().map(|m| message_facts(m, &source)).collect(),
    };
    if args.json {
        json(&facts);
    } else {
        out(&text(&facts));
    }
    let found = run.messages.iter().any(|m| m.severity == Severity::Error);
    Ok(if found { Exit::Findings } else { Exit::Clean })
}

/// A run and what was found in it.
struct Measured {
    cycles: u64,
    waits: (u64, u64),
    messages: Vec<slipring_ir::Diagnostic>,
}

fn measure(
    prepared: &Prepared,
    platform: &Platform,
    values: &[Value],
    (blocks, limits): (u32, Limits),
    occupancy: &mut Occupancy,
) -> Measured {
    let tools = Tools { scratch: slot_buffers(prepared, values), ..Tools::default() };
    let mut watching = (occupancy, Checker::new(tools));
    let options = ExecuteOptions { blocks, limits, ..ExecuteOptions::default() };
    let execution = execute(&prepared.decoded, platform, values, options, &mut watching);
    let judged = watching.1.report(&execution.result);
    let stats = &execution.result.stats;
    let sum = |of: fn(&slipring_sim::RingStats) -> u64| stats.rings.iter().map(of).sum();
    Measured {
        cycles: stats.cycles,
        waits: (sum(|r| r.producer_wait), sum(|r| r.consumer_wait)),
        messages: to_diagnostics(&judged.findings, &prepared.decoded.program),
    }
}

/// The kernel with pipes of another depth. Buffers that only hold slots grow with it.
fn depth(
    written: &Module,
    func: Option<&str>,
    platform: &Platform,
    values: &[Value],
    (blocks, limits): (u32, Limits),
    (slots, base): (u32, u32),
) -> Depth {
    let mut module = written.clone();
    set_slots(Dialects::get(), &mut module, slots, platform);
    let refused = |diags: &Diags| {
        let error = diags.list.iter().find(|d| d.severity == Severity::Error);
        let outcome = error.map_or("refused".to_string(), |d| format!("refused: {}", d.message));
        Depth { slots, outcome, cycles: None, memory: None, producer_wait: None, consumer_wait: None }
    };
    let mut diags = Diags::default();
    slipring::check(&module, platform, &mut diags);
    if diags.has_errors() {
        return refused(&diags);
    }
    let Some(prepared) = prepare(module, func, platform, &mut diags) else { return refused(&diags) };
    let mut values = values.to_vec();
    let buffers: Vec<usize> = (0..values.len()).filter(|at| matches!(values[*at], Value::Buffer(_))).collect();
    for at in slot_buffers(&prepared, &values) {
        if let Some(Value::Buffer(bytes)) = buffers.get(at).and_then(|at| values.get_mut(*at)) {
            bytes.resize(bytes.len() * slots.max(base).div_ceil(base.max(1)) as usize, 0);
        }
    }
    let run = measure(&prepared, platform, &values, (blocks, limits), &mut Occupancy::default());
    let mut codes: Vec<&str> = run.messages.iter().filter(|m| m.severity == Severity::Error).map(|m| m.code).collect();
    codes.dedup();
    Depth {
        slots,
        outcome: if codes.is_empty() { "ok".into() } else { codes.join(", ") },
        cycles: Some(run.cycles),
        memory: Some(memory(&prepared.decoded.program)),
        producer_wait: Some(run.waits.0),
        consumer_wait: Some(run.waits.1),
    }
}

/// Bytes of all slots of a cluster. Both lanes share slots in global memory and in L1.
fn memory(program: &Program) -> u64 {
    let bytes = |at: usize| {
        let ring = &program.rings[at];
        let again = ring.space != Space::Vec && program.rings[..at].iter().any(|other| other.name == ring.name);
        if again { 0 } else { u64::from(ring.slots) * u64::from(ring.slot_bytes) }
    };
    (0..program.rings.len()).map(bytes).sum()
}

fn text(facts: &RingReport) -> String {
    let mut text = format!("{} on {}: {} cycles\n\n", facts.kernel, facts.platform, facts.cycles);
    if facts.rings.is_empty() {
        return text + "the kernel has no ring\n";
    }
    text += &occupancy_text(&facts.rings);
    if !facts.sweep.is_empty() {
        let head = ["slots", "cycles", "bytes", "waits for free slots", "waits for tiles", "outcome"];
        let mut table = Table::new(0, &head);
        let show = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
        for depth in &facts.sweep {
            table.row(vec![
                depth.slots.to_string(),
                show(depth.cycles),
                show(depth.memory),
                show(depth.producer_wait),
                show(depth.consumer_wait),
                depth.outcome.clone(),
            ]);
        }
        text += "\ndepths (waits in cycles, all ends together)\n";
        text += &table.render();
    }
    text
}
