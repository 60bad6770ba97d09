//! What is asked of a file besides its text.

use slipring_ir::Source;
use slipring_tile::Elem;

use crate::given::Names;

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
