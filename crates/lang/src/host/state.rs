//! The host code of a file while it is run: what it has defined, what is open, and what it may have changed.

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
use crate::value::Unknown;

/// The host code of a file while it is run.
pub(crate) struct Host<'a> {
    pub(super) modules: &'a [ModuleText],
    /// Names of each module, once it has been begun.
    pub module_names: Vec<Option<Scope<'a>>>,
    /// Kernels, in the order in which they were defined.
    pub found: Vec<Found<'a>>,
    /// Calls of kernels.
    pub calls: Vec<HostCall>,
    /// What is wrong with decorators, and where the file's own code stops.
    pub problems: Vec<Diagnostic>,
    /// A decorator whose first word is not known, such as `pl` without the import.
    pub undecorated: Option<(Span, String)>,
    /// `from slipring.language import *` in a module.
    pub star: Vec<bool>,
    /// `from … import *` of a module that is not known, in a module.
    pub(super) foreign_star: Vec<Option<Span>>,
    /// Values that the caller gives to parameters of enclosing functions, and whether any was used.
    pub sets: Vec<(String, HostValue<'a>, bool)>,
    /// Functions of the host by their place, and whether they have been called.
    pub(super) functions: IndexMap<Span, (Rc<Function<'a>>, bool)>,
    /// What the texts of functions bind, by where they lie.
    pub(super) locals: BTreeMap<usize, Rc<Locals>>,
    /// Scopes that are open, innermost last; the first is the module's.
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) module: usize,
    pub(super) within: Vec<Rc<str>>,
    pub(super) class: Option<Rc<Class<'a>>>,
    /// Calls that are open.
    pub(super) called: Vec<Called<'a>>,
    pub(super) steps: u64,
    pub(super) depth: usize,
    /// Expressions and iterators inside each other.
    pub(super) nest: usize,
    /// An exception on its way.
    pub(super) raised: Option<Box<Raised<'a>>>,
    /// The exceptions that are being handled.
    pub(super) handled: Vec<HostValue<'a>>,
    /// How often something may have raised an exception.
    pub(super) risks: u64,
    /// `try` statements that are open.
    pub(super) tries: usize,
    pub(super) trials: Vec<Trial<'a>>,
    /// How often something known was lost.
    pub(super) losses: u64,
    /// Functions that something not followed may call at any time.
    pub(super) escaped: Vec<Rc<Function<'a>>>,
    /// Members of modules that the file changes.
    pub(super) changed: Vec<(String, Rc<Unknown>)>,
    /// What decides whether that which runs now does, where it is not known, the innermost last.
    pub(super) decided_at: Vec<Span>,
    /// Where the steps came to an end.
    pub(super) spent: Option<Span>,
    /// True if that is because of what it made.
    pub(super) full: bool,
    /// What others made before.
    pub(super) made_before: u64,
    /// What is known of the surroundings of the file.
    pub(super) around: Around<'a>,
    /// What a program submits, while it is followed.
    pub(super) recorder: Option<Box<Recorder<'a>>>,
}

/// A call that is open: the class of its function, and its first argument.
pub(super) struct Called<'a> {
    pub class: Option<Rc<Class<'a>>>,
    pub first: Option<HostValue<'a>>,
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
    pub class: Option<Rc<Class<'a>>>,
    /// Names that it sees besides those of its module, the innermost scope last.
    pub scopes: Vec<Scope<'a>>,
    /// The module that it stands in.
    pub module: usize,
    /// True for a function of a text that was put together, where another one may have its name.
    pub part: bool,
    /// What decides whether Python comes to it, where that is not known.
    pub perhaps: Option<Span>,
}

/// What stops a body.
pub(super) enum Flow<'a> {
    Next,
    Break,
    Continue,
    Return(HostValue<'a>),
    /// An exception, or more steps than there are.
    Stop,
    /// What decides whether anything after it runs is not known; true where it may leave the function.
    Unsure(Rc<Unknown>, bool),
}

/// An exception on its way.
#[derive(Clone)]
pub(super) struct Raised<'a> {
    pub value: HostValue<'a>,
    pub span: Span,
    /// The module whose text the place is in.
    pub module: usize,
    /// True for calls that are too deep inside each other to be followed, which Python may do.
    pub limit: bool,
}

/// What was there before a trial changed it.
pub(super) enum Saved<'a> {
    List(Rc<Held<Vec<HostValue<'a>>>>, Vec<HostValue<'a>>, Option<Rc<Unknown>>),
    Dict(Rc<Held<Entries<'a>>>, Entries<'a>, Option<Rc<Unknown>>),
    Iter(HostValue<'a>, Box<Source<'a>>),
    Name(Scope<'a>, Rc<str>, Option<HostValue<'a>>, Option<Rc<Unknown>>),
    Frame(Scope<'a>, Option<Rc<Unknown>>),
}

/// Changes of what was there before.
pub(super) struct Trial<'a> {
    /// What is made from here on belongs to the trial.
    pub(super) first: u64,
    pub(super) saved: Vec<Saved<'a>>,
    pub(super) known: BTreeSet<(usize, Rc<str>)>,
}

/// The surroundings of a text.
#[derive(Default)]
pub(super) struct Around<'a> {
    /// Names around all of it.
    pub whole: IndexMap<Rc<str>, HostValue<'a>>,
    pub(super) parts: Vec<PartOfText<'a>>,
    /// What can be changed under several names, by the number that its caller has for it.
    pub(super) same: BTreeMap<u64, HostValue<'a>>,
}

/// A function of a text that was put together.
pub(super) struct PartOfText<'a> {
    pub(super) range: Range<u32>,
    /// The names that it sees.
    pub(super) names: Scope<'a>,
    pub(super) within: Vec<Rc<str>>,
    /// The function, once its text has been run.
    pub(super) made: Option<HostValue<'a>>,
}
