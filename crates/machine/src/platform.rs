//! What a platform file says.

use std::collections::BTreeMap;

use serde::Deserialize;
use slipring_tile::{BLayout, Elem, Space};

use crate::{CoreKind, Pipe, VectorSpec};

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
    /// Clusters on the chip: the most blocks that run at the same time.
    pub clusters: u32,
    /// Order of the boxes of an L0A tile: the hardware's, whatever the text says.
    #[serde(deserialize_with = "blayout")]
    pub left_blayout: BLayout,
    /// Element types that an accumulator takes on its way into L1 without a scale.
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
    /// The vector unit, where vector functions run on it.
    #[serde(default)]
    pub vector_function: Option<VectorSpec>,
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
    /// Bytes at the upper end where the compiler places nothing, because library code uses them. A kernel that places its
    /// tiles itself may use them.
    #[serde(default)]
    pub reserved: u64,
}

impl SpaceSpec {
    /// Bytes that the compiler has for tiles and rings, from address 0 on.
    pub const fn usable(&self) -> u64 {
        self.bytes.saturating_sub(self.reserved)
    }

    /// For messages: `65536`, or `188416 (8192 more are reserved)`.
    pub fn room(&self) -> String {
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
    /// Memories (`gm` or the name of a local space) by pipe: two operations of the pipe that touch the same bytes there need
    /// a `pipe_barrier` between them. Elsewhere a pipe keeps its work in order.
    #[serde(default)]
    pub unordered: BTreeMap<String, Vec<String>>,
    /// How many operations a pipe holds before the scalar unit must wait to issue another. No public source has the number: the
    /// built-in 32 is an assumption, and verdicts that lean on it say so.
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
    /// True where the counters start at 0 in every kernel, so that a signal that nobody waited for does no harm.
    #[serde(default)]
    pub semaphores_reset: bool,
    /// Added to a semaphore id to address the second Vector core; 0 where a set is broadcast.
    pub subblock_offset: u32,
    /// True where a cross-core wait stalls the whole core and not one pipe.
    pub wait_stalls_core: bool,
    /// True where a Cube set reaches both Vector cores and a Cube wait needs both of them.
    pub broadcast_reduce: bool,
    /// Flags per direction and peer for rings.
    pub ring_flags: u32,
    /// Buffer tokens per core (`get_buf`/`rls_buf`); 0 where there are none.
    #[serde(default)]
    pub buffer_tokens: u32,
    /// Cycles of a set or of a wait that is already satisfied.
    pub cycles: u32,
    /// Cycles until a signal reaches another core.
    pub cross_core_latency: u32,
}

/// Where rings live.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingSpec {
    /// True: slots in global memory; false: slots in the consumer's UB or L1.
    pub in_gm: bool,
    /// Slots of a ring that is its pipe's only direction.
    pub slots_one_way: u32,
    /// Slots of each ring of a pipe with both directions.
    pub slots_both_ways: u32,
    /// Most slots of a pipe value.
    pub max_slots: u32,
    /// Flag ids of pipe values: 0 to one less.
    pub flag_ids: u32,
    /// True where rings have one of these numbers of slots and no other. Not said by platform files: tool chains do.
    #[serde(skip)]
    pub fixed_depth: bool,
    /// True where tiles of rings in global memory land in slots that the consumer reserves and the producer imports. Not said
    /// by platform files: tool chains do.
    #[serde(skip)]
    pub landing: bool,
}

/// A cost: `fixed + ceil(units × num / den)` cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Latency in cycles.
    pub fixed: u32,
    /// Numerator of the cycles per unit.
    pub num: u32,
    /// Denominator of the cycles per unit; never 0.
    pub den: u32,
}

impl Cost {
    /// A cost without a part that grows.
    pub const fn fixed(cycles: u32) -> Cost {
        Cost { fixed: cycles, num: 0, den: 1 }
    }

    /// Cycles for so many units (bytes, repeats or blocks, as the operation says). Saturates.
    pub fn cycles(self, units: u64) -> u64 {
        let grown = units.saturating_mul(u64::from(self.num)).div_ceil(u64::from(self.den));
        grown.saturating_add(u64::from(self.fixed))
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Cost, D::Error> {
        let [fixed, num, den] = <[u32; 3]>::deserialize(d)?;
        if den == 0 {
            return Err(serde::de::Error::custom(
                "a cost is [fixed, numerator, denominator] and the denominator is not 0",
            ));
        }
        Ok(Cost { fixed, num, den })
    }
}

/// Costs of pipe operations, each `[fixed, numerator, denominator]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostSpec {
    /// Cycles of one scalar instruction.
    pub scalar: u32,
    /// Cycles of a scalar access to global or local memory.
    pub scalar_memory: u32,
    /// Bytes of which a strided data move makes whole ones: a shorter row of it costs as much.
    #[serde(default = "burst")]
    pub burst: u64,
    /// Data moves by path, such as `gm-vec` or `acc-gm`; the unit is a byte.
    pub dma: BTreeMap<String, Cost>,
    /// Vector operations by class, such as `add` or `exp`; the unit is one 256-byte repeat.
    pub vector: BTreeMap<String, Cost>,
    /// The matrix unit by type of the left operand; the unit is one block of 16 × 16 × 32 bytes.
    pub cube: BTreeMap<String, Cost>,
}

const fn burst() -> u64 {
    32
}

impl Platform {
    /// Capacity and alignment of a local space; `None` for global memory and spaces the platform lacks.
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

    /// True where two operations of a pipe that touch the same bytes of a memory need a barrier between them.
    pub fn overlaps(&self, pipe: Pipe, space: Space) -> bool {
        self.pipes.unordered.get(pipe.name()).is_some_and(|names| names.iter().any(|name| name == space.name()))
    }

    /// The pipes that may overlap their own work, each with a memory where it does.
    pub fn overlapping(&self) -> Vec<(Pipe, Space)> {
        let pairs = Pipe::ALL.into_iter().flat_map(|pipe| Space::NAMED.into_iter().map(move |space| (pipe, space)));
        pairs.filter(|(pipe, space)| self.overlaps(*pipe, *space)).collect()
    }

    /// True where some dependent operations of this pipe need a barrier between them.
    pub fn needs_barrier(&self, pipe: Pipe) -> bool {
        self.overlapping().iter().any(|(of, _)| *of == pipe)
    }

    /// True if tiles move directly from one space to another here: the ways are those that have a cost.
    pub fn has_way(&self, from: Space, to: Space) -> bool {
        self.cost.dma.contains_key(&format!("{}-{}", from.name(), to.name()))
    }

    /// Cost of moving bytes from one space to another; the platform's `other` path where it names none.
    pub fn dma_cost(&self, from: Space, to: Space) -> Cost {
        let path = format!("{}-{}", from.name(), to.name());
        lookup(&self.cost.dma, &path)
    }

    /// Cost of a vector operation of a class, one of [`VECTOR_CLASSES`]; the class `other` where the platform names none.
    pub fn vector_cost(&self, class: &str) -> Cost {
        debug_assert!(class == OTHER || VECTOR_CLASSES.contains(&class), "`{class}` is no cost class");
        lookup(&self.cost.vector, class)
    }

    /// Cost of a matrix operation whose left operand has this element type.
    pub fn cube_cost(&self, elem: Elem) -> Cost {
        lookup(&self.cost.cube, elem.name())
    }
}

/// What costs what a table does not name.
pub(crate) const OTHER: &str = "other";

/// What vector operations are told apart by in `cost.vector`.
pub const VECTOR_CLASSES: [&str; 24] = [
    "add",
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

fn lookup(table: &BTreeMap<String, Cost>, key: &str) -> Cost {
    table.get(key).or_else(|| table.get(OTHER)).copied().unwrap_or(Cost::fixed(1))
}
