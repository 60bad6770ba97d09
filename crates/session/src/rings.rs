//! Occupancy of a kernel's rings, the waits between their ends, and the effect of another depth.

use std::ops::RangeInclusive;

use serde::Serialize;
use slipring_check::Checker;
use slipring_ir::{Diags, Kind, Module, Severity};
use slipring_lang::KernelInfo;
use slipring_machine::{Backing, Platform, figure};
use slipring_op::ring::set_slots;
use slipring_program::Program;
use slipring_report::{MessageFacts, Occupancy, OccupancyFacts, Table, occupancy_text};
use slipring_tile::Space;

use crate::compiled::Compiled;
use crate::exec::{LaunchExtras, launch as run};
use crate::options::timing_fits;
use crate::places::{Places, beginning};
use crate::symbols::{ConsumerBuffer, consumer_buffers};
use crate::tensor::Bound;
use crate::{Error, ExecuteOptions, Prepared, Report, RunOptions, check, prepare, slot_buffers, to_diagnostics};

/// One depth of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Depth {
    /// Slots of each ring.
    pub slots: u32,
    /// `ok`, the codes of the findings, or why it was refused.
    pub outcome: String,
    /// Cycles of the run; `None` where it was refused.
    pub cycles: Option<u64>,
    /// Bytes of all slots of a cluster.
    pub memory: Option<u64>,
    /// Cycles that producers waited for free slots, all ends together.
    pub producer_wait: Option<u64>,
    /// Cycles that consumers waited for tiles, all ends together.
    pub consumer_wait: Option<u64>,
}

/// A run from the perspective of its rings.
#[derive(Clone, Debug, Serialize)]
pub struct RingReport {
    /// The kernel.
    pub kernel: String,
    /// The platform.
    pub platform: String,
    /// Cycles of the run.
    pub cycles: u64,
    /// Whether they are an estimate.
    pub estimate: bool,
    /// The evidence behind them.
    pub evidence: Backing,
    /// Its rings.
    pub rings: Vec<OccupancyFacts>,
    /// The addresses of the slots, for each function; empty if rings are in global memory.
    pub consumer_buffers: Vec<ConsumerBuffer>,
    /// The same kernel with other depths, if requested.
    pub sweep: Vec<Depth>,
    /// The findings of the run.
    pub findings: Vec<MessageFacts>,
    /// The findings with their source locations.
    #[serde(skip)]
    pub messages: Report,
}

/// Maximum depth in a sweep.
pub const DEEPEST: u32 = 64;

/// Runs a kernel and reports on its rings.
///
/// # Errors
/// If the run is cancelled, or a depth of the sweep is invalid.
pub fn report(
    written: &Module,
    function: Option<&str>,
    compiled: &Compiled,
    bound: &[Bound<'_>],
    blocks: u32,
    options: &RunOptions,
    sweep: Option<RangeInclusive<u32>>,
) -> Result<RingReport, Error> {
    let (prepared, platform) = (&compiled.prepared, &compiled.platform);
    if let Some(depths) = &sweep
        && (*depths.start() < 1 || *depths.end() > DEEPEST)
    {
        return Err(Error::Arguments(format!("a ring has from 1 to {DEEPEST} slots")));
    }
    timing_fits(options.timing, platform)?;
    let launch = Launch { platform, blocks, options, kernels: &compiled.kernels };
    let mut occupancy = Occupancy::default();
    let run = measure(prepared, bound, &launch, &mut occupancy)?;
    let program = &prepared.decoded.program;
    let base = program.rings.iter().map(|r| r.slots).max().unwrap_or(1);
    let depths = sweep.into_iter().flatten();
    let sweep =
        depths.map(|slots| depth(written, function, bound, &launch, (slots, base))).collect::<Result<_, _>>()?;
    let messages = Report::new(prepared.written.source.clone(), run.messages);
    Ok(RingReport {
        kernel: program.name.clone(),
        platform: platform.name.clone(),
        cycles: run.cycles,
        estimate: run.backing.is_estimate(),
        evidence: run.backing,
        rings: occupancy.facts(),
        consumer_buffers: consumer_buffers(&prepared.module, platform),
        sweep,
        findings: messages.facts(),
        messages,
    })
}

/// How a kernel is launched.
struct Launch<'l> {
    platform: &'l Platform,
    blocks: u32,
    options: &'l RunOptions,
    kernels: &'l [KernelInfo],
}

/// A run and its findings.
struct Measured {
    cycles: u64,
    backing: Backing,
    waits: (u64, u64),
    messages: Vec<slipring_ir::Diagnostic>,
}

fn measure(
    prepared: &Prepared,
    bound: &[Bound<'_>],
    launch: &Launch<'_>,
    occupancy: &mut Occupancy,
) -> Result<Measured, Error> {
    let tools = beginning(prepared, launch.kernels, bound, launch.options.tools.clone());
    let mut watching = (occupancy, Checker::new(tools), launch.options.control.clone());
    let options = ExecuteOptions {
        blocks: launch.blocks,
        limits: launch.options.limits,
        gm_slack: launch.options.gm_slack as usize,
        ..ExecuteOptions::default()
    };
    let (timing, cancel) = (launch.options.timing, launch.options.control.cancel_token());
    let how = LaunchExtras { timing, cancel, ..LaunchExtras::default() };
    let execution = run(&prepared.decoded, launch.platform, bound, options, how, &mut watching);
    if execution.result.findings.iter().any(|finding| finding.kind == Kind::Cancelled) {
        return Err(Error::Cancelled);
    }
    let judged = watching.1.report(&execution.result);
    let stats = &execution.result.stats;
    let sum = |of: fn(&slipring_sim::RingStats) -> u64| stats.rings.iter().map(of).sum();
    Ok(Measured {
        cycles: stats.cycles,
        backing: stats.backing(),
        waits: (sum(|r| r.producer_wait), sum(|r| r.consumer_wait)),
        messages: to_diagnostics(&judged.findings, &prepared.decoded.program),
    })
}

/// The kernel with pipes of another depth. Buffers that only hold slots grow accordingly.
fn depth(
    written: &Module,
    function: Option<&str>,
    bound: &[Bound<'_>],
    launch: &Launch<'_>,
    (slots, base): (u32, u32),
) -> Result<Depth, Error> {
    let platform = launch.platform;
    let mut module = written.clone();
    set_slots(&mut module, slots, platform);
    let refused = |diags: &Diags| {
        let error = diags.list.iter().find(|d| d.severity == Severity::Error);
        let outcome = error.map_or("refused".to_string(), |d| format!("refused: {}", d.message));
        Depth { slots, outcome, cycles: None, memory: None, producer_wait: None, consumer_wait: None }
    };
    let mut diags = Diags::default();
    check(&module, platform, &mut diags);
    if diags.has_errors() {
        return Ok(refused(&diags));
    }
    let Some(prepared) = prepare(module, function, platform, &mut diags) else { return Ok(refused(&diags)) };
    let mut bound = bound.to_vec();
    let places = Places::new(&bound);
    for buffer in slot_buffers(&prepared, &bound) {
        if let Some(slots_of) = places.argument_of(buffer).and_then(|at| bound.get_mut(at)) {
            slots_of.grow(slots.max(base).div_ceil(base.max(1)) as usize);
        }
    }
    let run = measure(&prepared, &bound, launch, &mut Occupancy::default())?;
    let mut codes: Vec<&str> = run.messages.iter().filter(|m| m.severity == Severity::Error).map(|m| m.code).collect();
    codes.dedup();
    Ok(Depth {
        slots,
        outcome: if codes.is_empty() { "ok".into() } else { codes.join(", ") },
        cycles: Some(run.cycles),
        memory: Some(memory(&prepared.decoded.program)),
        producer_wait: Some(run.waits.0),
        consumer_wait: Some(run.waits.1),
    })
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

impl RingReport {
    /// The report in the format of the command line.
    pub fn text(&self) -> String {
        let facts = self;
        let time = figure(facts.cycles, facts.evidence.error_percent());
        let mut text = format!("{} on {}: {time}\n\n", facts.kernel, facts.platform);
        if facts.rings.is_empty() {
            return text + "the kernel has no ring\n";
        }
        text += &occupancy_text(&facts.rings);
        if !facts.consumer_buffers.is_empty() {
            text += "\nslots\n";
            facts.consumer_buffers.iter().for_each(|buffer| text += &format!("  {}\n", buffer.line()));
        }
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
}
