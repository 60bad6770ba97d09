//! The result of compiling a file: a module, and the information on its kernels that a launch needs.

use slipring_ir::Module;
use slipring_tile::Elem;

/// The result of compiling a file.
#[derive(Debug)]
pub struct Compiled {
    /// Its kernels in mixed form. Only meaningful if no error was reported.
    pub module: Module,
    /// The kernels, in the order of the text.
    pub kernels: Vec<KernelInfo>,
    /// True if the file has no kernels: then the only error is that, or the reason why its whole program is not one.
    pub none: bool,
}

/// The information on a kernel, besides its module, that a launch needs.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelInfo {
    /// Name of the function.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<ParamInfo>,
    /// Requested number of blocks (`pl.spmd`); 1 by default.
    pub blocks: u32,
    /// True if its blocks start at the same time.
    pub together: bool,
    /// True if the scheduler waits for it after it has left its core (`pld.system.defer_wait`).
    pub defers: bool,
    /// The values that it returns, in order.
    pub gives: Vec<Returned>,
}

/// A value that a kernel returns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Returned {
    /// Name of the parameter that it is; empty for a value that is not a tensor.
    pub param: String,
    /// The part of the parameter; `None` for all of it.
    pub part: Option<Strided>,
}

/// A part of a tensor that is returned.
#[derive(Clone, PartialEq, Debug)]
pub struct Strided {
    /// Its first element.
    pub first: u64,
    /// Extents in elements, outermost first.
    pub shape: Vec<u64>,
    /// Strides in elements.
    pub strides: Vec<u64>,
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
    /// How the kernel accesses it.
    pub direction: Direction,
    /// The value that the file's host code passes for a scalar, in the syntax of the command line.
    pub given: Option<String>,
    /// The layout of the packed scales that it holds, if its bytes are not in row order: `MX_B_NN`.
    pub packed: Option<&'static str>,
    /// True for a tensor of booleans, a byte for each.
    pub truths: bool,
    /// True for a tensor that the kernel makes, such as a tile that it returns: its caller need not pass it.
    pub made: bool,
}

/// How a kernel accesses a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Reads it.
    In,
    /// Writes it; the earlier contents are uninitialised.
    Out,
    /// Reads and writes it.
    InOut,
}
