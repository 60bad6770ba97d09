//! The part of a file that is no kernel: module level, functions that build programs, classes, `__main__`. It is run here as
//! Python would run it, as far as numbers, strings, lists, shapes and the language's own words go; everything else is
//! *unknown*, with the place and the reason, and stops nothing. What comes out are the kernels with the constants that
//! they see, and the shapes of what the file's own host code passes to them.
//!
//! | module | has |
//! |---|---|
//! | `value` | what a name of the host stands for |
//! | `run` | statements; what is defined |
//! | `expr` | expressions |
//! | `call` | functions of Python, `math`, `torch` and the file |
//! | `tasks` | functions that start kernels: what they submit becomes a task graph |
//! | `tensors` | shapes and types of the host's tensors |

mod call;
mod expr;
mod run;
mod tasks;
mod tensors;
mod value;

use std::rc::Rc;

use ruff_python_ast::{Stmt, StmtFunctionDef};
use slipring_ir::Span;
use slipring_tile::Elem;

pub(crate) use call::of_numbers;
pub(crate) use expr::python_text;
pub(crate) use run::Host;
pub(crate) use tasks::{Recorder, SPMD, View};
pub(crate) use value::{HostValue, Unknown};

use crate::attrs::FunctionAttrs;
use crate::program::Role;
use crate::value::Const;

/// A module: the file itself, or a helper that it imports.
pub(crate) struct ModuleText {
    /// Its dotted name; empty for the file itself.
    pub name: String,
    pub body: Vec<Stmt>,
}

/// A function of the language that the host defined.
pub(crate) struct Found<'a> {
    pub def: &'a StmtFunctionDef,
    pub role: Role,
    /// What it says of itself.
    pub attrs: FunctionAttrs,
    /// The first of the functions of this text, where a function that makes kernels was called again.
    pub first: Option<usize>,
    /// The class or function that it stands in, for its full name.
    pub within: Vec<Rc<str>>,
    /// The class of its program.
    pub class: Option<Rc<value::Class<'a>>>,
    /// Names that it sees besides those of its module, the innermost scope last.
    pub scopes: Vec<value::Scope<'a>>,
    /// The module that it stands in.
    pub module: usize,
}

/// What is passed to a kernel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Passed {
    /// A tensor of this shape and type.
    Tensor(Vec<u64>, Elem),
    /// A part of a tensor: its strides in elements. `written` says that it is written, whatever the signature says.
    Part {
        shape: Vec<u64>,
        elem: Elem,
        strides: Vec<u64>,
        written: bool,
        domain: Option<crate::value::Domain>,
    },
    Number(Const),
    Unknown,
}

/// A call of a kernel by the host code of its file.
pub(crate) struct HostCall {
    /// Position of the kernel in the list of those found.
    pub kernel: usize,
    /// Arguments in order, and those by name.
    pub args: Vec<(Option<Rc<str>>, Passed)>,
}

/// The most steps that host code is run for.
const MOST_STEPS: u64 = 2_000_000;
/// The most calls inside each other.
const MOST_DEPTH: usize = 64;
/// The most values of a list.
const MOST_VALUES: usize = 1 << 16;

/// What stops a body.
enum Flow<'a> {
    Next,
    Break,
    Continue,
    Return(HostValue<'a>),
    /// An exception, or more steps than there are: nothing behind it is known to run.
    Stop,
}

/// Where something unknown comes from.
fn unknown<'a>(span: Span, why: impl Into<String>) -> HostValue<'a> {
    HostValue::Unknown(Rc::new(Unknown { span, why: why.into() }))
}
