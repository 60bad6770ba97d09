//! Synchronisation objects of a cluster, created when ops first use them.

use std::collections::BTreeMap;

use slipring_machine::{Pipe, Role};
use slipring_program::{Operand, SyncDecl, SyncRef, SyncRole};

use crate::facts::LIBRARY_EVENT;

/// A family of synchronisation objects of one kind, distinguished by an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum SyncFamily {
    /// Event flags of one core from one pipe to another; the index is the event id.
    Event(Role, Pipe, Pipe),
    /// Signals of one core's library code from one pipe to another.
    Inside(Role, Pipe, Pipe),
    /// Semaphores from one core to another; the index is the semaphore id.
    Semaphore(Role, Role),
    /// Buffer tokens of one core; the index is the buffer id.
    Buffer(Role),
    /// Unit flags of one core; the index is that of the block of 1024 bytes of the accumulator memory.
    UnitFlag(Role),
    /// Slots of a ring (by its index in the program) that hold a tile.
    RingReady(u32),
    /// Slots of a ring that are free.
    RingFree(u32),
}

/// The objects made so far.
#[derive(Debug, Default)]
pub(super) struct Syncs {
    pub(super) decls: Vec<SyncDecl>,
    families: BTreeMap<SyncFamily, (u32, u32)>,
}

impl Syncs {
    /// A member of a family; the family is made with `count` members on first use.
    pub(super) fn member(
        &mut self,
        family: SyncFamily,
        count: u32,
        index: Operand,
        make: impl Fn(u32) -> SyncDecl,
    ) -> SyncRef {
        let (first, count) = *self.families.entry(family).or_insert_with(|| {
            let first = self.decls.len() as u32;
            self.decls.extend((0..count).map(make));
            (first, count)
        });
        SyncRef { first, count, index }
    }
}

/// The declaration of an object that `setter` signals and `waiter` consumes, with at most `max` signals at once; it
/// must not overflow and must be 0 again when the kernel ends.
fn declared(name: String, role: SyncRole, [setter, waiter]: [Role; 2], max: u32) -> SyncDecl {
    SyncDecl { name: name.into(), role, setter, waiter, max, saturates: false, final_count: 0, returned: 0 }
}

/// The declaration of an event flag.
pub(super) fn event(core: Role, from: Pipe, to: Pipe, id: u32) -> SyncDecl {
    declared(format!("flag {from}→{to} id {id} of {core}"), SyncRole::Event { from, to, id }, [core; 2], 1)
}

/// The declaration of the signals of library code from one pipe to another.
pub(super) fn inside(core: Role, from: Pipe, to: Pipe) -> SyncDecl {
    let role = SyncRole::Event { from, to, id: LIBRARY_EVENT };
    declared(format!("flag {from}→{to} of the library on {core}"), role, [core; 2], 1)
}

/// The declaration of a semaphore.
pub(super) fn semaphore(setter: Role, waiter: Role, id: u32, max: u32) -> SyncDecl {
    declared(format!("semaphore {id} {setter}→{waiter}"), SyncRole::Semaphore { id }, [setter, waiter], max)
}

/// The declaration of a buffer token.
pub(super) fn buffer(core: Role, id: u32) -> SyncDecl {
    declared(format!("buffer {id} of {core}"), SyncRole::Token { id }, [core; 2], 1)
}

/// Bytes of the accumulator memory that share a unit flag: 16 × 16 elements of 4 bytes.
pub(super) const UNIT: u64 = 1024;

/// The declaration of a unit flag.
pub(super) fn unit_flag(core: Role, unit: u32) -> SyncDecl {
    let address = unit * UNIT as u32;
    SyncDecl {
        name: format!("the unit flag of the tile at {address:#x} of `acc` of {core}").into(),
        role: SyncRole::UnitFlag { address },
        ..buffer(core, unit)
    }
}
