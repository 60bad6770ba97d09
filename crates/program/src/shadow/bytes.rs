//! What is told of bytes that are uninitialised.

use crate::{Env, Extent, SiteRef};

/// A run of bytes that are uninitialised, all copied or all computed; with these contents of the buffers, or with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Uninit {
    pub start: u64,
    pub end: u64,
    /// Where they were computed; `None` for bytes that nobody wrote, or copies of them.
    pub origin: Option<SiteRef>,
    /// They are uninitialised with the contents that the buffers have.
    pub here: bool,
    /// Where contents of buffers decided whether they mean something; `None` if they are uninitialised with any.
    pub by: Option<SiteRef>,
}

impl Uninit {
    /// True if it begins where another one ends, and is of the same kind.
    pub(super) fn follows(&self, last: &Uninit) -> bool {
        last.end == self.start && (last.origin, last.here, last.by) == (self.origin, self.here, self.by)
    }
}

/// What is known of a byte that is uninitialised, with some contents of the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Nothing {
    /// Where it was computed; `None` for one that nobody wrote, or a copy.
    pub origin: Option<SiteRef>,
    /// Where contents of buffers decided.
    pub by: Option<SiteRef>,
    /// It means something with the present contents.
    pub elsewhere: bool,
}

/// A use of bytes that are uninitialised, which leaves the run without a meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misuse {
    /// Where.
    pub site: SiteRef,
    /// Whose core, and its cluster.
    pub env: Env,
    /// What it does with them, as `takes its mask from`.
    pub what: &'static str,
    /// The bytes, where they are in a memory.
    pub extent: Option<Extent>,
}

/// Bytes of a buffer in global memory that hold nothing when a launch begins, although the buffer is a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// Its index in [`Memory::gm`](crate::Memory::gm).
    pub buffer: usize,
    /// The first byte.
    pub from: u64,
    /// Before which byte; the largest number stands for everything that is there.
    pub to: u64,
}

impl Unwritten {
    /// All bytes of a buffer.
    pub const fn whole(buffer: usize) -> Unwritten {
        Unwritten { buffer, from: 0, to: u64::MAX }
    }
}
