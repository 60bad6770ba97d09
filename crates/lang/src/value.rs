//! What a name stands for while a body is lowered.

pub(crate) use slipring_op::ring::Split;

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;

use slipring_ir::{Dim, OpId, Span, TileType, ValueId};
use slipring_tile::Space;
use smallvec::SmallVec;

use crate::dtype::DType;

/// What an expression means.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A number, string, boolean, name of a type …: known now.
    Const(Const),
    /// A number that is known when the kernel runs.
    Scalar(Scalar),
    /// A window of a tensor in global memory.
    Tensor(Tensor),
    /// A tile: position in `TileState::tiles`.
    Tile(TileId),
    /// A list of matrices in buffers of their own.
    Parts(Rc<Parts>),
    /// Several values.
    Tuple(Items),
    /// Reserved or imported memory for the slots of a ring.
    Buffer(Rc<Buffer>),
    /// An end of a pipe: what a function that makes one gives.
    Pipe(Rc<PipeEnd>),
    /// A part of the language, such as `pl.tile`, or a function of the file: its full name.
    Path(Rc<str>),
    /// `functools.partial(f, …)`.
    Partial(Rc<Partial>),
    /// Named values of the host: a module, a class, an instance, a dict.
    Record(Rc<Record>),
    /// What the host code computes in a way that is not followed here.
    Unknown(Rc<Unknown>),
    /// The result of a statement-like op.
    Nothing,
}

/// Values of a list: names for one list hold it together.
#[derive(Clone, Debug)]
pub(crate) struct Items(Rc<Vec<Value>>);

impl Items {
    /// Whether something else holds it, too.
    pub fn is_shared(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    /// Whether both are one and the same, not only equal.
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

/// A function with arguments that each of its calls has.
#[derive(Debug)]
pub(crate) struct Partial {
    /// The full name of the function.
    pub callee: Rc<str>,
    /// Arguments in order.
    pub positional: Vec<Value>,
    /// Arguments by name.
    pub keywords: Vec<(Rc<str>, Value)>,
}

/// A list of matrices that a list of products gave: each lies in an accumulator of its own.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// The shape that the program sees; the last two extents are those of a tile.
    pub shape: Vec<u64>,
    /// The matrices, in order.
    pub tiles: Vec<TileId>,
    /// All of them in one tile of a memory, where that was made already, by the block that made it.
    pub whole: RefCell<Vec<(Space, slipring_ir::BlockId, TileId)>>,
}

/// Named values of the host.
#[derive(Debug)]
pub(crate) struct Record {
    /// What it is, for messages: `the module \`config\``.
    pub what: Rc<str>,
    /// Its members.
    pub fields: Vec<(Rc<str>, Value)>,
    /// What is found in it by a key.
    pub entries: Vec<(Const, Value)>,
    /// Whether it is a dict, and no module, class or instance.
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

/// A value that is known now.
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

/// The ways to divide a tile between the two Vector cores, by their names in the language; each at its number.
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
    /// The region that computes it: it cannot leave it.
    pub region: Option<OpId>,
}

/// A window of a tensor in global memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tensor {
    /// Position of the tensor in the function's list.
    pub root: usize,
    pub elem: slipring_tile::Elem,
    /// First element of each dimension of the tensor.
    pub offsets: SmallVec<[Index; 5]>,
    /// Extent of each dimension of the tensor that the window has.
    pub sizes: SmallVec<[u64; 5]>,
    /// Dimensions that a scalar index took away: they have extent 1.
    pub dropped: SmallVec<[bool; 5]>,
    /// The shape that the program sees, where it was reshaped.
    pub reshaped: Option<SmallVec<[u64; 5]>>,
    /// Rows and columns that count, of the shape that the program sees folded into rows, where they are fewer.
    pub valid: Option<Box<[Index; 2]>>,
    /// The carried name that an iteration began with it under.
    pub origin: Origin,
    /// True where only the run knows how large it is: its sizes are bounds, and `valid` says how much of it there is.
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

/// Which carried name a window was copied from; none by default. Windows are equal whatever it is.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Origin(Option<NonZeroU32>);

impl Origin {
    /// The next one, which nothing else has; none after the last.
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
    /// The shape that the program sees.
    pub fn shape(&self) -> SmallVec<[u64; 5]> {
        if let Some(shape) = &self.reshaped {
            return shape.clone();
        }
        self.sizes.iter().zip(&self.dropped).filter(|(_, dropped)| !**dropped).map(|(n, _)| *n).collect()
    }
}

/// Memory that every device has a part of: whose part a tensor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Domain {
    /// The device.
    pub rank: u64,
    /// How many there are.
    pub ranks: u64,
    /// Elements from one device's part to the next one's.
    pub stride: u64,
}

/// An offset or index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Index {
    Known(i64),
    At(Scalar),
}

/// Position of a tile in the list of a function's tiles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TileId(pub u32);

/// A tile.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    /// Its buffer.
    pub value: ValueId,
    pub ty: TileType,
    /// The shape that the program sees: more than two dimensions fold into rows.
    pub shape: SmallVec<[u64; 5]>,
    /// Valid rows and columns, where they are fewer than the shape has.
    pub valid: Option<[Index; 2]>,
    /// Where it was made.
    pub span: Span,
    /// The op that made it, for messages.
    pub made_by: &'static str,
    /// The region that made it.
    pub region: Option<RegionId>,
    /// What it is at the border between the cores.
    pub crossing: Option<Crossing>,
    /// How often its buffer had been taken by ops that work in place when it was made: once more, and it is gone.
    pub generation: u32,
    /// The same contents elsewhere.
    pub copies: Vec<Copied>,
    /// Of a part of a tile in L1: where it begins in the tile that it is a part of, whose buffer it has. It is taken out on the
    /// way to L0A or L0B.
    pub part: Option<(TileId, [Index; 2])>,
    /// Of a mask of bits: what was compared.
    pub mask: Option<Compared>,
}

/// What a mask has a bit for each element of.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Compared {
    pub shape: SmallVec<[u64; 5]>,
    pub elem: slipring_tile::Elem,
    /// The rows and columns that count, where they are fewer than the shape has. All bits are there.
    pub valid: Option<[Index; 2]>,
}

/// What a tile is at the border between the kinds of core.
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
    /// Writes to tiles in place before it was made.
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

/// Position of a `split_aiv` region in the list of a function's regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegionId(pub u32);

/// Memory for the slots of a ring.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Its address, an `i32`.
    pub base: ValueId,
    pub name: Rc<str>,
    /// The function that reserved it, where it is imported.
    pub peer: Option<Rc<str>>,
    /// Bytes, where they are known.
    pub size: Option<i64>,
}

/// An end of a pipe that a function has set up.
#[derive(Debug)]
pub(crate) struct PipeEnd {
    /// The pipe's number.
    pub id: i64,
    /// Names of the memory of its slots, Cube to Vector and Vector to Cube, where they are reserved.
    pub buffers: [Option<Rc<str>>; 2],
    /// Position of the tensor in the function's list that its slots lie in, where they lie in global memory.
    pub slots: Option<usize>,
    pub span: Span,
}

/// Why a value is not known.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    /// The expression.
    pub span: Span,
    /// What it is: `a call of \`os.environ.get\``.
    pub why: String,
    /// Whether it is something of which more is known than that.
    pub is: Strange,
}

/// What a value that is not known comes from.
#[derive(Clone, Debug)]
pub(crate) enum Strange {
    /// Nothing more is known.
    Other,
    /// A call of a library, by its path, which was not followed.
    Call(Rc<str>),
    /// A parameter of a function that nothing calls: `--set` gives it a value.
    Parameter,
    /// What a decorator that is not known made of a function: reading it from an instance may call that.
    Decorated,
    /// What an exception of Python says, as an error shows it.
    Said(Rc<str>),
}

impl Unknown {
    /// What nothing more is known of.
    pub fn new(span: Span, why: impl Into<String>) -> Unknown {
        Unknown { span, why: why.into(), is: Strange::Other }
    }

    /// A call of a library.
    pub fn call(span: Span, path: &str) -> Unknown {
        Unknown { span, why: format!("a call of `{path}`"), is: Strange::Call(path.into()) }
    }

    /// What an exception of Python says, in words that are not Python's own.
    pub fn said(span: Span, text: impl Into<String>) -> Unknown {
        let text: String = text.into();
        Unknown { span, why: "what an exception of Python says".into(), is: Strange::Said(text.into()) }
    }

    /// A parameter of a function that nothing calls.
    pub fn parameter(span: Span, name: &str, function: &str) -> Unknown {
        let why = format!("`{name}`, a parameter of `{function}`, which nothing calls: give it `--set {name}=…`");
        Unknown { span, why, is: Strange::Parameter }
    }
}

/// True for an array: numbers that the kernel computes. A list of constants is none.
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

/// A shape as people write it.
pub(crate) fn show(shape: &[u64]) -> String {
    let parts: Vec<_> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", parts.join(", "))
}

/// A valid shape that is known.
pub(crate) fn valid(rows: u64, cols: u64) -> [Dim; 2] {
    [Dim::Static(rows), Dim::Static(cols)]
}

/// The strides, in elements, of a tensor whose rows lie next to each other.
pub(crate) fn dense(dims: &[u64]) -> SmallVec<[u64; 5]> {
    let mut strides: SmallVec<[u64; 5]> = SmallVec::from_elem(1, dims.len());
    for at in (1..dims.len()).rev() {
        strides[at - 1] = strides[at] * dims[at];
    }
    strides
}
