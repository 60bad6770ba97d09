//! Parts of an op's declaration.

use std::fmt::Debug;

use crate::Type;

/// The number of values of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Arity {
    One,
    Optional,
    /// One or none; one only if the operand declared before it, an optional one, is omitted.
    Instead,
    Variadic,
}

/// The access of an op to the memory of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Touch {
    Nothing,
    Read,
    Write,
    ReadWrite,
    /// Working memory: it is written, and its contents afterwards are undefined.
    Scratch,
}

impl Touch {
    /// True if it reads.
    pub const fn reads(self) -> bool {
        matches!(self, Touch::Read | Touch::ReadWrite)
    }

    /// True if it writes.
    pub const fn writes(self) -> bool {
        matches!(self, Touch::Write | Touch::ReadWrite | Touch::Scratch)
    }
}

/// A rule for the accepted types.
#[derive(Clone, Copy)]
pub struct TypeRule {
    /// For messages and the reference page: `a tile`, `an integer or index` …
    pub describe: &'static str,
    /// The rule.
    pub accepts: fn(&Type) -> bool,
}

impl std::fmt::Debug for TypeRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.describe)
    }
}

/// A declared operand.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct OperandSpec {
    pub name: &'static str,
    pub arity: Arity,
    pub ty: TypeRule,
    pub touch: Touch,
    /// With units.
    pub doc: &'static str,
}

/// A declared result.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ResultSpec {
    pub name: &'static str,
    pub arity: Arity,
    pub ty: TypeRule,
    /// How its type is determined if the text does not give it.
    pub infer: Infer,
    pub doc: &'static str,
}

/// How the type of a result is determined.
#[derive(Clone, Copy, Debug)]
pub enum Infer {
    /// From the text: `type($result)`.
    Written,
    /// Always this one (a function, so that declarations stay constants).
    Fixed(fn() -> Type),
    /// The type of the operand with this index.
    SameAs(usize),
    /// Computed from the types of the operands; `None` if they are inconsistent.
    From(fn(&[Type]) -> Option<Type>),
}

/// An enumeration of the `pto` dialect.
#[derive(Clone, Copy, Debug)]
pub struct EnumSpec {
    /// Kind, such as `pipe`.
    pub kind: &'static str,
    /// Whether the generic form of an op gives members by index, from 0 in the order of `members`.
    pub numbered: bool,
    /// Members, such as `PIPE_V`.
    pub members: &'static [&'static str],
}

/// Words of which an attribute has some, in a dialect's own spelling.
#[derive(Clone, Copy, Debug)]
pub struct FlagsSpec {
    /// What stands before the `<` in full: `#arith.overflow`.
    pub head: &'static str,
    /// The words, such as `nsw`.
    pub words: &'static [&'static str],
}

impl FlagsSpec {
    /// The words of an attribute that is written in full, `head<a, b>`; none if it is another one or has another word.
    pub fn read<'a>(&self, whole: &'a str) -> Option<Vec<&'a str>> {
        let words = whole.strip_prefix(self.head)?.strip_prefix('<')?.strip_suffix('>')?;
        let words: Vec<&str> = words.split(',').map(str::trim).collect();
        words.iter().all(|word| self.words.contains(word)).then_some(words)
    }

    /// The attribute in full.
    pub fn whole(&self, words: &[&str]) -> String {
        format!("{}<{}>", self.head, words.join(", "))
    }
}

/// The kind of value in an attribute.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum AttrKind {
    Int,
    Bool,
    Str,
    Symbol,
    Unit,
    Type,
    Enum(&'static EnumSpec),
    /// Words that may stand together: `<nsw, nuw>`, in full `#arith.overflow<nsw, nuw>`. Kept as [`Attr::Opaque`](crate::Attr).
    Flags(&'static FlagsSpec),
    /// A list of integers.
    Numbers,
    Any,
}

/// A declared attribute.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct AttrSpec {
    pub name: &'static str,
    pub kind: AttrKind,
    pub required: bool,
    pub doc: &'static str,
}

/// The control flow through the regions of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Each region runs once, one after another.
    Once,
    /// At most one of them runs.
    OneOf,
    /// They run one after another, again and again, perhaps never.
    Repeat,
}

/// The role of an op among functions and calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Part {
    /// Neither.
    #[default]
    None,
    /// Contains functions.
    Module,
    /// A function: its region is its body, and names inside are not seen from outside.
    Function,
    /// A call: its operands are the arguments.
    Call,
}
