//! What leaves for a board, judged again: the text that is printed for the assembler, the C++ that it makes of it, that C++ read
//! back and run here, and the same C++ on the CPU back end of the public headers.

mod closeness;
mod launched;
mod leaving;
mod project;
mod read_back;
mod simulator;
mod tools;

pub use launched::Launched;
pub use leaving::Leaving;
pub use project::{Returned, returned};
pub use tools::LeavingTools;
