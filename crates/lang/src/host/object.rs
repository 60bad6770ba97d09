//! Classes, instances and their members.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::Expr;
use slipring_ir::Span;

use super::key::NoKey;
use super::tensors;
use super::value::{Class, Given, HostValue, Made, Object, Wrapped};
use crate::host::limits::MOST_VALUES;
use crate::host::state::Host;
use crate::host::value::{Frame, Kind, unknown};
use crate::value::{Const, Strange};

/// Methods of kernels that return the kernel.
pub(super) const OF_KERNELS: &[&str] = &["lower", "compile", "compile_for_test", "warmup", "run", "__call__"];

impl<'a> Host<'a> {
    /// A member of a value.
    pub(super) fn attribute(&mut self, base: HostValue<'a>, name: &str, span: Span) -> HostValue<'a> {
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        match &base {
            HostValue::Path(path) => {
                let full = format!("{path}.{name}");
                if let Some((_, why)) = self.changed.iter().find(|(changed, _)| *changed == full) {
                    return HostValue::Unknown(why.clone());
                }
                if matches!(&*full, "sys.modules" | "sys._getframe" | "gc.get_objects" | "gc.get_referrers") {
                    self.lose_all(span, &format!("what `{full}` may have changed"));
                }
                match crate::members::member(path, name) {
                    Some(constant) => HostValue::Const(constant),
                    None if &*full == "math.tau" => HostValue::Const(Const::Float(std::f64::consts::TAU)),
                    None => HostValue::Path(crate::words::language(&full).unwrap_or(&full).into()),
                }
            }
            HostValue::Object(object) if object.class.is_some() => self.member(&base, object, name, span),
            // A module of the file, or a surrounding value.
            HostValue::Object(object) => match object.fields.get(name) {
                Some(value) => value,
                None => unknown(span, format!("`{name}` of {}", object.what)),
            },
            HostValue::Class(class) => self.class_member(class, name, &base, span),
            HostValue::Super(inner) => {
                let (instance, class) = (inner.0.clone(), inner.1.clone());
                self.super_member(&instance, &class, name, span)
            }
            HostValue::Device(view) if name == "shape" => {
                HostValue::tuple(view.shape.iter().map(|n| HostValue::int(*n as i64)).collect())
            }
            HostValue::Device(view) if name == "dtype" => {
                HostValue::Const(Const::DType(crate::dtype::DType::Elem(view.elem)))
            }
            HostValue::Tensor(tensor) => {
                tensors::member(tensor, name, span).unwrap_or_else(|| self.method_of(&base, name))
            }
            HostValue::Unknown(why) => HostValue::Unknown(why.clone()),
            HostValue::Exception(exception) if name == "args" => HostValue::tuple(exception.1.clone()),
            HostValue::Range(first, end, step) if matches!(name, "start" | "stop" | "step") => {
                HostValue::int(match name {
                    "start" => *first,
                    "stop" => *end,
                    _ => *step,
                })
            }
            HostValue::Const(Const::Int(_) | Const::Bool(_) | Const::Float(_)) if name == "real" => base,
            HostValue::Function(_) | HostValue::Bound(_) | HostValue::Method(_) | HostValue::Iter(_) => {
                if name == "__name__"
                    && let HostValue::Function(function) = &base
                    && !function.renamed.get()
                {
                    return HostValue::str(function.name());
                }
                self.lost_in(std::slice::from_ref(&base), span, &format!("`{name}` of a function"))
            }
            _ if name.starts_with("__") && !matches!(base, HostValue::Kernel(_)) => {
                self.lost_in(std::slice::from_ref(&base), span, &format!("`{name}` of a value"))
            }
            // Members of a compiled kernel are not modelled, and any other method cannot be distinguished from them.
            HostValue::Kernel(_) if !OF_KERNELS.contains(&name) => unknown(span, format!("`{name}` of a kernel")),
            _ => self.method_of(&base, name),
        }
    }

    fn method_of(&mut self, base: &HostValue<'a>, name: &str) -> HostValue<'a> {
        self.costs();
        HostValue::Method(Rc::new((base.clone(), name.into())))
    }

    /// A member of an instance.
    fn member(&mut self, base: &HostValue<'a>, object: &Rc<Object<'a>>, name: &str, span: Span) -> HostValue<'a> {
        let Some(class) = object.class.clone() else { return unknown(span, "a member") };
        if let Some(why) = object.fields.all_lost() {
            return HostValue::Unknown(why);
        }
        if class.find("__getattribute__").is_some() {
            return self.lost_in(std::slice::from_ref(base), span, &format!("`{name}` of {}", object.what));
        }
        let shared = class.find(name);
        if let Some(HostValue::Wrapped(wrapped)) = &shared
            && let Wrapped::Property(read, _) = &**wrapped
        {
            return self.call_value(read.clone(), vec![(None, base.clone())], span, &|| name.into());
        }
        let descriptor = shared.clone().filter(|value| self.has(value, "__get__"));
        // A data descriptor takes precedence over the fields of the instance.
        let first = descriptor.as_ref().is_some_and(|value| self.has(value, "__set__"));
        if let Some(own) = object.fields.get(name).filter(|_| !first) {
            return own;
        }
        if let Some(value) = descriptor {
            let given = vec![(None, base.clone()), (None, HostValue::Class(class))];
            return self.special(&value, "__get__", given, span).unwrap_or_else(|| unknown(span, "a descriptor"));
        }
        if &*object.what == super::library::PARSER {
            return self.method_of(base, name);
        }
        match shared {
            Some(value @ HostValue::Function(_)) => {
                self.costs();
                HostValue::Bound(Rc::new((base.clone(), value)))
            }
            Some(HostValue::Wrapped(wrapped)) => match &*wrapped {
                Wrapped::Static(inner) => inner.clone(),
                Wrapped::OfClass(inner) => HostValue::Bound(Rc::new((HostValue::Class(class.clone()), inner.clone()))),
                _ => HostValue::Bound(Rc::new((base.clone(), HostValue::Wrapped(wrapped.clone())))),
            },
            Some(value @ (HostValue::Kernel(_) | HostValue::Class(_))) => value,
            // It may be a descriptor, whose function is called with the instance.
            Some(HostValue::Unknown(why)) if matches!(why.is, Strange::Decorated) => {
                self.let_go(std::slice::from_ref(base), span, &format!("`{name}`, which a decorator made,"));
                HostValue::Unknown(why)
            }
            Some(value) => match &*class.foreign.borrow() {
                Some(why) => HostValue::Unknown(why.clone()),
                None => value,
            },
            None if name == "__class__" => HostValue::Class(class),
            None => {
                let foreign = class.foreign.borrow().clone();
                if let Some(why) = foreign {
                    self.lose(base, &why);
                    return HostValue::Unknown(why);
                }
                if class.find("__getattr__").is_some() || name.starts_with("__") || class.made.get().named_tuple {
                    return self.lost_in(std::slice::from_ref(base), span, &format!("`{name}` of {}", object.what));
                }
                if class.exception.is_some() {
                    return unknown(span, format!("`{name}` of {}", object.what));
                }
                self.fail("AttributeError", format!("'{}' object has no attribute '{name}'", class.name), span)
            }
        }
    }

    fn class_member(&mut self, class: &Rc<Class<'a>>, name: &str, base: &HostValue<'a>, span: Span) -> HostValue<'a> {
        match class.find(name) {
            Some(HostValue::Wrapped(wrapped)) => match &*wrapped {
                Wrapped::Static(inner) => inner.clone(),
                Wrapped::OfClass(inner) => HostValue::Bound(Rc::new((base.clone(), inner.clone()))),
                Wrapped::Property(..) => unknown(span, format!("the property `{name}` of a class")),
                _ => HostValue::Wrapped(wrapped.clone()),
            },
            Some(value @ (HostValue::Function(_) | HostValue::Kernel(_) | HostValue::Class(_))) => value,
            Some(value) if self.has(&value, "__get__") => {
                let given = vec![(None, HostValue::none()), (None, HostValue::Class(class.clone()))];
                self.special(&value, "__get__", given, span).unwrap_or_else(|| unknown(span, "a descriptor"))
            }
            Some(value) => match &*class.foreign.borrow() {
                Some(why) => HostValue::Unknown(why.clone()),
                None => value,
            },
            None if name == "__name__" => HostValue::str(class.name.clone()),
            None => {
                let why = format!("`{name}` of the class `{}`, which does not define it", class.name);
                let foreign = class.foreign.borrow().clone();
                if let Some(why) = foreign {
                    return HostValue::Unknown(why);
                }
                if self.recorder.is_some() {
                    // The caller reports it.
                    return unknown(span, why);
                }
                if name.starts_with("__") || class.exception.is_some() || class.made.get() != Made::default() {
                    return self.lost_in(std::slice::from_ref(base), span, &why);
                }
                self.fail("AttributeError", format!("type object '{}' has no attribute '{name}'", class.name), span)
            }
        }
    }

    fn super_member(
        &mut self,
        instance: &HostValue<'a>,
        class: &Rc<Class<'a>>,
        name: &str,
        span: Span,
    ) -> HostValue<'a> {
        let own = match instance {
            HostValue::Object(object) => object.class.clone(),
            HostValue::Class(class) => Some(class.clone()),
            _ => None,
        };
        let Some(own) = own else { return unknown(span, "what `super()` gives") };
        let order = own.order.borrow().clone();
        let behind = order.iter().skip_while(|other| !Rc::ptr_eq(other, class)).skip(1);
        let found = behind.filter_map(|class| class.names.get(name)).next();
        match found {
            Some(function @ HostValue::Function(_)) => HostValue::Bound(Rc::new((instance.clone(), function))),
            Some(HostValue::Wrapped(wrapped)) => match &*wrapped {
                Wrapped::Static(inner) => inner.clone(),
                Wrapped::OfClass(inner) => HostValue::Bound(Rc::new((HostValue::Class(own), inner.clone()))),
                Wrapped::Property(read, _) => {
                    self.call_value(read.clone(), vec![(None, instance.clone())], span, &|| name.into())
                }
                _ => self.lost_in(std::slice::from_ref(instance), span, "what `super()` gives"),
            },
            Some(value) => value,
            None if name == "__init__" && own.foreign.borrow().is_none() && own.exception.is_none() => {
                HostValue::Path("object.__init__".into())
            }
            // The effect of a base outside the file on its instance is not known.
            None if name == "__init__" => {
                HostValue::Bound(Rc::new((instance.clone(), HostValue::Path("super.__init__".into()))))
            }
            None => self.lost_in(std::slice::from_ref(instance), span, &format!("`{name}` of what `super()` gives")),
        }
    }

    /// True if the class of an instance has a member of this name.
    pub(super) fn has(&self, value: &HostValue<'a>, name: &str) -> bool {
        let HostValue::Object(object) = value else { return false };
        object.class.as_ref().is_some_and(|class| class.find(name).is_some())
    }

    /// Calls a method such as `__add__`, if the class of an instance has it.
    pub(super) fn special(
        &mut self,
        value: &HostValue<'a>,
        name: &'static str,
        given: Given<'a>,
        span: Span,
    ) -> Option<HostValue<'a>> {
        let HostValue::Object(object) = value else { return None };
        if self.raised.is_some() || object.fields.all_lost().is_some() {
            return None;
        }
        let method = object.class.as_ref()?.find(name)?;
        let HostValue::Function(_) = &method else {
            return Some(self.lost_in(&[value.clone(), method], span, "a method of a class"));
        };
        let mut all = vec![(None, value.clone())];
        all.extend(given);
        Some(self.call_value(method, all, span, &|| name.into()))
    }

    /// The name of a value's type, for messages of Python.
    pub(super) fn type_name(&self, value: &HostValue<'a>) -> String {
        match value {
            HostValue::Const(Const::Int(_)) => "int",
            HostValue::Const(Const::Float(_)) => "float",
            HostValue::Const(Const::Bool(_)) => "bool",
            HostValue::Const(Const::Str(_)) => "str",
            HostValue::Const(Const::None) => "NoneType",
            HostValue::Tuple(_) => "tuple",
            HostValue::List(_) => "list",
            HostValue::Dict(_) => "dict",
            HostValue::Set(_) => "set",
            HostValue::Range(..) => "range",
            HostValue::Function(_) | HostValue::Bound(_) => "function",
            HostValue::Object(object) => {
                return object.class.as_ref().map_or("object".into(), |class| class.name.to_string());
            }
            _ => "object",
        }
        .into()
    }

    /// `base.name = value`.
    pub(super) fn set_attribute(&mut self, base: &HostValue<'a>, name: &str, value: HostValue<'a>, span: Span) {
        if self.raised.is_some() {
            return;
        }
        let why = |what: String| Rc::new(crate::value::Unknown::new(span, what));
        match base {
            HostValue::Object(object) => {
                if let Some(class) = &object.class {
                    if let Some(HostValue::Wrapped(wrapped)) = class.find(name)
                        && let Wrapped::Property(_, set) = &*wrapped
                    {
                        match set {
                            Some(set) => {
                                let given = vec![(None, base.clone()), (None, value)];
                                self.call_value(set.clone(), given, span, &|| name.into());
                            }
                            None => drop(self.fail("AttributeError", format!("property '{name}' has no setter"), span)),
                        }
                        return;
                    }
                    if let Some(descriptor) = class.find(name).filter(|own| self.has(own, "__set__")) {
                        let given = vec![(None, base.clone()), (None, value)];
                        self.special(&descriptor, "__set__", given, span);
                        return;
                    }
                    if object.fields.frozen.get() {
                        self.fail("AttributeError", format!("cannot assign to field '{name}'"), span);
                        return;
                    }
                    if class.find("__setattr__").is_some() || class.find("__slots__").is_some() {
                        let why = why(format!("what `{}` does with what is assigned", class.name));
                        self.lose(base, &why);
                        self.lose(&value, &why);
                        return;
                    }
                }
                self.bind_in(&object.fields.clone(), name, value);
            }
            HostValue::Class(class) => {
                self.bind_in(&class.names.clone(), name, value);
            }
            HostValue::Path(path) => {
                let full = format!("{path}.{name}");
                let why = why(format!("what `{full} = …` changes"));
                self.lose(&value, &why);
                if matches!(&**path, "builtins" | "__builtins__" | "__main__") || path.starts_with("sys.modules") {
                    self.lose_all(span, &format!("what `{full} = …` changes"));
                    for place in &mut self.foreign_star {
                        place.get_or_insert(span);
                    }
                }
                self.changed.push((full, why));
            }
            HostValue::Unknown(_) => {
                let why = why("what is held by something that is not known".into());
                self.lose(&value, &why);
            }
            HostValue::Const(_) | HostValue::Tuple(_) | HostValue::List(_) | HostValue::Dict(_) | HostValue::Set(_) => {
                let what = self.type_name(base);
                self.fail("AttributeError", format!("'{what}' object has no attribute '{name}'"), span);
            }
            other => {
                let why = why("what is assigned to a member of this value".into());
                self.lose(other, &why);
                self.lose(&value, &why);
            }
        }
    }

    /// `base[key] = value`.
    pub(super) fn set_element(&mut self, base: &HostValue<'a>, key: HostValue<'a>, value: HostValue<'a>, span: Span) {
        if self.raised.is_some() {
            return;
        }
        let number = match &key {
            HostValue::Const(Const::Int(n)) => Some(*n),
            HostValue::Const(Const::Bool(b)) => Some(i64::from(*b)),
            _ => None,
        };
        match (base, number) {
            (HostValue::List(items), Some(n)) => {
                self.touch(base);
                let mut own = items.borrow_mut();
                let at = if n < 0 { n.saturating_add(own.len() as i64) } else { n };
                match usize::try_from(at).ok().and_then(|at| own.get_mut(at)) {
                    Some(item) => *item = value,
                    None => {
                        drop(own);
                        self.fail("IndexError", "list assignment index out of range", span);
                    }
                }
            }
            (HostValue::Dict(entries), _) => {
                let own = match self.key(&key, span) {
                    Ok(own) => own,
                    Err(NoKey::Refused(_)) => return,
                    Err(NoKey::NotKnown) => {
                        self.lost_in(&[base.clone(), key, value], span, "a dict with what is not known");
                        return;
                    }
                };
                self.touch(base);
                let mut entries = entries.borrow_mut();
                if entries.len() >= MOST_VALUES && !entries.contains_key(&own) {
                    drop(entries);
                    self.lost_in(
                        std::slice::from_ref(base),
                        span,
                        &format!("a dict of more than {MOST_VALUES} values"),
                    );
                    return;
                }
                let entry = entries.entry(own).or_insert_with(|| (key, HostValue::none()));
                entry.1 = value;
            }
            (HostValue::Object(_), _) if self.has(base, "__setitem__") => {
                self.special(base, "__setitem__", vec![(None, key), (None, value)], span);
            }
            (HostValue::Tuple(_) | HostValue::Const(_), _) => {
                let what = self.type_name(base);
                self.fail("TypeError", format!("'{what}' object does not support item assignment"), span);
            }
            (HostValue::Tensor(_) | HostValue::Device(_), _) => {}
            _ => drop(self.lost_in(&[base.clone(), key, value], span, "what is assigned to a part of this value")),
        }
    }

    /// `base[a:b] = value`.
    pub(super) fn set_slice(&mut self, base: &HostValue<'a>, index: &'a Expr, value: HostValue<'a>, span: Span) {
        let Expr::Slice(slice) = index else { return };
        if matches!(base, HostValue::Tensor(_) | HostValue::Device(_)) || self.raised.is_some() {
            return;
        }
        let HostValue::List(items) = base else {
            drop(self.lost_in(&[base.clone(), value], span, "what is assigned to a part of this value"));
            return;
        };
        let len = items.borrow().len();
        let (bounds, more) = (self.slice_of(slice, len), self.all_of(&value, span));
        if self.raised.is_some() {
            return;
        }
        let (Some((first, end, step)), Some(more)) = (bounds, more) else {
            drop(self.lost_in(&[base.clone(), value], span, "what is assigned to a part of a list"));
            return;
        };
        self.touch(base);
        super::value::count_made(more.len());
        if step == 1 {
            let (first, end) = (first as usize, end.max(first) as usize);
            items.borrow_mut().splice(first..end, more);
        } else {
            let places: Vec<i64> = super::contents::range(first, end, step).collect();
            if places.len() != more.len() {
                self.fail("ValueError", "attempt to assign sequence to extended slice", span);
                return;
            }
            let mut items = items.borrow_mut();
            for (at, item) in places.into_iter().zip(more) {
                items[at as usize] = item;
            }
        }
        if items.borrow().len() > MOST_VALUES {
            self.lost_in(std::slice::from_ref(base), span, &format!("a list of more than {MOST_VALUES} values"));
        }
    }

    /// `del base[index]`.
    pub(super) fn delete_element(&mut self, base: &HostValue<'a>, index: &'a Expr, span: Span) {
        let keys = match (base, index) {
            (HostValue::List(items), Expr::Slice(slice)) => {
                let len = items.borrow().len();
                match self.slice_of(slice, len) {
                    Some((first, end, step)) => super::contents::range(first, end, step).map(HostValue::int).collect(),
                    None => {
                        drop(self.lost_in(std::slice::from_ref(base), span, "a list of which a part is deleted"));
                        return;
                    }
                }
            }
            _ => vec![self.expr(index)],
        };
        if self.raised.is_some() {
            return;
        }
        self.touch(base);
        match (base, &keys[..]) {
            (HostValue::List(items), keys) if keys.iter().all(|key| matches!(key, HostValue::Const(Const::Int(_)))) => {
                let mut items = items.borrow_mut();
                let len = items.len() as i64;
                let mut places: Vec<i64> = keys
                    .iter()
                    .map(|key| match key {
                        HostValue::Const(Const::Int(n)) if *n < 0 => n.saturating_add(len),
                        HostValue::Const(Const::Int(n)) => *n,
                        _ => -1,
                    })
                    .collect();
                places.sort_unstable();
                if places.iter().any(|at| !(0..len).contains(at)) {
                    drop(items);
                    self.fail("IndexError", "list assignment index out of range", span);
                    return;
                }
                places.iter().rev().for_each(|at| drop(items.remove(*at as usize)));
            }
            (HostValue::Dict(entries), [key]) => match self.key(key, span) {
                Ok(own) => {
                    let found = entries.borrow_mut().shift_remove(&own);
                    if found.is_none() {
                        self.raise(HostValue::Exception(Rc::new(("KeyError".into(), vec![key.clone()]))), span);
                    }
                }
                Err(NoKey::Refused(_)) => {}
                Err(NoKey::NotKnown) => {
                    drop(self.lost_in(std::slice::from_ref(base), span, "a dict of which something is deleted"));
                }
            },
            (HostValue::Object(_), [key]) if self.has(base, "__delitem__") => {
                self.special(base, "__delitem__", vec![(None, key.clone())], span);
            }
            _ => drop(self.lost_in(std::slice::from_ref(base), span, "what something is deleted of")),
        }
    }

    /// A class that only names the type of its instances.
    pub(super) fn plain_class(name: &str) -> Rc<Class<'a>> {
        Rc::new(Class {
            name: name.into(),
            names: Frame::new(Kind::Class, IndexMap::new()),
            order: RefCell::new(Vec::new()),
            fields: RefCell::new(Vec::new()),
            made: std::cell::Cell::new(Made::default()),
            foreign: RefCell::new(None),
            exception: None,
        })
    }
}
