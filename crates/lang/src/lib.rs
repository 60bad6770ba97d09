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
mod attrs;
mod counts;
mod dtype;
mod emit;
mod forms;
mod full_names;
mod further;
mod given;
mod helpers;
mod host;
mod jumps;
mod lower;
mod ops;
mod parsed;
mod private_names;
mod program;
pub mod scopes;
mod signature;
mod specialise;
mod ssa;
pub mod syntax;
pub mod tasks;
mod tree;
mod value;
mod whole;
mod words;

use std::sync::Arc;

use slipring_ir::{Diagnostic, Diags, Module, Source};
pub use slipring_ir::{Elsewhere, Span};
use slipring_tile::Elem;

pub use counts::{Counts, counts};
pub use given::{Members, Name, Names, Part};
pub use ops::{Entry, catalogue, find};
pub use parsed::Parsed;
pub use words::{Word, words};

/// What a file was compiled to.
#[derive(Debug)]
pub struct Compiled {
    /// Its kernels in mixed form. Worth something only if no error was reported.
    pub module: Module,
    /// The kernels, in the order of the text.
    pub kernels: Vec<KernelInfo>,
    /// True if the file has none, which is the only error then.
    pub none: bool,
}

/// What a launch needs to know of a kernel beyond its module.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelInfo {
    /// Name of the function.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<ParamInfo>,
    /// Blocks that it asks for (`pl.spmd`); 1 where it says nothing.
    pub blocks: u32,
    /// Whether its blocks start at the same time.
    pub together: bool,
    /// Whether the scheduler waits for it after it has left its core (`pld.system.defer_wait`).
    pub defers: bool,
    /// Names of the parameters that it returns, in order; empty for what is none.
    pub gives: Vec<String>,
}

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct ParamInfo {
    /// Its name.
    pub name: String,
    /// Element type, or the type of a scalar.
    pub elem: Elem,
    /// Extents in elements, outermost first; `None` for a scalar.
    pub shape: Option<Vec<u64>>,
    /// What the kernel does with it.
    pub direction: Direction,
    /// A number that the file's host code passes for a scalar, as the command line writes it.
    pub given: Option<String>,
    /// The layout of packed scales that it holds, where its bytes lie in another order than row by row: `MX_B_NN`.
    pub packed: Option<&'static str>,
}

/// Gives the text of a helper module by its dotted name; none where there is no such file.
pub type FindModule<'a> = dyn Fn(&str) -> Option<Source> + 'a;

/// What is asked of a file besides its text.
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    /// The kernel that the arguments are for; all that take as many where it is not said.
    pub function: Option<&'a str>,
    /// Types and shapes of arguments: of parameters in order, and of those with a name.
    pub args: &'a [ArgType],
    /// Values for parameters of the functions that build kernels, and for constants of the file, as text.
    pub sets: &'a [(String, String)],
    /// What names stand for that the text does not define.
    pub names: Option<&'a Names>,
}

/// What an argument says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ArgType {
    /// The parameter that it is for, where it says one.
    pub name: Option<String>,
    /// Element type, where it is known.
    pub elem: Option<Elem>,
    /// Extents in elements, outermost first, where they are known.
    pub shape: Option<Vec<u64>>,
    /// A scalar, as the command line writes it without its type: `3`, `1.5`, `true`.
    pub number: Option<String>,
}

/// What a kernel does with a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Reads it.
    In,
    /// Writes it; what it held before is uninitialised.
    Out,
    /// Reads and writes it.
    InOut,
}

/// Compiles a Python file for which nothing is asked besides its text, as [`Parsed::compile`] does.
pub fn compile(source: Arc<Source>) -> (Compiled, Diags) {
    Parsed::new(source, None).compile(&Request::default())
}

/// Does something on a stack of its own, which is large enough for the deepest text.
///
/// # Errors
/// If the system gives no thread.
pub(crate) fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Box<Diagnostic>> {
    std::thread::scope(|scope| {
        let Ok(thread) = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work) else {
            let message = format!("the system gives no thread with a stack of {} MiB", STACK_BYTES >> 20);
            let error = Diagnostic { primary: None, ..Diagnostic::error("no-thread", Span::default(), message) };
            return Err(Box::new(
                error.help("raise the limits of memory (`ulimit -v`) and of processes (`ulimit -u`)"),
            ));
        };
        match thread.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Room for the deepest text that [`syntax::parse`] lets through, with calls inside each other.
const STACK_BYTES: usize = 64 << 20;
