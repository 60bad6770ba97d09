//! slipring: write, check and run Cube/Vector tile kernels without the hardware.
//!
//! The library facade. [`load`] reads a text, [`check`] holds it against the declarations and the platform, [`prepare`] runs
//! the passes and decodes, [`execute`] runs, [`run_on_device`] runs through a board's command queue, [`verify()`] compares with the sequential meaning. The rooms behind it are
//! crates of their own; this one only connects.

pub mod args;
mod device;
mod exec;
pub mod files;
mod findings;
mod judge;
mod memory_map;
mod prepare;
mod verify;

pub use device::{BlockRun, DeviceRun, KernelWorker, Order, Runs, run_on_device};
pub use exec::{ExecuteOptions, Execution, execute, execute_again, execute_timed};
pub use findings::{message_facts, to_diagnostics};
pub use judge::{Judged, judge, merged};
pub use memory_map::memory_map;
pub use prepare::{
    Loaded, Prepared, check, choose_platform, is_language, load, load_file, needed, prepare, written_platform,
};
pub use verify::{Difference, VerifyOutcome, slot_buffers, verify};
