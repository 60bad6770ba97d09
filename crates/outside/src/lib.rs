//! Tools of others: where they are, calls of them that end, and what they are used for without a board: a C++ kernel that this
//! machine's compiler turns into a program which records what a launch does.

mod recording;
mod tools;

pub use recording::{Recording, RecordingRequest};
pub use tools::{CallFolder, ToolAnswer, Toolchain, call, compiler, in_path, reason};
