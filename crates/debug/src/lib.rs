//! A kernel's run, stepped forwards and backwards: the basis of `slipring debug`, of editors and of the Python package.
//!
//! A run is deterministic, so every moment can be reproduced: the events are recorded once, and the contents at a cycle
//! are those of the same run, stopped at that cycle.

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
