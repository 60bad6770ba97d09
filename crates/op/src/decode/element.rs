//! Single elements of memory, which the scalar unit reads and writes.

use slipring_effect::{ElementAccess, MAX_RANK, UNKNOWN, Within};
use slipring_machine::{Cost, Pipe, Role};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};
use smallvec::SmallVec;

use super::{Binding, Decoder, PlaceInTensor};
use crate::def::OpRef;

/// The byte address of an element.
pub fn element_address(d: &mut Decoder<'_>, base: Operand, offset: Operand, elem: Elem) -> Operand {
    let bytes = d.distance(offset, Operand::Imm(elem.bytes() as u64));
    d.moved(base, bytes)
}

/// The range that an element must be in, with its position there.
pub enum Inside<'a> {
    /// Any address within its memory.
    Memory,
    /// A tile of so many elements, and the index of this element.
    Tile(u64, Operand),
    /// Dimensions: the index in each, and its extent if it is known.
    Dimensions(&'a [(Operand, Option<u64>)]),
    /// A tensor: its place there.
    Tensor(&'a PlaceInTensor),
}

impl Inside<'_> {
    fn split(&self) -> (Within, SmallVec<[Operand; MAX_RANK]>) {
        match self {
            Inside::Memory => (Within::Anything, SmallVec::new()),
            Inside::Tile(all, at) => (Within::Tile(*all), [*at].into_iter().collect()),
            Inside::Dimensions(list) => {
                let mut extents = [UNKNOWN; MAX_RANK];
                let known = list.iter().map(|(_, extent)| extent.unwrap_or(UNKNOWN));
                extents.iter_mut().zip(known).for_each(|(own, known)| *own = known);
                let places: SmallVec<_> = list.iter().map(|(at, _)| *at).take(MAX_RANK).collect();
                (Within::Dimensions(extents), places)
            }
            Inside::Tensor(place) => {
                let (rank, ignored) = (place.firsts.len(), place.ignored());
                (Within::Tensor { rank, ignored }, place.firsts.iter().chain(&place.extents).copied().collect())
            }
        }
    }
}

/// Reads the element at an address and binds the op's result to it, or writes `value`. The range in `Inside` is checked
/// when the access runs.
pub fn access(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    (space, core, elem): (Space, Role, Elem),
    (address, inside): (Operand, &Inside<'_>),
    value: Option<Operand>,
) {
    let (within, places) = inside.split();
    let effect = |load| ElementAccess { space, core, elem, load, within };
    match value {
        None => {
            let read = d.issue_scalar(effect(true), std::iter::once(address).chain(places).collect());
            d.bind(op.result(0), Binding::Scalar(read));
        }
        Some(value) => {
            let cost = Cost::fixed(d.platform.cost.scalar_memory);
            d.issue(Pipe::S, effect(false), [address, value].into_iter().chain(places).collect(), cost);
        }
    }
}
