//! A program: what one launch runs on each of its clusters.

use std::sync::Arc;

use slipring_machine::{Pipe, Price, Role};
use slipring_tile::{Elem, Space};

use crate::{Action, Inst, Operand, Reg, Words};

/// What one launch runs: the same on every block (cluster).
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Name of the kernel.
    pub name: String,
    /// Programs of the cores that take part, in the order AIC, AIV0, AIV1.
    pub cores: Vec<CoreProgram>,
    /// Synchronisation objects of one cluster.
    pub syncs: Vec<SyncDecl>,
    /// Kernel parameters in order.
    pub params: Vec<Param>,
    /// Rings, for reports.
    pub rings: Vec<RingDecl>,
    /// True for one program that does the work of all cores of a cluster in order: it may use every pipe, and runs
    /// in sequential mode only.
    pub whole_cluster: bool,
    /// Places that instructions come from.
    pub sites: Vec<Site>,
    /// How their text spells what findings advise.
    pub words: Words,
}

impl Program {
    /// True if a core of it waits for numbers in global memory.
    pub fn polls(&self) -> bool {
        self.cores.iter().any(|core| core.insts.iter().any(|inst| matches!(inst, Inst::Poll { .. })))
    }
}

/// The program of one core.
#[derive(Clone, Debug)]
pub struct CoreProgram {
    /// Which core.
    pub role: Role,
    /// Instructions; the last one reached is [`Inst::End`].
    pub insts: Vec<Inst>,
    /// For each instruction its index in [`Program::sites`].
    pub inst_sites: Vec<u32>,
    /// Work that [`Inst::Issue`] names.
    pub works: Vec<Work>,
    /// Number of registers.
    pub regs: u32,
}

/// Work for a pipe.
#[derive(Clone, Debug)]
pub struct Work {
    /// Where it runs.
    pub pipe: Pipe,
    /// Name for statistics: the op.
    pub name: &'static str,
    /// What it does.
    pub effect: Action,
    /// Operands of the effect.
    pub args: Box<[Operand]>,
    /// What an execution costs, by the effect's units.
    pub cost: Price,
    /// Register that receives the effect's value; only for work of [`Pipe::S`].
    pub result: Option<Reg>,
    /// The ring (index in [`Program::rings`]) into whose slots it moves a tile; of a ring to both lanes that of lane 0.
    pub fills: Option<u32>,
}

/// Where an instruction comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// Name of the op in the text.
    pub op: Arc<str>,
    /// Range of bytes in the source text; empty at 0 for generated instructions.
    pub span: (u32, u32),
    /// What it is doing there, for reports: `waits for a free slot` …; may be empty.
    pub note: &'static str,
}

/// A kernel parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Name in the text, without `%`.
    pub name: String,
    /// What is passed.
    pub kind: ParamKind,
}

impl Param {
    /// True if whoever launches the kernel passes it.
    pub const fn is_passed(&self) -> bool {
        !matches!(self.kind, ParamKind::Scratch { .. })
    }
}

/// What a kernel parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// Address of a device buffer with elements of this type; `bytes` where the type fixes the size.
    Buffer {
        /// Element type.
        elem: Elem,
        /// Size in bytes, if the type says.
        bytes: Option<u64>,
    },
    /// Address of zeroed device memory that the launch allocates, so many bytes for each of its blocks: nobody passes it, and
    /// what it holds is no result. It is the last parameter.
    Scratch {
        /// Bytes of a block.
        bytes_per_block: u64,
    },
    /// A scalar of this type; `index` is `i64`.
    Scalar(Elem),
    /// A boolean.
    Bool,
}

/// A synchronisation object: a counter with one setter and one waiter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncDecl {
    /// For reports, such as `flag MTE2→V id 0 of AIV0`.
    pub name: Arc<str>,
    /// What it is.
    pub role: SyncRole,
    /// Core that sets it.
    pub setter: Role,
    /// Core that waits for it.
    pub waiter: Role,
    /// Largest count that it can hold: 1 for a flag.
    pub max: u32,
    /// True: a set at the largest count is lost silently; false: it is a finding.
    pub saturates: bool,
    /// Count that an orderly program leaves at its end.
    pub final_count: u32,
    /// Signals of it that the waiter takes back when its program ends, if they are all there: nothing is left of them then.
    pub returned: u32,
}

/// What a synchronisation object is, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SyncRole {
    /// A flag from one pipe to another of one core.
    Event { from: Pipe, to: Pipe, id: u32 },
    /// A semaphore between two cores.
    Semaphore { id: u32 },
    /// `slot` of a ring holds a tile (index in [`Program::rings`]). Of a counted ring all slots share slot 0's.
    RingReady { ring: u32, slot: u32 },
    /// `slot` of a ring is free.
    RingFree { ring: u32, slot: u32 },
    /// A buffer token.
    Token { id: u32 },
    /// The unit flag of the accumulator tile at this address: a token that a pipe publishes without having got it.
    UnitFlag { address: u32 },
}

/// Direction of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Direction {
    /// Cube to Vector.
    C2V,
    /// Vector to Cube.
    V2C,
}

impl Direction {
    /// `C2V` or `V2C`.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::C2V => "C2V",
            Direction::V2C => "V2C",
        }
    }
}

/// A ring between the Cube core and one Vector core.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct RingDecl {
    /// Name for reports: the reserved buffer's, or the pipe id.
    pub name: Arc<str>,
    pub direction: Direction,
    /// The Vector core at one end.
    pub lane: Role,
    pub slots: u32,
    /// Bytes from one slot to the next.
    pub slot_bytes: u32,
    /// Memory that holds the slots: `Gm`, `Vec` or `Mat`.
    pub space: Space,
    /// True: one counter of ready tiles and one of free slots. False: a flag of each kind for each slot.
    pub counted: bool,
    /// Tiles that one free signal stands for.
    pub period: u32,
    /// Address of slot 0 in the consumer's memory, where the text tells it; `None` for rings in global memory.
    pub base: Option<u64>,
    /// True if the text turns phases of pushes or pops on and off: signals then say less than what is moved.
    pub sparse: bool,
    /// Free signals with which the ring starts.
    pub credits: u32,
    /// True if undivided tiles reach both Vector cores, which the platform's tile library does not do.
    pub undivided: bool,
    /// True if rows become blocks on their way into L1, which the platform's tile library does not do.
    pub from_rows: bool,
}
