//! A kernel's run, forwards and backwards: what `slipring debug`, editors and the Python package go through.
//!
//! A run is deterministic, so each of its moments can be had again: what happened when is kept once, and contents at a cycle are those
//! of the same run, stopped there.

mod condition;
mod history;
mod kept;
mod lives;
mod session;
mod slots;
mod words;

pub use condition::Condition;
pub use history::History;
pub use session::Session;
pub use slots::{SIGNS, Slot};
pub use words::{buffer_contents, decoded, row, tile_contents};
