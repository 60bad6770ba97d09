//! The kernel language: Python syntax in, a module in mixed form out.
//!
//! A kernel is a function of a Python file: `import slipring.language as pl`, a decorator (`@pl.incore`, `@pl.jit`,
//! `@pl.function(…)`), parameters with types, a body of tile ops, loops and branches. No Python is needed: the text is parsed
//! here and every op of the body is emitted where it stands, in the form that the passes take apart. Ops keep their places
//! in the Python text, so that whatever a later stage reports points at the author's line.
//!
//! | module | has |
//! |---|---|
//! | [`syntax`] | the text as a Python tree; syntax errors |
//! | `parsed` | a file and what it imports, parsed once for all that is asked of it |
//! | `jumps`, `tree` | `break`, `continue` and early `return` as branches |
//! | `host` | the part of the file that is not a kernel: constants, classes, functions that build kernels, calls of them |
//! | `program` | what the file defines: the kernels and the names that they see |
//! | `full_names` | the names that functions have among all of a file |
//! | `attrs` | what a function says of itself: how it is divided, its blocks |
//! | `specialise` | parameters whose shapes come from what is passed |
//! | `further` | what a type of a tensor or tile says besides shape and elements |
//! | `signature` | types of parameters, of names, of what is returned |
//! | `value` | what a name stands for while a body is lowered |
//! | `emit` | building ops |
//! | `whole` | the last look at what was lowered |
//! | [`tasks`] | whole programs: functions that start kernels, followed to a task graph |
//! | `lower` | statements, expressions, control flow, memories |
//! | `ops` | the catalogue: every `pl.…` that a kernel may call, declared once |

mod aliases;
mod annotations;
mod attrs;
mod compiled;
mod constants;
mod counts;
mod dtype;
mod emit;
mod forms;
mod full_names;
mod given;
mod globals;
mod helpers;
mod host;
mod jumps;
mod lower;
mod numbers;
mod ops;
mod orchestration;
mod params;
mod parsed;
mod passed;
mod private_names;
mod program;
mod questions;
mod request;
mod roles;
pub mod scopes;
mod specialise;
mod ssa;
mod stack;
mod starts;
pub mod syntax;
pub mod tasks;
mod text;
mod tree;
mod value;
mod whole;
mod words;

pub use compiled::{Compiled, Direction, KernelInfo, ParamInfo};
pub use counts::{Counts, counts};
pub use given::{Members, Name, Names, Part};
pub use ops::{Entry, catalogue, find};
pub use parsed::{Parsed, compile};
pub use request::{ArgType, FindModule, Request};
pub use slipring_ir::{Elsewhere, Span};
pub use words::{Word, words};
