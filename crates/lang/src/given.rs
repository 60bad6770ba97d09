//! What names stand for around a text, where its caller knows: a closure's.

use std::ops::Range;

use slipring_ir::Elsewhere;

/// Stands before the name of a parameter, among the names of the surroundings: the parameter is a constant, with this value.
pub const CONSTEXPR: &str = "constexpr$";

/// What names stand for around a text that its caller put together of functions from several places.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Names {
    /// Around all of it.
    pub whole: Vec<(String, Name)>,
    /// The functions. None where the text is that of one place.
    pub parts: Vec<Part>,
    /// What of the text comes from other files.
    pub elsewhere: Vec<Elsewhere>,
}

/// A function of a text that was put together.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// Where it stands in the text, in bytes. A function that was made several times stands there once.
    pub range: Range<u32>,
    /// What names stand for in it.
    pub own: Vec<(String, Name)>,
    /// What stands before its name where another function has the same: its module, and what it was defined in.
    pub within: Vec<String>,
}

/// What a name of the surroundings stands for.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Name {
    /// A whole number.
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
    /// A value with members, a module or an instance.
    Members(Members),
    /// What is found by a key.
    Dict {
        /// The same number for the same dict under other names.
        same: u64,
        /// Keys and what they stand for.
        entries: Vec<(Name, Name)>,
    },
    /// A part of the language by its full name: `pl`, `pl.FP32`, `pl.add`.
    Path(String),
    /// A function of the language that is no part of the text: its name.
    Function(String),
    /// A function of a text that was put together, by its position among [`Names::parts`].
    Part(usize),
    /// A function with arguments that each of its calls has: those in order, and those by name.
    Partial(Box<Name>, Vec<Name>, Vec<(String, Name)>),
}

/// A value with members.
#[derive(Clone, PartialEq, Debug)]
pub struct Members {
    /// What messages call it.
    pub what: String,
    /// The same number for the same value under other names.
    pub same: u64,
    /// The members that are named.
    pub fields: Vec<(String, Name)>,
}
