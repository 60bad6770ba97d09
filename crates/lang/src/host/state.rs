//! The state of a file's host code during its run: definitions, open calls, and possible changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::StmtFunctionDef;
use slipring_ir::{Diagnostic, Span};

use super::locals::Locals;
use super::recorder::Recorder;
use super::texts::ModuleText;
use super::value::{Class, Entries, Function, Held, HostValue, Scope, Source};
use crate::attrs::FunctionAttrs;
use crate::passed::HostCall;
use crate::roles::Role;
use crate::value::{Const, Unknown};

/// The host code of a file during its run.
pub(crate) struct Host<'a> {
    pub(super) modules: &'a [ModuleText],
    /// Names of each module, once its run has begun.
    pub module_names: Vec<Option<Scope<'a>>>,
    /// Kernels, in the order of their definition.
    pub found: Vec<Found<'a>>,
    /// Calls of kernels.
    pub calls: Vec<HostCall>,
    /// Errors in decorators, and the place where the file's own code stops.
    pub problems: Vec<Diagnostic>,
    /// A decorator whose first name is unknown, such as `pl` without the import.
    pub undecorated: Option<(Span, String)>,
    /// Whether each module has `from slipring.language import *`.
    pub star: Vec<bool>,
    /// The place of `from … import *` of an unknown module, for each module.
    pub(super) foreign_star: Vec<Option<Span>>,
    /// Values that the caller supplies for parameters of enclosing functions, and whether each was used.
    pub sets: Vec<(String, HostValue<'a>, bool)>,
    /// Host functions by their place, and whether they have been called.
    pub(super) functions: IndexMap<Span, (Rc<Function<'a>>, bool)>,
    /// Local names of functions' texts, by address.
    pub(super) locals: BTreeMap<usize, Rc<Locals>>,
    /// Open scopes, innermost last; the first is the module's.
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) module: usize,
    pub(super) within: Vec<Rc<str>>,
    pub(super) class: Option<Rc<Class<'a>>>,
    /// Open calls.
    pub(super) called: Vec<Called<'a>>,
    pub(super) steps: u64,
    pub(super) depth: usize,
    /// Current depth of nested expressions and iterators.
    pub(super) nest: usize,
    /// A propagating exception.
    pub(super) raised: Option<Box<Raised<'a>>>,
    /// The exceptions that are being handled.
    pub(super) handled: Vec<HostValue<'a>>,
    /// Number of times that something may have raised an exception.
    pub(super) risks: u64,
    /// Number of open `try` statements.
    pub(super) tries: usize,
    pub(super) trials: Vec<Trial<'a>>,
    /// Number of times that something known was lost.
    pub(super) losses: u64,
    /// Functions that code which is not followed may call at any time.
    pub(super) escaped: Vec<Rc<Function<'a>>>,
    /// Members of modules that the file changes.
    pub(super) changed: Vec<(String, Rc<Unknown>)>,
    /// The conditions that decide whether the current code runs, if unknown; innermost last.
    pub(super) decided_at: Vec<Span>,
    /// The place where the limit of steps was reached.
    pub(super) spent: Option<Span>,
    /// True if the limit on allocated values was the reason.
    pub(super) full: bool,
    /// Values allocated by others before.
    pub(super) made_before: u64,
    /// The names around the file.
    pub(super) around: Around<'a>,
    /// The submits of a program, while it is followed.
    pub(super) recorder: Option<Box<Recorder<'a>>>,
}

/// An open call: the class of its function, and its first argument.
pub(super) struct Called<'a> {
    pub class: Option<Rc<Class<'a>>>,
    pub first: Option<HostValue<'a>>,
}

/// A function of the language that the host defined.
pub(crate) struct Found<'a> {
    pub def: &'a StmtFunctionDef,
    pub role: Role,
    /// Its attributes.
    pub attrs: FunctionAttrs,
    /// The first function with the same text, if a function that makes kernels was called again.
    pub first: Option<usize>,
    /// The enclosing classes or functions, for its full name.
    pub within: Vec<Rc<str>>,
    /// The class of its program.
    pub class: Option<Rc<Class<'a>>>,
    /// Names in its scope besides those of its module; the innermost scope is last.
    pub scopes: Vec<Scope<'a>>,
    /// The module that contains it.
    pub module: usize,
    /// Constants of the kernel (`pl.constexpr`) that are given from outside, by name.
    pub constants: Vec<(Rc<str>, Const)>,
    /// True for a function of an assembled text, in which another one may have the same name.
    pub part: bool,
    /// The condition that decides whether Python reaches it, if that is not known.
    pub perhaps: Option<Span>,
}

/// The reason for leaving a body.
pub(super) enum Flow<'a> {
    Next,
    Break,
    Continue,
    Return(HostValue<'a>),
    /// An exception, or the limit of steps.
    Stop,
    /// It is not known whether anything after it runs; true if it may leave the function.
    Unsure(Rc<Unknown>, bool),
}

/// A propagating exception.
#[derive(Clone)]
pub(super) struct Raised<'a> {
    pub value: HostValue<'a>,
    pub span: Span,
    /// The module that contains the place.
    pub module: usize,
    /// True for calls that are nested too deeply to be followed, which might be fine in Python.
    pub limit: bool,
}

/// The earlier state of something that a trial changed.
pub(super) enum Saved<'a> {
    List(Rc<Held<Vec<HostValue<'a>>>>, Vec<HostValue<'a>>, Option<Rc<Unknown>>),
    Dict(Rc<Held<Entries<'a>>>, Entries<'a>, Option<Rc<Unknown>>),
    Iter(HostValue<'a>, Box<Source<'a>>),
    /// A name, its value, why it was lost, and whether it might be unbound.
    Name(Scope<'a>, Rc<str>, Option<HostValue<'a>>, Option<Rc<Unknown>>, bool),
    Frame(Scope<'a>, Option<Rc<Unknown>>),
}

/// Changes of earlier state.
pub(super) struct Trial<'a> {
    /// Anything with a higher number was made during the trial.
    pub(super) first: u64,
    pub(super) saved: Vec<Saved<'a>>,
    pub(super) known: BTreeSet<(usize, Rc<str>)>,
}

/// The names around a text.
#[derive(Default)]
pub(super) struct Around<'a> {
    /// Names for the whole text.
    pub whole: IndexMap<Rc<str>, HostValue<'a>>,
    pub(super) parts: Vec<PartOfText<'a>>,
    /// Mutable values with several names, by the caller's number.
    pub(super) same: BTreeMap<u64, HostValue<'a>>,
}

/// A function of an assembled text.
pub(super) struct PartOfText<'a> {
    pub(super) range: Range<u32>,
    /// The names that it sees.
    pub(super) names: Scope<'a>,
    pub(super) within: Vec<Rc<str>>,
    /// The function, once its text has been run.
    pub(super) made: Option<HostValue<'a>>,
}
