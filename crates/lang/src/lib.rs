//! The kernel language: Python syntax in, a module in mixed form out.
//!
//! A kernel is a function of a Python file: `import slipring.language as pl`, a decorator (`@pl.incore`, `@pl.jit`,
//! `@pl.function(…)`), parameters with types, a body of tile ops, loops and branches. No Python is needed: the text is parsed
//! here and every op of the body is emitted where it stands, in the form that the passes take apart. Ops keep their places
//! in the Python text, so that whatever a later stage reports points at the author's line.
//!
//! Files stand in this order, and import only what stands above them:
//!
//! | module | has |
//! |---|---|
//! | [`syntax`], [`scopes`], `tree` | the text as a Python tree; syntax errors; which names it binds |
//! | `forms`, `starts`, `jumps`, `ssa` | what the text alone decides: where words stand, what starts kernels, `break` and `return` as branches |
//! | `value`, `constants`, `numbers`, `text`, `dtype` | what a name stands for; arithmetic on constants |
//! | `words`, `members`, `params` | the words of the language besides its ops; its constants; what a word takes |
//! | `compiled`, `request`, `given`, `passed` | what is asked of a file, what comes out, what is passed to kernels |
//! | `roles`, `attrs`, `annotations` | what a function is, by its decorator; what it says of itself; types as they are written |
//! | `globals`, `specialise` | the names of a file as kernels see them; parameters whose shapes come from what is passed |
//! | `emit`, `whole` | building ops; the last look at what was lowered |
//! | `lower` | kernels: statements, expressions, control flow, memories |
//! | `ops` | the catalogue: every `pl.…` that a kernel may call, declared once |
//! | `orchestration`, `questions` | a whole program as data; what it asks of the run that it is followed for |
//! | `host` | the part of the file that is not a kernel: constants, classes, functions that build kernels or start them |
//! | `full_names`, `program` | the names that functions have among all of a file; the file compiled |
//! | `parsed`, [`tasks`] | a file and what it imports, parsed once for all that is asked of it: its kernels, its whole programs |

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

pub use compiled::{Compiled, Direction, KernelInfo, ParamInfo};
pub use counts::{Counts, counts};
pub use given::{Members, Name, Names, Part};
pub use ops::{Entry, catalogue, find};
pub use parsed::{Parsed, compile};
pub use program::unused_setting;
pub use request::{ArgType, FindModule, Request};
pub use slipring_ir::{Elsewhere, Span};
pub use words::{Word, words};
