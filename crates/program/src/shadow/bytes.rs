//! Reports about uninitialised bytes.

use crate::{Env, Extent, SiteRef};

/// A run of uninitialised bytes, all copied or all computed; with the present contents of the buffers, or with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Uninit {
    pub start: u64,
    pub end: u64,
    /// Where they were computed; `None` for bytes that nobody wrote, or copies of them.
    pub origin: Option<SiteRef>,
    /// They are uninitialised with the present contents of the buffers.
    pub here: bool,
    /// Where buffer contents decided whether they are initialised; `None` if they are uninitialised with any contents.
    pub by: Option<SiteRef>,
}

impl Uninit {
    /// True if it begins where another one ends, and has the same properties.
    pub(super) fn follows(&self, last: &Uninit) -> bool {
        last.end == self.start && (last.origin, last.here, last.by) == (self.origin, self.here, self.by)
    }
}

/// The details of a byte that is uninitialised, for some contents of the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Nothing {
    /// Where it was computed; `None` for one that nobody wrote, or a copy.
    pub origin: Option<SiteRef>,
    /// Where buffer contents decided.
    pub by: Option<SiteRef>,
    /// It is initialised with the present contents.
    pub elsewhere: bool,
}

/// A use of uninitialised bytes that makes the run meaningless.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misuse {
    /// Its location.
    pub site: SiteRef,
    /// Its core and cluster.
    pub env: Env,
    /// The kind of use, such as `takes its mask from`.
    pub what: &'static str,
    /// The bytes, if they are in a memory.
    pub extent: Option<Extent>,
}

/// Initially uninitialised bytes of a buffer in global memory that is a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// Its index in [`Memory::gm`](crate::Memory::gm).
    pub buffer: usize,
    /// The first byte.
    pub from: u64,
    /// The end (exclusive); the maximum value means the end of the buffer.
    pub to: u64,
}

impl Unwritten {
    /// All bytes of a buffer.
    pub const fn whole(buffer: usize) -> Unwritten {
        Unwritten { buffer, from: 0, to: u64::MAX }
    }
}
