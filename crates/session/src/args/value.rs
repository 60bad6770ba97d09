//! The source of an argument's data, and the destination of its results.

use std::path::PathBuf;

use super::Npy;

/// A part of a memory shared by several arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within {
    /// The memory: arguments of one launch with the same number share it.
    pub memory: u32,
    /// The byte offset at which the argument begins.
    pub offset: usize,
}

/// A file that a buffer is written to.
#[derive(Clone, PartialEq, Debug)]
pub struct OutFile {
    /// The file.
    pub path: PathBuf,
    /// The header to keep, for a `.npy`.
    pub npy: Option<Npy>,
}
