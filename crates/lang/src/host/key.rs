//! Keys of dicts and members of sets: values that are equal in Python have the same key.

use std::rc::Rc;

use slipring_ir::Span;

use super::value::HostValue;
use crate::host::state::Host;
use crate::host::value::Key;
use crate::value::Const;

/// Maximum nesting depth of tuples in a key.
const MOST_DEPTH: usize = 20;

/// The key of a value; `None` if it is not known.
pub(super) fn key_of(value: &HostValue<'_>) -> Option<Key> {
    key_within(value, 0)
}

fn key_within(value: &HostValue<'_>, depth: usize) -> Option<Key> {
    if depth > MOST_DEPTH {
        return None;
    }
    let place = |at: *const ()| Some(Key::Place(at as usize));
    Some(match value {
        HostValue::Const(c) => return key_of_const(c),
        HostValue::Tuple(items) => {
            Key::Tuple(items.iter().map(|item| key_within(item, depth + 1)).collect::<Option<Vec<Key>>>()?)
        }
        HostValue::Path(path) => Key::Word("path", path.to_string()),
        HostValue::Dynamic(name) => Key::Word("dynamic", name.to_string()),
        HostValue::Kernel(kernel) => Key::Word("kernel", kernel.to_string()),
        HostValue::Task(task) => Key::Word("task", task.to_string()),
        HostValue::Class(class) if class.foreign.borrow().is_none() => return place(Rc::as_ptr(class).cast()),
        HostValue::Function(function) => return place(Rc::as_ptr(function).cast()),
        HostValue::Object(object) => {
            let class = object.class.as_ref()?;
            let plain = class.foreign.borrow().is_none() && !class.made.get().eq && !class.made.get().named_tuple;
            let own = class.find("__eq__").is_some() || class.find("__hash__").is_some();
            return if plain && !own { place(Rc::as_ptr(object).cast()) } else { None };
        }
        _ => return None,
    })
}

/// The key of a constant.
pub(super) fn key_of_const(value: &Const) -> Option<Key> {
    Some(match value {
        Const::None => Key::None,
        Const::Int(n) => Key::Int(*n),
        Const::Bool(b) => Key::Int(i64::from(*b)),
        Const::Float(x) if x.is_nan() => return None,
        // Within 64 bits; beyond that no integer of the language is equal.
        Const::Float(x) if x.fract() == 0.0 && x.abs() < 9.2e18 => Key::Int(*x as i64),
        Const::Float(x) => Key::Float(x.to_bits()),
        Const::Str(text) => Key::Str(text.clone()),
        Const::DType(ty) => Key::Word("dtype", ty.name().into()),
        Const::Space(space) => Key::Word("space", space.to_string()),
        Const::Split(mode) => Key::Word("split", crate::value::split_name(*mode).into()),
        Const::Member(kind, name) => Key::Word(kind, name.to_string()),
    })
}

/// The type of a value that is unhashable in Python. A set might be a frozen one, which is hashable.
pub(super) fn unhashable(value: &HostValue<'_>) -> Option<&'static str> {
    match value {
        HostValue::List(_) => Some("list"),
        HostValue::Dict(_) => Some("dict"),
        _ => None,
    }
}

/// The first part of a value that is unhashable.
fn refused(value: &HostValue<'_>, depth: usize) -> Option<&'static str> {
    match value {
        HostValue::Tuple(items) if depth < MOST_DEPTH => items.iter().find_map(|item| refused(item, depth + 1)),
        _ => unhashable(value),
    }
}

/// The reason why a value has no key.
pub(super) enum NoKey<'a> {
    /// Python rejects it: the raised exception.
    Refused(HostValue<'a>),
    /// It is not known well enough.
    NotKnown,
}

impl<'a> Host<'a> {
    /// The key of a value; raises Python's `TypeError` if the value is unhashable.
    pub(super) fn key(&mut self, value: &HostValue<'a>, span: Span) -> Result<Key, NoKey<'a>> {
        match (key_of(value), refused(value, 0)) {
            (Some(key), _) => Ok(key),
            (None, Some(kind)) => {
                Err(NoKey::Refused(self.fail("TypeError", format!("unhashable type: '{kind}'"), span)))
            }
            (None, None) => Err(NoKey::NotKnown),
        }
    }
}
