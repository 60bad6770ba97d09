//! Host values as kernels see them.

use std::cell::Cell;
use std::rc::Rc;

use slipring_ir::Span;

use super::value::{Class, HostValue, Wrapped};
use crate::host::value::Scope;
use crate::value::{Partial, Record, Unknown, Value};

impl<'a> HostValue<'a> {
    /// The value as a kernel sees it. `name` supplies the names of kernels.
    pub fn to_value(&self, name: &dyn Fn(usize) -> Rc<str>) -> Value {
        self.to_value_within(name, 0, &Cell::new(super::limits::MOST_SEEN))
    }

    /// Like `to_value`, for one of several values with a common budget: lists of lists are copied.
    pub fn to_value_of(&self, name: &dyn Fn(usize) -> Rc<str>, budget: &Cell<usize>) -> Value {
        let own = budget.get().min(super::limits::MOST_SEEN);
        let left = Cell::new(own.max(1));
        let holds = matches!(
            self,
            HostValue::Tuple(_)
                | HostValue::List(_)
                | HostValue::Range(..)
                | HostValue::Dict(_)
                | HostValue::Object(_)
                | HostValue::Class(_)
        );
        if own == 0 && holds {
            let why = "values of this file that have more parts together than slipring follows";
            return Value::Unknown(Rc::new(Unknown::new(Span::default(), why)));
        }
        let value = self.to_value_within(name, 0, &left);
        budget.set(budget.get() - own.saturating_sub(left.get()));
        value
    }

    fn to_value_within(&self, name: &dyn Fn(usize) -> Rc<str>, depth: usize, left: &Cell<usize>) -> Value {
        const MOST_DEPTH: usize = 16;
        if depth > MOST_DEPTH || left.get() == 0 {
            let why = "too many values inside each other";
            return Value::Unknown(Rc::new(Unknown::new(Span::default(), why)));
        }
        left.set(left.get() - 1);
        let convert = |item: &HostValue<'a>| item.to_value_within(name, depth + 1, left);
        let fields = |scope: &Scope<'a>| -> Vec<(Rc<str>, Value)> {
            scope.borrow().iter().map(|(field, value)| (field.clone(), convert(value))).collect()
        };
        let strange = |why: &str| Value::Unknown(Rc::new(Unknown::new(Span::default(), why)));
        // Members of a class and its bases, after those that are already known.
        let shared = |class: &Rc<Class<'a>>, all: &mut Vec<(Rc<str>, Value)>| {
            let foreign = class.foreign.borrow().clone();
            let mut order = class.order.borrow().clone();
            if order.is_empty() {
                order.push(class.clone());
            }
            for class in &order {
                for (name, value) in class.names.borrow().iter() {
                    if all.iter().any(|(known, _)| known == name) {
                        continue;
                    }
                    let value = match (&foreign, value) {
                        (
                            Some(why),
                            HostValue::Const(_) | HostValue::List(_) | HostValue::Dict(_) | HostValue::Tuple(_),
                        ) => Value::Unknown(why.clone()),
                        (_, value) => convert(value),
                    };
                    all.push((name.clone(), value));
                }
            }
        };
        if let Some(why) = self.lost() {
            return Value::Unknown(why);
        }
        match self {
            HostValue::Unknown(why) => Value::Unknown(why.clone()),
            HostValue::Const(c) => Value::Const(c.clone()),
            HostValue::Path(path) => Value::Path(path.clone()),
            HostValue::Tuple(items) => Value::Tuple(items.iter().map(convert).collect()),
            HostValue::List(items) => Value::Tuple(items.borrow().iter().map(convert).collect()),
            HostValue::Range(..) => match self.items() {
                Some(items) => Value::Tuple(items.iter().map(convert).collect()),
                None => strange("a range of too many numbers"),
            },
            HostValue::Dict(items) => {
                let mut entries = Vec::new();
                for (key, value) in items.borrow().values() {
                    match key {
                        HostValue::Const(key) => entries.push((key.clone(), convert(value))),
                        _ => return strange("a dict whose keys are not constants"),
                    }
                }
                Value::Record(Rc::new(Record::dict(entries)))
            }
            HostValue::Object(object) => {
                let mut all = fields(&object.fields);
                if let Some(class) = &object.class {
                    if class.find("__getattribute__").is_some() {
                        return strange("an instance of a class that looks its members up itself");
                    }
                    let hidden = |value: &HostValue<'a>| matches!(value, HostValue::Wrapped(wrapped) if matches!(&**wrapped, Wrapped::Property(..)));
                    all.retain(|(name, _)| !class.find(name).is_some_and(|value| hidden(&value)));
                    shared(class, &mut all);
                }
                Value::Record(Rc::new(Record {
                    what: object.what.clone(),
                    fields: all,
                    entries: Vec::new(),
                    is_dict: false,
                }))
            }
            HostValue::Class(class) => {
                let mut all = Vec::new();
                shared(class, &mut all);
                let what = format!("the class `{}`", class.name).into();
                Value::Record(Rc::new(Record { what, fields: all, entries: Vec::new(), is_dict: false }))
            }
            HostValue::Kernel(at) => Value::Path(format!("@{}", name(*at)).into()),
            HostValue::Dynamic(extent) => Value::Path(format!("pl.dynamic.{extent}").into()),
            HostValue::Function(function) => {
                let why = format!("`{}`, a function of the host without `@pl.inline`", function.name());
                Value::Unknown(Rc::new(Unknown::new(function.span(), why)))
            }
            // Ids of tasks are nothing in a kernel.
            HostValue::Task(_) | HostValue::Window(_) => Value::Nothing,
            HostValue::Tensor(_) | HostValue::Device(_) => {
                let why = "a tensor of the host is not a constant: pass it as an argument";
                Value::Unknown(Rc::new(Unknown::new(Span::default(), why)))
            }
            HostValue::Method(method) => strange(&format!("a method `{}` of the host", method.1)),
            HostValue::Wrapped(wrapped) if let Wrapped::Partial(inner, before) = &**wrapped => {
                let (positional, keywords): (Vec<_>, Vec<_>) = before.iter().partition(|(name, _)| name.is_none());
                let mut positional: Vec<Value> = positional.into_iter().map(|(_, value)| convert(value)).collect();
                let mut keywords: Vec<(Rc<str>, Value)> =
                    keywords.into_iter().filter_map(|(name, value)| Some((name.clone()?, convert(value)))).collect();
                match convert(inner) {
                    Value::Path(callee) => Value::Partial(Rc::new(Partial { callee, positional, keywords })),
                    Value::Partial(inner) => {
                        positional.splice(0..0, inner.positional.iter().cloned());
                        let others =
                            inner.keywords.iter().filter(|(name, _)| !keywords.iter().any(|(own, _)| own == name));
                        keywords.extend(others.cloned().collect::<Vec<_>>());
                        Value::Partial(Rc::new(Partial { callee: inner.callee.clone(), positional, keywords }))
                    }
                    Value::Unknown(why) => Value::Unknown(why),
                    _ => strange("`functools.partial` of what is not a function of a kernel"),
                }
            }
            HostValue::Bound(_) | HostValue::Wrapped(_) | HostValue::Super(_) => strange("a function of the host"),
            HostValue::Part(_) => strange("a function that is not defined"),
            HostValue::Set(_) => strange("a set"),
            HostValue::View(..) => strange("a view of a dict"),
            HostValue::Iter(_) => strange("an iterator, whose values are taken one by one"),
            HostValue::Exception(_) => strange("an exception"),
        }
    }
}
