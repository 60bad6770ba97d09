//! A program: the code that one launch runs on each of its clusters.

use std::sync::Arc;

use slipring_machine::{Pipe, Price, Role};
use slipring_tile::{Elem, Space};

use crate::{Action, Inst, Operand, Reg, Words};

/// The code of one launch: the same on every block (cluster).
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
    /// True for one program that does the work of all cores of a cluster in order: it may use every pipe, and runs only
    /// in sequential mode.
    pub whole_cluster: bool,
    /// Source locations of instructions.
    pub sites: Vec<Site>,
    /// How the source language spells the advice in findings.
    pub words: Words,
}

impl Program {
    /// True if one of its cores waits for values in global memory.
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
    /// Work referred to by [`Inst::Issue`].
    pub works: Vec<Work>,
    /// Number of registers.
    pub regs: u32,
}

/// Work for a pipe.
#[derive(Clone, Debug)]
pub struct Work {
    /// Its pipe.
    pub pipe: Pipe,
    /// Name for statistics: the op.
    pub name: &'static str,
    /// Its effect.
    pub effect: Action,
    /// Operands of the effect.
    pub args: Box<[Operand]>,
    /// The cost of an execution, by the effect's units.
    pub cost: Price,
    /// Register that receives the effect's value; only for work of [`Pipe::S`].
    pub result: Option<Reg>,
    /// The ring (index in [`Program::rings`]) into whose slots it moves a tile; for a ring to both lanes, that of lane
    /// 0.
    pub fills: Option<u32>,
}

/// The source of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// Name of the op in the text.
    pub op: Arc<str>,
    /// Range of bytes in the source text; empty at 0 for generated instructions.
    pub span: (u32, u32),
    /// The purpose of the instruction, for reports: `waits for a free slot` …; may be empty.
    pub note: &'static str,
}

/// A kernel parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Name in the text, without `%`.
    pub name: String,
    /// The kind of value passed.
    pub kind: ParamKind,
}

impl Param {
    /// True if the launcher of the kernel passes it.
    pub const fn is_passed(&self) -> bool {
        !matches!(self.kind, ParamKind::Scratch { .. })
    }
}

/// The kind of a kernel parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// Address of a device buffer with elements of this type; `bytes` if the type fixes the size.
    Buffer {
        /// Element type.
        elem: Elem,
        /// Size in bytes, if the type fixes it.
        bytes: Option<u64>,
    },
    /// Address of zeroed device memory that the launch allocates, with this many bytes for each of its blocks: nobody
    /// passes it, and its contents are not a result. It is the last parameter.
    Scratch {
        /// Bytes per block.
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
    /// Its role.
    pub role: SyncRole,
    /// Core that sets it.
    pub setter: Role,
    /// Core that waits for it.
    pub waiter: Role,
    /// Maximum count: 1 for a flag.
    pub max: u32,
    /// True: a set at the maximum is lost silently; false: it is a finding.
    pub saturates: bool,
    /// Final count left by a correct program.
    pub final_count: u32,
    /// Signals that the waiter consumes when its program ends, if all of them are present: none are left then.
    pub returned: u32,
}

/// The role of a synchronisation object, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SyncRole {
    /// A flag from one pipe to another of one core.
    Event { from: Pipe, to: Pipe, id: u32 },
    /// A semaphore between two cores.
    Semaphore { id: u32 },
    /// `slot` of a ring holds a tile (index in [`Program::rings`]). In a counted ring all slots share slot 0's.
    RingReady { ring: u32, slot: u32 },
    /// `slot` of a ring is free.
    RingFree { ring: u32, slot: u32 },
    /// A buffer token.
    Token { id: u32 },
    /// The unit flag of the accumulator tile at this address: a token that a pipe may publish without having acquired
    /// it.
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
    /// Distance in bytes from one slot to the next.
    pub slot_bytes: u32,
    /// Memory that holds the slots: `Gm`, `Vec` or `Mat`.
    pub space: Space,
    /// True: one counter of ready tiles and one of free slots. False: a flag of each kind for each slot.
    pub counted: bool,
    /// Number of tiles represented by one free signal.
    pub period: u32,
    /// Address of slot 0 in the consumer's memory, if the text determines it; `None` for rings in global memory.
    pub base: Option<u64>,
    /// True if the text switches phases of pushes or pops on and off: signals then do not correspond to moves.
    pub sparse: bool,
    /// Initial number of free signals.
    pub credits: u32,
    /// True if undivided tiles reach both Vector cores, which the platform's tile library does not support.
    pub undivided: bool,
    /// True if rows become blocks on their way into L1, which the platform's tile library does not support.
    pub from_rows: bool,
}
