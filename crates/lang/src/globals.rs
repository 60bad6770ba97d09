//! The names of a file, and its functions, as the kernels see them.

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
    /// Functions without a decorator: host code, known for messages.
    pub host: BTreeSet<Rc<str>>,
    /// What is a word of the language by itself: after `from slipring.language import *`.
    words: Option<fn(&str) -> bool>,
    /// Functions that are being lowered or have been.
    pub started: RefCell<BTreeSet<Rc<str>>>,
    /// How often functions have been lowered ahead of their turn.
    pub tries: RefCell<BTreeMap<Rc<str>, u32>>,
    /// Parameters that opaque functions write without saying so: function and name.
    written: RefCell<BTreeSet<(Rc<str>, Rc<str>)>>,
    /// Tensors that scopes make and that are tiles.
    pub made_tiles: RefCell<MadeTiles>,
    /// Functions that others call: they are parts of kernels.
    pub called: RefCell<BTreeSet<Rc<str>>>,
    /// What functions push into pipes, for pops that do not say what they expect.
    pub pushes: RefCell<Vec<Push>>,
    /// Memory for slots that functions reserve: function, name, bytes.
    reserved: RefCell<Vec<Reservation>>,
    /// Iterations that loops have been unrolled to.
    pub unrolled: Cell<u64>,
    /// Statements that have been lowered.
    pub lowered: Cell<u64>,
    /// Clusters and Vector cores that the program runs on, where that was asked for.
    pub cores: [Cell<Option<u64>>; 2],
}

/// A function, the name of a reservation in it, and its bytes.
type Reservation = (Rc<str>, Rc<str>, i64);

/// What a function pushes into a pipe.
#[derive(Clone, Debug)]
pub(crate) struct Push {
    /// The function.
    pub function: Rc<str>,
    /// The kind of core that pushes.
    pub from: CoreKind,
    /// Number of the pipe.
    pub id: i64,
    /// The name of the consumer's reserved buffer, where the pipe has one.
    pub buffer: Option<Rc<str>>,
    /// Shape of the tile that is pushed.
    pub shape: SmallVec<[u64; 5]>,
    pub elem: Elem,
    pub split: Split,
    pub span: Span,
}

/// The tensors that scopes make and that are tiles, by the calls and the place that make them.
#[derive(Default)]
pub(crate) struct MadeTiles {
    known: Vec<Vec<Span>>,
    /// Those that a tile cannot stand for.
    refused: Vec<Vec<Span>>,
}

impl MadeTiles {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Whether the tensor made here is one.
    pub fn has(&self, place: &[Span]) -> bool {
        self.known.iter().any(|own| own == place)
    }

    /// Makes the tensor made here one. False where a tile cannot stand for it.
    pub fn ask(&mut self, place: &[Span]) -> bool {
        if self.refused.iter().any(|own| own == place) {
            return false;
        }
        if !self.has(place) {
            self.known.push(place.to_vec());
        }
        true
    }

    /// Takes all but the first ones back.
    pub fn refuse(&mut self, first: usize) {
        self.refused.extend(self.known.split_off(first));
    }
}

/// Names and what they stand for.
pub(crate) type Scope = IndexMap<Rc<str>, Value>;

/// A function of the file.
#[derive(Clone)]
pub(crate) struct Function<'a> {
    /// Its full name: that of its class or function in front where the file has several of its name.
    pub name: Rc<str>,
    pub def: &'a StmtFunctionDef,
    pub role: Role,
    /// What it says of itself.
    pub attrs: FunctionAttrs,
    /// True for another one of the same text, made with other constants: only programs start it.
    pub again: bool,
    /// Names that it sees besides those of the file: of the function that it stands in, of its class as `self`.
    pub scope: Scope,
    /// The names of the functions of its class.
    pub class: Vec<(Rc<str>, Rc<str>)>,
}

impl Globals<'_> {
    /// The names of a file that has none yet. `words` says what is a word of the language by itself.
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

    /// Notes that an opaque function writes a parameter. False if that was known.
    pub fn writes(&self, function: &Rc<str>, parameter: &Rc<str>) -> bool {
        self.written.borrow_mut().insert((function.clone(), parameter.clone()))
    }

    /// Whether an opaque function writes a parameter without saying so.
    pub fn is_written(&self, function: &Rc<str>, parameter: &str) -> bool {
        self.written.borrow().iter().any(|(own, name)| own == function && **name == *parameter)
    }

    /// How many parameters an opaque function is known to write.
    pub fn written_in(&self, function: &Rc<str>) -> usize {
        self.written.borrow().iter().filter(|(own, _)| own == function).count()
    }

    /// Notes what a function reserves for slots.
    pub fn reserve(&self, function: &Rc<str>, name: &Rc<str>, bytes: i64) {
        self.reserved.borrow_mut().push((function.clone(), name.clone(), bytes));
    }

    /// Bytes that a function reserves for slots under a name.
    pub fn reserved(&self, function: &str, name: &str) -> Option<i64> {
        let reserved = self.reserved.borrow();
        reserved.iter().rev().find(|(f, n, _)| **f == *function && **n == *name).map(|(.., bytes)| *bytes)
    }

    /// The full name of the function that a text within another function calls by a name.
    pub fn full_name(&self, name: &str, within: &str) -> Option<Rc<str>> {
        let class = self.functions.get(within).map_or(&[][..], |function| &function.class);
        let own = class.iter().find(|(short, _)| **short == *name).map(|(_, full)| full.clone());
        own.or_else(|| self.functions.get_key_value(name).map(|(name, _)| name.clone()))
    }
}

/// The full name of `pl.a.b`, as a function sees it.
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
