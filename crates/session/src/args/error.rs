//! Errors in arguments.

use thiserror::Error;

/// Why an argument was not accepted.
#[derive(Debug, Error)]
pub enum ArgError {
    /// The text matches none of the forms.
    #[error("`{text}` is not an argument: {reason}")]
    Form {
        /// The argument as written.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    File {
        /// The file.
        path: String,
        /// The error reported by the system or the format.
        reason: String,
    },
    /// The number of arguments differs from the number of parameters.
    #[error("the kernel takes {expected} arguments, {given} given")]
    Count {
        /// Parameters.
        expected: usize,
        /// Arguments.
        given: usize,
    },
    /// A line of the file itself requests something that only the command line may.
    #[error("`{text}` comes from the file's `args` line: {reason}")]
    Own {
        /// The argument as written.
        text: String,
        /// What is refused for it.
        reason: String,
    },
    /// The arguments exceed the memory limit of the run.
    #[error(
        "the arguments take {bytes} bytes, and the run may have {limit}: raise `--max-memory` where the host has more"
    )]
    Memory {
        /// Bytes of all buffers.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A name that is not a parameter's, or is given twice, or a parameter without an argument.
    #[error("{0}")]
    Name(String),
    /// An argument does not fit its parameter.
    #[error("argument {index} (`{text}`) for %{name}: {reason}")]
    Type {
        /// Position, from 1.
        index: usize,
        /// The argument as written.
        text: String,
        /// The parameter.
        name: String,
        /// Why it does not fit.
        reason: String,
    },
}
