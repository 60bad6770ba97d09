//! Creation of instances: the methods that Python calls for it, and the fields of dataclasses.

use std::rc::Rc;

use indexmap::IndexMap;
use slipring_ir::Span;

use super::value::{Class, Given, HostValue, Object, Wrapped};
use crate::host::state::Host;
use crate::host::value::{Frame, Kind, unknown};

impl<'a> Host<'a> {
    /// The first abstract method that a class does not implement.
    fn abstract_member(&self, class: &Rc<Class<'a>>) -> Option<Rc<str>> {
        if !class.made.get().abstract_base {
            return None;
        }
        let open = |value: &HostValue<'a>| match value {
            HostValue::Function(own) => own.is_abstract.get(),
            HostValue::Wrapped(wrapped) => match &**wrapped {
                Wrapped::Static(HostValue::Function(own))
                | Wrapped::OfClass(HostValue::Function(own))
                | Wrapped::Property(HostValue::Function(own), _) => own.is_abstract.get(),
                _ => false,
            },
            _ => false,
        };
        let order = class.order.borrow();
        let mut names = order.iter().flat_map(|own| own.names.borrow().keys().cloned().collect::<Vec<_>>());
        names.find(|name| class.find(name).is_some_and(|value| open(&value)))
    }

    /// An instance of a class.
    pub(super) fn instance(&mut self, class: &Rc<Class<'a>>, given: Given<'a>, span: Span) -> HostValue<'a> {
        let what: Rc<str> = format!("an instance of `{}`", class.name).into();
        self.costs();
        let fields = Frame::new(Kind::Function, IndexMap::new());
        let object = HostValue::Object(Rc::new(Object { class: Some(class.clone()), what, fields: fields.clone() }));
        let foreign = class.foreign.borrow().clone();
        let init = class.find("__init__");
        if class.find("__new__").is_some() {
            let values: Vec<_> = given.iter().map(|(_, value)| value.clone()).collect();
            return self.lost_in(&values, span, &format!("what `{}` makes of itself", class.name));
        }
        if class.exception.is_some() {
            let args = given.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value.clone()).collect();
            fields.put("args", HostValue::tuple(args));
        }
        if let Some(name) = self.abstract_member(class) {
            let message = format!(
                "Can't instantiate abstract class {} without an implementation for abstract method '{name}'",
                class.name
            );
            return self.fail("TypeError", message, span);
        }
        match (init, foreign) {
            (None, Some(why)) if class.made.get().strange_fields => {
                let values: Vec<_> = given.iter().map(|(_, value)| value.clone()).collect();
                self.let_go(&values, span, &format!("`{}`", class.name));
                self.lose(&object, &why);
            }
            (Some(init), _) => {
                let mut all = vec![(None, object.clone())];
                all.extend(given);
                let result = self.call_value(init, all, span, &|| class.name.to_string());
                if let HostValue::Unknown(why) = &result {
                    let why = why.clone();
                    self.lose(&object, &why);
                }
            }
            (None, _) if class.made.get().init => {
                if !self.fill_fields(class, &object, given, span) {
                    return unknown(span, format!("an instance of `{}`", class.name));
                }
            }
            (None, Some(_)) if given.is_empty() => {}
            (None, Some(why)) => {
                let values: Vec<_> = given.iter().map(|(_, value)| value.clone()).collect();
                self.let_go(&values, span, &format!("`{}`", class.name));
                self.lose(&object, &why);
            }
            (None, None) if !given.is_empty() && class.made.get().program => {
                let values: Vec<_> = given.iter().map(|(_, value)| value.clone()).collect();
                return self.lost_in(&values, span, &format!("a run of the program `{}`", class.name));
            }
            (None, None) if !given.is_empty() && class.exception.is_none() => {
                return self.fail("TypeError", format!("{}() takes no arguments", class.name), span);
            }
            (None, None) => {}
        }
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        object.seen()
    }

    /// Sets the fields of a dataclass or named tuple. False if the arguments do not fit.
    fn fill_fields(&mut self, class: &Rc<Class<'a>>, object: &HostValue<'a>, given: Given<'a>, span: Span) -> bool {
        let HostValue::Object(own) = object else { return false };
        let fields = class.fields.borrow().clone();
        let mut positional = given.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value.clone());
        let mut used = 0;
        for field in &fields {
            let named = given.iter().find(|(name, _)| name.as_ref() == Some(&field.name)).map(|(_, v)| v.clone());
            let by_position = if field.init && !field.keyword_only { positional.next() } else { None };
            used += usize::from(by_position.is_some()) + usize::from(named.is_some());
            let value = match (by_position, named) {
                (Some(_), Some(_)) => None,
                (Some(value), None) | (None, Some(value)) => Some(value).filter(|_| field.init),
                (None, None) => match (&field.default, &field.factory) {
                    (Some(value), _) => Some(value.clone()),
                    (None, Some(make)) => Some(self.call_value(make.clone(), Vec::new(), span, &|| "a field".into())),
                    (None, None) if !field.init => continue,
                    _ => None,
                },
            };
            let Some(value) = value else {
                self.fail(
                    "TypeError",
                    format!("{}() does not get what it asks for: '{}'", class.name, field.name),
                    span,
                );
                return false;
            };
            own.fields.put(&field.name, value);
        }
        if used != given.len() {
            self.fail("TypeError", format!("{}() got an unexpected argument", class.name), span);
            return false;
        }
        if class.made.get().dataclass
            && let Some(after) = class.find("__post_init__")
        {
            self.call_value(after, vec![(None, object.clone())], span, &|| "__post_init__".into());
        }
        own.fields.frozen.set(class.made.get().frozen);
        true
    }
}
