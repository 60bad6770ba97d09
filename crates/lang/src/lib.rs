//! The kernel language: translates Python syntax to a module in mixed form.
//!
//! A kernel is a function of a Python file: `import slipring.language as pl`, a decorator (`@pl.incore`, `@pl.jit`,
//! `@pl.function(…)`), parameters with types, and a body of tile ops, loops and branches. Python is not needed: the
//! text is parsed here, and every op of the body is emitted in place, in the mixed form that the passes split. Ops keep
//! their positions in the Python text, so that reports of later stages point at the author's line.
//!
//! Files are listed in dependency order: each imports only from those above it.
//!
//! | module | subject |
//! |---|---|
//! | [`syntax`], [`scopes`], `tree` | the text as a Python tree; syntax errors; the names that it binds |
//! | `forms`, `starts`, `jumps`, `ssa` | the text alone: misplaced builtins, starts of kernels, jumps as branches |
//! | `value`, `constants`, `numbers`, `text`, `dtype` | values of names; arithmetic on constants |
//! | `words`, `members`, `params` | the builtins of the language besides its ops; its constants; parameters |
//! | `compiled`, `request`, `given`, `passed` | the request to compile a file, the result, arguments of kernels |
//! | `roles`, `attrs`, `annotations` | the role of a function, by its decorator; its attributes; type annotations |
//! | `globals`, `specialise` | the names of a file as kernels see them; parameters shaped by the arguments |
//! | `emit`, `whole` | building ops; the final check of a lowered module |
//! | `lower` | kernels: statements, expressions, control flow, memories |
//! | `ops` | the catalogue: every `pl.…` that a kernel may call, declared once |
//! | `orchestration`, `questions` | a whole program as data; its queries to the run that it is followed for |
//! | `host` | the part of the file that is not a kernel: constants, classes, functions that build kernels or start them |
//! | `full_names`, `program` | full names of a file's functions; the compiled file |
//! | `parsed`, [`tasks`] | a file and its imports, parsed once for all requests: its kernels, its whole programs |

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
mod members;
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

pub use compiled::{Compiled, Direction, KernelInfo, ParamInfo, Returned, Strided};
#[doc(hidden)]
pub use constants::{compared, folded, misfit};
pub use counts::{Counts, counts};
pub use dtype::type_bytes;
pub use given::{Members, Name, Names, Part};
pub use ops::{Entry, catalogue, find};
pub use parsed::{Parsed, compile};
pub use program::unused_setting;
pub use request::{ArgType, FindModule, Request};
pub use starts::OF_ORCHESTRATIONS;
pub use words::POPS;

pub use slipring_ir::{Elsewhere, Span};
pub use words::{Word, words};
