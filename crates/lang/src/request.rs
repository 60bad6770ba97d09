//! The compile request: everything besides the text of a file.

use slipring_ir::Source;
use slipring_tile::Elem;

use crate::given::Names;

/// Returns the text of a helper module by its dotted name; `None` if there is no such file.
pub type FindModule<'a> = dyn Fn(&str) -> Option<Source> + 'a;

/// A compile request: everything besides the text of a file.
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    /// The kernel that the arguments are for; by default all that take as many.
    pub function: Option<&'a str>,
    /// Types and shapes of positional and keyword arguments.
    pub args: &'a [ArgType],
    /// Values for parameters of the functions that build kernels, and for constants of the file, as text.
    pub sets: &'a [(String, String)],
    /// Values of names that the text does not define.
    pub names: Option<&'a Names>,
}

/// Properties of an argument.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ArgType {
    /// The parameter that it is for, if specified.
    pub name: Option<String>,
    /// Element type, if known.
    pub elem: Option<Elem>,
    /// Extents in elements, outermost first, if known.
    pub shape: Option<Vec<u64>>,
    /// A scalar in the syntax of the command line, without its type: `3`, `1.5`, `true`.
    pub number: Option<String>,
}
