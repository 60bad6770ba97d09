//! The sequential semantics of a kernel for the whole cluster: one program that does the work of all cores in order.
//!
//! The program is the Cube core's. Work of a Vector core is decoded once for each lane, with that lane's UB: the body
//! of a region once for each lane, and so is an op outside any region. Lane 1 has its own bindings where they differ;
//! addresses are the same on both lanes.

use std::collections::BTreeMap;

use super::{Binding, Decoder, TileRef};
use slipring_effect::{OnCore, SameArgs, SameTiles};
use slipring_ir::{Diagnostic, Module, OpId, Part, Span, Type, ValueId};
use slipring_machine::{CoreKind, Cost, Pipe, Role};
use slipring_program::{Action, Effect, Inst, Operand};
use slipring_tile::Space;

use crate::decode::cores::Kernel;
use crate::decode::decoder::{Cluster, Copied};
use crate::def::{Lowered, OpRef};

impl Cluster {
    pub(super) fn new(lanes: usize) -> Cluster {
        Cluster { lanes, second: BTreeMap::new(), given: BTreeMap::new(), copies: Vec::new() }
    }

    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    /// The binding of a value that holds on lane 1 only.
    pub(super) fn second(&self, value: ValueId) -> Option<&Binding> {
        self.second.get(&value)
    }

    pub(super) fn bind_second(&mut self, value: ValueId, binding: Binding) {
        self.second.insert(value, binding);
    }

    /// Removes the separate binding of lane 1: a value is the same on both lanes again.
    pub(super) fn forget_second(&mut self, value: ValueId) {
        self.second.remove(&value);
    }
}

/// The error for a kernel for the whole cluster that no pass has split into programs.
pub(super) fn not_expanded(module: &Module, kernel: &Kernel) -> Diagnostic {
    let function = kernel.start.iter().flatten().next();
    let span = function.map_or(Span::default(), |f| module.op(*f).span);
    let message = format!("`{}` has ops of both kinds of core: no single core runs it", kernel.name);
    Diagnostic::error("mixed-kernel", span, message)
        .help("run the passes, which make a program for each kind of core, or run its sequential semantics")
}

impl Decoder<'_> {
    /// The lanes that execute an op outside every region of a kernel for the whole cluster. Empty for ops that execute
    /// once: scalar code, control flow, ops of the Cube core.
    pub(super) fn lanes_of(&self, op: &OpRef<'_>) -> std::ops::Range<usize> {
        let Some(cluster) = self.cluster.as_ref().filter(|_| self.role == Role::Aic) else { return 0..0 };
        let data = op.module.op(op.id);
        let in_ub = |v: &ValueId| matches!(op.module.ty(*v), Type::Tile(tile) if tile.space == Space::Vec);
        let names = data.regions.is_empty()
            && !op.def.schema.terminator
            && op.def.schema.part != Part::Call
            && data.operands.iter().chain(&data.results).any(in_ub);
        let mine = crate::affinity(op).map_or(names, |kind| kind == CoreKind::Vector);
        if !mine || op.def.mixed.is_some() {
            return 0..0;
        }
        // A write that other cores can observe happens once.
        if crate::reach::writes_global(op) { 0..1 } else { 0..cluster.lanes }
    }

    /// The number of Vector cores that take part, while one program represents all cores.
    pub fn lanes_of_cluster(&self) -> Option<usize> {
        self.cluster.as_ref().map(Cluster::lanes)
    }

    /// Decodes something for lane 0, then for lane 1 (if it takes part).
    ///
    /// # Errors
    /// Reported by what is decoded.
    pub(super) fn on_lanes(
        &mut self,
        lanes: std::ops::Range<usize>,
        mut what: impl FnMut(&mut Self, usize) -> Lowered,
    ) -> Lowered {
        let outer = self.role;
        let mut outcome = Ok(());
        for lane in lanes {
            self.role = Role::lane(lane);
            if let Some(cluster) = &mut self.cluster {
                cluster.given.values_mut().for_each(|(_, taken)| *taken = 0);
            }
            outcome = what(self, lane).and(outcome);
        }
        self.role = outer;
        if let Some(cluster) = &mut self.cluster {
            cluster.given.clear();
        }
        outcome
    }

    /// Decodes the body of a region for each lane, then compares the whole tiles that both lanes gathered.
    ///
    /// # Errors
    /// Reported by the body, and for a region inside another one.
    pub fn region_on_lanes(&mut self, body: impl FnMut(&mut Self, usize) -> Lowered) -> Lowered {
        let lanes = match &self.cluster {
            Some(cluster) if self.role == Role::Aic => cluster.lanes,
            Some(_) => return Err(self.error("split-nested", "a region for the Vector cores is nested in another one")),
            None => return Err(self.error("mixed-kernel", "no single core runs a region for both Vector cores")),
        };
        self.on_lanes(0..lanes, body)?;
        let copies = self.cluster.as_mut().map(|cluster| std::mem::take(&mut cluster.copies)).unwrap_or_default();
        let region = self.builder.site();
        for copied in copies {
            self.builder.set_site(copied.site);
            let TileRef { ty, addr, valid } = copied.tile;
            let skip = self.label();
            self.jump_if_zero(Operand::Reg(copied.done), skip);
            let effect = SameTiles { space: ty.space, core: Role::Aic, layout: ty.layout, region: Some(region) };
            let args = SameArgs { first: addr, second: copied.at, rows: valid[0], cols: valid[1] };
            self.issue(Pipe::S, effect, args.list(), Cost::fixed(0));
            self.emit(Inst::Move { d: copied.done, a: Operand::Imm(0) });
            self.place(skip);
        }
        self.builder.set_site(region);
        Ok(())
    }

    /// Memory of its own for lane 1's copy of a tile that both lanes gather whole; it is compared with lane 0's at the
    /// end of the region. `valid` is the gathered part of it.
    pub fn second_copy(&mut self, mut tile: TileRef, valid: [Operand; 2]) -> Operand {
        let at = self.private(tile.ty.space, tile.ty.layout.bytes() as u64);
        tile.addr = Operand::Reg(self.variable(tile.addr));
        tile.valid = valid.map(|operand| Operand::Reg(self.variable(operand)));
        let done = self.variable(Operand::Imm(1));
        let site = self.builder.site();
        if let Some(cluster) = &mut self.cluster {
            cluster.copies.push(Copied { tile, at, done, site });
        }
        at
    }

    /// Memory of its own for the tile that an op declares; lane 1 reuses the address that lane 0 got.
    pub fn tile_memory(&mut self, op: OpId, space: Space, bytes: u64) -> Operand {
        let lane = self.role.kind() == CoreKind::Vector;
        if let Some(cluster) = self.cluster.as_mut().filter(|_| lane)
            && let Some((given, taken)) = cluster.given.get_mut(&op)
            && let Some(address) = given.get(*taken)
        {
            *taken += 1;
            return *address;
        }
        let address = self.private(space, bytes);
        if let Some(cluster) = self.cluster.as_mut().filter(|_| lane) {
            let (given, taken) = cluster.given.entry(op).or_default();
            given.push(address);
            *taken += 1;
        }
        address
    }

    /// An effect that runs on the core that is being decoded, even if another core's program contains it.
    pub(super) fn on_this_core(&self, effect: impl Effect + 'static) -> Action {
        match self.role == self.builder.role() {
            true => Action::planned(effect),
            false => Action::planned(OnCore { core: self.role, effect }),
        }
    }
}
