//! What work touches: ranges of bytes, signals, and how it updates them.

use std::fmt::Debug;

use slipring_machine::{Role, Units};
use slipring_tile::{Elem, Space};

use crate::SiteRef;

/// A range of bytes: `rows` runs of `row_bytes` bytes, `stride` bytes apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Extent {
    pub space: Space,
    /// Whose local memory; ignored for global memory.
    pub core: Role,
    /// Byte address of the first run: an offset in the local memory, or an address in global memory.
    pub start: u64,
    pub rows: u32,
    pub row_bytes: u32,
    /// Distance between the starts of two runs, in bytes; at least `row_bytes` where `rows > 1`.
    pub stride: u64,
}

impl Extent {
    /// One run of bytes of a local memory.
    pub const fn run(space: Space, core: Role, start: u64, bytes: u32) -> Extent {
        Extent { space, core, start, rows: 1, row_bytes: bytes, stride: 0 }
    }

    /// Bytes touched.
    pub const fn bytes(&self) -> u64 {
        self.rows as u64 * self.row_bytes as u64
    }

    /// First byte after the last run. Saturates where the range is absurdly large.
    pub const fn end(&self) -> u64 {
        let last = (self.rows.saturating_sub(1) as u64).saturating_mul(self.stride);
        self.start.saturating_add(last).saturating_add(self.row_bytes as u64)
    }
}

/// What one execution of an effect touches and how large it is.
#[derive(Clone, Default, Debug)]
pub struct Access {
    /// Bytes read.
    pub reads: Vec<Extent>,
    /// Bytes written.
    pub writes: Vec<Extent>,
    /// Bytes among the written ones that are uninitialised afterwards, such as working memory. The effect need not touch them: the
    /// engine fills them with [`UNDEFINED`](crate::UNDEFINED) when the work completes.
    pub undefined: Vec<Extent>,
    /// Those of them that are a source: they are read first, and worked in afterwards.
    pub clobbered: Vec<Extent>,
    /// What the writes do to what memory holds, where they are atomic updates instead of plain writes.
    pub update: Option<Update>,
    /// Size, as the work's price counts it.
    pub units: Units,
    /// Pairs of accesses inside this one execution that nothing orders; only effects that discover find any.
    pub conflicts: Vec<InnerConflict>,
    /// Instructions that it executed, of those that conflicts number; 0 where there are none, or too many to be counted.
    pub steps: u32,
    /// What this execution reports depends on the values that it reads: warnings, too.
    pub consults: bool,
    /// Its accesses to global memory go through the data cache of the scalar unit, and nothing in it writes the lines back.
    pub cached: bool,
    /// The lines of the data cache of its scalar unit that it writes back and forgets.
    pub cleans: Option<Cleans>,
    /// What it does with a signal, where the bytes are one: its accesses order others and are no data.
    pub signal: Option<SignalUse>,
}

/// Which lines of a data cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cleans {
    /// All of them.
    All,
    /// That which holds the byte at this address.
    Line(u64),
}

/// What is done with a signal: a number of 32 bits in global memory that one device changes and another waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalUse {
    /// The number is added to it, in one indivisible step.
    Add(i32),
    /// It becomes the number.
    Set(i32),
    /// It is compared with the number that a wait wants.
    Await {
        /// The number.
        expected: i32,
        /// A larger one will do as well.
        at_least: bool,
    },
}

impl SignalUse {
    /// True if the wait is over where the signal is this number: a sum of changes may be more than the 32 bits hold.
    pub fn holds(self, number: i64) -> bool {
        match self {
            SignalUse::Await { expected, at_least: true } => number >= i64::from(expected),
            SignalUse::Await { expected, at_least: false } => number == i64::from(expected),
            SignalUse::Add(_) | SignalUse::Set(_) => true,
        }
    }
}

/// An atomic update of what memory holds. Updates of one kind on elements of one type may come in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Update {
    pub kind: UpdateKind,
    /// Type of the elements in memory.
    pub elem: Elem,
}

impl Update {
    /// True where the order of several of them shows in the result: sums of floats are rounded after each.
    pub fn order_shows(self) -> bool {
        self.kind == UpdateKind::Add && self.elem.is_float()
    }
}

/// What an atomic update does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum UpdateKind {
    Add,
    /// Keeps the larger element.
    Max,
    /// Keeps the smaller element.
    Min,
}

/// Two accesses inside one execution, to the same bytes and at least one of them a write, that nothing orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InnerConflict {
    /// The first of them in program order.
    pub earlier: SiteRef,
    /// The second.
    pub later: SiteRef,
    /// Whether each of them writes.
    pub writes: [bool; 2],
    /// True if the two are in order by an interpretation of the platform: two vector stores.
    pub kept: bool,
    /// A range that both touch.
    pub extent: Extent,
    /// The memory barrier that would order them,
    pub barrier: &'static str,
    /// and what it would stand between.
    pub between: &'static str,
    /// Which of the instructions of the execution the two are, from 1; 0 where they are too far on to be counted.
    pub steps: [u32; 2],
}

/// Another legal order of the instructions of one execution, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reorder {
    /// Instructions that are late, by their numbers in the usual order, from 1, each with the one that it comes after. What must come
    /// after it is late as well; it is over as soon as nothing can go on without it.
    pub late: Vec<(u32, u32)>,
    /// Stores to the same bytes keep their order.
    pub stores_in_order: bool,
    /// How many instructions there were.
    pub executed: u32,
    /// How many of the late ones were overtaken by the one that they come after.
    pub overtaken: u32,
}

impl Access {
    /// Empties it for reuse.
    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.undefined.clear();
        self.clobbered.clear();
        self.conflicts.clear();
        self.steps = 0;
        self.update = None;
        self.signal = None;
        self.consults = false;
        self.cached = false;
        self.cleans = None;
        self.units = Units::default();
    }
}

/// Where an effect runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Env {
    /// Cluster that the block runs on, 0-based: selects the local memories. Several blocks of a launch may
    /// follow each other on a cluster.
    pub block: u32,
    pub core: Role,
}
