//! The synchronisation objects that ops name.

use slipring_ir::Dim;
use slipring_machine::{Capability, Pipe, Role};
use slipring_program::{Inst, Law, Operand, SyncRef};
use slipring_tile::Space;

use super::syncs::{self, SyncFamily};
use super::{Decoder, Decoding, TileRef};
use crate::def::OpRef;
use crate::facts::LIBRARY_EVENT;

impl Decoder<'_> {
    /// The event flag of this core from one pipe to another.
    pub fn event(&mut self, from: Pipe, to: Pipe, id: Operand) -> SyncRef {
        let (core, count) = (self.role, self.platform.sync.event_ids);
        self.shared.syncs.member(SyncFamily::Event(core, from, to), count, id, |id| syncs::event(core, from, to, id))
    }

    /// Records the flags that the library code of an op uses.
    pub(super) fn flags_inside(&mut self, op: &OpRef<'_>) {
        if self.mode == Decoding::Device && self.function.is_none() {
            for (from, to) in op.inside(self.platform) {
                let sync = self.event(from, to, Operand::Imm(u64::from(LIBRARY_EVENT)));
                self.emit(Inst::Inside { sync });
            }
        }
    }

    /// Makes a pipe wait for all earlier work of another the way the library does, with a flag that nothing else uses.
    /// Work of the scalar unit is complete before anything that it issues later.
    pub fn meet_inside(&mut self, from: Pipe, to: Pipe) {
        if self.mode == Decoding::Device && from != Pipe::S {
            let core = self.role;
            let family = SyncFamily::Inside(core, from, to);
            let index = Operand::Imm(0);
            let sync = self.shared.syncs.member(family, 1, index, |_| syncs::inside(core, from, to));
            self.emit(Inst::Set { pipe: from, sync });
            self.emit(Inst::Wait { pipe: to, sync });
        }
    }

    /// Records that a product of m × n results goes to an accumulator; if `goes_on`, it accumulates onto the contents.
    pub fn product(&mut self, acc: &TileRef, [m, n]: [Operand; 2], goes_on: bool) {
        if self.mode == Decoding::Device && self.function.is_none() {
            self.emit(Inst::Product { at: acc.addr, m, n, goes_on });
        }
    }

    /// Records that a tile is read from the accumulator memory, if it is there: by its valid rows if it is compact or
    /// `by_valid` is set for the path, else by its rows.
    pub fn out_of_product(&mut self, tile: &TileRef, by_valid: bool) {
        if tile.ty.space == Space::Acc && self.mode == Decoding::Device && self.function.is_none() {
            let pitch = (tile.ty.compact == 0 && !by_valid).then_some(tile.ty.layout.rows);
            let [rows, cols] = tile.valid;
            self.emit(Inst::FromProduct { at: tile.addr, rows, cols, pitch });
        }
    }

    /// True if the library's moves between local memories read an accumulator by its valid rows: that of the A5 does if
    /// they are only known at run time (`GetTmovAccSrcStride`).
    pub fn moves_by_valid(&self, tile: &TileRef) -> bool {
        self.platform.can(Capability::MovesByValidRows) && tile.ty.valid[0] == Dim::Dynamic
    }

    /// The token of a buffer of this core.
    pub fn buffer(&mut self, id: Operand) -> SyncRef {
        let (core, count) = (self.role, self.platform.sync.buffer_tokens);
        self.shared.syncs.member(SyncFamily::Buffer(core), count, id, |id| syncs::buffer(core, id))
    }

    /// The unit flag of the accumulator tile at an address.
    pub fn unit_flag(&mut self, address: Operand) -> SyncRef {
        let unit = match address {
            Operand::Imm(at) => Operand::Imm(at / syncs::UNIT),
            Operand::Reg(_) => {
                let d = self.fresh();
                self.emit(Inst::Scalar {
                    f: |[at, ..]| Ok(at / syncs::UNIT),
                    law: Law::Unknown,
                    d,
                    args: [address, Operand::Imm(0), Operand::Imm(0)],
                });
                Operand::Reg(d)
            }
        };
        let (core, bytes) = (self.role, self.shared.local_bytes[Space::Acc as usize]);
        let count = u32::try_from(bytes.div_ceil(syncs::UNIT)).unwrap_or(u32::MAX);
        self.shared.syncs.member(SyncFamily::UnitFlag(core), count, unit, |unit| syncs::unit_flag(core, unit))
    }

    /// The semaphore from one core to another.
    pub fn semaphore(&mut self, setter: Role, waiter: Role, id: Operand) -> SyncRef {
        let (count, max) = (self.platform.sync.semaphores, self.platform.sync.semaphore_max);
        let rings = self.rings;
        let on_device = self.mode == Decoding::Device;
        if let Some((ring, flags)) =
            id.as_imm().filter(|_| on_device).and_then(|id| rings.flag_user(setter, waiter, id))
        {
            let (name, id) = (self.current.0, id.as_imm().unwrap_or(0));
            let message = format!("`{name}` uses semaphore {id} from {setter} to {waiter}, which is a flag of {ring}");
            let error = slipring_ir::Diagnostic::error("pipe-flags", self.current.1, message);
            self.report(error.help(format!("the ring has flags {flags} between these cores: use another semaphore")));
        }
        let family = SyncFamily::Semaphore(setter, waiter);
        self.shared.syncs.member(family, count, id, |id| syncs::semaphore(setter, waiter, id, max))
    }

    /// Flag `slot` of a ring (index in the program's rings), for free slots if `free`, else for ready ones. A counted
    /// ring has flag 0 only.
    pub fn ring_flag(&mut self, ring: u32, free: bool, slot: Operand) -> SyncRef {
        let (family, count) =
            (if free { SyncFamily::RingFree(ring) } else { SyncFamily::RingReady(ring) }, self.rings.flags(ring));
        let rings = self.rings;
        self.shared.syncs.member(family, count, slot, |slot| rings.flag_decl(ring, free, slot))
    }

    /// True if a core takes part in the kernel.
    pub fn takes_part(&self, role: Role) -> bool {
        self.kernel.start[role.index()].is_some()
    }
}
