//! Single elements of memory, which the scalar unit reads and writes.

use slipring_effect::ElementAccess;
use slipring_machine::{Cost, Pipe, Role};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};

use super::{Binding, Decoder};
use crate::def::OpRef;

/// The byte address of an element.
pub fn element_address(d: &mut Decoder<'_>, base: Operand, offset: Operand, elem: Elem) -> Operand {
    let bytes = d.distance(offset, Operand::Imm(elem.bytes() as u64));
    d.moved(base, bytes)
}

/// Reads the element at an address and binds the op's result to it, or writes `value`. With the address come, for a tile, how
/// many elements it has and which of them it is.
pub fn access(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    (space, core, elem): (Space, Role, Elem),
    (address, tile): (Operand, Option<(u64, Operand)>),
    value: Option<Operand>,
) {
    let effect = |load| ElementAccess { space, core, elem, load, within: tile.map(|(all, _)| all) };
    let place = tile.map(|(_, place)| place);
    match value {
        None => {
            let read = d.issue_scalar(effect(true), std::iter::once(address).chain(place).collect());
            d.bind(op.result(0), Binding::Scalar(read));
        }
        Some(value) => {
            let cost = Cost::fixed(d.platform.cost.scalar_memory);
            d.issue(Pipe::S, effect(false), [address, value].into_iter().chain(place).collect(), cost);
        }
    }
}
