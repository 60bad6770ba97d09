//! State that the parser and the printer keep while they work.

use std::rc::Rc;

use indexmap::IndexMap;
use smallvec::SmallVec;

use crate::{Name, OpId, Span, ValueId};

/// A name in scope: one value, or the results of `%x:2`.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) values: SmallVec<[ValueId; 1]>,
    pub(crate) span: Span,
}

/// The blocks of one region, and the ops in it that branch to them.
#[derive(Default)]
pub(crate) struct Labels<'a> {
    /// The blocks that have a name, by their position, with the location of the name.
    pub(crate) blocks: IndexMap<&'a str, (u32, Span)>,
    /// The branches: the op, which of its successors, and the name of the block.
    pub(crate) branches: Vec<(OpId, usize, &'a str, Span)>,
}

/// The names of one region.
pub(crate) type Scope<'a> = IndexMap<&'a str, Binding>;

/// Locations of the parts of the op being parsed.
#[derive(Default)]
pub(crate) struct Marks {
    /// Where the op begins.
    pub begin: Option<u32>,
    pub uses: Vec<(ValueId, Span)>,
    pub attrs: Vec<(Name, Span)>,
    /// End of the op's text before its first region.
    pub header_end: Option<u32>,
    /// Number of results named in the text, if any.
    pub named_results: usize,
}

/// The printed name of every value.
pub(crate) struct Names(pub(crate) Vec<Option<Rc<str>>>);

/// One element of a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Element {
    /// Literal text: its tokens.
    Literal(String, Vec<String>),
    /// `` `` `` and `` ` ` ``: no space, one space; only for printing.
    Blank(bool),
    Operand(usize),
    Attr(usize),
    /// `keyword($attr)`: a member of an enumeration, printed as a bare word.
    Keyword(usize),
    Region(usize),
    OperandType(usize),
    ResultType(usize),
    /// `types($result)`: in parentheses, or one without.
    ResultTypes(usize),
    AttrDict,
    /// `( … )?`
    Group(Vec<Element>),
}

/// A parsed format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Format {
    pub(crate) elements: Vec<Element>,
    /// Attributes that the format writes, by position in the declaration.
    pub(crate) attrs: Vec<usize>,
}
