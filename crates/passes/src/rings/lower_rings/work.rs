//! What is written out of the rings of a kernel, and why some stay.

use slipring_ir::{BlockId, OpId, ValueId};
use slipring_machine::CoreKind;
use slipring_op::ring::{PlannedRing, Split};
use slipring_program::Direction;

/// Why an op stays, and where.
pub(crate) struct Stays {
    pub(crate) op: OpId,
    pub(crate) why: String,
}

impl Stays {
    pub(crate) fn at<T>(op: OpId, why: impl Into<String>) -> Result<T, Stays> {
        Err(Stays { op, why: why.into() })
    }
}

/// What an op of a ring does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    Push,
    /// With whether it frees what it took.
    Pop {
        frees: bool,
    },
    Free,
    /// Nothing: a free of a pipe that frees by itself.
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
    /// The op that makes it.
    pub init: OpId,
    /// The body of its function.
    pub body: BlockId,
    /// Where slot 0 lies: an address in the consumer's memory, or a pointer and the bytes after it.
    pub base: Base,
    /// Where tiles out of global memory land.
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

/// What is written out.
pub struct Work {
    pub steps: Vec<RingStep>,
    pub ends: Vec<End>,
    /// Ops that make pipes.
    pub inits: Vec<OpId>,
    /// Whether both Vector cores run.
    pub both_lanes: bool,
}

/// What counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// Pushes or pops.
    Taken,
    /// Frees.
    Freed,
    /// Tiles that landed.
    Landed,
}

/// The counters of an end. `None` is one that a core keeps; else the ops that count, in order.
#[derive(Clone, Default, Debug)]
pub struct Tags {
    pub(crate) taken: Option<Vec<OpId>>,
    pub(crate) freed: Option<Vec<OpId>>,
    /// Whether anything is counted that is not known.
    pub kept: Vec<Counter>,
}

impl Tags {
    /// How many ops of a counter come before this one, where the text tells it.
    pub fn before(&self, counter: Counter, op: OpId) -> Option<u64> {
        let list = match counter {
            Counter::Taken | Counter::Landed => &self.taken,
            Counter::Freed => &self.freed,
        };
        Some(list.as_ref()?.iter().position(|one| *one == op)? as u64)
    }
}
