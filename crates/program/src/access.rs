//! The accesses of work: ranges of bytes, signals, and how the work updates them.

use std::fmt::Debug;

use slipring_machine::{Role, Units};
use slipring_tile::{Elem, Space};

use crate::SiteRef;

/// A range of bytes: `rows` runs of `row_bytes` bytes, `stride` bytes apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Extent {
    pub space: Space,
    /// The core of the local memory; ignored for global memory.
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

    /// End of the last run (exclusive). Saturates if the range is absurdly large.
    pub const fn end(&self) -> u64 {
        let last = (self.rows.saturating_sub(1) as u64).saturating_mul(self.stride);
        self.start.saturating_add(last).saturating_add(self.row_bytes as u64)
    }
}

/// The accesses of one execution of an effect, and its size.
#[derive(Clone, Default, Debug)]
pub struct Access {
    /// Bytes read.
    pub reads: Vec<Extent>,
    /// Bytes written.
    pub writes: Vec<Extent>,
    /// Bytes among the written ones that are uninitialised afterwards, such as working memory. The effect need not touch them: the
    /// engine fills them with [`UNDEFINED`](crate::UNDEFINED) when the work completes.
    pub undefined: Vec<Extent>,
    /// Those of them that are a source: they are read first and clobbered afterwards.
    pub clobbered: Vec<Extent>,
    /// The kind of update, if the writes are atomic updates instead of plain writes.
    pub update: Option<Update>,
    /// The ranges that atomic changes read and write, where others are read and written plainly.
    pub changes: Vec<Changed>,
    /// Where workitems of one launch change the same bytes in an order that shows, if they do.
    pub contended: Option<SiteRef>,
    /// Size, as counted by the work's price.
    pub units: Units,
    /// Unordered pairs of accesses within this one execution; only discovering effects find any.
    pub conflicts: Vec<InnerConflict>,
    /// Number of instructions executed, in the numbering of the conflicts; 0 if there are none, or too many to be
    /// counted.
    pub steps: u32,
    /// The reports of this execution, including warnings, depend on the values that it reads.
    pub consults: bool,
    /// Its accesses to global memory go through the data cache of the scalar unit, and it does not write the lines
    /// back.
    pub cached: bool,
    /// The lines of its scalar unit's data cache that it writes back and invalidates.
    pub cleans: Option<Cleans>,
    /// Its use of a signal, if the bytes are one: such accesses order others and are not data.
    pub signal: Option<SignalUse>,
}

/// Lines of a data cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cleans {
    /// All of them.
    All,
    /// The line with the byte at this address.
    Line(u64),
}

/// An operation on a signal: a 32-bit integer in global memory that one device changes and another waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalUse {
    /// Atomically adds this value.
    Add(i32),
    /// Sets it to this value.
    Set(i32),
    /// Compares it with the expected value of a wait.
    Await {
        /// The expected value.
        expected: i32,
        /// The condition is >= instead of ==.
        at_least: bool,
    },
}

impl SignalUse {
    /// True if a wait for this ends when the signal has this value: a sum of changes may exceed 32 bits.
    pub fn holds(self, number: i64) -> bool {
        match self {
            SignalUse::Await { expected, at_least: true } => number >= i64::from(expected),
            SignalUse::Await { expected, at_least: false } => number == i64::from(expected),
            SignalUse::Add(_) | SignalUse::Set(_) => true,
        }
    }
}

/// An atomic update of memory contents. Updates of one kind on elements of one type may come in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Update {
    pub kind: UpdateKind,
    /// Type of the elements in memory.
    pub elem: Elem,
}

impl Update {
    /// True if the order of several updates affects the result: sums of floats are rounded after each.
    pub fn order_shows(self) -> bool {
        self.kind == UpdateKind::Add && self.elem.is_float()
    }
}

/// The operation of an atomic update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum UpdateKind {
    Add,
    /// Keeps the larger element.
    Max,
    /// Keeps the smaller element.
    Min,
}

/// An atomic change of memory: a read and a write of the same bytes in one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Change {
    Update(Update),
    And,
    Or,
    Xor,
    /// Any change by a workitem that replaces the old value, or uses it: others may come before or after it, and it
    /// sees whether they did.
    Exchange,
}

/// A range that is changed atomically: its index among those read, and among those written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Changed {
    pub read: u32,
    pub write: u32,
    pub how: Change,
}

impl Change {
    /// True if the order of several such changes affects the result.
    pub fn order_shows(self) -> bool {
        self == Change::Exchange || matches!(self, Change::Update(update) if update.order_shows())
    }

    /// True if this change and another one may come in either order.
    pub fn goes_with(self, other: Change) -> bool {
        self == other || self == Change::Exchange || other == Change::Exchange
    }
}

/// Two unordered accesses within one execution, to the same bytes and at least one of them a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InnerConflict {
    /// The first of them in program order.
    pub earlier: SiteRef,
    /// The second.
    pub later: SiteRef,
    /// Whether each of them writes.
    pub writes: [bool; 2],
    /// True if an interpretation of the platform orders the two: two vector stores.
    pub kept: bool,
    /// A range that both touch.
    pub extent: Extent,
    /// The memory barrier that would order them,
    pub barrier: &'static str,
    /// and the accesses that it would separate.
    pub between: &'static str,
    /// The indices of the two instructions in the execution, from 1; 0 if they are too far on to be counted.
    pub steps: [u32; 2],
    /// The two workitems that execute them, if it is a launch of workitems.
    pub workitems: Option<TwoWorkitems>,
}

/// Two workitems of a launch that touch the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TwoWorkitems {
    /// Each of them in x, y and z.
    pub at: [[u32; 3]; 2],
    /// Both write, and the second what is already there.
    pub equal: bool,
}

/// Another legal order of the instructions of one execution, and its outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reorder {
    /// Delayed instructions, by their number in the usual order, from 1, each with the one that it is delayed past.
    /// Instructions that must come after a delayed one are delayed as well; the delay ends as soon as nothing can
    /// proceed without it.
    pub late: Vec<(u32, u32)>,
    /// Stores to the same bytes keep their order.
    pub stores_in_order: bool,
    /// Number of instructions executed.
    pub executed: u32,
    /// Number of delayed instructions that were overtaken by the one they are delayed past.
    pub overtaken: u32,
}

impl Access {
    /// True for a change of a signal: one that waits see, in whatever order such changes come.
    pub fn changes_signal(&self) -> bool {
        matches!(self.signal, Some(SignalUse::Add(_) | SignalUse::Set(_)))
    }

    /// The atomic change that a range, by its index among those read or written, is part of, if any.
    pub fn change_of(&self, write: bool, index: usize) -> Option<Change> {
        if self.changes_signal() {
            // All kinds of them are one: what they do to each other is for those who wait.
            return Some(Change::Update(Update { kind: UpdateKind::Add, elem: Elem::I32 }));
        }
        let is = |own: &&Changed| (if write { own.write } else { own.read }) as usize == index;
        self.update.map(Change::Update).or_else(|| self.changes.iter().find(is).map(|own| own.how))
    }

    /// Empties it for reuse.
    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.undefined.clear();
        self.clobbered.clear();
        self.conflicts.clear();
        self.steps = 0;
        self.update = None;
        self.changes.clear();
        self.contended = None;
        self.signal = None;
        self.consults = false;
        self.cached = false;
        self.cleans = None;
        self.units = Units::default();
    }
}

/// The environment of an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Env {
    /// Cluster that the block runs on, 0-based: selects the local memories. Several blocks of a launch may
    /// follow each other on a cluster.
    pub block: u32,
    pub core: Role,
}
