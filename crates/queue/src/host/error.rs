//! What a driver is told.

use thiserror::Error;

use super::DeviceError;
use crate::wire::FieldRange;

/// Why the queue's driver gave up.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum HostError {
    /// The device refused, or is broken.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A command does not fit its fields.
    #[error(transparent)]
    Field(#[from] FieldRange),
    /// The pinned memory is not where the kernels look for it.
    #[error(
        "the queue's memory is seen at {found:#x}, but the kernels read it at {expected:#x}: pin the queue's memory second"
    )]
    Misplaced {
        /// Where the device sees it.
        found: u64,
        /// Where the kernels have it compiled in.
        expected: u64,
    },
    /// A record cannot be queued.
    #[error("a record of {bytes} bytes cannot be queued: {why}")]
    Record {
        /// Its bytes.
        bytes: usize,
        /// Why.
        why: &'static str,
    },
    /// Nothing happened for too long.
    #[error("after {ns} ns the driver still waits for {what}")]
    Timeout {
        /// What it waits for.
        what: String,
        /// How long it has.
        ns: u64,
    },
    /// Another event came than the one that was waited for.
    #[error("event {found} came where event {expected} was due")]
    EventMismatch {
        /// The event that was waited for.
        expected: u32,
        /// What came.
        found: u32,
    },
    /// The completion ring holds what no dispatcher writes.
    #[error("the completion ring holds no record at {at:#x}: {why}")]
    Completion {
        /// Where, in the device's 16-byte units.
        at: u32,
        /// Why.
        why: String,
    },
}
