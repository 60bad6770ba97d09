//! The parts of a kernel's rings that are expanded, and the reasons why some remain.

use slipring_ir::{BlockId, OpId, ValueId};
use slipring_machine::CoreKind;
use slipring_op::ring::{PlannedRing, Split};
use slipring_program::Direction;

/// Why an op is not expanded, and where it is.
pub(crate) struct Stays {
    pub(crate) op: OpId,
    pub(crate) why: String,
}

impl Stays {
    pub(crate) fn at<T>(op: OpId, why: impl Into<String>) -> Result<T, Stays> {
        Err(Stays { op, why: why.into() })
    }
}

/// The action of a ring op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    Push,
    /// Whether it frees what it took.
    Pop {
        frees: bool,
    },
    Free,
    /// Nothing: a free in a pipe that frees automatically.
    Nothing,
}

/// An op of a ring.
#[derive(Clone, Copy, Debug)]
pub struct RingStep {
    pub op: OpId,
    pub act: Act,
    /// Index into [`Work::ends`].
    pub end: usize,
    pub split: Split,
}

/// One core's end of a ring.
#[derive(Clone, Debug)]
pub struct End {
    pub ring: PlannedRing,
    pub kind: CoreKind,
    /// The op that creates it.
    pub init: OpId,
    /// The body of its function.
    pub body: BlockId,
    /// The location of slot 0: an address in the consumer's memory, or a pointer and a byte offset.
    pub base: Base,
    /// The landing area of tiles from global memory.
    pub landing: Option<ValueId>,
    pub tags: Tags,
}

#[derive(Clone, Copy, Debug)]
pub enum Base {
    Local(ValueId),
    Gm { pointer: ValueId, bytes: u64 },
}

impl End {
    /// True for the producer.
    pub fn produces(&self) -> bool {
        (self.ring.direction == Direction::C2V) == (self.kind == CoreKind::Cube)
    }
}

/// The rings to expand.
pub struct Work {
    pub steps: Vec<RingStep>,
    pub ends: Vec<End>,
    /// Ops that create pipes.
    pub inits: Vec<OpId>,
    /// Whether both Vector cores run.
    pub both_lanes: bool,
}

/// Counted events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// Pushes or pops.
    Taken,
    /// Frees.
    Freed,
    /// Tiles that landed.
    Landed,
}

/// The counters of an end. `None` is a counter that a core keeps; otherwise the counting ops, in order.
#[derive(Clone, Default, Debug)]
pub struct Tags {
    pub(crate) taken: Option<Vec<OpId>>,
    pub(crate) freed: Option<Vec<OpId>>,
    /// Counters whose value is not statically known.
    pub kept: Vec<Counter>,
}

impl Tags {
    /// How many ops of a counter precede this one, if the text determines it.
    pub fn before(&self, counter: Counter, op: OpId) -> Option<u64> {
        let list = match counter {
            Counter::Taken | Counter::Landed => &self.taken,
            Counter::Freed => &self.freed,
        };
        Some(list.as_ref()?.iter().position(|one| *one == op)? as u64)
    }
}
