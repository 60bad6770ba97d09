//! What names stand for around a text, where its caller knows: a closure's.

/// Stands before the name of a parameter, among the names of the surroundings: the parameter is a constant, with this value.
pub const CONSTEXPR: &str = "constexpr$";

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
    /// A value with members, a module or an instance: what messages call it, and the members that are named.
    Members(String, Vec<(String, Name)>),
    /// What is found by a key.
    Dict(Vec<(Name, Name)>),
    /// A part of the language by its full name: `pl`, `pl.FP32`, `pl.add`.
    Path(String),
    /// A function of the text, which may have another name there.
    Function(String),
    /// A function with arguments that each of its calls has: those in order, and those by name.
    Partial(Box<Name>, Vec<Name>, Vec<(String, Name)>),
}
