//! External tools: finding them, calling them with a time limit, and using them without a board: this machine's
//! compiler turns a C++ kernel into a program that records its launch.

mod recording;
mod tools;

pub use recording::{Recording, RecordingRequest};
pub use tools::{CallFolder, ToolAnswer, Toolchain, call, compiler, in_path, reason};
