//! The host-to-device command queue, byte for byte, and a sanitizer for those who write its drivers.
//!
//! A host writes *records* of commands into pinned memory and their sizes into a ring in the prefetch core's memory.
//! The *prefetcher* fetches records and relays what they carry, page by page, to the *dispatcher*, which writes to
//! workers, sends them go signals, waits for them and reports back to the host through a completion ring.
//!
//! | module | purpose |
//! |---|---|
//! | [`wire`] | every prefetch and dispatch command as a typed value, to and from its bytes |
//! | [`capture`] | recorded host streams as files: binary, and a text form to write by hand |
//! | [`Layout`] | memory layout of host, queue cores and workers |
//! | [`board`] | P100 and P150: grids, coordinates, DRAM banks |
//! | [`host`] | a driver for anything that implements [`host::Device`] |
//! | [`lint`] | checks a stream without running it |
//! | [`machine`] | the device: tiles, networks, clock, and the scheduler of `prefetch`, `dispatch` and `subordinate` |
//! | [`mod@replay`] | runs a captured stream on a machine |
//! | [`worker`] | a trait for workers, and the format in which programs are sent to them |
//! | [`fuzz`] | properties that hold for any input, for fuzzers and tests |
//! | [`sanitize`] | the hazards of driving the queue, by name, and their findings |
//!
//! The crate knows nothing of the contents of kernels. It depends on no other crate of the workspace: its findings
//! refer to records, commands and actors, where those of kernels refer to instructions.

pub mod board;
pub mod capture;
mod dispatch;
pub mod fuzz;
pub mod host;
mod interleave;
pub mod layout;
pub mod lint;
pub mod machine;
mod prefetch;
pub mod replay;
pub mod sanitize;
mod subordinate;
pub mod wire;
pub mod worker;

pub use board::Board;
pub use layout::Layout;
pub use machine::Machine;
