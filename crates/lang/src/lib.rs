//! The kernel language: Python syntax in, a module in mixed form out.
//!
//! A kernel is a function of a Python file: `import slipring.language as pl`, a decorator (`@pl.incore`, `@pl.jit`,
//! `@pl.function(…)`), parameters with types, a body of tile ops, loops and branches. No Python is needed: the text is parsed
//! here and every op of the body is emitted where it stands, in the form that the passes take apart. Ops keep their places
//! in the Python text, so that whatever a later room reports points at the author's line.
//!
//! | module | has |
//! |---|---|
//! | [`syntax`] | the text as a Python tree; syntax errors |
//! | `program` | what the file defines: constants, functions, the kernel |
//! | `signature` | types of parameters, of names, of what is returned |
//! | `value` | what a name stands for while a body is lowered |
//! | `emit` | building ops |
//! | `whole` | the last look at what was lowered |
//! | `lower` | statements, expressions, control flow, memories |
//! | `ops` | the catalogue: every `pl.…` that a kernel may call, declared once |

mod dtype;
mod emit;
mod lower;
mod ops;
mod program;
mod signature;
pub mod syntax;
mod value;
mod whole;

use std::sync::Arc;

use slipring_ir::{Diags, Module, Source};
use slipring_tile::Elem;

pub use ops::{Entry, catalogue, find};

/// What a file was compiled to.
#[derive(Debug)]
pub struct Compiled {
    /// Its kernels in mixed form. Worth something only if no error was reported.
    pub module: Module,
    /// The kernels, in the order of the text.
    pub kernels: Vec<KernelInfo>,
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
}

/// What a kernel does with a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Reads it.
    In,
    /// Writes it; what it held before means nothing.
    Out,
    /// Reads and writes it.
    InOut,
}

/// Compiles a Python file. Reports every error that it finds; the result is of use only if there is none.
///
/// Works on a stack of its own, so that how deeply a text may be nested does not depend on the caller's.
///
/// # Panics
/// If the system has no memory for another thread.
pub fn compile(source: Arc<Source>) -> (Compiled, Diags) {
    let work = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| compile_here(source));
    match work.expect("a thread").join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Room for the deepest text that [`syntax::parse`] lets through, with calls inside each other.
const STACK_BYTES: usize = 64 << 20;

fn compile_here(source: Arc<Source>) -> (Compiled, Diags) {
    let mut diags = Diags::default();
    let Some(body) = syntax::parse(&source, &mut diags) else {
        return (Compiled { module: Module::new(source), kernels: Vec::new() }, diags);
    };
    let compiled = program::compile(source, &body, &mut diags);
    (compiled, diags)
}
