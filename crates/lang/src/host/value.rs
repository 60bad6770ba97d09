//! What a name of the host stands for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, ExprLambda, StmtFunctionDef};
use slipring_ir::Span;
use slipring_tile::Elem;

use super::frame::{Locals, Scope};
use super::iter::{Part, Source};
use super::key::Key;
use crate::value::{Const, Unknown};

/// Arguments of a call: a name where they have one.
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
    /// The values are the members themselves.
    Set(Rc<Held<Entries<'a>>>),
    /// `dict.items()` and its like.
    View(Rc<Held<Entries<'a>>>, Part),
    Class(Rc<Class<'a>>),
    /// An instance, or a module of the file.
    Object(Rc<Object<'a>>),
    /// A function of the host.
    Function(Rc<Function<'a>>),
    /// A function with its first argument.
    Bound(Rc<(HostValue<'a>, HostValue<'a>)>),
    /// What a decorator made of a function.
    Wrapped(Rc<Wrapped<'a>>),
    /// A kernel: its position in the list of those found.
    Kernel(usize),
    /// A function around the file, which its text has not defined yet: its position among them.
    Part(usize),
    /// A tensor: its shape and type.
    Tensor(Rc<(Vec<u64>, Elem)>),
    /// A tensor of a program that is followed, or a part of one.
    Device(Rc<super::tasks::View>),
    /// The id of a task.
    Task(usize),
    /// Memory that each device has one of.
    Window(Rc<super::tasks::DeviceWindow>),
    /// `pl.dynamic("M")`.
    Dynamic(Rc<str>),
    /// A method of a value of Python.
    Method(Rc<(HostValue<'a>, Rc<str>)>),
    /// `range(…)`.
    Range(i64, i64, i64),
    /// Values that are taken one by one.
    Iter(Rc<RefCell<Source<'a>>>),
    /// `super()`: the instance or class, and the class whose bases are looked through.
    Super(Rc<(HostValue<'a>, Rc<Class<'a>>)>),
    /// An exception of Python: its class's name and its arguments.
    Exception(Rc<(Rc<str>, Vec<HostValue<'a>>)>),
}

/// Entries of a dict: each under its key, with the key as it was written.
pub(super) type Entries<'a> = IndexMap<Key, (HostValue<'a>, HostValue<'a>)>;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
    static PARTS: Cell<u64> = const { Cell::new(0) };
}

/// Counts values of a list that are made: what host code may keep is counted where it is made, however it comes about.
pub(super) fn count_made(values: usize) {
    PARTS.with(|parts| parts.set(parts.get().saturating_add(values as u64)));
}

/// What [`count_made`] has counted.
pub(super) fn made_so_far() -> u64 {
    PARTS.with(Cell::get)
}

/// What takes memory by what it holds.
pub(crate) trait Holds {
    /// In values of a list.
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

/// The number of what is made next: what has a lower one was there before.
pub(super) fn next_number() -> u64 {
    MADE.with(|made| {
        made.set(made.get() + 1);
        made.get()
    })
}

/// What can be changed in place, and is seen by all who hold it.
pub(crate) struct Held<T> {
    inner: RefCell<T>,
    /// Why its contents are not known.
    pub lost: RefCell<Option<Rc<Unknown>>>,
    /// When it was made.
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
    /// The classes that it is looked up in, itself first.
    pub order: RefCell<Vec<Rc<Class<'a>>>>,
    /// Fields of a dataclass or named tuple.
    pub fields: RefCell<Vec<Field<'a>>>,
    /// What is generated for it.
    pub made: Cell<Made>,
    /// Why some of what it does is not known: what it is based on, or decorated with, is not known here.
    pub foreign: RefCell<Option<Rc<Unknown>>>,
    /// The exception of Python that it is based on.
    pub exception: Option<Rc<str>>,
}

/// What a decorator or base generates for a class.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Made {
    /// A whole program of the language: calls run it, and it has members of the language.
    pub program: bool,
    pub dataclass: bool,
    pub named_tuple: bool,
    pub frozen: bool,
    pub eq: bool,
    pub init: bool,
    /// Its instances have no abstract methods.
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
    /// What its body binds.
    pub(super) locals: Rc<Locals>,
    /// The class that it was defined in.
    pub class: Option<Rc<Class<'a>>>,
    /// True once something not followed may call it at any time.
    pub escaped: Cell<bool>,
    /// True once a decorator has given it the name of another function.
    pub renamed: Cell<bool>,
    /// True for an abstract method.
    pub is_abstract: Cell<bool>,
}

/// What a decorator makes of a function.
pub(crate) enum Wrapped<'a> {
    Static(HostValue<'a>),
    OfClass(HostValue<'a>),
    /// Reads and sets.
    Property(HostValue<'a>, Option<HostValue<'a>>),
    /// `functools.lru_cache`: what it gave, by arguments.
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

    /// Why the contents are not known, where something may have changed them.
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

    /// The value itself, or unknown where its contents are not known.
    pub(super) fn seen(self) -> HostValue<'a> {
        match self.lost() {
            Some(why) => HostValue::Unknown(why),
            None => self,
        }
    }

    /// Python's truth value of the value, where it is known without running anything.
    pub fn as_bool(&self) -> Option<bool> {
        if self.lost().is_some() {
            return None;
        }
        Some(match self {
            HostValue::Const(Const::Member(..) | Const::Split(_)) => return None,
            HostValue::Const(c) => crate::constants::is_true(c),
            HostValue::Tuple(items) => !items.is_empty(),
            HostValue::List(items) => !items.borrow().is_empty(),
            HostValue::Dict(items) | HostValue::Set(items) | HostValue::View(items, _) => !items.borrow().is_empty(),
            HostValue::Range(first, end, step) => range(*first, *end, *step).next().is_some(),
            HostValue::Function(_) | HostValue::Kernel(_) | HostValue::Bound(_) | HostValue::Iter(_) => true,
            HostValue::Method(_) | HostValue::Dynamic(_) | HostValue::Task(_) | HostValue::Exception(_) => true,
            HostValue::Wrapped(wrapped) => !matches!(&**wrapped, Wrapped::Property(..)),
            HostValue::Class(class) if class.foreign.borrow().is_none() => true,
            _ => return None,
        })
    }

    /// True for an extent that a call decides.
    pub fn is_extent(&self) -> bool {
        matches!(self, HostValue::Dynamic(_))
    }

    /// The text, where it is one.
    pub fn text(&self) -> Option<String> {
        match self {
            HostValue::Const(Const::Str(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    /// What a message says of it.
    pub fn said(&self) -> String {
        match self {
            HostValue::Const(constant) => crate::text::python_text(constant),
            HostValue::Device(view) => format!("a tensor {} {}", crate::value::show(&view.shape), view.elem),
            HostValue::Tuple(_) | HostValue::List(_) => {
                let items: Vec<String> =
                    self.items().unwrap_or_default().iter().take(16).map(HostValue::said).collect();
                format!("[{}]", items.join(", "))
            }
            HostValue::Task(_) => "the id of a task".into(),
            _ => "…".into(),
        }
    }

    /// What a loop over it binds, where that is known without running anything and there are not too many.
    pub fn items(&self) -> Option<Vec<HostValue<'a>>> {
        if self.lost().is_some() {
            return None;
        }
        let all: Vec<HostValue<'a>> = match self {
            HostValue::Tuple(items) => items.to_vec(),
            HostValue::List(items) => items.borrow().clone(),
            HostValue::Dict(items) => items.borrow().values().map(|(key, _)| key.clone()).collect(),
            HostValue::View(items, part) => {
                let all = items.borrow().clone();
                all.into_values()
                    .map(|(key, value)| match part {
                        Part::Keys => key,
                        Part::Values => value,
                        Part::Items => HostValue::tuple(vec![key, value.seen()]),
                    })
                    .collect()
            }
            // The order of a set is Python's own.
            HostValue::Set(items) if items.borrow().len() < 2 => {
                items.borrow().values().map(|(key, _)| key.clone()).collect()
            }
            HostValue::Range(first, end, step) => {
                let all: Vec<_> = range(*first, *end, *step).take(super::MOST_VALUES + 1).collect();
                if all.len() > super::MOST_VALUES {
                    return None;
                }
                all.into_iter().map(HostValue::int).collect()
            }
            HostValue::Const(Const::Str(text)) => text.chars().map(|c| HostValue::str(c.to_string())).collect(),
            _ => return None,
        };
        Some(all.into_iter().map(HostValue::seen).collect())
    }
}

/// Numbers of a range.
pub(super) fn range(first: i64, end: i64, step: i64) -> impl Iterator<Item = i64> {
    let inside = move |i: &i64| if step > 0 { *i < end } else { *i > end };
    std::iter::successors(Some(first), move |i| i.checked_add(step)).take_while(move |i| step != 0 && inside(i))
}

/// How many numbers a range has.
pub(super) fn range_len(first: i64, end: i64, step: i64) -> i64 {
    let (first, end, step) = (i128::from(first), i128::from(end), i128::from(step));
    let count = match step {
        0 => 0,
        1.. => (end - first + step - 1) / step,
        _ => (first - end - step - 1) / -step,
    };
    i64::try_from(count.max(0)).unwrap_or(i64::MAX)
}

/// The name that an expression is, as people write it: `os.environ.get`.
pub(super) fn shown(expr: &Expr) -> String {
    match expr {
        Expr::Name(name) => name.id.as_str().to_string(),
        Expr::Attribute(attribute) => format!("{}.{}", shown(&attribute.value), attribute.attr),
        Expr::Call(call) => format!("{}(…)", shown(&call.func)),
        Expr::Subscript(subscript) => format!("{}[…]", shown(&subscript.value)),
        _ => "…".into(),
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

    /// What it takes.
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
    /// A member, as it stands in the class or one that it is based on.
    pub fn find(&self, name: &str) -> Option<HostValue<'a>> {
        if let Some(own) = self.names.get(name) {
            return Some(own);
        }
        self.order.borrow().iter().skip(1).find_map(|class| class.names.get(name))
    }

    /// True if it is, or is based on, another.
    pub fn is_a(&self, other: &Rc<Class<'a>>) -> bool {
        std::ptr::eq(self, &**other) || self.order.borrow().iter().any(|class| Rc::ptr_eq(class, other))
    }
}
