//! The contents of a platform file.

use std::collections::BTreeMap;

use serde::Deserialize;
use slipring_tile::{BLayout, Elem, Space};

use crate::cost::{Figure, Price, Rule};
use crate::entry::{Calibrated, Entry, Evidence, Points};
use crate::interpretations::{UNORDERED_MOVES, UNORDERED_VECTORS};
use crate::units::Cost;
use crate::{Capability, CoreKind, Pipe, Question, SimtSpec, VectorSpec};

/// A platform: everything about the hardware that programs and the engine depend on.
///
/// Read from TOML; `platforms/a5.toml` documents every field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    /// `a5`, `a2a3`, or the name of a user's own file.
    pub name: String,
    /// One line for reports.
    pub description: String,
    /// Clock in MHz, to turn cycles into time in reports.
    pub clock_mhz: u32,
    /// Clusters on the chip, the maximum number of concurrent blocks.
    pub clusters: u32,
    /// Order of the boxes of an L0A tile: that of the hardware, whatever the text says.
    #[serde(deserialize_with = "blayout")]
    pub left_blayout: BLayout,
    /// Element types that an accumulator can be converted to on its way into L1 without a scale.
    pub acc_to_mat: Vec<String>,
    /// Local memory spaces, by the name of the text.
    pub space: BTreeMap<String, SpaceSpec>,
    /// Pipes of each kind of core, besides the scalar unit.
    pub pipes: PipeSets,
    /// Flags and semaphores.
    pub sync: SyncSpec,
    /// Ring placement and protocol.
    pub ring: RingSpec,
    /// Costs.
    pub cost: CostSpec,
    /// Capabilities of its tile library, where libraries differ.
    pub capabilities: Vec<Capability>,
    /// The vector unit, if vector functions run on it.
    #[serde(default)]
    pub vector_function: Option<VectorSpec>,
    /// Its launches of workitems, if it has them.
    #[serde(default)]
    pub simt: Option<SimtSpec>,
    /// Questions on which public sources disagree that are answered by the alternative interpretation: names of
    /// [`QUESTIONS`](crate::interpretations::QUESTIONS).
    #[serde(default, alias = "readings")]
    pub interpretations: Vec<String>,
}

impl Platform {
    /// Whether the tile library of this platform has a capability.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// This platform with the alternative interpretation of a question.
    pub fn with_reading(&self, question: &Question) -> Platform {
        let mut platform = self.clone();
        platform.interpretations.push(question.name.into());
        platform
    }

    /// True if a question is answered by the alternative interpretation.
    pub fn reads_otherwise(&self, question: &Question) -> bool {
        self.interpretations.iter().any(|name| name == question.name)
    }
}

fn blayout<'de, D: serde::Deserializer<'de>>(d: D) -> Result<BLayout, D::Error> {
    match String::deserialize(d)?.as_str() {
        "row_major" => Ok(BLayout::RowMajor),
        "col_major" => Ok(BLayout::ColMajor),
        other => Err(serde::de::Error::custom(format!("`{other}` is neither `row_major` nor `col_major`"))),
    }
}

/// One local memory space.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceSpec {
    /// Capacity in bytes.
    pub bytes: u64,
    /// Alignment of tile addresses in bytes.
    pub align: u64,
    /// Bytes at the upper end that the compiler leaves free, because library code uses them. A kernel that places its
    /// tiles itself may use them.
    #[serde(default)]
    pub reserved: u64,
}

impl SpaceSpec {
    /// Bytes available to the compiler for tiles and rings, from address 0.
    pub const fn usable(&self) -> u64 {
        self.bytes.saturating_sub(self.reserved)
    }

    /// For messages: `65536`, or `188416 (8192 more are reserved)`.
    pub fn capacity(&self) -> String {
        match self.reserved {
            0 => format!("{}", self.bytes),
            reserved => format!("{} ({reserved} more are reserved)", self.usable()),
        }
    }
}

/// The pipes of each kind of core.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipeSets {
    /// Pipes of a Cube core.
    pub cube: Vec<String>,
    /// Pipes of a Vector core.
    pub vector: Vec<String>,
    /// Memories (`gm` or the name of a local space) by pipe: two operations of the pipe that touch the same bytes there
    /// need a `pipe_barrier` between them. In other memories a pipe keeps its work in order.
    #[serde(default)]
    pub unordered: BTreeMap<String, Vec<String>>,
    /// How many operations a pipe holds before the scalar unit must wait to issue another. No public source gives the
    /// number: the built-in 32 is an assumption, and verdicts that depend on it say so.
    pub queue_depth: u32,
}

/// Flags and semaphores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncSpec {
    /// Event ids per ordered pair of pipes of one core.
    pub event_ids: u32,
    /// Semaphore ids of a cluster.
    pub semaphores: u32,
    /// Largest value of a semaphore counter.
    pub semaphore_max: u32,
    /// True if the counters start at 0 in every kernel, so that a signal that nobody waited for is harmless.
    #[serde(default)]
    pub semaphores_reset: bool,
    /// Added to a semaphore id to address the second Vector core; 0 if a set is broadcast.
    pub subblock_offset: u32,
    /// True if boards have shown that scalar accesses to global memory go through a private data cache.
    #[serde(default)]
    pub scalar_cache: bool,
    /// True if a cross-core wait stalls the whole core and not just one pipe.
    pub wait_stalls_core: bool,
    /// True if a set by the Cube core reaches both Vector cores and a wait of the Cube core needs both of them.
    pub broadcast_reduce: bool,
    /// Flags per direction and peer for rings.
    pub ring_flags: u32,
    /// Buffer tokens per core (`get_buf`/`rls_buf`); 0 if there are none.
    #[serde(default)]
    pub buffer_tokens: u32,
    /// Cycles of a set or of a wait that is already satisfied.
    pub cycles: u32,
    /// Cycles until a signal reaches another core.
    pub cross_core_latency: u32,
}

/// Placement and protocol of rings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingSpec {
    /// True: slots in global memory; false: slots in the consumer's UB or L1.
    pub in_gm: bool,
    /// Slots of a ring that is its pipe's only direction.
    pub slots_one_way: u32,
    /// Slots of each ring of a pipe with both directions.
    pub slots_both_ways: u32,
    /// Maximum number of slots of a pipe value.
    pub max_slots: u32,
    /// Number of flag ids of pipe values.
    pub flag_ids: u32,
    /// True if the public tile library moves undivided tiles only between the Cube core and the first Vector core, and
    /// copies rows into L1 unchanged (device headers of the A5, TPush).
    #[serde(default)]
    pub undivided_to_first: bool,
    /// True if programs are built for a tool that calls that library. Set by tool chains, not by platform files.
    #[serde(skip)]
    pub by_library: bool,
    /// True if rings have one of these numbers of slots and no other. Set by tool chains, not by platform files.
    #[serde(skip)]
    pub fixed_depth: bool,
    /// True if tiles of rings in global memory land in slots that the consumer reserves and the producer imports. Set
    /// by tool chains, not by platform files.
    #[serde(skip)]
    pub landing: bool,
}

/// Costs of pipe operations. The formulas are in `slipring_machine::cost`.
///
/// Each entry is `[fixed, numerator, denominator]` or a table with named fields, which may include the evidence:
/// `points`, the number of published points it was fitted to, `ops`, the ops of these points, and `error`, the mean
/// error in per cent on points that the fit left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostSpec {
    /// Cycles of one scalar instruction.
    pub scalar: u32,
    /// Cycles of a scalar access to global or local memory.
    pub scalar_memory: u32,
    /// Granularity in bytes of a strided data move's rows: a shorter row costs as much.
    #[serde(default = "burst")]
    pub burst: u64,
    /// Cycles from the launch on the host to the first instruction: reports give it in addition to a run's own cycles.
    #[serde(default)]
    pub launch: u32,
    /// Bandwidth of global memory for all cores together, in bytes per cycle; 0 for no limit.
    #[serde(default)]
    pub gm_bytes: u32,
    /// The bandwidth for lines of 512 bytes that no core has read before in the launch, which come from memory and not
    /// from the shared cache; 0 if it is the same.
    #[serde(default)]
    pub gm_first_bytes: u32,
    /// Bytes of the shared cache: a line that was read before comes from memory again once this many bytes of other
    /// lines have been fetched since. 0 if lines stay.
    #[serde(default)]
    pub gm_cache_bytes: u32,
    /// Data moves by path, such as `gm-vec` or `acc-gm`; the unit is a byte, the fixed part applies to each outer
    /// block.
    pub dma: BTreeMap<String, Entry<Cost>>,
    /// Vector operations by class, such as `add`, or class and element type, such as `exp.f16`.
    pub vector: BTreeMap<String, Entry<Figure>>,
    /// Vector operations whose cost differs from that of their class: by name, such as `tcolsum`, or name and element
    /// type.
    #[serde(default)]
    pub op: BTreeMap<String, Entry<Figure>>,
    /// Published points that support the cycles of an op on a type, by shape: by name and type, such as `tadd.f32`.
    #[serde(default)]
    pub calibrated: BTreeMap<String, Calibrated>,
    /// The matrix unit by type of the left operand; the unit is one block of 16 × 16 × 32 bytes.
    pub cube: BTreeMap<String, Entry<Cost>>,
}

const fn burst() -> u64 {
    32
}

impl Platform {
    /// Capacity and alignment of a local space; `None` for global memory and spaces that the platform lacks.
    pub fn space(&self, space: Space) -> Option<&SpaceSpec> {
        self.space.get(space.name())
    }

    /// The pipes of a core, the scalar unit first.
    pub fn pipes_of(&self, kind: CoreKind) -> Vec<Pipe> {
        let names = match kind {
            CoreKind::Cube => &self.pipes.cube,
            CoreKind::Vector => &self.pipes.vector,
        };
        std::iter::once(Pipe::S).chain(names.iter().filter_map(|n| Pipe::parse(n))).collect()
    }

    /// True if two operations of a pipe that touch the same bytes of a memory need a barrier between them.
    pub fn overlaps(&self, pipe: Pipe, space: Space) -> bool {
        self.overlaps_with(pipe, space, None)
    }

    fn overlaps_with(&self, pipe: Pipe, space: Space, other: Option<&Question>) -> bool {
        let reads = |question: &Question| {
            other.is_some_and(|other| other.name == question.name) || self.reads_otherwise(question)
        };
        let vectors = pipe == Pipe::V && space == Space::Vec;
        (pipe.moves() && reads(&UNORDERED_MOVES)) || (vectors && reads(&UNORDERED_VECTORS)) || self.listed(pipe, space)
    }

    /// Whether the platform lists the memory for the pipe.
    fn listed(&self, pipe: Pipe, space: Space) -> bool {
        self.pipes.unordered.get(pipe.name()).is_some_and(|names| names.iter().any(|name| name == space.name()))
    }

    /// The pipes that may overlap their own work, each with a memory where it does.
    pub fn overlapping(&self) -> Vec<(Pipe, Space)> {
        let pairs = Pipe::ALL.into_iter().flat_map(|pipe| Space::NAMED.into_iter().map(move |space| (pipe, space)));
        pairs.filter(|(pipe, space)| self.overlaps(*pipe, *space)).collect()
    }

    /// True if some dependent operations of this pipe need a barrier between them.
    pub fn needs_barrier(&self, pipe: Pipe) -> bool {
        self.needs_barrier_with(pipe, None)
    }

    /// As [`Platform::needs_barrier`], with this question also answered by the alternative interpretation.
    pub fn needs_barrier_with(&self, pipe: Pipe, other: Option<&Question>) -> bool {
        Space::NAMED.into_iter().any(|space| self.overlaps_with(pipe, space, other))
    }

    /// True if tiles can be moved directly from one space to another: the paths are those with a cost.
    pub fn has_way(&self, from: Space, to: Space) -> bool {
        self.cost.dma.contains_key(&format!("{}-{}", from.name(), to.name()))
    }

    /// Cost of moving bytes from one space to another; that of the platform's `other` path if it lists none.
    pub fn dma_cost(&self, from: Space, to: Space) -> Price {
        let path = format!("{}-{}", from.name(), to.name());
        plain("dma", &self.cost.dma, &path)
    }

    /// Cost of a vector operation: the first entry found in the tables for the op (its name without `pto.`) on the
    /// types, the op, its class on the types, its class, `other`. `types` is one element type or those of a conversion,
    /// `f32-f16`, or a type and a variant: `f32-precise` for high precision, `f32-grouped` for rows that are reduced by
    /// groups.
    pub fn vector_cost(&self, op: &str, class: &str, types: &str) -> Price {
        debug_assert!(class == OTHER || VECTOR_CLASSES.contains(&class), "`{class}` is not a cost class");
        let (ops, classes) = (("op", &self.cost.op), ("vector", &self.cost.vector));
        let keys = [(ops, op), (classes, class), (classes, OTHER)];
        for ((table, entries), name) in keys {
            let variant = VARIANTS.iter().find_map(|variant| types.strip_suffix(variant));
            let plain = variant.map_or(types, |types| types.trim_end_matches('-'));
            for key in [format!("{name}.{types}"), format!("{name}.{plain}"), name.to_string()] {
                if let Some(entry) = entries.get(&key) {
                    let entry_name = format!("cost.{table}.{key}").into();
                    let calibrated = self.cost.calibrated.get(&format!("{op}.{types}")).copied().unwrap_or_default();
                    let evidence = Evidence { calibrated, ..entry.evidence_for(op) };
                    return Price { entry: entry_name, rule: Rule::Rows(entry.cost), evidence };
                }
            }
        }
        Price::from(Cost::fixed(1))
    }

    /// Cost of a matrix operation whose left operand has this element type.
    pub fn cube_cost(&self, elem: Elem) -> Price {
        plain("cube", &self.cost.cube, elem.name())
    }
}

/// The suffix after a type, for a variant with a figure of its own: high precision, or rows reduced by groups of 32
/// bytes.
pub(crate) const VARIANTS: [&str; 2] = ["precise", "grouped"];

/// The entry for everything that a table does not list.
pub(crate) const OTHER: &str = "other";

/// The classes of vector operations in `cost.vector`.
pub const VECTOR_CLASSES: [&str; 26] = [
    "add",
    "number",
    "columns",
    "mul",
    "div",
    "max",
    "neg",
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "recip",
    "bit",
    "compare",
    "select",
    "convert",
    "reduce",
    "expand",
    "move",
    "transpose",
    "sort",
    "merge",
    "gather",
    "scatter",
    "histogram",
    "random",
];

fn plain(name: &str, table: &BTreeMap<String, Entry<Cost>>, key: &str) -> Price {
    let (key, entry) = match table.get(key) {
        Some(entry) => (key, Some(entry)),
        None => (OTHER, table.get(OTHER)),
    };
    let Some(entry) = entry else { return Price::from(Cost::fixed(1)) };
    // Sizes on one path differ only in their number of bytes.
    let error = entry.evidence.error.unwrap_or(f32::INFINITY);
    let points = Points { count: entry.evidence.points, error, within: error };
    let evidence = Evidence { calibrated: Calibrated { run: points, short: points, long: points }, ..entry.evidence };
    Price { entry: format!("cost.{name}.{key}").into(), rule: Rule::Plain(entry.cost), evidence }
}

/// The types of an operation in the keys of costs: `f32`, or `f32-hif8` for a conversion.
pub fn cost_types(from: Elem, to: Option<Elem>) -> String {
    match to {
        None => short(from).to_string(),
        Some(to) => format!("{}-{}", short(from), short(to)),
    }
}

/// An element type's name without the dialect's prefix.
pub(crate) fn short(elem: Elem) -> &'static str {
    elem.name().trim_start_matches("!pto.")
}
