//! Declarations of ops, the modules whose ops carry them, and the readers and writers of an op's text.
//!
//! These refer to each other: a declaration may have custom syntax, which is parsed into a module, whose ops carry
//! declarations.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use smallvec::SmallVec;

use crate::entities::{Block, Region, Value};
use crate::specs::{AttrSpec, Flow, OperandSpec, Part, ResultSpec};
use crate::text::kept::{Format, Labels, Marks, Names, Scope};
use crate::text::lexer::Cursor;
use crate::{Attr, AttrDict, BlockId, Diags, Name, OpId, RegionId, Reported, Source, Span, Type, ValueId};

/// The syntax of an op.
#[derive(Clone, Copy)]
pub enum Syntax {
    /// Only `"dialect.op"(…) {…} : (…) -> (…)`.
    Generic,
    /// A declarative format; see [`crate::text`] for its language.
    Format(&'static str),
    /// `ins(%a, %b {attrs} : T, T) outs(%d : T) {attrs}`: the first `n` operands are read, the others written. The
    /// attributes are printed inside `ins` if `attrs_in_ins`, and accepted in both positions; after `outs` also one by
    /// one, `name = value`.
    InsOuts {
        /// Declared operands inside `ins`.
        ins: usize,
        /// Where attributes are printed.
        attrs_in_ins: bool,
    },
    /// Irregular syntax: hand-written code.
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

/// The declaration of an op, without its semantics.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct OpSchema {
    /// Full name, such as `pto.tadd`.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    pub syntax: Syntax,
    pub operands: &'static [OperandSpec],
    /// The operands in the order of the generic form, if that differs.
    pub generic: &'static [&'static str],
    pub results: &'static [ResultSpec],
    pub attrs: &'static [AttrSpec],
    /// Number of regions and the name of each.
    pub regions: &'static [&'static str],
    /// The control flow through them.
    pub flow: Flow,
    /// True for an op that ends its block.
    pub terminator: bool,
    /// Its role among functions and calls.
    pub part: Part,
    /// The attribute that holds the value, for an op whose result is a constant.
    pub constant: Option<&'static str>,
}

/// The declaration of an op: its schema, and further data known only to its author. Every declared op of a module
/// carries one.
pub trait Declaration: Any + Debug + Sync {
    /// The part that the text layer needs.
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
    pub(crate) by_name: IndexMap<&'static str, &'static dyn Declaration, BuildHasherDefault<NameHasher>>,
    /// Attributes that are allowed on any op and have no meaning to the program; one that ends in a dot is a prefix.
    pub hints: &'static [&'static str],
}

/// Hashes names of ops. The table holds only declared names, which are the same in every process: nobody can provoke
/// collisions.
#[derive(Default, Debug)]
pub(crate) struct NameHasher(u64);

impl Hasher for NameHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    /// The terminator of a string: its length in words distinguishes names well enough.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// Name, such as `pto.tadd`: the declaration's own spelling if there is one.
    pub name: Name,
    /// Its declaration; `None` for an undeclared op, kept in generic form.
    pub declaration: Option<&'static dyn Declaration>,
    /// Operands, in the order of the declaration.
    pub operands: SmallVec<[ValueId; 4]>,
    /// For each declared operand, the number of values in its group (0 or 1 unless variadic). Empty without a
    /// declaration.
    pub segments: SmallVec<[u16; 4]>,
    /// Results.
    pub results: SmallVec<[ValueId; 1]>,
    /// The blocks that may run next, by position in the region around it: for an op that branches.
    pub successors: SmallVec<[u32; 2]>,
    /// Attributes.
    pub attrs: AttrDict,
    /// Regions.
    pub regions: SmallVec<[RegionId; 1]>,
    /// Its location in the text.
    pub span: Span,
    /// `loc(…)` as written, without the word: kept and printed.
    pub loc: Option<Arc<str>>,
    /// The block it is in; `None` once it is removed.
    pub block: Option<BlockId>,
}

/// The operations of a source file. The top block holds `builtin.module`s, or functions if the file has no module.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text it was read from.
    pub source: Arc<Source>,
    /// Operations at the top of the file.
    pub top: BlockId,
    pub(crate) ops: Vec<Op>,
    pub(crate) values: Vec<Value>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) regions: Vec<Region>,
}

/// The spelling of one version of a tool.
#[derive(Debug)]
pub struct Spelling {
    /// Kinds of enumerations that are written as `#pto<kind member>` instead of `#pto.kind<member>`.
    pub inner: &'static [&'static str],
    /// Kinds whose whole attribute is written in an op's format, `#pto.kind<member>` instead of `<member>` alone.
    pub whole: &'static [&'static str],
    /// Integer attributes that are written with their type: op, attribute, type.
    pub typed: &'static [(&'static str, &'static str, &'static str)],
    /// Ops for which one attribute inside `ins(…)` follows a comma like another operand, and the others follow
    /// `outs(…)`.
    pub comma: &'static [(&'static str, &'static str)],
    /// Ops for which each operand inside `ins(…)` is followed by its type: `ins(%a : T, %b : T)`.
    pub one_by_one: &'static [&'static str],
    /// True if ops of all dialects are written with the dialect's name: `func.return`.
    pub full: bool,
    /// Ops that are written in another form than their declaration's; they are parsed by the declaration's.
    pub forms: &'static [(&'static str, Syntax)],
}

/// Hand-written syntax of an op whose form is irregular.
pub trait CustomSyntax: Sync {
    /// Reads what follows the op's name into `op`: operands ([`OpParser::set_operands`]), attributes, regions, and
    /// results ([`OpParser::add_result`] or [`OpParser::infer_results`]). The names of results, the location after the
    /// op and the checks against the declaration are handled by the caller.
    ///
    /// # Errors
    /// [`Reported`] once the error has been reported.
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Result<(), Reported>;

    /// Writes everything after the op's name.
    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId);

    /// Whether this form captures the whole op; if not, it is printed in generic form. `None`: the printer parses its
    /// output and compares, which is not possible with regions.
    fn says_all(&self, _module: &Module, _op: OpId) -> Option<bool> {
        None
    }
}

/// Reads the operations of one file. Hand-written syntaxes receive it in [`CustomSyntax::parse`].
pub struct OpParser<'a> {
    /// The module being built.
    pub module: &'a mut Module,
    pub(crate) registry: &'a Registry,
    pub(crate) cur: Cursor<'a>,
    pub(crate) diags: Diags,
    pub(crate) scopes: Vec<Scope<'a>>,
    /// The blocks of the regions around, innermost last.
    pub(crate) labels: Vec<Labels<'a>>,
    pub(crate) marks: Marks,
    pub(crate) types: BTreeMap<&'a str, Type>,
    /// Aliases, with their `!` or `#`, whose definitions were erroneous.
    pub(crate) bad_aliases: BTreeSet<&'a str>,
    pub(crate) attrs: BTreeMap<&'a str, Attr>,
    /// Number of parts in the expansions of aliases so far.
    pub(crate) named_parts: usize,
    pub(crate) locs: BTreeMap<&'a str, String>,
    /// Ops whose `loc` refers to an alias.
    pub(crate) named_locs: Vec<(OpId, Span)>,
    pub(crate) formats: BTreeMap<*const crate::OpSchema, Option<Rc<Format>>>,
    /// See [`OpParser::type_as_before`].
    pub(crate) last_types: Vec<(&'a str, Type)>,
    pub(crate) depth: u32,
    pub(crate) errors: usize,
    pub(crate) last_error: Option<Span>,
}

/// Writes operations. Hand-written syntaxes receive it in [`CustomSyntax::print`].
pub struct OpPrinter<'a> {
    /// The module being printed.
    pub module: &'a Module,
    pub(crate) spelling: &'static Spelling,
    pub(crate) formats: BTreeMap<*const OpSchema, Option<Rc<Format>>>,
    pub(crate) out: String,
    pub(crate) indent: usize,
    pub(crate) names: Names,
    /// Types written last, with their texts: most ops have the types of the ops around them.
    pub(crate) types: Vec<(Type, String)>,
}
