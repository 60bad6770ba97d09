//! Facts that the declaration of an op states.

use slipring_machine::Pipe;

/// What an op asks of the Vector core that it runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneQuery {
    /// Its number in the cluster.
    Number,
    /// How many of them run the kernel.
    Count,
}

/// How an integer depends on others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Linear {
    /// It is the operand, in another width.
    Same,
    Sum,
    Difference,
    Product,
    /// It is what a division of the first by the second leaves.
    Remainder,
}

/// What the first argument of an op's region counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// From the first of these operands on, by steps of the third, up to the second and without it.
    Range([&'static str; 3]),
    /// The Vector cores of a cluster: 0 and 1.
    Lanes,
}

/// Where an op says at which address of a local memory what it makes lies, or lands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressRule {
    /// Nowhere: it makes nothing that has an address of its own.
    None,
    /// In this operand, where it is there.
    Operand(&'static str),
    /// In this attribute, where it is there.
    Attr(&'static str),
}

/// The event id of the flags that the tile library uses inside ([`OpDef::inside`](crate::OpDef::inside)).
pub const LIBRARY_EVENT: u32 = 0;

/// What an op does to synchronise. Ids are `None` where they are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncAct {
    /// A pipe signals another of its core.
    Set(Signal),
    /// A pipe waits for another of its core.
    Wait(Signal),
    /// Later work of the pipe waits for its earlier work; of none: everything later for everything earlier.
    Barrier(Option<Pipe>),
    /// A pipe gets a buffer: with `waits` it is held until all earlier releases of it are done.
    Get {
        /// The pipe.
        pipe: Pipe,
        /// Which buffer.
        id: Option<i64>,
        /// Whether the pipe is held.
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
        /// The pipe; that of the core where it is none.
        pipe: Option<Pipe>,
        /// Which semaphore.
        id: Option<i64>,
    },
    /// A pipe, or the whole core, waits for another core.
    Receive {
        /// The pipe; the core where it is none.
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
    /// Which of their flags; `None` where it is computed.
    pub id: Option<u32>,
}

/// Whether an op synchronises the pipes of one core by hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum InCoreSync {
    No,
    Manual,
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

/// What an op is in a kernel that is written for the whole cluster. The passes take all of these out: no core runs them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MixedPart {
    /// A region that runs once on each Vector core.
    Region,
    /// A tile of the accumulator to the Vector cores, each its part.
    Shard,
    /// The Vector cores' tiles to L1, put together.
    Gather,
    /// A whole tile from one kind of core to the other.
    Cross,
}

/// What of the tile of operand `src` an op copies into the tile of operand `dst`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// All that both have in common, from the first element on.
    Whole,
    /// As much as `dst` holds, from operands `row` and `col` of `src` on.
    Extract,
}

/// When the number that an op gives is never below zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FromZero {
    /// Nothing is said.
    Unknown,
    /// Always.
    Always,
    /// Where none of these operands is below zero.
    IfAll(&'static [&'static str]),
    /// Where one of these operands is never below zero.
    IfOne(&'static [&'static str]),
}
