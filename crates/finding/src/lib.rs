//! The subject of a finding, as data. Code that acts on a finding uses its [`Kind`]; only code that displays it reads
//! its code and its text.

use std::fmt;

mod line;

pub use line::Line;
use slipring_machine::{Pipe, Role};

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// Informational; does not make the verdict unclean.
    Note,
    /// Suspicious; does not make the verdict unclean.
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

/// The kind of a finding. Kinds that no code acts on have only their code; the others carry the data needed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Any finding that is only displayed: its code.
    Other(&'static str),

    /// The run was cancelled from outside.
    Cancelled,
    /// The run was stopped at its limit of steps or cycles.
    StepLimit,
    /// A loop that never ends.
    EndlessLoop,
    /// The host has not enough memory for the run.
    MemoryLimit,
    /// The text cannot be run, or cannot be compiled.
    Unsupported,
    /// An access to bytes that do not exist.
    OutOfBounds(Miss),
    /// A claim made by the text does not hold.
    Claim,
    /// The operands of an op have valid shapes that it does not accept.
    TileValid,
    /// The inner extents of a product differ, and the right operand would fit if transposed.
    InnerExtents,
    /// A product was stored with a different column pitch of fractals than that with which the accumulator is read.
    AccumulatorRows,
    /// Something depends on bytes that nobody has written; their location, if they are in a memory.
    UninitialisedRead(Option<Box<Holes>>),
    /// A result has bytes that nobody has written.
    UninitialisedOutput(Option<Box<Holes>>),
    /// Two unordered accesses to the same bytes, in program order where they have one.
    Race([Party; 2]),
    /// A tile is used after the free of its slot.
    UseAfterFree,
    /// No agent can proceed; all waits, in the order of the cores.
    Deadlock(Vec<Waiting>),
    /// A flag may be set again before it has been waited for.
    FlagMayOverflow,
    /// A flag was set more often than it can count.
    FlagOverflow,
    /// A flag was set but not waited for.
    FlagLeftSet,
    /// A wait for a flag that nothing sets.
    FlagNeverSet,
    /// A flag that the public library uses inside an op is in flight at that op.
    LibraryFlag,
    /// A tile was pushed and not popped.
    TileNeverPopped,
    /// A tile was popped and its slot not freed.
    SlotNotFreed,
    /// A buffer's token was acquired and not released.
    TokenNotReleased,
    /// A buffer's token was released without having been acquired.
    TokenNotHeld,
    /// A semaphore was set but not waited for.
    SignalLeftOver,
    /// A flag index computed at run time is invalid.
    SyncIndex,

    /// The text cannot be read.
    Syntax,
    /// A name in the text that is not defined as a value.
    UndefinedValue,
    /// A constant given from outside that nothing in the file uses.
    UnusedSetting {
        /// The constant.
        name: Box<str>,
    },
    /// The type of a kernel's parameter is unknown or not accepted.
    Parameter {
        /// A call may decide it: it depends on a shape or a value that only an argument supplies.
        of_call: bool,
    },
    /// The text has several programs, and nothing says which is meant.
    SeveralPrograms,
    /// An input of a kernel is written.
    ReadOnly {
        /// The parameter.
        name: Box<str>,
    },
    /// A kernel writes only a part of a result.
    OutputInPart(Option<Box<Holes>>),
    /// A kernel writes no part of a result.
    OutputUnwritten,
    /// A tile overwrites another one that is still read.
    TileOverwritten,
    /// Lines of a tile are not a multiple of the block size of its memory.
    TileLines,
    /// A unit does not accept elements of this type on this platform.
    ElementType(String),
    /// A tile cannot be divided because its extent is odd.
    SplitOdd,
    /// A host function is called in a decorator.
    HostFunction,
    /// Two tasks touch the same bytes, and nothing orders them.
    TaskRace,
    /// A task reads data that no task writes.
    TaskUnwritten,
    /// A redundant edge between tasks.
    NeedlessEdge,
}

impl From<&'static str> for Kind {
    fn from(code: &'static str) -> Kind {
        Kind::Other(code)
    }
}

impl Kind {
    /// True if an argument would resolve the finding.
    pub fn waits_for_arguments(&self) -> bool {
        matches!(self, Kind::Parameter { of_call: true })
    }

    /// The stable code that is displayed, such as `memory-bounds`.
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

    /// True if both have the same code, whatever their data.
    pub fn is_like(&self, other: &Kind) -> bool {
        self.code() == other.code()
    }

    /// True for a finding about missing order: it may show only in other schedules.
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

/// The position of out-of-bounds bytes relative to a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Miss {
    /// Beyond the end of a buffer in global memory: a longer buffer would hold them.
    BeyondBuffer(Box<Start>),
    /// Before the start of a buffer in global memory.
    BeforeBuffer(Box<Start>),
    /// Beyond the end of a core's memory, whose name takes the place of the buffer's.
    BeyondMemory(Box<Start>),
    /// Outside of the tensor that a window is part of, in a buffer that may have the bytes: those of other rows.
    OutsideTensor(Box<Part>),
    /// Outside of the tile that a part belongs to.
    OutsideTile,
    /// In no memory.
    Nowhere,
}

impl Miss {
    /// The start of the access; `None` if it is in no memory.
    pub fn start(&self) -> Option<&Start> {
        match self {
            Miss::BeyondBuffer(start) | Miss::BeforeBuffer(start) | Miss::BeyondMemory(start) => Some(start),
            Miss::OutsideTensor(_) | Miss::OutsideTile | Miss::Nowhere => None,
        }
    }
}

/// The part of a tensor that an access takes, in elements of each dimension, the outermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The index of its first element.
    pub firsts: Vec<i64>,
    /// The number of its elements.
    pub counts: Vec<u64>,
    /// The extent of the tensor.
    pub extents: Vec<u64>,
}

impl Part {
    /// The first dimension that the part leaves, not counting the first `ignored` ones: a part that leaves the
    /// outermost dimension of a whole tensor leaves its bytes, and whether there are others is a question to the buffer.
    pub fn left(ignored: usize, firsts: &[i64], counts: &[u64], extents: &[u64]) -> Option<usize> {
        let inside = |dim: usize| {
            let end = u64::try_from(firsts[dim]).ok().and_then(|first| first.checked_add(counts[dim]));
            end.is_some_and(|end| end <= extents[dim])
        };
        (ignored..extents.len()).find(|dim| !inside(*dim))
    }
}

/// The start and the extent of an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// The buffer's name.
    pub buffer: String,
    /// Bytes from its start.
    pub byte: i64,
    /// Length in bytes from the first byte touched to the end of the last.
    pub span: u64,
    /// Size of the buffer in bytes.
    pub size: u64,
}

/// Bytes that nobody has written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holes {
    /// The containing buffer or memory of a core, in words.
    pub place: String,
    /// First byte and end of the examined range: the buffer, or the bytes read.
    pub within: (u64, u64),
    /// First byte and end of the first runs, in order: at most [`Holes::MOST_RUNS`].
    pub runs: Vec<(u64, u64)>,
    /// Number of runs.
    pub count: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl Holes {
    /// Maximum number of runs that are kept.
    pub const MOST_RUNS: usize = 256;

    /// From all runs of bytes.
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
    /// The unit that makes the access.
    pub unit: Unit,
    /// Its block, if the two accesses are in different ones.
    pub block: Option<u32>,
    /// Whether it writes.
    pub writes: bool,
}

impl Party {
    /// `writes` or `reads`.
    pub const fn verb(&self) -> &'static str {
        if self.writes { "writes" } else { "reads" }
    }

    /// The unit in words, with its block if the two accesses are in different ones.
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
    /// The waiting unit.
    pub unit: Unit,
    /// The object waited for, such as the name of a flag.
    pub what: Box<str>,
    /// Why the wait does not end.
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
