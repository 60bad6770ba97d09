//! Attributes: constants attached to operations.

use std::sync::Arc;

use crate::{Name, Type};

/// An attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Attr {
    /// Present, without a value.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// An integer and its type (`i64` where the text writes none).
    Int(i128, Type),
    /// A float: the bits in its own format, and its type (`f64` where the text writes none).
    Float(u64, Type),
    /// A string.
    Str(Arc<str>),
    /// A type.
    Type(Type),
    /// `@name`.
    Symbol(Arc<str>),
    /// `[…]`.
    Array(Vec<Attr>),
    /// `array<i32: 1, 2>`: element type and values.
    DenseArray(Type, Vec<i128>),
    /// `{…}`.
    Dict(AttrDict),
    /// A member of an enumeration of the `pto` dialect, however spelt (`#pto.pipe<PIPE_V>`, `#pto<pipe PIPE_V>`,
    /// `<PIPE_V>` where the op knows the kind): kind and member.
    Enum(Arc<str>, Arc<str>),
    /// Anything else, as written: `#dialect.name<…>`, `dense<…> : type`.
    Opaque(Arc<str>),
}

impl Attr {
    /// An `i64` integer.
    pub const fn int(value: i64) -> Attr {
        Attr::Int(value as i128, Type::I64)
    }

    /// A member of an enumeration of the `pto` dialect.
    pub fn member(kind: &str, member: &str) -> Attr {
        Attr::Enum(kind.into(), member.into())
    }

    /// The integer, if it is one that fits into 64 bits.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Attr::Int(value, _) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The string, symbol or enumeration member.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Attr::Str(s) | Attr::Symbol(s) | Attr::Enum(_, s) => Some(s),
            _ => None,
        }
    }

    /// The boolean; a unit attribute is true.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Attr::Bool(b) => Some(*b),
            Attr::Unit => Some(true),
            Attr::Int(v, _) => Some(*v != 0),
            _ => None,
        }
    }
}

/// Named attributes in the order of the text.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct AttrDict(Vec<(Name, Attr)>);

impl AttrDict {
    /// The attribute with this name.
    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.0.iter().find(|(n, _)| &**n == name).map(|(_, a)| a)
    }

    /// Sets an attribute; a new one goes to the end.
    pub fn set(&mut self, name: impl Into<Name>, attr: Attr) {
        let name = name.into();
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some((_, slot)) => *slot = attr,
            None => self.0.push((name, attr)),
        }
    }

    /// Removes an attribute.
    pub fn remove(&mut self, name: &str) -> Option<Attr> {
        let at = self.0.iter().position(|(n, _)| &**n == name)?;
        Some(self.0.remove(at).1)
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attr)> {
        self.0.iter().map(|(n, a)| (&**n, a))
    }

    /// The name and the attribute at a position.
    pub fn at(&self, place: usize) -> Option<(&Name, &Attr)> {
        self.0.get(place).map(|(name, attr)| (name, attr))
    }

    /// True if there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<N: Into<Name>> FromIterator<(N, Attr)> for AttrDict {
    fn from_iter<I: IntoIterator<Item = (N, Attr)>>(iter: I) -> AttrDict {
        AttrDict(iter.into_iter().map(|(n, a)| (n.into(), a)).collect())
    }
}

impl<N: Into<Name>, const COUNT: usize> From<[(N, Attr); COUNT]> for AttrDict {
    fn from(attrs: [(N, Attr); COUNT]) -> AttrDict {
        attrs.into_iter().collect()
    }
}

impl IntoIterator for AttrDict {
    type Item = (Name, Attr);
    type IntoIter = std::vec::IntoIter<(Name, Attr)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
