//! The names and functions of a file, as its kernels see them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, StmtFunctionDef};
use slipring_ir::Span;
use slipring_machine::CoreKind;
use slipring_tile::Elem;
use smallvec::SmallVec;

use crate::attrs::FunctionAttrs;
use crate::roles::Role;
use crate::value::{Const, Split, Value};

/// Names of a file.
#[derive(Default)]
pub(crate) struct Globals<'a> {
    pub names: Scope,
    /// Functions by name.
    pub functions: IndexMap<Rc<str>, Function<'a>>,
    /// Functions without a decorator: host code, kept for messages.
    pub host: BTreeSet<Rc<str>>,
    /// Recognises builtins that are in scope without a prefix, after `from slipring.language import *`.
    words: Option<fn(&str) -> bool>,
    /// Functions that are being lowered or have been lowered.
    pub started: RefCell<BTreeSet<Rc<str>>>,
    /// Number of times that functions were lowered ahead of their turn.
    pub tries: RefCell<BTreeMap<Rc<str>, u32>>,
    /// Parameters that opaque functions write without declaring it: function and name.
    written: RefCell<BTreeSet<(Rc<str>, Rc<str>)>>,
    /// Tensors made by scopes that are represented as tiles.
    pub made_tiles: RefCell<MadeTiles>,
    /// Functions that others call: they are not kernels of their own.
    pub called: RefCell<BTreeSet<Rc<str>>>,
    /// Pushes of functions into pipes, for pops that do not specify what they expect.
    pub pushes: RefCell<Vec<Push>>,
    /// Reservations of slot memory: function, name, bytes.
    reserved: RefCell<Vec<Reservation>>,
    /// Total number of iterations of unrolled loops.
    pub unrolled: Cell<u64>,
    /// Number of lowered statements.
    pub lowered: Cell<u64>,
    /// Numbers of clusters and Vector cores that the program runs on, if known.
    pub cores: [Cell<Option<u64>>; 2],
}

/// A function, the name of a reservation in it, and its bytes.
type Reservation = (Rc<str>, Rc<str>, i64);

/// A push of a function into a pipe.
#[derive(Clone, Debug)]
pub(crate) struct Push {
    /// The function.
    pub function: Rc<str>,
    /// The kind of core that pushes.
    pub from: CoreKind,
    /// Number of the pipe.
    pub id: i64,
    /// The name of the consumer's reserved buffer, if the pipe has one.
    pub buffer: Option<Rc<str>>,
    /// Shape of the pushed tile.
    pub shape: SmallVec<[u64; 5]>,
    pub elem: Elem,
    pub split: Split,
    pub span: Span,
}

/// Tensors made by scopes that are represented as tiles, by the chain of calls and the place that make them.
#[derive(Default)]
pub(crate) struct MadeTiles {
    known: Vec<Vec<Span>>,
    /// Those that cannot be represented as a tile.
    refused: Vec<Vec<Span>>,
}

impl MadeTiles {
    /// The number of such tensors.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// True if the tensor made here is represented as a tile.
    pub fn has(&self, place: &[Span]) -> bool {
        self.known.iter().any(|own| own == place)
    }

    /// Represents the tensor made here as a tile. False if that is not possible.
    pub fn ask(&mut self, place: &[Span]) -> bool {
        if self.refused.iter().any(|own| own == place) {
            return false;
        }
        if !self.has(place) {
            self.known.push(place.to_vec());
        }
        true
    }

    /// Reverts all but the first ones.
    pub fn refuse(&mut self, first: usize) {
        self.refused.extend(self.known.split_off(first));
    }
}

/// Names and their values.
pub(crate) type Scope = IndexMap<Rc<str>, Value>;

/// A function of the file.
#[derive(Clone)]
pub(crate) struct Function<'a> {
    /// Its full name: prefixed with the enclosing class or function if the file has several of its name.
    pub name: Rc<str>,
    pub def: &'a StmtFunctionDef,
    pub role: Role,
    /// Its attributes.
    pub attrs: FunctionAttrs,
    /// True for another instance of the same text, made with other constants: only programs start it.
    pub again: bool,
    /// Names in its scope besides those of the file: of the enclosing function, and of its class as `self`.
    pub scope: Scope,
    /// The names of the functions of its class.
    pub class: Vec<(Rc<str>, Rc<str>)>,
}

impl Globals<'_> {
    /// The names of a file that has none yet. `words` recognises builtins without a prefix.
    pub fn seeing(words: Option<fn(&str) -> bool>) -> Self {
        Globals { words, ..Globals::default() }
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        let known = || self.words.is_some_and(|is_word| is_word(name));
        self.names.get(name).cloned().or_else(|| known().then(|| Value::Path(format!("pl.{name}").into())))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| &**name)
    }

    /// Records that an opaque function writes a parameter. False if that was known.
    pub fn writes(&self, function: &Rc<str>, parameter: &Rc<str>) -> bool {
        self.written.borrow_mut().insert((function.clone(), parameter.clone()))
    }

    /// True if an opaque function writes a parameter without declaring it.
    pub fn is_written(&self, function: &Rc<str>, parameter: &str) -> bool {
        self.written.borrow().iter().any(|(own, name)| own == function && **name == *parameter)
    }

    /// The number of parameters that an opaque function is known to write.
    pub fn written_in(&self, function: &Rc<str>) -> usize {
        self.written.borrow().iter().filter(|(own, _)| own == function).count()
    }

    /// Records a function's reservation of slot memory.
    pub fn reserve(&self, function: &Rc<str>, name: &Rc<str>, bytes: i64) {
        self.reserved.borrow_mut().push((function.clone(), name.clone(), bytes));
    }

    /// Bytes of slot memory that a function reserves under a name.
    pub fn reserved(&self, function: &str, name: &str) -> Option<i64> {
        let reserved = self.reserved.borrow();
        reserved.iter().rev().find(|(f, n, _)| **f == *function && **n == *name).map(|(.., bytes)| *bytes)
    }

    /// The full name of the function that a name refers to inside another function.
    pub fn full_name(&self, name: &str, within: &str) -> Option<Rc<str>> {
        let class = self.functions.get(within).map_or(&[][..], |function| &function.class);
        let own = class.iter().find(|(short, _)| **short == *name).map(|(_, full)| full.clone());
        own.or_else(|| self.functions.get_key_value(name).map(|(name, _)| name.clone()))
    }
}

/// The full path of `pl.a.b`, as resolved in a function.
pub(crate) fn path_of(globals: &Globals<'_>, scope: &Scope, expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => {
            let name = name.id.as_str();
            match scope.get(name).cloned().or_else(|| globals.get(name))? {
                Value::Path(path) => Some(path.to_string()),
                Value::Const(Const::DType(ty)) => Some(format!("pl.{}", ty.name())),
                _ => None,
            }
        }
        Expr::Attribute(attribute) => {
            Some(format!("{}.{}", path_of(globals, scope, &attribute.value)?, attribute.attr))
        }
        Expr::Call(call) => path_of(globals, scope, &call.func),
        _ => None,
    }
}
