//! Facts that an op declaration states.

use slipring_machine::Pipe;

/// A query of an op about the Vector core that it runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneQuery {
    /// Its index in the cluster.
    Number,
    /// How many of them run the kernel.
    Count,
}

/// How an integer result depends on integer operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Linear {
    /// The operand, in another width.
    Same,
    Sum,
    Difference,
    Product,
    /// The remainder of dividing the first by the second.
    Remainder,
}

/// What the first argument of an op's region counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// A range: from the first of these operands, in steps of the third, up to but excluding the second.
    Range([&'static str; 3]),
    /// The Vector cores of a cluster: 0 and 1.
    Lanes,
}

/// Where an op specifies the local-memory address of the buffer that it makes or loads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressRule {
    /// None: it makes nothing that has an address of its own.
    None,
    /// In this operand, if it is present.
    Operand(&'static str),
    /// In this attribute, if it is present.
    Attr(&'static str),
}

/// The event id of the flags that the tile library uses internally ([`OpDef::inside`](crate::OpDef::inside)).
pub const LIBRARY_EVENT: u32 = 0;

/// The synchronisation that an op performs. Ids are `None` if they are computed at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncAct {
    /// A pipe signals another of its core.
    Set(Signal),
    /// A pipe waits for another of its core.
    Wait(Signal),
    /// Later work of the pipe waits for its earlier work; without a pipe, all later work waits for all earlier work.
    Barrier(Option<Pipe>),
    /// A pipe acquires a buffer: with `waits` it blocks until all earlier releases of the buffer are done.
    Get {
        /// The pipe.
        pipe: Pipe,
        /// Which buffer.
        id: Option<i64>,
        /// Whether the pipe blocks.
        waits: bool,
    },
    /// A pipe releases a buffer once its earlier work is done.
    Release {
        /// The pipe.
        pipe: Pipe,
        /// Which buffer.
        id: Option<i64>,
    },
    /// A pipe signals another core, once its earlier work is done.
    Send {
        /// The pipe; the core's own one if `None`.
        pipe: Option<Pipe>,
        /// Which semaphore.
        id: Option<i64>,
    },
    /// A pipe, or the whole core, waits for another core.
    Receive {
        /// The pipe; the whole core if `None`.
        pipe: Option<Pipe>,
        /// Which semaphore.
        id: Option<i64>,
    },
}

/// A flag between two pipes of a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// The pipe that signals.
    pub from: Pipe,
    /// The pipe that waits.
    pub to: Pipe,
    /// The id of the flag; `None` if it is computed at run time.
    pub id: Option<u32>,
}

/// Whether an op synchronises the pipes of one core by hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum InCoreSync {
    No,
    Manual,
}

/// Where an op belongs with respect to the bodies of workitems (SIMT).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workitems {
    /// Inside if it does nothing but compute.
    IfComputes,
    /// Only inside: it does something for a workitem.
    Inside,
    /// Inside and outside.
    Both,
    /// It prepares or makes a launch: outside. Its region, if it has one, is a body.
    Launches,
}

/// Which core runs an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum CoreRule {
    /// Any core: scalar code, control flow, synchronisation.
    Any,
    Cube,
    Vector,
    /// The core that has the memory of its tiles.
    ByTile,
}

/// The role of an op in a kernel that is written for the whole cluster. The passes remove all of these: no core runs
/// them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MixedPart {
    /// A region that runs once on each Vector core.
    Region,
    /// A tile of the accumulator to the Vector cores, one part each.
    Shard,
    /// The Vector cores' tiles to L1, joined.
    Gather,
    /// A whole tile from one kind of core to the other.
    Cross,
}

/// The part of the tile of operand `src` that an op copies into the tile of operand `dst`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// The common part of both, from the first element on.
    Whole,
    /// A part of the size of `dst`, starting at operands `row` and `col` of `src`.
    Extract,
}

/// When the result of an op is never negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FromZero {
    /// Not known.
    Unknown,
    /// Always.
    Always,
    /// If none of these operands is negative.
    IfAll(&'static [&'static str]),
    /// If at least one of these operands is never negative.
    IfOne(&'static [&'static str]),
}
