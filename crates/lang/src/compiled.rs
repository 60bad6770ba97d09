//! What a file is compiled to: a module, and what a launch needs to know of its kernels.

use slipring_ir::Module;
use slipring_tile::Elem;

/// What a file was compiled to.
#[derive(Debug)]
pub struct Compiled {
    /// Its kernels in mixed form. Worth something only if no error was reported.
    pub module: Module,
    /// The kernels, in the order of the text.
    pub kernels: Vec<KernelInfo>,
    /// True if the file has none: that, or why its whole program is none, is all that is wrong then.
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
