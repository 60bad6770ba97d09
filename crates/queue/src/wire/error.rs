//! Errors in bytes.

use thiserror::Error;

/// Why bytes are not a command. Offsets count from the first byte of what was decoded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WireError {
    /// The bytes end too early.
    #[error("{what} at {offset:#x} takes {needs} bytes, and there are {has}")]
    Truncated {
        /// Where it starts.
        offset: u64,
        /// What was being read.
        what: &'static str,
        /// Bytes that it takes.
        needs: u64,
        /// Bytes that there are from its start.
        has: u64,
    },
    /// The first byte is not a command.
    #[error("{id} at {offset:#x} is not a {reader} command")]
    IllegalId {
        /// Where the byte lies.
        offset: u64,
        /// Who would run it: `prefetch` or `dispatch`.
        reader: &'static str,
        /// The byte.
        id: u8,
    },
    /// The distance to the next command is shorter than the command itself.
    #[error("the command at {offset:#x} takes {needs} bytes, but its stride is {stride}")]
    Stride {
        /// Where the command starts.
        offset: u64,
        /// Bytes required by the command.
        needs: u64,
        /// Its stride in bytes.
        stride: u64,
    },
    /// A field has a value for which the command has no extent.
    #[error("the field `{field}` of the command at {offset:#x} cannot be {value}: {why}")]
    Field {
        /// Where the command starts.
        offset: u64,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        why: &'static str,
    },
}

impl WireError {
    /// The same error relative to bytes that start `by` bytes earlier.
    pub fn shifted(mut self, by: u64) -> WireError {
        match &mut self {
            WireError::Truncated { offset, .. }
            | WireError::IllegalId { offset, .. }
            | WireError::Stride { offset, .. }
            | WireError::Field { offset, .. } => *offset = offset.saturating_add(by),
        }
        self
    }

    /// Its offset.
    pub fn offset(&self) -> u64 {
        match self {
            WireError::Truncated { offset, .. }
            | WireError::IllegalId { offset, .. }
            | WireError::Stride { offset, .. }
            | WireError::Field { offset, .. } => *offset,
        }
    }
}
