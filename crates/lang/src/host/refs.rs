//! Values of names in the text of a function, looked up as in Python after the host code of the file has run.

use std::rc::Rc;

use ruff_python_ast::Expr;

use super::value::Wrapped;
use super::{Found, HostValue};
use crate::host::state::Host;

/// The names that a function sees.
pub(crate) struct Refs<'k, 'a> {
    host: &'k Host<'a>,
    found: &'k Found<'a>,
}

impl<'k, 'a> Refs<'k, 'a> {
    /// Those of the function with this index.
    pub fn of(host: &'k Host<'a>, at: usize) -> Refs<'k, 'a> {
        Refs { host, found: &host.found[at] }
    }

    /// The function of the language that an expression refers to, by index; for one that is made again at each call of
    /// a function, the first.
    pub fn kernel(&self, expr: &Expr) -> Option<usize> {
        self.position(&self.value(expr)?)
    }

    /// The full name of a part of the language or of a library.
    pub fn path(&self, expr: &Expr) -> Option<Rc<str>> {
        match self.value(expr)? {
            HostValue::Path(path) => Some(path),
            _ => None,
        }
    }

    fn position(&self, value: &HostValue<'a>) -> Option<usize> {
        match value {
            HostValue::Kernel(at) => Some(self.host.first(*at)),
            HostValue::Bound(own) => self.position(&own.0),
            HostValue::Wrapped(own) => match &**own {
                Wrapped::Static(inner) | Wrapped::OfClass(inner) | Wrapped::Partial(inner, _) => self.position(inner),
                Wrapped::Property(..) | Wrapped::Cached(..) => None,
            },
            _ => None,
        }
    }

    fn value(&self, expr: &Expr) -> Option<HostValue<'a>> {
        match expr {
            Expr::Name(name) => self.named(name.id.as_str()),
            Expr::Attribute(own) => match self.value(&own.value)? {
                HostValue::Path(path) => Some(HostValue::Path(format!("{path}.{}", own.attr).into())),
                HostValue::Class(class) => class.find(&own.attr),
                HostValue::Object(object) => {
                    object.fields.get(&own.attr).or_else(|| object.class.as_ref()?.find(&own.attr))
                }
                _ => None,
            },
            // Which one it is does not matter if all are of the same kind.
            Expr::Subscript(own) => match self.value(&own.value)? {
                HostValue::Dict(entries) => entries.borrow().values().next().map(|(_, value)| value.clone()),
                HostValue::List(items) => items.borrow().first().cloned(),
                HostValue::Tuple(items) => items.first().cloned(),
                _ => None,
            },
            _ => None,
        }
    }

    fn named(&self, name: &str) -> Option<HostValue<'a>> {
        let own = self.found;
        let mut parameters = own.def.parameters.iter_non_variadic_params().map(|one| one.name().as_str());
        match parameters.position(|parameter| parameter == name) {
            Some(0) if own.class.is_some() => return own.class.clone().map(HostValue::Class),
            Some(_) => return None,
            None => {}
        }
        own.scopes.iter().rev().find_map(|scope| scope.get(name)).or_else(|| {
            let names = self.host.module_names.get(own.module)?.as_ref()?;
            names.get(name)
        })
    }
}
