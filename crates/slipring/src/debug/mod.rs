//! `slipring debug`: a kernel's run, forwards and backwards.
//!
//! A run is deterministic, so each of its moments can be had again: what happened when is kept once, and contents at a cycle are those
//! of the same run, stopped there.

mod condition;
mod dap;
mod history;
mod lives;
mod moment;
mod session;
mod stops;
mod words;

pub(crate) use dap::serve;
pub use session::Session;
