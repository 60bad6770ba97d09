//! Values of names around a text, if its caller knows them: those of a closure.

use std::ops::Range;
use std::rc::Rc;

use slipring_ir::Elsewhere;

/// The type of a parameter that is a constant of its kernel.
pub(crate) const CONSTEXPR: &str = "pl.constexpr";

/// The surrounding name whose value is that of a constant parameter (`pl.constexpr`).
pub(crate) fn constexpr(name: &str) -> Rc<str> {
    format!("constexpr${name}").into()
}

/// Values of names around a text that its caller assembled from functions of several places.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Names {
    /// Names for the whole text.
    pub whole: Vec<(String, Name)>,
    /// The functions. Empty if the text comes from a single place.
    pub parts: Vec<Part>,
    /// Ranges of the text that come from other files.
    pub elsewhere: Vec<Elsewhere>,
}

/// A function of an assembled text.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// Its range in the text, in bytes. A function that was made several times occurs only once.
    pub range: Range<u32>,
    /// Values of names in it.
    pub own: Vec<(String, Name)>,
    /// The prefix for its name if another function has the same one: its module, and its enclosing definitions.
    pub within: Vec<String>,
}

/// The value of a surrounding name.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Name {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A string.
    Str(String),
    /// Nothing.
    None,
    /// Several values.
    Tuple(Vec<Name>),
    /// A value with members: a module or an instance.
    Members(Members),
    /// A dict.
    Dict {
        /// Equal for the same dict under other names.
        same: u64,
        /// Keys and values.
        entries: Vec<(Name, Name)>,
    },
    /// A part of the language, by full name: `pl`, `pl.FP32`, `pl.add`.
    Path(String),
    /// A function of the language that is not in the text: its name.
    Function(String),
    /// A function of an assembled text, by its index in [`Names::parts`].
    Part(usize),
    /// A function with bound arguments, as from `functools.partial`: positional ones, and those by name.
    Partial(Box<Name>, Vec<Name>, Vec<(String, Name)>),
}

/// A value with members.
#[derive(Clone, PartialEq, Debug)]
pub struct Members {
    /// Its description in messages.
    pub what: String,
    /// Equal for the same value under other names.
    pub same: u64,
    /// The members that the text uses.
    pub fields: Vec<(String, Name)>,
}
