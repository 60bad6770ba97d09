//! What a name of the host stands for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, StmtFunctionDef};
use slipring_ir::Span;
use slipring_tile::Elem;

use crate::value::{Const, Record, Value};

/// Names of a scope.
pub(crate) type Scope<'a> = Rc<RefCell<IndexMap<Rc<str>, HostValue<'a>>>>;

/// Why a value is not known.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    /// The expression.
    pub span: Span,
    /// What it is: `a call of \`os.environ.get\``.
    pub why: String,
}

/// A value of the host.
#[derive(Clone)]
pub(crate) enum HostValue<'a> {
    Unknown(Rc<Unknown>),
    Const(Const),
    /// A part of the language, a module, a function of Python: its full name.
    Path(Rc<str>),
    Tuple(Rc<Vec<HostValue<'a>>>),
    List(Rc<RefCell<Vec<HostValue<'a>>>>),
    Dict(Rc<RefCell<Vec<(Const, HostValue<'a>)>>>),
    Class(Rc<Class<'a>>),
    /// An instance, or a module of the file.
    Object(Rc<Object<'a>>),
    /// A function of the host.
    Function(Rc<Function<'a>>),
    Lambda(Rc<(&'a ruff_python_ast::ExprLambda, Vec<Scope<'a>>)>),
    /// A kernel: its position in the list of those found.
    Kernel(usize),
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
    /// A method of a value.
    Method(Rc<(HostValue<'a>, Rc<str>)>),
    /// `range(…)`.
    Range(i64, i64, i64),
}

/// A class.
pub(crate) struct Class<'a> {
    pub name: Rc<str>,
    pub names: Scope<'a>,
    /// Fields of a dataclass or named tuple, with their defaults.
    pub fields: Vec<(Rc<str>, Option<HostValue<'a>>)>,
    /// True if what it is based on, or decorated with, is not known here.
    pub foreign: bool,
}

/// An instance.
pub(crate) struct Object<'a> {
    pub class: Option<Rc<Class<'a>>>,
    pub what: Rc<str>,
    pub fields: Scope<'a>,
}

/// A function of the host.
pub(crate) struct Function<'a> {
    pub def: &'a StmtFunctionDef,
    pub scopes: Vec<Scope<'a>>,
    pub within: Vec<Rc<str>>,
    pub module: usize,
    /// Values of its parameters' defaults.
    pub defaults: IndexMap<Rc<str>, HostValue<'a>>,
}

impl<'a> HostValue<'a> {
    pub fn int(n: i64) -> HostValue<'a> {
        HostValue::Const(Const::Int(n))
    }

    pub fn str(text: impl Into<Rc<str>>) -> HostValue<'a> {
        HostValue::Const(Const::Str(text.into()))
    }

    pub fn list(items: Vec<HostValue<'a>>) -> HostValue<'a> {
        HostValue::List(Rc::new(RefCell::new(items)))
    }

    /// Python's truth of the value, where it is known.
    pub fn truth(&self) -> Option<bool> {
        Some(match self {
            HostValue::Const(c) => crate::lower::constants::truth(c),
            HostValue::Tuple(items) => !items.is_empty(),
            HostValue::List(items) => !items.borrow().is_empty(),
            HostValue::Dict(items) => !items.borrow().is_empty(),
            HostValue::Range(first, end, step) => range(*first, *end, *step).next().is_some(),
            HostValue::Unknown(_) | HostValue::Tensor(_) | HostValue::Path(_) | HostValue::Device(_) => return None,
            _ => true,
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
            HostValue::Const(constant) => super::python_text(constant),
            HostValue::Device(view) => format!("a tensor {} {}", crate::lower::show(&view.shape), view.elem),
            HostValue::Tuple(_) | HostValue::List(_) => {
                let items: Vec<String> =
                    self.items().unwrap_or_default().iter().take(16).map(HostValue::said).collect();
                format!("[{}]", items.join(", "))
            }
            HostValue::Task(_) => "the id of a task".into(),
            _ => "…".into(),
        }
    }

    /// What a loop over it binds, where that is known.
    pub fn items(&self) -> Option<Vec<HostValue<'a>>> {
        Some(match self {
            HostValue::Tuple(items) => items.to_vec(),
            HostValue::List(items) => items.borrow().clone(),
            HostValue::Dict(items) => items.borrow().iter().map(|(key, _)| HostValue::Const(key.clone())).collect(),
            HostValue::Range(first, end, step) => {
                range(*first, *end, *step).take(super::MOST_VALUES).map(HostValue::int).collect()
            }
            HostValue::Const(Const::Str(text)) => text.chars().map(|c| HostValue::str(c.to_string())).collect(),
            _ => return None,
        })
    }

    /// What a kernel sees of it. `name` says what a kernel that was found is called.
    pub fn to_value(&self, name: &dyn Fn(usize) -> Rc<str>) -> Value {
        self.to_value_within(name, 0, &Cell::new(super::MOST_VALUES))
    }

    fn to_value_within(&self, name: &dyn Fn(usize) -> Rc<str>, depth: usize, left: &Cell<usize>) -> Value {
        const MOST_DEPTH: usize = 16;
        if depth > MOST_DEPTH || left.get() == 0 {
            let why = "too many values inside each other".into();
            return Value::Unknown(Rc::new(Unknown { span: Span::default(), why }));
        }
        left.set(left.get() - 1);
        let convert = |item: &HostValue<'a>| item.to_value_within(name, depth + 1, left);
        let fields = |scope: &Scope<'a>| -> Vec<(Rc<str>, Value)> {
            scope.borrow().iter().map(|(field, value)| (field.clone(), convert(value))).collect()
        };
        match self {
            HostValue::Unknown(why) => Value::Unknown(why.clone()),
            HostValue::Const(c) => Value::Const(c.clone()),
            HostValue::Path(path) => Value::Path(path.clone()),
            HostValue::Tuple(items) => Value::Tuple(items.iter().map(convert).collect()),
            HostValue::List(items) => Value::Tuple(items.borrow().iter().map(convert).collect()),
            HostValue::Range(..) => Value::Tuple(self.items().unwrap_or_default().iter().map(convert).collect()),
            HostValue::Dict(items) => {
                let entries = items.borrow().iter().map(|(key, value)| (key.clone(), convert(value))).collect();
                Value::Record(Rc::new(Record { what: "a dict".into(), fields: Vec::new(), entries }))
            }
            HostValue::Object(object) => {
                let mut all = fields(&object.fields);
                if let Some(class) = &object.class {
                    all.extend(fields(&class.names));
                }
                Value::Record(Rc::new(Record { what: object.what.clone(), fields: all, entries: Vec::new() }))
            }
            HostValue::Class(class) => Value::Record(Rc::new(Record {
                what: format!("the class `{}`", class.name).into(),
                fields: fields(&class.names),
                entries: Vec::new(),
            })),
            HostValue::Kernel(at) => Value::Path(format!("@{}", name(*at)).into()),
            HostValue::Dynamic(extent) => Value::Path(format!("pl.dynamic.{extent}").into()),
            HostValue::Function(function) => {
                let why = format!("`{}` is a function of the host", function.def.name);
                let span = crate::syntax::at(&function.def.name);
                Value::Unknown(Rc::new(Unknown { span, why }))
            }
            HostValue::Lambda(lambda) => {
                let span = crate::syntax::at(&*lambda.0.body);
                Value::Unknown(Rc::new(Unknown { span, why: "a function of the host".into() }))
            }
            // Ids of tasks stand for nothing in a kernel.
            HostValue::Task(_) | HostValue::Window(_) => Value::Nothing,
            HostValue::Tensor(_) | HostValue::Device(_) => {
                let why = "a tensor of the host is no constant: pass it as an argument";
                Value::Unknown(Rc::new(Unknown { span: Span::default(), why: why.into() }))
            }
            HostValue::Method(method) => {
                let why = format!("a method `{}` of the host", method.1);
                Value::Unknown(Rc::new(Unknown { span: Span::default(), why }))
            }
        }
    }
}

/// Numbers of a range.
pub(super) fn range(first: i64, end: i64, step: i64) -> impl Iterator<Item = i64> {
    let inside = move |i: &i64| if step > 0 { *i < end } else { *i > end };
    std::iter::successors(Some(first), move |i| i.checked_add(step)).take_while(move |i| step != 0 && inside(i))
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
