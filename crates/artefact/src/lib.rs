//! Independent checks of a kernel exported for a board: the text printed for the assembler; the assembler's C++, read
//! back and simulated here; and the same C++ on the CPU back end of the public headers.

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
