//! Attributes of reservations of slot memory, and of their imports.

use slipring_ir::{Attr, Module, OpId};
use slipring_tile::Space;

use crate::def::OpRef;

pub use crate::ring::words::{BASE, LOCATION, NAME, PEER, SIZE};

/// The name under which a reservation is imported, or the name that an import refers to.
pub fn reserved_name<'m>(op: &OpRef<'m>) -> Option<&'m str> {
    op.text(NAME)
}

/// Bytes of a reservation.
pub fn reserved_bytes(op: &OpRef<'_>) -> u64 {
    op.int(SIZE).and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}

/// The memory of a reservation, if it specifies one.
pub fn reserved_space(op: &OpRef<'_>) -> Option<Space> {
    op.text(LOCATION).and_then(Space::parse)
}

/// Sets the memory of a reservation.
pub fn set_reserved_space(module: &mut Module, op: OpId, space: Space) {
    module.op_mut(op).attrs.set(LOCATION, Attr::member("address_space", space.name()));
}

/// The address of a reservation or an import, if it is known.
pub fn reserved_base(op: &OpRef<'_>) -> Option<u64> {
    op.int(BASE).and_then(|n| u64::try_from(n).ok())
}

/// Sets the address of a reservation or an import.
pub fn set_reserved_base(module: &mut Module, op: OpId, base: u64) {
    module.op_mut(op).attrs.set(BASE, Attr::int(base as i64));
}

/// The function whose memory an import refers to.
pub fn import_peer(module: &Module, op: OpId) -> Option<&str> {
    module.op(op).attrs.get(PEER)?.as_str()
}

/// Redirects an import to another function.
pub fn set_import_peer(module: &mut Module, op: OpId, peer: &str) {
    module.op_mut(op).attrs.set(PEER, Attr::Symbol(peer.into()));
}
