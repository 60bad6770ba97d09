//! Errors returned to a driver.

use thiserror::Error;

use super::DeviceError;
use crate::wire::FieldRange;

/// Why the queue's driver failed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum HostError {
    /// The device refused the request, or is broken.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A command does not fit its fields.
    #[error(transparent)]
    Field(#[from] FieldRange),
    /// The pinned memory is not where the kernels expect it.
    #[error(
        "the queue's memory is seen at {found:#x}, but the kernels read it at {expected:#x}: pin the queue's memory second"
    )]
    Misplaced {
        /// The device's address of it.
        found: u64,
        /// The address compiled into the kernels.
        expected: u64,
    },
    /// A record cannot be queued.
    #[error("a record of {bytes} bytes cannot be queued: {why}")]
    Record {
        /// Its size in bytes.
        bytes: usize,
        /// The reason.
        why: &'static str,
    },
    /// A timeout.
    #[error("after {ns} ns the driver still waits for {what}")]
    Timeout {
        /// The awaited condition.
        what: String,
        /// The timeout.
        ns: u64,
    },
    /// Another event arrived than the awaited one.
    #[error("event {found} came where event {expected} was due")]
    EventMismatch {
        /// The awaited event.
        expected: u32,
        /// The event that arrived.
        found: u32,
    },
    /// The completion ring contains data that no dispatcher writes.
    #[error("the completion ring holds no record at {at:#x}: {why}")]
    Completion {
        /// The position, in the device's 16-byte units.
        at: u32,
        /// The reason.
        why: String,
    },
}
