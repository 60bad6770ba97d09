//! Rings as declared in the text: reservations, imports, initialise ops, and the location of a ring end's slots.

use slipring_ir::{Module, OpId};
use slipring_machine::{CoreKind, Platform};
use slipring_op::ring::{
    PipeKey, PipeSpec, SlotBase, consumer, consumer_buffer, import_peer, pipe_key, reserved_base, reserved_bytes,
    reserved_name, reserved_space, set_reserved_base, stands_on,
};
use slipring_op::{OpRef, RingPart, kernel_kind, symbol_name};
use slipring_program::Direction;
use slipring_tile::Space;

use crate::analysis::facts::Functions;

/// An op that takes part in a ring, and its function.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct RingOp<'m> {
    pub function: OpId,
    pub op: OpRef<'m>,
    pub part: RingPart,
}

impl RingOp<'_> {
    /// Its pipe.
    pub fn pipe(&self) -> Option<PipeKey> {
        pipe_key(&self.op)
    }

    /// The memory of a reservation: as written, or that of the function's core.
    pub fn space(&self) -> Space {
        let written = reserved_space(&self.op);
        written.unwrap_or(match kernel_kind(self.op.module, self.function) {
            Some(CoreKind::Cube) => Space::Mat,
            _ => Space::Vec,
        })
    }

    /// Bytes of a reservation.
    pub fn bytes(&self) -> u64 {
        reserved_bytes(&self.op)
    }

    /// The address of a reservation, if it has one.
    pub fn base(&self) -> Option<u64> {
        reserved_base(&self.op)
    }
}

/// Every op that takes part in a ring, function by function in the order of the text.
pub fn ring_ops<'m>(module: &'m Module, functions: &Functions) -> Vec<RingOp<'m>> {
    let mut list = Vec::new();
    for (function, body) in functions.with_bodies(module) {
        for id in module.walk(body) {
            if let Some(op) = OpRef::of(module, id).filter(|op| op.def.ring.is_some())
                && let Some(part) = op.ring()
            {
                list.push(RingOp { function, op, part });
            }
        }
    }
    list
}

/// The pipe that an op creates.
pub fn pipe(init: &OpRef<'_>, platform: &Platform) -> Option<PipeSpec> {
    PipeSpec::of(init, platform)
}

/// True if an op creates an end of a pipe that has this direction.
pub fn goes(init: &OpRef<'_>, direction: Direction, platform: &Platform) -> bool {
    pipe(init, platform).is_some_and(|spec| spec.has(direction))
}

/// True if the core of an op consumes a direction: it is on that kind of core, or on both.
pub fn consumes(init: &OpRef<'_>, direction: Direction) -> bool {
    stands_on(init).is_none_or(|kind| kind == consumer(direction))
}

/// Bytes of the consumer's memory that one direction takes: the ring's slots, or the landing area of tiles from global
/// memory.
pub fn ring_bytes(init: &OpRef<'_>, platform: &Platform) -> u64 {
    pipe(init, platform).map_or(0, |spec| spec.local_bytes())
}

/// The location of the slots of a direction, from the initialise op of their consumer. `None` if the op names no
/// buffer.
pub fn slots_of(init: &OpRef<'_>, direction: Direction) -> Option<SlotBase> {
    consumer_buffer(init, direction).map(|value| SlotBase::of(init.module, value))
}

/// The reservation that an import refers to, or why there is none.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum Import<'m> {
    Of(RingOp<'m>),
    NoFunction,
    NoReservation,
}

/// Finds the reservation that an import refers to.
pub fn import_of<'m>(import: &RingOp<'m>, functions: &Functions, all: &[RingOp<'m>]) -> Import<'m> {
    let peer = import_peer(import.op.module, import.op.id).and_then(|name| functions.get(name));
    let Some(peer) = peer else { return Import::NoFunction };
    let name = reserved_name(&import.op);
    let matches = |r: &&RingOp<'_>| r.part.reserves() && r.function == peer && reserved_name(&r.op) == name;
    all.iter().find(matches).map_or(Import::NoReservation, |r| Import::Of(*r))
}

/// Gives every import the address of its reservation, if that has one.
pub fn write_imports(module: &mut Module, functions: &Functions) {
    let all = ring_ops(module, functions);
    let imports = all.iter().filter(|r| r.part.imports());
    let resolved: Vec<(OpId, u64)> = imports
        .filter_map(|import| match import_of(import, functions, &all) {
            Import::Of(reservation) => Some((import.op.id, reservation.base()?)),
            _ => None,
        })
        .collect();
    for (import, base) in resolved {
        set_reserved_base(module, import, base);
    }
}

/// `@name` of a function.
pub fn at_name(module: &Module, function: OpId) -> String {
    format!("@{}", symbol_name(module, function))
}
