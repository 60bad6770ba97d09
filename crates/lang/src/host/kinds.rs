//! Types of values and their members: `isinstance`, `getattr`, `hasattr`.

use slipring_ir::Span;

use super::value::HostValue;
use crate::host::state::Host;
use crate::value::Const;

impl<'a> Host<'a> {
    /// `isinstance(value, kind)`.
    pub(super) fn is_instance(&mut self, value: &HostValue<'a>, kind: &HostValue<'a>) -> Option<bool> {
        if let HostValue::Unknown(_) = value {
            return None;
        }
        match kind {
            HostValue::Tuple(kinds) => {
                let mut any = Some(false);
                for kind in kinds.iter() {
                    match self.is_instance(value, kind) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => any = None,
                    }
                }
                any
            }
            HostValue::Path(path) => {
                let plain = matches!(
                    value,
                    HostValue::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_) | Const::Str(_) | Const::None)
                        | HostValue::List(_)
                        | HostValue::Tuple(_)
                        | HostValue::Dict(_)
                        | HostValue::Set(_)
                        | HostValue::Function(_)
                        | HostValue::Range(..)
                );
                if &**path == "object" {
                    return Some(true);
                }
                if super::exceptions::exception(path).is_some() {
                    return match value {
                        HostValue::Exception(_) | HostValue::Object(_) => {
                            if self.exception_of(value).is_none() {
                                let HostValue::Object(object) = value else { return None };
                                let class = object.class.as_ref()?;
                                return class.foreign.borrow().is_none().then_some(false);
                            }
                            self.catches(kind, value)
                        }
                        _ if plain => Some(false),
                        _ => None,
                    };
                }
                let types = ["int", "float", "bool", "str", "list", "tuple", "dict", "set", "range"];
                if !types.contains(&&**path) {
                    return None;
                }
                if let HostValue::Object(object) = value {
                    let class = object.class.as_ref()?;
                    if class.made.get().named_tuple {
                        return Some(&**path == "tuple");
                    }
                    return class.foreign.borrow().is_none().then_some(false);
                }
                if !plain {
                    return None;
                }
                let own = self.type_name(value);
                Some(own == **path || (own == "bool" && &**path == "int"))
            }
            HostValue::Class(class) => match value {
                HostValue::Object(object) => {
                    let own = object.class.as_ref()?;
                    match own.is_a(class) {
                        true => Some(true),
                        false => own.foreign.borrow().is_none().then_some(false),
                    }
                }
                HostValue::Const(_) | HostValue::List(_) | HostValue::Tuple(_) | HostValue::Dict(_) => {
                    class.foreign.borrow().is_none().then_some(false)
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn get_attribute(
        &mut self,
        base: &HostValue<'a>,
        name: &str,
        other: Option<&HostValue<'a>>,
        span: Span,
    ) -> HostValue<'a> {
        let Some(other) = other else { return self.attribute(base.clone(), name, span) };
        match self.has_attribute(base, name) {
            Some(true) => self.attribute(base.clone(), name, span),
            Some(false) => other.clone(),
            None => self.lost_in(&[base.clone(), other.clone()], span, "a call of `getattr`"),
        }
    }

    /// True if a value has a member, if that is known.
    pub(super) fn has_attribute(&mut self, base: &HostValue<'a>, name: &str) -> Option<bool> {
        match base {
            HostValue::Object(object) => {
                let Some(class) = &object.class else { return Some(object.fields.borrow().contains_key(name)) };
                if base.lost().is_some() || class.find("__getattribute__").is_some() {
                    return None;
                }
                if object.fields.borrow().contains_key(name) {
                    return Some(true);
                }
                match class.find(name) {
                    Some(HostValue::Wrapped(_)) => None,
                    Some(_) => Some(true),
                    None if name.starts_with("__") || class.find("__getattr__").is_some() => None,
                    None => (class.foreign.borrow().is_none() && class.exception.is_none()).then_some(false),
                }
            }
            HostValue::Class(class) => match class.find(name) {
                Some(_) => Some(true),
                None => (class.foreign.borrow().is_none() && !name.starts_with("__")).then_some(false),
            },
            HostValue::Path(path) if crate::members::member(path, name).is_some() => Some(true),
            HostValue::Path(path) if &**path == "pl" && crate::ops::is_word(name) => Some(true),
            _ => None,
        }
    }
}
