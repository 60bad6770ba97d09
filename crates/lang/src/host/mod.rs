//! The part of a file that is not a kernel: module level, functions that build programs, classes, `__main__`. It is run here as
//! Python would run it, as far as numbers, strings, lists, shapes and the language's own words go; everything else is
//! *unknown*, with the place and the reason, and stops nothing. What comes out are the kernels with the constants that
//! they see, and the shapes of what the file's own host code passes to them.
//!
//! What something that is not followed may have changed is not known from there on (`unsure`); what Python raises is raised
//! (`raise`).
//!
//! | module | has |
//! |---|---|
//! | `value` | what a name of the host stands for |
//! | `key` | what is one key of a dict |
//! | `frame` | scopes; which names a text binds |
//! | `run` | statements; what is defined |
//! | `unsure` | what may or may not run, or may have been changed |
//! | `raise` | exceptions |
//! | `expr` | expressions |
//! | `compare` | operators and comparisons |
//! | `iter` | iterators and comprehensions |
//! | `text` | `str`, `repr` and formats |
//! | `object` | members of classes and instances |
//! | `instance` | how an instance is made |
//! | `methods` | methods of lists, dicts, sets and strings |
//! | `call` | calls of functions, classes and kernels |
//! | `builtin` | functions of Python |
//! | `kinds` | `isinstance`, `getattr`, `hasattr` |
//! | `library` | functions of modules: `math`, `functools`, `dataclasses`, torch |
//! | `tasks` | functions that start kernels: what they submit becomes a task graph |
//! | `tensors` | shapes and types of the host's tensors |
//! | `seen` | what a kernel sees of a value |

mod builtin;
mod call;
mod compare;
mod expr;
mod frame;
mod instance;
mod iter;
mod key;
mod kinds;
mod library;
mod methods;
mod object;
mod raise;
mod refs;
mod run;
mod seen;
pub(crate) mod tasks;
mod tensors;
mod text;
mod unsure;
mod value;

pub(crate) use frame::Locals;
pub(crate) use refs::Refs;
pub(crate) use run::Host;
pub(crate) use tasks::{Groups, Recorder, View};
pub(crate) use value::HostValue;

use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use slipring_ir::Span;

use crate::attrs::FunctionAttrs;
use crate::roles::Role;
use crate::value::Unknown;

/// A module: the file itself, or a helper that it imports.
#[derive(PartialEq, Debug)]
pub(crate) struct ModuleText {
    /// Its dotted name; empty for the file itself.
    pub name: String,
    pub body: Vec<Stmt>,
}

impl ModuleText {
    /// The same module with its statements in another form.
    pub fn with(&self, form: impl FnOnce(Vec<Stmt>) -> Vec<Stmt>) -> ModuleText {
        ModuleText { name: self.name.clone(), body: form(self.body.clone()) }
    }

    /// Whether a name or a member of something in it is called so: without that, nothing in it can be that word of the language.
    pub fn mentions(&self, word: &str) -> bool {
        let mut search = Search { word, found: false };
        search.visit_body(&self.body);
        search.found
    }
}

/// A search for a word in a module.
struct Search<'w> {
    word: &'w str,
    found: bool,
}

impl<'a> Visitor<'a> for Search<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::ImportFrom(import) => self.found |= import.names.iter().any(|own| own.name.as_str() == self.word),
            _ if self.found => {}
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => self.found |= name.id.as_str() == self.word,
            Expr::Attribute(own) if own.attr.as_str() == self.word => self.found = true,
            _ => walk_expr(self, expr),
        }
    }
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
    pub scopes: Vec<frame::Scope<'a>>,
    /// The module that it stands in.
    pub module: usize,
    /// True for a function of a text that was put together, where another one may have its name.
    pub part: bool,
    /// What decides whether Python comes to it, where that is not known.
    pub perhaps: Option<Span>,
}

/// The most steps that host code is run for.
const MOST_STEPS: u64 = 4_000_000;
/// The most that lists, dicts and strings of host code are together, in values of a list: some hundred MiB, with what is copied on the way.
const MOST_MADE: u64 = 1_000_000;
/// The most calls inside each other.
const MOST_DEPTH: usize = 400;
/// The most expressions and iterators inside each other, over all calls.
const MOST_NEST: usize = 3000;
/// The most values of a list.
const MOST_VALUES: usize = 1 << 18;
/// The most values that a kernel sees of what the host made, and iterations of a loop that starts kernels.
const MOST_SEEN: usize = 1 << 16;
/// The most bytes of a string.
const MOST_TEXT: usize = 1 << 16;

/// What stops a body.
enum Flow<'a> {
    Next,
    Break,
    Continue,
    Return(HostValue<'a>),
    /// An exception, or more steps than there are.
    Stop,
    /// What decides whether anything after it runs is not known; true where it may leave the function.
    Unsure(Rc<Unknown>, bool),
}

/// Where something unknown comes from.
fn unknown<'a>(span: Span, why: impl Into<String>) -> HostValue<'a> {
    HostValue::Unknown(Rc::new(Unknown::new(span, why)))
}
