//! Types of values.

use std::sync::Arc;

use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};
use smallvec::SmallVec;

use crate::{LaneType, LogicalMask, LogicalVector};

/// Signedness of an integer type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Sign {
    Signless,
    Signed,
    Unsigned,
}

/// A dimension: a number, or known only at run time (`?`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Dim {
    Static(u64),
    Dynamic,
}

impl Dim {
    /// The number, if it is known.
    pub const fn known(self) -> Option<u64> {
        match self {
            Dim::Static(n) => Some(n),
            Dim::Dynamic => None,
        }
    }
}

/// `!pto.tile_buf<…>`: a tile in a local memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TileType {
    /// Its memory.
    pub space: Space,
    /// Element type, allocated shape and layout.
    pub layout: Layout,
    /// Valid rows and columns.
    pub valid: [Dim; 2],
    /// Padding value: 0 null, 1 zero, 2 maximum, 3 minimum.
    pub pad: u8,
    /// Compact mode: 0 null, 1 normal, 2 one row more.
    pub compact: u8,
}

impl TileType {
    /// The memory of a tile with this layout that a text declares in `named`. The word `scaling` denotes three memories
    /// that the layout distinguishes: boxes of 32 bytes of exponents in the order in which the matrix unit reads them
    /// are in the memories next to its operands, everything else in the buffer of the fixpipe. `None` for a memory that
    /// has no such tiles.
    pub fn memory(named: Space, layout: &Layout) -> Option<Space> {
        let scales = match (layout.elem, layout.fractal, layout.blayout, layout.slayout) {
            (Elem::F8E8M0, 32, BLayout::RowMajor, SLayout::RowMajor) => Some(Space::LeftScale),
            (Elem::F8E8M0, 32, BLayout::ColMajor, SLayout::ColMajor) => Some(Space::RightScale),
            _ => None,
        };
        match named {
            Space::Scaling => Some(scales.unwrap_or(Space::Scaling)),
            Space::LeftScale | Space::RightScale => scales.filter(|space| *space == named),
            other => Some(other),
        }
    }
}

/// A view of global memory: element type and up to five dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub struct ViewType {
    pub elem: Elem,
    pub dims: SmallVec<[Dim; 5]>,
}

/// `memref<…>`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MemRefType {
    /// Element type.
    pub elem: Type,
    /// Shape.
    pub dims: SmallVec<[Dim; 5]>,
    /// `strided<[…], offset: …>`, if written; strides and offset in elements.
    pub strides: Option<(SmallVec<[Dim; 5]>, Dim)>,
    /// `#pto.address_space<…>`; global memory if not written.
    pub space: Option<Space>,
}

/// `(…) -> (…)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[allow(missing_docs)]
pub struct FuncType {
    pub inputs: Vec<Type>,
    pub results: Vec<Type>,
}

/// `!pto.tpipe<…>` and `!pto.tmpipe<…>`: a pipe between cores, with its configuration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PipeType {
    /// True for `!pto.tmpipe`.
    pub multi: bool,
    /// The parameters as written.
    pub params: Vec<PipeParam>,
}

/// A parameter of a pipe type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum PipeParam {
    Int(i64),
    /// `DIR_C2V`, `GM_FIFO`, `true` …
    Word(Arc<str>),
    Type(Type),
}

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `index`: a 64-bit signed number here.
    Index,
    /// `i32`, `si8`, `ui16` …
    Int {
        /// Bits, 1 to 64.
        width: u16,
        /// Signedness.
        sign: Sign,
    },
    /// `f16`, `bf16`, `f32`, and the 8-bit floats.
    Float(Elem),
    /// `f64`: parsed and printed, never computed with.
    F64,
    /// `none`.
    None,
    /// `!pto.ptr<elem>`, with the memory space if it is written.
    Ptr(Elem, Option<Space>),
    /// `!pto.tensor_view<…>`: a strided tensor in global memory.
    TensorView(ViewType),
    /// `!pto.partition_tensor_view<…>`: a window of a tensor view.
    PartitionView(ViewType),
    /// `!pto.tile_view<…>`.
    TileView(ViewType),
    /// `!pto.tile_buf<…>`.
    Tile(TileType),
    /// `!pto.tile<f32, 64, 64>`: a tile whose memory the text does not give. It is derived from the uses before
    /// anything else is queried.
    ShortTile {
        /// Element type.
        elem: Elem,
        /// Rows.
        rows: u32,
        /// Columns.
        cols: u32,
    },
    /// `!pto.multi_tile_buf<vec, 16x16xf16, count=2>`: an array of tiles of one type.
    MultiTile {
        /// The type of each.
        slot: TileType,
        /// Their number.
        count: u32,
    },
    /// `!pto.vreg<64xf32>`: a vector register with this number of lanes of an element type.
    VReg(u16, Elem),
    /// `!pto.mask<b32>`: a predicate for lanes of this width in bits.
    Mask(u8),
    /// `!pto.vmi.vreg<256xf32>`: a vector of any length.
    LogicalVector(LogicalVector),
    /// `!pto.vmi.mask<256xpred>`: a predicate for one.
    LogicalMask(LogicalMask),
    /// `!pto.align`: the state of an unaligned stream of loads or stores.
    Align,
    /// `memref<…>`.
    MemRef(Arc<MemRefType>),
    /// `vector<4xi16>`.
    Vector(Arc<(SmallVec<[u64; 5]>, Type)>),
    /// A function type.
    Function(Arc<FuncType>),
    /// `!pto.tpipe<…>` or `!pto.tmpipe<…>`.
    Pipe(Arc<PipeType>),
    /// `!pto.pipe`, `!pto.async_session`, … and types of other dialects: the text after `!`.
    Named(Arc<str>),
}

impl Type {
    /// `i1`.
    pub const I1: Type = Type::Int { width: 1, sign: Sign::Signless };
    /// `i32`.
    pub const I32: Type = Type::Int { width: 32, sign: Sign::Signless };
    /// `i64`.
    pub const I64: Type = Type::Int { width: 64, sign: Sign::Signless };
    /// `f32`.
    pub const F32: Type = Type::Float(Elem::F32);

    /// A type of this name without parameters, such as `pto.pipe`.
    pub fn named(name: &str) -> Type {
        Type::Named(name.into())
    }

    /// The tile type, if it is one.
    pub fn as_tile(&self) -> Option<&TileType> {
        match self {
            Type::Tile(tile) => Some(tile),
            _ => None,
        }
    }

    /// The memory that a value of this type is in, or is a window or an address of; global memory if a pointer or
    /// memref does not give it. `None` for scalars and other values.
    pub fn space(&self) -> Option<Space> {
        match self {
            Type::Tile(tile) => Some(tile.space),
            Type::MemRef(memref) => Some(memref.space.unwrap_or(Space::Gm)),
            Type::Ptr(_, space) => Some(space.unwrap_or(Space::Gm)),
            Type::TensorView(_) | Type::PartitionView(_) => Some(Space::Gm),
            _ => None,
        }
    }

    /// The element type of a scalar, pointer, vector register, view, tile or memref.
    pub fn elem(&self) -> Option<Elem> {
        match self {
            Type::Int { width, sign } => match (width, sign) {
                (8, Sign::Unsigned) => Some(Elem::U8),
                (16, Sign::Unsigned) => Some(Elem::U16),
                (32, Sign::Unsigned) => Some(Elem::U32),
                (64, Sign::Unsigned) => Some(Elem::U64),
                (8, _) => Some(Elem::I8),
                (16, _) => Some(Elem::I16),
                (32, _) => Some(Elem::I32),
                (64, _) => Some(Elem::I64),
                _ => None,
            },
            Type::Index => Some(Elem::I64),
            Type::Float(elem) | Type::Ptr(elem, _) | Type::VReg(_, elem) => Some(*elem),
            Type::TensorView(v) | Type::PartitionView(v) | Type::TileView(v) => Some(v.elem),
            Type::Tile(tile) => Some(tile.layout.elem),
            Type::MemRef(m) => m.elem.elem(),
            Type::LogicalVector(LogicalVector { lane: LaneType::Elem(elem) | LaneType::Signed(elem), .. }) => {
                Some(*elem)
            }
            _ => None,
        }
    }

    /// True for integers, `index` and floats.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Type::Index | Type::Int { .. } | Type::Float(_) | Type::F64)
    }

    /// True for integers and `index`.
    pub fn is_int_like(&self) -> bool {
        matches!(self, Type::Index | Type::Int { .. })
    }
}
