//! What the text layer and the passes need to know of an op: its declaration without its meaning.

use std::any::Any;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hasher};

use indexmap::IndexMap;

use crate::Type;
use crate::function::Part;
use crate::text::CustomSyntax;

/// How many values an operand stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Arity {
    One,
    Optional,
    /// One or none; one only where the operand that is declared before, an optional one, is left out.
    Instead,
    Variadic,
}

/// What an op does to the memory after an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Touch {
    Nothing,
    Read,
    Write,
    ReadWrite,
    /// Works in it: writes it, and leaves nothing that means anything.
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

/// Which types are accepted.
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
    /// How its type is known where the text does not write it.
    pub infer: Infer,
    pub doc: &'static str,
}

/// How the type of a result is known.
#[derive(Clone, Copy, Debug)]
pub enum Infer {
    /// From the text: `type($result)`.
    Written,
    /// Always this one (a function, so that declarations stay constants).
    Fixed(fn() -> Type),
    /// The type of the operand of this position.
    SameAs(usize),
    /// Computed from the types of the operands; `None` where they make no sense.
    From(fn(&[Type]) -> Option<Type>),
}

/// An enumeration of the `pto` dialect.
#[derive(Clone, Copy, Debug)]
pub struct EnumSpec {
    /// Kind, such as `pipe`.
    pub kind: &'static str,
    /// Whether the generic form of an op has members by their number, from 0 in the order of `members`.
    pub numbered: bool,
    /// Members, such as `PIPE_V`.
    pub members: &'static [&'static str],
}

/// What an attribute holds.
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

/// How an op is written.
#[derive(Clone, Copy)]
pub enum Syntax {
    /// Only `"dialect.op"(…) {…} : (…) -> (…)`.
    Generic,
    /// A declarative format; see [`crate::text`] for its language.
    Format(&'static str),
    /// `ins(%a, %b {attrs} : T, T) outs(%d : T) {attrs}`: the first `n` operands are read, the others written.
    /// The attributes are printed inside `ins` if `attrs_in_ins`, and read in both places; after `outs` also one by one,
    /// `name = value`.
    InsOuts {
        /// Declared operands inside `ins`.
        ins: usize,
        /// Where attributes are printed.
        attrs_in_ins: bool,
    },
    /// Irregular text: hand-written.
    Custom(&'static dyn CustomSyntax),
}

impl std::fmt::Debug for Syntax {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Syntax::Generic => f.write_str("Generic"),
            Syntax::Format(text) => write!(f, "Format({text:?})"),
            Syntax::InsOuts { ins, attrs_in_ins } => write!(f, "InsOuts({ins}, {attrs_in_ins})"),
            Syntax::Custom(_) => f.write_str("Custom"),
        }
    }
}

/// How control passes through the regions of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Each region runs once, one after another.
    Once,
    /// At most one of them runs.
    OneOf,
    /// They run one after another, again and again, perhaps never.
    Repeat,
}

/// The declaration of an op, without its meaning.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct OpSchema {
    /// Full name, such as `pto.tadd`.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    pub syntax: Syntax,
    pub operands: &'static [OperandSpec],
    /// The operands in the order of the generic form, where that is another one.
    pub generic: &'static [&'static str],
    pub results: &'static [ResultSpec],
    pub attrs: &'static [AttrSpec],
    /// Number of regions and the name of each.
    pub regions: &'static [&'static str],
    /// How control passes through them.
    pub flow: Flow,
    /// True for an op that ends its block.
    pub terminator: bool,
    /// What it is among functions and calls.
    pub part: Part,
    /// The attribute with the value, for an op whose result is a constant.
    pub constant: Option<&'static str>,
}

impl OpSchema {
    /// The same with another order of the operands in the generic form.
    pub const fn in_generic_form(self, generic: &'static [&'static str]) -> OpSchema {
        OpSchema { generic, ..self }
    }

    /// Places of the operands in the order of the generic form.
    pub fn generic_order(&self) -> Vec<usize> {
        match self.generic {
            [] => (0..self.operands.len()).collect(),
            names => names.iter().filter_map(|name| self.operands.iter().position(|own| own.name == *name)).collect(),
        }
    }

    /// The declared operand of this name.
    pub fn operand(&self, name: &str) -> Option<&'static OperandSpec> {
        self.operands.iter().find(|spec| spec.name == name)
    }
}

/// What declares an op: its schema, and more that only those who made the declaration know. An op of a module carries it.
pub trait Declaration: Any + Debug + Sync {
    /// What the text layer needs of it.
    fn schema(&self) -> &OpSchema;
}

impl Declaration for OpSchema {
    fn schema(&self) -> &OpSchema {
        self
    }
}

/// The declared ops, by name and by every alias.
#[derive(Default, Debug)]
pub struct Registry {
    by_name: IndexMap<&'static str, &'static dyn Declaration, BuildHasherDefault<NameHasher>>,
    /// Attributes that may stand on any op and have no meaning to the program; one that ends in a dot stands for all that begin so.
    pub hints: &'static [&'static str],
}

/// Hashes names of ops. The table holds only declared ones, which every process puts into it: nobody can make them collide.
#[derive(Default, Debug)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    /// What ends a text: the length of its words tells names apart well enough.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

impl Registry {
    /// A registry of these declarations.
    ///
    /// # Panics
    /// If two of them claim the same name: a mistake in the declarations, found by any test.
    pub fn new<D: Declaration>(declarations: impl IntoIterator<Item = &'static D>) -> Registry {
        let declarations = declarations.into_iter();
        let names = declarations.size_hint().0;
        let mut by_name: IndexMap<_, &'static dyn Declaration, _> =
            IndexMap::with_capacity_and_hasher(names, BuildHasherDefault::default());
        for declaration in declarations {
            let schema = declaration.schema();
            for name in std::iter::once(&schema.name).chain(schema.aliases) {
                assert!(by_name.insert(*name, declaration).is_none(), "`{name}` is declared twice");
            }
        }
        Registry { by_name, hints: &[] }
    }

    /// The declaration of a name or alias.
    pub fn get(&self, name: &str) -> Option<&'static dyn Declaration> {
        self.by_name.get(name).copied()
    }

    /// True for an attribute that may stand on any op and means nothing to the program.
    pub fn is_hint(&self, name: &str) -> bool {
        self.hints.iter().any(|known| match known.strip_suffix('.') {
            Some(dialect) => name.strip_prefix(dialect).is_some_and(|rest| rest.starts_with('.')),
            None => name == *known,
        })
    }

    /// Every name and alias, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.by_name.keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// True if ops of this dialect, such as `pto`, are declared.
    pub fn has_dialect(&self, dialect: &str) -> bool {
        self.by_name.keys().any(|name| name.split_once('.').is_some_and(|(of, _)| of == dialect))
    }
}
