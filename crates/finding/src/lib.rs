//! What a finding is about, as data: what goes on by a finding asks its [`Kind`], and only what shows it to somebody reads its code
//! and its text.

use std::fmt;

mod line;

pub use line::Line;
use slipring_machine::{Pipe, Role};

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; all is still clean.
    Note,
    /// Suspicious; all is still clean.
    Warning,
    /// The program is wrong.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// What a finding is about. A finding that nothing goes on by has its code alone; the others have what is asked of them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Any finding that is only shown: its code.
    Other(&'static str),

    /// Somebody wished the run to end.
    Cancelled,
    /// The run was given up after as many steps or cycles as it may take.
    StepLimit,
    /// A loop that never ends.
    EndlessLoop,
    /// The host has no memory for it.
    MemoryLimit,
    /// It cannot be run, or cannot be compiled.
    Unsupported,
    /// An access to bytes that do not exist.
    OutOfBounds(Miss),
    /// What the text claims does not hold.
    Claim,
    /// Operands of an op have other valid shapes than it takes.
    TileValid,
    /// The inner extents of a product differ, and the right operand transposed would fit.
    InnerExtents,
    /// A product has left other columns of fractals than are taken out of the accumulator.
    AccumulatorRows,
    /// Something depends on bytes that nobody has written: where they are, if they are in a memory.
    UninitialisedRead(Option<Box<Holes>>),
    /// A result has bytes that nobody has written.
    UninitialisedOutput(Option<Box<Holes>>),
    /// Two accesses to the same bytes that nothing orders, in program order where they have one.
    Race([Party; 2]),
    /// A tile is used after the free of its slot.
    UseAfterFree,
    /// Nothing can move: each wait, in the order of the cores.
    Deadlock(Vec<Waiting>),
    /// A flag may be set again before it has been waited for.
    FlagMayOverflow,
    /// A flag was set more often than it counts.
    FlagOverflow,
    /// A flag was set but not waited for.
    FlagLeftSet,
    /// A wait for a flag that nothing sets.
    FlagNeverSet,
    /// A flag that the public library uses inside an op is in flight there.
    LibraryFlag,
    /// A tile was pushed and not popped.
    TileNeverPopped,
    /// A tile was popped and its slot not freed.
    SlotNotFreed,
    /// A buffer's token was taken and not given back.
    TokenNotReleased,
    /// A buffer's token was given back and not taken.
    TokenNotHeld,
    /// A semaphore was set but not waited for.
    SignalLeftOver,
    /// The number of a flag, computed in the run, names none.
    SyncIndex,

    /// The text cannot be read.
    Syntax,
    /// A name of the text that no value has.
    UndefinedValue,
    /// A constant from outside that nothing of the file takes.
    UnusedSetting {
        /// The constant.
        name: Box<str>,
    },
    /// The type of a kernel's parameter.
    Parameter {
        /// A call may decide it: a shape or a number that only an argument has.
        of_call: bool,
    },
    /// The text has several programs, and nothing says which is meant.
    SeveralPrograms,
    /// An input of a kernel is written.
    ReadOnly {
        /// The parameter.
        name: Box<str>,
    },
    /// A kernel writes a part of a result.
    OutputInPart(Option<Box<Holes>>),
    /// A kernel writes nothing of a result.
    OutputUnwritten,
    /// A tile overwrites another one that is still read.
    TileOverwritten,
    /// Lines of a tile that are no whole blocks of its memory.
    TileLines,
    /// A unit does not take elements of this type on this platform.
    ElementType(String),
    /// A tile cannot be divided because its extent is odd.
    SplitOdd,
    /// A function of the host is called in a decorator.
    HostFunction,
    /// Two tasks touch the same bytes, and nothing orders them.
    TaskRace,
    /// A task reads what no task writes.
    TaskUnwritten,
    /// An edge between tasks that nothing needs.
    NeedlessEdge,
}

impl From<&'static str> for Kind {
    fn from(code: &'static str) -> Kind {
        Kind::Other(code)
    }
}

impl Kind {
    /// True where an argument would mend it.
    pub fn waits_for_arguments(&self) -> bool {
        matches!(self, Kind::Parameter { of_call: true })
    }

    /// The stable code that is shown, such as `memory-bounds`.
    pub fn code(&self) -> &'static str {
        match self {
            Kind::Other(code) => code,
            Kind::Cancelled => "cancelled",
            Kind::StepLimit => "step-limit",
            Kind::EndlessLoop => "endless-loop",
            Kind::MemoryLimit => "memory-limit",
            Kind::Unsupported => "unsupported",
            Kind::OutOfBounds(_) => "memory-bounds",
            Kind::Claim => "assert",
            Kind::TileValid => "tile-valid",
            Kind::InnerExtents => "shapes",
            Kind::AccumulatorRows => "accumulator-rows",
            Kind::UninitialisedRead(_) => "uninitialised-read",
            Kind::UninitialisedOutput(_) => "uninitialised-output",
            Kind::Race(_) => "race",
            Kind::UseAfterFree => "use-after-free",
            Kind::Deadlock(_) => "deadlock",
            Kind::FlagMayOverflow => "flag-may-overflow",
            Kind::FlagOverflow => "flag-overflow",
            Kind::FlagLeftSet => "flag-left-set",
            Kind::FlagNeverSet => "flag-never-set",
            Kind::LibraryFlag => "library-flag",
            Kind::TileNeverPopped => "tile-never-popped",
            Kind::SlotNotFreed => "slot-not-freed",
            Kind::TokenNotReleased => "token-not-released",
            Kind::TokenNotHeld => "token-not-held",
            Kind::SignalLeftOver => "signal-left-over",
            Kind::SyncIndex => "sync-index",
            Kind::Syntax => "syntax",
            Kind::UndefinedValue => "undefined-value",
            Kind::UnusedSetting { .. } => "set",
            Kind::Parameter { .. } => "parameter",
            Kind::SeveralPrograms => "several-programs",
            Kind::ReadOnly { .. } => "read-only",
            Kind::OutputInPart(_) => "output-in-part",
            Kind::OutputUnwritten => "output-unwritten",
            Kind::TileOverwritten => "tile-overwritten",
            Kind::TileLines => "tile-lines",
            Kind::ElementType(_) => "tile-elem",
            Kind::SplitOdd => "split-odd",
            Kind::HostFunction => "host-function",
            Kind::TaskRace => "task-race",
            Kind::TaskUnwritten => "task-unwritten",
            Kind::NeedlessEdge => "needless-edge",
        }
    }

    /// True if both have the same code, whatever each of them is about.
    pub fn is_like(&self, other: &Kind) -> bool {
        self.code() == other.code()
    }

    /// True for a finding about an order that is missing: other schedules show it.
    pub fn is_of_order(&self) -> bool {
        matches!(self, Kind::Race(_) | Kind::UseAfterFree | Kind::FlagMayOverflow)
    }

    /// True for a finding about flags, semaphores, tokens and rings.
    pub fn is_of_sync(&self) -> bool {
        matches!(
            self,
            Kind::Deadlock(_)
                | Kind::FlagMayOverflow
                | Kind::FlagOverflow
                | Kind::FlagLeftSet
                | Kind::TileNeverPopped
                | Kind::SlotNotFreed
                | Kind::TokenNotReleased
                | Kind::TokenNotHeld
                | Kind::SignalLeftOver
                | Kind::SyncIndex
        )
    }

    /// True for a finding about bytes that nobody has written.
    pub fn is_of_init(&self) -> bool {
        matches!(
            self,
            Kind::UninitialisedRead(_) | Kind::UninitialisedOutput(_) | Kind::OutputInPart(_) | Kind::OutputUnwritten
        )
    }
}

/// Where the bytes would be that an access misses.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Miss {
    /// Beyond the end of a buffer in global memory: a longer buffer would hold them.
    BeyondBuffer(Box<Start>),
    /// Before the start of a buffer in global memory.
    BeforeBuffer(Box<Start>),
    /// Beyond the end of a memory of a core, whose name stands for the buffer's.
    BeyondMemory(Box<Start>),
    /// Outside of the tensor that a window is part of, in a buffer that may have the bytes: those of other rows.
    OutsideTensor(Box<Part>),
    /// In no memory.
    Nowhere,
}

impl Miss {
    /// Where the access begins; `None` where that is in no memory.
    pub fn start(&self) -> Option<&Start> {
        match self {
            Miss::BeyondBuffer(start) | Miss::BeforeBuffer(start) | Miss::BeyondMemory(start) => Some(start),
            Miss::OutsideTensor(_) | Miss::Nowhere => None,
        }
    }
}

/// What an access takes of a tensor, in elements of each dimension, the outermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Where it begins.
    pub firsts: Vec<i64>,
    /// How many it takes.
    pub counts: Vec<u64>,
    /// How many the tensor has.
    pub extents: Vec<u64>,
}

impl Part {
    /// The first dimension after the outermost one that it leaves. What leaves the outermost one leaves the tensor's bytes: whether
    /// there are others is asked of the buffer.
    pub fn left(&self) -> Option<usize> {
        let outermost = self.extents.iter().position(|extent| *extent != 1)?;
        let inside = |dim: usize| {
            let end = u64::try_from(self.firsts[dim]).ok().and_then(|first| first.checked_add(self.counts[dim]));
            end.is_some_and(|end| end <= self.extents[dim])
        };
        (outermost + 1..self.extents.len()).find(|dim| !inside(*dim))
    }
}

/// Where an access begins, and how far it goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// The buffer's name.
    pub buffer: String,
    /// Bytes from its start.
    pub byte: i64,
    /// Bytes from the first to after the last that it touches.
    pub span: u64,
    /// Bytes that the buffer has.
    pub size: u64,
}

/// Bytes that nobody has written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holes {
    /// What they are in, in words: a buffer, or a memory of a core.
    pub place: String,
    /// First byte and end of what is looked at: the buffer, or what is read.
    pub within: (u64, u64),
    /// First byte and end of the first runs of them, in order: [`Holes::MOST_RUNS`] at most.
    pub runs: Vec<(u64, u64)>,
    /// How many runs there are.
    pub count: u64,
    /// How many bytes there are.
    pub bytes: u64,
}

impl Holes {
    /// Most runs that are kept.
    pub const MOST_RUNS: usize = 256;

    /// Those of all runs of bytes.
    pub fn new(place: String, within: (u64, u64), runs: impl Iterator<Item = (u64, u64)>) -> Holes {
        let mut own = Holes { place, within, runs: Vec::new(), count: 0, bytes: 0 };
        for (from, to) in runs {
            own.count += 1;
            own.bytes += to - from;
            if own.runs.len() < Holes::MOST_RUNS {
                own.runs.push((from, to));
            }
        }
        own
    }
}

/// A pipe of a core, or its scalar unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Unit {
    pub core: Role,
    pub pipe: Pipe,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pipe {
            Pipe::S => write!(f, "the scalar unit of {}", self.core),
            pipe => write!(f, "pipe {pipe} of {}", self.core),
        }
    }
}

/// One of two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Party {
    /// Whose access it is.
    pub unit: Unit,
    /// Its block, where the two have different ones.
    pub block: Option<u32>,
    /// Whether it writes.
    pub writes: bool,
}

impl Party {
    /// `writes` or `reads`.
    pub const fn verb(&self) -> &'static str {
        if self.writes { "writes" } else { "reads" }
    }

    /// Who it is, in words: with its block, where the two have different ones.
    pub fn who(&self) -> String {
        match self.block {
            Some(block) => format!("{} in block {block}", self.unit),
            None => self.unit.to_string(),
        }
    }
}

/// A wait that does not end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Who waits.
    pub unit: Unit,
    /// For what, such as the name of a flag.
    pub what: Box<str>,
    /// Why that does not come.
    pub why: Box<str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_alone_is_like_the_kind_that_has_it() {
        assert!(Kind::from("race").is_like(&Kind::Other("race")));
        assert!(!Kind::from("race").is_like(&Kind::Syntax));
        let flag = Kind::ReadOnly { name: "x".into() };
        assert!(flag.is_like(&Kind::ReadOnly { name: "y".into() }) && flag != Kind::ReadOnly { name: "y".into() });
    }

    #[test]
    fn a_party_is_named_with_its_block_where_that_tells_them_apart() {
        let unit = Unit { core: Role::Aiv0, pipe: Pipe::V };
        let one = Party { unit, block: None, writes: true };
        assert_eq!((one.who().as_str(), one.verb()), ("pipe V of AIV0", "writes"));
        let other = Party { unit: Unit { pipe: Pipe::S, ..unit }, block: Some(3), writes: false };
        assert_eq!((other.who().as_str(), other.verb()), ("the scalar unit of AIV0 in block 3", "reads"));
    }
}
