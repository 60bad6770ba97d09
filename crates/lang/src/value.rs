//! Values of names during the lowering of a body.

pub(crate) use slipring_op::ring::Split;

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;

use slipring_ir::{Dim, OpId, Span, TileType, ValueId};
use slipring_tile::Space;
use smallvec::SmallVec;

use crate::dtype::DType;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A number, string, boolean, type name …, known at compile time.
    Const(Const),
    /// A number that is known at run time.
    Scalar(Scalar),
    /// A window of a tensor in global memory.
    Tensor(Tensor),
    /// A tile: index in `TileState::tiles`.
    Tile(TileId),
    /// A list of matrices in separate buffers.
    Parts(Rc<Parts>),
    /// Several values.
    Tuple(Items),
    /// Reserved or imported memory for the slots of a ring.
    Buffer(Rc<Buffer>),
    /// An end of a pipe: the result of a function that makes one.
    Pipe(Rc<PipeEnd>),
    /// A part of the language, such as `pl.tile`, or a function of the file: its full name.
    Path(Rc<str>),
    /// `functools.partial(f, …)`.
    Partial(Rc<Partial>),
    /// Named values of the host: a module, a class, an instance, a dict.
    Record(Rc<Record>),
    /// A value that host code computes in a way that is not followed here.
    Unknown(Rc<Unknown>),
    /// The result of a statement-like op.
    Nothing,
}

/// Values of a list, which all names of the list share.
#[derive(Clone, Debug)]
pub(crate) struct Items(Rc<Vec<Value>>);

impl Items {
    /// True if something else references it.
    pub fn is_shared(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    /// True if both are the same list, not only equal.
    pub fn is(&self, other: &Items) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for Items {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl From<Vec<Value>> for Items {
    fn from(values: Vec<Value>) -> Items {
        Items(Rc::new(values))
    }
}

impl FromIterator<Value> for Items {
    fn from_iter<T: IntoIterator<Item = Value>>(values: T) -> Items {
        Items(Rc::new(values.into_iter().collect()))
    }
}

impl From<Items> for Vec<Value> {
    fn from(items: Items) -> Vec<Value> {
        Rc::unwrap_or_clone(items.0)
    }
}

impl IntoIterator for Items {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> std::vec::IntoIter<Value> {
        Vec::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a Items {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> std::slice::Iter<'a, Value> {
        self.0.iter()
    }
}

/// A function with bound arguments.
#[derive(Debug)]
pub(crate) struct Partial {
    /// The full name of the function.
    pub callee: Rc<str>,
    /// Positional arguments.
    pub positional: Vec<Value>,
    /// Keyword arguments.
    pub keywords: Vec<(Rc<str>, Value)>,
}

/// A list of matrices resulting from a product of lists: each is in a separate accumulator.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// The shape as the program sees it; the last two extents are those of a tile.
    pub shape: Vec<u64>,
    /// The matrices, in order.
    pub tiles: Vec<TileId>,
    /// All of them in one tile of a memory, if that was already made, with the block that made it.
    pub whole: RefCell<Vec<(Space, slipring_ir::BlockId, TileId)>>,
}

/// Named values of the host.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its description in messages: `the module \`config\``.
    pub what: Rc<str>,
    /// Its members.
    pub fields: Vec<(Rc<str>, Value)>,
    /// Its entries by key.
    pub entries: Vec<(Const, Value)>,
    /// True for a dict, false for a module, class or instance.
    pub is_dict: bool,
}

impl Record {
    /// A dict.
    pub fn dict(entries: Vec<(Const, Value)>) -> Record {
        Record { what: "a dict".into(), fields: Vec::new(), entries, is_dict: true }
    }

    /// A member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| **field == *name).map(|(_, value)| value)
    }
}

/// A value that is known at compile time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Const {
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(Rc<str>),
    None,
    DType(DType),
    Space(Space),
    Split(Split),
    /// A member of any other enumeration of the language: `PadValue.min`.
    Member(&'static str, Rc<str>),
}

/// The splits of a tile between the two Vector cores, by their names in the language; each at the index of its value.
pub(crate) const SPLIT_MODES: [(&str, Split); 3] =
    [("NONE", Split::None), ("UP_DOWN", Split::UpDown), ("LEFT_RIGHT", Split::LeftRight)];

/// The name of a mode in the language.
pub(crate) fn split_name(mode: Split) -> &'static str {
    SPLIT_MODES[mode as usize].0
}

/// A number at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scalar {
    pub value: ValueId,
    pub ty: DType,
    /// The region that computes it, which it cannot leave.
    pub region: Option<OpId>,
}

/// A window of a tensor in global memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tensor {
    /// Index of the tensor in the function's list.
    pub root: usize,
    pub elem: slipring_tile::Elem,
    /// Offset in each dimension of the tensor.
    pub offsets: SmallVec<[Index; 5]>,
    /// Extent in each dimension of the tensor.
    pub sizes: SmallVec<[u64; 5]>,
    /// Dimensions that a scalar index removed: they have extent 1.
    pub dropped: SmallVec<[bool; 5]>,
    /// The shape as the program sees it, if it was reshaped.
    pub reshaped: Option<SmallVec<[u64; 5]>>,
    /// Valid rows and columns, of the shape as the program sees it folded into rows, if they are fewer.
    pub valid: Option<Box<[Index; 2]>>,
    /// The carried name under which an iteration began with it.
    pub origin: Origin,
    /// True if its size is dynamic: its sizes are upper bounds, and `valid` is the actual extent.
    pub few: bool,
}

/// The window that is a whole tensor.
pub(crate) fn whole(root: usize, elem: slipring_tile::Elem, dims: &[u64]) -> Tensor {
    Tensor {
        root,
        elem,
        offsets: dims.iter().map(|_| Index::Known(0)).collect(),
        sizes: dims.iter().copied().collect(),
        dropped: dims.iter().map(|_| false).collect(),
        reshaped: None,
        valid: None,
        origin: Origin::default(),
        few: false,
    }
}

/// The carried name that a window was copied from; none by default. It does not affect equality of windows.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Origin(Option<NonZeroU32>);

impl Origin {
    /// The next unique one; none after the last.
    pub fn next(last: &mut u32) -> Origin {
        *last = last.saturating_add(1);
        Origin(NonZeroU32::new(*last).filter(|_| *last < u32::MAX))
    }

    /// True if both are the same carried name.
    pub fn is(self, other: Origin) -> bool {
        self.0.is_some() && self.0 == other.0
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Eq for Origin {}

impl Tensor {
    /// The shape as the program sees it.
    pub fn shape(&self) -> SmallVec<[u64; 5]> {
        if let Some(shape) = &self.reshaped {
            return shape.clone();
        }
        self.sizes.iter().zip(&self.dropped).filter(|(_, dropped)| !**dropped).map(|(n, _)| *n).collect()
    }
}

/// Memory with a part for each device: the owner of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Domain {
    /// The device.
    pub rank: u64,
    /// The number of devices.
    pub ranks: u64,
    /// Distance in elements from one device's part to the next one's.
    pub stride: u64,
}

/// An offset or index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Index {
    Known(i64),
    At(Scalar),
}

/// Index of a tile in a function's list of tiles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TileId(pub u32);

/// A tile.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    /// Its buffer.
    pub value: ValueId,
    pub ty: TileType,
    /// The shape as the program sees it: more than two dimensions fold into rows.
    pub shape: SmallVec<[u64; 5]>,
    /// Valid rows and columns, if they are fewer than the shape has.
    pub valid: Option<[Index; 2]>,
    /// The place where it was made.
    pub span: Span,
    /// The op that made it, for messages.
    pub made_by: &'static str,
    /// The region that made it.
    pub region: Option<RegionId>,
    /// Its role at the border between the cores.
    pub crossing: Option<Crossing>,
    /// Number of times that its buffer had been taken by ops that work in place when the tile was made: after one more,
    /// the tile is gone.
    pub generation: u32,
    /// Copies with the same contents.
    pub copies: Vec<Copied>,
    /// For a part of a tile in L1: the tile whose buffer it shares, and its offsets in it. It is extracted on the way
    /// to L0A or L0B.
    pub part: Option<(TileId, [Index; 2])>,
    /// For a mask of bits: the compared tiles.
    pub mask: Option<Compared>,
    /// True for booleans, a byte for each, as a tensor of them holds them.
    pub truths: bool,
}

/// The tiles for whose elements a mask has bits.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Compared {
    pub shape: SmallVec<[u64; 5]>,
    pub elem: slipring_tile::Elem,
    /// The valid rows and columns, if they are fewer than the shape has. All bits exist.
    pub valid: Option<[Index; 2]>,
}

/// The role of a tile at the border between the kinds of core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Crossing {
    Sharded,
    Gathered,
}

/// A copy of a tile in another memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Copied {
    pub space: Space,
    pub transposed: bool,
    /// Valid while this block is being lowered.
    pub block: slipring_ir::BlockId,
    pub tile: TileId,
    /// Number of writes to tiles in place before it was made.
    pub writes: usize,
}

/// A window of an input that was loaded where an op read it.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub tensor: Tensor,
    pub space: Space,
    /// Valid while this block is being lowered.
    pub block: slipring_ir::BlockId,
    pub tile: TileId,
}

/// Index of a `split_aiv` region in a function's list of regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegionId(pub u32);

/// Memory for the slots of a ring.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Its address, an `i32`.
    pub base: ValueId,
    pub name: Rc<str>,
    /// The function that reserved it, if it is imported.
    pub peer: Option<Rc<str>>,
    /// Size in bytes, if known.
    pub size: Option<i64>,
}

/// An end of a pipe that a function has set up.
#[derive(Debug)]
pub(crate) struct PipeEnd {
    /// The pipe's number.
    pub id: i64,
    /// Names of the slot memories, Cube to Vector and Vector to Cube, if they are reserved.
    pub buffers: [Option<Rc<str>>; 2],
    /// Index in the function's list of the tensor that contains its slots, if they are in global memory.
    pub slots: Option<usize>,
    pub span: Span,
}

/// The reason why a value is not known.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    /// The expression.
    pub span: Span,
    /// Its description: `a call of \`os.environ.get\``.
    pub why: String,
    /// Its origin, if more is known about it.
    pub is: Strange,
}

/// The origin of an unknown value.
#[derive(Clone, Debug)]
pub(crate) enum Strange {
    /// Nothing more is known.
    Other,
    /// A library call, by path, that was not followed.
    Call(Rc<str>),
    /// A parameter of a function that nothing calls: `--set` can set it.
    Parameter,
    /// What a decorator that is not known made of a function: reading it from an instance may call that.
    Decorated,
    /// The message of a Python exception, or a text with one in it, as an error shows it.
    Said(Rc<str>),
}

impl Unknown {
    /// A value about which nothing else is known.
    pub fn new(span: Span, why: impl Into<String>) -> Unknown {
        Unknown { span, why: why.into(), is: Strange::Other }
    }

    /// A library call.
    pub fn call(span: Span, path: &str) -> Unknown {
        Unknown { span, why: format!("a call of `{path}`"), is: Strange::Call(path.into()) }
    }

    /// The message of a Python exception, in words that are not Python's own.
    pub fn said(span: Span, text: impl Into<String>) -> Unknown {
        let text: String = text.into();
        Unknown { span, why: "the message of a Python exception".into(), is: Strange::Said(text.into()) }
    }

    /// A parameter of a function that nothing calls.
    pub fn parameter(span: Span, name: &str, function: &str) -> Unknown {
        let why = format!("`{name}`, a parameter of `{function}`, which nothing calls: give it `--set {name}=…`");
        Unknown { span, why, is: Strange::Parameter }
    }
}

/// True for an array of numbers that the kernel computes, but not for a list of constants.
pub(crate) fn is_array(value: &Value) -> bool {
    matches!(value, Value::Tuple(items) if !items.is_empty() && items.iter().all(|item| matches!(item, Value::Scalar(_))))
}

/// Extents of a folded shape: rows and columns.
pub(crate) fn fold(shape: &[u64]) -> (u64, u64) {
    match shape.split_last() {
        Some((cols, rows)) => (rows.iter().product(), *cols),
        None => (1, 1),
    }
}

/// A shape in messages.
pub(crate) fn show(shape: &[u64]) -> String {
    let parts: Vec<_> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", parts.join(", "))
}

/// A static valid shape.
pub(crate) fn valid(rows: u64, cols: u64) -> [Dim; 2] {
    [Dim::Static(rows), Dim::Static(cols)]
}

/// The strides, in elements, of a contiguous tensor.
pub(crate) fn dense(dims: &[u64]) -> SmallVec<[u64; 5]> {
    let mut strides: SmallVec<[u64; 5]> = SmallVec::from_elem(1, dims.len());
    for at in (1..dims.len()).rev() {
        strides[at - 1] = strides[at] * dims[at];
    }
    strides
}
