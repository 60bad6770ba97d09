//! Values of names in host code.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::collections::BTreeSet;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Comprehension, Expr, ExprLambda, StmtFunctionDef};
use slipring_ir::Span;
use slipring_tile::Elem;

use super::locals::Locals;
use super::view::{DeviceWindow, View};
use crate::value::{Const, Strange, Unknown};

/// Arguments of a call, with a name if they are keywords.
pub(super) type Given<'a> = Vec<(Option<Rc<str>>, HostValue<'a>)>;

/// A value of the host.
#[derive(Clone)]
pub(crate) enum HostValue<'a> {
    Unknown(Rc<Unknown>),
    Const(Const),
    /// A part of the language, a module, a function of Python: its full name.
    Path(Rc<str>),
    Tuple(Rc<Vec<HostValue<'a>>>),
    List(Rc<Held<Vec<HostValue<'a>>>>),
    Dict(Rc<Held<Entries<'a>>>),
    /// Each value is the member itself.
    Set(Rc<Held<Entries<'a>>>),
    /// `dict.items()` and the like.
    View(Rc<Held<Entries<'a>>>, Part),
    Class(Rc<Class<'a>>),
    /// An instance, or a module of the file.
    Object(Rc<Object<'a>>),
    /// A host function.
    Function(Rc<Function<'a>>),
    /// A function with its bound first argument.
    Bound(Rc<(HostValue<'a>, HostValue<'a>)>),
    /// A decorated function.
    Wrapped(Rc<Wrapped<'a>>),
    /// A kernel, by index.
    Kernel(usize),
    /// A surrounding function that the text has not defined yet, by index.
    Part(usize),
    /// A tensor: its shape and type.
    Tensor(Rc<(Vec<u64>, Elem)>),
    /// A tensor of a followed program, or a part of one.
    Device(Rc<View>),
    /// The id of a task.
    Task(usize),
    /// Memory with a part for each device.
    Window(Rc<DeviceWindow>),
    /// `pl.dynamic("M")`.
    Dynamic(Rc<str>),
    /// A method of a Python value.
    Method(Rc<(HostValue<'a>, Rc<str>)>),
    /// `range(…)`.
    Range(i64, i64, i64),
    /// An iterator.
    Iter(Rc<RefCell<Source<'a>>>),
    /// `super()`: the instance or class, and the class whose bases are searched.
    Super(Rc<(HostValue<'a>, Rc<Class<'a>>)>),
    /// An exception of Python: its class's name and its arguments.
    Exception(Rc<(Rc<str>, Vec<HostValue<'a>>)>),
}

/// Entries of a dict, by key, with the key as it was written.
pub(super) type Entries<'a> = IndexMap<Key, (HostValue<'a>, HostValue<'a>)>;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
    static PARTS: Cell<u64> = const { Cell::new(0) };
}

/// Counts created list elements: everything that host code may keep is counted when it is made, however that happens.
pub(super) fn count_made(values: usize) {
    PARTS.with(|parts| parts.set(parts.get().saturating_add(values as u64)));
}

/// The total of [`count_made`].
pub(super) fn made_so_far() -> u64 {
    PARTS.with(Cell::get)
}

/// Values with a size.
pub(crate) trait Holds {
    /// The size in list elements.
    fn parts(&self) -> usize;
}

impl Holds for Vec<HostValue<'_>> {
    fn parts(&self) -> usize {
        self.len()
    }
}

impl Holds for Entries<'_> {
    fn parts(&self) -> usize {
        self.len() * 6
    }
}

/// The next number: values with a lower one existed before.
pub(super) fn next_number() -> u64 {
    MADE.with(|made| {
        made.set(made.get() + 1);
        made.get()
    })
}

/// A mutable value that is shared by all its holders.
pub(crate) struct Held<T> {
    pub(super) inner: RefCell<T>,
    /// The reason why its contents are unknown, if they are.
    pub lost: RefCell<Option<Rc<Unknown>>>,
    /// Its number in creation order.
    pub number: u64,
}

impl<T: Holds> Held<T> {
    pub fn new(inner: T) -> Held<T> {
        count_made(inner.parts());
        Held { inner: RefCell::new(inner), lost: RefCell::new(None), number: next_number() }
    }
}

impl<T> Held<T> {
    pub fn borrow(&self) -> std::cell::Ref<'_, T> {
        self.inner.borrow()
    }

    pub fn borrow_mut(&self) -> std::cell::RefMut<'_, T> {
        self.inner.borrow_mut()
    }
}

/// A class.
pub(crate) struct Class<'a> {
    pub name: Rc<str>,
    pub names: Scope<'a>,
    /// Its method resolution order, itself first.
    pub order: RefCell<Vec<Rc<Class<'a>>>>,
    /// Fields of a dataclass or named tuple.
    pub fields: RefCell<Vec<Field<'a>>>,
    /// Properties that decorators or bases generate.
    pub made: Cell<Made>,
    /// The reason why some of its behaviour is unknown: an unknown base or decorator.
    pub foreign: RefCell<Option<Rc<Unknown>>>,
    /// The Python exception that it derives from.
    pub exception: Option<Rc<str>>,
}

/// Properties that a decorator or base generates for a class.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Made {
    /// It is a whole program of the language: calls run it, and it has members of the language.
    pub program: bool,
    pub dataclass: bool,
    pub named_tuple: bool,
    pub frozen: bool,
    pub eq: bool,
    pub init: bool,
    /// Its instances must not have abstract methods.
    pub abstract_base: bool,
    /// It has fields that are not followed.
    pub strange_fields: bool,
}

/// A field of a dataclass.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    pub name: Rc<str>,
    pub default: Option<HostValue<'a>>,
    /// Called for each instance.
    pub factory: Option<HostValue<'a>>,
    pub init: bool,
    pub keyword_only: bool,
}

/// An instance.
pub(crate) struct Object<'a> {
    pub class: Option<Rc<Class<'a>>>,
    pub what: Rc<str>,
    pub fields: Scope<'a>,
}

/// The text of a function of the host.
#[derive(Clone, Copy)]
pub(super) enum Code<'a> {
    Def(&'a StmtFunctionDef),
    Lambda(&'a ExprLambda),
}

/// A function of the host.
pub(crate) struct Function<'a> {
    pub(super) code: Code<'a>,
    pub scopes: Vec<Scope<'a>>,
    pub within: Vec<Rc<str>>,
    pub module: usize,
    /// Values of its parameters' defaults.
    pub defaults: IndexMap<Rc<str>, HostValue<'a>>,
    /// Its local names.
    pub(super) locals: Rc<Locals>,
    /// The class that contains its definition.
    pub class: Option<Rc<Class<'a>>>,
    /// True once code that is not followed may call it at any time.
    pub escaped: Cell<bool>,
    /// True once a decorator has given it the name of another function.
    pub renamed: Cell<bool>,
    /// True for an abstract method.
    pub is_abstract: Cell<bool>,
}

/// A decorated function.
pub(crate) enum Wrapped<'a> {
    Static(HostValue<'a>),
    OfClass(HostValue<'a>),
    /// A property: getter and setter.
    Property(HostValue<'a>, Option<HostValue<'a>>),
    /// `functools.lru_cache`: results by arguments.
    Cached(HostValue<'a>, RefCell<IndexMap<Vec<Key>, HostValue<'a>>>),
    Partial(HostValue<'a>, Given<'a>),
}

impl<'a> HostValue<'a> {
    pub fn int(n: i64) -> HostValue<'a> {
        HostValue::Const(Const::Int(n))
    }

    pub fn str(text: impl Into<Rc<str>>) -> HostValue<'a> {
        let text = text.into();
        count_made(text.len() / 32);
        HostValue::Const(Const::Str(text))
    }

    pub fn bool(boolean: bool) -> HostValue<'a> {
        HostValue::Const(Const::Bool(boolean))
    }

    pub fn none() -> HostValue<'a> {
        HostValue::Const(Const::None)
    }

    pub fn list(items: Vec<HostValue<'a>>) -> HostValue<'a> {
        HostValue::List(Rc::new(Held::new(items)))
    }

    pub fn tuple(items: Vec<HostValue<'a>>) -> HostValue<'a> {
        count_made(items.len());
        HostValue::Tuple(Rc::new(items))
    }

    pub(super) fn dict(entries: Entries<'a>) -> HostValue<'a> {
        HostValue::Dict(Rc::new(Held::new(entries)))
    }

    pub(super) fn set(entries: Entries<'a>) -> HostValue<'a> {
        HostValue::Set(Rc::new(Held::new(entries)))
    }

    pub(super) fn iter(source: Source<'a>) -> HostValue<'a> {
        HostValue::Iter(Rc::new(RefCell::new(source)))
    }

    /// The reason why the contents are unknown, if something may have changed them.
    pub(super) fn lost(&self) -> Option<Rc<Unknown>> {
        match self {
            HostValue::List(list) => list.lost.borrow().clone(),
            HostValue::Dict(dict) | HostValue::Set(dict) | HostValue::View(dict, _) => dict.lost.borrow().clone(),
            HostValue::Object(object) if object.class.is_some() => object.fields.all_lost(),
            HostValue::Iter(source) => match &*source.borrow() {
                Source::Lost(why) => Some(why.clone()),
                _ => None,
            },
            HostValue::Unknown(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// The value itself, or unknown if its contents are.
    pub(super) fn seen(self) -> HostValue<'a> {
        match self.lost() {
            Some(why) => HostValue::Unknown(why),
            None => self,
        }
    }
}

impl<'a> Function<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        match self.code {
            Code::Def(def) => def.name.as_str(),
            Code::Lambda(_) => "<lambda>",
        }
    }

    /// Its parameters.
    pub fn parameters(&self) -> Option<&'a ruff_python_ast::Parameters> {
        match self.code {
            Code::Def(def) => Some(&def.parameters),
            Code::Lambda(lambda) => lambda.parameters.as_deref(),
        }
    }

    /// Its place.
    pub fn span(&self) -> Span {
        match self.code {
            Code::Def(def) => crate::syntax::at(&def.name),
            Code::Lambda(lambda) => crate::syntax::at(lambda),
        }
    }
}

impl<'a> Class<'a> {
    /// A member, as defined in the class or its bases.
    pub fn find(&self, name: &str) -> Option<HostValue<'a>> {
        if let Some(own) = self.names.get(name) {
            return Some(own);
        }
        self.order.borrow().iter().skip(1).find_map(|class| class.names.get(name))
    }

    /// True if it is, or derives from, another class.
    pub fn is_a(&self, other: &Rc<Class<'a>>) -> bool {
        std::ptr::eq(self, &**other) || self.order.borrow().iter().any(|class| Rc::ptr_eq(class, other))
    }
}

/// Names of a scope.
pub(crate) type Scope<'a> = Rc<Frame<'a>>;

/// The owner of a scope.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Module,
    Function,
    Class,
    /// A comprehension: `:=` binds outside it.
    Inner,
}

/// A scope.
pub(crate) struct Frame<'a> {
    pub(super) names: RefCell<IndexMap<Rc<str>, HostValue<'a>>>,
    pub(super) kind: Kind,
    /// The local names of a function's text.
    pub(super) locals: Option<Rc<Locals>>,
    /// Names that code which is not followed may bind at any time.
    pub(super) lost: RefCell<IndexMap<Rc<str>, Rc<Unknown>>>,
    /// Set if that holds for all its names.
    pub(super) all_lost: RefCell<Option<Rc<Unknown>>>,
    /// Names of what is defined on one path only: they stand for that, or for nothing.
    pub(super) perhaps: RefCell<BTreeSet<Rc<str>>>,
    /// Its number in creation order.
    pub(super) number: u64,
    /// True for the fields of a frozen instance.
    pub(super) frozen: Cell<bool>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(kind: Kind, names: IndexMap<Rc<str>, HostValue<'a>>) -> Scope<'a> {
        Frame::with(kind, names, None)
    }

    pub(super) fn with(kind: Kind, names: IndexMap<Rc<str>, HostValue<'a>>, locals: Option<Rc<Locals>>) -> Scope<'a> {
        Rc::new(Frame {
            names: RefCell::new(names),
            kind,
            locals,
            lost: RefCell::default(),
            all_lost: RefCell::default(),
            perhaps: RefCell::default(),
            number: next_number(),
            frozen: Cell::new(false),
        })
    }

    pub fn borrow(&self) -> Ref<'_, IndexMap<Rc<str>, HostValue<'a>>> {
        self.names.borrow()
    }

    pub fn borrow_mut(&self) -> RefMut<'_, IndexMap<Rc<str>, HostValue<'a>>> {
        self.names.borrow_mut()
    }

    pub(super) fn all_lost(&self) -> Option<Rc<Unknown>> {
        self.all_lost.borrow().clone()
    }

    /// The value of a name here.
    pub(super) fn get(&self, name: &str) -> Option<HostValue<'a>> {
        self.names.borrow().get(name).cloned().map(HostValue::seen)
    }

    /// Binds a name, unless something else may rebind it at any time.
    pub(super) fn put(&self, name: &str, value: HostValue<'a>) {
        self.perhaps.borrow_mut().remove(name);
        self.put_perhaps(name, value);
    }

    /// The same on one of several paths: a name that may be unbound stays one.
    pub(super) fn put_perhaps(&self, name: &str, value: HostValue<'a>) {
        let lost = self.lost.borrow().get(name).cloned();
        let lost = lost.or_else(|| self.all_lost().filter(|_| !is_definition(&value)));
        let value = lost.map_or(value, HostValue::Unknown);
        self.names.borrow_mut().insert(name.into(), value);
    }

    /// Unbinds a name. False if it is not bound.
    pub(super) fn remove(&self, name: &str) -> bool {
        self.perhaps.borrow_mut().remove(name);
        self.names.borrow_mut().shift_remove(name).is_some()
    }
}

/// True for definitions, which stay the same whatever happens to data.
pub(super) fn is_definition(value: &HostValue<'_>) -> bool {
    matches!(value, HostValue::Kernel(_) | HostValue::Part(_) | HostValue::Path(_) | HostValue::Dynamic(_))
}

/// The part of a dict's entries that is iterated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Keys,
    Values,
    Items,
}

/// The source of an iterator.
#[derive(Clone)]
pub(crate) enum Source<'a> {
    Values(Rc<Vec<HostValue<'a>>>, usize),
    /// A list in its current state, from this index on.
    List(Rc<Held<Vec<HostValue<'a>>>>, usize),
    Backwards(Rc<Held<Vec<HostValue<'a>>>>, usize),
    /// A dict, its next entry, and its size at the beginning.
    Dict(Rc<Held<Entries<'a>>>, Part, usize, usize),
    Range(i64, i64, i64),
    Zip(Vec<HostValue<'a>>, bool),
    Map(HostValue<'a>, Vec<HostValue<'a>>),
    Filter(Option<HostValue<'a>>, HostValue<'a>),
    Enumerate(HostValue<'a>, i64),
    Chain(Vec<HostValue<'a>>, usize),
    Each(Box<Each<'a>>),
    /// It is being advanced.
    Busy,
    Done,
    Lost(Rc<Unknown>),
}

/// The element of a comprehension.
#[derive(Clone, Copy)]
pub(super) enum Element<'a> {
    One(&'a Expr),
    /// A key and its value.
    Entry(&'a Expr, &'a Expr),
}

/// A comprehension in progress.
#[derive(Clone)]
pub(crate) struct Each<'a> {
    pub(super) generators: &'a [Comprehension],
    pub(super) element: Element<'a>,
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) module: usize,
    /// The iterables of the open generators.
    pub(super) open: Vec<HostValue<'a>>,
    pub(super) begun: bool,
}

/// The next value of an iterator.
pub(super) enum NextItem<'a> {
    Item(HostValue<'a>),
    End,
    /// It is not known whether there is one, or an exception was raised.
    Unknown(Rc<Unknown>),
}

impl<'a> Source<'a> {
    /// Its values.
    pub(super) fn holds(self) -> Vec<HostValue<'a>> {
        match self {
            Source::Values(items, _) => vec![HostValue::Tuple(items)],
            Source::List(list, _) | Source::Backwards(list, _) => vec![HostValue::List(list)],
            Source::Dict(dict, ..) => vec![HostValue::Dict(dict)],
            Source::Zip(all, _) | Source::Chain(all, _) => all,
            Source::Map(function, mut all) => {
                all.push(function);
                all
            }
            Source::Filter(function, inner) => function.into_iter().chain([inner]).collect(),
            Source::Enumerate(inner, _) => vec![inner],
            Source::Each(each) => {
                let scopes = each.scopes.iter().filter(|scope| scope.kind == Kind::Inner);
                let values = scopes.flat_map(|scope| scope.borrow().values().cloned().collect::<Vec<_>>());
                values.chain(each.open.iter().cloned()).collect()
            }
            Source::Range(..) | Source::Busy | Source::Done | Source::Lost(_) => Vec::new(),
        }
    }
}

/// The key of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Key {
    None,
    Int(i64),
    /// A float that is not a 64-bit integer.
    Float(u64),
    Str(Rc<str>),
    Tuple(Vec<Key>),
    /// A part of the language, by kind and name.
    Word(&'static str, String),
    /// A class, function or instance, by address.
    Place(usize),
}

/// An unknown value, with the place and the reason.
pub(super) fn unknown<'a>(span: Span, why: impl Into<String>) -> HostValue<'a> {
    HostValue::Unknown(Rc::new(Unknown::new(span, why)))
}

/// An unknown operand, else the reason why the result is unknown.
pub(super) fn because<'a>(value: HostValue<'a>, span: Span, why: impl Into<String>) -> HostValue<'a> {
    match value {
        // What is computed from a message is not one.
        HostValue::Unknown(own) if matches!(own.is, Strange::Said(_)) => unknown(own.span, own.why.clone()),
        HostValue::Unknown(_) => value,
        _ => unknown(span, why),
    }
}
