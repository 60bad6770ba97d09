//! The host's side: a driver for anything that implements [`Device`].
//!
//! [`Program`]s become [`HostStep`]s, steps become commands ([`lower`]), commands become records, and [`Queue`] queues
//! them and takes their completions. [`Settings`] and [`Lowering`] choose the policy: that of the fixed host with all
//! its hazards, or a careful one.

mod completion;
mod device;
mod error;
mod issue;
mod lower;
mod options;
mod program;
mod queue;
mod second;
mod session;

pub use completion::RingPointer;
pub use device::{Device, DeviceError, Ordering, Pinned, Window, WindowTarget};
pub use error::HostError;
pub use issue::{Issue, IssueSlot};
pub use lower::{Lowering, TIMING_MAGIC, lower, lower_programs, lower_together};
pub use options::SessionOptions;
pub use program::{Data, HostStep, Program, Role};
pub use queue::{ALL_IN_RESET, BRISC_RUNS, Completion, Kernels, Queue, SOFT_RESET, STALL, Settings, Times};
pub use session::{Session, read_buffer};
