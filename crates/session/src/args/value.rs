//! Where an argument lies, and where it goes.

use std::path::PathBuf;

use super::Npy;

/// A part of a memory that several arguments lie in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within {
    /// Which memory: arguments of one launch with the same number lie in the same.
    pub memory: u32,
    /// The byte of it at which the argument begins.
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
