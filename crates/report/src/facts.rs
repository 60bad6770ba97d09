//! The facts of a run, as `--json` gives them.

use serde::Serialize;
use slipring_machine::{Backing, Pipe, Platform};
use slipring_program::Program;
use slipring_sim::{CostStats, Stats};

use crate::stalls::{StallFacts, stall_facts};
use crate::{CheckStatus, Digest, LineFacts, MessageFacts, PathFacts, RingTimes, RingTrace, TileFacts};

/// The facts of a run.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct RunFacts {
    pub kernel: String,
    pub platform: String,
    pub description: String,
    pub blocks: u32,
    /// The cores of a cluster that took part.
    pub cores: Vec<String>,
    /// Flags between the pipes of a core: `inserted` by the compiler, `by hand`, or `none`.
    pub flags: String,
    /// True if every block completed.
    pub complete: bool,
    pub checks: Vec<CheckFacts>,
    pub cycles: u64,
    pub microseconds: f64,
    /// True if the cycles of some work are supported by too few published points for the op, its type and its shape.
    pub estimate: bool,
    /// The evidence for the cycles.
    pub evidence: Backing,
    /// Cycles from the launch on the host to the first instruction, which `cycles` does not count.
    pub launch_cycles: u32,
    pub instructions: u64,
    pub pipes: Vec<PipeFacts>,
    pub ops: Vec<OpFacts>,
    pub rings: Vec<RingFacts>,
    pub buffers: Vec<BufferFacts>,
    /// Source lines and the critical path, where they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<LineFacts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathFacts>,
    /// What the program printed.
    pub printed: Vec<String>,
    pub findings: Vec<MessageFacts>,
    /// Errors outside the program, such as an output that could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The verdict of one tool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct CheckFacts {
    pub tool: String,
    pub verdict: CheckStatus,
    /// What was checked, or why nothing was.
    pub detail: String,
    pub findings: usize,
}

impl CheckFacts {
    /// The verdict of a tool, with its number of findings.
    pub fn new(tool: &str, verdict: CheckStatus, detail: impl Into<String>, findings: usize) -> CheckFacts {
        CheckFacts { tool: tool.into(), verdict, detail: detail.into(), findings }
    }
}

/// A pipe or scalar unit, summed over all blocks.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PipeFacts {
    pub core: String,
    pub pipe: String,
    pub busy: u64,
    pub operations: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub stalled: u64,
    pub stalls: Vec<StallFacts>,
}

/// All executions of an op.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct OpFacts {
    pub op: String,
    pub count: u64,
    pub cycles: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// How the cycles were computed, by entry of the platform file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostFacts>,
}

/// The cost of an op's executions by one entry of the platform file: `slipring cost` shows the formula.
#[derive(Clone, Debug, Serialize)]
pub struct CostFacts {
    /// The entry, such as `cost.vector.add.f16`.
    pub entry: String,
    /// Executions.
    pub count: u64,
    /// Their cycles.
    pub cycles: u64,
    /// What the entry counts: bytes, blocks of 16 × 16 × 32 bytes, or cycles.
    pub units: u64,
    /// Rows, or blocks of data moves.
    pub rows: u64,
    /// Repeats of 256 bytes, or of the size that the entry defines.
    pub repeats: u64,
    /// True if one of them is supported by too few published points for the op, its type and its shape.
    pub estimate: bool,
    /// The evidence for their cycles.
    pub evidence: Backing,
}

/// A ring.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct RingFacts {
    pub name: String,
    pub direction: String,
    pub lane: String,
    pub slots: u32,
    pub slot_bytes: u32,
    pub space: String,
    pub pushed: u64,
    pub popped: u64,
    pub freed: u64,
    pub most_filled: u32,
    pub mean_filled: f64,
    pub producer_wait: u64,
    pub consumer_wait: u64,
    /// The pipe that moves tiles in, and the pipe that waits for them; empty where no tile passed through.
    pub producer_pipe: String,
    pub consumer_pipe: String,
    /// The first tiles of block 0.
    pub tiles: Vec<TileFacts>,
}

/// A kernel buffer after the run.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct BufferFacts {
    pub name: String,
    pub elem: String,
    pub bytes: usize,
    pub changed: bool,
    /// Ranges of uninitialised bytes, copied from memory that was never written: first byte and end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uninitialised: Vec<(u64, u64)>,
    #[serde(flatten)]
    pub digest: Digest,
}

fn cost_facts(costs: &[CostStats]) -> Vec<CostFacts> {
    let listed = costs.iter().filter(|cost| !cost.entry.is_empty());
    let facts = listed.map(|cost| CostFacts {
        entry: cost.entry.to_string(),
        count: cost.count,
        cycles: cost.cycles,
        units: cost.units,
        rows: cost.rows,
        repeats: cost.repeats,
        estimate: cost.backing.is_estimate(),
        evidence: cost.backing.clone(),
    });
    facts.collect()
}

impl RunFacts {
    /// The facts that come from the engine; the caller adds checks, buffers, printed text and findings.
    pub fn new(
        program: &Program,
        platform: &Platform,
        blocks: u32,
        stats: &Stats,
        trace: &RingTrace,
        complete: bool,
    ) -> RunFacts {
        let pipes = stats.cores.iter().flat_map(|core| core.pipes.iter().map(move |pipe| (core, pipe)));
        RunFacts {
            kernel: program.name.clone(),
            platform: platform.name.clone(),
            description: platform.description.clone(),
            blocks,
            cores: program.cores.iter().map(|c| c.role.name().to_string()).collect(),
            flags: "none".into(),
            complete,
            checks: Vec::new(),
            cycles: stats.cycles,
            microseconds: stats.cycles as f64 / f64::from(platform.clock_mhz),
            estimate: stats.backing().is_estimate(),
            evidence: stats.backing(),
            launch_cycles: platform.cost.launch,
            instructions: stats.instructions,
            pipes: pipes
                .map(|(core, pipe)| PipeFacts {
                    core: core.role.name().into(),
                    pipe: pipe.pipe.name().into(),
                    busy: pipe.busy,
                    operations: pipe.operations,
                    bytes_read: pipe.read,
                    bytes_written: pipe.written,
                    stalled: pipe.stalls.total(),
                    stalls: stall_facts(&pipe.stalls),
                })
                .collect(),
            ops: stats
                .ops
                .iter()
                .map(|op| OpFacts {
                    op: op.name.into(),
                    count: op.count,
                    cycles: op.cycles,
                    bytes_read: op.read,
                    bytes_written: op.written,
                    costs: cost_facts(&op.costs),
                })
                .collect(),
            rings: ring_facts(program, stats, trace),
            buffers: Vec::new(),
            lines: None,
            path: None,
            printed: Vec::new(),
            findings: Vec::new(),
            error: None,
        }
    }
}

impl RingFacts {
    /// Names of the producing and the consuming core.
    pub fn ends(&self) -> (&str, &str) {
        if self.direction == "C2V" { ("AIC", &self.lane) } else { (&self.lane, "AIC") }
    }
}

fn ring_facts(program: &Program, stats: &Stats, trace: &RingTrace) -> Vec<RingFacts> {
    let rings = program.rings.iter().zip(&stats.rings).enumerate();
    rings
        .map(|(at, (decl, ring))| {
            let times = trace.rings.get(at);
            let pipe = |pipe: Option<Pipe>| pipe.map_or(String::new(), |pipe| pipe.name().to_string());
            RingFacts {
                name: decl.name.to_string(),
                direction: decl.direction.name().into(),
                lane: decl.lane.name().into(),
                slots: decl.slots,
                slot_bytes: decl.slot_bytes,
                space: decl.space.name().into(),
                pushed: ring.pushed,
                popped: ring.popped,
                freed: ring.freed,
                most_filled: ring.max_filled,
                mean_filled: ring.mean_filled(),
                producer_wait: ring.producer_wait,
                consumer_wait: ring.consumer_wait,
                producer_pipe: pipe(times.and_then(|t| t.producer_pipe)),
                consumer_pipe: pipe(times.and_then(|t| t.consumer_pipe)),
                tiles: times.map(RingTimes::tiles).unwrap_or_default(),
            }
        })
        .collect()
}
