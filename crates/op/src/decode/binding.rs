//! Run-time bindings of IR values.

use slipring_ir::{Dim, TileType};
use slipring_machine::Role;
use slipring_program::Operand;
use slipring_tile::{Elem, Space};
use slipring_vector::Slot;
use smallvec::SmallVec;

/// The registers of a value.
pub type Slots = SmallVec<[Slot; 2]>;

/// The binding of an IR value while a core's program is decoded.
#[derive(Clone, Debug)]
pub enum Binding {
    /// A number, boolean or address.
    Scalar(Operand),
    /// A tile.
    Tile(TileRef),
    /// A window of global memory.
    View(ViewRef),
    /// A vector register, predicate or alignment register of the vector function that is being decoded; several for a
    /// logical vector or its predicate.
    Vector(Slots),
    /// Several of these, such as an array of event ids.
    Many(Vec<Binding>),
    /// Something that does not exist at run time: an event, a session, the handle of a pipe (by its index in the ring
    /// plan).
    Handle(u32),
}

/// A tile at run time: its type is static, its address and valid shape may be computed.
#[derive(Clone, Copy, Debug)]
pub struct TileRef {
    /// The type, with the platform's own layout for L0A.
    pub ty: TileType,
    /// Byte offset in the memory of `ty.space`.
    pub addr: Operand,
    /// Valid rows and columns, in elements.
    pub valid: [Operand; 2],
}

impl TileRef {
    /// A tile with the valid shape of its type; a dynamic extent becomes 0.
    pub fn of_type(ty: TileType, addr: Operand) -> TileRef {
        let valid = ty.valid.map(|dim| match dim {
            Dim::Static(n) => Operand::Imm(n),
            Dim::Dynamic => Operand::Imm(0),
        });
        TileRef { ty, addr, valid }
    }
}

/// A window of global memory (or of a local memory, for memrefs) at run time.
#[derive(Clone, Debug)]
pub struct ViewRef {
    /// Element type.
    pub elem: Elem,
    /// Memory: global, except for memrefs in local memory.
    pub space: Space,
    /// The core whose memory it is, for local memories.
    pub core: Role,
    /// Byte address of element 0.
    pub base: Operand,
    /// Extent of each dimension, outermost first.
    pub dims: SmallVec<[Operand; 5]>,
    /// Distance between neighbours in each dimension, in elements.
    pub strides: SmallVec<[Operand; 5]>,
    /// `nd`, `dn`, `nz` as written on the view; `None` if it is not written.
    pub layout: Option<&'static str>,
    /// The place of a window in its tensor, which for the tensor itself is all of it; `None` if it is unknown.
    pub place: Option<Box<PlaceInTensor>>,
}

impl ViewRef {
    /// The same shape at another address, whose place in a tensor is unknown.
    pub fn at(self, base: Operand) -> ViewRef {
        ViewRef { base, place: None, ..self }
    }
}

/// The start of a window in its tensor, and the extents of the tensor.
#[derive(Clone, Debug)]
pub struct PlaceInTensor {
    /// The index of the first element in each dimension, outermost first.
    pub firsts: SmallVec<[Operand; 5]>,
    /// The extent of each dimension of the tensor.
    pub extents: SmallVec<[Operand; 5]>,
    /// Whether the tensor is a part of another one: the bytes past its end are that one's.
    pub is_part: bool,
}

impl PlaceInTensor {
    /// All of a tensor with these extents, which may be a part of another one.
    pub fn whole(extents: &[Operand], is_part: bool) -> Option<Box<PlaceInTensor>> {
        let firsts = extents.iter().map(|_| Operand::Imm(0)).collect();
        Some(Box::new(PlaceInTensor { firsts, extents: extents.into(), is_part }))
    }

    /// The place of a window of these offsets in the window at this place; `None` if that takes an addition at run
    /// time, since checks add no instructions to a program.
    pub fn window(&self, offsets: &[Operand]) -> Option<Box<PlaceInTensor>> {
        let sum = |(a, b): (&Operand, &Operand)| match (a.as_imm(), b.as_imm()) {
            (Some(0), _) => Some(*b),
            (_, Some(0)) => Some(*a),
            (Some(a), Some(b)) => Some(Operand::Imm(a.checked_add(b)? as u64)),
            _ => None,
        };
        let firsts = self.firsts.iter().zip(offsets).map(sum).collect::<Option<_>>()?;
        Some(Box::new(PlaceInTensor { firsts, extents: self.extents.clone(), is_part: self.is_part }))
    }

    /// The number of first dimensions whose index never decides whether a window is inside the tensor. A window that
    /// leaves the outermost dimension of a whole tensor leaves the buffer's bytes, which are checked anyway; so the
    /// loaded row numbers of a gather leave nothing in doubt.
    pub fn ignored(&self) -> usize {
        if self.is_part {
            return 0;
        }
        let ones = self.extents.iter().take_while(|extent| **extent == Operand::Imm(1)).count();
        (ones + 1).min(self.extents.len())
    }

    /// Whether a window of these sizes is known to be inside the tensor.
    pub fn holds(&self, sizes: &[Operand]) -> bool {
        let inside = |((first, size), extent): ((&Operand, &Operand), &Operand)| {
            let numbers = (first.as_imm(), size.as_imm(), extent.as_imm());
            matches!(numbers, (Some(first), Some(size), Some(extent))
                if first >= 0 && size >= 0 && first.checked_add(size).is_some_and(|end| end <= extent))
        };
        self.firsts.iter().zip(sizes).zip(&self.extents).all(inside)
    }
}
